"""Servers of a fabric in their NVLink domains, units and pods, and the servers that a placement gives a job."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.rounding import ceil_div
from fabric.solver import Bools, Ints, Network
from fabric.solver.estimate.placement import Placement, place

POLICIES = {
    "packed": "the first free servers, unit after unit",
    "topology": "in one NVLink domain, unit or pod where one has room, else in the next larger",
    "strict": "waits for a domain, unit or pod that holds the whole job",
}
DOMAIN, UNIT, POD, FABRIC = "NVLink domain", "unit", "pod", "fabric"


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """The servers that jobs run on, numbered from 0 in the order of the fabric."""

    net: Network
    placement: Placement  # of a job on all of them
    domain: Ints  # of every server
    unit: Ints
    levels: tuple[str, ...]  # that differ, from DOMAIN to FABRIC
    groups: tuple[Ints, ...]  # of each level: the number of every server's group

    @property
    def servers(self) -> int:
        return len(self.placement.servers)

    @property
    def server_gpus(self) -> int:
        return self.placement.server.gpus

    @property
    def gpus(self) -> int:
        return self.servers * self.server_gpus

    @cached_property
    def capacity(self) -> tuple[int, ...]:
        """Servers of the largest group of each level."""
        return tuple(int(np.bincount(group).max()) for group in self.groups)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Groups of each level."""
        return tuple(int(group.max()) + 1 for group in self.groups)

    def servers_of(self, gpus: int) -> int:
        """Whole servers of a job; 0 for a part of one."""
        return 0 if gpus < self.server_gpus else ceil_div(gpus, self.server_gpus)

    def level(self, servers: int) -> int | None:
        """The smallest level that can hold so many servers; None: more than there are."""
        return next((at for at, held in enumerate(self.capacity) if held >= servers), None)

    def put(self, free_gpus: Ints, gpus: int, policy: str) -> Ints | None:
        """Servers for a job, None where it has to wait. Parts of servers share a server."""
        if gpus < self.server_gpus:
            return self._part(free_gpus, gpus)
        count, free = self.servers_of(gpus), free_gpus == self.server_gpus
        if policy == "packed":
            found = np.flatnonzero(free)
            return found[:count] if len(found) >= count else None
        return self._together(free, count, strict=policy == "strict")

    def fits(self, free_gpus: Ints, gpus: int, policy: str) -> bool:
        """Whether `put` finds servers, without choosing them."""
        if gpus < self.server_gpus:
            return bool((free_gpus >= gpus).any())
        count, free = self.servers_of(gpus), free_gpus == self.server_gpus
        if policy != "strict":
            return int(free.sum()) >= count
        level = self.level(count)
        return level is not None and bool((np.bincount(self.groups[level][free]) >= count).any())

    def _part(self, free_gpus: Ints, gpus: int) -> Ints | None:
        """The server with the least room that holds it."""
        room = np.where(free_gpus >= gpus, free_gpus, self.server_gpus + 1)
        best = int(np.argmin(room))
        return np.array([best]) if room[best] <= self.server_gpus else None

    def _together(self, free: Bools, count: int, strict: bool) -> Ints | None:
        least = self.level(count)
        if least is None or int(free.sum()) < count:
            return None
        for level in range(least, least + 1 if strict else len(self.levels)):
            room = np.bincount(self.groups[level][free], minlength=self.counts[level])
            fits = np.flatnonzero(room >= count)
            if len(fits):
                best = int(fits[np.argmin(room[fits])])
                return self._within(np.flatnonzero(free & (self.groups[level] == best)), level - 1, count)
        return None

    def _within(self, servers: Ints, level: int, count: int) -> Ints:
        """`count` of free servers in as few groups of a level as possible: the emptiest first, the last with the least room
        that is enough."""
        if level < 0 or len(servers) == count:
            return servers[:count]
        chosen: list[Ints] = []
        group = self.groups[level][servers]
        names, room = np.unique(group, return_counts=True)
        while count:
            enough = np.flatnonzero(room >= count)
            at = int(enough[np.argmin(room[enough])]) if len(enough) else int(np.argmax(room))
            part = min(count, int(room[at]))
            chosen.append(self._within(servers[group == names[at]], level - 1, part))
            count, room[at] = count - part, 0
        return np.sort(np.concatenate(chosen))


def cluster(net: Network) -> Cluster:
    """The servers with GPUs of a fabric: those of the model with the most. Raises InputError for a fabric without GPUs."""
    placement = place(net, None)
    devices, servers = net.fabric.devices, placement.servers
    first_port = np.zeros(len(devices), dtype=np.int64)
    first_port[net.ports.server[::-1]] = net.ports.leaf[::-1]
    units = np.array([devices[int(at)].unit for at in servers])
    pods = np.array([devices[int(first_port[at])].pod for at in servers])
    domain, unit = _numbered(np.arange(len(servers)) // placement.domain_servers), _numbered(units)
    named = {DOMAIN: domain, UNIT: unit, POD: _numbered(pods), FABRIC: np.zeros(len(servers), dtype=np.int64)}
    sizes = {name: int(group.max()) + 1 for name, group in named.items()}
    levels = tuple(name for name in named if name in (DOMAIN, FABRIC) or sizes[name] > 1)
    levels = tuple(name for name in levels if name != POD or sizes[POD] < sizes[UNIT])
    return Cluster(
        net=net, placement=placement, domain=domain, unit=unit, levels=levels, groups=tuple(named[name] for name in levels)
    )


def _numbered(group: NDArray[Any]) -> Ints:
    """The same groups, numbered from 0."""
    _, number = np.unique(group, return_inverse=True)
    return number.ravel().astype(np.int64)
