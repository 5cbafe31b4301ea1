"""The parts that a job uses, and what the failure of each does to it, decided by the plan.

A job stops when a GPU, a server or a NIC of its servers fails, and when a failure leaves a NIC without a port that is up: its
connections end. Any other failure leaves paths, and the step is estimated again without the first part of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fabric.base.diagnostics import InputError
from fabric.model.plan import KINDS, LEAF_LEAF, PortLabels
from fabric.solver import Bools, Ints, Network

StepOf = Callable[[tuple[str, ...]], float]
"""ms of a step with failed links and devices by name. Raises InputError where groups cannot reach each other."""
STOPS = float("inf")


@dataclass(frozen=True)
class Part:
    """Parts of one kind at one place of the design."""

    kind: str  # of a rate
    place: str  # role of a switch, kind of a link, "" for parts of servers
    count: int
    slowdown: float  # step time with one of them failed over the step time before; infinite: the job stops
    example: str  # the one that failed, "" for parts of servers

    @property
    def stops(self) -> bool:
        return self.slowdown == STOPS


def parts(net: Network, servers: Ints, gpus: int, optical: Bools, step_of: StepOf | None) -> tuple[Part, ...]:
    """Every part that a job on `servers` (devices) with `gpus` GPUs uses.

    Args:
        optical: of every link of the plan.
        step_of: None for a job in one NVLink domain, which does not use the network.
    """
    of_servers = [("gpu", gpus), ("server", len(servers))]
    if step_of is None:
        return tuple(Part(kind, "", count, STOPS, "") for kind, count in of_servers)
    mine = np.flatnonzero(np.isin(net.ports.server, servers) & net.alive[net.ports.link])
    nics = np.unique(_nic(net, mine))
    result = [Part(kind, "", count, STOPS, "") for kind, count in (*of_servers, ("nic", len(nics)))]
    healthy = step_of(())
    for kind, place, rows, name in _network(net, mine, optical):
        stops = np.isin(rows, _stopping(net, mine, net.ports.leaf if kind == "switch" else net.ports.link))
        if stops.any():
            result.append(Part(kind, place, int(stops.sum()), STOPS, name(int(rows[stops][0]))))
        if not stops.all():
            example = name(int(rows[~stops][0]))
            result.append(Part(kind, place, int((~stops).sum()), _slowdown(step_of, example, healthy), example))
    return tuple(result)


def _network(net: Network, mine: Ints, optical: Bools) -> Iterator[tuple[str, str, Ints, Callable[[int], str]]]:
    """(kind, place, links or devices, name of one) of all cables and switches that are up, from the job's ports upward."""
    labels, size, devices = PortLabels(net.fabric), net.links, net.fabric.devices
    kinds, up = net.fabric.links.kind, net.alive[: net.links]
    between = up & ((net.level[net.head[:size]] > net.level[net.tail[:size]]) | (kinds == LEAF_LEAF))
    links, seen = np.unique(net.ports.link[mine]), np.zeros(len(devices), dtype=bool)
    while len(links):
        for kind, lit in (("copper", False), ("optical", True)):
            rows = links[optical[links] == lit]
            if len(rows):
                yield kind, KINDS[int(kinds[rows[0]])], rows, lambda at: f"{devices[net.tail[at]].name}:{labels.at(at, 'a')}"
        above = np.unique(net.head[links])
        above = above[~seen[above]]
        seen[above] = True
        if len(above):
            yield "switch", devices[int(above[0])].role, above, lambda at: devices[at].name
        links = np.flatnonzero(between & np.isin(net.tail[:size], above))


def _nic(net: Network, mine: Ints) -> Ints:
    """A number for the NIC of each port."""
    return net.ports.server[mine] * (int(net.ports.nic.max()) + 1) + net.ports.nic[mine]


def _stopping(net: Network, mine: Ints, through: Ints) -> Ints:
    """Links or leaves, as `through` has them for each port, that all ports of some NIC depend on."""
    pairs = np.unique(np.stack([_nic(net, mine), through[mine]]), axis=1)
    _, first, count = np.unique(pairs[0], return_index=True, return_counts=True)
    return np.unique(pairs[1][first[count == 1]])


def _slowdown(step_of: StepOf, name: str, healthy: float) -> float:
    """With one link or switch failed."""
    try:
        return max(1.0, step_of((name,)) / healthy)
    except InputError:
        return STOPS
