"""Throughput under optimal routing: the maximum concurrent flow as a linear program, solved by HiGHS.

Traffic is split over any paths between switches as suits all of it best. A variable is what one leaf's traffic takes of
one edge: leaves times edges, not pairs of leaves. Two exact reductions make it small: colour refinement of the program itself
(`optimal` up to FULL_LEAVES leaves), and one representative of every class of leaves in a fabric seen by its symmetry
(beyond). The second takes leaves that refinement does not tell apart for interchangeable, which holds in a Clos fabric
unless failures form a pattern as regular as the fabric itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fabric.solver import Floats, Ints, Network
from fabric.solver.capacity.cuts import Graph, graph, numbered, refine, representatives
from fabric.solver.capacity.throughput import DIGITS, HealthyNetwork, Traffic

FULL_LEAVES = 64
MAX_COLUMNS = 30_000  # of a quotient; solving takes a few seconds


@dataclass(frozen=True, kw_only=True)
class Program:
    """Maximize the last variable, the share, which is 0 to 1; others are at least 0.

    Rows: `equal` of them are 0, the others at most `limit`.
    """

    rows: int
    columns: int
    equal: int
    row: Ints
    column: Ints
    value: Floats
    limit: Floats  # of the rows after the equal ones


@dataclass(frozen=True)
class Optimum:
    """Share of NIC speed; not exact: no more than this, where the program has too many columns for an answer in seconds."""

    share: float
    exact: bool = True


def optimal(base: HealthyNetwork, net: Network, traffic: Traffic, reached: float) -> Optimum:
    """Throughput under optimal routing, 0 where part of the demand has no path.

    `reached` is the throughput of some routing: where it meets the bound of a cut, that is the answer.
    """
    if not connected(base, net, traffic):
        return Optimum(0.0)
    most = bound(base, net, traffic)
    if reached >= most * (1 - 1e-9):
        return Optimum(most)
    small = len(base.leaves) <= FULL_LEAVES
    smaller = reduced(program(base, net, traffic)) if small else quotient(base, net, traffic, MAX_COLUMNS)
    return Optimum(most, False) if smaller is None else Optimum(min(most, solve(smaller)))


def bound(base: HealthyNetwork, net: Network, traffic: Traffic) -> float:
    """What no routing exceeds: the links of every leaf, and of every pod, against what has to pass them."""
    switches = graph(net)
    pods = np.array([device.pod for device in net.fabric.devices], dtype=np.int64)
    share = 1.0
    for place in (np.where(net.level == 1, base.row, -1), pods):
        count = int(place.max(initial=-1)) + 1
        if count < 2:
            continue
        node = place[base.leaves]
        sent = np.zeros((count, len(node)))
        np.add.at(sent, node, traffic.demand)
        inside = np.bincount(node, sent[node, np.arange(len(node))], count)
        for ends, crossing in ((switches.tail, sent.sum(axis=1) - inside), (switches.head, _received(sent, node) - inside)):
            out = (place[switches.tail] != place[switches.head]) & (place[ends] >= 0)
            able = np.bincount(place[ends][out], switches.gbps[out], count)
            loaded = crossing > 1e-9 * max(traffic.asked, 1.0)
            share = min(share, float((able[loaded] / crossing[loaded]).min(initial=1.0)))
    return round(share, DIGITS)


def _received(sent: Floats, own: Ints) -> Floats:
    return np.bincount(own, sent.sum(axis=0), len(sent)).astype(float)


def connected(base: HealthyNetwork, net: Network, asked: Traffic) -> bool:
    """Whether all demands have a path, of any length."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    switches = graph(net)
    ends, size = (switches.tail.astype(np.int32), switches.head.astype(np.int32)), (len(net.level),) * 2
    _, part = connected_components(coo_array((np.ones(len(switches.tail)), ends), shape=size), directed=False)
    found = part[base.leaves]
    return not asked.demand[found[:, None] != found[None, :]].any()


def program(base: HealthyNetwork, net: Network, traffic: Traffic) -> Program:
    """The whole program: a variable for every leaf that sends and every edge of its isolated network."""
    switches = graph(net)
    unit = float(switches.gbps.max(initial=1))
    senders = np.flatnonzero(traffic.demand.any(axis=1))
    devices, edges = len(net.level), len(switches.tail)
    mine = base.part[base.leaves[senders]][:, None] == base.part[switches.tail][None, :]
    sender, edge = np.nonzero(mine)
    columns = np.arange(len(sender))
    out = sender * devices + switches.tail[edge]
    into = sender * devices + switches.head[edge]
    target, leaf = np.nonzero(traffic.demand[senders])
    sinks = target * devices + base.leaves[leaf]
    sources = np.arange(len(senders)) * devices + base.leaves[senders]
    balance = np.unique(np.concatenate([out, into, sinks, sources]))
    balance = balance[~np.isin(balance, sources)]  # rows of the sources are redundant: they follow from those of the sinks
    row = np.concatenate([out, into, sinks])
    column = np.concatenate([columns, columns, np.full(len(sinks), len(columns))])
    value = np.concatenate([np.full(len(out), -1.0), np.ones(len(into)), -traffic.demand[senders][target, leaf] / unit])
    balanced = np.isin(row, balance)
    row = np.searchsorted(balance, row[balanced])
    return Program(
        rows=len(balance) + edges,
        columns=len(columns) + 1,
        equal=len(balance),
        row=np.concatenate([row, len(balance) + edge]),
        column=np.concatenate([column[balanced], columns]),
        value=np.concatenate([value[balanced], np.ones(len(edge))]),
        limit=switches.gbps / unit,
    )


def reduced(whole: Program) -> Program:
    """The quotient of a program by colour refinement of its rows and columns; its optimum is the same."""
    limit = np.concatenate([np.zeros(whole.equal), whole.limit])
    rows_kind = numbered(np.arange(whole.rows) >= whole.equal, np.round(limit, DIGITS)) + 2
    columns_kind = (np.arange(whole.columns) == whole.columns - 1).astype(np.int64)
    label = numbered(np.round(whole.value, DIGITS))
    colour = refine(
        np.concatenate([rows_kind, columns_kind]),
        np.concatenate([whole.row, whole.rows + whole.column]),
        np.concatenate([whole.rows + whole.column, whole.row]),
        np.concatenate([label, label]),
    )
    row_class, column_class = numbered(colour[: whole.rows]), numbered(colour[whole.rows :])
    first, _ = representatives(row_class)
    representative = first[row_class[whole.row]] == whole.row  # the rows of a class are equal
    return Program(
        rows=len(first),
        columns=int(column_class.max()) + 1,
        equal=int((first < whole.equal).sum()),
        row=row_class[whole.row[representative]],
        column=column_class[whole.column[representative]],
        value=whole.value[representative],
        limit=limit[first[first >= whole.equal]],
    )


def quotient(base: HealthyNetwork, net: Network, traffic: Traffic, most_columns: int = 2**62) -> Program | None:
    """The program of one leaf a class, on the network as that leaf sees it: classes of switches at equal places.

    None when it has more columns than wanted, and for traffic that stays below its leaves.
    """
    switches = graph(net)
    unit = float(switches.gbps.max(initial=1))
    classes = _classes(base, switches, traffic)
    leaf_class = classes[base.leaves]
    first, size = representatives(numbered(leaf_class))
    groups = numbered(classes[switches.tail], classes[switches.head], switches.gbps)
    total = np.bincount(groups, switches.gbps / unit).astype(float)
    rows: list[Ints] = []
    columns: list[Ints] = []
    values: list[Floats] = []
    limits: tuple[list[Ints], list[Ints], list[Floats]] = ([], [], [])
    row = column = 0
    shares: list[tuple[Ints, Floats]] = []
    for leaf, alike in zip(first.tolist(), size.tolist(), strict=True):
        if not traffic.demand[leaf].any():
            continue
        view = _view(base, switches, classes, groups, traffic, leaf, unit=unit)
        rows += [row + view.row]
        columns += [column + view.column]
        values += [view.value]
        shares.append((row + view.sink, view.wanted))
        limits[0].append(view.group)
        limits[1].append(column + np.arange(len(view.group)))
        limits[2].append(np.full(len(view.group), float(alike)))
        row, column = row + view.rows, column + len(view.group)
        if column > most_columns:
            return None
    if not shares:
        return None
    sinks = np.concatenate([sink for sink, _ in shares])
    amounts = np.concatenate([amount for _, amount in shares])
    return Program(
        rows=row + len(total),
        columns=column + 1,
        equal=row,
        row=np.concatenate([*rows, sinks, *(row + group for group in limits[0])]),
        column=np.concatenate([*columns, np.full(len(sinks), column), *limits[1]]),
        value=np.concatenate([*values, -amounts, *limits[2]]),
        limit=total,
    )


@dataclass(frozen=True, kw_only=True)
class View:
    """The network as one leaf sees it; a column is all that its traffic takes of the edges between two classes."""

    rows: int
    row: Ints
    column: Ints
    value: Floats
    sink: Ints  # rows of the classes with demand
    wanted: Floats  # demand of each such class
    group: Ints  # class of every column's edges in the whole network


def _classes(base: HealthyNetwork, switches: Graph, traffic: Traffic) -> Ints:
    """Classes of devices that are alike for the whole pattern."""
    devices = len(switches.level)
    weight = np.zeros(devices)
    weight[base.leaves] = np.round(traffic.weight, DIGITS)
    part = base.part
    inside = part >= 0
    members, power = np.zeros(devices), np.zeros(devices)
    members[inside] = np.bincount(part[inside])[part[inside]]
    power[inside] = np.round(np.bincount(part[inside], weight[inside])[part[inside]], DIGITS - 3)
    colour = numbered(switches.level, weight, members, power)
    source, target, amount = traffic.pairs
    tail, head = base.leaves[source], base.leaves[target]
    top = int(switches.gbps.max(initial=0)) + 1
    ends = (np.concatenate([switches.tail, tail, head]), np.concatenate([switches.head, head, tail]))
    while True:
        signature = numbered(np.round(amount, DIGITS - 3), *_shared(switches, colour, tail, head)) + 1
        label = np.concatenate([switches.gbps, top + 2 * signature, top + 2 * signature + 1])
        finer = refine(colour, *ends, label)
        if finer.max() == colour.max():
            return finer
        colour = finer


def _shared(switches: Graph, colour: Ints, source: Ints, target: Ints) -> tuple[Floats, Floats]:
    """What two leaves of each pair have in common: spines, and cores above their spines, each by its class.

    Refinement sees the neighbors of a leaf and not whose neighbors they are as well: without this, a pair within a pod
    would look like a pair of two pods.
    """
    from scipy.sparse import coo_array

    size = (len(colour), len(colour))
    up = switches.level[switches.tail] < switches.level[switches.head]
    place = (switches.tail[up].astype(np.int32), switches.head[up].astype(np.int32))
    first = coo_array((switches.gbps[up].astype(float), place), shape=size).tocsr()
    weight = np.sqrt(colour + 2.0)  # irrational weights: sums over different classes differ
    result = []
    for reach in (first, first @ first):
        total = (reach[source].multiply(reach[target])) @ weight
        result.append(np.round(total / max(1.0, float(total.max(initial=0.0))), DIGITS))
    return result[0], result[1]


def _view(
    base: HealthyNetwork, switches: Graph, classes: Ints, groups: Ints, traffic: Traffic, leaf: int, *, unit: float
) -> View:
    node, devices = int(base.leaves[leaf]), len(switches.level)
    demand = np.zeros(devices)
    demand[base.leaves] = traffic.demand[leaf]
    near = base.part[switches.tail] == base.part[node]
    tail, head, gbps, group = (column[near] for column in (switches.tail, switches.head, switches.gbps, groups))
    start = numbered(classes, np.round(demand, DIGITS - 3), np.arange(devices) == node, base.part == base.part[node])
    refined = refine(start, tail, head, gbps)
    kinds = numbered(refined[tail], refined[head], gbps, group)
    first, _ = representatives(kinds)
    out, into = refined[tail[first]], refined[head[first]]
    inside = np.flatnonzero(out != into)
    first, out, into = first[inside], out[inside], into[inside]
    total = np.bincount(refined, demand / unit).astype(float)
    column = np.arange(len(first))
    row = np.concatenate([out, into])
    value = np.concatenate([np.full(len(first), -1.0), np.ones(len(first))])
    inner = row != refined[node]
    sink = np.flatnonzero(total > 0)
    both = np.concatenate([column, column])
    return View(
        rows=len(total),
        row=row[inner],
        column=both[inner],
        value=value[inner],
        sink=sink,
        wanted=total[sink],
        group=group[first],
    )


def solve(problem: Program) -> float:
    """The optimum. Raises RuntimeError when HiGHS finds none, which no valid program gives it reason for."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    shape = (problem.rows, problem.columns)
    entries = (problem.value, (problem.row.astype(np.int32), problem.column.astype(np.int32)))
    table: Any = coo_array(entries, shape=shape).tocsr()
    cost = np.zeros(problem.columns)
    cost[-1] = -1.0
    bounds = np.column_stack([np.zeros(problem.columns), np.full(problem.columns, np.inf)])
    bounds[-1, 1] = 1.0
    solution = linprog(
        cost,
        A_ub=table[problem.equal :],
        b_ub=problem.limit,
        A_eq=table[: problem.equal],
        b_eq=np.zeros(problem.equal),
        bounds=bounds,
        method="highs",
    )
    if solution.status != 0:
        raise RuntimeError(f"HiGHS: {solution.message}")
    return round(float(min(max(solution.x[-1], 0.0), 1.0)), DIGITS)
