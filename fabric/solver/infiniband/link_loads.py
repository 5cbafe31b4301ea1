"""What tables do to traffic: pairs that reach each other, routes over each link, shifts, and cycles of credits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

import numpy as np
from numpy.typing import NDArray

from fabric.solver.infiniband.subnet_graph import NO_PORT, SubnetGraph, Table

MAX_HOPS = 64
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Forwarding:
    """Tables on their subnet."""

    graph: SubnetGraph
    table: Table

    @cached_property
    def width(self) -> int:
        return int(self.graph.next_switch.shape[1])

    def walk(self, sources: Ints, targets: Ints) -> tuple[Ints, Ints]:
        """Routes of (source, target) columns of end ports: how many cross each directed link, and which do not arrive.

        A directed link is switch × `width` + port; links from and to end ports are not counted.
        """
        ends = self.graph.ends
        load = np.zeros(self.graph.switches * self.width, dtype=np.int64)
        missing: list[Ints] = []
        at, to, row = ends.switch[sources], targets, np.arange(len(sources))
        for _ in range(MAX_HOPS):
            going = ends.switch[to] != at
            at, to, row = at[going], to[going], row[going]
            if not len(at):
                break
            port = self.table[at, to].astype(np.int64)
            following = self.graph.next_switch[at, port].astype(np.int64)
            good = (port != NO_PORT) & (following >= 0)
            missing.append(row[~good])
            load += np.bincount(at[good] * self.width + port[good], minlength=len(load))
            at, to, row = following[good], to[good], row[good]
        return load, np.concatenate([*missing, row])

    def shift(self, distance: int, columns: Ints) -> tuple[Ints, Ints]:
        """Every end port of `columns` sends to the one that stands so many places behind it."""
        return self.walk(columns, np.roll(columns, -distance))

    def shifts(self, columns: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Every shift; all of them together are all-to-all."""
        return (self.shift(distance, columns) for distance in range(1, len(columns)))

    # --- cycles of credits -------------------------------------------------------------------------------------

    def dependencies(self) -> Ints:
        """Pairs of directed links that a route has one after the other, of all routes from switches with end ports."""
        ends, size = self.graph.ends, self.graph.switches * self.width
        pairs: list[Ints] = []
        for source in sorted(set(ends.switch.tolist())):
            to = np.arange(len(ends))
            at, last = np.full(len(to), source, dtype=np.int64), np.full(len(to), -1, dtype=np.int64)
            for _ in range(MAX_HOPS):
                going = ends.switch[to] != at
                at, to, last = at[going], to[going], last[going]
                if not len(at):
                    break
                port = self.table[at, to].astype(np.int64)
                following = self.graph.next_switch[at, port].astype(np.int64)
                good = (port != NO_PORT) & (following >= 0)
                link = at * self.width + port
                chained = good & (last >= 0)
                pairs.append(np.unique(last[chained] * size + link[chained]))
                at, to, last = following[good], to[good], link[good]
        found = np.unique(np.concatenate(pairs)) if pairs else np.empty(0, np.int64)
        return np.stack([found // size, found % size], axis=1)

    def credit_loop(self) -> list[int]:
        """Directed links of a cycle in which each waits for credits of the next; [] for none."""
        sorter: TopologicalSorter[int] = TopologicalSorter()
        for first, second in self.dependencies().tolist():
            sorter.add(second, first)
        try:
            sorter.prepare()
        except CycleError as error:
            return [int(link) for link in error.args[1]]
        return []

    def link_name(self, link: int) -> str:
        """`backend-leaf001 17/1 to backend-spine001`."""
        switch, port = divmod(link, self.width)
        far = int(self.graph.next_switch[switch, port])
        subnet = self.graph.subnet
        return f"{subnet.nodes[switch].name} {subnet.port_label(switch, port)} to {subnet.nodes[far].name}"
