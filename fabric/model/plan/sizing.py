"""The counts of a sized fabric, and its coordinates: unit, rack, pod, plane, rail, and the leaf of each NIC port."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabric.model.plan.lock import Ints
from fabric.model.plan.spec import FabricSpec, GroupSpec
from fabric.model.plan.topology import CORE, LEAF, SPINE

# --- Counts ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class GroupSize:
    """Servers of one kind, their units and their leaves."""

    name: str
    servers: int
    gpus: int
    unit_servers: int
    unit_leaves: int  # over every isolated network
    units: int  # built
    units_planned: int
    pods: int  # built
    pods_planned: int
    servers_per_leaf: int
    leaf_ports_per_server: int
    down: int  # server ports of a leaf, without spare ports
    down_gbps: int
    uplinks: int  # of a leaf of the finished fabric
    held: tuple[int, ...]  # places over all units that attachments hold
    last_unit: tuple[int, ...]  # links from each leaf of the last unit to each spine, where fewer than elsewhere

    @property
    def leaves(self) -> int:
        return self.units * self.unit_leaves


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
    def leaves(self) -> int:
        return sum(group.leaves for group in self.groups)

    @property
    def pods(self) -> int:
        return sum(group.pods for group in self.groups)

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
    def core_count(self) -> int:
        return self.networks * self.spines_built * self.cores_built

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
        pods = sum(group.pods_planned for group in self.groups) if self.tiers == 3 else 1
        return {
            CORE: self.networks * self.spines * self.cores,
            SPINE: self.networks * pods * self.spines,
            LEAF: sum(group.units_planned * group.unit_leaves for group in self.groups),
        }

    @property
    def planned_routes(self) -> int:
        """Routes of the finished fabric: one loopback per switch, one server prefix per leaf."""
        planned = self.planned_by_role
        return sum(planned.values()) + planned[LEAF]


# --- Coordinates ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnitPlan:
    """The leaves of one unit of a group, as arrays over the leaf's place in the unit."""

    network: Ints  # isolated network of each leaf
    plane: Ints
    rail: Ints  # -1 where leaves serve no single rail
    rack: Ints  # rack of the unit, -1 where a leaf serves the whole unit
    rank: Ints  # place among the unit's leaves of the same network


def unit_plan(spec: FabricSpec, count: int, per_nic: int) -> UnitPlan:
    """The `count` leaves of a unit, rail by rail (or rack by rack), in each those that a NIC's ports are spread over."""
    place = np.arange(count)
    if spec.kind == "collapsed":
        none = np.full(count, -1)
        return UnitPlan(np.zeros(count, int), np.zeros(count, int), none, none, place)
    block, port = place // per_nic, place % per_nic
    plane = port * spec.planes // per_nic
    racks = spec.kind == "rack"
    rail = np.full(count, -1) if racks else block
    network = plane + spec.planes * rail if spec.kind == "rail-only" else plane
    rank = np.zeros(count, dtype=np.int64)
    for at in range(spec.networks):
        rank[network == at] = np.arange(int((network == at).sum()))
    return UnitPlan(network, plane, rail, block if racks else np.full(count, -1), rank)


@dataclass(frozen=True)
class ServerPorts:
    """The ports of one server, as arrays over NIC and port: the leaf each goes to and its slot beside its neighbors."""

    nic: Ints  # from 0
    port: Ints  # of the NIC, from 0
    leaf: Ints  # place in the unit; racks: place in the rack
    local: Ints  # among the server's ports on that leaf


def server_ports(spec: FabricSpec, group: GroupSpec) -> ServerPorts:
    """Which leaf every port of a server goes to: neighboring NICs share a rail, neighboring ports a leaf."""
    nics, ports = group.nic.count, group.nic.ports
    nic, port = np.divmod(np.arange(nics * ports), ports)
    if spec.kind == "collapsed":
        by_port = spec.dual_tor or nics % 2
        leaf = port * 2 // ports if by_port else nic * 2 // nics
    else:
        per_nic = spec.leaves_per_nic(group)
        rail = nic * spec.rails(group) // nics
        leaf = rail * per_nic + port * per_nic // ports
    local = np.zeros(nics * ports, dtype=np.int64)
    for at in sorted(set(leaf.tolist())):
        local[leaf == at] = np.arange(int((leaf == at).sum()))
    return ServerPorts(nic, port, leaf, local)


def nic_name(group: GroupSpec, nic: int, port: int) -> str:
    """A NIC port as it is labeled: `compute1`, `storage2`, `compute1p2` where a NIC has several ports.

    The purpose is part of it, since one server has NICs in several fabrics. `nic` counts from 1, `port` from 0.
    """
    return f"{group.nics}{nic}" + (f"p{port + 1}" if group.nic.ports > 1 else "")


def servers_per_rack(spec: FabricSpec, size: GroupSize, group: GroupSpec) -> int:
    """Servers in one rack; 0 where the intent knows no racks."""
    return size.servers_per_leaf if spec.kind == "rack" else group.per_rack or 0


def positions(count: int, held: tuple[int, ...]) -> Ints:
    """Place of each of `count` servers, over all units of their group."""
    places = np.arange(count)
    for place in held:
        places[places >= place] += 1
    return places
