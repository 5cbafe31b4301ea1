"""Tables as a workbook: bold heads that stay in view, columns as wide as their words, and the same bytes every time."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from typing import Any

from fabric.bom.sheets import Sheet

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first day that a ZIP knows
_CREATED = "1980-01-01T00:00:00Z"
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")  # what XML cannot hold
_MOST_WIDE = 60


def workbook(sheets: Sequence[Sheet]) -> bytes:
    """A sheet for every table. Texts stay texts, whatever sign they begin with."""
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for sheet in sheets:
        _fill(book.create_sheet(sheet.name), sheet)
    out = io.BytesIO()
    book.save(out)
    return _timeless(out.getvalue())


def _fill(page: Any, sheet: Sheet) -> None:
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    wide = [len(title) for title in sheet.head]
    for y, row in enumerate((sheet.head, *sheet.rows), start=1):
        for x, value in enumerate(row, start=1):
            if value is None or value == "":
                continue
            cell = page.cell(y, x)
            if isinstance(value, str):
                cell.value = _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", value)
                cell.data_type = "s"  # openpyxl takes a text that begins with = for a formula
            else:
                cell.value = value
                cell.number_format = "#,##0" if float(value).is_integer() else "#,##0.00"
            wide[x - 1] = max(wide[x - 1], len(str(value)))
    for x, width in enumerate(wide, start=1):
        page.column_dimensions[get_column_letter(x)].width = min(width, _MOST_WIDE) + 2
        page.cell(1, x).font = Font(bold=True)
    page.freeze_panes = "A2"
    page.auto_filter.ref = f"A1:{get_column_letter(len(sheet.head))}{len(sheet.rows) + 1}"


def _timeless(data: bytes) -> bytes:
    """The workbook with no time of day in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", _CREATED.encode(), content)
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(info, content)
    return out.getvalue()
