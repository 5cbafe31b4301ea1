"""Fat-tree routing: every end port has a way down from each switch, spread so that shifts of the end ports never collide.

After linux-rdma/opensm, osm_ucast_ftree.c of release 3.3.23, with roots given and no reverse hops: from the leaf of an end
port up over the least loaded group of links, and from each switch on that way down to all others; what is left over secondary
ways.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from fabric.solver.infiniband.subnet_graph import NO_PORT, SubnetGraph, Table

Index = tuple[int, ...]  # of a switch: its rank, and its place below or above others
FAR = 255


@dataclass(slots=True, eq=False, kw_only=True)
class Group:
    """The links of a switch to one neighbor, and the routes on them: towards the end ports that are up or down."""

    far: int
    ports: list[tuple[int, int]]  # own port, port of the neighbor
    down: int = 0  # routes that come down
    up: int = 0
    port_down: list[int] = field(default_factory=list)
    port_up: list[int] = field(default_factory=list)


def _group(far: int, ports: list[tuple[int, int]]) -> Group:
    """Without any route."""
    return Group(far=far, ports=ports, port_down=[0] * len(ports), port_up=[0] * len(ports))


class NoTree(Exception):
    """The subnet is no fat tree: the manager takes the next engine. The text says why."""


def ftree(graph: SubnetGraph, compute: Collection[int]) -> Table:
    """Args: compute: places of the nodes that shifts run between, which are routed first. Raises NoTree."""
    return _Routing(graph, compute).table()


def why_no_tree(graph: SubnetGraph, compute: Collection[int]) -> str:
    """Why the manager takes the next engine; "" where it does not."""
    chosen, ends = set(compute), graph.ends
    try:
        _check(graph, {int(its) for node, its in zip(ends.node, ends.switch, strict=True) if node in chosen})
    except NoTree as error:
        return str(error)
    return ""


class _Routing:
    def __init__(self, graph: SubnetGraph, compute: Collection[int]) -> None:
        self.graph, self.ranks = graph, graph.ranks
        self.compute = set(compute)
        ends = graph.ends
        leaves = {int(switch) for node, switch in zip(ends.node, ends.switch, strict=True) if node in self.compute}
        _check(graph, leaves)
        self.leaves = leaves
        self.with_ends = set(graph.ends.switch.tolist())
        self.below: list[list[Group]] = []
        self.above: list[list[Group]] = []
        for switch, neighbors in enumerate(graph.trunks):
            groups = [_group(far, pairs) for far, pairs in neighbors.items()]
            self.below.append([group for group in groups if self.ranks[group.far] > self.ranks[switch]])
            self.above.append([group for group in groups if self.ranks[group.far] < self.ranks[switch]])
        self.index = self._indexed()
        self.out: list[int] = []  # of the end port that is being routed: switch → port
        self.hops: list[int] = []

    # --- order of the switches ---------------------------------------------------------------------------------

    def _indexed(self) -> list[Index]:
        """Breadth first from the first leaf; a switch takes the lowest free place beside those of its rank."""
        first = next(at for at in self.graph.order if at in self.leaves)
        length = self.ranks[first] + 1
        found: dict[int, list[int]] = {first: [self.ranks[first]] + [0] * (length - 1)}
        taken = {tuple(found[first])}
        queue, head = [first], 0
        while head < len(queue):
            at = queue[head]
            head += 1
            groups = [*(self.below[at] if at not in self.leaves else []), *self.above[at]]
            for group in groups:
                if group.far in found:
                    continue
                down = self.ranks[group.far] > self.ranks[at]
                place = self.ranks[at] + 1 if down else self.ranks[at]
                new = [*found[at]]
                new[0] += 1 if down else -1
                for number in range(FAR):
                    new[place] = number
                    if tuple(new) not in taken:
                        break
                taken.add(tuple(new))
                found[group.far] = new
                queue.append(group.far)
        lost = (self.ranks[0], FAR)
        return [tuple(found[at]) if at in found else (*lost, at) for at in range(self.graph.switches)]

    # --- routes ------------------------------------------------------------------------------------------------

    def table(self) -> Table:
        graph, ends = self.graph, self.graph.ends
        table = np.full((graph.switches, len(ends)), NO_PORT, dtype=np.int16)
        columns: dict[int, list[int]] = {}
        rest = []
        for column, (node, switch) in enumerate(zip(ends.node.tolist(), ends.switch.tolist(), strict=True)):
            if node in self.compute:
                columns.setdefault(switch, []).append(column)
            else:
                rest.append(column)
        most = max(map(len, columns.values()))
        leaf_rank = max(self.ranks[leaf] for leaf in self.leaves)
        level = sorted((at for at in range(graph.switches) if self.ranks[at] == leaf_rank), key=lambda at: self.index[at])
        real = [n for n, at in enumerate(level) if at in self.leaves]
        for leaf in level[real[0] : real[-1] + 1]:
            mine = columns.get(leaf, [])
            for column in mine:
                self._route(leaf, int(ends.port[column]))
                table[:, column] = self.out
            for _ in range(most - len(mine)):
                self._route(leaf, NO_PORT, real=False)
        for column in sorted(rest, key=lambda column: graph.keys[ends.node[column]]):
            self._route(int(ends.switch[column]), int(ends.port[column]))
            table[:, column] = self.out
        return table

    def _route(self, leaf: int, port: int, *, real: bool = True) -> None:
        """One end port, or one that a leaf has fewer than others: it counts alike."""
        self.out = [NO_PORT] * self.graph.switches
        self.hops = [FAR] * self.graph.switches
        self.out[leaf], self.hops[leaf] = port, 1
        self.real = real
        self._climb(leaf, -1, 1, main=True)

    def _climb(self, switch: int, came: int, hops: int, *, main: bool) -> bool:
        """Ways down to the end port from all switches above: the main way is counted, secondary ones fill what is left."""
        made = self._descend(switch, came, hops)
        groups = self.above[switch]
        if not groups:
            return made
        groups.sort(key=lambda group: (group.down, self.index[group.far]))
        ordered = [*groups]
        if main:
            group = ordered.pop(0)
            at = _least(group.port_down)
            group.down += 1
            group.port_down[at] += 1
            if self.hops[group.far] == FAR or hops + 1 < self.hops[group.far]:
                self._set(group, at, hops + 1)
            made |= self._climb(group.far, switch, hops + 1, main=True)
        for group in ordered:
            if self.hops[group.far] != FAR and hops + 1 >= self.hops[group.far]:
                continue
            self._set(group, _least(group.port_down), hops + 1)
            made |= self._climb(group.far, switch, hops + 1, main=False)
        return made

    def _descend(self, switch: int, came: int, hops: int) -> bool:
        """From a switch on the way to all below it: their way up."""
        made = switch in self.with_ends
        groups = self.below[switch]
        groups.sort(key=lambda group: (group.up, self.index[group.far]))
        for group in [*groups]:
            if group.far == came or (self.hops[group.far] != FAR and hops + 1 >= self.hops[group.far]):
                continue
            at = _least(group.port_up)
            self._set(group, at, hops + 1)
            routed = self._descend(group.far, -1, hops + 1)
            made |= routed
            if routed:
                group.port_up[at] += 1
                group.up += 1
        return made

    def _set(self, group: Group, at: int, hops: int) -> None:
        """The neighbor of a group sends to the end port over one of its links."""
        self.out[group.far] = group.ports[at][1]
        self.hops[group.far] = hops


def _least(counters: list[int]) -> int:
    return counters.index(min(counters))


def _check(graph: SubnetGraph, leaves: set[int]) -> None:
    """What ends the manager's attempt: one switch, or compute ports at different distances from the roots."""
    if graph.switches < 2 or len(leaves) < 2:
        raise NoTree("fewer than two leaves with compute ports")
    ranks = {graph.ranks[leaf] for leaf in leaves}
    if len(ranks) > 1 or min(ranks) == 0:
        raise NoTree("compute ports on switches of several ranks" if len(ranks) > 1 else "compute ports on roots")
