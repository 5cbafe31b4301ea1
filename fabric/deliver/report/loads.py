"""Loads of all links at one time: what they would have to carry if every NIC of the job sent at line rate.

The traffic is that of `fabric estimate`: the phases of a collective's pattern, of which the one is shown that loads some
link the most. A fabric without GPUs shows every NIC port sending to the same port of the server half the fabric away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fabric.solver import Floats, Ints, Network
from fabric.solver.ecmp.flows import Flows, connections, queue_pairs, shift
from fabric.solver.ecmp.paths import load_of
from fabric.solver.estimate.nic_bandwidth import PATTERNS
from fabric.solver.estimate.placement import place
from fabric.solver.network import routes

PATTERN_WORDS = {
    "ring": "every server sends to the next one on every rail (ring)",
    "tree": "servers send along a double binary tree",
    "peers": "every server sends to several others at the same time on every rail (alltoall)",
    "neighbors": "the last GPU of every server sends to the first of the next",
    "halving": "every server sends to the one whose number differs in one bit",
    "shift": "every NIC port sends to the same port of the server half the fabric away",
}


@dataclass(frozen=True)
class Loads:
    """What every directed link has to carry, as a share of its capacity; 0 where it is down."""

    share: Floats  # [2 links], upward first
    links: int

    @property
    def up(self) -> Floats:
        return self.share[: self.links]

    @property
    def down(self) -> Floats:
        return self.share[self.links :]

    @property
    def peak(self) -> float:
        return float(self.share.max(initial=0.0))


def loads(net: Network, pattern: str, routing: str, qps: int, seed: int = 0) -> Loads:
    """The busiest phase of a pattern. Raises InputError where the fabric has no GPUs or a failure cuts all of them off."""
    route_table, busiest = routes(net), Loads(np.zeros(len(net.tail)), net.links)
    for flows in _flows(net, pattern, seed):
        flows = queue_pairs(flows, qps, seed) if qps > 1 else flows
        carried, _ = load_of(net, route_table, flows, routing)
        share = np.divide(carried, net.capacity, out=np.zeros(len(carried)), where=net.capacity > 0)
        busiest = max(busiest, Loads(share, net.links), key=lambda found: found.peak)
    return busiest


def _flows(net: Network, pattern: str, seed: int) -> Iterator[Flows]:
    """Each phase's connections, weighed by the GB/s of the slower port of each."""
    if pattern == "shift":
        servers = len(np.unique(net.ports.server))
        flows = shift(net, max(1, servers // 2), seed=seed)
        live = net.alive[net.ports.link]
        yield _weighed(net, flows.take(live[flows.source_port] & live[flows.target_port]), seed)
        return
    placed = place(net, None)
    for phase in PATTERNS[pattern](placed.ports, placed.nic_ports, placed.full):
        yield connections(phase.source, phase.target, phase.weight * _line_rate(net, phase.source, phase.target), seed=seed)


def _weighed(net: Network, flows: Flows, seed: int) -> Flows:
    rate = _line_rate(net, flows.source_port, flows.target_port)
    return connections(flows.source_port, flows.target_port, rate, seed=seed)


def _line_rate(net: Network, source: Ints, target: Ints) -> Floats:
    """GB/s of the slower port of each pair."""
    capacity = net.capacity[net.ports.link]
    return np.minimum(capacity[source], capacity[target])
