"""The parts that a job uses, and what the failure of each does to it, decided by the plan.

A job stops when a GPU, a server or a NIC of its servers fails, and when a failure leaves a NIC without a port that is up: its
connections end. Any other failure leaves paths, and the step is estimated again on what remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fabric.diagnostics import InputError
from fabric.plan import KINDS, SERVER_LEAF, PortLabels
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
    mine = np.isin(net.ports.server, servers)
    nics = len(np.unique(np.stack([net.ports.server[mine], net.ports.nic[mine]]), axis=1).T)
    of_servers.append(("nic", nics))
    found = [Part(kind, "", count, STOPS, "") for kind, count in of_servers]
    healthy = step_of(())
    for kind, place, rows, fails in _network(net, mine, optical):
        found.append(Part(kind, place, len(rows), _slowdown(net, mine, rows, fails, step_of, healthy), fails))
    return tuple(found)


def _network(net: Network, mine: Bools, optical: Bools) -> Iterator[tuple[str, str, Ints, str]]:
    """(kind, place, links or devices, name of the first) of all cables and switches from the job's servers upward."""
    labels, size = PortLabels(net.fabric), net.links
    below, links = np.unique(net.ports.server[mine]), np.unique(net.ports.link[mine])
    place = SERVER_LEAF
    while len(links):
        for kind, lit in (("copper", False), ("optical", True)):
            rows = links[optical[links] == lit]
            if len(rows):
                first = int(rows[0])
                yield kind, KINDS[place], rows, f"{net.fabric.devices[net.tail[first]].name}:{labels.at(first, 'a')}"
        below = np.unique(net.head[links])
        first_switch = net.fabric.devices[int(below[0])]
        yield "switch", first_switch.role, below, first_switch.name
        links = np.flatnonzero(np.isin(net.tail[:size], below) & (net.level[net.head[:size]] > net.level[net.tail[:size]]))
        place = int(net.fabric.links.kind[links[0]]) if len(links) else place


def _slowdown(net: Network, mine: Bools, rows: Ints, fails: str, step_of: StepOf, healthy: float) -> float:
    """Of the first link or switch of `rows`."""
    first = rows[:1]
    broken = net.without(np.empty(0, np.int64), first) if ":" not in fails else net.without(first, np.empty(0, np.int64))
    nic = net.ports.server[mine] * 1000 + net.ports.nic[mine]
    if len(np.unique(nic[broken.alive[net.ports.link[mine]]])) < len(np.unique(nic)):
        return STOPS
    try:
        return max(1.0, step_of((fails,)) / healthy)
    except InputError:
        return STOPS
