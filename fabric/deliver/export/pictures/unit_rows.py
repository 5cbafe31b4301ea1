"""Units side by side: which of them are shown, how wide they are, and the styles that draw one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabric.base.formats import Box, Canvas
from fabric.deliver.export.parts import Gap, UnitPart, condense
from fabric.deliver.export.pictures.banks import gap
from fabric.deliver.export.pictures.view import View

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
