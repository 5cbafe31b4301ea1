"""The JSON that nccl-tests writes with -J, and rccl-tests with -Z json, as tables."""

from __future__ import annotations

import re
from json import JSONDecodeError
from typing import Any

from fabric.base.diagnostics import Place, Report, show
from fabric.base.formats.documents import load
from fabric.base.reading import UnreadableError, expand
from fabric.solver.measured.run import Device, Printed, PrintedTimes, Run, tables
from fabric.solver.measured.tables import CODE, MAX_BYTES, WHAT, MeasuredPlatform, Table

MAX_RANKS = 1_000_000
VALUES_OF_DEVICE = 8  # what a device takes in memory, in values of a range
_SHAPE = "nccl-tests' -J writes `config` and `results`, each with `size`, `out_of_place` and `in_place`"


def is_json(text: str) -> bool:
    """Whether a text is a JSON report; a YAML table in JSON's signs is not one."""
    start = re.match(r"\s*(\{|\[\s*\{)", text)  # a line may begin with the `[1,0]` of mpirun
    return start is not None and (start[1] != "{" or '"results"' in text)


def read_text(text: str, name: str, platform: MeasuredPlatform | None = None) -> list[Table]:
    """The tables of a report. Raises InputError."""
    report = Report()
    try:
        data = load(text)
    except JSONDecodeError as error:
        place = Place(name, error.lineno, error.colno)
        report.fail(CODE, place, f"not JSON: {error.msg}", "run the test again: the report is incomplete")
    except UnreadableError as error:
        report.fail(CODE, Place(name, error.line or 1, 1), f"not a report: {error.reason}", _SHAPE)
    reader = _Reader(name, report)
    runs = reader.listed(data) if isinstance(data, list) else [reader.whole(_mapping(data))]
    report.raise_errors()
    if not any(run.rows for run in runs):
        report.fail(CODE, Place(name, 1, 1), f"expected {WHAT}, got a report without results", _SHAPE)
    return tables(runs, name, platform, None, report)


class _Reader:
    """Takes values out of a report; what is no value of its kind goes to `report`."""

    def __init__(self, name: str, report: Report) -> None:
        self._place, self._report = Place(name, 1, 1), report

    def whole(self, data: dict[str, Any]) -> Run:
        """A report of nccl-tests: the file of one run."""
        run, config = Run(), _mapping(data.get("config"))
        run.program = str((_list(data.get("args")) or [""])[0]).rpartition("/")[2]
        for item in _list(data.get("env")):
            run.environment(str(item))
        run.threads, run.gpus = (max(1, int(_number(config.get(key)) or 1)) for key in ("nthreads", "ngpus"))
        for number, item in enumerate(_list(config.get("devices", data.get("devices")))):
            device = _mapping(item)
            key = int(_number(device.get("group")) or 0), int(_number(device.get("rank")) or number)
            host, pid, gpu = (str(device.get(word, "")) for word in ("hostname", "pid", "device_info"))
            run.devices[key] = Device(host, pid, gpu, int(_number(device.get("device")) or 0))
        for number, item in enumerate(_list(data.get("results"))):
            row = _mapping(item)
            size = self._size(row, f"results[{number}]")
            sides = [self._side(_mapping(row.get(key)), "time", "alg_bw", "bus_bw", "nwrong") for key in _SIDES]
            self._keep(run, row, size, (sides[0], sides[1]))
        return run

    def listed(self, data: list[Any]) -> list[Run]:
        """A report of rccl-tests: a list of rows, in place and out of place beside each other."""
        runs: dict[str, Run] = {}
        pairs: dict[tuple[str, int, str, str, int], list[PrintedTimes | None]] = {}
        for number, item in enumerate(data):
            row = _mapping(item)
            program = str(row.get("name", row.get("collective", "")))
            size = self._size(row, f"[{number}]")
            run = runs.setdefault(program, Run(program=program))
            if not run.devices:
                self._ranks(run, row)
            side = self._side(row, "time", "algBw", "busBw", "wrong")
            key = program, size, str(row.get("type")), str(row.get("redop")), int(_number(row.get("numCycle")) or 0)
            sides = pairs.setdefault(key, [None, None])
            sides[row.get("inPlace") in (1, True, "1", "true")] = side
        for (program, size, kind, redop, _), (out, into) in pairs.items():
            self._keep(runs[program], {"type": kind, "redop": redop}, size, (out, into))
        return list(runs.values())

    def _ranks(self, run: Run, row: dict[str, Any]) -> None:
        """Stands in for the list of devices, which such a report does not hold; the GPU is not named."""
        nodes, ranks = int(_number(row.get("nodes")) or 1), int(_number(row.get("ranks")) or 0)
        if 0 < nodes <= ranks <= MAX_RANKS:
            expand(ranks * VALUES_OF_DEVICE)
            run.devices = {(0, at): Device(f"host{at * nodes // ranks}", str(at), "", 0) for at in range(ranks)}

    def _keep(self, run: Run, row: dict[str, Any], size: int, sides: tuple[PrintedTimes | None, PrintedTimes | None]) -> None:
        if sides != (None, None):
            root = str(row.get("root", "")).strip()
            number = int(root) if re.fullmatch(r"-?\d{1,9}", root) else None
            run.rows.append(Printed(1, size, str(row.get("redop", "")), number, sides))

    def _size(self, row: dict[str, Any], where: str) -> int:
        size = _number(row.get("size"))
        if size is not None and 0 <= size <= MAX_BYTES and size == int(size):
            return int(size)
        self._report.error(CODE, self._place, f"{where}.size: expected bytes, got {show(row.get('size'))}", _SHAPE)
        return 0

    def _side(self, row: dict[str, Any], time: str, algbw: str, busbw: str, wrong: str) -> PrintedTimes | None:
        micros = _number(row.get(time, row.get("cpu_time")))
        if not micros or micros < 0:
            return None
        return PrintedTimes(micros, _number(row.get(algbw)), _number(row.get(busbw)), _number(row.get(wrong)))


_SIDES = ("out_of_place", "in_place")


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> float | None:
    """A number, also where it is written as text; None for N/A, nan and the like."""
    try:
        found = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        return None
    return found if found is not None and abs(found) < 1e18 else None
