"""Labels for both ends of every cable as a PDF: name of the cable, this end, far end, and a bar in the cable's colour."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fabric.base.formats import yaml
from fabric.base.text import printable
from fabric.deliver.cabling.laying_order import Walk
from fabric.deliver.cabling.runs import TONES, Runs

FONT, BOLD = "Helvetica", "Helvetica-Bold"
MAX_FONT_PT, MIN_FONT_PT = 7.0, 4.5
MARGIN, BAR, GAP = 1.1, 0.9, 0.6  # millimetres
LEADING = 1.18  # times the font's size
MM = 72 / 25.4


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A page of labels, in millimetres."""

    description: str
    page: tuple[float, float]
    columns: int
    rows: int
    label: tuple[float, float]
    first: tuple[float, float]  # left and top edge of the first label
    pitch: tuple[float, float]
    copies: int  # of the text on one label
    source: str

    @property
    def count(self) -> int:
        return self.columns * self.rows


class Label(NamedTuple):
    """The text of one label."""

    cable: str
    here: str
    there: str
    colour: str


@cache
def sheets() -> dict[str, Sheet]:
    """Sheets that are known, by name."""
    data = yaml.read(Path(__file__).parent / "label_sheets.yaml")
    found: dict[str, Sheet] = {}
    for name, fields in data.items():
        values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
        found[name] = Sheet(**values)
    return found


def labels(runs: Runs, walk: Walk) -> Iterator[Label]:
    """Two labels a cable, in the order of laying; each of several trunks has a pair of its own."""
    for row, turned in zip(walk.row.tolist(), walk.turned.tolist(), strict=True):
        pieces = max(1, int(runs.pieces[row]))
        one, other = runs.a_place[row], runs.b_place[row]
        ends = [(other, one), (one, other)] if turned else [(one, other), (other, one)]
        for piece in range(pieces):
            name = runs.cable[row] + (f".{piece + 1}" if pieces > 1 else "")
            for here, there in ends:
                yield Label(name, here, there, runs.colour[row])


def pdf(runs: Runs, walk: Walk, sheet: Sheet, skip: int = 0) -> bytes:
    """The labels on pages of a sheet, the first `skip` places left free. The same bytes every time."""
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(sheet.page[0] * MM, sheet.page[1] * MM), invariant=1, pageCompression=1)
    canvas.setTitle(f"Cable labels of {runs.plan.site}")
    used = False
    for position, label in enumerate(labels(runs, walk), start=skip):
        place = position % sheet.count
        if place == 0 and used:
            canvas.showPage()
        used = True
        row, column = divmod(place, sheet.columns)
        left = (sheet.first[0] + column * sheet.pitch[0]) * MM
        top = (sheet.page[1] - sheet.first[1] - row * sheet.pitch[1]) * MM
        _draw(canvas, sheet, label, left, top)
    canvas.save()
    return out.getvalue()


def _draw(canvas: Any, sheet: Sheet, label: Label, left: float, top: float) -> None:
    """One label: its text once, or on both sides of the fold."""
    width, height = sheet.label[0] * MM, sheet.label[1] * MM / sheet.copies
    begin = left + (MARGIN + BAR + GAP) * MM
    canvas.setFillColor(TONES.get(label.colour, "#000000"))
    high = (sheet.label[1] - 2 * MARGIN) * MM
    canvas.rect(left + MARGIN * MM, top - MARGIN * MM - high, BAR * MM, high, stroke=0, fill=1)
    canvas.setFillColor("#000000")
    lines = ((BOLD, label.cable), (FONT, label.here), (FONT, f"> {label.there}"))
    largest = min(MAX_FONT_PT, (height - 1.2 * MM) / (len(lines) * LEADING))
    shown = [(font, *fit(text, font, width - (2 * MARGIN + BAR + GAP) * MM, largest)) for font, text in lines]
    text_out = canvas.beginText()
    for copy in range(sheet.copies):
        y = top - copy * height - (height - len(lines) * LEADING * largest) / 2 - largest * 0.95
        for font, text, size in shown:
            text_out.setFont(font, size)
            text_out.setTextOrigin(begin, y)
            text_out.textOut(text)
            y -= LEADING * largest
    canvas.drawText(text_out)
    if sheet.copies > 1:
        canvas.setDash(1, 2)
        canvas.setLineWidth(0.2)
        canvas.line(begin, top - height, left + width - MARGIN * MM, top - height)


def fit(text: str, font: str, room: float, largest: float) -> tuple[str, float]:
    """The text at a size that fits; too long for the smallest size it loses its middle, as both ends tell more."""
    text = printable(text, "?").encode("cp1252", "replace").decode("cp1252")  # what the PDF's own fonts can write
    wide = _wide(text, font)
    size = min(largest, room / wide) if wide else largest
    if size >= MIN_FONT_PT:
        return text, size
    keep = len(text) - 1
    while keep > 1 and _wide(_cut(text, keep), font) * MIN_FONT_PT > room:
        keep -= 1
    return _cut(text, keep), MIN_FONT_PT


def _wide(text: str, font: str) -> float:
    """Width at a size of 1."""
    widths = _widths(font)
    return sum(widths[letter] for letter in text)


@cache
def _widths(font: str) -> dict[str, float]:
    """Every letter that the font can write, and how wide it is at a size of 1."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    known = (bytes([code]).decode("cp1252", "ignore") for code in range(256))
    return {letter: stringWidth(letter, font, 1) for letter in known if letter}


def _cut(text: str, keep: int) -> str:
    head = keep // 3
    return f"{text[:head]}…{text[len(text) - keep + head :]}"
