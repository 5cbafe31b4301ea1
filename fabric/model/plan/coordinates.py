"""Where every switch and server stands: unit, rack, pod, plane, rail, and the leaf that each NIC port goes to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabric.model.plan.blocks import Ints
from fabric.model.plan.sizing import GroupSize
from fabric.model.plan.spec import FabricSpec, GroupSpec


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
