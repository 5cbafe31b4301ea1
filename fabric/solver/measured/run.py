"""What one run of raw nccl-tests output says of itself, and a table made of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from fabric.diagnostics import Place, Report
from fabric.rounding import ceil_div
from fabric.solver import Fields
from fabric.solver.measured.platform import (
    ALGORITHMS,
    HEADER,
    NOT_STATED,
    PROTOCOLS,
    RACK_SCALE,
    MeasuredPlatform,
    missing,
    read_platform,
    tuning_named,
)
from fabric.solver.measured.tables import (
    CODE,
    Row,
    Table,
    busbw_factor,
    check,
    collective_named,
    collective_of,
    row_of,
    source_of,
    table,
)

# GB/s per direction of one GPU on its baseboard: half of what the makers' data sheets give for both directions
NVLINK_GBPS = {
    **dict.fromkeys(("v100",), 150),
    **dict.fromkeys(("a800", "h800"), 200),
    **dict.fromkeys(("a100",), 300),
    **dict.fromkeys(("h100", "h200", "h20"), 450),
    **dict.fromkeys(("mi300x", "mi325x"), 448),  # 7 links to the 7 others, 64 GB/s each
    **dict.fromkeys(("mi350x", "mi355x"), 537.6),  # 7 links of 76.8 GB/s
    **dict.fromkeys(("b200", "b300", "gb200", "gb300"), 900),
}
RACK_DOMAIN_GPUS = 72  # NVL72
_GPU = re.compile(r"\b(GB\d00|GH\d00|MI\d{3}[A-Z]?|[ABHLVP]\d{2,3}|RTX ?\w+|TITAN \w+)\b", re.IGNORECASE)
_COUNT = re.compile(r"[0-9]{1,9}")
_ENV = re.compile(r"\bNCCL_([A-Z_]+)(?:\s*[=:]\s*|\s+set by environment to\s+)[\"']?([\w^,:;-]+)")
LEAST_WRONG = 1
_PUT = "put a head in front of the text"


@dataclass(frozen=True, slots=True)
class Side:
    """One of out of place and in place, as printed."""

    time_us: float
    algbw: float | None
    busbw: float | None
    wrong: float | None  # None: not checked
    slack: float = 0.006  # share of the time that rounding may have taken


@dataclass(frozen=True, slots=True)
class Printed:
    """A row of the output."""

    line: int
    bytes: int
    redop: str
    root: int | None
    sides: tuple[Side | None, Side | None]  # out of place, in place


class Device(NamedTuple):
    """A line of the list of devices."""

    host: str
    pid: str
    gpu: str  # as printed
    slot: int  # in its host


@dataclass(slots=True)
class Run:
    """One program's output, gathered line by line."""

    line: int = 1
    program: str = ""  # all_reduce_perf
    devices: dict[tuple[int, int], Device] = field(default_factory=dict)  # by group and rank
    threads: int = 1
    gpus: int = 1  # of a thread
    env: dict[str, str] = field(default_factory=dict)
    rows: list[Printed] = field(default_factory=list)
    notes: list[tuple[int, str, str]] = field(default_factory=list)  # line, message, hint

    def environment(self, text: str) -> None:
        """Takes note of NCCL's variables named in a line."""
        for key, value in _ENV.findall(text):
            self.env[key] = value

    @property
    def groups(self) -> int:
        """Communicators that ran at the same time."""
        return max(1, len({group for group, _ in self.devices}))


def gpu_named(text: str) -> str:
    """`NVIDIA H100 80GB HBM3` → h100; an unknown model as one word, "" for a device without a name of its own."""
    found = _GPU.search(text)
    if "graphics device" in text.lower():
        return ""
    return re.sub(r"[^a-z0-9]", "", (found[1] if found else text).lower())


def described(run: Run) -> tuple[MeasuredPlatform, str]:
    """What a run says of its platform, gaps as in NOT_STATED, and why it cannot be scored if that is so."""
    first = min((group for group, _ in run.devices), default=0)
    mine = {rank: device for (group, rank), device in sorted(run.devices.items()) if group == first}
    base = _forced(run.env, NOT_STATED)
    if not mine:
        return base, ""
    hosts, per_process = {device.host for device in mine.values()}, run.threads * run.gpus
    processes = len({(device.host, device.pid) for device in mine.values() if device.pid})
    ranks = max(len(mine) if run.groups > 1 else max(mine) + 1, processes * per_process)
    whole = len(mine) * per_process >= ranks  # or the list was cut short
    gpus = ceil_div(ranks, len(hosts)) if whole else max(device.slot for device in mine.values()) + 1
    nodes, named = ceil_div(ranks, gpus), next(iter(mine.values())).gpu
    gpu = gpu_named(named)
    why = "" if ranks == gpus * nodes else f"{ranks} ranks are spread unevenly over {nodes} hosts"
    if run.groups > 1:
        why = f"{run.groups} groups ran at the same time"
    bridged = "pcie" not in named.lower()
    return (
        replace(
            base,
            gpu=gpu,
            gpus_per_node=gpus,
            nodes=nodes,
            nvlink_GBps_per_direction=NVLINK_GBPS.get(gpu) if bridged else None,
            nvlink_domain_gpus=RACK_DOMAIN_GPUS if gpu in RACK_SCALE else gpus,
            processes="one for all GPUs" if per_process == gpus > 1 else "",
        ),
        why,
    )


def _forced(env: dict[str, str], base: MeasuredPlatform) -> MeasuredPlatform:
    """What NCCL's environment variables fixed."""
    ctas = env.get("MIN_CTAS", env.get("MIN_NCHANNELS", ""))
    qps = env.get("IB_QPS_PER_CONNECTION", "")
    return replace(
        base,
        algorithm=tuning_named(env.get("ALGO", ""), ALGORITHMS) or "auto",
        protocol=tuning_named(env.get("PROTO", ""), PROTOCOLS) or "auto",
        nvls={"0": False, "1": True}.get(env.get("NVLS_ENABLE", "")),
        min_ctas=int(ctas) if _COUNT.fullmatch(ctas) else None,
        qps_per_connection=int(qps) if _COUNT.fullmatch(qps) else None,
    )


def tables(
    runs: Sequence[Run], name: str, given: MeasuredPlatform | None, front: Fields | None, report: Report
) -> list[Table]:
    """A table of every run that has rows. `given` or the front matter say what the text does not. Raises InputError."""
    kept = [run for run in runs if run.rows]
    made = [_table(run, at, len(kept), name, given, front, report) for at, run in enumerate(kept, 1)]
    report.raise_errors()
    return [item for item in made if item is not None]


def _table(
    run: Run, number: int, count: int, name: str, given: MeasuredPlatform | None, front: Fields | None, report: Report
) -> Table | None:
    mistakes, warned = len(report.errors), len(report.warnings)
    described_platform, why_not = described(run)
    platform = _platform(described_platform, given, front, Place(name, run.line, 1), report)
    if len(report.errors) > mistakes:
        return None
    collective = _collective(run, platform.ranks, name, front, report)
    if not collective:
        return None
    if given is not None and platform != (counted := _counted(run, collective, platform)):
        text = f"busbw/algbw shows {counted.ranks} ranks, the platform given has {platform.ranks}; the table's count is taken"
        report.warn(CODE, Place(name, run.line, 1), text, "")
        platform = _idle_network(counted)
    factor = busbw_factor(collective, platform.ranks)
    rows = [row for printed in run.rows if (row := _row(printed, factor, name, report)) is not None]
    for line, message, hint in run.notes:
        report.warn(CODE, Place(name, line, 1), message, hint)
    identity = front.text("id") if front is not None and "id" in front else Path(name).stem
    identity += f"-{number}" if count > 1 else ""
    source = source_of(front) if front is not None else ""
    if front is not None and front.value("not_scored"):
        why_not = front.text("not_scored") if isinstance(front.value("not_scored"), str) else "marked `not_scored`"
    return table(identity, collective, platform, source or Path(name).stem, rows, why_not, report.warnings[warned:])


def _platform(
    platform: MeasuredPlatform, given: MeasuredPlatform | None, front: Fields | None, place: Place, report: Report
) -> MeasuredPlatform:
    """The front matter first, then what was given, then what the text says; the text knows its own ranks best."""
    known = platform
    if given is not None:
        forced = {
            key: getattr(platform, key)
            for key in ("algorithm", "protocol", "nvls", "min_ctas", "qps_per_connection", "processes")
            if getattr(platform, key) not in (None, "auto", "")
        }
        counted = {"gpus_per_node": platform.gpus_per_node, "nodes": platform.nodes} if platform.ranks else {}
        known = replace(given, **{**forced, **counted})
        if platform.gpu and platform.gpu != given.gpu:
            report.warn(CODE, place, f"the output states {platform.gpu} GPUs, the platform {given.gpu}", "")
    block = front.section("platform") if front is not None else None
    if block is not None:
        known = read_platform(block, known, _header_hint(known, report))
    elif not known.gpu or not known.ranks:
        required = "gpu, gpus_per_node, nodes, and of several nodes nics_per_node, nic_gbps, transport"
        report.error(CODE, place, f"the output does not state its platform: {required}", _header_hint(known, report))
    elif gaps := missing(known):
        text = f"{known.ranks} GPUs on {known.nodes} nodes: the text does not say {', '.join(gaps)}"
        report.error(CODE, place, text, _header_hint(known, report))
    return _idle_network(known)


def _idle_network(platform: MeasuredPlatform) -> MeasuredPlatform:
    """Without the network where one NVLink domain holds the run."""
    if platform.crosses_network:
        return platform
    return replace(platform, nics_per_node=0, nic_gbps=0, transport="none")


def _header_hint(known: MeasuredPlatform, report: Report) -> str:
    """The head to put in front of the text, with what is known already; once, however many runs miss it."""
    if any(error.hint.startswith(_PUT) for error in report.errors):
        return "one head stands for all tables of the file; cut it up where they differ"
    lines = HEADER
    for key in (
        "gpu",
        "gpus_per_node",
        "nodes",
        "nvlink_GBps_per_direction",
        "nvlink_domain_gpus",
        "nic_gbps",
        "nics_per_node",
    ):
        if value := getattr(known, key):
            lines = re.sub(rf"( {key}: ).*", rf"\g<1>{value}", lines)
    return f"{_PUT}, with the figures of your cluster:\n    ---\n{lines}\n    ---"


def _collective(run: Run, ranks: int, name: str, front: Fields | None, report: Report) -> str:
    """From the front matter, the program's name, the columns and the ratio of the bandwidths, or the file's name."""
    if front is not None and "collective" in front:
        return collective_of(front)
    found = collective_named(run.program) or _by_columns(run.rows, ranks)
    if not found:
        words = re.findall(
            r"all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|sendrecv", Path(name).stem.lower()
        )
        found = collective_named(words[0]) if words else ""
    if not found:
        hint = "put `---`, `collective: all_gather` and `---` in front of the text, or keep the line with the program's name"
        report.error(CODE, Place(name, run.line, 1), "the output does not state the collective", hint)
    return found


def _by_columns(rows: Iterable[Printed], ranks: int) -> str:
    """The collective by operation, root and busbw/algbw; "" where they leave several."""
    best, ratio = _ratio(rows)
    if not ranks or not ratio:
        return ""

    def near(kind: str) -> bool:
        return abs(ratio - busbw_factor(kind, ranks)) < 0.02

    rooted = best.root is not None and best.root >= 0
    if best.redop not in ("", "none"):
        if ratio > 1.02:  # twice the buffer crosses in nothing else, however many ranks there are
            return "all_reduce"
        return "reduce" if rooted else next((kind for kind in ("all_reduce", "reduce_scatter") if near(kind)), "")
    if rooted:
        return "broadcast"
    out, into = best.sides
    if near("all_gather") and out and into and out.wrong is not None:
        return "alltoall" if into.wrong is None else "all_gather"  # alltoall never checks its in-place result
    return ""


def _ratio(rows: Iterable[Printed]) -> tuple[Printed, float]:
    """busbw / algbw, of the fastest row, where rounding blurs it least; 0 where none is printed."""
    best = max(rows, key=lambda row: max((side.algbw or 0 for side in row.sides if side), default=0))
    return best, next((side.busbw / side.algbw for side in best.sides if side and side.busbw and side.algbw), 0.0)


def _counted(run: Run, collective: str, platform: MeasuredPlatform) -> MeasuredPlatform:
    """The platform with as many nodes as busbw/algbw shows, where the text lists no devices and a log of another size
    than the platform's is read."""
    ratio, twice = _ratio(run.rows)[1], 2 if collective == "all_reduce" else 1
    if run.devices or not 0.5 < ratio / twice < 0.999 or busbw_factor(collective, 3) != twice * 2 / 3:
        return platform
    if abs(ratio - busbw_factor(collective, platform.ranks)) < 0.004:
        return platform
    nodes = max(1, round(1 / (1 - ratio / twice) / platform.gpus_per_node))
    counted = replace(platform, nodes=nodes)
    return counted if abs(ratio - busbw_factor(collective, counted.ranks)) < 0.002 else platform


def _row(printed: Printed, factor: float, name: str, report: Report) -> Row | None:
    """The better side, with a warning for what does not agree."""
    place, found = Place(name, printed.line, 1), []
    for words, side in zip(("out of place", "in place"), printed.sides, strict=True):
        if side is None:
            continue
        for message, hint in check(printed.bytes, side.time_us, side.algbw, side.busbw, factor, side.slack):
            report.warn(CODE, place, f"{words}: {message}", hint)
        if side.wrong is not None and side.wrong >= LEAST_WRONG:
            report.warn(CODE, place, f"{words}: {side.wrong:g} wrong elements", "the run has data errors: repeat it")
        found.append(row_of(printed.bytes, side.time_us, factor))
    return min(found, key=lambda row: row.time_us) if found else None
