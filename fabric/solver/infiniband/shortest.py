"""Routing by hops: `minhop` over all shortest paths, `updn` over those that go up and then down.

After linux-rdma/opensm, osm_ucast_mgr.c and osm_ucast_updn.c of release 3.3.23, lmc 0, nothing routed before: each switch
goes through the end ports in one order and takes, of the ports with the fewest hops, the one with the fewest routes.
"""

from __future__ import annotations

from heapq import heapify, heapreplace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.solver.infiniband.subnet_graph import FAR, NO_PORT, SubnetGraph, Table, by_switch, steps

Hops = list[dict[int, int]]  # by switch: neighbor → hops over it


def minhop(graph: SubnetGraph) -> Table:
    """All shortest paths."""
    table = _empty(graph)
    hops = {to: steps(graph, [to]) for to in set(graph.ends.switch.tolist())}
    balance = _Balance(graph, table)
    for switch in range(graph.switches):
        for to, columns in by_switch(graph.ends):
            its = hops[to]
            best = its[switch] - 1
            balance.fill(switch, to, columns, [far for far in graph.trunks[switch] if its[far] == best < FAR - 1])
    return table


def updn(graph: SubnetGraph) -> Table:
    """Paths that never go up after they went down, counted from the roots."""
    table = _empty(graph)
    over = {to: _up_down(graph, to) for to in sorted(set(graph.ends.switch.tolist()))}
    balance = _Balance(graph, table)
    for switch in range(graph.switches):
        for to, columns in by_switch(graph.ends):
            its = over[to][switch]
            least = min(its.values(), default=FAR)
            balance.fill(switch, to, columns, [far for far in graph.trunks[switch] if its.get(far) == least])
    return table


def _empty(graph: SubnetGraph) -> Table:
    """A table with the ports of each switch's own end ports."""
    table = np.full((graph.switches, len(graph.ends)), NO_PORT, dtype=np.int16)
    columns = np.arange(len(graph.ends))
    table[graph.ends.switch, columns] = graph.ends.port
    return table


class _Balance:
    """Routes by port of one switch after the other."""

    def __init__(self, graph: SubnetGraph, table: Table) -> None:
        self.graph, self.table = graph, table
        self.at, self.routes = -1, dict[int, int]()

    def fill(self, switch: int, to: int, columns: NDArray[Any], neighbors: list[int]) -> None:
        """The end ports of a switch, one by one, over ports to some neighbors: the least used one, the first of equals."""
        if switch != self.at:
            self.at, self.routes = switch, {}
        if switch == to or not neighbors:
            return
        ports = [port for far in neighbors for port, _ in self.graph.trunks[switch][far]]
        heap = [(self.routes.get(port, 0), port) for port in ports]
        heapify(heap)
        chosen = []
        for _ in columns:
            used, port = heap[0]
            chosen.append(port)
            self.routes[port] = used + 1
            heapreplace(heap, (used + 1, port))
        self.table[switch, columns] = chosen


def _up_down(graph: SubnetGraph, to: int) -> Hops:
    """By switch and neighbor the hops of a legal path to a switch: a search from there that never turns from down to up."""
    ranks, keys = graph.ranks, graph.keys
    found: Hops = [{} for _ in range(graph.switches)]
    least = [FAR] * graph.switches
    up = [False] * graph.switches
    waiting = [False] * graph.switches
    least[to], up[to] = 0, True
    queue, head = [to], 0
    while head < len(queue):
        at = queue[head]
        head += 1
        waiting[at] = False
        went_up = up[at]  # as it is now: a node that is found again on another path keeps the direction of the last
        for far in graph.trunks[at]:
            upward = _is_up(ranks[at], ranks[far], keys[at], keys[far])
            if upward and not went_up:
                continue
            if least[at] + 1 < found[far].get(at, FAR) and far != to:
                found[far][at] = least[at] + 1
                least[far] = min(least[far], least[at] + 1)
                if not waiting[far]:
                    up[far] = upward
                    waiting[far] = True
                    queue.append(far)
    return found


def _is_up(rank: int, far_rank: int, key: int, far_key: int) -> bool:
    """Between equals the larger GUID goes up; between roots every step does."""
    if rank == far_rank:
        return rank == 0 or key > far_key
    return rank > far_rank
