"""The time of a collective on a plan, size by size, with what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabric.diagnostics import Place, Report, nearest, show
from fabric.solver import Floats
from fabric.solver.collectives import band, physics
from fabric.solver.collectives.choice import ALIASES, NEVER, Runs, monotone, run
from fabric.solver.collectives.costs import GATHERS, PROTOCOLS, ROOTED
from fabric.solver.collectives.coverage import FAMILY, Kind
from fabric.solver.collectives.job import DEFAULT_CTAS, UNLIMITED, Job, board, default_ctas
from fabric.solver.collectives.physics import Physics
from fabric.solver.estimate.placement import Placement
from fabric.solver.estimate.supply import Share, Supply
from fabric.solver.measured.tables import COLLECTIVES, busbw_factor

ALGORITHMS = ("auto", "ring", "tree", "nvls", "nvls_tree", "hierarchical", "halving_doubling", "in_network", "p2p")
UNCHOSEN = ("p2p", "hierarchical", "halving_doubling", "in_network")  # NCCL has no choice here
OWN_SPREAD = 0.6  # 90th percentile of the error after a calibration with three rows over that before, docs/accuracy.md
OWN_REACH = 10  # times the ranks of the largest run of a calibration, where the band is narrower
CTAS = "GPUs: CTAs (NCCL_MIN_CTAS)"  # thread blocks that copy and reduce: a limit of the GPUs, not of the network
LATENCY_BOUND = 0.25  # twice the bandwidth of everything saves less than this share of the time: latency rules
PATTERN = {"ring": "ring", "tree": "tree", "nvls_tree": "tree", "in_network": "tree", "hierarchical": "ring"}


@dataclass(frozen=True)
class Row:
    """One size. `wire_bytes` leave each NVLink domain over its NICs, in one direction."""

    collective: str
    ranks: int
    bytes: int
    algorithm: str
    protocol: str
    time_us: float
    algbw_GBps: float
    busbw_GBps: float
    bottleneck: str
    wire_bytes: int
    ideal_time_us: float
    expected_us: float | None  # NCCL's own estimate, by which it chooses; None where it has no choice
    fastest: str  # algorithm/protocol that would be the fastest here
    p10_us: float  # a tenth of measured times is expected below
    p90_us: float  # a tenth is expected above
    bottleneck_share: float  # of the time that twice the bottleneck alone would save; 0 for latency


@dataclass(frozen=True)
class Estimate:
    """Rows in the order of the sizes, and what they stand on."""

    job: Job
    placement: Placement
    supply: Supply
    rows: tuple[Row, ...]
    shares: dict[str, Share]  # pattern → what the fabric leaves of the NICs
    notes: tuple[str, ...]

    @property
    def nic_GBps(self) -> float:
        """Line rate of all NICs of a domain, in GB/s."""
        return float(self.job.net_GBps) if self.placement.domains > 1 else 0.0


def estimate(
    collective: str,
    sizes: Sequence[int],
    supply: Supply,
    physics_: Physics,
    algorithm: str = "auto",
    protocol: str = "auto",
    ctas: int = 0,
) -> Estimate:
    """The time of every size. `ctas` are those of a ring, 0 for NCCL's default with the NICs of a server.

    Raises InputError where an algorithm cannot run that collective.
    """
    job, runs, times = timed(collective, sizes, supply, physics_, algorithm, protocol, ctas)
    limits = _limits(job, physics_, runs)
    ideal = ideal_us(job, algorithm)
    low, high = band_of(job, physics_)
    spans = times * low, times * high
    rows = tuple(_row(job, supply, runs, times, spans, limits, ideal, row) for row in range(len(sizes)))
    shares = supply.known if supply.placement.domains > 1 else {}
    return Estimate(job, supply.placement, supply, rows, dict(sorted(shares.items())), notes(supply.placement, job, physics_))


def timed(
    collective: str,
    sizes: Sequence[int],
    supply: Supply,
    physics_: Physics,
    algorithm: str = "auto",
    protocol: str = "auto",
    ctas: int = 0,
) -> tuple[Job, Runs, Floats]:
    """(job, what NCCL runs, µs of every size). Raises as `estimate`."""
    ctas = ctas or ctas_of(supply)
    job = replace(job_of(collective, sizes, supply, algorithm), ctas=float(ctas))
    check(job, algorithm, protocol)
    whole = None  # with failures: the job before them, which chooses, as running communicators keep their algorithm
    if supply.before is not None:
        whole = replace(job_of(collective, sizes, supply.before, algorithm), ctas=float(ctas))
    runs, times = monotone(job, physics_, algorithm, protocol, whole and whole.healthy())
    if not runs.keys or (times >= NEVER).any():
        _cannot(job, physics_, algorithm, protocol)
    if whole is not None:  # a failure never makes it faster
        times = np.maximum(times, monotone(whole, physics_, algorithm, protocol)[1])
    return job, runs, times


def kind_of(job: Job) -> Kind:
    """GPU generation, transport and family of a job."""
    return Kind(physics.generations()[int(job.generation)], physics.transports()[int(job.transport)], FAMILY[job.collective])


def band_of(job: Job, physics_: Physics) -> tuple[Floats, Floats]:
    """(10th, 90th percentile of measured / estimated time), each [sizes of the job]."""
    kind, ranks = kind_of(job), int(job.ranks)
    measured = ranks <= OWN_REACH * physics_.own.get((kind.generation, kind.transport), 0)
    own = OWN_SPREAD if measured else 1.0
    return band.shipped().factors(kind, np.asarray(job.bytes), ranks, int(job.domain), physics_.coverage, own)


def job_of(collective: str, sizes: Sequence[int], supply: Supply, algorithm: str = "auto") -> Job:
    """What the model of collectives is asked."""
    placed = supply.placement
    gpu = gpu_of(placed)
    domains = placed.domains
    net = supply.domain_GBps if domains > 1 else UNLIMITED
    nic = supply.nic_GBps * placed.nic_ports if domains > 1 else UNLIMITED
    job = Job(
        collective=collective,
        bytes=np.asarray(sizes, dtype=np.float64),
        ranks=float(placed.gpus),
        domain=float(placed.domain_gpus),
        domains=float(domains),
        nvlink_GBps=gpu.nvlink_GBps or gpu.pcie_GBps,
        pcie=not gpu.nvlink_GBps,
        net_GBps=net,
        nic_GBps=nic,
        generation=physics.generations().index(gpu.generation),
        transport=physics.transports().index(transport_of(supply) if domains > 1 else "none"),
        **board(gpu, placed.board_gpus),
    )
    if domains == 1:
        return job
    limits_of = {
        "ring_share": "ring" if collective not in ("alltoall", "sendrecv") else "",
        "tree_share": "tree" if collective == "all_reduce" else "",
        "peers_share": {"alltoall": "peers", "sendrecv": "neighbors"}.get(collective, ""),
        "halving_share": "halving" if algorithm == "halving_doubling" else "",
    }
    chosen: dict[str, Any] = {}
    for name, pattern in limits_of.items():
        if pattern:
            chosen[name] = supply.of(pattern).share
    first = next(pattern for pattern in limits_of.values() if pattern)
    return replace(job, hop_us=supply.of(first).hop_us, **chosen)


def ctas_of(supply: Supply) -> int:
    """CTAs of a ring by default."""
    placed = supply.placement
    ports = placed.all_ports // placed.domain_servers
    return (
        default_ctas(ports // placed.nic_ports, supply.nic_GBps * placed.nic_ports * 8)
        if placed.domains > 1
        else DEFAULT_CTAS
    )


def gpu_of(placed: Placement) -> physics.Gpu:
    """The GPU of the job's servers, its NVLink as the catalog states it."""
    both_directions = placed.server.nvlink_gbytes_s
    return physics.gpu(placed.server.gpu or physics.gpu_in(placed.model), both_directions / 2 if both_directions else None)


def transport_of(supply: Supply) -> str:
    """The transport that the intent states, with the first EFA for GPUs before Hopper."""
    return physics.transport(supply.net.fabric.spec.transport, gpu_of(supply.placement).generation)


def check(job: Job, algorithm: str, protocol: str) -> None:
    """Raises InputError for words that are none."""
    report = Report()
    for option, word, known in (
        ("--collective", job.collective, COLLECTIVES),
        ("--algorithm", algorithm, (*ALGORITHMS, *ALIASES)),
        ("--protocol", protocol, ("auto", *PROTOCOLS)),
    ):
        if word not in known:
            name = option.removeprefix("--")
            report.error("FAB174", Place(option), f"unknown {name} {show(word)}", nearest(word, known))
    report.raise_errors()


def _cannot(job: Job, physics_: Physics, algorithm: str, protocol: str) -> None:
    """Raises InputError with what can run this collective here: with the algorithm asked for, else of all."""
    report, shown = Report(), algorithm if protocol == "auto" else f"{algorithm}/{protocol}"
    where = "inside one NVLink domain" if job.domains == 1 else f"over {int(job.domains)} NVLink domains"
    able = [name for name in PROTOCOLS if _can(job, physics_, algorithm, name)]
    if protocol != "auto" and able:
        hint = f"{algorithm} runs {job.collective} here with --protocol {' or '.join(able)}"
    else:
        able = [name for name in ALGORITHMS[1:] if _can(job, physics_, name, "auto")]
        hint = f"algorithms available for {job.collective} in this job: {', '.join(able)}"
    report.error("FAB174", Place("--algorithm"), f"{shown} cannot run {job.collective} {where}", hint)
    report.raise_errors()


def _can(job: Job, physics_: Physics, algorithm: str, protocol: str) -> bool:
    found = run(job, physics_, algorithm, protocol)
    return bool(found.keys) and not (found.time_us >= NEVER).any()


def _limits(job: Job, physics_: Physics, runs: Runs) -> list[tuple[str, float]]:
    """Bottleneck per row: latency if twice the bandwidth of everything would save little, else the resource
    whose doubling alone saves the most; with the share of the time that it saves."""
    twice = {
        "network": {"net_GBps": job.net_GBps * 2},
        "NVLink": {"nvlink_GBps": job.nvlink_GBps * 2},
        CTAS: {"ctas": job.ctas * 2},
    }
    every = {name: value for change in twice.values() for name, value in change.items()}
    times = {name: _as_chosen(replace(job, **change), physics_, runs) for name, change in twice.items()}
    before, best = _as_chosen(job, physics_, runs), _as_chosen(replace(job, **every), physics_, runs)
    limits = []
    for row in range(len(before)):
        name = min(times, key=lambda name: times[name][row])
        latency = best[row] > before[row] * (1 - LATENCY_BOUND)
        limits.append(("latency", 0.0) if latency else (name, max(0.0, 1 - float(times[name][row] / before[row]))))
    return limits


def _as_chosen(job: Job, physics_: Physics, runs: Runs) -> Floats:
    """µs on another network, with the algorithms that were chosen before."""
    found = np.empty(len(job.bytes))
    for key in sorted({runs.key(at) for at in range(len(found))}):
        mine = [at for at in range(len(found)) if runs.key(at) == key]
        found[mine] = run(job, physics_, *key).time_us[mine]
    return found


def _row(
    job: Job,
    supply: Supply,
    runs: Runs,
    times: Floats,
    spans: tuple[Floats, Floats],
    limits: list[tuple[str, float]],
    ideal: Floats,
    index: int,
) -> Row:
    algorithm, protocol = runs.key(index)
    size, time, ranks = int(job.bytes[index]), float(times[index]), int(job.ranks)
    algbw = size / time / 1e3
    return Row(
        collective=job.collective,
        ranks=ranks,
        bytes=size,
        algorithm=algorithm,
        protocol=protocol,
        time_us=time,
        algbw_GBps=algbw,
        busbw_GBps=algbw * busbw_factor(job.collective, ranks),
        bottleneck=_named(job, supply, limits[index][0], algorithm),
        wire_bytes=wire_bytes(job, algorithm, size),
        ideal_time_us=float(ideal[index]),
        expected_us=None if algorithm in UNCHOSEN else float(runs.expected[int(runs.chosen[index]), index]),
        fastest="/".join(runs.fastest(index)),
        p10_us=float(spans[0][index]),
        p90_us=float(spans[1][index]),
        bottleneck_share=limits[index][1],
    )


def _named(job: Job, supply: Supply, limit: str, algorithm: str) -> str:
    """The link that limits the network's share, or the first NIC if the fabric carries their full rate."""
    if limit != "network":
        return limit
    link = supply.of(pattern_of(job.collective, algorithm)).link
    if link < 0:
        return f"server NICs, such as {supply.link_name(int(supply.net.ports.link[supply.placement.ports[0, 0]]))}"
    return supply.link_name(link)


def pattern_of(collective: str, algorithm: str) -> str:
    """Who sends to whom when an algorithm runs a collective: a name in `PATTERNS`."""
    return {"alltoall": "peers", "sendrecv": "neighbors"}.get(collective) or PATTERN.get(algorithm, "halving")


def wire_bytes(job: Job, algorithm: str, size: int) -> int:
    """Bytes that leave each NVLink domain over its NICs, one direction; the mean of the domains for trees."""
    ranks, domains, domain = float(job.ranks), float(job.domains), float(job.domain)
    if domains == 1:
        return 0
    if job.collective == "alltoall":
        return round(size * domain * (ranks - domain) / ranks)
    if job.collective == "sendrecv" or job.collective in ROOTED:
        return size
    if job.collective in GATHERS:
        return round(size * (ranks - 1) / ranks)
    if algorithm == "in_network":
        return size
    if algorithm == "ring":
        return round(2 * size * (ranks - 1) / ranks)
    if algorithm == "halving_doubling":
        whole = 1 << int(np.log2(domains))
        return round(2 * size * (whole - 1) / whole) + (2 * size if whole < domains else 0)
    return round(2 * size * (domains - 1) / domains)


def ideal_us(job: Job, algorithm: str) -> Floats:
    """Least time that the bytes allow: NVLink and NICs at line rate, no latency, the fabric without bottlenecks.

    An all_reduce between domains must move 2 (N - 1) / N S out of each (Patarasuk and Yuan 2009, with a domain as one
    node), S where switches reduce; inside one, a switch that reduces takes S and each GPU's part of the result.
    """
    size, n, g, domains = np.asarray(job.bytes), float(job.ranks), float(job.domain), float(job.domains)
    net = float(job.net_GBps) if domains > 1 else np.inf
    per_gpu = net / g if domains > 1 else 0.0
    reach = float(job.nvlink_GBps) + per_gpu
    if job.collective == "all_reduce":
        inside = 2 * (g - 1) / g
        inside = min(inside, 1 + 1 / g) if job.nvls else inside
        outside = 1.0 if ALIASES.get(algorithm, algorithm) == "in_network" else 2 * (domains - 1) / domains
        bound = max(inside / reach, outside / net if domains > 1 else 0.0)
    elif job.collective in GATHERS:
        bound = max((n - 1) / n / reach, (domains - 1) / domains / net if domains > 1 else 0.0)
    elif job.collective in ROOTED:
        bound = max(1 / reach, 1 / net if domains > 1 else 0.0)
    elif job.collective == "alltoall":
        bound = max((g - 1) / n / float(job.nvlink_GBps), (n - g) / n / per_gpu if domains > 1 else 0.0)
    else:
        bound = 1 / per_gpu if domains > 1 else 1 / float(job.nvlink_GBps)
    times: Floats = size * bound / 1e3
    return times


def notes(placed: Placement, job: Job, physics_: Physics) -> tuple[str, ...]:
    """What the reader must know of how sure the figures are."""
    gpu = gpu_of(placed)
    result = []
    if not placed.server.gpu:
        result.append(f"server model {placed.model} states no `gpu`: taken for {gpu.name.upper()}")
    elif not gpu.known:
        result.append(f"GPU {placed.server.gpu} was never measured: predicted as its nearest relative, {gpu.name.upper()}")
    kind = physics.transports()[int(job.transport)]
    for attribute, name in (("GPU generation", gpu.generation), ("transport", kind)):
        if physics_.measured and not physics_.measured.get(name) and name != "none":
            result.append(f"no measured table has {attribute} {name}: its parameters are first values, from its relatives")
    result += band.beyond(kind_of(job), int(job.ranks), physics_.coverage)
    if placed.others:
        result.append(f"the job runs on {placed.model} servers only: {', '.join(placed.others)} not used")
    dead = placed.all_ports - placed.ports.shape[1]
    if dead:
        attribute = (
            "is left out in every domain: its link is" if dead == 1 else "are left out in every domain: their links are"
        )
        result.append(f"{dead} of {placed.all_ports} NIC ports {attribute} down in one")
    return tuple(result)
