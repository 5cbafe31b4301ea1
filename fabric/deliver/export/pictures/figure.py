"""One fabric under its heading, in the way that suits its size; several of them below each other make a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

from fabric.base.formats import PAPER, RULE, SOFT, Box, Canvas, element, svg
from fabric.deliver.export.pictures import attached, gutter, overview, switches
from fabric.deliver.export.pictures.cards import CARDS
from fabric.deliver.export.pictures.unit_rows import UnitStyle
from fabric.deliver.export.pictures.units import SQUARES
from fabric.deliver.export.pictures.view import View

EDGE, HEAD, BETWEEN = 24.0, 64.0, 36.0


@dataclass(frozen=True)
class Figure:
    """What is drawn of a fabric, and how."""

    view: View
    width: Callable[[View], float]
    draw: Callable[[Canvas, View, float], float]  # from this height down; gives where it ends
    legend: str = ""
    note: str = ""


def whole(view: View, note: str = "") -> Figure:
    """A fabric from its cores to its servers."""
    if len(view.switches) <= switches.MAX_SWITCHES:
        return Figure(view, switches.width, switches.draw, "", note)
    number = "rack" if view.row["kind"] == "rack" else "rail"
    legend = f"Squares in a unit are its leaves, numbered by {number}; a line or ribbon is a bundle of links."
    return _rows(view, SQUARES, legend, note)


def part(view: View) -> Figure:
    """One rail or plane, with the ports of its switches."""
    legend = (
        "Ports of a leaf: up to the spines, where they end at each spine, down to the servers; a line is a bundle of links."
    )
    return _rows(view, CARDS, legend)


def _rows(view: View, style: UnitStyle, legend: str, note: str = "") -> Figure:
    width = partial(overview.width, style=style)
    return Figure(view, width, partial(overview.draw, style=style), legend, note)


def sheet(site: str, figures: Sequence[Figure], title: str, footnote: str = "") -> str:
    """Figures below each other, as one SVG document."""
    canvas = Canvas()
    width, y = gutter.MAIN + max(figure.width(figure.view) for figure in figures) + EDGE, EDGE
    for at, figure in enumerate(figures):
        if at:
            canvas.rect(Box(EDGE, y + BETWEEN / 2, width - 2 * EDGE, 1), RULE, radius=0)
            y += BETWEEN + 8
        y = _figure(canvas, site, figure, y, width)
    if footnote:
        y += 24
        canvas.text(EDGE, y, footnote, fill=SOFT, room=width - 2 * EDGE)
    description = " ".join(f"Fabric {figure.view.fabric.name}: {figure.view.sentence}." for figure in figures)
    return document(title, description, canvas, width, y + EDGE)


def _figure(canvas: Canvas, site: str, figure: Figure, y: float, width: float) -> float:
    """One fabric; gives where it ends."""
    view, room = figure.view, width - 2 * EDGE
    heading = " · ".join(part for part in (site, view.fabric.name, view.slice) if part)
    canvas.text(EDGE, y + 20, heading, size=22, bold=True, room=room)
    canvas.text(EDGE, y + 42, view.sentence, size=13, fill=SOFT, room=room)
    if figure.note:
        y += 18
        canvas.text(EDGE, y + 42, figure.note, size=13, bold=True, room=room)
    y = figure.draw(canvas, view, y + HEAD)
    y = attached.draw(canvas, view, y, width - gutter.MAIN - EDGE)
    if figure.legend:
        y += 22
        canvas.text(gutter.MAIN, y, figure.legend, size=11.5, fill=SOFT, room=width - gutter.MAIN - EDGE)
    return y


def document(title: str, description: str, canvas: Canvas, width: float, height: float) -> str:
    """The drawing as an SVG file; `description` is read by screen readers."""
    head = [element("title", escape(title), id="fabric-title"), element("desc", escape(description), id="fabric-desc")]
    paper = element("rect", width=width, height=height, rx=14, fill=PAPER)
    body = "\n".join([*head, paper, canvas.body()])
    return svg.document(body, width, height, "fabric", aria_labelledby="fabric-title fabric-desc")
