"""The longest cable of every kind of link on the floor of the finished fabric, from sizes alone.

Nothing needs to be wired: every leaf may meet every server of its unit and every spine of its fabric, built or only planned.
So no cable of the plan is longer, and none of any size that the fabric has while it grows to `planned`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fabric.base.diagnostics import Report
from fabric.base.grouping import grouped
from fabric.design.floor import route
from fabric.design.floor.layout import Key, Layout, RackPosition as Standing
from fabric.design.floor.outline import Outline, SiteOutline
from fabric.design.floor.reserve import Machines, machines
from fabric.design.floor.route import TrayPoint
from fabric.model.plan import (
    ATTACHED,
    ATTACHMENT,
    CORE,
    KINDS,
    LEAF,
    LEAF_LEAF,
    LEAF_SPINE,
    SERVER,
    SERVER_LEAF,
    SPINE,
    SPINE_CORE,
    GroupSize,
    GroupSpec,
)
from fabric.model.settings.site import Floor as Geometry

MAX_PLANNED_SERVERS = 500_000  # that are planned; a floor of more takes seconds to lay out
UNKNOWN_M = 300.0  # of a site that is larger: the longest class


class RackSpan(NamedTuple):
    """Devices in one rack: the middles of the lowest and of the highest of them, in rack units."""

    row: int
    place: int
    low: float
    high: float


Pair = tuple[RackSpan, RackSpan]


def longest_m(site: SiteOutline, fixed: Mapping[Key, Standing] | None = None) -> dict[str, dict[str, float]]:
    """Metres of the longest cable by fabric and kind of link, slack included; kinds that a fabric has not are left out.

    A site planned for more servers than a floor is laid out for has UNKNOWN_M for every kind.

    Args:
        fixed: devices that the intent puts somewhere else.

    Raises:
        InputError: for servers or switches that are higher than a rack.
    """
    if sum(group.planned for its in site.fabrics.values() for group in its.spec.groups) > MAX_PLANNED_SERVERS:
        return {name: dict.fromkeys(_kinds(its), UNKNOWN_M) for name, its in site.fabrics.items()}
    report = Report()
    reserved = machines(site, report)
    report.raise_errors()
    ground = _PlannedPositions(site, reserved, fixed or {}, report)
    longest: dict[str, dict[str, float]] = {}
    for name, fabric in site.fabrics.items():
        pairs = {
            SERVER_LEAF: ground.servers(fabric),
            LEAF_LEAF: ground.leaf_pairs(fabric) if fabric.sizing.kind == "collapsed" else (),
            LEAF_SPINE: _across(ground.of(LEAF, name), ground.of(SPINE, name)),
            SPINE_CORE: _across(ground.of(SPINE, name), ground.of(CORE, name)),
            ATTACHMENT: _across(ground.of(LEAF, name), ground.attachments(fabric)),
        }
        measured = {kind: _longest(site.settings.floor, list(its)) for kind, its in pairs.items()}
        longest[name] = {KINDS[kind]: metres for kind, metres in measured.items() if metres}
    return longest


def _kinds(fabric: Outline) -> Iterator[str]:
    """The kinds of link that a fabric has."""
    sizing = fabric.sizing
    built = {
        SERVER_LEAF: True,
        LEAF_LEAF: sizing.kind == "collapsed",
        LEAF_SPINE: bool(sizing.spines),
        SPINE_CORE: bool(sizing.cores),
        ATTACHMENT: bool(fabric.attachments),
    }
    return (KINDS[kind] for kind, has in built.items() if has)


class _PlannedPositions:
    """Where everything that is planned stands."""

    def __init__(
        self, site: SiteOutline, reserved: Mapping[str, Machines], fixed: Mapping[Key, Standing], report: Report
    ) -> None:
        self.reserved, self.fixed = reserved, fixed
        places, self.racks = Layout(site, reserved, report).stand()
        self.places = {**places, **{key: place for key, place in fixed.items() if key[0] != SERVER}}
        self.shared = _shared(site)

    def of(self, role: str, fabric: str) -> list[RackSpan]:
        """Switches of a role."""
        return _spots(place for key, place in self.places.items() if key[0] == role and key[1] == fabric)

    def attachments(self, fabric: Outline) -> list[RackSpan]:
        """Attachments of a fabric."""
        return _spots(self.places[ATTACHED, name] for name in fabric.attachments)

    def leaf_pairs(self, fabric: Outline) -> Iterator[Pair]:
        """Every two leaves of a unit."""
        for group in fabric.sizing.groups:
            for unit in range(group.units_planned):
                first = self._leaves(fabric, group, unit, range(1))
                for other in range(1, group.unit_leaves):
                    yield from _every(first, self._leaves(fabric, group, unit, range(other, other + 1)))

    def servers(self, fabric: Outline) -> Iterator[Pair]:
        """Servers and the leaves that serve them, over all planned units."""
        for group, size in zip(fabric.spec.groups, fabric.sizing.groups, strict=True):
            for unit in range(size.units_planned):
                for leaves, first, count in _parts(fabric, group, size):
                    start = unit * size.unit_servers + first
                    servers = self._servers(group.name, start, start + count)
                    yield from _every(servers, self._leaves(fabric, size, unit, leaves))

    def _leaves(self, fabric: Outline, group: GroupSize, unit: int, leaves: range) -> list[RackSpan]:
        return _spots(self.places[LEAF, fabric.name, group.name, unit, leaf] for leaf in leaves)

    def _servers(self, group: str, first: int, end: int) -> list[RackSpan]:
        """Servers at places from `first` to before `end`, rack by rack; racks are taken as full."""
        machines, slip = self.reserved[group], self.shared.get(group, 0)
        last = min(end - 1 + slip, machines.reserved - 1)
        racks = range(machines.rack(min(max(0, first - slip), last)), machines.rack(last) + 1)
        high = (machines.per_rack - 0.5) * machines.height
        spans = [RackSpan(*self.racks[group][rack], machines.height / 2, high) for rack in racks]
        for key, place in self.fixed.items():
            if key[:2] == (SERVER, group) and first - slip <= machines.places[int(key[2]) - 1] < end + slip:
                spans += _spots([place])
        return spans


def _parts(fabric: Outline, group: GroupSpec, size: GroupSize) -> Iterator[tuple[range, int, int]]:
    """Leaves of a unit with the same servers, the first of these servers in the unit, and how many they are."""
    if fabric.spec.kind != "rack":
        yield range(size.unit_leaves), 0, size.unit_servers
        return
    per_nic = fabric.spec.leaves_per_nic(group)
    for leaf in range(0, size.unit_leaves, per_nic):
        yield (
            range(leaf, min(leaf + per_nic, size.unit_leaves)),
            leaf // per_nic * size.servers_per_leaf,
            size.servers_per_leaf,
        )


def _shared(site: SiteOutline) -> dict[str, int]:
    """Places by which a server may be off its unit: attachments hold places of the same servers in one fabric only."""
    held = grouped((group.name, len(group.held)) for fabric in site.fabrics.values() for group in fabric.spec.groups)
    return {name: max(counts) for name, counts in held.items() if len(counts) > 1}


def _spots(places: Iterable[Standing]) -> list[RackSpan]:
    """Devices gathered by rack."""
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for rack, ru, height in places:
        middle = ru - 1 + height / 2
        low, high = found.get(rack, (middle, middle))
        found[rack] = min(low, middle), max(high, middle)
    return [RackSpan(*rack, *middles) for rack, middles in found.items()]


def _every(one: Sequence[RackSpan], other: Sequence[RackSpan]) -> Iterator[Pair]:
    for a in one:
        for b in other:
            yield a, b


def _across(one: Sequence[RackSpan], other: Sequence[RackSpan]) -> Iterator[Pair]:
    """The pairs among which the longest route is: of the racks at one place of their rows only the first and the last row
    count, as low as any of them stands; and every rack that both share."""
    yield from _every(_outer(one), _outer(other))
    there = {spot[:2]: spot for spot in other}
    yield from ((spot, there[spot[:2]]) for spot in one if spot[:2] in there)


def _outer(spots: Sequence[RackSpan]) -> list[RackSpan]:
    found: dict[int, tuple[int, int, float]] = {}
    for row, place, low, _ in spots:
        first, last, lowest = found.get(place, (row, row, low))
        found[place] = min(first, row), max(last, row), min(lowest, low)
    return [RackSpan(row, place, low, low) for place, (*rows, low) in found.items() for row in dict.fromkeys(rows)]


def _longest(geometry: Geometry, pairs: Sequence[Pair]) -> float:
    """Metres of the longest route, slack included; 0 where there is none."""
    if not pairs:
        return 0
    a, b = (np.array([pair[end] for pair in pairs], dtype=float) for end in (0, 1))
    lengths_m = [
        route.length_m(geometry, TrayPoint(a[:, 0], a[:, 1], a[:, low]), TrayPoint(b[:, 0], b[:, 1], b[:, high]))
        for low, high in ((2, 2), (2, 3), (3, 2))
    ]
    return float(route.with_slack(geometry, np.max(lengths_m, axis=0)).max())
