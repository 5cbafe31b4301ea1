from .atomic_files import (
    write_file as write_file,
    write_files as write_files,
    write_folder as write_folder,
    write_new as write_new,
)
from .documents import (
    csv_text as csv_text,
    json_line as json_line,
    json_text as json_text,
    model_of as model_of,
    no_formula as no_formula,
)
from .junit import Case as Case, Failure as Failure, Suite as Suite
from .registry import Format as Format
from .svg import (
    FONT as FONT,
    FRAMES as FRAMES,
    INK as INK,
    PANEL as PANEL,
    PAPER as PAPER,
    RULE as RULE,
    SOFT as SOFT,
    Box as Box,
    Canvas as Canvas,
    chart as chart,
    document as document,
    element as element,
    end_that_fits as end_that_fits,
    fit as fit,
    label as label,
    number as number,
    text_width as text_width,
    wrap as wrap,
)
from .xlsx import Cell as Cell, Sheet as Sheet, workbook as workbook
