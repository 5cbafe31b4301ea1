"""Measured tables of nccl-tests and rccl-tests: what was measured, on what, by whom; of files, folders, or a single number.

A YAML table has `id`, `collective`, a `platform` block, a `source` and `rows`; a row has `bytes` and `oop` (out of place)
or `ip` (in place) or both, each with `time_us`, `algbw_GBps`, `busbw_GBps`. `output` reads raw output and JSON.
Sizes are those of nccl-tests: bytes of the larger buffer, so all_gather and reduce_scatter sizes are totals over the ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Tag

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, nearest, show
from fabric.base.grouping import grouped
from fabric.base.inputs import BY_FORM, TEXT, InputFile, OpenSection, Reading, Within
from fabric.base.reading import UnreadableError, guarded
from fabric.base.source import Path_
from fabric.solver.collective import COLLECTIVES, collective_names
from fabric.solver.measured.platform import NOT_STATED, MeasuredPlatform, PlatformBlock, header_hint, part_of, read_platform

__all__ = [
    "Measured",
    "MeasuredPlatform",
    "Row",
    "Table",
    "need_scored",
    "of_collective",
    "read",
    "read_all",
    "read_yaml",
    "stated_tables",
]


CODE = "FAB172"
MIN_BYTES = 8  # smaller rows measure an empty kernel and are not scored
MAX_BYTES, MAX_US, MAX_GBPS = 2**50, 1e12, 1e6

# --- what a YAML table, or the head of raw output, may say ------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Side(OpenSection):
    """Out of place, or in place; None: not stated."""

    time_us: Annotated[float | None, Within(0, MAX_US)] = None
    algbw_GBps: Annotated[float | None, Within(0, MAX_GBPS)] = None
    busbw_GBps: Annotated[float | None, Within(0, MAX_GBPS)] = None


@dataclass(frozen=True, kw_only=True)
class StatedRow(Side):
    """One size; a single time may stand beside it."""

    bytes: Annotated[int, Within(0, MAX_BYTES, "the size column of nccl-tests, in bytes")]
    oop: Side | None = None
    ip: Side | None = None


@dataclass(frozen=True, kw_only=True)
class Head(OpenSection):
    """What a table says beside its rows."""

    id: Annotated[str, TEXT] = ""
    collective: Annotated[str, TEXT] = ""
    platform: PlatformBlock | None = None
    source: Annotated[Annotated[str, TEXT, Tag("[value]")] | Annotated[dict[str, Any], Tag("[mapping]")], BY_FORM] = ""
    not_scored: Any = None


@dataclass(frozen=True, kw_only=True)
class File(Head):
    rows: tuple[StatedRow, ...] = ()


FILE = InputFile(
    File,
    "a measured table",
    "a table has `id`, `collective`, `platform`, `source` and `rows`; raw output of nccl-tests is read too",
    CODE,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One size; measured is the better of in place and out of place."""

    bytes: int
    time_us: float
    algbw_GBps: float
    busbw_GBps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of one run. Tables of one thread or cluster have the same `source`."""

    id: str
    collective: str
    platform: MeasuredPlatform
    source: str
    rows: tuple[Row, ...]
    scored: bool
    why_not: str = ""  # why it is not scored
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def scored_rows(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.bytes >= MIN_BYTES) if self.scored else ()


def collective_named(text: str) -> str:
    """`AllReduce`, `all-to-all`, `all_gather_perf` in the names of COLLECTIVES; "" for no collective."""
    bare = re.sub(r"(?:perf|mpi|bench){1,3}$", "", re.sub(r"[^a-z0-9]", "", text.lower()))
    known = {name.replace("_", ""): name for name in COLLECTIVES}
    return known.get(bare.removeprefix("nccl").removeprefix("rccl"), "")


def read(path: Path, shown: str | None = None, platform: MeasuredPlatform | None = None) -> list[Table]:
    """The tables of a file: one of a YAML file, one a run of raw output. `shown` is the file's name in messages.

    `platform` says of raw output what the text does not. Raises InputError with every mistake of the file.
    """
    return tables_in(FILE.read_text(path, shown), shown or str(path), platform)


def tables_in(text: str, name: str, platform: MeasuredPlatform | None = None) -> list[Table]:
    """The tables of the text of a file, as of `read`."""
    try:
        with guarded(name):
            return _tables(text, name, platform)
    except UnreadableError as error:
        raise InputError([Diagnostic(CODE, Place(name, error.line), str(error), FILE.shape)]) from error


def _tables(text: str, name: str, platform: MeasuredPlatform | None) -> list[Table]:
    from fabric.solver.measured import output as measured_json, output as measured_text

    if measured_json.is_json(text):
        return measured_json.read_json(text, name, platform)
    if measured_text.is_raw(text):
        return measured_text.read_text(text, name, platform)
    try:
        return [read_yaml(text, name)]
    except InputError as error:
        if Path(name).suffix in (".yaml", ".yml") or error.diagnostics[0].code != "FAB003":
            raise
    message = f"expected {FILE.what}, got a text that is neither YAML nor output of nccl-tests"
    raise InputError([Diagnostic(CODE, Place(name, 1, 1), message, FILE.shape)])


def read_yaml(text: str, name: str) -> Table:
    """A table in YAML. Raises InputError."""
    tree = FILE.parse(text, name)
    top = tree.written
    if not any(key in top for key in ("rows", "platform", "not_scored", "collective")):
        keys = ", ".join(list(tree.names())[:4])
        tree.report.fail(CODE, tree.place(), f"expected {FILE.what}, got a mapping with the keys {keys}", FILE.shape)
    file = tree.checked(tree.model())
    why_not = _why_not(file, tree)
    collective = collective_of(file, tree, required=not why_not)
    if file.platform is None and not why_not:
        tree.error(("platform",), "missing key", header_hint())
    platform = read_platform(file.platform, tree) if file.platform is not None else NOT_STATED
    rows = _rows(file, tree, COLLECTIVES[collective].busbw(platform.ranks) if collective and platform.ranks else 0.0)
    identity = file.id or Path(name).stem
    tree.checked(file)
    return table(identity, collective, platform, source_of(file) or identity, rows, why_not, warnings=tree.report.warnings)


def table(
    identity: str,
    collective: str,
    platform: MeasuredPlatform,
    source: str,
    rows: Iterable[Row],
    why_not: str,
    *,
    warnings: Iterable[Diagnostic],
) -> Table:
    """A table that knows whether it is scored."""
    all_rows = tuple(rows)
    if not why_not and not any(row.bytes >= MIN_BYTES for row in all_rows):
        why_not = f"no rows of at least {MIN_BYTES} bytes"
    if not why_not and collective not in collective_names():
        why_not = f"the model knows no {collective}"
    if not why_not and platform.ranks < 2:
        why_not = "one rank moves nothing"
    return Table(
        id=identity,
        collective=collective,
        platform=platform,
        source=source,
        rows=all_rows,
        scored=not why_not,
        why_not=why_not,
        warnings=tuple(warnings),
    )


def _why_not(file: File, tree: Reading[File]) -> str:
    reason = file.not_scored
    if reason is not None and reason is not False:
        return reason if isinstance(reason, str) and reason else "marked `not_scored`"
    if not file.rows:
        names = list(tree.names())
        tree.warn(("rows",), "expected rows, got none; the table is not scored", nearest("rows", names or ["rows"]))
        return "no rows"
    return ""


def collective_of(head: Head, tree: Reading[Any], required: bool = True) -> str:
    """The collective of a table's head."""
    if not head.collective:
        if required:
            tree.error(("collective",), "missing key", nearest("", collective_names()))
        return ""
    name = collective_named(head.collective)
    if not name:
        hint = nearest(head.collective, collective_names())
        tree.error(("collective",), f"expected a collective, got {show(head.collective)}", hint)
    return name


def source_of(head: Head) -> str:
    """Repository and issue, or repository and path, or whatever names the report."""
    if isinstance(head.source, str):
        return head.source
    origin = {key: str(value).strip() for key, value in head.source.items()}
    repo = origin.get("repo", "")
    beside = [f"{repo}{sign}{origin[key]}" for key, sign in (("issue", "#"), ("path", ":")) if repo and key in origin]
    return next(iter(beside), repo) or next(
        (origin[key] for key in ("report", "name", "title", "url", "kind") if key in origin), ""
    )


def _rows(file: File, tree: Reading[File], factor: float) -> list[Row]:
    rows = []
    for number, item in enumerate(file.rows):
        where: Path_ = ("rows", number)
        mistakes = len(tree.report.errors)
        sides = {(*where, key): side for key, side in (("oop", item.oop), ("ip", item.ip)) if side is not None}
        made = [_side(side, tree, at, item.bytes, factor) for at, side in (sides or {where: item}).items()]
        result = [row for row in made if row is not None]
        if result:
            rows.append(min(result, key=lambda row: row.time_us))
        elif len(tree.report.errors) == mistakes:
            message = "expected a measured time, in place or out of place"
            tree.error((*where, "oop"), message, "remove rows without a measured time")
    return rows


def _side(side: Side, tree: Reading[File], where: Path_, size: int, factor: float) -> Row | None:
    """One of in place and out of place; the time from a bandwidth where only that is there."""
    if (side.time_us, side.algbw_GBps, side.busbw_GBps) == (None, None, None):
        return None  # N/A
    time, busbw = side.time_us, side.busbw_GBps
    if not time:
        rate = side.algbw_GBps or ((busbw or 0) / factor if factor else 0)
        if not rate:
            tree.error((*where, "time_us"), "expected a time above 0 µs", "remove rows without a measurement")
            return None
        time = size / rate / 1e3
    for message, hint in check(size, time, side.algbw_GBps, busbw or None, factor):
        tree.warn((*where, "algbw_GBps" if "algbw" in message else "busbw_GBps"), message, hint)
    return row_of(size, time, factor)


def row_of(size: int, time_us: float, factor: float) -> Row:
    """A row from its time; the printed bandwidths are the same figures, rounded."""
    algbw = size / time_us / 1e3
    return Row(size, time_us, algbw, algbw * factor)


def check(
    size: int, time_us: float, algbw: float | None, busbw: float | None, factor: float, slack: float = 0.006
) -> list[tuple[str, str]]:
    """What of a row does not agree with the rest of it, beyond rounding to 0.01 GB/s and `slack`, a share of the time."""
    problems, rate = [], size / time_us / 1e3
    if algbw is not None and abs(algbw - rate) > 0.006 + slack * rate:
        text = f"algbw is {algbw:g} GB/s, but {size} bytes in {time_us:g} µs are {rate:.3g} GB/s"
        problems.append((text, "the time is used"))
    if busbw is not None and factor and abs(busbw - rate * factor) > 0.015 + slack * rate * factor:
        text = f"busbw is {busbw:g} GB/s, but this collective and these ranks give {rate * factor:.3g} GB/s"
        problems.append((text, "is the collective right, and the number of nodes and GPUs?"))
    return problems


def of_collective(paths: Sequence[Path], collective: str) -> tuple[Table, ...]:
    """Tables of the collective that is shown. Raises InputError with every other one."""
    report, matching = Report(), []
    for path in paths:
        for table in read(path, str(path)):
            if table.collective != collective or not table.rows:
                got = table.collective if table.rows else "no rows"
                hint = "another --collective?"
                report.error(CODE, Place(str(path)), f"expected a table of {collective}, got {got}", hint)
            matching.append(table)
    report.raise_errors()
    return tuple(matching)


# --- stated ---------------------------------------------------------------------------------------------------
# A single measured number as a table: often all that an operator has.


@dataclass(frozen=True)
class Measured:
    """One bus bandwidth of nccl-tests."""

    collective: str  # of COLLECTIVES
    gpus: int
    bytes: int
    busbw_GBps: float
    gpus_per_server: int = 0  # that took part; 0: all of a server

    def each(self, whole: int) -> int:
        """GPUs of each server that took part, where a server has so many; a job smaller than a server runs on one."""
        return self.gpus_per_server or min(self.gpus, whole)


def stated_tables(given: Sequence[Measured], platform: MeasuredPlatform) -> list[Table]:
    """A table of each collective and number of GPUs.

    Raises InputError for GPUs that are no whole servers.
    """
    report, each = Report(), platform.gpus_per_node
    for item in given:
        if item.gpus_per_server > each:
            hint = "SERVERSxGPUS are GPUs of each server, such as 32x1"
            report.error(
                "FAB172", Place("--busbw"), f"expected at most {each} GPUs of a server, got {item.gpus_per_server}", hint
            )
    for gpus in sorted({item.gpus for item in given if item.gpus % item.each(each)}):
        below = gpus - gpus % each
        hint = f"{below} or {below + each} GPUs are whole servers of {each}"
        report.error("FAB172", Place("--busbw"), f"expected whole servers of {each} GPUs, got {gpus} GPUs", hint)
    report.raise_errors()
    groups = grouped(((item.collective, item.gpus, item.each(each)), item) for item in given)
    return [_stated_table(collective, gpus, of_each, rows, platform) for (collective, gpus, of_each), rows in groups.items()]


def _stated_table(collective: str, gpus: int, each: int, found: Sequence[Measured], platform: MeasuredPlatform) -> Table:
    ran = part_of(platform, each, -(-gpus // each))
    factor = COLLECTIVES[collective].busbw(gpus)
    rows = [
        Row(item.bytes, item.bytes / algbw / 1e3, algbw, item.busbw_GBps)
        for item in sorted(found, key=lambda item: item.bytes)
        for algbw in (item.busbw_GBps / factor,)
    ]
    return Table(id=collective, collective=collective, platform=ran, source="", rows=tuple(rows), scored=True)


# --- Measured tables of many files and folders ----------------------------------------------------------------


def read_all(paths: Sequence[Path], platform: MeasuredPlatform | None = None) -> list[Table]:
    """All tables of files and folders, in the order of the names.

    A file of a folder that cannot be read is a table that is not scored, with its first mistake as the reason. Raises
    InputError with the mistakes of files that were named, and where no file can be read.

    Args:
        platform: of output of nccl-tests that does not state it.
    """
    files: list[Path] = []
    for path in paths:
        files += sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
    if not files:
        message = "expected measured tables, the folder is empty"
        raise InputError([Diagnostic("FAB172", Place(str(paths[0])), message, "use output of nccl-tests, or tables in YAML")])
    named, tables = set(paths), list[Table]()
    mistakes: list[Diagnostic] = []
    for file in files:
        try:
            tables += read(file, str(file), platform)
        except InputError as error:
            mistakes += error.diagnostics
            if file not in named:
                tables.append(_unreadable(file, error.diagnostics))
    of_named = any(item.place.file in {str(path) for path in named} for item in mistakes)
    if of_named or (mistakes and not any(item.rows for item in tables)):
        raise InputError(mistakes)
    return _named_apart(tables)


def _unreadable(file: Path, mistakes: Sequence[Diagnostic]) -> Table:
    """A table without rows in place of a file."""
    first = mistakes[0]
    reason = f"cannot be read: {first.place}: {first.message}"
    return Table(id=file.stem, collective="", platform=NOT_STATED, source=str(file), rows=(), scored=False, why_not=reason)


def need_scored(tables: Sequence[Table], paths: Sequence[Path]) -> None:
    """Raises InputError where no table can be scored."""
    if any(table.scored_rows for table in tables):
        return
    reasons = "; ".join(f"{table.id}: {table.why_not}" for table in tables[:3])
    message = f"expected a table that can be scored, got {reasons}"
    hint = "a table needs its platform, a collective that is modeled, and rows of 8 bytes or more"
    raise InputError([Diagnostic("FAB172", Place(str(paths[0])), message, hint)])


def _named_apart(tables: Sequence[Table]) -> list[Table]:
    """The tables, a second one of a name as `name (2)`: results are listed by name."""
    seen: dict[str, int] = {}
    out = []
    for table in tables:
        seen[table.id] = seen.get(table.id, 0) + 1
        out.append(table if seen[table.id] == 1 else replace(table, id=f"{table.id} ({seen[table.id]})"))
    return out
