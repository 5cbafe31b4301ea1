"""Logs of acceptance tests: which run each part of a log belongs to, and what it measured.

The scripts print a line `#### fabric acceptance: RUN PROGRAM [DEVICE]` in front of each program's output. Output without such
a line is assigned by the host names in its list of devices, or where one run alone has as many GPUs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabric.audit.cabling.report import CablingDocument
from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.formats.documents import load
from fabric.base.reading import UnreadableError, guarded, text_of, whole_lines
from fabric.deliver.acceptance.gates import CODE, PERFTEST, Gates, Group, Program, Run as PlannedRun, Step
from fabric.solver.collective import COLLECTIVES
from fabric.solver.doctor.evidence import perftest_gbps
from fabric.solver.measured.output import is_json, runs_in
from fabric.solver.measured.run import Run, described
from fabric.solver.measured.tables import collective_named
from fabric.solver.network import GBPS_PER_GBYTE_S

WHAT = "a log of an acceptance test"
MARK = re.compile(r"^(.{0,80}?)#### fabric acceptance: (\S+) (\S+)(?: (\S+))?[ \t\r]*$", re.MULTILINE)
MAX_FILES = 100_000


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one program of one run measured."""

    run: str
    collective: str
    device: str  # of perftest
    file: str
    line: int  # of the first row
    busbw_GBps: Mapping[int, float]  # bytes → the better of in place and out of place
    wrong: float  # elements with a wrong value
    text: str  # the part of the log, for the doctor
    servers: frozenset[str] = frozenset()  # as planned
    mistake: str = ""  # why nothing of it can be compared


@dataclass(frozen=True, kw_only=True)
class Logs:
    """All logs of a cluster."""

    measured: tuple[Measured, ...]
    cabling: tuple[str, ...] | None  # findings of `fabric cabling verify`; None where its report is not among the files
    warnings: tuple[Diagnostic, ...]


class _Planned:
    """Where runs are found by name, by servers and by number of GPUs."""

    def __init__(self, gates: Gates) -> None:
        self.by_name: dict[str, tuple[Step, Group, PlannedRun]] = {row[2].name: row for row in gates.every_run()}
        self.by_servers: dict[tuple[frozenset[str], str, int], str] = {}
        self.by_ranks: dict[tuple[str, int], set[str]] = {}
        for _, group, run in gates.every_run():
            for program in group.programs:
                ranks = len(run.servers) * group.gpus_per_server
                self.by_ranks.setdefault((program.collective, ranks), set()).add(run.name)
                if len(run.gpu_ids) == 0:
                    self.by_servers[frozenset(map(_short, run.servers)), program.collective, ranks] = run.name

    def of(self, run: Run, collective: str) -> str:
        """The run of a table without a name; "" where none or several fit."""
        hosts, ranks = frozenset(_short(device.host) for device in run.devices.values()), described(run)[0].ranks
        if name := self.by_servers.get((hosts, collective, ranks)):
            return name
        alike = self.by_ranks.get((collective, ranks), set())
        return next(iter(alike)) if len(alike) == 1 else ""


def _short(host: str) -> str:
    return host.lower().partition(".")[0]


def read(gates: Gates, paths: Sequence[Path]) -> Logs:
    """Logs of files and of all files in folders. Raises InputError where a path is not there, or none is a log."""
    planned, measured, warnings = _Planned(gates), list[Measured](), list[Diagnostic]()
    cabling: tuple[str, ...] | None = None
    for path in _files(paths):
        try:
            text = text_of(path, WHAT)
            text = text if is_json(text) else whole_lines(text)
            with guarded(str(path)):
                if (faults := _cabling(text)) is not None:
                    cabling = (*(cabling or ()), *faults)
                    continue
                parts = list(_parts(text, str(path), planned))
        except InputError as error:
            if any(item.code == "FAB001" for item in error.diagnostics):
                raise
            warnings += error.diagnostics
            continue
        except UnreadableError as error:
            warnings.append(Diagnostic(CODE, Place(str(path), error.line), str(error), "", "warning"))
            continue
        measured += [part for part in parts if part.run]
        lost = [part for part in parts if not part.run]
        if lost or not parts:
            warnings.append(_unassigned(path, lost))
    if not measured and cabling is None:
        hint = "give the folder of the logs that run.sh has written"
        place = Place(", ".join(map(str, paths[:3])))
        raise InputError([*warnings, Diagnostic(CODE, place, "no log of a run of this acceptance test", hint)])
    return Logs(measured=tuple(measured), cabling=cabling, warnings=tuple(warnings))


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
        else:
            yield path


def _unassigned(path: Path, parts: Sequence[Measured]) -> Diagnostic:
    if not parts:
        return Diagnostic(CODE, Place(str(path)), "no output of nccl-tests or perftest: the file was not used", "", "warning")
    first = parts[0]
    message = f"{first.collective or 'a table'} fits no run, or several: it was not used"
    hint = f"put the line `#### fabric acceptance: RUN {first.collective or 'all_reduce'}` in front; runs are in runs.tsv"
    return Diagnostic(CODE, Place(str(path), first.line), message, hint, "warning")


def _cabling(text: str) -> tuple[str, ...] | None:
    """Messages of a report of `fabric cabling verify`, None for another file."""
    if not text.lstrip().startswith("{") or '"findings"' not in text:
        return None
    document: Any = load(text)
    if not isinstance(document, dict) or set(document) != set(CablingDocument.model_fields):
        return None
    return tuple(str(finding.get("message", "")) for finding in document["findings"] if isinstance(finding, dict))


def _parts(text: str, name: str, planned: _Planned) -> Iterator[Measured]:
    """A log by its marks; what stands before the first has to be assigned."""
    marks = list(MARK.finditer(text))
    head = text[: marks[0].start()] if marks else text
    yield from _unmarked(head, name, planned)
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        line = text.count("\n", 0, mark.start()) + 1
        yield _marked(mark, text[mark.end() : end], (name, line), planned)


def _unmarked(text: str, name: str, planned: _Planned) -> Iterator[Measured]:
    for run in runs_in(text, name):
        collective = collective_named(run.program)
        yield _of_run(run, planned.of(run, collective), collective, (name, run.rows[0].line), text, planned)


def _marked(mark: re.Match[str], text: str, place: tuple[str, int], planned: _Planned) -> Measured:
    prefix, run, collective, device = mark[1], mark[2], mark[3], mark[4] or ""
    if prefix:  # of mpirun --output tag, of kubectl logs
        text = "\n".join(line.removeprefix(prefix) for line in text.split("\n"))
    if run not in planned.by_name:
        return _empty(run="", collective=collective, device=device, place=place, text=text)
    if collective == PERFTEST:
        gbps = max((value for value, _ in perftest_gbps(text)), default=0.0)
        rows = {planned_program(planned.by_name[run][1], PERFTEST).gates[0].bytes: gbps / GBPS_PER_GBYTE_S} if gbps else {}
        return _empty(run=run, collective=collective, device=device, place=place, text=text, rows=rows)
    runs = runs_in(text, place[0])
    if not runs:
        return _empty(run=run, collective=collective, device=device, place=place, text=text)
    return _of_run(runs[-1], run, collective, (place[0], place[1] + runs[-1].rows[0].line - 1), text, planned)


def planned_program(group: Group, collective: str) -> Program:
    """A program of a group. StopIteration for another one."""
    return next(program for program in group.programs if program.collective == collective)


def _empty(
    *, run: str, collective: str, device: str, place: tuple[str, int], text: str, rows: Mapping[int, float] | None = None
) -> Measured:
    mistake = "" if rows else "the program printed no bandwidth"
    return Measured(
        run=run,
        collective=collective,
        device=device,
        file=place[0],
        line=place[1],
        busbw_GBps=rows or {},
        wrong=0,
        text=text,
        mistake=mistake,
    )


def _of_run(run: Run, name: str, collective: str, place: tuple[str, int], text: str, planned: _Planned) -> Measured:
    """The rows of a table as busbw, by the number of GPUs that the plan has."""
    mistake, rows = "", dict[int, float]()
    if name:
        _, group, planned_run = planned.by_name[name]
        ranks = len(planned_run.servers) * group.gpus_per_server
        if (ran := described(run)[0].ranks) not in (0, ranks):
            mistake = f"{ran} GPUs ran, expected {ranks}"
        elif collective not in {program.collective for program in group.programs}:
            mistake = f"{collective or 'the program'} is none of this run"
        else:
            factor = COLLECTIVES[collective].busbw(ranks)
            for row in run.rows:
                times = [side.time_us for side in row.sides if side is not None]
                if times and row.bytes:
                    rows[row.bytes] = max(rows.get(row.bytes, 0.0), row.bytes / min(times) / 1e3 * factor)
    wrong = sum(side.wrong or 0.0 for row in run.rows for side in row.sides if side is not None)
    return Measured(
        run=name,
        collective=collective,
        device="",
        file=place[0],
        line=place[1],
        busbw_GBps=rows,
        wrong=wrong,
        text=text,
        servers=frozenset(planned.by_name[name][2].servers) if name else frozenset(),
        mistake=mistake,
    )
