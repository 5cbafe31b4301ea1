"""What `fabric estimate --fail` says is left: the same arrays, asked for the next hops that kernels must have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabric.configs.port_names import PortNames
from fabric.lab.blueprint import Blueprint
from fabric.lab.expected.forwarding import Down
from fabric.model.plan import LEAF
from fabric.solver import Network, Routes
from fabric.solver.capacity.throughput import all_paths, ecmp, ground, live_ports, traffic
from fabric.solver.network import network
from fabric.solver.routes import routes


@dataclass(frozen=True, slots=True)
class RemainingPaths:
    """A fabric with something down, as the estimate has it."""

    hops: dict[tuple[str, str], frozenset[str]]  # (switch, leaf) → interfaces towards it
    paths: tuple[int, int]  # equal paths between two leaves that live, least and most
    share: float  # of NIC speed, when every server sends to all others at once over equal-split ECMP


class Estimate:
    """One fabric of a lab."""

    def __init__(self, lab: Blueprint, fabric: str) -> None:
        self.lab, self.plan = lab, lab.plan.fabrics[fabric]
        self.index = {name: self.plan.by_name[name].index for name, view in lab.views.items() if view.fabric == fabric}

    @cached_property
    def whole(self) -> Network:
        """The fabric as far as it is in the lab."""
        out = [device.index for device in self.plan.switches if device.name not in self.index]
        return network(self.plan).without(np.empty(0, np.int64), np.array(out, np.int64))

    @cached_property
    def ends(self) -> list[tuple[str, str]]:
        """Interface that each directed link leaves its device by."""
        names = PortNames(self.plan)
        interfaces = [names.columns(end)[1].tolist() for end in ("a", "b")]
        devices = [[self.plan.devices[at].name for at in getattr(self.plan.links, end).tolist()] for end in ("a", "b")]
        return [*zip(devices[0], interfaces[0], strict=True), *zip(devices[1], interfaces[1], strict=True)]

    def left(self, down: Down) -> RemainingPaths:
        """What remains of it."""
        broken = self.whole.without(
            self._links(down), np.array([self.index[n] for n in down.nodes if n in self.index], np.int64)
        )
        route_table, base = routes(broken), ground(self.whole)
        path_counts = all_paths(base, route_table)
        living = [at for at, leaf in enumerate(base.leaves) if self._lives(int(leaf), down)]
        between = [
            path_counts[a, b]
            for a in living
            for b in living
            if a != b and base.part[base.leaves[a]] == base.part[base.leaves[b]]
        ]
        asked = traffic(base, live_ports(broken), "uniform")
        share = ecmp(base, route_table, asked).share if asked.asked else 0.0
        paths = (int(min(between)), int(max(between))) if between else (0, 0)
        return RemainingPaths(self._hops(route_table, down), paths, share)

    def _lives(self, device: int, down: Down) -> bool:
        name = self.plan.devices[device].name
        return name in self.index and name not in down.nodes

    def _links(self, down: Down) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        cut = {(end.node, end.interface) for wire in down.cables for end in (wire.a, wire.b)}
        size = len(self.plan.links)
        return np.array([at for at in range(size) if self.ends[at] in cut or self.ends[at + size] in cut], np.int64)

    def _hops(self, route_table: Routes, down: Down) -> dict[tuple[str, str], frozenset[str]]:
        living = [name for name in self.index if name not in down.nodes]
        leaves = [name for name in living if self.lab.views[name].device.role == LEAF]
        pairs = [(node, leaf) for node in living for leaf in leaves if node != leaf]
        if not pairs:
            return {}
        at, to = (np.array([self.index[pair[end]] for pair in pairs], np.int64) for end in (0, 1))
        start, count = route_table.next_hops(at, to)
        return {
            pair: frozenset(self.ends[link][1] for link in route_table.pool[first : first + number].tolist())
            for pair, first, number in zip(pairs, start.tolist(), count.tolist(), strict=True)
        }
