"""Who sends to whom between the NVLink domains of a job: the traffic of every algorithm, port by port.

Domains are in the order of the ranks. Port `i` of a domain sends to port `i` of another: rails do not mix, as NCCL's rings
and its PXN keep them. A pattern is phases that follow each other; weight 1 is what a port sends when it has nothing else
to do, so a network without bottlenecks carries every phase at the ports' own speed.

A last domain with fewer servers repeats its ports to the width of the others (`Placement.ports`). A ring and a tree pass as
many bytes through it as through the others; sends from GPU to GPU carry its share of a full domain's (`full`) only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabric.base.rounding import ceil_div
from fabric.solver import Floats, Ints

PEERS_AT_ONCE = 8  # that a rank of an alltoall talks to at the same time (NCCL's p2p batches)
SAMPLES = 4  # of the rounds of an alltoall
MAX_FULL_FLOWS = 400_000  # from here on fewer rounds and peers are looked at


@dataclass(frozen=True)
class Phase:
    """Sending and receiving ports with the weight of each, and the share of the pattern's bytes that it moves."""

    source: Ints  # rows of `net.ports`
    target: Ints
    weight: Floats
    part: float


def together(parts: Sequence[Phase]) -> Phase:
    """Phases that run at the same time, as one."""
    columns = zip(*((part.source, part.target, part.weight) for part in parts), strict=True)
    source, target, weight = (np.concatenate(column) for column in columns)
    return Phase(source, target, weight, parts[0].part)


def ring(ports: Ints, nic_ports: int, full: Floats) -> Iterator[Phase]:
    """Every domain to the next, the last to the first; `ports`: [domains, NIC ports], rows of `net.ports`."""
    yield _shift(ports, 1, 1.0)


def tree(ports: Ints, nic_ports: int, full: Floats) -> Iterator[Phase]:
    """NCCL's double binary tree, half of the bytes on each, up and down at the same time."""
    count = len(ports)
    child, parent = (np.concatenate(column) for column in zip(*_double_tree(count), strict=True))
    sender, receiver = np.concatenate([child, parent]), np.concatenate([parent, child])
    busiest = np.bincount(sender, minlength=count).max() / 2
    yield _between(ports, sender, receiver, 0.5 / busiest, 1.0)


def peers(ports: Ints, nic_ports: int, full: Floats) -> Iterator[Phase]:
    """All to all, some rounds of it: in a round every domain sends to a few that follow each other.

    The rounds lie in the middle of equal parts of all rounds, so that near and far peers count as often as they occur.
    """
    others = len(ports) - 1
    few = ports.size * PEERS_AT_ONCE * SAMPLES > MAX_FULL_FLOWS
    at_once = PEERS_AT_ONCE // 2 if few else PEERS_AT_ONCE
    rounds = ceil_div(others, at_once)
    samples = min(rounds, SAMPLES // 2 if few else SAMPLES)
    firsts = [1 + (2 * sample + 1) * rounds // (2 * samples) * at_once for sample in range(samples)]
    steps = [range(first, min(first + at_once, others + 1)) for first in firsts]  # the last round may be a short one
    for mine in steps:
        parts = [_shift(ports, step, 1 / len(mine), full) for step in mine]
        yield replace(together(parts), part=len(mine) / sum(map(len, steps)))


def stages(ports: Ints, nic_ports: int, full: Floats) -> Iterator[Phase]:
    """Pipeline stages: every GPU of a domain to its peer in the next."""
    yield _shift(ports, 1, 1.0, full)


def neighbors(ports: Ints, nic_ports: int, full: Floats) -> Iterator[Phase]:
    """Send and receive: the last rank of every domain to the first of the next, which has the first NIC."""
    yield _shift(ports[:, :nic_ports], 1, 1.0)


def halving(ports: Ints, nic_ports: int, full: Floats) -> Iterator[Phase]:
    """Recursive halving and doubling: to the domain whose number differs in one bit, half the bytes in each further step."""
    count = len(ports)
    whole = 1 << (count.bit_length() - 1)
    every = np.arange(whole)
    steps = whole.bit_length() - 1
    for bit in range(steps):
        part = 0.5 ** (bit + 1) / (1 - 0.5**steps)
        yield _between(ports, every, every ^ (1 << bit), 1.0, part)


PATTERNS: Mapping[str, Callable[[Ints, int, Floats], Iterator[Phase]]] = {
    "ring": ring,
    "tree": tree,
    "peers": peers,
    "stages": stages,
    "neighbors": neighbors,
    "halving": halving,
}


def _shift(ports: Ints, step: int, weight: float, full: Floats | None = None) -> Phase:
    every = np.arange(len(ports))
    target = (every + step) % len(ports)
    phase = _between(ports, every, target, weight, 1.0)
    if full is None:
        return phase
    return replace(phase, weight=phase.weight * np.repeat(np.minimum(full, full[target]), ports.shape[1]))


def _between(ports: Ints, sender: Ints, receiver: Ints, weight: float, part: float) -> Phase:
    source, target = ports[sender].ravel(), ports[receiver].ravel()
    return Phase(source, target, np.full(len(source), weight), part)


def _double_tree(count: int) -> Iterator[tuple[Ints, Ints]]:
    """(children, their parents) of two trees in which the leaves of one are inside the other (NCCL src/graph/trees.cc):
    the second is the first mirrored, or shifted by one where the number is odd."""
    child = np.arange(1, count)
    parent = _parents(count)
    yield child, parent
    if count % 2:
        yield (child + 1) % count, (parent + 1) % count
    else:
        yield count - 1 - child, count - 1 - parent


def _parents(count: int) -> Ints:
    """Parent of every rank but the root, 0: odd ranks are leaves, even ones lie on the level of their lowest bit."""
    rank = np.arange(1, count)
    low = rank & -rank
    up = (rank ^ low) | (low << 1)
    return np.where(up >= count, rank ^ low, up)
