"""The utilisation of a fabric by a mix of jobs, for each placement, with the bandwidth that jobs at the same time get.

Servers of a job in different NVLink domains exchange equal amounts from each NIC port to the same port, as in an all-to-all.
Switches split equally over their next hops, and the share of the NIC speed that a job keeps is max-min fair among the jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from scipy.sparse import coo_array

from fabric.base.schemas.models import Amount, Count, Document, Share, described, document, enum_of, extended, json_key
from fabric.base.text import aligned, counted, listed, percent, plural
from fabric.model.plan import FabricPlan
from fabric.solver import Floats, Ints, PortNamer, Routes, unnamed
from fabric.solver.ecmp.study import max_min
from fabric.solver.network import network, routes, spread
from fabric.solver.utilisation.jobs import Mix
from fabric.solver.utilisation.simulate import (
    DOMAIN,
    FABRIC,
    POD,
    POLICIES,
    UNIT,
    Cluster,
    Run,
    State,
    cluster,
    recorded,
    saturated,
)

# --- bandwidth ------------------------------------------------------------------------------------------------
# Bandwidth that jobs at the same time get from the fabric.
#
# Servers of a job in different NVLink domains exchange equal amounts from each NIC port to the same port, as in an
# all-to-all. Switches split equally over their next hops, and the share of the NIC speed that a job keeps is max-min fair
# among the jobs.


@dataclass(frozen=True)
class Shares:
    """Of the NIC bandwidth of all servers."""

    used: Annotated[Share, described("of all NICs, by jobs over the network")]
    contention: Annotated[Share, described("that jobs do not get because links are shared")]
    inside: Annotated[Share, described("of jobs in one NVLink domain, which do not use the network")]
    crossing: Annotated[Share, described("of the jobs in several domains, those in several units")]


def shares(cluster: Cluster, route_table: Routes, states: Sequence[State]) -> Shares:
    """Mean over states, each with the same weight."""
    known: dict[bytes, tuple[Ints, Floats]] = {}
    rows = [_of(cluster, route_table, state, known) for state in states if state.jobs]
    if not rows:
        return Shares(0.0, 0.0, 0.0, 0.0)
    used, lost, inside, crossing, spanning = (sum(row[at] for row in rows) for at in range(5))
    whole = cluster.gpus * len(states)
    return Shares(used / whole, lost / whole, inside / whole, crossing / spanning if spanning else 0.0)


def _of(
    cluster: Cluster, route_table: Routes, state: State, loads: dict[bytes, tuple[Ints, Floats]]
) -> tuple[float, float, float, int, int]:
    """(GPUs by the share that they use, by the share that is lost, GPUs in one domain; jobs in several units, in several
    domains). `known`: loads of jobs by their servers."""
    domain, unit = cluster.domain, cluster.unit
    spanning = [(gpus, servers) for gpus, servers in state.jobs if len(np.unique(domain[servers])) > 1]
    inside = sum(gpus for gpus, _ in state.jobs) - sum(gpus for gpus, _ in spanning)
    crossing = sum(len(np.unique(unit[servers])) > 1 for _, servers in spanning)
    for _, servers in spanning:
        if servers.tobytes() not in loads:
            loads[servers.tobytes()] = _load(cluster, route_table, servers)
    rates = _rates(route_table, [loads[servers.tobytes()] for _, servers in spanning])
    gpus = np.array([gpus for gpus, _ in spanning], float)
    return float(gpus @ rates), float(gpus @ (1 - rates)), float(inside), crossing, len(spanning)


def _rates(route_table: Routes, loads: Sequence[tuple[Ints, Floats]]) -> Floats:
    """Share of the NIC speed that each job keeps. Links that hold the full demand of all jobs limit none."""
    if not loads:
        return np.empty(0)
    flow = np.repeat(np.arange(len(loads)), [len(links) for links, _ in loads])
    link, part = np.concatenate([links for links, _ in loads]), np.concatenate([amount for _, amount in loads])
    capacity = route_table.net.capacity
    tight = (np.bincount(link, part, len(capacity)) > capacity * (1 + 1e-12))[link]
    return max_min(capacity, flow[tight], link[tight], len(loads), demand=np.ones(len(loads)), share=part[tight])


def _load(cluster: Cluster, route_table: Routes, servers: Ints) -> tuple[Ints, Floats]:
    """(directed links, GB/s on each) when the busiest port of a job sends at full speed."""
    net, placement = route_table.net, cluster.placement
    width = placement.ports.shape[1] // placement.domain_servers
    domain, place = cluster.domain[servers], servers % placement.domain_servers
    ports = placement.ports[domain[:, None], place[:, None] * width + np.arange(width)]
    leaf, speed = net.ports.leaf[ports], net.capacity[net.ports.link[ports]]
    _, row = np.unique(domain, return_inverse=True)
    partners = len(servers) - np.bincount(row.ravel()).min()
    source, target, amount = [], [], []
    for at in range(width):
        names, column = np.unique(leaf[:, at], return_inverse=True)
        if len(names) == 1:  # over one switch
            continue
        counts = coo_array((np.ones(len(servers)), (row.ravel(), column.ravel()))).tocsr()
        every = np.asarray(counts.sum(axis=0)).ravel()
        pairs = (np.outer(every, every) - (counts.T @ counts).toarray()) * float(speed[:, at].min()) / partners
        np.fill_diagonal(pairs, 0.0)
        sender, receiver = np.nonzero(pairs)
        source.append(names[sender])
        target.append(names[receiver])
        amount.append(pairs[sender, receiver])
    if not source:
        return np.empty(0, np.int64), np.empty(0)
    load, _ = spread(route_table, np.concatenate(source), np.concatenate(target), np.concatenate(amount))
    links = np.flatnonzero(load)
    return links, load[links]


# --- utilisation ----------------------------------------------------------------------------------------------

HOURS_PER_YEAR = 8766.0
SERVER = "server"
LEVELS = (DOMAIN, UNIT, POD, FABRIC)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Jobs of one size."""

    gpus: Annotated[Count, described("of one job")]
    jobs: Count
    gpu_hours: Annotated[Share, described("share of those of all jobs that fit")]
    servers: Annotated[Count, described("of one job; 0: a part of one")]
    unused_gpus: Annotated[Count, described("of its servers")]
    level: Annotated[str, enum_of((SERVER, *LEVELS, "")), described("the smallest that holds it; empty: none")]
    left_gpus: Annotated[Count, described("of the largest group of that level when it is full of jobs of this size")]


@dataclass(frozen=True, kw_only=True)
class Use:
    """Shares of all GPUs, which add up to 1, and of the NIC bandwidth, over the time of a run."""

    placement: Annotated[str, enum_of(POLICIES)]
    used: Share
    in_part: Annotated[Share, described("free GPUs of servers that jobs use")]
    waiting: Annotated[Share, described("free servers while jobs wait")]
    no_demand: Annotated[Share, described("free servers while no job waits")]
    bandwidth: Shares
    wait_hours: Annotated[Amount, described("mean time that a job waits")]
    jobs: Annotated[Count, described("that started")]

    @property
    def idle_gpu_share(self) -> float:
        """Of GPUs that no job uses although jobs wait."""
        return self.in_part + self.waiting


@dataclass(frozen=True, kw_only=True)
class Utilisation:
    """A mix of jobs on a fabric."""

    fabric: str
    gpus: Count
    servers: Count
    server_gpus: Count
    levels: tuple[tuple[str, int, int], ...]  # (name, groups, servers of the largest)
    saturated: Annotated[bool, described("jobs always wait; else they come as recorded")]
    fits: Annotated[tuple[Fit, ...], described("jobs by size, the smallest first")]
    too_large: Annotated[Count, described("jobs of more GPUs than the fabric has; left out")]
    other_models: Annotated[tuple[str, ...], described("servers with GPUs that are left out, as jobs run on one model")]
    left_out: tuple[tuple[str, int], ...]  # (reason, jobs of the file)
    uses: tuple[Use, ...]

    def as_dict(self, gpu_hour: float | None = None, currency: str = "") -> dict[str, Any]:
        """The JSON document, with the cost of a GPU-hour."""
        hours = self.gpus * HOURS_PER_YEAR
        uses = [{**vars(use), "idle_gpu_hours_per_year": use.idle_gpu_share * hours} for use in self.uses]
        return document({**vars(self), "uses": uses, "gpu_hour": gpu_hour, "currency": currency}, UtilisationDocument)


class LevelDocument(Document):
    level: Annotated[str, enum_of(LEVELS)] = json_key(of=0)
    groups: Count = json_key(of=1)
    servers: Count = json_key("of the largest group", 2)


class LeftOutDocument(Document):
    reason: str = json_key(of=0)
    jobs: Count = json_key(of=1)


UseDocument = extended(Use, idle_gpu_hours_per_year=(Amount, json_key("while jobs wait")))
UtilisationDocument = extended(
    Utilisation,
    levels=(list[LevelDocument], json_key("groups of servers, the smallest first")),
    left_out=(list[LeftOutDocument], ...),
    uses=(list[UseDocument], json_key("shares of all GPUs and of the time")),  # type: ignore[valid-type]  # made at run time
    gpu_hour=(Amount | None, json_key("cost; null without prices")),
    currency=(str, ...),
)


def utilisation(
    fabric: FabricPlan,
    mix: Mix,
    placements: Sequence[str] = tuple(POLICIES),
    full: bool = False,
    seed: int = 0,
    port_name: PortNamer = unnamed,
) -> Utilisation:
    """The mix on a fabric.

    Args:
        placements: keys of POLICIES.
        full: jobs with recorded times are drawn at random into a queue that never ends, as those of a list always are.
        seed: of the draws.

    Raises:
        InputError: a fabric without GPUs.
    """
    ground = cluster(network(fabric, port_name))
    fits = tuple(_fit(ground, gpus, count, hours) for gpus, (count, hours) in mix.gpu_hours().items())
    total = sum(fit.gpu_hours for fit in fits if fit.level) or 1.0
    fitting = {fit.gpus for fit in fits if fit.level}
    held = replace(
        mix,
        sizes=tuple(size for size in mix.sizes if size.gpus in fitting),
        jobs=tuple(job for job in mix.jobs if job.gpus in fitting),
    )
    always = full or not mix.jobs
    return Utilisation(
        fabric=fabric.name,
        gpus=ground.gpus,
        servers=ground.servers,
        server_gpus=ground.server_gpus,
        levels=tuple(zip(ground.levels, ground.counts, ground.capacity, strict=True)),
        saturated=always,
        fits=tuple(replace(fit, gpu_hours=fit.gpu_hours / total if fit.level else 0.0) for fit in fits),
        too_large=sum(fit.jobs for fit in fits if not fit.level),
        other_models=ground.placement.others,
        left_out=mix.left_out,
        uses=tuple(_use(ground, held, name, always, seed) for name in placements) if fitting else (),
    )


def _fit(ground: Cluster, gpus: int, jobs: int, gpu_hours: float) -> Fit:
    servers, each = ground.servers_of(gpus), ground.server_gpus
    if servers <= 1:
        return Fit(
            gpus=gpus, jobs=jobs, gpu_hours=gpu_hours, servers=servers, unused_gpus=0, level=SERVER, left_gpus=each % gpus
        )
    level = ground.level(servers)
    if level is None:
        unused_gpus = servers * each - gpus
        return Fit(gpus=gpus, jobs=jobs, gpu_hours=gpu_hours, servers=servers, unused_gpus=unused_gpus, level="", left_gpus=0)
    left = ground.capacity[level] % servers * each
    return Fit(
        gpus=gpus,
        jobs=jobs,
        gpu_hours=gpu_hours,
        servers=servers,
        unused_gpus=servers * each - gpus,
        level=ground.levels[level],
        left_gpus=left,
    )


def _use(ground: Cluster, mix: Mix, placement: str, always: bool, seed: int) -> Use:
    run: Run = saturated(ground, mix, placement, seed) if always else recorded(ground, mix, placement)
    whole = ground.gpus * run.seconds or 1.0
    return Use(
        placement=placement,
        used=run.used / whole,
        in_part=run.in_part / whole,
        waiting=run.waiting / whole,
        no_demand=run.no_demand / whole,
        bandwidth=shares(ground, routes(ground.net), run.states),
        wait_hours=run.waited_s / 3600 / max(1, run.started),
        jobs=run.started,
    )


# --- Utilisation for a person ---------------------------------------------------------------------------------


def lines(result: Utilisation, gpu_hour: float | None = None, currency: str = "") -> list[str]:
    """The sizes, then one column per placement. No line ends.

    Args:
        gpu_hour: cost of one GPU-hour; None without money.
    """
    out = [_head(result), "", *_fits(result)]
    out += [f"{counted(count, 'job')} {reason} {_are(count)} left out" for reason, count in result.left_out]
    if result.too_large:
        out.append(f"{plural(result.too_large, 'job')} of more GPUs than the fabric has {_are(result.too_large)} left out")
    return [*out, "", *_uses(result, gpu_hour, currency)] if result.uses else out


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _head(result: Utilisation) -> str:
    levels = ", ".join(
        f"{plural(groups, name)} of {held:,}" for name, groups, held in result.levels if groups > 1 and held > 1
    )
    inside = f" in {levels}" if levels else ""
    others = f"; without {listed(result.other_models, 4)}" if result.other_models else ""
    return f"{result.gpus:,} GPUs, {plural(result.servers, 'server')}{inside}{others}"


def _fits(result: Utilisation) -> list[str]:
    head = ("GPUs of a job", "jobs", "of GPU-hours", "servers", "fits in", "left over")
    return aligned([_fit_cells(fit) for fit in result.fits], ">>>><<", head=head)


def _fit_cells(fit: Fit) -> tuple[str, ...]:
    left = f"{fit.left_gpus:,} GPUs of a full {fit.level}" if fit.left_gpus else ""
    unused = f"{fit.unused_gpus} GPUs of its servers" if fit.unused_gpus else ""
    return (
        *(f"{fit.gpus:,}", f"{fit.jobs:,}", percent(fit.gpu_hours) if fit.level else "-"),
        *(
            f"{fit.servers:,}" if fit.servers else "part",
            fit.level or "nothing",
            ", ".join(filter(None, (unused, left))) or "-",
        ),
    )


def _uses(result: Utilisation, gpu_hour: float | None, currency: str) -> list[str]:
    rows = [
        ("GPUs in use", *(percent(use.used) for use in result.uses)),
        ("idle in servers of jobs", *(percent(use.in_part) for use in result.uses)),
        ("idle while jobs wait", *(percent(use.waiting) for use in result.uses)),
    ]
    if not result.saturated:
        rows.append(("idle, no job waits", *(percent(use.no_demand) for use in result.uses)))
        rows.append(("mean wait of a job", *(f"{use.wait_hours:,.1f} h" for use in result.uses)))
    rows += [
        ("NIC bandwidth in use", *(percent(use.bandwidth.used) for use in result.uses)),
        ("  lost to shared links", *(percent(use.bandwidth.contention) for use in result.uses)),
        ("  of jobs in one domain", *(percent(use.bandwidth.inside) for use in result.uses)),
        ("jobs in several units", *(percent(use.bandwidth.crossing) for use in result.uses)),
        ("idle GPU-hours per year", *(f"{_idle(result, use):,.0f}" for use in result.uses)),
    ]
    if gpu_hour is not None:
        rows.append((f"  cost, {currency}", *(f"{_idle(result, use) * gpu_hour:,.0f}" for use in result.uses)))
    return aligned(rows, "<" + ">" * len(result.uses), head=("placement", *(use.placement for use in result.uses)))


def _idle(result: Utilisation, use: Use) -> float:
    """GPU-hours of a year that are idle although jobs wait."""
    return use.idle_gpu_share * result.gpus * HOURS_PER_YEAR
