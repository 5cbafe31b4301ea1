"""What a fabric leaves of the NICs' bandwidth: who sends to whom in every algorithm, and how much of it the links carry.

Domains are in the order of the ranks. Port `i` of a domain sends to port `i` of another: rails do not mix, as NCCL's rings
and its PXN keep them. A pattern is phases that follow each other; weight 1 is what a port sends when it has nothing else
to do, so a network without bottlenecks carries every phase at the ports' own speed.

A last domain with fewer servers repeats its ports to the width of the others (`Placement.ports`). A ring and a tree pass as
many bytes through it as through the others; sends from GPU to GPU carry its share of a full domain's (`full`) only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

import numpy as np

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.rounding import ceil_div
from fabric.base.text import plural
from fabric.model.plan import KINDS
from fabric.solver import Floats, Ints, Network, Routes, walk
from fabric.solver.ecmp.flows import Flows, addresses, connections, queue_pairs, redraw
from fabric.solver.ecmp.paths import load_of, slowest_rate
from fabric.solver.ecmp.study import max_min
from fabric.solver.estimate.placement import Placement
from fabric.solver.network import routes
from fabric.solver.routing import MODES, SPRAY, STATIC

# --- patterns -------------------------------------------------------------------------------------------------
# Who sends to whom between the NVLink domains of a job: the traffic of every algorithm, port by port.
#
# Domains are in the order of the ranks. Port `i` of a domain sends to port `i` of another: rails do not mix, as NCCL's rings
# and its PXN keep them. A pattern is phases that follow each other; weight 1 is what a port sends when it has nothing else to
# do, so a network without bottlenecks carries every phase at the ports' own speed.
#
# A last domain with fewer servers repeats its ports to the width of the others (`Placement.ports`). A ring and a tree pass as
# many bytes through it as through the others; sends from GPU to GPU carry its share of a full domain's (`full`) only.

PEERS_AT_ONCE = 8  # concurrent peers of a rank in an alltoall (NCCL's p2p batches)
SAMPLES = 4  # rounds of an alltoall that are evaluated
MAX_FULL_FLOWS = 400_000  # above, fewer rounds and peers are evaluated


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
    steps = [range(first, min(first + at_once, others + 1)) for first in firsts]  # the last round may be shorter
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


# --- what the links carry of a pattern, and how far packets travel --------------------------------------------

DRAWS = 8  # draws of queue pair numbers; each is another run of the job
MAX_FLOWS = 1_500_000  # in all draws together
SWITCH_US = 0.8  # latency of a switch for which the catalog has none
CABLE_US_PER_M = 0.005  # light in glass
SAMPLED_PATHS = 20_000
MAX_DRAWN = 1024  # cached shares, a few hundred bytes each
_DRAWN: dict[tuple[str, bytes], list[tuple[float, int]]] = {}


@dataclass(frozen=True)
class Share:
    """What is left of the NICs for one pattern; 1: the fabric is no bottleneck."""

    share: float  # of the mean time over all draws
    worst: float
    best: float
    link: int  # limiting directed link of the median draw, -1 where the NICs limit
    hop_us: float  # mean extra latency of a path, compared with one over one switch


@dataclass(frozen=True, kw_only=True)
class AvailableBandwidth:
    """Answers for a job on a network; each pattern is looked at when first asked for."""

    net: Network
    route_table: Routes
    placement: Placement
    routing: str  # ecmp, adaptive, spray
    qps: int
    seed: int
    before: AvailableBandwidth | None = None  # without the failures: failed links do not improve a share by a more even hash
    groups: Ints | None = None  # domains of every group that runs the collective at once, [groups, domains]; None: one group

    def of(self, pattern: str) -> Share:
        """Raises InputError where ports of the job cannot reach each other."""
        if pattern not in self.known:
            self.known[pattern] = self._measure(pattern)
        return self.known[pattern]

    @cached_property
    def known(self) -> dict[str, Share]:
        """What was looked at so far."""
        return {}

    def link_name(self, link: int) -> str:
        """A directed link's name, made once: looking up the names of ports takes time."""
        if link not in self._names:
            self._names[link] = self.net.name(link)
        return self._names[link]

    @cached_property
    def _names(self) -> dict[int, str]:
        return {}

    @cached_property
    def nic_GBps(self) -> float:
        """Line rate of the slowest port that the job uses."""
        return float(self.net.capacity[self.net.ports.link[self.placement.ports]].min(initial=np.inf))

    @cached_property
    def domain_GBps(self) -> float:
        """Line rate of all ports of a domain, the least of the domains."""
        return float(self.net.capacity[self.net.ports.link[self.placement.ports]].sum(axis=1).min(initial=np.inf))

    def _measure(self, pattern: str) -> Share:
        found = self.draws(pattern)
        if self.before is not None:
            pairs = zip(found, self.before.draws(pattern), strict=False)
            found = [(min(now[0], then[0]), now[1] if now[1] >= 0 else then[1]) for now, then in pairs]
        order = sorted(range(len(found)), key=lambda at: found[at])
        mean = 1 / float(np.mean([1 / share for share, _ in found]))
        link = found[order[(len(found) - 1) // 2]][1]
        return Share(mean, found[order[0]][0], found[order[-1]][0], link, self._hop_us(self._phases(pattern)))

    def fair_shares(self, pattern: str) -> Floats:
        """Share of its NICs that each of several groups at once gets, max-min fair, in one draw, [groups].

        The flows of a group wait for each other, so a group has one rate; the least is the share of all together.
        """
        assert self.groups is not None
        time = np.zeros(len(self.groups))
        for phases in zip(*self._by_group(pattern), strict=True):
            links, loads = list[Ints](), list[Floats]()
            for at, phase in enumerate(phases):
                load, _ = load_of(self.net, self.route_table, redraw(self._flows(phase), self.seed + at), self.routing)
                links.append(np.flatnonzero(load))
                loads.append(load[links[-1]])
            group, alone = np.repeat(np.arange(len(links)), list(map(len, links))), np.ones(len(links))
            of_link, share = np.concatenate(links), np.concatenate(loads)
            time += phases[0].part / max_min(self.net.capacity, group, of_link, len(links), demand=alone, share=share)
        return 1 / time

    def beyond_leaf(self, pattern: str) -> float:
        """Share of a pattern's bytes that leave the sender's leaf; the others meet no oversubscription."""
        leaf, phases = self.net.ports.leaf, self._phases(pattern)
        away = [
            phase.weight @ (leaf[phase.source] != leaf[phase.target]) * phase.part / phase.weight.sum() for phase in phases
        ]
        return float(sum(away) / sum(phase.part for phase in phases))

    def draws(self, pattern: str) -> list[tuple[float, int]]:
        """(share, the link that decides) of every draw of queue pair numbers; once per process for equal networks, as those
        of many designs of a sweep are."""
        key = (pattern, self._mark)
        if key not in _DRAWN:
            phases = self._phases(pattern)
            flows = sum(len(phase.source) for phase in phases) * self.qps
            count = 1 if self.routing in (SPRAY, STATIC) else int(np.clip(MAX_FLOWS // max(1, flows), 1, DRAWS))
            drawn = [self._draw(phases, self.seed + draw) for draw in range(count)]
            if len(_DRAWN) >= MAX_DRAWN:
                _DRAWN.clear()
            _DRAWN[key] = drawn
        return _DRAWN[key]

    @cached_property
    def _mark(self) -> bytes:
        """Digest of all that the shares depend on: links, ports and addresses, where the job is, how traffic is spread."""
        net, placed = self.net, self.placement
        of_net = (net.tail, net.head, net.level, net.alive, net.capacity, net.fabric.links.kind)
        of_ports = (net.ports.link, net.ports.leaf, net.ports.server, addresses(net))
        of_job = (placed.ports, placed.full, np.empty(0) if self.groups is None else self.groups)
        balancing = net.fabric.spec.underlay.load_balancing.seed
        engines = net.fabric.spec.infiniband.routing
        spread = (placed.nic_ports, self.groups is None, self.routing, engines, self.qps, self.seed, balancing)
        mark = sha256(repr(spread).encode())
        for column in (*of_net, *of_ports, *of_job):
            mark.update(f"{column.dtype}{column.shape}".encode())
            mark.update(np.ascontiguousarray(column).tobytes())
        return mark.digest()

    def _phases(self, pattern: str) -> list[Phase]:
        ports, nic_ports = self.placement.ports, self.placement.nic_ports
        full = self.placement.full
        if self.groups is None:
            return list(PATTERNS[pattern](ports, nic_ports, full))
        return [together(parts) for parts in zip(*self._by_group(pattern), strict=True)]

    def _by_group(self, pattern: str) -> list[list[Phase]]:
        """The phases of every group."""
        ports, full, nic_ports = self.placement.ports, self.placement.full, self.placement.nic_ports
        assert self.groups is not None
        return [list(PATTERNS[pattern](ports[rows], nic_ports, full[rows])) for rows in self.groups]

    def _draw(self, phases: list[Phase], seed: int) -> tuple[float, int]:
        """(share over all phases, the link that costs the most) with one set of queue pair numbers."""
        time, slowest = 0.0, (0.0, -1)
        for phase in phases:
            share, link = self._phase(phase, seed)
            time += phase.part / share
            if link >= 0 and phase.part / share > slowest[0]:
                slowest = (phase.part / share, link)
        return 1 / time, slowest[1]

    def _phase(self, phase: Phase, seed: int) -> tuple[float, int]:
        flows = redraw(self._flows(phase), seed)
        loads, lost = load_of(self.net, self.route_table, flows, self.routing)
        if lost.any():
            flow = int(np.flatnonzero(lost)[0])
            names = [
                self.net.fabric.devices[int(self.net.ports.server[end[flow]])].name
                for end in (flows.source_port, flows.target_port)
            ]
            message = f"the job's servers {names[0]} and {names[1]} cannot reach each other on every rail"
            raise InputError(
                [Diagnostic("FAB171", Place("--fail"), message, "remove a --fail, or use other servers with --placement")]
            )
        share, link = slowest_rate(self.net, loads)
        return (1.0, -1) if share >= 1 - 1e-9 else (share, link)

    def _flows(self, phase: Phase) -> Flows:
        """The queue pairs of a phase, made once for all draws."""
        if id(phase) not in self._made:
            flows = connections(phase.source, phase.target, phase.weight * self._speed(phase))
            self._made[id(phase)] = phase, queue_pairs(flows, self.qps)
        return self._made[id(phase)][1]

    @cached_property
    def _made(self) -> dict[int, tuple[Phase, Flows]]:
        return {}

    def _speed(self, phase: Phase) -> Floats:
        """GB/s of the slower port of each flow: what it would send if the fabric never limited it."""
        capacity = self.net.capacity[self.net.ports.link]
        return np.minimum(capacity[phase.source], capacity[phase.target])

    def _hop_us(self, phases: list[Phase]) -> float:
        """How much longer than over one switch the paths are, in the mean: more switches, longer cables."""
        source = np.concatenate([phase.source for phase in phases])
        target = np.concatenate([phase.target for phase in phases])
        step = max(1, len(source) // SAMPLED_PATHS)
        leaf = self.net.ports.leaf
        hops = walk(self.route_table, leaf[source[::step]], leaf[target[::step]], lambda at, count, flow: flow % count)
        link = hops[hops >= 0]
        return float(self._link_us[link % self.net.links].sum() + self._switch_us[self.net.head[link]].sum()) / max(
            1, len(hops)
        )

    @cached_property
    def _link_us(self) -> Floats:
        lengths = self.net.fabric.spec.length_m
        by_kind = np.array([lengths.get(kind, 0) or 0 for kind in KINDS], dtype=np.float64)
        found: Floats = by_kind[self.net.fabric.links.kind] * CABLE_US_PER_M
        return found

    @cached_property
    def _switch_us(self) -> Floats:
        """Latency of every device, by the catalog where it knows it."""
        spec = self.net.fabric.spec
        tiers = (None, spec.leaf.model, spec.spine.model, spec.core.model)
        by_level = [(model.latency_ns or SWITCH_US * 1e3) / 1e3 if model else 0.0 for model in tiers]
        return np.array(by_level)[self.net.level]


def routing_words(routing: str, queue_pairs: int) -> str:
    """`ECMP by hash, 4 queue pairs per connection`."""
    return f"{MODES[routing].words}, {plural(queue_pairs, 'queue pair')} per connection"


def supply(
    net: Network, placement: Placement, routing: str, qps: int, seed: int, before: AvailableBandwidth | None = None
) -> AvailableBandwidth:
    """What the network leaves for a job's traffic, or for that of several jobs or communicators at once.

    Raises InputError for a mode that the fabric cannot have.
    """
    if routing == STATIC and net.fabric.spec.ethernet:
        message = f"fabric '{net.fabric.name}': expected a routing mode of Ethernet, got static"
        raise InputError([Diagnostic("FAB171", Place("--routing"), message, "subnet managers of InfiniBand route so")])
    groups = None
    if placement.concurrent > 1:
        groups = np.arange(len(placement.ports)).reshape(placement.concurrent, placement.domains)
    return AvailableBandwidth(
        net=net,
        route_table=routes(net),
        placement=placement,
        routing=routing,
        qps=qps,
        seed=seed,
        before=before,
        groups=groups,
    )
