"""What a fabric keeps while whole switches are out of service, for many sets of switches.

Capacity is what the server ports that are left send together when each sends to all others as fast as the slowest can, by
equal split over next hops. Isolated networks (planes, rails of a rail-only fabric) count by themselves and add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fabric.model.plan import ATTACHMENT, LEAF, SERVER_LEAF
from fabric.solver import Ints, Network
from fabric.solver.capacity.cuts import in_gbps, numbered, refine
from fabric.solver.capacity.throughput import HealthyNetwork, ground, live_ports, loads, traffic
from fabric.solver.network import routes

Out = frozenset[int]  # switches that are out of service, by their index
NO_DEVICE: Out = frozenset()
TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Outages:
    """A network, and what it keeps without some of its switches.

    Attributes:
        net: what is in service.
        regular: devices of equal coordinates are interchangeable, so that one answer holds for all that are alike.
    """

    net: Network
    regular: bool = True
    _known: dict[object, float] = field(default_factory=dict)

    @cached_property
    def base(self) -> HealthyNetwork:
        return ground(self.net)

    def left(self, out: Out) -> float:
        """Share of the capacity that is left; 1 where there was none."""
        whole = self.rate(NO_DEVICE)
        return self.rate(out) / whole if whole else 1.0

    def rate(self, out: Out) -> float:
        """Gb/s that all server ports send together."""
        return sum(self._rate(part, out & members) for part, members in self.parts.items())

    def keeps_redundancy(self, out: Collection[int], more: Out) -> bool:
        """Whether all that is connected to several leaves keeps one, when more switches go after some."""
        gone = {*out, *more} if self.redundant else more
        return not any(group <= gone for leaf in more for group in self.redundant.get(leaf, ()))

    def alike(self, out: Out) -> object:
        """Equal for sets of switches that are alike."""
        if not self.regular:
            return out
        parts = ((self._shapes[part], self._key(part, out & members)) for part, members in self.parts.items())
        return tuple(sorted(parts, key=repr))

    @cached_property
    def parts(self) -> Mapping[int, Out]:
        """Isolated network → its switches."""
        part = self.base.part
        return {number: frozenset(np.flatnonzero(part == number).tolist()) for number in range(int(part.max(initial=-1)) + 1)}

    @cached_property
    def redundant(self) -> Mapping[int, tuple[Out, ...]]:
        """Leaf → sets of leaves of which one must stay: of a NIC or bond, of a server without GPUs, of an attachment."""
        sets: dict[Out, None] = {}
        for key, leaf in (self._ends(self._nic_keys, SERVER_LEAF), self._ends(self._attachment_keys, ATTACHMENT)):
            order = np.lexsort((leaf, key))
            begin = np.flatnonzero(np.diff(key[order], prepend=-1))
            groups = (group.tolist() for group in np.split(leaf[order], begin[1:]))
            sets |= dict.fromkeys(map(frozenset, groups))
        found: dict[int, list[Out]] = {}
        for group in (group for group in sets if len(group) > 1):
            for member in group:
                found.setdefault(member, []).append(group)
        return {leaf: tuple(groups) for leaf, groups in found.items()}

    @property
    def measured(self) -> int:
        """How many different sets were measured."""
        return len(self._known)

    def group(self, device: int) -> int:
        """Of a switch above leaves: the group of those that share their cores, by its first switch; else the switch."""
        return int(self._group[device])

    @property
    def _nic_keys(self) -> Ints:
        fabric, links = self.net.fabric, self.net.fabric.links
        if fabric.spec.purpose != "compute":
            return links.a.astype(np.int64)
        lag = fabric.tenancy.lag if len(fabric.tenancy.lag) == len(links) else np.zeros(len(links), dtype=np.int64)
        return numbered(links.a, np.where(lag > 0, -lag, links.a_cage))

    @property
    def _attachment_keys(self) -> Ints:
        return self.net.fabric.links.a.astype(np.int64)

    def _ends(self, keys: Ints, kind: int) -> tuple[Ints, Ints]:
        links = self.net.fabric.links
        rows = np.flatnonzero((links.kind == kind) & self.net.alive[: self.net.links])
        return keys[rows], links.b[rows].astype(np.int64)

    # --- one isolated network ---------------------------------------------------------------------------------

    def _rate(self, part: int, out: Out) -> float:
        """Gb/s that the ports of an isolated network send without some of its switches."""
        key = (self._shapes[part], self._key(part, out)) if self.regular else (part, out)
        if key not in self._known:
            self._known[key] = self._measured(part, out)
        return self._known[key]

    def _measured(self, part: int, out: Out) -> float:
        broken = self.net.without(self._others[part], np.array(sorted(out), dtype=np.int64))
        live = live_ports(broken)
        offered = traffic(self.base, live, "uniform")
        load, lost = loads(self.base, routes(broken), offered.demand)
        if lost > TINY * max(offered.asked, 1.0):
            return 0.0  # a path is missing: this network carries nothing that is safe to count
        used = load > 0
        fits = float((in_gbps(broken)[used] / load[used]).min(initial=np.inf))
        return min(float(self.base.port_gbps[live].sum()), offered.asked * fits)

    @cached_property
    def _others(self) -> Mapping[int, Ints]:
        """Isolated network → links of the others."""
        of_link = self.base.part[self.net.head[: self.net.links]]
        return {part: np.flatnonzero(of_link != part) for part in self.parts}

    @cached_property
    def _colour(self) -> Ints:
        net, up = self.net, np.flatnonzero(self.net.alive)
        return refine(numbered(net.level), net.tail[up], net.head[up], in_gbps(net)[up])

    @cached_property
    def _shapes(self) -> Mapping[int, object]:
        """Isolated network → equal for those that have equally many switches and servers of every kind."""
        links = self.net.links
        of_link, kind = self.base.part[self.net.head[:links]], self._colour[self.net.tail[:links]]
        return {
            part: (
                tuple(sorted(Counter(self._colour[sorted(members)].tolist()).items())),
                tuple(sorted(Counter(kind[of_link == part].tolist()).items())),
            )
            for part, members in self.parts.items()
        }

    @cached_property
    def _group(self) -> Ints:
        """Of a switch above leaves: number of the switches that it shares its core switches with, all pods alike."""
        net, links = self.net, self.net.links
        group = np.arange(len(net.level))
        for link in np.flatnonzero(net.alive[:links] & (net.level[net.head[:links]] == 3)).tolist():
            low, high = self._root(group, int(net.tail[link])), self._root(group, int(net.head[link]))
            group[max(low, high)] = min(low, high)
        return np.array([self._root(group, device) for device in range(len(group))])

    @staticmethod
    def _root(group: Ints, device: int) -> int:
        while group[device] != device:
            group[device] = group[group[device]]
            device = int(group[device])
        return device

    @cached_property
    def _pods(self) -> Mapping[int, int]:
        """Isolated network → number of its pods."""
        leaves = [device for device in self.net.fabric.devices if device.role == LEAF]
        pods = {(int(self.base.part[device.index]), device.pod) for device in leaves}
        return Counter(part for part, _ in pods)

    def _key(self, part: int, out: Out) -> object:
        """What decides how much a set of switches of an isolated network costs: numbers per unit, pod and group of cores."""
        devices, colour, has_cores = self.net.fabric.devices, self._colour, bool((self.net.level == 3).any())
        units: Counter[tuple[int, int, int]] = Counter()
        above: dict[int, Counter[tuple[int, int]]] = {}
        for at in out:
            device = devices[at]
            if device.role == LEAF:
                units[device.pod, device.unit, int(colour[at])] += 1
            else:
                group = int(self._group[at]) if has_cores else -1
                above.setdefault(group, Counter())[device.pod, int(colour[at])] += 1
        pods = self._pods[part]
        even = all(len({count for (pod, _), count in group.items() if pod >= 0}) <= 1 for group in above.values()) and all(
            sum(pod >= 0 for pod, _ in group) in (0, pods) for group in above.values()
        )
        leaves: dict[int, list[tuple[int, int]]] = {}
        for (pod, _, kind), count in units.items():
            leaves.setdefault(pod, []).append((kind, count))
        rows = [(-1 if even or not has_cores else pod, tuple(sorted(counts))) for pod, counts in leaves.items()]
        columns = sorted(tuple(sorted(group.items())) for group in above.values())
        return tuple(sorted(rows)), tuple(columns)
