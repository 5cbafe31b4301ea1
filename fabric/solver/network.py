"""A fabric as arrays over directed links: what every question of bandwidth is asked of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.model.plan import CORE, LEAF, SERVER_LEAF, SPINE, Device, FabricPlan, PortLabels, PortRef

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEVELS = {LEAF: 1, SPINE: 2, CORE: 3}  # of servers and attachments: 0
GBPS_PER_GBYTE_S = 8
PortNamer = Callable[[Device, PortRef], str]  # name of a port on its device, "" where it is not known


def unnamed(device: Device, ref: PortRef) -> str:
    """A PortNamer that knows no name."""
    return ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Network:
    """Both directions of every link of a plan.

    Directed link `i` below `len(plan.links)` runs upward, from the link's end a to its end b; `i + len(plan.links)` is
    the same link downward. Links that are down keep their place and have no capacity.
    """

    fabric: FabricPlan
    tail: Ints  # device that sends
    head: Ints  # device that receives
    level: Ints  # of every device: 0 server or attachment, 1 leaf, 2 spine, 3 core
    capacity: Floats  # GB/s of every directed link, 0 where it is down
    port_name: PortNamer  # of a port, for those named as failed

    @property
    def links(self) -> int:
        """How many links there are; twice as many directed ones."""
        return len(self.tail) // 2

    @cached_property
    def alive(self) -> Bools:
        return self.capacity > 0

    @cached_property
    def ports(self) -> ServerPorts:
        return _server_ports(self)

    def reverse(self, link: Ints) -> Ints:
        """The other direction of directed links."""
        return (link + self.links) % (2 * self.links)

    def without(self, links: Ints, devices: Ints) -> Network:
        """The same network with links (undirected, both directions of each) and whole devices down."""
        down = np.zeros(self.links, dtype=bool)
        down[links] = True
        dead = np.zeros(len(self.level), dtype=bool)
        dead[devices] = True
        down |= dead[self.tail[: self.links]] | dead[self.head[: self.links]]
        return replace(self, capacity=np.where(np.tile(down, 2), 0.0, self.capacity))

    def name(self, link: int) -> str:
        """A directed link as a person names it: `backend-leaf001 1/1 -> backend-spine003 1`."""
        names, at = PortLabels(self.fabric), link % self.links
        ends = []
        for end in ("a", "b"):
            device = self.fabric.devices[int(getattr(self.fabric.links, end)[at])]
            ends.append(f"{device.name} {names.at(at, end)}")
        return " -> ".join(ends if link < self.links else reversed(ends))


@dataclass(frozen=True)
class ServerPorts:
    """The ports of all servers' NICs, a row each, in the order of server, NIC and port; a row is also a link upward."""

    link: Ints  # directed link from the server to its leaf
    server: Ints  # device
    leaf: Ints  # device
    nic: Ints  # from 0
    port: Ints  # of the NIC, from 0


def network(fabric: FabricPlan, port_name: PortNamer = unnamed) -> Network:
    """The plan's links, all of them up."""
    columns = fabric.links
    tail = np.concatenate([columns.a, columns.b]).astype(np.int64)
    head = np.concatenate([columns.b, columns.a]).astype(np.int64)
    level = np.array([LEVELS.get(device.role, 0) for device in fabric.devices], dtype=np.int64)
    capacity = np.tile(columns.speed_gbps / GBPS_PER_GBYTE_S, 2)
    return Network(fabric=fabric, tail=tail, head=head, level=level, capacity=capacity, port_name=port_name)


def _server_ports(net: Network) -> ServerPorts:
    columns: Any = net.fabric.links
    rows = np.flatnonzero(columns.kind == SERVER_LEAF)
    order = rows[np.lexsort((columns.a_sub[rows], columns.a_cage[rows], columns.a[rows]))]
    server, leaf = columns.a[order].astype(np.int64), columns.b[order].astype(np.int64)
    return ServerPorts(order.astype(np.int64), server, leaf, columns.a_cage[order] - 1, columns.a_sub[order])
