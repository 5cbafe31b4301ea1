"""A subnet as its manager sees it: switches with ports in order, and end ports on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.grouping import grouped
from fabric.model.plan.subnets import TIERS, Subnet, placeholder_guid

NO_PORT = 0  # of a table: no path. Port 0 is the switch itself
Table = NDArray[np.int16]  # switch × end port → port of the switch


@dataclass(frozen=True)
class Ends:
    """End ports by column of the tables: place of the node, its switch and the port there."""

    node: NDArray[Any]
    switch: NDArray[Any]
    port: NDArray[Any]

    def __len__(self) -> int:
        return len(self.node)


@dataclass(frozen=True)
class SubnetGraph:
    """Switches are places 0 … of the subnet. `keys` are the GUIDs of all nodes in the order in which a manager walks them."""

    subnet: Subnet
    keys: tuple[int, ...]
    broken: frozenset[int] = frozenset()  # links of the fabric that are down

    @property
    def switches(self) -> int:
        return len(self.subnet.switches)

    @cached_property
    def order(self) -> list[int]:
        """Switches in the order of a manager's table of GUIDs."""
        return sorted(range(self.switches), key=lambda at: self.keys[at])

    @cached_property
    def cables(self) -> list[Any]:
        return [cable for cable in self.subnet.cables if cable.link not in self.broken]

    @cached_property
    def trunks(self) -> list[dict[int, list[tuple[int, int]]]]:
        """By switch: neighbor → (own port, its port), by own port. Neighbors stand in the order of their first port."""
        ports: list[list[tuple[int, int, int]]] = [[] for _ in range(self.switches)]
        for cable in self.cables:
            if self.subnet.nodes[cable.a].switch:
                ports[cable.a].append((cable.a_port, cable.b, cable.b_port))
                ports[cable.b].append((cable.b_port, cable.a, cable.a_port))
        return [grouped((far, (port, far_port)) for port, far, far_port in sorted(its)) for its in ports]

    @cached_property
    def ends(self) -> Ends:
        """End ports as a manager balances them: switch after switch, those with most of them first, by port."""
        at: list[list[tuple[int, int]]] = [[] for _ in range(self.switches)]
        for cable in self.cables:
            if not self.subnet.nodes[cable.a].switch:
                at[cable.b].append((cable.b_port, cable.a))
        by_load = sorted(self.order, key=lambda switch: -len(at[switch]))  # stable: ties stay in the order of GUIDs
        rows = [(node, switch, port) for switch in by_load for port, node in sorted(at[switch])]
        columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
        return Ends(columns[:, 0], columns[:, 1], columns[:, 2])

    @cached_property
    def ranks(self) -> list[int]:
        """Steps from the nearest root, the switches of the top tier; those that no root reaches have a large one."""
        highest = max((TIERS.get(node.device.role, 0) for node in self.subnet.switches), default=0)
        roots = [at for at, node in enumerate(self.subnet.switches) if TIERS.get(node.device.role, 0) == highest]
        return steps(self, roots)

    @cached_property
    def next_switch(self) -> NDArray[np.int32]:
        """Switch × port → the switch at the other end, -1 for none."""
        ports = max((node.ports for node in self.subnet.switches), default=0)
        found = np.full((self.switches, ports + 1), -1, dtype=np.int32)
        for switch, neighbors in enumerate(self.trunks):
            for far, pairs in neighbors.items():
                for port, _ in pairs:
                    found[switch, port] = far
        return found


FAR = 1 << 14


def steps(graph: SubnetGraph, roots: Sequence[int]) -> list[int]:
    """Links between each switch and the nearest of some."""
    found = [FAR] * graph.switches
    level = list(roots)
    for at in level:
        found[at] = 0
    while level:
        following = []
        for at in level:
            for far in graph.trunks[at]:
                if found[far] == FAR:
                    found[far] = found[at] + 1
                    following.append(far)
        level = following
    return found


def walk_order(guid: int) -> int:
    """The key by which the open manager's tables are sorted: the bytes of a GUID from the last one on, on these machines."""
    return int.from_bytes(guid.to_bytes(8, "big"), "little")


def graph_of(subnet: Subnet, guids: Sequence[int], broken: frozenset[int] = frozenset()) -> SubnetGraph:
    """Args: guids: of the nodes, by place."""
    return SubnetGraph(subnet, tuple(walk_order(guid) for guid in guids), broken)


def planned_graph(subnet: Subnet, broken: frozenset[int] = frozenset()) -> SubnetGraph:
    """With placeholders: the order of the plan decides between equals."""
    return graph_of(subnet, [placeholder_guid(subnet, node) for node in subnet.nodes], broken)


def by_switch(ends: Ends) -> list[tuple[int, NDArray[Any]]]:
    """(switch, columns of its end ports), in the order of the columns."""
    found = grouped((int(switch), column) for column, switch in enumerate(ends.switch))
    return [(switch, np.array(columns, dtype=np.int64)) for switch, columns in found.items()]
