"""One fabric under its heading, in the way that suits its size; several of them below each other make a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

from fabric.base.formats import PAPER, RULE, SOFT, Box, Canvas, element, svg
from fabric.base.rounding import ceil_div
from fabric.base.text import counted
from fabric.deliver.export.legend import SERVERS
from fabric.deliver.export.pictures import direct, overview, switches, tiers
from fabric.deliver.export.pictures.cards import CARDS
from fabric.deliver.export.pictures.unit_rows import SQUARES, UnitStyle
from fabric.deliver.export.pictures.view import View
from fabric.model.plan import ATTACHED, ATTACHMENT

# --- attachments, in rows below -------------------------------------------------------------------------------

_WIDTH, _HEIGHT, _GAP = 150.0, 48.0, 10.0


def draw(canvas: Canvas, view: View, y: float, room: float) -> float:
    """Draws them from `y` down, in the width `room`; gives where they end."""
    links, devices = view.fabric.links, view.fabric.devices
    here = links.kind == ATTACHMENT
    ends = set(links.a[here].tolist())
    attachments = [device for device in devices if device.role == ATTACHED and device.index in ends]
    if not attachments:
        return y
    top, y = y, y + 18
    canvas.text(tiers.LEFT, y + 14, "Attached", size=15, bold=True)
    across = max(1, int((room + _GAP) // (_WIDTH + _GAP)))
    for number, device in enumerate(attachments):
        row, column = divmod(number, across)
        box = Box(tiers.MAIN + column * (_WIDTH + _GAP), y + row * (_HEIGHT + _GAP), _WIDTH, _HEIGHT)
        mine = here & (links.a == device.index)
        leaves = len(set(links.b[mine].tolist()))
        text = f"{int(mine.sum())} × {int(links.speed_gbps[mine].max())}G to {counted(leaves, 'leaf', 'leaves')}"
        if row == 0:
            canvas.lines([(box.cx, top, box.cx, box.y)], SERVERS.line, 1.5, 0.75)
        canvas.rect(box, PAPER, SERVERS.line, dash="4 3", hint=device.name)
        canvas.middle(box, [device.name, text])
    return y + ceil_div(len(attachments), across) * (_HEIGHT + _GAP) - _GAP


# --- figure ---------------------------------------------------------------------------------------------------

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
    if view.fabric.spec.switchless:
        return Figure(view, direct.width, direct.draw, "", note)
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
    width, y = tiers.MAIN + max(figure.width(figure.view) for figure in figures) + EDGE, EDGE
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
    y = draw(canvas, view, y, width - tiers.MAIN - EDGE)
    if figure.legend:
        y += 22
        canvas.text(tiers.MAIN, y, figure.legend, size=11.5, fill=SOFT, room=width - tiers.MAIN - EDGE)
    return y


def document(title: str, description: str, canvas: Canvas, width: float, height: float) -> str:
    """The drawing as an SVG file; `description` is read by screen readers."""
    head = [element("title", escape(title), id="fabric-title"), element("desc", escape(description), id="fabric-desc")]
    paper = element("rect", width=width, height=height, rx=14, fill=PAPER)
    body = "\n".join([*head, paper, canvas.body()])
    return svg.document(body, width, height, "fabric", aria_labelledby="fabric-title fabric-desc")
