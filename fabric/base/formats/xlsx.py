"""Workbooks, written part by part (ECMA-376, SpreadsheetML): a library that keeps a cell an object takes half a minute for
50,000 cables. Texts are written as texts, so that no program takes one for a formula. The same cells are the same bytes.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType

from fabric.base.text import printable

MAX_SHEET_ROWS = 1_048_575  # of a sheet, below its header
MAX_COLUMN_CHARACTERS, WIDTH_SAMPLE_ROWS = 48, 500
HEADER, NUMBER, FIRST_COLOUR = 1, 2, 3  # styles of cells; 0 is plain; behind the colours, of numbers: whole, with cents
WHOLE, CENTS = 3, 4  # formats that every program knows: #,##0 and #,##0.00
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a ZIP can say: the same cells are the same bytes

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


Cell = str | int | float | None
Tones = Mapping[str, str]  # word → colour as #rrggbb


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """One sheet, with a header that stays, and so many columns on its left."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    frozen: int = 0
    tinted: int = -1  # column whose words are in their colour
    thousands: bool = True  # apart in numbers, which stand on the right


def workbook(title: str, sheets: Sequence[Sheet], tones: Tones = MappingProxyType({})) -> bytes:
    """A workbook of some sheets."""
    numbers = range(1, len(sheets) + 1)
    parts = {
        "[Content_Types].xml": _content_types(len(sheets)),
        "_rels/.rels": _relations(
            [
                (f"{OFFICE}/officeDocument", "xl/workbook.xml"),
                (f"{PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
            ]
        ),
        "docProps/core.xml": _core(title),
        "xl/workbook.xml": _book(sheets),
        "xl/_rels/workbook.xml.rels": _relations(
            [*((f"{OFFICE}/worksheet", f"worksheets/sheet{n}.xml") for n in numbers), (f"{OFFICE}/styles", "styles.xml")]
        ),
        "xl/styles.xml": _styles(tones),
        **{f"xl/worksheets/sheet{n}.xml": _sheet(sheet, [*tones]) for n, sheet in zip(numbers, sheets, strict=True)},
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text.encode())
    return out.getvalue()


def letters(number: int) -> str:
    """Name of a column, from 1: A, …, Z, AA."""
    text = ""
    while number:
        number, last = divmod(number - 1, 26)
        text = chr(ord("A") + last) + text
    return text


def _sheet(sheet: Sheet, tones: Sequence[str]) -> str:
    cells = sheet.rows[:MAX_SHEET_ROWS]
    last = f"{letters(len(sheet.columns))}{len(cells) + 1}"
    corner = f"{letters(sheet.frozen + 1)}2"
    split = f' xSplit="{sheet.frozen}"' if sheet.frozen else ""
    pane = "bottomRight" if sheet.frozen else "bottomLeft"
    widths = (_width(name, (row[column] for row in cells[:WIDTH_SAMPLE_ROWS])) for column, name in enumerate(sheet.columns))
    columns = "".join(f'<col min="{n}" max="{n}" width="{width:g}" customWidth="1"/>' for n, width in enumerate(widths, 1))
    header = "".join(_text(letters(n) + "1", name, HEADER) for n, name in enumerate(sheet.columns, 1))
    names = [letters(n) for n in range(1, len(sheet.columns) + 1)]
    styles = {name: FIRST_COLOUR + column for column, name in enumerate(tones)}
    look = _Look(sheet.tinted, styles, FIRST_COLOUR + len(tones) if sheet.thousands else 0)
    body = "".join(_row(number, row, names, look) for number, row in enumerate(cells, 2))
    return (
        f'{HEAD}<worksheet xmlns="{MAIN}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><dimension ref="A1:{last}"/>'
        f'<sheetViews><sheetView workbookViewId="0"><pane{split} ySplit="1" topLeftCell="{corner}" activePane="{pane}" '
        f'state="frozen"/><selection pane="{pane}" activeCell="{corner}" sqref="{corner}"/></sheetView></sheetViews>'
        f'<sheetFormatPr defaultRowHeight="15"/><cols>{columns}</cols><sheetData>'
        f'<row r="1" ht="31" customHeight="1">{header}</row>{body}</sheetData><autoFilter ref="A1:{last}"/>'
        '<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.5" header="0.3" footer="0.3"/>'
        '<pageSetup paperSize="8" orientation="landscape" fitToHeight="0"/></worksheet>'
    )


@dataclass(frozen=True)
class _Look:
    """Styles of the cells of a sheet."""

    tinted: int
    colours: Mapping[str, int]
    whole: int  # of a whole number, the next is of others; 0: NUMBER of all

    def of_number(self, value: float) -> int:
        return self.whole + (not float(value).is_integer()) if self.whole else NUMBER


def _row(number: int, row: Sequence[Cell], names: Sequence[str], look: _Look) -> str:
    cells = []
    for at, value in enumerate(row):
        place = f"{names[at]}{number}"
        if isinstance(value, str):
            if value:
                cells.append(_text(place, value, look.colours.get(value, 0) if at == look.tinted else 0))
        elif value is not None:
            cells.append(f'<c r="{place}" s="{look.of_number(value)}"><v>{value:.12g}</v></c>')
    return f'<row r="{number}">{"".join(cells)}</row>'


def _escaped(text: str) -> str:
    return escape(printable(text, "?"), quote=False)


def _text(place: str, value: str, style: int) -> str:
    own = f' s="{style}"' if style else ""
    return f'<c r="{place}"{own} t="inlineStr"><is><t xml:space="preserve">{_escaped(value)}</t></is></c>'


def _width(column: str, values: Iterable[Cell]) -> float:
    longest = max((len(f"{value:g}" if isinstance(value, float) else str(value)) for value in values), default=0)
    return min(MAX_COLUMN_CHARACTERS, max(longest, max(map(len, column.split())), 4) + 3.5)  # room for the filter's arrow


def _book(sheets: Sequence[Sheet]) -> str:
    listed, named = [], []
    for at, sheet in enumerate(sheets):
        last = f"${letters(len(sheet.columns))}${min(len(sheet.rows), MAX_SHEET_ROWS) + 1}"
        listed.append(f'<sheet name="{sheet.title}" sheetId="{at + 1}" r:id="rId{at + 1}"/>')
        sheet_scope = f'localSheetId="{at}"'
        named.append(
            f'<definedName name="_xlnm._FilterDatabase" {sheet_scope} hidden="1">\'{sheet.title}\'!$A$1:{last}</definedName>'
        )
        named.append(f"<definedName name=\"_xlnm.Print_Titles\" {sheet_scope}>'{sheet.title}'!$1:$1</definedName>")
    return (
        f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{"".join(listed)}</sheets>'
        f"<definedNames>{''.join(named)}</definedNames></workbook>"
    )


def _styles(tones: Tones) -> str:
    """Plain, header, number, a font in each colour, and numbers with thousands apart."""
    plain = '<sz val="11"/><name val="Calibri"/>'
    fonts = [f"<font>{plain}</font>", f"<font><b/>{plain}</font>"]
    fonts += [f'<font><b/><color rgb="FF{tone.removeprefix("#").upper()}"/>{plain}</font>' for tone in tones.values()]
    looks = [
        '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>',
        '<xf numFmtId="0" fontId="1" fillId="2" borderId="0" xfId="0" applyFont="1" applyFill="1" applyAlignment="1">'
        '<alignment vertical="top" wrapText="1"/></xf>',
        '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" applyAlignment="1"><alignment horizontal="left"/></xf>',
    ]
    looks += [
        f'<xf numFmtId="0" fontId="{font}" fillId="0" borderId="0" xfId="0" applyFont="1"/>' for font in range(2, len(fonts))
    ]
    looks += [
        f'<xf numFmtId="{number}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        for number in (WHOLE, CENTS)
    ]
    return (
        f'{HEAD}<styleSheet xmlns="{MAIN}"><fonts count="{len(fonts)}">{"".join(fonts)}</fonts><fills count="3">'
        '<fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>'
        '<fill><patternFill patternType="solid"><fgColor rgb="FFE6EBF2"/></patternFill></fill></fills>'
        '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'
        f'</cellStyleXfs><cellXfs count="{len(looks)}">{"".join(looks)}</cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )


def _content_types(sheets: int) -> str:
    parts = [("/xl/workbook.xml", f"{TYPE}.sheet.main+xml"), ("/xl/styles.xml", f"{TYPE}.styles+xml")]
    parts += [(f"/xl/worksheets/sheet{n}.xml", f"{TYPE}.worksheet+xml") for n in range(1, sheets + 1)]
    parts.append(("/docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml"))
    own = "".join(f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in parts)
    return (
        f'{HEAD}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        f'ContentType="application/xml"/>{own}</Types>'
    )


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    own = "".join(f'<Relationship Id="rId{n}" Type="{kind}" Target="{to}"/>' for n, (kind, to) in enumerate(targets, 1))
    return f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">{own}</Relationships>'


def _core(title: str) -> str:
    return (
        f'{HEAD}<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{_escaped(title)}</dc:title><dc:creator>fabricwright</dc:creator></cp:coreProperties>"
    )
