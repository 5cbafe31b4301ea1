"""The counts of a sized fabric, and its coordinates: unit, rack, pod, plane, rail, and the leaf of each NIC port."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabric.base.rounding import ceil_div
from fabric.hardware.catalog.models import NicSet
from fabric.model.plan.lock import Ints
from fabric.model.plan.spec import FabricSpec, GroupSpec, NicUse
from fabric.model.plan.topology import CORE, LEAF, SERVER, SERVER_LEAF, SPINE, Device, Links

# --- Counts ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class GroupSize:
    """Servers of one kind, their units and their leaves."""

    name: str
    servers: int
    gpus: int
    unit_servers: int
    unit_leaves: int  # over every isolated network
    pods_per_unit: int  # pods that the leaves of a unit are spread over, by rails
    units: int  # built
    units_planned: int
    pods: int  # built
    pods_planned: int
    servers_per_leaf: int
    leaf_ports_per_server: int
    down: int  # server ports of a leaf, without spare ports
    down_gbps: int
    beside: tuple[tuple[int, int], ...] = ()  # (Gb/s, ports) of a leaf for NICs on its free ports, reserved
    uplinks: int  # of a leaf of the finished fabric
    held: tuple[int, ...]  # places over all units that attachments hold
    last_unit: tuple[int, ...]  # links from each leaf of the last unit to each spine, where fewer than elsewhere

    @property
    def leaves(self) -> int:
        return self.units * self.unit_leaves

    @property
    def leaf_gbps(self) -> int:
        """Bandwidth of the servers on a leaf."""
        return self.down * self.down_gbps + sum(speed * ports for speed, ports in self.beside)

    def leaves_of_pod(self, units: int, networks: int) -> int:
        """Leaves of so many units in one pod of an isolated network."""
        return units * self.unit_leaves // (networks * self.pods_per_unit)


@dataclass(frozen=True, kw_only=True)
class Sizing:
    """A sized fabric. `spines` and `cores` count as in Shape, per isolated network."""

    kind: str
    tiers: int
    planes: int
    networks: int
    groups: tuple[GroupSize, ...]
    uplink_gbps: int
    core_gbps: int
    units_per_pod: int
    spines: int  # of one pod of the finished fabric
    spines_built: int
    spine_uplinks: int  # of the finished fabric
    cores: int  # of one core group of the finished fabric
    cores_built: int
    spines_per_core: int  # of one pod: they share the cores of a group
    attachments: int  # links
    limit_servers: int
    limit_gpus: int
    bgp: bool
    direct_links: int = 0  # between servers, without switches

    @property
    def servers(self) -> int:
        return sum(group.servers for group in self.groups)

    @property
    def gpus(self) -> int:
        return sum(group.gpus for group in self.groups)

    @property
    def units(self) -> int:
        return sum(group.units for group in self.groups)

    @property
    def leaf_groups(self) -> tuple[GroupSize, ...]:
        """Groups with leaves of their own."""
        return tuple(group for group in self.groups if group.unit_leaves)

    @property
    def leaves(self) -> int:
        return sum(group.leaves for group in self.groups)

    @property
    def pods(self) -> int:
        return sum(group.pods for group in self.groups)

    @property
    def pods_planned(self) -> int:
        """Sets of spines in one isolated network of the finished fabric."""
        return sum(group.pods_planned for group in self.groups) if self.tiers == 3 else 1

    @property
    def spineless(self) -> bool:
        """Leaves that carry their servers alone: no spines, and no links between two leaves."""
        return self.tiers == 1 and self.kind != "collapsed"

    @property
    def spine_count(self) -> int:
        return self.networks * self.spine_pods * self.spines_built

    @property
    def spine_pods(self) -> int:
        """Sets of spines in one isolated network: the pods of three tiers, one otherwise."""
        return self.pods if self.tiers == 3 else 1

    @property
    def core_groups(self) -> int:
        """Groups of cores in one isolated network of the finished fabric."""
        return self.spines // self.spines_per_core if self.cores else 0

    @property
    def core_groups_built(self) -> int:
        return ceil_div(self.spines_built, self.spines_per_core) if self.cores else 0

    @property
    def core_count(self) -> int:
        return self.networks * self.core_groups_built * self.cores_built

    def links_per_spine(self, group: GroupSize) -> int:
        """Links between a leaf of the group and each spine of its plane and pod."""
        return group.uplinks // self.spines if self.spines else 0

    @property
    def links_per_core(self) -> int:
        """Links between a spine and each core of its group."""
        return self.spine_uplinks // self.cores if self.cores else 0

    def leaf_spine_links(self) -> int:
        """Links that are cabled now between leaves and spines, over all planes and pods."""
        total = 0
        for group in self.groups:
            full_links = self.links_per_spine(group)
            total += group.leaves * full_links * self.spines_built
            total -= sum(full_links - links for links in group.last_unit) * self.spines_built
        return total

    def spine_core_links(self) -> int:
        return self.spine_count * self.links_per_core * self.cores_built

    @property
    def planned_by_role(self) -> dict[str, int]:
        """Switches of the finished fabric by role."""
        return {
            CORE: self.networks * self.core_groups * self.cores,
            SPINE: self.networks * self.pods_planned * self.spines,
            LEAF: sum(group.units_planned * group.unit_leaves for group in self.groups),
        }

    @property
    def planned_routes(self) -> int:
        """Routes of the finished fabric: one loopback per switch, one server prefix per leaf."""
        planned = self.planned_by_role
        return sum(planned.values()) + planned[LEAF]


# --- Coordinates ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class UnitPlan:
    """The leaves of one unit of a group, as arrays over the leaf's place in the unit."""

    network: Ints  # isolated network of each leaf
    plane: Ints
    rail: Ints  # -1 where leaves serve no single rail
    rack: Ints  # rack of the unit, -1 where a leaf serves the whole unit
    pod: Ints  # which of the unit's pods, from 0
    rank: Ints  # place among the unit's leaves of the same network and pod


def unit_plan(spec: FabricSpec, count: int, per_nic: int) -> UnitPlan:
    """The `count` leaves of a unit, rail by rail (or rack by rack), in each those that a NIC's ports are spread over."""
    place = np.arange(count)
    if spec.kind == "collapsed":
        plane, rank = np.divmod(place, 2)
        none, zero = np.full(count, -1), np.zeros(count, int)
        return UnitPlan(network=plane, plane=plane, rail=none, rack=none, pod=zero, rank=rank)
    block, port = place // per_nic, place % per_nic
    plane = port * spec.planes // per_nic
    racks = spec.kind == "rack"
    rail = np.full(count, -1) if racks else block
    network = plane + spec.planes * rail if spec.kind == "rail-only" else plane
    rule = spec.constraints.pods
    pod = block // rule.rails if rule and rule.rails else np.zeros(count, int)
    rank = np.zeros(count, dtype=np.int64)
    for at in np.ndindex(spec.networks, int(pod.max(initial=0)) + 1):
        mine = (network == at[0]) & (pod == at[1])
        rank[mine] = np.arange(int(mine.sum()))
    rack = block if racks else np.full(count, -1)
    return UnitPlan(network=network, plane=plane, rail=rail, rack=rack, pod=pod, rank=rank)


@dataclass(frozen=True)
class ServerPorts:
    """The ports of one server, as arrays over NIC and port: the leaf each goes to and its slot beside its neighbors."""

    nic: Ints  # from 0
    port: Ints  # of the NIC, from 0
    leaf: Ints  # place in the unit; racks: place in the rack
    local: Ints  # among the server's ports on that leaf


def server_ports(spec: FabricSpec, group: GroupSpec) -> ServerPorts:
    """Which leaf every port of a server goes to: neighboring NICs share a rail, or take turns; neighboring ports a leaf."""
    nics, ports = group.nic.count, group.nic.ports
    if spec.kind == "collapsed":
        return spread_ports(spec, group.nic)
    nic, port = np.divmod(np.arange(nics * ports), ports)
    per_nic = spec.leaves_per_nic(group)
    rail = nic % spec.rails(group) if spec.nic_turns else nic * spec.rails(group) // nics
    return _located(nic, port, rail * per_nic + port * per_nic // ports)


def spread_ports(spec: FabricSpec, nics: NicSet) -> ServerPorts:
    """The ports of one server over the leaves of a set, which have all of them.

    Every isolated network has an equal part of every NIC's ports, else of the NICs. Of this part half of the NICs are on each
    of two leaves, or half of every NIC's ports. Ports that these do not share evenly take turns.
    """
    networks, leaves = spec.networks, leaf_set(spec) // spec.networks
    nic, port = np.divmod(np.arange(nics.count * nics.ports), nics.ports)
    network, count, ports, (at, sub) = 0 * nic, nics.count, nics.ports, (nic, port)
    if ports % networks == 0:
        ports //= networks
        network, sub = np.divmod(port, ports)
    elif count % networks == 0:
        count //= networks
        network, at = np.divmod(nic, count)
    else:
        network = np.arange(len(nic)) % networks
    if ports % leaves == 0 and (spec.dual_tor or count % leaves):
        leaf = sub * leaves // ports
    elif count % leaves:
        leaf = (at * ports + sub) % leaves
    else:
        leaf = at % leaves if spec.nic_turns else at * leaves // count
    return _located(nic, port, network * leaves + leaf)


def _located(nic: Ints, port: Ints, leaf: Ints) -> ServerPorts:
    local = np.zeros(len(leaf), dtype=np.int64)
    for at in sorted(set(leaf.tolist())):
        local[leaf == at] = np.arange(int((leaf == at).sum()))
    return ServerPorts(nic, port, leaf, local)


def leaf_set(spec: FabricSpec) -> int:
    """Leaves that the ports of one server's NICs on free ports are spread over: one or two of every isolated network."""
    rails = spec.rails(spec.groups[0]) if spec.kind == "rail-only" else 1
    return rails * spec.leaves_per_nic(spec.groups[0])


def nic_name(group: GroupSpec, nic: int, port: int) -> str:
    """A NIC port as it is labeled: `compute1`, `storage2`, `compute1p2` where a NIC has several ports.

    The purpose is part of it, since a server has NICs of several. `nic` counts from 1 in its group, `port` from 0.
    """
    use, number = group.use_of(nic)
    return f"{use.nics}{number}" + (f"p{port + 1}" if use.nic.ports > 1 else "")


def nic_uses(spec: FabricSpec, devices: Sequence[Device], links: Links) -> tuple[list[tuple[GroupSpec, NicUse]], Ints]:
    """The NICs of every group by purpose, and of each link which of them it is on; -1 of links without a server."""
    uses = [(group, use) for group in spec.groups for use in group.uses]
    use_of = np.full(len(links), -1, dtype=np.int64)
    rows = np.flatnonzero(links.kind == SERVER_LEAF)
    number = {group.name: at for at, group in enumerate(spec.groups)}
    group_of = np.full(1 + max((device.index for device in devices), default=0), -1, dtype=np.int64)
    for device in devices:
        if device.role == SERVER:
            group_of[device.index] = number.get(device.group, -1)
    its, nic = group_of[links.a[rows]], links.a_cage[rows]
    for at, (group, use) in enumerate(uses):
        first = group.first_nic(use.nics)
        use_of[rows[(its == number[group.name]) & (nic >= first) & (nic < first + use.nic.count)]] = at
    return uses, use_of


def of_nics(
    spec: FabricSpec, devices: Sequence[Device], links: Links, wanted: Callable[[GroupSpec, NicUse], bool]
) -> NDArray[np.bool_]:
    """The links of servers' NICs for which `wanted` holds."""
    uses, use_of = nic_uses(spec, devices, links)
    chosen: NDArray[np.bool_] = np.array([*(wanted(group, use) for group, use in uses), False], dtype=bool)[use_of]
    return chosen


def servers_per_rack(spec: FabricSpec, size: GroupSize, group: GroupSpec) -> int:
    """Servers in one rack; 0 where the intent knows no racks."""
    return size.servers_per_leaf if spec.kind == "rack" and not group.shared else group.per_rack or 0


def positions(count: int, held: tuple[int, ...]) -> Ints:
    """Place of each of `count` servers, over all units of their group."""
    places = np.arange(count)
    for place in held:
        places[places >= place] += 1
    return places
