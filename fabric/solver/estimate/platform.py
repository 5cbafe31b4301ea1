"""The platform of a cluster: a file with fitted parameters, as `fabric calibrate` writes it, and what to measure for one.

Every name and value is looked at before it is used: a table in another format, a mistyped parameter or a bandwidth of 0
would otherwise give figures that look like any others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from fabric.base.diagnostics import Report, show
from fabric.base.grouping import grouped
from fabric.model.plan import FabricPlan, GroupSpec
from fabric.solver import Fields, parse, read_text
from fabric.solver.collective import ALL_REDUCE, ALLTOALL, FAMILIES
from fabric.solver.collectives import physics
from fabric.solver.collectives.physics import SCOPES, Physics
from fabric.solver.measured.platform import MeasuredPlatform

CODE = "FAB172"
WHAT = "a platform file"
SHAPE = "a platform file has `generation`, `transport` and `shared`; `fabric calibrate TABLE -o FILE` writes one"
KNOWN = ("about", "measured", "coverage", "own", *SCOPES)
RETIRED = ("tuner_weight", "one_process_us")  # parameters of earlier models: without effect
MIN_PARAMETER, MAX_PARAMETER = 1e-9, 1e12  # of any parameter: each is a time, a bandwidth, a size or a factor above 0


def platform(path: Path | None) -> Physics:
    """The shipped parameters, or those of a file that `fabric calibrate` wrote. Raises InputError."""
    return physics.shipped() if path is None else read(path, str(path))


def read(path: Path, shown: str | None = None) -> Physics:
    """The shipped parameters with those of a file in their place. Raises InputError with every mistake of the file."""
    name, report = shown or str(path), Report()
    root = parse(read_text(path, WHAT, name), name, WHAT, SHAPE)
    top = Fields(root, name, report, CODE)
    if not any(key in top for key in (*SCOPES, "about")):
        keys = ", ".join(show(key) for key in list(top)[:4]) or "none"
        report.fail(CODE, top.place(), f"expected {WHAT}, got a mapping with the keys {keys}", SHAPE)
    top.refuse_unknown([*KNOWN, *(key for key in top if not get_close_matches(key, KNOWN))])  # a note may stand beside them
    for scope in SCOPES:
        _scope(top, scope)
    _measured(top)
    _entries(top, "coverage", ("generation", "transport", "family"), ("sources", "ranks"), ("domains",))
    _entries(top, "own", ("generation", "transport"), ("ranks",))
    report.raise_errors()
    return physics.from_document(root.plain(), physics.shipped())


def _scope(top: Fields, scope: str) -> None:
    """Looks at the parameters of one scope: numbers by name, by name and kind where each kind has its own."""
    section = top.section(scope)
    if section is None:
        return
    kinds = grouped((item.name, item.kind) for item in physics.parameters() if item.scope == scope)
    section.refuse_unknown([*kinds, *RETIRED])
    if scope == "shared":
        _numbers(section, kinds)
        return
    for name in (name for name in section if name in kinds):
        entry = section.section(name)
        if entry is not None:
            entry.refuse_unknown(kinds[name])
            _numbers(entry, kinds[name])


def _numbers(section: Fields, known: Iterable[str]) -> None:
    for key in known:
        section.number(key, 1, MIN_PARAMETER, MAX_PARAMETER)


def _measured(top: Fields) -> None:
    counts = top.section("measured")
    for key in counts or ():
        if counts is not None:
            counts.whole(key, 0, 0, 1_000_000)


def _entries(top: Fields, key: str, words: Iterable[str], counts: Iterable[str], sizes: Iterable[str] = ()) -> None:
    """Looks at a list of mappings, each with all of its words and counts; lists of sizes may be left out. A kind of platform
    that no parameter has is a mistake."""
    kinds = {"generation": physics.generations(), "transport": physics.transports(), "family": FAMILIES}
    for entry in top.sections(key):
        entry.refuse_unknown([*words, *counts, *sizes])
        for name in sizes:
            stated = entry.value(name) or []
            if not isinstance(stated, list) or not all(isinstance(size, int) and 0 < size <= 1_000_000 for size in stated):
                entry.error(name, f"expected a list of sizes in ranks, got {show(stated)}", "such as [8, 72]")
        for name in words:
            if name in entry:
                entry.choice(name, kinds[name], kinds[name][0])
            else:
                entry.missing(name, "calibrate again: fabric calibrate TABLE -o FILE")
        for name in counts:
            entry.whole(name, 0, 0, 1_000_000_000)


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
