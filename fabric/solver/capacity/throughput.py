"""The share of its NIC speed that every server port keeps when all of them send at once, in three patterns.

A pattern asks of every pair of leaves what their server ports would send at full NIC speed, never more out of a port or
into it than its own speed. Throughput is the largest share of it that fits all links at once (maximum concurrent flow,
Jyothi et al., "Measuring and Understanding Throughput of Network Topologies", SC 2016). What stays below one leaf uses
the server ports alone, so no share is above 1.

A failure takes away the demand of the ports that it cuts off and leaves that of the others as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabric.solver import BY_PAIR, GBPS_PER_GBYTE_S, Bools, Floats, Ints, Network, Routes
from fabric.solver.capacity.cuts import in_gbps, numbered

PATTERNS = ("uniform", "permutation", "rail")
DIGITS = 9  # decimals of a share


@dataclass(frozen=True)
class HealthyNetwork:
    """The healthy network, and which server ports are meant to talk: those of one isolated network."""

    net: Network
    leaves: Ints  # devices, sorted
    row: Ints  # device → row in `leaves`, -1 for others
    part: Ints  # device → isolated network of a switch, from 0; -1 for others

    @cached_property
    def port_leaf(self) -> Ints:
        """Row in `leaves` of every server port."""
        return self.row[self.net.ports.leaf]

    @cached_property
    def port_gbps(self) -> Ints:
        """Speed of every server port while it is up, in Gb/s."""
        link = self.net.ports.link
        gbps = in_gbps(self.net)[link]
        return np.where(gbps > 0, gbps, self.net.fabric.links.speed_gbps[link])

    @cached_property
    def unit(self) -> Ints:
        """Unit of every server port."""
        return np.array([device.unit for device in self.net.fabric.devices], dtype=np.int64)[self.net.ports.leaf]


@dataclass(frozen=True)
class Traffic:
    """What one pattern asks for."""

    name: str
    demand: Floats  # Gb/s from leaf to leaf, [row, row]; nothing on the diagonal
    weight: Floats  # [leaves]: all pairs without an entry in `pairs` exchange traffic by these weights
    pairs: tuple[Ints, Ints, Floats]  # (from row, to row, weight) of single pairs
    asked: float  # Gb/s in all, traffic within a leaf included


def ground(net: Network) -> HealthyNetwork:
    """What is meant to talk in a network without failures."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    devices, size = len(net.level), net.links
    links = np.flatnonzero(net.level[net.tail[:size]] > 0)
    ends = (net.tail[links].astype(np.int32), net.head[links].astype(np.int32))
    _, part = connected_components(coo_array((np.ones(len(links)), ends), shape=(devices, devices)), directed=False)
    leaves = np.flatnonzero(net.level == 1)
    row = np.full(devices, -1, dtype=np.int64)
    row[leaves] = np.arange(len(leaves))
    switch = net.level > 0
    leaf_of = np.full(devices, -1, dtype=np.int64)
    leaf_of[switch] = numbered(part[switch])
    return HealthyNetwork(net, leaves, row, leaf_of)


def live_ports(net: Network) -> Bools:
    """Whether each server port is up, [server ports]."""
    return net.alive[net.ports.link]


def traffic(base: HealthyNetwork, live: Bools, name: str) -> Traffic:
    """One of PATTERNS between the ports that are up; `live`: [server ports].

    uniform: every port sends to all ports that it can reach on other servers, in proportion to their speed. permutation:
    every port to the same port of a server half the fabric away, unit i to unit i + half. rail: every port to the same port
    of a server in the next unit.
    """
    if name == "uniform":
        return _uniform(base, live)
    return _shifted(base, live, name)


def _uniform(base: HealthyNetwork, live: Bools) -> Traffic:
    """Symmetric demand c x own speed x other's speed; c is the largest for which no port sends more than its speed."""
    ports, speed = base.net.ports, base.port_gbps.astype(float)
    part = base.part[ports.leaf]
    parts = int(part.max(initial=-1)) + 1
    _, owner = np.unique(ports.server * parts + part, return_inverse=True)
    mine = np.bincount(owner, speed)[owner]
    others = np.bincount(part, speed, parts)[part] - mine
    largest = np.zeros(parts)
    np.maximum.at(largest, part, others)
    scale = np.divide(1.0, largest, out=np.zeros(parts), where=largest > 0)
    up = np.flatnonzero(live)
    count = len(base.leaves)
    weight = np.bincount(base.port_leaf[up], speed[up] * np.sqrt(scale[part[up]]), count).astype(float)
    leaf_part = base.part[base.leaves]
    demand = np.where(leaf_part[:, None] == leaf_part[None, :], np.outer(weight, weight), 0.0)
    source, target, amount = _same_server(base, up, speed * np.sqrt(scale[part]))
    demand[source, target] -= amount
    total = float(demand.sum())
    np.fill_diagonal(demand, 0.0)
    apart = source != target
    return Traffic("uniform", demand, weight, (source[apart], target[apart], -amount[apart]), total)


def _same_server(base: HealthyNetwork, up: Ints, speed: Floats) -> tuple[Ints, Ints, Floats]:
    """(leaf row, leaf row, product of speeds) summed over the pairs of ports that one server has in one isolated network."""
    from scipy.sparse import coo_array

    count = len(base.leaves)
    server = base.net.ports.server[up].astype(np.int32)
    leaf = base.port_leaf[up].astype(np.int32)
    has = coo_array((speed[up], (leaf, server)), shape=(count, len(base.net.level))).tocsr()
    both = (has @ has.T).tocoo()
    row, column = both.row.astype(np.int64), both.col.astype(np.int64)
    part = base.part[base.leaves]
    meet = part[row] == part[column]
    return row[meet], column[meet], both.data[meet]


def _shifted(base: HealthyNetwork, live: Bools, name: str) -> Traffic:
    """Every port to the same NIC and port of the server that is half the fabric, or one unit, further on."""
    ports, speed = base.net.ports, base.port_gbps
    target = np.arange(len(speed))
    alike = numbered(base.part[ports.leaf], ports.nic, ports.port)
    order = np.lexsort((ports.server, base.unit, alike))
    begin = np.flatnonzero(np.diff(alike[order], prepend=-1))
    for low, high in zip(begin.tolist(), [*begin[1:].tolist(), len(order)], strict=bool(len(order))):
        members = order[low:high]
        target[members] = np.roll(members, -_step(base.unit[members], name == "permutation"))
    away = target != np.arange(len(target))
    sending = live & live[target] & away
    amount = np.minimum(speed, speed[target]).astype(float)[sending]
    count = len(base.leaves)
    source, target_leaf = base.port_leaf[sending], base.port_leaf[target[sending]]
    demand = np.bincount(source * count + target_leaf, amount, count * count).astype(float).reshape(count, count)
    np.fill_diagonal(demand, 0.0)
    rows, columns = np.nonzero(demand)
    return Traffic(name, demand, np.zeros(count), (rows, columns, demand[rows, columns]), float(amount.sum()))


def _step(unit: Ints, half: bool) -> int:
    """How far on a port's target is, in a list of ports by unit: half the units, or one."""
    bounds = np.flatnonzero(np.diff(unit)) + 1
    if not len(bounds):
        return len(unit) // 2 if half else min(1, len(unit) - 1)
    wanted = len(unit) / 2 if half else bounds[0]
    return int(bounds[np.argmin(np.abs(bounds - wanted))])


@dataclass(frozen=True)
class Shares:
    """What equal-split ECMP makes of a pattern."""

    share: float  # of NIC speed; 0 where part of the demand has no path
    link: int  # limiting directed link, -1 for the server ports
    lost: float  # Gb/s of demand without a path
    load: Floats  # Gb/s on every directed link at the full demand

    def excess_gbps(self, capacity_gbps: Floats, scale: float) -> float:
        """What does not fit the links when the demand is scaled, summed over links: at least what is dropped or waits.

        A flow that meets two overloaded links counts at both.
        """
        return float(np.maximum(self.load * scale - capacity_gbps, 0.0).sum()) + self.lost * scale


def ecmp(base: HealthyNetwork, route_table: Routes, offered: Traffic) -> Shares:
    """Throughput when every switch splits equally over its next hops."""
    load, lost = loads(base, route_table, offered.demand)
    capacity = route_table.net.capacity * GBPS_PER_GBYTE_S
    used = load > 0
    fits = np.divide(capacity, load, out=np.full(len(load), np.inf), where=used)
    link = int(np.argmin(fits)) if used.any() else -1
    share = round(float(fits[link]), DIGITS) if link >= 0 else 1.0
    if lost > 1e-9 * max(offered.asked, 1.0):
        return Shares(0.0, link, lost, load)
    return Shares(min(1.0, share), link if share < 1 else -1, 0.0, load)


def loads(base: HealthyNetwork, route_table: Routes, demand: Floats) -> tuple[Floats, float]:
    """(Gb/s on every directed link, Gb/s without a path) of demand between leaves, [row, row].

    What `spread` gives, for all pairs at once: leaves of one class of Routes share their next hops, so one product of
    matrices carries all that is bound for the class a tier further.
    """
    load, lost = np.zeros(len(route_table.net.tail)), 0.0
    for kind, members in _classes(base, route_table):
        table, rows, links = _table(route_table, kind)
        offered = np.zeros((len(route_table.class_of), len(members)))
        offered[base.leaves] = demand[:, base.row[members]]
        arrived = np.zeros_like(offered)
        by_pair, count = route_table.count[kind] == BY_PAIR, route_table.count[kind]
        while offered.any():
            arrived[by_pair] += offered[by_pair]
            lost += float(offered[count == 0].sum())
            offered[count <= 0] = 0.0
            amount = offered.sum(axis=1)
            load += np.bincount(links, amount[rows] / count[rows], len(load))
            offered = table.T @ offered
        lost += _last_hops(route_table, members, arrived, load)
    return load, lost


def _last_hops(route_table: Routes, members: Ints, arrived: Floats, load: Floats) -> float:
    """Adds what goes from the switches beside the leaves to the leaves themselves; returns what has no path."""
    at = np.full(len(route_table.class_of), -1, dtype=np.int64)
    at[members] = np.arange(len(members))
    tail, leaf = np.divmod(route_table.pair, len(route_table.class_of))
    mine = np.flatnonzero(at[leaf] >= 0)
    amount = arrived[tail[mine], at[leaf[mine]]]
    count = route_table.pair_count[mine]
    spots = (
        np.repeat(route_table.pair_start[mine], count) + np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    )
    load += np.bincount(route_table.pool[spots], np.repeat(amount / count, count), len(load))
    return max(0.0, float(arrived.sum() - amount.sum()))


def _classes(base: HealthyNetwork, route_table: Routes) -> list[tuple[int, Ints]]:
    kinds = route_table.class_of[base.leaves]
    return [(kind, base.leaves[kinds == kind]) for kind in range(int(kinds.max(initial=-1)) + 1)]


def _table(route_table: Routes, kind: int, shares: bool = True) -> tuple[Any, Ints, Ints]:
    """(share of each switch's traffic to each next one, or number of links; tail and link of every next hop)."""
    from scipy.sparse import coo_array

    devices = len(route_table.class_of)
    count = np.maximum(route_table.count[kind], 0)
    rows = np.repeat(np.arange(devices), count)
    spots = np.repeat(route_table.start[kind] - np.cumsum(count) + count, count) + np.arange(count.sum())
    links = route_table.pool[spots]
    part = 1.0 / count[rows] if shares else np.ones(len(rows))
    table = coo_array((part, (rows.astype(np.int32), route_table.net.head[links].astype(np.int32))), shape=(devices, devices))
    return table.tocsr(), rows, links


def paths(route_table: Routes, source_leaf: int, target_leaf: int) -> int:
    """Distinct equal-cost paths between two leaves, two parallel links counted as two; 0 where there is no path."""
    at, number, total = np.array([source_leaf]), np.array([1], dtype=np.int64), 0
    while len(at):
        arrived = at == target_leaf
        total += int(number[arrived].sum())
        at, number = at[~arrived], number[~arrived]
        start, count = route_table.next_hops(at, np.full(len(at), target_leaf))
        rows = np.repeat(np.arange(len(at)), count)
        first = np.repeat(np.cumsum(count) - count, count)
        head = route_table.net.head[route_table.pool[start[rows] + np.arange(len(rows)) - first]]
        at, back = np.unique(head, return_inverse=True)
        number = np.bincount(back.ravel(), number[rows].astype(float), len(at)).astype(np.int64)
    return total


def all_paths(base: HealthyNetwork, route_table: Routes) -> Floats:
    """`paths` between all leaves, [row, row]; the diagonal is of no meaning."""
    path_counts = np.zeros((len(base.leaves), len(base.leaves)))
    devices = len(route_table.class_of)
    tail, leaf = np.divmod(route_table.pair, devices)
    for kind, members in _classes(base, route_table):
        table, *_ = _table(route_table, kind, shares=False)
        position = np.full(devices, -1, dtype=np.int64)
        position[members] = np.arange(len(members))
        mine = (position[leaf] >= 0) & (route_table.count[kind][tail] == BY_PAIR)
        step = np.zeros((devices, len(members)))
        step[tail[mine], position[leaf[mine]]] = route_table.pair_count[mine]
        total = step.copy()
        while step.any():
            step = table @ step
            total += step
        path_counts[:, base.row[members]] = total[base.leaves]
    return path_counts
