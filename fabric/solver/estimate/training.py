"""A JOB file on the network of a plan: one step, the variants of a sweep, the utilisation behind a measured step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabric.base.source import Node
from fabric.model.plan import FabricPlan
from fabric.solver import PortNamer, unnamed
from fabric.solver.estimate.estimate import gpu_of
from fabric.solver.estimate.groups import Groups
from fabric.solver.estimate.platform_file import platform
from fabric.solver.estimate.request import EstimateRequest, supply_of
from fabric.solver.training import file as job_file
from fabric.solver.training.file import JobText
from fabric.solver.training.job import TrainingJob
from fabric.solver.training.memory import device_GB
from fabric.solver.training.step import StepTime, assumptions, step_time
from fabric.solver.training.sweep import StepSweep, sweep
from fabric.solver.training.utilisation import Fitted, fitted


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
        """The job of the file, or of a changed tree, with the memory of the servers' GPUs where it states none.
        Raises InputError."""
        placement = self.groups.supply.placement
        job = job_file.of_node(root or self.root, self.name, placement.gpus)
        gpu, compute = gpu_of(placement), job.compute
        memory_GBps = compute.memory_GBps or gpu.memory_GBps
        memory_GB = compute.memory_GB or device_GB(gpu.name, gpu.memory_GB)
        return replace(job, gpu=gpu.name, compute=replace(compute, memory_GBps=memory_GBps, memory_GB=memory_GB))

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
