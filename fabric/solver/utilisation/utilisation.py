"""The utilisation of a fabric by a mix of jobs, for each placement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from fabric.model.plan import FabricPlan
from fabric.solver import PortNamer, unnamed
from fabric.solver.network import network
from fabric.solver.routes import routes
from fabric.solver.utilisation.bandwidth import Shares, shares
from fabric.solver.utilisation.cluster import POLICIES, Cluster, cluster
from fabric.solver.utilisation.jobs import Mix
from fabric.solver.utilisation.simulate import Run, recorded, saturated

HOURS_PER_YEAR = 8766.0
SERVER = "server"


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Jobs of one size."""

    gpus: int
    jobs: int
    gpu_hours: float  # share of those of all jobs that fit
    servers: int  # that one takes; 0: a part of one
    unused_gpus: int  # in its servers
    level: str  # the smallest level that holds it: "server", a level of the fabric, "" for none
    left_gpus: int  # of the largest group of that level, once it is full of jobs of this size


@dataclass(frozen=True, kw_only=True)
class Use:
    """Shares of all GPUs, which add up to 1, and of the NIC bandwidth, over the time of a run."""

    placement: str
    used: float
    in_part: float  # free GPUs of servers that jobs use
    waiting: float  # free servers while jobs wait
    no_demand: float  # free servers while none waits
    bandwidth: Shares
    wait_hours: float  # mean time that a job waits
    jobs: int  # that started

    @property
    def idle_gpu_share(self) -> float:
        """Of GPUs that no job uses although jobs wait."""
        return self.in_part + self.waiting


@dataclass(frozen=True, kw_only=True)
class Utilisation:
    """A mix of jobs on a fabric."""

    fabric: str
    gpus: int
    servers: int
    server_gpus: int
    levels: tuple[tuple[str, int, int], ...]  # (name, groups, servers of the largest)
    saturated: bool  # jobs always wait; else they come as recorded
    fits: tuple[Fit, ...]  # the smallest first
    too_large: int  # jobs that no placement can hold; they are left out
    other_models: tuple[str, ...]  # of servers with GPUs, which are left out: jobs run on one model
    left_out: tuple[tuple[str, int], ...]  # (reason, jobs of the file)
    uses: tuple[Use, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        plain = asdict(self)
        plain["levels"] = [{"level": name, "groups": groups, "servers": held} for name, groups, held in self.levels]
        plain["left_out"] = [{"reason": reason, "jobs": count} for reason, count in self.left_out]
        for use, row in zip(self.uses, plain["uses"], strict=True):
            row["idle_gpu_hours_per_year"] = use.idle_gpu_share * self.gpus * HOURS_PER_YEAR
        lists = {key: list(plain[key]) for key in ("fits", "uses", "other_models")}
        return {**plain, **lists}


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
