"""What to measure on a cluster before its estimates are trusted: a few points of nccl-tests, and the platform they describe.

Three rows of an all_reduce separate what the parameters depend on: the smallest size gives launch and hop latency, 8 MiB the
protocol and the pipeline, 1 GiB the bandwidth of NICs and NVLink. An alltoall gives the bandwidth of sends, which use other
channels, and a run inside one NVLink domain separates NVLink from the network.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabric.model.plan import FabricPlan, GroupSpec
from fabric.solver.collective import ALL_REDUCE, ALLTOALL
from fabric.solver.collectives import physics
from fabric.solver.measured.platform import MeasuredPlatform

MAX_SERVERS = 16  # more change the parameters little, docs/accuracy.md


def job_group(fabric: FabricPlan) -> GroupSpec:
    """The group with the most GPUs: the servers of a job."""
    return max(fabric.spec.groups, key=lambda group: (group.count * group.server.gpus, group.model))


@dataclass(frozen=True)
class Point:
    """One run of nccl-tests."""

    collective: str
    size: str  # as nccl-tests takes it: 8, 8M, 1G
    servers: int
    reason: str

    @property
    def log(self) -> str:
        """Name of the file that the output goes to."""
        return f"{self.collective}-{self.servers}n-{self.size}.log"


def points(fabric: FabricPlan) -> list[Point]:
    """The runs for a fabric, the most useful first."""
    group = job_group(fabric)
    count = sum(item.count for item in fabric.spec.groups if item.model == group.model)
    domain = max(1, (group.server.nvlink_domain_gpus or group.server.gpus) // group.server.gpus)
    many = max(min(count, max(MAX_SERVERS, 2 * domain)), 1)
    found = [
        Point(ALL_REDUCE, "8", many, "launch and latency of a hop"),
        Point(ALL_REDUCE, "8M", many, "protocol and pipeline"),
        Point(ALL_REDUCE, "1G", many, "bandwidth of the NICs"),
        Point(ALLTOALL, "256M", many, "bandwidth of send and receive"),
    ]
    if domain * group.server.gpus > 1 and many > domain:
        found.append(Point(ALL_REDUCE, "1G", domain, "bandwidth inside an NVLink domain"))
    return found


def lines(fabric: FabricPlan, file: str, platform: str) -> list[str]:
    """The command lines, and what to do with their output."""
    gpus = job_group(fabric).server.gpus
    out = [f"fabric {fabric.name}: measure these points with nccl-tests, one process per GPU", ""]
    for point in points(fabric):
        out.append(f"# {point.reason}")
        run = f"mpirun -np {point.servers * gpus} -N {gpus} {point.collective}_perf"
        iterations = "-w 20 -n 100" if point.size != "1G" else "-w 5 -n 20"
        out.append(f"{run} -b {point.size} -e {point.size} {iterations} -g 1 | tee {point.log}")
    names = " ".join(point.log for point in points(fabric))
    return [
        *out,
        "",
        "# Then; `fabric estimate` uses a platform file of this name by itself.",
        f"fabric calibrate {names} --for {file} -o {platform}",
    ]


def platform_of(fabric: FabricPlan) -> MeasuredPlatform:
    """The platform of runs on a fabric's servers, for output of nccl-tests that does not state its network."""
    group = job_group(fabric)
    server, nic = group.server, group.nic
    both_directions = server.nvlink_gbytes_s
    name, domain = server.gpu or physics.gpu_in(group.model), server.nvlink_domain_gpus
    gpu = physics.gpu(name, both_directions / 2 if both_directions else None, domain)
    return MeasuredPlatform(
        gpu=gpu.name,
        gpus_per_node=server.gpus,
        nodes=0,
        nvlink_GBps_per_direction=gpu.nvlink_GBps or None,
        nvlink_domain_gpus=domain or gpu.bridge_gpus or (server.gpus if gpu.nvlink_GBps else 1),
        nics_per_node=nic.count,
        nic_gbps=float(nic.speed_gbps * nic.ports),
        transport=fabric.spec.transport,
    )
