"""Free ports of leaves, which no planned server of their own group needs: for attachments, and for NICs without own leaves.

NICs without own leaves are those of a further purpose, which are on the leaves of their server, and all NICs of a group that
shares the leaves of the first one. The lock keeps every port, so growth moves none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fabric.base.diagnostics import Report
from fabric.base.text import plural
from fabric.design.planner.wiring import GroupSites, free_port_links
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import (
    SERVER_LEAF,
    FabricSpec,
    GroupSpec,
    Ints,
    Layout,
    Links,
    NicUse,
    ServerPorts,
    Slot,
    leaf_set,
    splits_left,
    spread_ports,
)
from fabric.model.plan.lock import PortSpot
from fabric.model.plan.sizing import positions

# --- the ports ------------------------------------------------------------------------------------------------

LeafColumn = tuple[int, int]  # leaf number from 1, and column of the leaf's server block
Free = dict[int, dict[int, dict[int, Slot]]]  # leaf number → column → speed → slot


@dataclass(kw_only=True)
class Ports:
    """The leaf ports that may be taken, and the taken ones."""

    free: Free
    model: SwitchModel | None = None  # of the leaves
    used: set[LeafColumn] = field(default_factory=set)
    seats: dict[int, int] = field(default_factory=dict)  # leaf → columns of its servers, which come before those of cages
    split_for: dict[tuple[int, int], int] = field(default_factory=dict)  # (leaf, cage) → speed of its breakout, 0: disabled
    _ordered: dict[tuple[int, int], list[int]] = field(default_factory=dict)  # (leaf, speed) → columns

    def take(self, spot: LeafColumn, speed_gbps: int) -> Slot | None:
        """Takes a port at a speed; None when it is not free, or its cage is broken out for another speed."""
        leaf, column = spot
        slot = self.free.get(leaf, {}).get(column, {}).get(speed_gbps)
        if slot is None or not self._free(spot, speed_gbps):
            return None
        self.split_for[leaf, slot.cage] = speed_gbps
        if self._is_wide(slot):
            self.split_for[leaf, slot.cage + 1] = 0
        self.used.add(spot)
        return slot

    def take_together(self, spots: Sequence[LeafColumn], speed_gbps: int) -> list[Slot]:
        """Takes ports that belong together, or none of them."""
        if not all(self._free(spot, speed_gbps) for spot in spots):
            return []
        return [slot for spot in spots if (slot := self.take(spot, speed_gbps)) is not None]

    def first(self, leaves: Sequence[int], speed_gbps: int, *, last: bool = False) -> list[tuple[LeafColumn, Slot]]:
        """Takes the first port that all these leaves have free: of free cages, then of places without a server.

        With `last` it is the last one of the cages, as attachments take them.
        """
        columns = self._columns(leaves[0], speed_gbps)
        if last:
            columns = sorted(columns, key=lambda column: (column < self.seats[leaves[0]], -columns.index(column)))
        for column in columns:
            spots = [(leaf, column) for leaf in leaves]
            if slots := self.take_together(spots, speed_gbps):
                return list(zip(spots, slots, strict=True))
        return []

    def _free(self, spot: LeafColumn, speed_gbps: int) -> bool:
        leaf, column = spot
        slot = self.free.get(leaf, {}).get(column, {}).get(speed_gbps)
        if slot is None or spot in self.used or self.split_for.get((leaf, slot.cage), speed_gbps) != speed_gbps:
            return False
        return not self._is_wide(slot) or (leaf, slot.cage) in self.split_for or (leaf, slot.cage + 1) not in self.split_for

    def _is_wide(self, slot: Slot) -> bool:
        return self.model is not None and self.model.is_wide(slot.split)

    def _columns(self, leaf: int, speed_gbps: int) -> list[int]:
        """Columns of a leaf that a speed may have, in the order of cages, those that may be taken first."""
        found = self._ordered.get((leaf, speed_gbps))
        if found is None:
            slots = [(column, its[speed_gbps]) for column, its in self.free.get(leaf, {}).items() if speed_gbps in its]
            slots.sort(key=lambda item: (item[0] < self.seats[leaf], item[1].cage, item[1].sub))
            found = self._ordered[leaf, speed_gbps] = [column for column, _ in slots]
        while found and (leaf, found[0]) in self.used:
            del found[0]
        return found

    def spread(self, missing: int, speed_gbps: int, leaves: Collection[int] = ()) -> list[tuple[LeafColumn, Slot]]:
        """Takes `missing` ports, or all free ones: one per leaf in each round, from the last port of each leaf downwards.

        Args:
            leaves: those that are allowed; none: all.
        """
        spots: list[tuple[LeafColumn, Slot]] = []
        left = {leaf: sorted(columns) for leaf, columns in self.free.items() if leaf in leaves or not leaves}
        while left and len(spots) < missing:
            for leaf in sorted(left):
                slot = None
                while left[leaf] and slot is None:
                    spot = (leaf, left[leaf].pop())
                    slot = self.take(spot, speed_gbps)
                if slot is None:
                    del left[leaf]
                    continue
                spots.append((spot, slot))
                if len(spots) == missing:
                    break
        return spots


def free_cages(model: SwitchModel, layout: Layout, down_gbps: int) -> list[tuple[int, int, dict[int, int]]]:
    """(cage, subport, speed → ports of the cage) of the columns behind those of servers, in their order.

    Subports of server speed come first: the block of the leaf has addresses for them, and may have none for others.
    """
    left = {cage: splits_left(model, layout, cage) for cage in layout.free}
    subs = [(cage, sub, splits) for cage, splits in left.items() for sub in range(8)]
    coarse = [entry for entry in subs if entry[1] < entry[2].get(down_gbps, 0)]
    fine = [entry for entry in subs if entry[2].get(down_gbps, 0) <= entry[1] < max(entry[2].values(), default=0)]
    return coarse + fine


def free_ports(spec: FabricSpec, sites: Sequence[GroupSites]) -> Ports:
    """Places of servers that are not planned, then free cages."""
    result = Ports(free={}, model=spec.leaf.model)
    groups = {group.name: group for group in spec.groups}
    for site in sites:
        group = groups[site.size.name]
        size, layout = site.size, site.layout
        cages = cage_columns(spec.leaf.model, layout, size.down_gbps)
        planned = min(group.planned, size.units * size.unit_servers)  # later servers are in other units
        occupied = set(positions(planned, group.held).tolist())
        per_rack = size.unit_leaves // max(1, size.unit_servers // size.servers_per_leaf)
        for unit in range(size.units):
            for leaf in range(size.unit_leaves):
                before = unit * size.unit_servers
                if spec.kind == "rack":
                    before += leaf // per_rack * size.servers_per_leaf
                seats = {
                    seat: {size.down_gbps: layout.down[seat]}
                    for seat in range(size.down)
                    if before + seat // size.leaf_ports_per_server not in occupied
                }
                number = int(site.number[unit, leaf]) + 1
                result.free[number], result.seats[number] = {**seats, **cages}, len(layout.down)
    return result


def cage_columns(model: SwitchModel, layout: Layout, down_gbps: int) -> dict[int, dict[int, Slot]]:
    """Column of the leaf's server block → speed → slot, of every port that the free cages of a leaf can have."""
    return {
        len(layout.down) + index: {speed: Slot(cage, sub, n, speed) for speed, n in splits.items() if sub < n}
        for index, (cage, sub, splits) in enumerate(free_cages(model, layout, down_gbps))
    }


# --- NICs on free ports ---------------------------------------------------------------------------------------

Place = tuple[LeafColumn, Slot]


def key(group: GroupSpec, use: NicUse) -> str:
    """Name of the ports of NICs in the lock; names of attachments have no slash."""
    return f"{group.name}/{use.nics}"


UPLINKS = "uplinks/"  # before the number of a leaf: name in the lock of its ports to the fabric above


def claims(spec: FabricSpec) -> dict[str, int]:
    """Free leaf ports that attachments, NICs and links to a fabric above take, by their name in the lock."""
    ports = {attachment.name: attachment.links for attachment in spec.attachments}
    ports |= {key(group, use): group.count * use.ports for group in spec.groups for use in group.on_free_ports}
    if spec.below is not None:
        ports |= dict.fromkeys((name for name in spec.added if name.startswith(UPLINKS)), spec.below.links)
    return ports


@dataclass(frozen=True)
class NicPorts:
    """NICs of one purpose of a group, and the leaves of each of its servers."""

    group: GroupSpec
    use: NicUse
    leaves: Sequence[Sequence[int]]  # by server, numbers from 1
    located: ServerPorts  # of one server
    in_pairs: bool  # ports of the same place on two leaves are on equal ports there, as a bond joins them

    @property
    def name(self) -> str:
        return key(self.group, self.use)

    def ports(self) -> Iterator[tuple[list[int], list[int]]]:
        """The ports that are placed together: their numbers in the lock, from 1, and the leaf of each."""
        local_of = self.located.local
        for server, leaves in enumerate(self.leaves):
            at, first = self.located.leaf, server * self.use.ports + 1
            if self.use.ports % len(leaves):  # the odd port of a server is on the first leaf, that of the next on the second
                at = (at + server) % len(leaves)
            if not self.in_pairs:
                yield from (([first + port], [leaves[leaf]]) for port, leaf in enumerate(at.tolist()))
                continue
            for local in range(int(local_of.max()) + 1):
                members = np.flatnonzero(local_of == local).tolist()
                yield [first + port for port in members], [leaves[int(at[port])] for port in members]


def leaf_pairs(spec: FabricSpec, sites: Sequence[GroupSites]) -> list[list[int]]:
    """The leaf numbers, from 1, of every pair of leaves of one network that a server's ports are spread over."""
    width = {group.name: spec.leaves_per_nic(group) if group.bare else leaf_set(spec) for group in spec.groups}
    by_set = [its for site in sites for its in site.number.reshape(-1, max(1, width[site.size.name] // spec.networks))]
    return [[int(n) + 1 for n in its] for its in by_set]


def nic_ports(spec: FabricSpec, sites: Sequence[GroupSites], known: Mapping[str, Sequence[PortSpot]]) -> list[NicPorts]:
    """The NICs of a fabric that are on free ports, in the order of the intent; `known` are the ports of the lock."""
    width = leaf_set(spec)
    own = [site for site in sites if site.size.servers]
    sets = {site.size.name: (site.number + 1).reshape(len(site.number), -1, width) for site in own}
    by_name = {site.size.name: site for site in sites}
    first = own[0].size.name
    return [
        NicPorts(
            group,
            use,
            _shared_leaves(group, sets[first], known)
            if group.shared
            else _own_leaves(spec, group, by_name[group.name], sets),
            spread_ports(spec, use.nic),
            in_pairs=width == 2 and spec.networks == 1 and use.bond and use.ports % 2 == 0,
        )
        for group in spec.groups
        for use in group.on_free_ports
    ]


def _own_leaves(spec: FabricSpec, group: GroupSpec, site: GroupSites, sets: Mapping[str, Ints]) -> list[list[int]]:
    """The leaves of each server's rack; the servers of a rail-optimized unit take turns over its rails."""
    unit, place = np.divmod(positions(group.count, group.held), site.size.unit_servers)
    its = sets[group.name]
    at = place // site.size.servers_per_leaf if spec.kind == "rack" else place % its.shape[1]
    return [*map(list, its[unit, at].tolist())]


def _shared_leaves(group: GroupSpec, sets: Ints, known: Mapping[str, Sequence[PortSpot]]) -> list[list[int]]:
    """The leaves of each server of a group without own ones: `per_rack` on each, else those of the lock, else in turn."""
    flat: list[list[int]] = sets.reshape(-1, sets.shape[-1]).tolist()
    if group.per_rack:
        return [flat[min(server // group.per_rack, len(flat) - 1)] for server in range(group.count)]
    set_of = {leaf: at for at, leaves in enumerate(flat) for leaf in leaves}
    placed: dict[int, int] = {}
    for use in group.uses:
        for spot in known.get(key(group, use), ()):
            if spot.leaf in set_of and spot.port <= group.count * use.ports:
                placed.setdefault((spot.port - 1) // use.ports, set_of[spot.leaf])
    on_set = [0] * len(flat)
    for at in placed.values():
        on_set[at] += 1
    for server in range(group.count):
        if server not in placed:
            placed[server] = on_set.index(min(on_set))
            on_set[placed[server]] += 1
    return [flat[placed[server]] for server in range(group.count)]


def keep_nics(ports: Ports, nics: NicPorts, known: Sequence[PortSpot]) -> dict[int, Place]:
    """The leaf ports of the lock that NICs still can have, by number of the port."""
    spots, speed = {spot.port: spot for spot in known}, nics.use.nic.speed_gbps
    kept: dict[int, Place] = {}
    for numbers, leaves in nics.ports():
        its = [spots.get(number) for number in numbers]
        wanted = [(spot.leaf, spot.slot) for spot in its if spot is not None]
        apart = len({column for _, column in wanted}) > 1
        if len(wanted) < len(numbers) or apart or [leaf for leaf, _ in wanted] != leaves:
            continue
        slots = ports.take_together(wanted, speed)
        kept |= {number: (spot, slot) for number, spot, slot in zip(numbers, wanted, slots, strict=False)}
    return kept


def place_nics(spec: FabricSpec, ports: Ports, nics: NicPorts, kept: Mapping[int, Place], report: Report) -> list[Place]:
    """A leaf port for every port of the NICs, in the order of their numbers; fewer with a mistake in the report."""
    placed, speed = dict(kept), nics.use.nic.speed_gbps
    for numbers, leaves in nics.ports():
        if numbers[0] in placed:
            continue
        found = ports.first(leaves, speed)
        if not found:
            _report_full(spec, nics, len(placed), report)
            break
        placed |= dict(zip(numbers, found, strict=True))
    return [placed[number] for number in sorted(placed)]


def _report_full(spec: FabricSpec, nics: NicPorts, got: int, report: Report) -> None:
    index, total = spec.groups.index(nics.group), nics.group.count * nics.use.ports
    report.error(
        "FAB140",
        spec.at("servers", index),
        f"servers '{nics.group.name}', NICs '{nics.use.nics}': expected {plural(total, 'free leaf port')} of "
        f"{nics.use.nic.speed_gbps}G, got {got}",
        "state `per_rack`, the servers on each leaf or pair; or a smaller `unit`, or a leaf with more ports; or "
        "`leaves: own`, leaves that no other group has, which moves those in service",
    )


def nic_links(nics: NicPorts, placed: Sequence[Place], first_server: int, leaf_index: Mapping[int, int]) -> Links:
    """The links of NICs on free ports."""
    port = np.arange(len(placed))
    server, at = np.divmod(port, nics.use.ports)
    nic, sub = np.divmod(at, nics.use.nic.ports)
    return free_port_links(
        SERVER_LEAF,
        first_server + server,
        (nics.group.first_nic(nics.use.nics) + nic, sub),
        leaf_index,
        placed,
    )
