"""A JOB file on the network of a plan: one step, the variants of a sweep, the utilisation behind a measured step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from fabric.base.diagnostics import InputError
from fabric.base.source import Node
from fabric.model.plan import FabricPlan
from fabric.solver import Ints, PortNamer, unnamed
from fabric.solver.collective import COLLECTIVES
from fabric.solver.collectives import physics
from fabric.solver.collectives.algorithms import monotone
from fabric.solver.collectives.band import band_of
from fabric.solver.collectives.job import UNLIMITED, Job, joined
from fabric.solver.collectives.physics import Physics
from fabric.solver.estimate.estimate import ctas_of, gpu_of, nvlink_gpus, pattern_of, transport_of
from fabric.solver.estimate.nic_bandwidth import AvailableBandwidth
from fabric.solver.estimate.platform import platform
from fabric.solver.estimate.request import EstimateRequest, supply_of
from fabric.solver.reach import Goal, Reached, reach
from fabric.solver.training import file as job_file
from fabric.solver.training.file import JobText
from fabric.solver.training.job import Levels, TrainingJob
from fabric.solver.training.kernels import computed_utilisation
from fabric.solver.training.memory import device_GB
from fabric.solver.training.step import CallTime, Fitted, StepTime, assumptions, fitted, step_time
from fabric.solver.training.sweep import StepSweep, measured, sweep
from fabric.solver.training.traffic import Traffic, nic_share, split

# --- groups ---------------------------------------------------------------------------------------------------
# Groups of a training job: what a collective takes when every group of a dimension calls it at the same time.
#
# Ranks are laid out as Megatron-LM does. Those of a group that are in one NVLink domain communicate over NVLink.

LATENCY_BYTES = 64.0  # a call that takes hardly longer than one of this size is limited by latency
NEAR_LATENCY = 1.25
NICS = "server NICs"


@dataclass(frozen=True)
class Groups:
    """Times of calls on the plan's network and placement. What the fabric leaves of the NICs for a group is looked at once,
    for all jobs that are asked about."""

    supply: AvailableBandwidth
    parameters: Physics
    _supplies: dict[Levels, AvailableBandwidth] = field(default_factory=dict)
    _times: dict[tuple[str, int, Levels, float, bool], CallTime] = field(default_factory=dict)

    def of(self, job: TrainingJob, traffic: Traffic) -> CallTime:
        """The time of one call of a job."""
        levels = job.parallel.levels(traffic.dimension)
        if traffic.dimension == "pipeline":
            return self._sends(job, traffic, levels)
        if traffic.dimension == "expert" and job.software.dispatch_GBps:
            us = traffic.bytes / job.software.dispatch_GBps / 1e3
            return CallTime(us, us, us, "dispatcher")
        share = self._nic_share(job, traffic, levels)
        whole = self._time(traffic.collective, traffic.cross_bytes or traffic.bytes, levels, share)
        if traffic.cross_bytes is None:
            return whole
        inside, _ = split(levels, self.supply.placement.domain_gpus)
        if inside == 1:
            return whole
        # From the GPU of the domain that receives a token to those of its experts.
        near = self._time(traffic.collective, traffic.bytes, ((inside, levels[0][1]),))
        return whole if whole.us >= near.us else near

    def _sends(self, job: TrainingJob, traffic: Traffic, levels: Levels) -> CallTime:
        """A send of every stage to the next one, of all replicas, which are not in step: it meets those of others as far as
        the time that it takes alone is a part of that over which they are spread."""
        call = (traffic.collective, traffic.bytes, levels)
        at_once, alone = self._time(*call), self._time(*call, alone=True)
        met = alone.us / (alone.us + job.apart_us)
        if not np.isfinite(at_once.us) or at_once.us <= alone.us:
            return at_once
        us, low, high = (now + met * (most - now) for now, most in zip(alone[:3], at_once[:3], strict=True))
        return CallTime(us, low, high, at_once.limit if us > NEAR_LATENCY * alone.us else alone.limit)

    def _nic_share(self, job: TrainingJob, traffic: Traffic, levels: Levels) -> float:
        """Share of a GPU's NIC; below 1 for rings and trees of one GPU a server with some releases of NCCL."""
        placed = self.supply.placement
        inside, _ = split(levels, placed.domain_gpus)
        if inside > 1 or COLLECTIVES[traffic.collective].pattern or placed.domain_servers > 1:
            return 1.0
        return nic_share(job.software.nccl, gpu_of(placed).name, placed.server.gpus, placed.all_ports // placed.nic_ports)

    def _time(self, collective: str, size: int, levels: Levels, nic_share: float = 1.0, alone: bool = False) -> CallTime:
        key = (collective, size, levels, nic_share, alone)
        if key not in self._times:
            self._times[key] = self._measure(*key)
        return self._times[key]

    def _measure(self, collective: str, size: int, levels: Levels, nic_share: float, alone: bool) -> CallTime:
        inside, domains = split(levels, self.supply.placement.domain_gpus)
        supply = self._supply(levels) if domains > 1 else self.supply
        job = _job(collective, size, levels, inside, domains, supply)
        if domains > 1:
            job = replace(job, net_GBps=job.net_GBps * nic_share, nic_GBps=job.nic_GBps * nic_share)
        if alone:
            job = replace(job, peers_share=1.0)
        runs, times = monotone(job.of(np.array([LATENCY_BYTES, float(size)])), self.parameters)
        low, high = band_of(job, self.parameters)
        us = float(times[1])
        if us < NEAR_LATENCY * float(times[0]):
            limit = "latency"
        elif alone and domains > 1:
            limit = NICS
        else:
            limit = _limit(collective, runs.key(1)[0], domains, supply)
        return CallTime(us, us * float(low[0]), us * float(high[0]), limit)

    def _supply(self, levels: Levels) -> AvailableBandwidth:
        placed = self.supply.placement
        if levels not in self._supplies:
            rows = group_domains(levels, placed.domain_gpus, placed.domains)
            self._supplies[levels] = replace(self.supply, groups=rows)
        return self._supplies[levels]


def _limit(collective: str, algorithm: str, domains: int, supply: AvailableBandwidth) -> str:
    """The link that decides, or the NICs or NVLink where the fabric does not."""
    if domains == 1:
        return "NVLink"
    link = supply.of(COLLECTIVES[collective].groups_pattern or pattern_of(collective, algorithm)).link
    return NICS if link < 0 else supply.link_name(link)


def group_domains(levels: Levels, domain_gpus: int, domains: int) -> Ints:
    """Domains of every group of a job on so many NVLink domains, [groups, domains of one]."""
    offsets = np.zeros(1, dtype=np.int64)
    for ranks, stride in levels:
        offsets = (offsets[:, None] + stride * np.arange(ranks)).ravel()
    reached = np.unique(offsets // domain_gpus)
    first = np.arange(domains * domain_gpus)
    for ranks, stride in levels:
        first = first[first // stride % ranks == 0]
    starts = np.unique(first // domain_gpus)
    starts = starts[starts + reached[-1] < domains]
    if not starts.size:  # the last group is not whole
        starts = np.zeros(1, dtype=np.int64)
    return (starts[:, None] + reached) % domains


def _job(collective: str, size: int, levels: Levels, inside: int, domains: int, supply: AvailableBandwidth) -> Job:
    ranks = math.prod(count for count, _ in levels)
    gpu, placed = gpu_of(supply.placement), supply.placement
    crosses = domains > 1
    share, bridge = inside / placed.domain_gpus, split(levels, nvlink_gpus(supply.placement))[0]
    net = supply.domain_GBps * share if crosses else UNLIMITED
    nic = min(supply.nic_GBps * placed.nic_ports, supply.domain_GBps * share) if crosses else UNLIMITED
    fields = joined(gpu, inside, bridge, placed.board_gpus)
    job = Job(
        collective=collective,
        bytes=np.array([size], dtype=np.float64),
        ranks=float(ranks),
        domain=float(inside),
        domains=float(domains),
        net_GBps=net,
        nic_GBps=nic,
        generation=physics.generations().index(gpu.generation),
        transport=physics.transports().index(transport_of(supply) if crosses else "none"),
        environment=physics.transports().index(transport_of(supply)),
        ctas=float(ctas_of(supply)),
        **fields,
        hosts=placed.domain_servers * share,
    )
    if not crosses:
        return job
    ring, pattern = supply.of("ring"), job.spec.groups_pattern
    tree_share = supply.of("tree").share if "tree" in job.spec.algorithms else 1.0
    peers_share = supply.of(pattern).share if pattern else 1.0
    return replace(job, ring_share=ring.share, tree_share=tree_share, peers_share=peers_share, hop_us=ring.hop_us)


# --- a JOB file on the network --------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlacedJob:
    """A JOB file and the times of its groups where it is placed."""

    root: Node
    name: str
    groups: Groups

    @property
    def gpu(self) -> str:
        """Model of the servers' GPUs."""
        return gpu_of(self.groups.supply.placement).name

    @property
    def domain_gpus(self) -> int:
        return self.groups.supply.placement.domain_gpus

    def job(self, root: Node | None = None) -> TrainingJob:
        """The job of the file, or of a changed tree, with what it does not state of the servers' GPUs: their memory, and the
        utilisation where their kernels were measured. Raises InputError."""
        placement = self.groups.supply.placement
        job = job_file.of_node(root or self.root, self.name, placement.gpus)
        gpu, compute = gpu_of(placement), job.compute
        memory_GBps = compute.memory_GBps or gpu.memory_GBps
        memory_GB = compute.memory_GB or device_GB(gpu.name, gpu.memory_GB)
        job = replace(job, gpu=gpu.name, compute=replace(compute, memory_GBps=memory_GBps, memory_GB=memory_GB))
        job = replace(job, computed_utilisation=computed_utilisation(job))
        if job.is_computed:
            job = replace(job, compute=replace(job.compute, utilisation=job.computed_utilisation))
        return job

    def time(self, root: Node | None = None) -> StepTime:
        """The step of the file or of a changed tree. Raises InputError."""
        supply, step = self.groups.supply, step_time(self.job(root), self.groups.of, self.domain_gpus)
        placed = supply.placement
        return replace(step, placement=placed.name, units=placed.units, routing=supply.routing, queue_pairs=supply.qps)

    def step(self) -> StepTime:
        """The step with its assumptions. Raises InputError."""
        return replace(self.time(), assumptions=assumptions(self.job(), self.groups.of, self.domain_gpus))

    def sweep(self, varied: Mapping[str, Sequence[Node]]) -> StepSweep:
        """The steps of every combination of values."""
        return sweep(self.root, varied, self.time)

    def reach(self, goal: Goal, varied: Mapping[str, Sequence[Node]]) -> Reached:
        """The value of the one varied key with which the step reaches a goal. Raises InputError."""
        ((key, nodes),) = varied.items()
        return reach(key, nodes, goal, lambda node: self._measured(goal.name, {key: node}))

    def _measured(self, name: str, values: Mapping[str, Node]) -> float | None:
        """The answer of a goal, with other values of keys; None where they are not possible."""
        try:
            step = self.time(job_file.with_values(self.root, values))
        except InputError:
            return None
        return measured(step, name) if step.memory.fits else None

    def utilisation(self, measured_s: float) -> Fitted:
        """The utilisation that gives a measured step. Raises InputError."""
        return fitted(self.job(), self.groups.of, self.domain_gpus, measured_s * 1e3)


def placed(
    fabric: FabricPlan,
    request: EstimateRequest,
    source: Path | JobText,
    placement: str,
    port_name: PortNamer = unnamed,
    values: Mapping[str, Node] | None = None,
) -> PlacedJob:
    """The job of a file on a fabric, with other values of its keys. Raises InputError."""
    file = JobText.of(source)
    name = file.name
    root = job_file.with_values(job_file.tree(file.text, name), values or {})
    request = replace(request, gpus_per_domain=request.gpus_per_domain or job_file.gpus_per_domain(root, name))
    groups = Groups(supply_of(fabric, request, placement, port_name), platform(request.platform))
    return PlacedJob(root, name, groups)
