"""Units side by side: which of them are shown, how wide they are, and the styles that draw one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabric.base.formats import FRAMES, PANEL, PAPER, RULE, SOFT, Box, Canvas
from fabric.base.rounding import ceil_div
from fabric.base.text import counted
from fabric.deliver.export.legend import NEUTRAL, SERVERS, plane_tone, rail_colour
from fabric.deliver.export.parts import Gap, UnitPart, condense
from fabric.deliver.export.pictures.tiers import gap
from fabric.deliver.export.pictures.view import View
from fabric.model.plan import Device

GAP, GAP_WIDTH, PAD = 10.0, 64.0, 8.0


@dataclass(frozen=True)
class Landing:
    """Where links from above arrive: those of one plane, or with -1 of every network."""

    box: Box
    plane: int = -1


@dataclass(frozen=True, kw_only=True)
class UnitStyle:
    """A way to draw a unit: its leaves, a band of links, its servers."""

    least: Callable[[View, UnitPart], float]  # width
    most: Callable[[View, UnitPart], float]
    leaves: Callable[[View, Sequence[UnitPart], float], float]  # height of their part, when units are this wide
    band: float
    servers: float
    foot: float  # below the servers
    draw: Callable[[Canvas, View, UnitPart, Box, Box], list[Landing]]  # in this frame, the servers in that box


@dataclass(frozen=True)
class Row:
    """The units that are shown."""

    view: View
    style: UnitStyle
    slots: Sequence[UnitPart | Gap]

    @property
    def units(self) -> list[UnitPart]:
        return [slot for slot in self.slots if not isinstance(slot, Gap)]

    @property
    def least_width(self) -> float:
        least = max(self.style.least(self.view, unit) for unit in self.units)
        return sum((GAP_WIDTH if isinstance(slot, Gap) else least) + GAP for slot in self.slots) - GAP

    def unit_width(self, width: float) -> float:
        most = max(self.style.most(self.view, unit) for unit in self.units)
        return min(most, (width - self._between) / len(self.units))

    @property
    def _between(self) -> float:
        """Width of all that is no unit."""
        return (len(self.slots) - len(self.units)) * GAP_WIDTH + GAP * (len(self.slots) - 1)

    def leaves(self, width: float) -> float:
        """Height of the leaves' part in a row of this width."""
        return self.style.leaves(self.view, self.units, self.unit_width(width))

    def height(self, leaves: float) -> float:
        return leaves + self.style.band + self.style.servers + self.style.foot

    def server_top(self, leaves: float) -> float:
        """Below the top of the row."""
        return leaves + self.style.band

    def draw(self, canvas: Canvas, area: Box, leaves: float) -> list[Landing]:
        """Every shown unit side by side; gives where links from above arrive."""
        width = self.unit_width(area.w)
        x = area.cx - (width * len(self.units) + self._between) / 2
        landings: list[Landing] = []
        for slot in self.slots:
            box = Box(x, area.y, GAP_WIDTH if isinstance(slot, Gap) else width, self.height(leaves))
            if isinstance(slot, Gap):
                gap(canvas, box, slot.count)
            else:
                servers = Box(box.x + PAD, box.y + self.server_top(leaves), box.w - 2 * PAD, self.style.servers)
                landings += self.style.draw(canvas, self.view, slot, box, servers)
            x = box.right + GAP
        return landings


def row(view: View, style: UnitStyle, groups: Sequence[Sequence[UnitPart]], width: float) -> Row:
    """All units; where there is no room for them, of every server group the first two and the last, or the ends alone."""
    everything = Row(view, style, [unit for group in groups for unit in group])
    if everything.least_width <= width:
        return everything
    shorter = Row(view, style, [slot for group in groups for slot in condense(group, 3)])
    if shorter.least_width <= width:
        return shorter
    return Row(view, style, [slot for group in groups for slot in _ends(group)])


def _ends(group: Sequence[UnitPart]) -> list[UnitPart | Gap]:
    return list(group) if len(group) < 3 else [group[0], Gap(len(group) - 2), group[-1]]


# --- leaves and servers of a unit -----------------------------------------------------------------------------

_MIN_WIDTH_PX, _HEAD, _BAND, _SERVERS = 98.0, 44.0, 44.0, 62.0
_CELL, _CELL_HEIGHT, _AIR = 16.0, 18.0, 3.0
_MAX_ROWS = 6


def _height(view: View, units: Sequence[UnitPart], width: float) -> float:
    """What the unit with the most leaves needs when units are this wide: equal for all, so that rows stay rows."""
    rows = 1
    for unit in units:
        for block in unit.planes:
            columns = _columns(block, _block_width(unit, width))
            rows = max(rows, min(ceil_div(len(block), columns), _MAX_ROWS))
    return _HEAD + rows * (_CELL_HEIGHT + _AIR) - _AIR + 2 * PAD


def _least(view: View, unit: UnitPart) -> float:
    """Two squares side by side for every plane, or what the words need."""
    return max(_MIN_WIDTH_PX, len(unit.planes) * (2 * _CELL + _AIR + 2 + 6) - 6 + 2 * PAD)


def _most(view: View, unit: UnitPart) -> float:
    return 1e9


def _draw(canvas: Canvas, view: View, unit: UnitPart, box: Box, servers: Box) -> list[Landing]:
    canvas.rect(box, PANEL, RULE, layer=FRAMES)
    canvas.text(box.cx, box.y + 18, unit.label, anchor="middle", bold=True, size=13, room=box.w - 8)
    leaves = counted(len(unit.leaves), "leaf", "leaves")
    canvas.text(box.cx, box.y + 34, leaves, anchor="middle", fill=SOFT, room=box.w - 8)
    width, bottom = _block_width(unit, box.w), servers.y - _BAND
    for number, block in enumerate(unit.planes):
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


def _block_width(unit: UnitPart, width: float) -> float:
    count = len(unit.planes)
    return (width - 2 * PAD - 6 * (count - 1)) / count


def _columns(block: Sequence[Device], width: float) -> int:
    return min(len(block), max(1, int((width - 2 + _AIR) // (_CELL + _AIR))))


SQUARES = UnitStyle(least=_least, most=_most, leaves=_height, band=_BAND, servers=_SERVERS, foot=PAD, draw=_draw)
