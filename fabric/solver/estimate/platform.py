"""The platform of a cluster: a file with fitted parameters, as `fabric model calibrate` writes it, and what to measure.

Every name and value is looked at before it is used: a table in another format, a mistyped parameter or a bandwidth of 0
would otherwise give figures that look like any others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from fabric.base.diagnostics import nearest, show
from fabric.base.grouping import grouped
from fabric.base.inputs import LOWER, InputFile, Mistake, OpenSection, Section, Within, means
from fabric.model.plan import FabricPlan, GroupSpec
from fabric.solver.collective import ALL_REDUCE, ALLTOALL, FAMILIES
from fabric.solver.collectives import physics
from fabric.solver.collectives.physics import SCOPES, Physics
from fabric.solver.measured.platform import MeasuredPlatform

CODE = "FAB172"
KNOWN = ("about", "measured", "coverage", "own", *SCOPES)
RETIRED = ("tuner_weight", "one_process_us", "overlap_growth")  # parameters of earlier models: without effect
Value = Annotated[float, Within(1e-9, 1e12)]  # of any parameter: each is a time, a bandwidth, a size or a factor above 0
Number = Annotated[int, Within(0, 1_000_000_000)]


def _word(words: Callable[[], Sequence[str]]) -> AfterValidator:
    """A kind of platform that parameters have."""

    def check(word: str) -> str:
        if word not in words():
            raise Mistake(f"expected {', '.join(words())}", nearest(word, words()))
        return word

    return AfterValidator(check)


@dataclass(frozen=True, kw_only=True)
class _Own(Section):
    """Measurements of a kind of platform by its owner."""

    generation: Annotated[str, LOWER, _word(physics.generations), means("GPU generation, as `model calibrate` writes it")]
    transport: Annotated[str, LOWER, _word(physics.transports), means("transport, as `model calibrate` writes it")]
    ranks: Number


@dataclass(frozen=True, kw_only=True)
class _Coverage(_Own):
    family: Annotated[str, LOWER, _word(lambda: FAMILIES), means("family of collectives, as `model calibrate` writes it")]
    sources: Number
    domains: Annotated[tuple[Annotated[int, Within(1, 1_000_000)], ...], means("sizes in ranks, such as `[8, 72]`")] = ()
    most_domains: Number = 0


@dataclass(frozen=True, kw_only=True)
class _File(OpenSection):
    """Parameters by scope: numbers by name, by name and kind where each kind has its own."""

    shared: dict[str, Value] = field(default_factory=dict)
    generation: dict[str, dict[str, Value]] = field(default_factory=dict)
    transport: dict[str, dict[str, Value]] = field(default_factory=dict)
    measured: dict[str, Annotated[int, Within(0, 1_000_000)]] = field(default_factory=dict)
    coverage: tuple[_Coverage, ...] = ()
    own: tuple[_Own, ...] = ()


FILE = InputFile(
    _File,
    "a platform file",
    "a platform file has `generation`, `transport` and `shared`; `fabric model calibrate TABLE -o FILE` writes one",
    CODE,
)


def platform(path: Path | None) -> Physics:
    """The shipped parameters, or those of a file that `fabric model calibrate` wrote. Raises InputError."""
    return physics.shipped() if path is None else read(path, str(path))


def read(path: Path, shown: str | None = None) -> Physics:
    """The shipped parameters with those of a file in their place. Raises InputError with every mistake of the file."""
    text = FILE.read(path, shown)
    document, top = text.written, list(text.names())
    if not any(key in document for key in (*SCOPES, "about")):
        first = ", ".join(map(show, top[:4])) or "none"
        text.report.fail(CODE, text.place(), f"expected {FILE.what}, got a mapping with the keys {first}", FILE.shape)
    notes = [key for key in top if not get_close_matches(key, KNOWN)]  # may stand beside them
    text.refuse_unknown((), [*KNOWN, *notes])
    for scope in SCOPES:
        kinds = grouped((item.name, item.kind) for item in physics.parameters() if item.scope == scope)
        text.refuse_unknown((scope,), [*kinds, *RETIRED])
        for name in kinds if scope != "shared" else ():
            text.refuse_unknown((scope, name), kinds[name])
    text.checked(text.model())
    return physics.from_document(document, physics.shipped())


# --- probe ----------------------------------------------------------------------------------------------------
# What to measure on a cluster before its estimates are trusted: a few points of nccl-tests, and the platform they describe.
#
# Three rows of an all_reduce separate what the parameters depend on: the smallest size gives launch and hop latency, 8 MiB
# the protocol and the pipeline, 1 GiB the bandwidth of NICs and NVLink. An alltoall gives the bandwidth of sends, which use
# other channels, and a run inside one NVLink domain separates NVLink from the network.

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
    runs = [
        Point(ALL_REDUCE, "8", many, "launch and latency of a hop"),
        Point(ALL_REDUCE, "8M", many, "protocol and pipeline"),
        Point(ALL_REDUCE, "1G", many, "bandwidth of the NICs"),
        Point(ALLTOALL, "256M", many, "bandwidth of send and receive"),
    ]
    if domain * group.server.gpus > 1 and many > domain:
        runs.append(Point(ALL_REDUCE, "1G", domain, "bandwidth inside an NVLink domain"))
    return runs


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
        f"fabric model calibrate {names} --for {file} -o {platform}",
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
