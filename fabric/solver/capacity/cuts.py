"""The switches of a fabric as a graph, its classes of symmetry, and the exact maximum flow between two sets of server ports.

Servers do not forward, so they are no nodes: a leaf has what the ports of the one side supply to it and what those of
the other side drain from it. Parallel links are one edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.model.plan import KINDS
from fabric.solver import GBPS_PER_GBYTE_S, Bools, Ints, Network

# --- symmetry -------------------------------------------------------------------------------------------------
# What is alike in a graph, by colour refinement: the coarsest partition whose classes see each other equally often.
#
# Such an equitable partition is enough for flows: a linear program whose rows and columns are refined has the optimum of its
# quotient (Grohe, Kersting, Mladenov, Selman, "Dimension Reduction via Colour Refinement", ESA 2014), so the maximum flow of
# a fabric with hundreds of thousands of links is that of a graph with a dozen nodes.

Hashes = NDArray[np.uint64]

GOLDEN, FIRST, SECOND = (np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def refine(colour: Ints, tail: Ints, head: Ints, label: Ints) -> Ints:
    """The coarsest refinement of `colour` in which nodes of one class have equally many edges of each label to each class.

    `colour`: [nodes]; `tail`, `head`, `label`: [edges], directed from tail to head. Gives the class of every node, [nodes],
    numbered by their first node. Nodes are distinguished by 64-bit hashes of their outgoing edges.
    """
    order = np.argsort(tail, kind="stable")
    tail, head = tail[order], head[order]
    marks = _mix(_mix(label[order].astype(np.uint64) + SECOND) + FIRST)  # salted: a class never cancels a label
    first = np.flatnonzero(np.diff(tail, prepend=-1)) if len(tail) else np.empty(0, np.int64)
    senders = tail[first]
    classes = numbered(colour)
    count = int(classes.max(initial=-1)) + 1
    while True:
        hashes = _mix(classes.astype(np.uint64) + GOLDEN)
        signature = hashes * SECOND
        if len(first):
            signature[senders] += np.add.reduceat(_mix(hashes[head] ^ marks), first)
        classes = numbered(_mix(signature) ^ hashes)
        more = int(classes.max(initial=-1)) + 1
        if more == count:
            return classes
        count = more


def numbered(*columns: NDArray[Any]) -> Ints:
    """Class of every row, [rows], from 0 in order of first appearance.

    Rows of one class are equal in every column, each [rows].
    """
    code: NDArray[Any] = columns[0]
    for column in columns[1:]:
        (_, before), (_, value) = (np.unique(each, return_inverse=True) for each in (code, column))
        code = before.ravel() * (int(value.max(initial=0)) + 1) + value.ravel()
    _, first, every = np.unique(code, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[every.ravel()]


def representatives(classes: Ints) -> tuple[Ints, Ints]:
    """(first row, size) of every class, both [classes]; `classes`: [rows]."""
    _, first, size = np.unique(classes, return_index=True, return_counts=True)
    return first, size


def _mix(value: Hashes) -> Hashes:
    """Finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    value = (value ^ (value >> np.uint64(30))) * FIRST
    value = (value ^ (value >> np.uint64(27))) * SECOND
    return value ^ (value >> np.uint64(31))


# --- the graph and its maximum flow ---------------------------------------------------------------------------

SIDE_A, SIDE_B = 1, 2  # side of a server port; 0: on neither side
MAX_FLOW = 2**31 - 1  # range of scipy's maximum flow
SERVER_LINKS = "server-leaf"


@dataclass(frozen=True)
class Graph:
    """Switches and what is up between them, one edge a pair and direction."""

    level: Ints  # of every device, as in Network
    tail: Ints
    head: Ints
    gbps: Ints  # sum of parallel links
    kind: Ints  # index into KINDS


@dataclass(frozen=True)
class Flow:
    """A maximum flow."""

    gbps: int
    limits: tuple[str, ...]  # kinds of links that a minimum cut goes through


@lru_cache(maxsize=1)  # cuts and linear programs use the same state in turn
def graph(net: Network) -> Graph:
    """The switch graph of what is up in a network."""
    size, devices = net.links, len(net.level)
    between = net.alive & (net.level[net.tail] > 0) & (net.level[net.head] > 0)
    links = np.flatnonzero(between)
    key, back = np.unique(net.tail[links] * devices + net.head[links], return_inverse=True)
    gbps = np.zeros(len(key), dtype=np.int64)
    np.add.at(gbps, back.ravel(), in_gbps(net)[links])
    kind = np.zeros(len(key), dtype=np.int64)
    kind[back.ravel()] = net.fabric.links.kind[links % size]
    return Graph(net.level, *np.divmod(key, devices), gbps, kind)


def in_gbps(net: Network) -> Ints:
    """Capacity of every directed link in whole Gb/s, [2 links]."""
    return np.rint(net.capacity * GBPS_PER_GBYTE_S).astype(np.int64)


def max_flow(net: Network, switches: Graph, side: Ints) -> Flow:
    """Maximum flow in Gb/s from the ports on SIDE_A to those on SIDE_B, over any paths.

    `side`: [server ports], one entry per row of `net.ports`. Exact: switches that colour refinement does not distinguish are
    one node of a smaller graph with the same maximum flow.
    """
    devices = len(net.level)
    supply, drain = (_port_gbps(net, side == wanted_side, devices) for wanted_side in (SIDE_A, SIDE_B))
    if not supply.any() or not drain.any():
        return Flow(0, (SERVER_LINKS,))
    colour = refine(numbered(switches.level, supply, drain), switches.tail, switches.head, switches.gbps)
    count = int(colour.max()) + 1
    source, target = count, count + 1
    tail = np.concatenate([colour[switches.tail], np.full(devices, source), colour])
    head = np.concatenate([colour[switches.head], colour, np.full(devices, target)])
    amount = np.concatenate([switches.gbps, supply, drain])
    kind = np.concatenate([switches.kind, np.full(2 * devices, KINDS.index(SERVER_LINKS))])
    return _solve(tail, head, amount, kind, count + 2)


def _port_gbps(net: Network, chosen: Bools, devices: int) -> Ints:
    """Gb/s of the chosen server ports at every leaf."""
    total = np.zeros(devices, dtype=np.int64)
    np.add.at(total, net.ports.leaf[chosen], in_gbps(net)[net.ports.link[chosen]])
    return total


def _solve(tail: Ints, head: Ints, amount: Ints, kind: Ints, nodes: int) -> Flow:
    """Maximum flow from the node before the last to the last one."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    flows = (amount > 0) & (tail != head)
    tail, head, amount, kind = tail[flows], head[flows], amount[flows], kind[flows]
    unit = int(np.gcd.reduce(amount))
    ends = (tail.astype(np.int32), head.astype(np.int32))  # the index type that all csgraph functions accept
    size = csr_array((amount // unit, ends), shape=(nodes, nodes))
    if size.sum() > MAX_FLOW:
        raise OverflowError(f"a cut of {size.sum() * unit:,} Gb/s is more than the maximum flow counts with")
    size = size.astype(np.int32)
    flow = maximum_flow(size, nodes - 2, nodes - 1)
    left = csr_array(size - flow.flow)
    left.eliminate_zeros()
    near = np.zeros(nodes, dtype=bool)
    near[breadth_first_order(left, nodes - 2, return_predecessors=False)] = True
    crossed = np.unique(kind[near[tail] & ~near[head]])
    return Flow(int(flow.flow_value) * unit, tuple(KINDS[index] for index in crossed))
