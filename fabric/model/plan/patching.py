"""Patch panels between two tiers: where each link passes, and the ports that its two trunks have there.

Every port of a switch is cabled to a panel once, by a trunk. A jumper between two ports of one panel makes a link of two
trunks, so that another link takes another jumper, and no cable across the floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

DIRECT = -1  # panel of a link without one


@dataclass(frozen=True, slots=True)
class PanelRule:
    """Panels between two tiers, as an intent states them.

    Attributes:
        ports: of one panel.
        links: that new switches take on a panel; the other ports are for links that move later. 0: by the links of a pair.
    """

    ports: int
    links: int = 0

    def taken(self, links_of_pair: int) -> int:
        """Links of new switches on one panel: a third of its ports, half where no link of a pair can move."""
        return self.links or max(1, self.ports // (3 if links_of_pair > 1 else 2))


class PatchPanel(NamedTuple):
    """One panel. It stands above the rack of the first switch that is cabled to it."""

    name: str
    ports: int
    first: int  # index of that switch


class Patch(NamedTuple):
    """The way of one link through a panel, ports from 1."""

    panel: PatchPanel
    lower: int
    upper: int


@dataclass(frozen=True, kw_only=True)
class Patching:
    """The panels of a fabric, and for every link the panel and the ports of its two trunks."""

    panels: tuple[PatchPanel, ...]
    panel: Ints  # index into `panels`, DIRECT without one
    lower: Ints
    upper: Ints

    def of(self, link: int) -> Patch | None:
        """The way of a link; None where it is cabled directly."""
        at = int(self.panel[link])
        return None if at == DIRECT else Patch(self.panels[at], int(self.lower[link]), int(self.upper[link]))

    @property
    def ends(self) -> list[tuple[str, int, int] | None]:
        """Per link the name of its panel, its lower and its upper port there; None where it is cabled directly."""
        columns = zip(self.panel.tolist(), self.lower.tolist(), self.upper.tolist(), strict=True)
        return [None if at == DIRECT else (self.panels[at].name, low, high) for at, low, high in columns]

    def rows(self, rows: Ints) -> Patching:
        """Of some of the links."""
        return Patching(panels=self.panels, panel=self.panel[rows], lower=self.lower[rows], upper=self.upper[rows])


def joined(parts: Sequence[tuple[Patching | None, Ints]]) -> Patching | None:
    """The panels of some links of several plans, in this order; None where no plan has panels.

    The first switch of a panel is that of the first plan which has it.
    """
    if not any(patched for patched, _ in parts):
        return None
    panels: dict[str, PatchPanel] = {}
    columns: list[tuple[Ints, Ints, Ints]] = []
    for patched, rows in parts:
        if patched is None:
            columns.append((np.full(len(rows), DIRECT), *(np.zeros(len(rows), dtype=np.int64),) * 2))
            continue
        for panel in patched.panels:
            panels.setdefault(panel.name, panel)
        index = np.array([*(list(panels).index(panel.name) for panel in patched.panels), DIRECT])
        columns.append((index[patched.panel[rows]], patched.lower[rows], patched.upper[rows]))
    at, lower, upper = (np.concatenate(column).astype(np.int64) for column in zip(*columns, strict=True))
    return Patching(panels=tuple(panels.values()), panel=at, lower=lower, upper=upper)
