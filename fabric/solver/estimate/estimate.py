"""The time of a collective on a plan, size by size, with what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, nearest, show
from fabric.base.schemas.models import Amount, Count, Share, Text, described, enum_of
from fabric.model.plan.summary import in_service
from fabric.solver import Floats
from fabric.solver.collective import ALLTOALL, COLLECTIVES, ROOTED, SENDRECV, collective_names
from fabric.solver.collectives import band, physics
from fabric.solver.collectives.algorithms import ALIASES, NEVER, Runs, monotone, run
from fabric.solver.collectives.band import BETWEEN_BRIDGES, spans_of
from fabric.solver.collectives.costs import PROTOCOLS, ideal_us
from fabric.solver.collectives.job import (
    DEFAULT_CTAS,
    UNLIMITED,
    Job,
    default_ctas,
    environment_of,
    joined,
    kind_of,
    nvlink_ranks,
)
from fabric.solver.collectives.physics import Physics
from fabric.solver.estimate import nic_bandwidth
from fabric.solver.estimate.nic_bandwidth import AvailableBandwidth
from fabric.solver.estimate.placement import Placement

ALGORITHMS = ("auto", "ring", "tree", "nvls", "nvls_tree", "hierarchical", "halving_doubling", "in_network", "p2p")
NVLS_TREE_DOMAINS = 4  # of measured runs: NVIDIA/nccl#1221, four servers of eight H100 at 320 GB/s
UNCHOSEN = ("p2p", "hierarchical", "halving_doubling", "in_network")  # NCCL has no choice here
CTAS = "GPUs: CTAs (NCCL_MIN_CTAS)"  # thread blocks that copy and reduce: a limit of the GPUs, not of the network
HOSTS = "hosts: TCP sockets"
SOCKETS = (
    "NCCL_SOCKET_NTHREADS and NCCL_NSOCKS_PERTHREAD matter, nothing measured decides how: the band has both ends; "
    "NCCL_SOCKET_IFNAME must name every NIC"
)
LATENCY_BOUND = 0.25  # twice the bandwidth of everything saves less than this share of the time: latency rules
PATTERN = {"ring": "ring", "tree": "tree", "nvls_tree": "tree", "in_network": "tree", "hierarchical": "ring"}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One size."""

    collective: Annotated[str, enum_of(collective_names())]
    ranks: Count
    bytes: Annotated[Count, described("as nccl-tests counts them")]
    algorithm: Text
    protocol: Text
    time_us: Amount
    algbw_GBps: Amount
    busbw_GBps: Amount
    bottleneck: str
    wire_bytes: Annotated[Count, described("that leave an NVLink domain over its NICs, in one direction")]
    ideal_time_us: Annotated[Amount, described("at line rate")]
    expected_us: Annotated[Amount | None, described("estimate of NCCL from its own tables; null if it has no choice")]
    fastest: Annotated[str, described("algorithm/protocol that would be the fastest")]
    p10_us: Annotated[Amount, described("10th percentile of the expected measured time")]
    p90_us: Annotated[Amount, described("90th percentile")]
    floor_busbw_GBps: Annotated[Amount, described("least of a healthy run: 95 % of published ones reach theirs")]
    bottleneck_share: Annotated[Share, described("of the time that twice the bottleneck alone would save; 0 for latency")]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Rows in the order of the sizes, and what they stand on."""

    job: Job
    placement: Placement
    supply: AvailableBandwidth
    rows: tuple[Row, ...]
    shares: dict[str, nic_bandwidth.Share]  # pattern → what the fabric leaves of the NICs
    notes: tuple[str, ...]

    @property
    def nic_GBps(self) -> float:
        """Line rate of all NICs of a domain, in GB/s."""
        return float(self.job.net_GBps) if self.placement.domains > 1 else 0.0


def estimate(
    collective: str,
    sizes: Sequence[int],
    supply: AvailableBandwidth,
    physics_: Physics,
    algorithm: str = "auto",
    protocol: str = "auto",
    *,
    ctas: int = 0,
) -> Estimate:
    """The time of every size. `ctas` are those of a ring, 0 for NCCL's default with the NICs of a server.

    Raises InputError where an algorithm cannot run that collective.
    """
    job, runs, times = timed(collective, sizes, supply, physics_, algorithm, protocol, ctas=ctas)
    limits = _limits(job, physics_, runs)
    ideal = ideal_us(job, ALIASES.get(algorithm, algorithm))
    spans = tuple(times * factor for factor in spans_of(job, physics_, algorithm, protocol))
    rows = tuple(_row(job, supply, runs, times, spans, limits, ideal=ideal, index=row) for row in range(len(sizes)))
    shares = supply.known if supply.placement.domains > 1 else {}
    all_notes = (*notes(supply, job, physics_), *run_notes(job, rows, ctas_of(supply)))
    return Estimate(
        job=job, placement=supply.placement, supply=supply, rows=rows, shares=dict(sorted(shares.items())), notes=all_notes
    )


def timed(
    collective: str,
    sizes: Sequence[int],
    supply: AvailableBandwidth,
    physics_: Physics,
    algorithm: str = "auto",
    protocol: str = "auto",
    *,
    ctas: int = 0,
) -> tuple[Job, Runs, Floats]:
    """(job, what NCCL runs, µs of every size). Raises as `estimate`."""
    ctas = ctas or ctas_of(supply)
    check(collective, algorithm, protocol)
    job = replace(job_of(collective, sizes, supply, algorithm), ctas=float(ctas))
    whole = None  # with failures: the job before them, which chooses, as running communicators keep their algorithm
    if supply.before is not None:
        whole = replace(job_of(collective, sizes, supply.before, algorithm), ctas=float(ctas))
    runs, times = monotone(job, physics_, algorithm, protocol, whole and whole.healthy())
    if not runs.keys or (times >= NEVER).any():
        _cannot(job, physics_, algorithm, protocol)
    if whole is not None:  # a failure never makes it faster
        times = np.maximum(times, monotone(whole, physics_, algorithm, protocol)[1])
    return job, runs, times


def job_of(collective: str, sizes: Sequence[int], supply: AvailableBandwidth, algorithm: str = "auto") -> Job:
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
        net_GBps=net,
        nic_GBps=nic,
        generation=physics.generations().index(gpu.generation),
        transport=physics.transports().index(transport_of(supply) if domains > 1 else "none"),
        environment=physics.transports().index(transport_of(supply)),
        **joined(gpu, placed.domain_gpus, nvlink_gpus(placed), placed.board_gpus),
        hosts=placed.domain_servers / placed.communicators,
        slot_GBps=placed.domain_gpus * gpu.nic_GBps if domains > 1 else UNLIMITED,
    )
    if domains == 1:
        return job
    limits_of = {
        "ring_share": "ring" if "ring" in job.spec.algorithms else "",
        "tree_share": "tree" if "tree" in job.spec.algorithms else "",
        "peers_share": job.spec.pattern,
        "halving_share": "halving" if algorithm == "halving_doubling" else "",
    }
    chosen: dict[str, Any] = {}
    for name, pattern in limits_of.items():
        if pattern:
            chosen[name] = supply.of(pattern).share
    first = next(pattern for pattern in limits_of.values() if pattern)
    return replace(job, hop_us=supply.of(first).hop_us, **chosen)


def ctas_of(supply: AvailableBandwidth) -> int:
    """CTAs of a ring by default, inside the limits of the transport's profile."""
    placed = supply.placement
    ports, found = placed.all_ports // placed.domain_servers, DEFAULT_CTAS
    if placed.domains > 1:
        found = default_ctas(ports // placed.nic_ports, supply.nic_GBps * placed.nic_ports * 8)
    return environment_of(transport_of(supply)).ctas(found)


def gpu_of(placed: Placement) -> physics.Gpu:
    """The GPU of the job's servers, its NVLink as the catalog states it."""
    server, both_directions = placed.server, placed.server.nvlink_gbytes_s
    name = server.gpu or physics.gpu_in(placed.model)
    return physics.gpu(name, both_directions / 2 if both_directions else None, server.nvlink_domain_gpus)


def nvlink_gpus(placed: Placement) -> int:
    """GPUs that NVLink joins: of the whole board or rack, or of a bridge, whose size the server states or the GPU's
    data sheet.

    Raises InputError for a domain of GPUs that have neither NVLink nor a bridge.
    """
    stated, gpu = placed.server.nvlink_domain_gpus, gpu_of(placed)
    if (stated or 1) > 1 and not gpu.nvlink_GBps:
        message = f"server {placed.model}: nvlink_domain_gpus is {stated}, but GPU {placed.server.gpu} has no NVLink"
        hint = "set `nvlink_gbytes_s` of the server, or remove `nvlink_domain_gpus`"
        raise InputError([Diagnostic("FAB174", Place(f"catalog.servers.{placed.model}"), message, hint)])
    bridge = stated or gpu.bridge_gpus or placed.board_gpus
    if bridge >= placed.server.gpus:
        return placed.board_gpus
    return int(np.unique(placed.gpu_ids[0] // bridge, return_counts=True)[1].max()) if placed.partial else bridge


def transport_of(supply: AvailableBandwidth) -> str:
    """The transport that the intent states, with the first EFA for GPUs before Hopper."""
    return physics.transport(supply.net.fabric.spec.transport, gpu_of(supply.placement).generation)


def check(collective: str, algorithm: str, protocol: str) -> None:
    """Raises InputError for words that are none."""
    report = Report()
    for option, word, valid_words in (
        ("--collective", collective, collective_names()),
        ("--algorithm", algorithm, (*ALGORITHMS, *ALIASES)),
        ("--protocol", protocol, ("auto", *PROTOCOLS)),
    ):
        if word not in valid_words:
            name = option.removeprefix("--")
            report.error("FAB174", Place(option), f"unknown {name} {show(word)}", nearest(word, valid_words))
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
        "network": {"net_GBps": job.net_GBps * 2, "slot_GBps": job.slot_GBps * 2},
        "NVLink": {"nvlink_GBps": job.nvlink_GBps * 2},
        CTAS: {"ctas": job.ctas * 2},
    }
    if job.slot_GBps < job.net_GBps:
        twice |= {"network": {"net_GBps": job.net_GBps * 2}, "PCIe": {"slot_GBps": job.slot_GBps * 2}}
    if environment_of(physics.transports()[int(job.transport)]).socket_GBps:
        twice[HOSTS] = {"hosts": job.hosts * 2}
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
    supply: AvailableBandwidth,
    runs: Runs,
    times: Floats,
    spans: tuple[Floats, ...],
    limits: list[tuple[str, float]],
    *,
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
        busbw_GBps=algbw * job.spec.busbw(ranks),
        bottleneck=_named(job, supply, limits[index][0], algorithm),
        wire_bytes=wire_bytes(job, algorithm, size),
        ideal_time_us=float(ideal[index]),
        expected_us=None if algorithm in UNCHOSEN else float(runs.expected[int(runs.chosen[index]), index]),
        fastest="/".join(runs.fastest(index)),
        p10_us=float(spans[0][index]),
        p90_us=float(spans[1][index]),
        floor_busbw_GBps=size / float(spans[2][index]) / 1e3 * job.spec.busbw(ranks),
        bottleneck_share=limits[index][1],
    )


def _named(job: Job, supply: AvailableBandwidth, limit: str, algorithm: str) -> str:
    """The link that limits the network's share, or the first NIC if the fabric carries their full rate."""
    if limit == "NVLink" and job.pcie:
        return "PCIe"
    if limit != "network":
        return limit
    link = supply.of(pattern_of(job.collective, algorithm)).link
    if link < 0:
        return f"server NICs, such as {supply.link_name(int(supply.net.ports.link[supply.placement.ports[0, 0]]))}"
    return supply.link_name(link)


def pattern_of(collective: str, algorithm: str) -> str:
    """Who sends to whom when an algorithm runs a collective: a name in `PATTERNS`."""
    return COLLECTIVES[collective].pattern or PATTERN.get(algorithm, "halving")


def wire_bytes(job: Job, algorithm: str, size: int) -> int:
    """Bytes that leave each NVLink domain over its NICs, one direction; the mean of the domains for trees."""
    ranks, domains, domain = float(job.ranks), float(job.domains), float(job.domain)
    if domains == 1:
        return 0
    if job.spec.family == ALLTOALL:
        return round(size * domain * (ranks - domain) / ranks)
    if job.spec.family in (SENDRECV, ROOTED) or algorithm == "in_network":
        return size
    if algorithm == "ring":
        return round(job.spec.passes * size * (ranks - 1) / ranks)
    if algorithm == "halving_doubling":
        whole = 1 << int(np.log2(domains))
        return round(2 * size * (whole - 1) / whole) + (2 * size if whole < domains else 0)
    return round(2 * size * (domains - 1) / domains)


def run_notes(job: Job, rows: Sequence[Row], default_ctas: int) -> tuple[str, ...]:
    """What of the run's settings has no effect, and what of its algorithms was measured on less."""
    result = []
    if job.ctas < default_ctas:
        result.append(
            f"{int(job.ctas)} CTAs are below NCCL's default of {default_ctas}, which NCCL_MAX_CTAS sets, not NCCL_MIN_CTAS"
        )
    if job.domains > NVLS_TREE_DOMAINS and any(row.algorithm == "nvls_tree" for row in rows):
        text = f"nvls_tree was measured on up to {NVLS_TREE_DOMAINS} NVLink domains, this job has {int(job.domains):,}"
        result.append(f"{text}: every further level of the tree is taken to cost as much as the second")
    return tuple(result)


def notes(supply: AvailableBandwidth, job: Job, physics_: Physics) -> tuple[str, ...]:
    """What the reader must know of how sure the figures are."""
    placed = supply.placement
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
    result += band.beyond(kind_of(job), int(job.ranks), nvlink_ranks(job), physics_.coverage)
    if profile := environment_of(transport_of(supply)).text:
        text = f"transport {transport_of(supply)}: jobs run with {profile}, as its documentation says"
        result.append(f"{text}; --algorithm and --protocol go before it")
    published = environment_of(kind).socket_GBps
    if published and (gpu.generation, kind) not in physics_.own:
        usual = physics_.values[f"socket_GBps.{kind}"]
        text = f"transport {kind}: NCCL over TCP sockets, at most {usual:.3g} GB/s from a server"
        result.append(f"{text}, in reports {published[0]:g} to {published[1]:g}; {SOCKETS}")
    if gpu.bridge_gpus and not placed.server.nvlink_domain_gpus:
        text = f"server model {placed.model} states no `nvlink_domain_gpus`: bridges of {gpu.bridge_gpus}"
        result.append(f"{text}, as {gpu.name.upper()} has them")
    if job.slots > 1:
        result.append(BETWEEN_BRIDGES)
    if placed.others:
        result.append(f"the job runs on {placed.model} servers only: {', '.join(placed.others)} not used")
    spec = supply.net.fabric.spec
    if active := in_service(spec.planes_active, spec.planes):
        result.append(f"in service are {active}")
    dead = placed.all_ports * spec.planes_active // spec.planes - placed.ports.shape[1]
    if dead > 0:
        attribute = (
            "is left out in every domain: its link is" if dead == 1 else "are left out in every domain: their links are"
        )
        result.append(f"{dead} of {placed.all_ports} NIC ports {attribute} down in one")
    return tuple(result)
