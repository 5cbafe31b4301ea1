"""A unit of a fabric: its leaves as squares, numbered and coloured by rail, and its servers below them."""

from __future__ import annotations

from collections.abc import Sequence

from fabric.base.formats import FRAMES, PANEL, PAPER, RULE, SOFT, Box, Canvas
from fabric.base.rounding import ceil_div
from fabric.base.text import counted
from fabric.deliver.export.colours import NEUTRAL, SERVERS, plane_tone, rail_colour
from fabric.deliver.export.parts import UnitPart
from fabric.deliver.export.pictures.unit_rows import PAD, Landing, UnitStyle
from fabric.deliver.export.pictures.view import View
from fabric.model.plan import Device

_MIN_WIDTH_PX, _HEAD, _BAND, _SERVERS = 98.0, 44.0, 44.0, 62.0
_CELL, _CELL_HEIGHT, _AIR = 16.0, 18.0, 3.0
_MAX_ROWS = 6


def _height(view: View, units: Sequence[UnitPart], width: float) -> float:
    """What the unit with the most leaves needs when units are this wide: equal for all, so that rows stay rows."""
    rows = 1
    for unit in units:
        for block in _blocks(unit):
            columns = _columns(block, _block_width(unit, width))
            rows = max(rows, min(ceil_div(len(block), columns), _MAX_ROWS))
    return _HEAD + rows * (_CELL_HEIGHT + _AIR) - _AIR + 2 * PAD


def _least(view: View, unit: UnitPart) -> float:
    """Two squares side by side for every plane, or what the words need."""
    return max(_MIN_WIDTH_PX, len(_blocks(unit)) * (2 * _CELL + _AIR + 2 + 6) - 6 + 2 * PAD)


def _most(view: View, unit: UnitPart) -> float:
    return 1e9


def _draw(canvas: Canvas, view: View, unit: UnitPart, box: Box, servers: Box) -> list[Landing]:
    canvas.rect(box, PANEL, RULE, layer=FRAMES)
    canvas.text(box.cx, box.y + 18, unit.label, anchor="middle", bold=True, size=13, room=box.w - 8)
    leaves = counted(len(unit.leaves), "leaf", "leaves")
    canvas.text(box.cx, box.y + 34, leaves, anchor="middle", fill=SOFT, room=box.w - 8)
    width, bottom = _block_width(unit, box.w), servers.y - _BAND
    for number, block in enumerate(_blocks(unit)):
        area = Box(box.x + PAD + number * (width + 6), box.y + _HEAD, width, bottom - box.y - _HEAD)
        if view.planes > 1:
            tone = plane_tone(block[0].plane, view.planes)
            canvas.rect(area, tone.ground, tone.line, radius=4)
        _leaves(canvas, block, Box(area.x, area.y + PAD, area.w, area.h - 2 * PAD))
        _down(canvas, block, Box(area.x, bottom, area.w, _BAND), view.planes)
    canvas.rect(servers, PAPER, SERVERS.line)
    gpus = [counted(unit.gpus, "GPU")] if unit.gpus else []
    canvas.middle(servers, [unit.servers_text(servers.w - 6), unit.model, *gpus])
    return [Landing(box)]


def _leaves(canvas: Canvas, block: Sequence[Device], area: Box) -> None:
    """The squares of one plane's leaves, or of all."""
    columns = _columns(block, area.w)
    if ceil_div(len(block), columns) > _MAX_ROWS:
        canvas.rect(area, NEUTRAL.ground, NEUTRAL.line, radius=3)
        canvas.middle(area, [f"{len(block):,}"])
        return
    rows = ceil_div(len(block), columns)
    columns = ceil_div(len(block), rows)
    width = min((area.w - 2 + _AIR) / columns - _AIR, 30)
    left = area.cx - (columns * (width + _AIR) - _AIR) / 2
    top = area.y + (area.h - rows * (_CELL_HEIGHT + _AIR) + _AIR) / 2
    for position, leaf in enumerate(block):
        y, x = divmod(position, columns)
        cell = Box(left + x * (width + _AIR), top + y * (_CELL_HEIGHT + _AIR), width, _CELL_HEIGHT)
        canvas.rect(cell, rail_colour(leaf.rail), radius=3)
        number = leaf.rail if leaf.rail >= 0 else leaf.rack
        if number >= 0:
            text = str(number + 1)
            size = 11 if len(text) < 3 else 8
            canvas.text(cell.cx, cell.y + 13, text, size=size, fill=PAPER, anchor="middle", bold=True, room=cell.w)


def _down(canvas: Canvas, block: Sequence[Device], area: Box, planes: int) -> None:
    """Links to the servers: a strip a rail, or one in the colour of the plane."""
    rails = sorted({leaf.rail for leaf in block}) if planes == 1 else [-1]
    inner = Box(area.x + 4, area.y, area.w - 8, area.h)
    for at, rail in enumerate(rails):
        ends = inner.slice(at, len(rails))
        colour = rail_colour(rail) if planes == 1 else plane_tone(block[0].plane, planes).line
        canvas.ribbon(ends, area.y, ends, area.bottom, colour, 0.3)


def _blocks(unit: UnitPart) -> list[list[Device]]:
    """The unit's leaves by plane, rails in order."""
    planes = sorted({leaf.plane for leaf in unit.leaves})
    return [[leaf for leaf in unit.leaves if leaf.plane == plane] for plane in planes]


def _block_width(unit: UnitPart, width: float) -> float:
    count = len(_blocks(unit))
    return (width - 2 * PAD - 6 * (count - 1)) / count


def _columns(block: Sequence[Device], width: float) -> int:
    return min(len(block), max(1, int((width - 2 + _AIR) // (_CELL + _AIR))))


SQUARES = UnitStyle(least=_least, most=_most, leaves=_height, band=_BAND, servers=_SERVERS, foot=PAD, draw=_draw)
