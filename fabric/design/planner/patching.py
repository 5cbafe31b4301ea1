"""Which panel and which ports of it every trunk has, so that growth moves jumpers and no trunk.

The history of a wiring is replayed, as for the ports of switches. A port keeps its trunk. A link between two ports without a
trunk goes to the panel that the new switches fill; a link of which one port has a trunk brings the other port to that panel.
Where fewer links join each pair than before, every link that moves leads to a port without a trunk, so both meet at a panel.
What is left are links between two old ports (spines that are removed, uplinks that are added) and panels without a free port.
There a trunk is laid again, which the comparison of two plans shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from fabric.base.rounding import ceil_div
from fabric.design.planner import wiring
from fabric.model.plan import (
    KINDS,
    LEAF_SPINE,
    SPINE_CORE,
    Epoch,
    FabricSpec,
    Ints,
    Links,
    Sizing,
    Slot,
    core_downlinks,
    spine_downlinks,
)
from fabric.model.plan.patching import DIRECT, PanelRule, Patching, PatchPanel

Key = tuple[int, int]  # switch by its place in its tier, port by its number there


class Spot(NamedTuple):
    """A port of a panel, both from 0."""

    panel: int
    port: int


@dataclass(kw_only=True)
class Board:
    """The panels between the switches of one wiring.

    Attributes:
        lower: port of a lower switch → where its trunk ends, and `upper` likewise.
        first: panel → the lower switch that it was begun for.
    """

    rule: PanelRule
    lower: dict[Key, Spot] = field(default_factory=dict)
    upper: dict[Key, Spot] = field(default_factory=dict)
    first: list[int] = field(default_factory=list)
    _used: list[int] = field(default_factory=list)  # ports of each panel
    _home: int = -1  # the panel that new switches fill, and how many links more it takes
    _room: int = 0

    def arrive(self, lower: int, links: int, links_of_pair: int) -> None:
        """Chooses the panel of a new lower switch: all its links are on one where they fit."""
        most = self.rule.taken(links_of_pair)
        if self._home < 0 or self._room < min(links, most):
            self._open(lower, most)

    def join(self, low: Key, high: Key, links_of_pair: int) -> None:
        """Brings both ports of a link to one panel."""
        one, other = self.lower.get(low), self.upper.get(high)
        if one is not None and other is not None and one.panel == other.panel:
            return
        if one is not None and self._free(one.panel):
            self.upper[high] = self._take(one.panel)
        elif one is None and other is not None and self._free(other.panel):
            self.lower[low] = self._take(other.panel)
        else:
            if self._room < 1 or self._free(self._home) < 2:
                self._open(low[0], self.rule.taken(links_of_pair))
            self._room -= 1
            self.lower[low], self.upper[high] = self._take(self._home), self._take(self._home)

    def _open(self, lower: int, room: int) -> None:
        self._home, self._room = len(self.first), room
        self.first.append(lower)
        self._used.append(0)

    def _free(self, panel: int) -> int:
        return self.rule.ports - self._used[panel]

    def _take(self, panel: int) -> Spot:
        self._used[panel] += 1
        return Spot(panel, self._used[panel] - 1)


def board(history: Sequence[Epoch], groups: Sequence[str], rule: PanelRule) -> Board:
    """The panels of a wiring; `groups` has the group of every lower switch of the finished fabric, in order of arrival."""
    made, known = Board(rule=rule), 0
    names = sorted(set(groups))
    slots = {name: list(wiring.lower_states(history, name)) for name in names}
    for at, (epoch, upper) in enumerate(zip(history, wiring.upper_states(history, groups), strict=True)):
        lowers = len(groups) if at == len(history) - 1 else min(epoch.lowers, len(groups))
        for lower in range(lowers):
            group, count = groups[lower], epoch.of(groups[lower])
            if lower >= known:
                made.arrive(lower, count * epoch.uppers, count)
            for high, link in _spread(epoch.uppers, count, rule.taken(count)):
                made.join((lower, slots[group][at][high, link]), (high, upper[lower, link]), count)
        known = max(known, lowers)
    return made


def _spread(uppers: int, links: int, most: int) -> Iterator[Key]:
    """(upper, link) of a lower switch in the order in which they fill panels: each panel has its part of those that move."""
    count = uppers * links
    panels = max(1, ceil_div(count, most))
    yield from (divmod(at, uppers)[::-1] for begin in range(panels) for at in range(begin, count, panels))


# --- the links of a fabric ------------------------------------------------------------------------------------

Instance = tuple[str, ...]  # words of the names of a set of panels: of a pod, a plane, a rail


@dataclass(frozen=True)
class Wired:
    """The links of one kind.

    Attributes:
        lowers: lower switch, by its index → the panels of its wiring, its place in order of arrival.
        uppers: upper switch → its place, and the instance of the wiring that it is of.
        slots: (cage, port of the cage) of an upper switch → its number among the ports down.
    """

    kind: int
    lowers: Mapping[int, tuple[Board, int]]
    uppers: Mapping[int, tuple[int, Instance]]
    slots: Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class Lowers:
    """Leaves that are wired together: the group of each in order of arrival, and the place of every leaf of a group in it."""

    arrivals: Sequence[str]
    places: Mapping[str, Ints]  # [unit, leaf of the unit]
    sites: Sequence[wiring.GroupSites]


def of_leaves(
    spec: FabricSpec, sizing: Sizing, history: Sequence[Epoch], lowers: Iterable[Lowers], spine_index: Ints
) -> Iterator[Wired]:
    """The panels between leaves and spines, where the intent has them."""
    rule = spec.panels.get(KINDS[LEAF_SPINE])
    if rule is None:
        return
    leaves: dict[int, tuple[Board, int]] = {}
    for its in lowers:
        made = board(history, its.arrivals, rule)
        for site in its.sites:
            places = np.broadcast_to(its.places[site.size.name], site.leaf.shape)
            leaves |= {
                leaf: (made, place) for leaf, place in zip(site.leaf.ravel().tolist(), places.ravel().tolist(), strict=True)
            }
    spines = {
        int(spine_index[at]): (at[2], (*_pod(sizing, at[0]), *_network(spec, sizing, at[1])))
        for at in np.ndindex(spine_index.shape)
    }
    yield Wired(LEAF_SPINE, leaves, spines, _slots(spine_downlinks(spec, sizing)))


def of_spines(
    spec: FabricSpec, sizing: Sizing, history: Sequence[Epoch], spine_index: Ints, core_index: Ints, pod_places: Ints
) -> Iterator[Wired]:
    """The panels between spines and cores, where the intent has them."""
    rule = spec.panels.get(KINDS[SPINE_CORE])
    if rule is None:
        return
    each = sizing.spines_per_core
    made = board(history, [wiring.SPINES] * history[-1].lowers, rule)
    spines = {
        int(spine_index[at]): (made, int(pod_places[at[0]]) * each + at[2] % each) for at in np.ndindex(spine_index.shape)
    }
    groups = core_index.shape[1]
    cores = {
        int(core_index[at]): (at[2], ("core", *_network(spec, sizing, at[0]), *([f"group{at[1] + 1}"] if groups > 1 else ())))
        for at in np.ndindex(core_index.shape)
    }
    yield Wired(SPINE_CORE, spines, cores, _slots(core_downlinks(spec, sizing)))


def _pod(sizing: Sizing, pod: int) -> Instance:
    return (f"pod{pod + 1}",) if sizing.tiers == 3 else ()


def _network(spec: FabricSpec, sizing: Sizing, network: int) -> Instance:
    rail, plane = divmod(network, sizing.planes)
    return (
        *((f"rail{rail + 1}",) if spec.kind == "rail-only" else ()),
        *((f"plane{plane + 1}",) if sizing.planes > 1 else ()),
    )


def _slots(down: Sequence[Slot]) -> dict[tuple[int, int], int]:
    return {(slot.cage, slot.sub): number for number, slot in enumerate(down)}


def patching(fabric: str, links: Links, wired: Iterable[Wired]) -> Patching | None:
    """The panels of a fabric; None without. The number of a panel that no link passes stays free."""
    found: dict[str, PatchPanel] = {}
    rows: list[tuple[int, str, int, int]] = []
    columns = links.lists()
    for its in wired:
        for row in np.flatnonzero(links.kind == its.kind).tolist():
            (board_of, lower), (upper, words) = its.lowers[columns["a"][row]], its.uppers[columns["b"][row]]
            low = board_of.lower[lower, columns["column"][row]]
            high = board_of.upper[upper, its.slots[columns["b_cage"][row], columns["b_sub"][row]]]
            name = "-".join((fabric, *words, f"panel{low.panel + 1:03}"))
            found.setdefault(name, PatchPanel(name, board_of.rule.ports, columns["a"][row]))
            rows.append((row, name, low.port + 1, high.port + 1))
    if not rows:
        return None
    order = {name: at for at, name in enumerate(sorted(found))}
    panel, lower_port, upper_port = (np.full(len(links), DIRECT, dtype=np.int64) for _ in range(3))
    for row, name, one, other in rows:
        panel[row], lower_port[row], upper_port[row] = order[name], one, other
    return Patching(panels=tuple(found[name] for name in order), panel=panel, lower=lower_port, upper=upper_port)


def after(before: Links, patched: Patching | None, links: Links) -> Patching | None:
    """The panels once links were removed and others added, which are cabled directly."""
    if patched is None or before is links:
        return patched
    was = {key: row for row, key in enumerate(_lower_ends(before))}
    rows = np.array([was.get(key, DIRECT) for key in _lower_ends(links)], dtype=np.int64)
    kept = patched.rows(rows)
    return replace(kept, panel=np.where(rows == DIRECT, DIRECT, kept.panel))


def _lower_ends(links: Links) -> list[tuple[int, int, int, int]]:
    return list(zip(*(getattr(links, name).tolist() for name in ("kind", "a", "row", "column")), strict=True))
