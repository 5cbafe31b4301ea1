"""What one run of raw nccl-tests output says of itself, and a table made of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from fabric.base.diagnostics import Place, Report
from fabric.base.inputs import Reading
from fabric.base.rounding import ceil_div
from fabric.solver.collective import ALL_GATHER, ALL_REDUCE, ALLTOALL, BROADCAST, COLLECTIVES, REDUCE, REDUCE_SCATTER
from fabric.solver.measured.platform import (
    ALGORITHMS,
    HEADER,
    NOT_STATED,
    PROTOCOLS,
    RACK_SCALE,
    MeasuredPlatform,
    missing,
    part_of,
    read_platform,
    tuning_named,
    variables,
)
from fabric.solver.measured.tables import (
    CODE,
    Head,
    Row,
    Table,
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
_PART = re.compile(r"\b(NVL|PCIe)\b", re.IGNORECASE)  # names of cards; a name without them is the part on a baseboard
BRIDGED = {"h100-nvl": 2, "h200-nvl": 4}  # GPUs per NVLink bridge
_COUNT = re.compile(r"[0-9]{1,9}")
MIN_WRONG_VALUES = 1
_PUT = "put a head in front of the text"


@dataclass(frozen=True, slots=True)
class PrintedTimes:
    """One of out of place and in place, as printed."""

    time_us: float
    algbw: float | None
    busbw: float | None
    wrong: float | None  # None: not checked
    slack: float = 0.006  # relative error that rounding of the printed time allows


@dataclass(frozen=True, slots=True)
class Printed:
    """A row of the output."""

    line: int
    bytes: int
    redop: str
    root: int | None
    sides: tuple[PrintedTimes | None, PrintedTimes | None]  # out of place, in place


class Device(NamedTuple):
    """A line of the list of devices."""

    host: str
    pid: str
    gpu: str  # as printed
    slot: int  # in its host


@dataclass(slots=True, kw_only=True)
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
        self.env |= variables(text)

    @property
    def groups(self) -> int:
        """Communicators that ran at the same time."""
        return max(1, len({group for group, _ in self.devices}))


def gpu_named(text: str) -> str:
    """`NVIDIA H100 80GB HBM3` → h100, `NVIDIA H100 NVL` → h100-nvl; an unknown model as one word, "" for a device without a
    name of its own."""
    found, part = _GPU.search(text), _PART.search(text)
    if "graphics device" in text.lower():
        return ""
    base = re.sub(r"[^a-z0-9]", "", (found[1] if found else text).lower())
    return f"{base}-{part[1].lower()}" if found and part else base


def described(run: Run) -> tuple[MeasuredPlatform, str]:
    """What a run says of its platform, gaps as in NOT_STATED, and why it cannot be scored if that is so."""
    first = min((group for group, _ in run.devices), default=0)
    mine = {rank: device for (group, rank), device in sorted(run.devices.items()) if group == first}
    base = forced(run.env, NOT_STATED)
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
    return (
        replace(
            base,
            gpu=gpu,
            gpus_per_node=gpus,
            nodes=nodes,
            nvlink_GBps_per_direction=NVLINK_GBPS.get(gpu),
            nvlink_domain_gpus=RACK_DOMAIN_GPUS if gpu in RACK_SCALE else _domain(gpu, gpus),
            processes="one for all GPUs" if per_process == gpus > 1 else "",
            gpu_ids=ids if (ids := _on_first_host(run, first)) != tuple(range(gpus)) and per_process == 1 else (),
            communicators=_sharing(run, first),
        ),
        why,
    )


def _on_first_host(run: Run, group: int) -> tuple[int, ...]:
    """The GPUs of a group on its first host, as numbered there; () where several have one number, as in containers."""
    mine = [device for (number, _), device in sorted(run.devices.items()) if number == group]
    slots = [device.slot for device in mine if device.host == mine[0].host]
    return tuple(sorted(slots)) if len(set(slots)) == len(slots) else ()


def _sharing(run: Run, group: int) -> int:
    """Groups at the same time on other GPUs of the same hosts (NCCL_TESTS_SPLIT of nccl-tests); 1 where GPUs are in two."""
    hosts = {device.host for (number, _), device in run.devices.items() if number == group}
    there = {number: _on_first_host(run, number) for number, _ in run.devices}
    same = [slots for number, slots in there.items() if {d.host for (n, _), d in run.devices.items() if n == number} == hosts]
    apart = (
        len({slot for slots in same for slot in slots}) == sum(map(len, same)) and len({len(slots) for slots in same}) == 1
    )
    return len(same) if run.groups > 1 and apart else 1


def _domain(gpu: str, gpus: int) -> int:
    """GPUs of a server that NVLink joins, by the name of the part; those of a bridge are assumed."""
    bridge = BRIDGED.get(gpu, 1 if gpu.endswith("-pcie") else gpus)
    return bridge if gpus % bridge == 0 else min(gpus, bridge)


def forced(env: Mapping[str, str], base: MeasuredPlatform, collective: str = "") -> MeasuredPlatform:
    """A platform with what NCCL's variables fix, where it states nothing itself.

    Args:
        env: variable without NCCL_ → value.
        collective: of the run, "" where it is not known: variables that name a collective then count for none.
    """
    nvls = {"0": False, "1": True, "2": True}.get(env.get("NVLS_ENABLE", ""))
    return replace(
        base,
        algorithm=base.algorithm if base.algorithm != "auto" else tuning_of(env, "ALGO", ALGORITHMS, collective),
        protocol=base.protocol if base.protocol != "auto" else tuning_of(env, "PROTO", PROTOCOLS, collective),
        nvls=nvls if base.nvls is None else base.nvls,
        min_ctas=base.min_ctas or _count(env, "MIN_CTAS", "MIN_NCHANNELS"),
        max_ctas=base.max_ctas or _count(env, "MAX_CTAS", "MAX_NCHANNELS"),
        qps_per_connection=base.qps_per_connection or _count(env, "IB_QPS_PER_CONNECTION"),
    )


def tuning_of(env: Mapping[str, str], key: str, choices: tuple[str, ...], collective: str) -> str:
    """The algorithms or protocols that NCCL_ALGO or NCCL_PROTO leave for a collective, `auto` for all.

    Since 2.24 the variables may name collectives: `ring;allreduce:tree,nvls` (NCCL user guide, environment variables).
    """
    tuning = "auto"
    for part in env.get(key, "").split(";"):
        name, _, words = part.rpartition(":")
        if not name or (collective and collective_named(name) == collective):
            tuning = tuning_named(words, choices) or tuning
    return tuning


def _count(env: Mapping[str, str], *keys: str) -> int | None:
    """The first of the variables that is a number above 0."""
    values = (env.get(key, "") for key in keys)
    return next((int(value) for value in values if _COUNT.fullmatch(value) and int(value)), None)


class Front(NamedTuple):
    """The YAML head in front of raw output."""

    head: Head
    text: Reading[Head]


def tables(
    runs: Sequence[Run], name: str, given: MeasuredPlatform | None, front: Front | None, report: Report
) -> list[Table]:
    """A table of every run that has rows. `given` or the front matter say what the text does not. Raises InputError."""
    kept = [run for run in runs if run.rows]
    made = [_table(run, at, len(kept), name, given, front, report=report) for at, run in enumerate(kept, 1)]
    report.raise_errors()
    return [item for item in made if item is not None]


def _table(
    run: Run, number: int, count: int, name: str, given: MeasuredPlatform | None, front: Front | None, *, report: Report
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
    factor = COLLECTIVES[collective].busbw(platform.ranks)
    rows = [row for printed in run.rows if (row := _row(printed, factor, name, report)) is not None]
    for line, message, hint in run.notes:
        report.warn(CODE, Place(name, line, 1), message, hint)
    identity = (front.head.id if front is not None else "") or Path(name).stem
    identity += f"-{number}" if count > 1 else ""
    source = source_of(front.head) if front is not None else ""
    if front is not None and front.head.not_scored:
        why_not = front.head.not_scored if isinstance(front.head.not_scored, str) else "marked `not_scored`"
    return table(identity, collective, platform, source or Path(name).stem, rows, why_not, warnings=report.warnings[warned:])


def _platform(
    platform: MeasuredPlatform, given: MeasuredPlatform | None, front: Front | None, place: Place, report: Report
) -> MeasuredPlatform:
    """The front matter first, then what was given, then what the text says; the text knows its own ranks best."""
    merged = platform
    if given is not None:
        stated = {
            key: getattr(platform, key)
            for key in (*_OF_RUN, "processes", "communicators")
            if getattr(platform, key) not in (None, "auto", "")
        }
        counted = part_of(given, platform.gpus_per_node, platform.nodes, platform.gpu_ids) if platform.ranks else given
        merged = replace(counted, **stated)
        if platform.gpu and platform.gpu != given.gpu:
            report.warn(CODE, place, f"the output states {platform.gpu} GPUs, the platform {given.gpu}", "")
    if front is not None and front.head.platform is not None:
        merged = read_platform(front.head.platform, front.text, merged, _header_hint(merged, report))
    elif not merged.gpu or not merged.ranks:
        required = "gpu, gpus_per_node, nodes, and of several nodes nics_per_node, nic_gbps, transport"
        report.error(CODE, place, f"the output does not state its platform: {required}", _header_hint(merged, report))
    elif gaps := missing(merged):
        text = f"{merged.ranks} GPUs on {merged.nodes} nodes: the text does not say {', '.join(gaps)}"
        report.error(CODE, place, text, _header_hint(merged, report))
    return _idle_network(merged)


_OF_RUN = ("algorithm", "protocol", "nvls", "min_ctas", "max_ctas", "qps_per_connection")


def _idle_network(platform: MeasuredPlatform) -> MeasuredPlatform:
    """Without the network where one NVLink domain holds the run."""
    if platform.crosses_network:
        return platform
    return replace(platform, nics_per_node=0, nic_gbps=0, transport="none")


def _header_hint(platform: MeasuredPlatform, report: Report) -> str:
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
        if value := getattr(platform, key):
            lines = re.sub(rf"( {key}: ).*", rf"\g<1>{value}", lines)
    return f"{_PUT}, with the figures of your cluster:\n    ---\n{lines}\n    ---"


def _collective(run: Run, ranks: int, name: str, front: Front | None, report: Report) -> str:
    """From the front matter, the program's name, the columns and the ratio of the bandwidths, or the file's name."""
    if front is not None and front.head.collective:
        return collective_of(front.head, front.text)
    collective = collective_named(run.program) or _by_columns(run.rows, ranks)
    if not collective:
        words = re.findall(
            r"all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|sendrecv", Path(name).stem.lower()
        )
        collective = collective_named(words[0]) if words else ""
    if not collective:
        hint = "put `---`, `collective: all_gather` and `---` in front of the text, or keep the line with the program's name"
        report.error(CODE, Place(name, run.line, 1), "the output does not state the collective", hint)
    return collective


def _by_columns(rows: Iterable[Printed], ranks: int) -> str:
    """The collective by operation, root and busbw/algbw; "" where they leave several."""
    best, ratio = _ratio(rows)
    if not ranks or not ratio:
        return ""

    def near(kind: str) -> bool:
        return bool(abs(ratio - COLLECTIVES[kind].busbw(ranks)) < 0.02)

    rooted = best.root is not None and best.root >= 0
    if best.redop not in ("", "none"):
        if ratio > 1.02:  # only an all-reduce moves more than the buffer
            return ALL_REDUCE
        return REDUCE if rooted else next((kind for kind in (ALL_REDUCE, REDUCE_SCATTER) if near(kind)), "")
    if rooted:
        return BROADCAST
    out, into = best.sides
    if near(ALL_GATHER) and out and into and out.wrong is not None:
        return ALLTOALL if into.wrong is None else ALL_GATHER  # alltoall never checks its in-place result
    return ""


def _ratio(rows: Iterable[Printed]) -> tuple[Printed, float]:
    """busbw / algbw, of the fastest row, where rounding blurs it least; 0 where none is printed."""
    best = max(rows, key=lambda row: max((side.algbw or 0 for side in row.sides if side), default=0))
    return best, next((side.busbw / side.algbw for side in best.sides if side and side.busbw and side.algbw), 0.0)


def _counted(run: Run, collective: str, platform: MeasuredPlatform) -> MeasuredPlatform:
    """The platform with as many nodes as busbw/algbw shows, where the text lists no devices and a log of another size
    than the platform's is read."""
    made = COLLECTIVES[collective]
    ratio, passes = _ratio(run.rows)[1], made.passes
    if run.devices or not 0.5 < ratio / passes < 0.999 or made.busbw(3) != passes * 2 / 3:
        return platform
    if abs(ratio - made.busbw(platform.ranks)) < 0.004:
        return platform
    nodes = max(1, round(1 / (1 - ratio / passes) / platform.gpus_per_node))
    counted = replace(platform, nodes=nodes)
    return counted if abs(ratio - made.busbw(counted.ranks)) < 0.002 else platform


def _row(printed: Printed, factor: float, name: str, report: Report) -> Row | None:
    """The better side, with a warning for what does not agree."""
    place, rows = Place(name, printed.line, 1), []
    for words, side in zip(("out of place", "in place"), printed.sides, strict=True):
        if side is None:
            continue
        for message, hint in check(printed.bytes, side.time_us, side.algbw, side.busbw, factor, side.slack):
            report.warn(CODE, place, f"{words}: {message}", hint)
        if side.wrong is not None and side.wrong >= MIN_WRONG_VALUES:
            report.warn(CODE, place, f"{words}: {side.wrong:g} wrong elements", "the run has data errors: repeat it")
        rows.append(row_of(printed.bytes, side.time_us, factor))
    return min(rows, key=lambda row: row.time_us) if rows else None
