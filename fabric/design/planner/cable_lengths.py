"""Cable lengths of a fabric: as stated, else the smallest class that covers the floor plan of the finished fabric.

Classes are few and coarse on purpose, and the lock keeps the class that is in use: headroom, ECN thresholds and CABLE_LENGTH
follow from it, and growth must not change them in service. All classes are lengths that every medium is sold in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fabric.base.diagnostics import Report
from fabric.base.grouping import grouped
from fabric.design.floor import floor
from fabric.design.floor.floor import TrayPoint
from fabric.design.floor.layout import Key, Layout, RackPosition, RackPosition as Standing, keys, lay_out, uppers
from fabric.design.floor.rack_space import Machines, Outline, SiteOutline, machines, outline
from fabric.model.plan import (
    ATTACHED,
    ATTACHMENT,
    CLASSES_M,
    CORE,
    FLOOR,
    KINDS,
    LEAF,
    LEAF_LEAF,
    LEAF_SPINE,
    LOCK,
    LONGER_WARNING,
    SERVER,
    SERVER_LEAF,
    SERVER_SERVER,
    SPINE,
    SPINE_CORE,
    STATED,
    FabricPlan,
    FabricSpec,
    GroupSize,
    GroupSpec,
    Length,
    Lengths,
    Longer,
    Plan,
    class_of,
    longer_text,
)
from fabric.model.plan.lock_file import FabricLock, Lock
from fabric.model.settings.site import Floor as Geometry

if TYPE_CHECKING:
    from fabric.design.floor.floor import Floor


MAX_PLANNED_SERVERS = 500_000  # above, laying out the floor would take seconds
UNKNOWN_M = 300.0  # for a larger site: the longest class


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
            SERVER_SERVER: ground.neighbors(fabric) if fabric.spec.switchless else (),
        }
        measured = {kind: _longest(site.settings.floor, list(its)) for kind, its in pairs.items()}
        for kind, role in ((LEAF_SPINE, LEAF), (SPINE_CORE, SPINE)):
            if measured[kind] and KINDS[kind] in fabric.spec.panels:  # a panel is at the rack of one of the lower switches
                lowers = ground.of(role, name)
                measured[kind] += floor.JUMPER_M + _longest(site.settings.floor, list(_across(lowers, lowers)))
        longest[name] = {KINDS[kind]: metres for kind, metres in measured.items() if metres}
    return longest


def _kinds(fabric: Outline) -> Iterator[str]:
    """The kinds of link that a fabric has."""
    sizing = fabric.sizing
    built = {
        SERVER_LEAF: not fabric.spec.switchless,
        LEAF_LEAF: sizing.kind == "collapsed",
        LEAF_SPINE: bool(sizing.spines),
        SPINE_CORE: bool(sizing.cores),
        ATTACHMENT: bool(fabric.spec.attachments),
        SERVER_SERVER: fabric.spec.switchless,
    }
    return (KINDS[kind] for kind, has in built.items() if has)


class _PlannedPositions:
    """Where everything that is planned stands."""

    def __init__(
        self, site: SiteOutline, reserved: Mapping[str, Machines], fixed: Mapping[Key, Standing], report: Report
    ) -> None:
        self.site, self.reserved, self.fixed = site, reserved, fixed
        places, self.racks = Layout(site, reserved, report).stand()
        self.places = {**places, **{key: place for key, place in fixed.items() if key[0] != SERVER}}
        self.shared = _shared(site)

    def of(self, role: str, fabric: str) -> list[RackSpan]:
        """Switches of a role."""
        return _spots(place for key, place in self.places.items() if key[0] == role and key[1] == fabric)

    def attachments(self, fabric: Outline) -> list[RackSpan]:
        """Attachments of a fabric, and leaves that hang below its own."""
        spots = _spots(self.places[ATTACHED, name] for name in fabric.attachments)
        below = (its.name for its in self.site.fabrics.values() if its.spec.below and its.spec.below.fabric == fabric.name)
        return [*spots, *(spot for name in below for spot in self.of(LEAF, name))]

    def leaf_pairs(self, fabric: Outline) -> Iterator[Pair]:
        """The two leaves of every pair."""
        for group in fabric.sizing.leaf_groups:
            for unit in range(group.units_planned):
                for first in range(0, group.unit_leaves, 2):
                    one, other = (self._leaves(fabric, group, unit, range(at, at + 1)) for at in (first, first + 1))
                    yield from _every(one, other)

    def servers(self, fabric: Outline) -> Iterator[Pair]:
        """Servers and the leaves that serve them, over all planned units."""
        for group, size in zip(fabric.spec.groups, fabric.sizing.groups, strict=True):
            if group.shared:
                yield from _across(self._servers(group.name, 0, group.planned), self.of(LEAF, fabric.name))
            for unit in range(size.units_planned):
                for leaves, first, count in _parts(fabric, group, size):
                    start = unit * size.unit_servers + first
                    servers = self._servers(group.name, start, start + count)
                    yield from _every(servers, self._leaves(fabric, size, unit, leaves))

    def neighbors(self, fabric: Outline) -> Iterator[Pair]:
        """Every two servers of a fabric without switches."""
        for group, size in zip(fabric.spec.groups, fabric.sizing.groups, strict=True):
            servers = self._servers(group.name, 0, size.servers)
            yield from _every(servers, servers)

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
        floor.length_m(geometry, TrayPoint(a[:, 0], a[:, 1], a[:, low]), TrayPoint(b[:, 0], b[:, 1], b[:, high]))
        for low, high in ((2, 2), (2, 3), (3, 2))
    ]
    return float(floor.with_slack(geometry, np.max(lengths_m, axis=0)).max())


# --- classes of length ----------------------------------------------------------------------------------------


def assumed(spec: FabricSpec, longest_m: Mapping[str, float], lock: FabricLock) -> FabricSpec:
    """The fabric with the length of every kind of link that it has.

    Args:
        longest_m: by kind of link, the longest cable of the floor plan of the finished fabric.
        lock: the classes in use; none is lowered.
    """
    return replace(
        spec,
        lengths=tuple(
            length if length.source == STATED else _class(longest_m.get(kind, 0.0), lock.lengths.get(kind, 0))
            for kind, length in zip(KINDS, spec.lengths, strict=True)
        ),
    )


def _class(longest_m: float, in_use: int) -> Length:
    if not longest_m:
        return Length(0)
    metres = class_of(longest_m)
    return Length(max(metres, in_use), LOCK if in_use > metres else FLOOR, longest_m)


def kept(lengths: Lengths) -> dict[str, int]:
    """What the lock keeps: the class of every kind of link whose length is not stated."""
    return {kind: its.metres for kind, its in zip(KINDS, lengths, strict=True) if its.source in (FLOOR, LOCK)}


def report_changes(spec: FabricSpec, lock: FabricLock, report: Report, *, lossless: bool) -> None:
    """Warns of classes that change thresholds in service, and of those that no class covers."""
    for kind, length in zip(KINDS, spec.lengths, strict=True):
        where, in_use = spec.at("topology", "cable_length_m", kind), lock.lengths.get(kind, 0)
        if length.source == FLOOR and length.metres > CLASSES_M[-1]:
            report.warn(
                "FAB195",
                where,
                f"fabric '{spec.name}': expected {kind} cables of at most {CLASSES_M[-1]} m, the longest class, got up to "
                f"{length.longest_m:g} m on the floor plan; {length.metres:,} m is assumed",
                "correct `floor:` (rows, racks per row), or set the longest cable under `topology.cable_length_m`",
            )
        if lossless and length.source == FLOOR and 0 < in_use < length.metres:
            report.warn(
                "FAB188",
                where,
                f"fabric '{spec.name}': {kind} cables outgrow the {in_use} m in use (longest {length.longest_m:g} m): "
                f"{length.metres} m are assumed, and PFC headroom, buffer and ECN values of switches in service change",
                f"`cable_length_m: {{{kind}: {in_use}}}` keeps the values, if no cable is longer; `planned:` chooses them "
                "for the finished fabric",
            )
    classes = kept(spec.lengths)
    if lossless and lock.blocks and classes and not lock.lengths:
        text = ", ".join(f"{kind} {metres} m" for kind, metres in classes.items())
        report.warn(
            "FAB188",
            spec.at("topology", "cable_length_m"),
            f"fabric '{spec.name}': the lock file records no cable lengths; the floor plan defines them now ({text}): "
            "PFC headroom, buffer and ECN values of switches in service may change",
            "set `topology.cable_length_m` to choose the lengths; `fabric generate` records them in the lock file",
        )


def report_longer(spec: FabricSpec, longer: Iterable[Longer], report: Report) -> None:
    """Warns of cables that are longer than the stated length that PFC headroom is computed for."""
    for its in longer:
        text, hint = longer_text(its)
        report.warn(
            LONGER_WARNING, spec.at("topology", "cable_length_m", KINDS[its.kind]), f"fabric '{spec.name}': {text}", hint
        )


# --- where devices stand: with the intent's own places, and against the lengths that it states ----------------


def with_lengths(plan: Plan, lock: Lock, report: Report) -> dict[str, FabricPlan]:
    """The fabrics with their cable lengths, now that devices have names and numbers.

    Places of the intent that cannot be are reported.
    """
    site = outline(plan)
    planned = {name: replace(fabric_outline, switches=()) for name, fabric_outline in site.fabrics.items()}
    fixed = _fixed(plan, report) if plan.settings.floor.places else {}
    same = all(uppers(fabric_outline) == uppers(planned[name]) for name, fabric_outline in site.fabrics.items())
    if same and not fixed and not any(_shared(site).values()):
        return dict(plan.fabrics)  # places follow from the sizes
    longest = longest_m(site, fixed)
    fabrics = {}
    for name, fabric in plan.fabrics.items():
        spec = assumed(fabric.spec, longest[name], lock.fabrics.get(name, FabricLock()))
        fabrics[name] = replace(fabric, spec=spec)
    return fabrics


def _fixed(made: Plan, report: Report) -> dict[Key, RackPosition]:
    """Devices with a place stated in the intent, as far as it is allowed."""
    from fabric.design.floor.floor import fix

    places = lay_out(made, machines(outline(made), report), report)
    own = keys(made)
    return {own[name]: place for name, place in fix(made, places, report).items() if place != places[name]}


def with_longer(plan: Plan, report: Report) -> dict[str, FabricPlan]:
    """The fabrics with the cables that are longer on a stated floor than the length that is stated for them, with a warning.

    Only fabrics with a lossless class count: it is PFC headroom that such a cable is too long for. Without `floor:` in the
    intent the floor is a proposal, and the stated lengths are what is cabled.
    """
    fabrics = dict(plan.fabrics)
    if not plan.settings.positions.stated("floor"):
        return fabrics
    suspects = [
        fabric
        for fabric in fabrics.values()
        if fabric.lossless is not None and any(length.source == STATED for length in fabric.spec.lengths)
    ]
    if not suspects:
        return fabrics
    from fabric.design.floor.floor import floor

    ground = floor(plan)
    for fabric in suspects:
        longer = _longer(fabric, ground)
        report_longer(fabric.spec, longer, report)
        fabrics[fabric.name] = replace(fabric, longer=longer)
    return fabrics


def _longer(fabric: FabricPlan, ground: Floor) -> tuple[Longer, ...]:
    found = []
    metres = ground.lengths_m(fabric)
    for kind, length in enumerate(fabric.spec.lengths):
        of_kind = metres[fabric.links.kind == kind]
        beyond = of_kind > length.metres
        if length.source == STATED and beyond.any():
            found.append(Longer(kind, length.metres, int(beyond.sum()), float(of_kind.max())))
    return tuple(found)
