"""Output of nccl-tests and rccl-tests as tables: raw text of any version and behind any log prefix, and JSON.

The columns are those the header line names: `time algbw busbw #wrong` twice, older ones `error` or `res`, newer ones more.
A YAML head between two lines `---` in front of the text says what the text does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from json import JSONDecodeError
from statistics import median
from typing import Any

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.base.formats.documents import load
from fabric.base.inputs import InputFile
from fabric.base.reading import UnreadableError, expand, whole_lines
from fabric.solver.measured.run import Device, Front, Printed, PrintedTimes, Run, tables
from fabric.solver.measured.tables import CODE, FILE, MAX_BYTES, Head, MeasuredPlatform, Table

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TYPES = r"u?int(?:8|32|64)?|char|half|float|double|bfloat16|fp8_\w+|f8e\w+|float8\w*"
_ROW = re.compile(rf"(?<![0-9A-Za-z.,:/-])(\d{{1,15}})\s+(\d{{1,15}})\s+({_TYPES})(?=\s)(.*)")
_HEAD = re.compile(r"#\s+(size|bytes)\s+(count|N)\s+type\b(.*)")
_DEVICE = re.compile(
    r"#\s+Rank\s+(\d{1,7})\s+(?:Group\s+(\d{1,9})\s+)?(?:Pid\s+(\d+)\s+)?on\s+(\S+)\s+device\s+(\d{1,4})\s+\[[^\]]*\](.*)"
)
_THREADS = re.compile(r"#\s+nThread\s+(\d{1,4})\s+nGpus\s+(\d{1,4})")
_PROGRAM = re.compile(r"\b([a-z_]+)_(?:perf|test)(?:_mpi)?\b")
_STARTING = "Collective test starting:"
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
MAX_FIGURE = 1e18  # larger figures are invalid
_WHOLE = re.compile(r"-?\d{1,9}")
_FIELD = re.compile(rf"{_NUMBER.pattern}|N/A|-?nan|-?inf", re.IGNORECASE)
_USUAL = ("redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong")
_TIMES = ("time", "cputime")
_TEXT_SHAPE = "a table in YAML, or the output of nccl-tests with its line `# size count type … time algbw busbw`"


def is_raw(text: str) -> bool:
    """Whether a text holds output of nccl-tests rather than a YAML table."""
    plain = whole_lines(_ESCAPES.sub("", text))
    return any(_HEAD.search(line) or _ROW.search(line) for line in plain.splitlines())


def runs_in(text: str, name: str) -> list[Run]:
    """The runs of a text of either kind that have rows, as they are printed, whatever they say of their platform.

    Raises InputError for JSON that is no report.
    """
    if is_json(text):
        report = Report()
        runs = _json_runs(text, name, report)
        report.raise_errors()
    else:
        runs = _TextReader().read(_plain_lines(text))
    return [run for run in runs if run.rows]


def read_text(text: str, name: str, platform: MeasuredPlatform | None = None) -> list[Table]:
    """The tables of a text, one a run of a program. Raises InputError."""
    report = Report()
    front, body = _front(text, name, report)
    runs = _TextReader().read(body)
    if not any(run.rows for run in runs):
        first = next((line for line in body if line.strip()), "").strip()
        message = f"expected {FILE.what}, got {first[:50]!r}" if first else f"expected {FILE.what}, got an empty file"
        report.fail(CODE, Place(name, 1, 1), message, _TEXT_SHAPE)
    return tables(runs, name, platform, front, report)


HEAD = InputFile(Head, FILE.what, "`platform:` and its keys", CODE)


def _front(text: str, name: str, report: Report) -> tuple[Front | None, list[str]]:
    """The YAML head, and the lines below it at their places; a head's lines are empty ones."""
    lines = _plain_lines(text)
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[first].strip() != "---":
        return None, lines
    last = next((number for number in range(first + 1, len(lines)) if lines[number].strip() == "---"), None)
    if last is None:
        report.fail(
            CODE, Place(name, first + 1, 1), "the YAML header is not closed", "close it with a line `---` above the output"
        )
    head = "\n".join([""] * (first + 1) + lines[first + 1 : last])
    blank = [""] * (last + 1)
    if not head.strip():
        return None, blank + lines[last + 1 :]
    tree = HEAD.parse(head, name)
    tree.report = report
    keys = ("id", "collective", "platform", "source", "not_scored", "notes", "config", "quality")
    for key in tree.names():
        if key not in keys:
            report.warn(CODE, tree.place((key,)), f"the head's key `{key}` is not known", nearest(key, keys))
    return Front(tree.checked(tree.model()), tree), blank + lines[last + 1 :]


def _plain_lines(text: str) -> list[str]:
    return whole_lines(_ESCAPES.sub("", text)).replace("\r", "").split("\n")


class _TextReader:
    """Sorts lines into runs. Lines about a next program among the rows wait until its table begins."""

    def __init__(self) -> None:
        self.runs = [Run()]
        self.columns: tuple[str, ...] = ()
        self.next = Run()

    def read(self, lines: Sequence[str]) -> list[Run]:
        for at, line in enumerate(lines, 1):
            if row := _ROW.search(line):
                _take(self.runs[-1], row, self.columns, at)
            elif head := _HEAD.search(line):
                self.columns = tuple(head[3].split())
                self._run().line = at
            elif device := _DEVICE.search(line):
                rank, group, pid, host, index, gpu = device.groups()
                self._run().devices[int(group or 0), int(rank)] = Device(host, pid or "", gpu.strip(), int(index))
            elif match := _THREADS.search(line):
                self._run().threads, self.runs[-1].gpus = int(match[1]), int(match[2])
            elif _STARTING in line or not line.lstrip().startswith("# "):
                self._words(line)
        return [_in_microseconds(run) for run in self.runs]

    def _run(self) -> Run:
        """The run whose head is being read."""
        if self.runs[-1].rows:
            self.next.program = self.next.program or self.runs[-1].program
            self.runs.append(self.next)
            self.next = Run()
        return self.runs[-1]

    def _words(self, line: str) -> None:
        run = self.next if self.runs[-1].rows else self.runs[-1]
        if word := _PROGRAM.search(line):
            run.program = word[1]
        run.environment(line)


def _take(run: Run, row: re.Match[str], columns: tuple[str, ...], line: int) -> None:
    """One row; what is cut off is noted."""
    names, tokens = columns or _USUAL, row[4].split()
    redop = tokens.pop(0) if tokens and re.fullmatch(r"[A-Za-z]+", tokens[0]) else ""
    width = _width(names)
    once = sum(name in _TIMES for name in names) == 1
    expected = width if once else 2 * width
    root = None
    if ("root" in names or not columns) and tokens and _WHOLE.fullmatch(tokens[0]):
        alone = len(tokens) in (width, expected)  # one figure is a time, and the column of the root is blank
        root = int(tokens.pop(0)) if tokens[0].startswith("-") or not alone else None
    fields = names[_first_time(names) : _first_time(names) + width]
    if len(tokens) < width or not all(_FIELD.fullmatch(token) for token in tokens[:3]):
        run.notes.append((line, "the row is cut off; it is left out", "was another program's output printed into it?"))
        return
    if once or len(tokens) < 2 * width:  # one side is printed: in place, as traces and some builds of rccl-tests do
        sides: tuple[PrintedTimes | None, PrintedTimes | None] = (None, _side(fields, tokens[:width]))
    else:
        sides = (_side(fields, tokens[:width]), _side(fields, tokens[width : 2 * width]))
    if sides != (None, None):
        run.rows.append(Printed(line, int(row[1]), redop, root, sides))


def _first_time(names: Sequence[str]) -> int:
    return next((at for at, name in enumerate(names) if name in _TIMES), 0)


def _width(names: Sequence[str]) -> int:
    """Columns of one side: up to the second time, or to the end without a timestamp."""
    rest = list(names[_first_time(names) :])
    again = next((at for at, name in enumerate(rest) if at and name in _TIMES), None)
    return again if again is not None else len([name for name in rest if name != "timestamp"])


def _side(fields: Sequence[str], tokens: Sequence[str]) -> PrintedTimes | None:
    """One side by the names of its columns; None where the time is N/A or 0."""
    values = dict(zip(fields, tokens, strict=True))
    time, algbw, busbw = (values.get(key, "") for key in (fields[0], "algbw", "busbw"))
    if (_value(time) or 0) <= 0:
        return None
    wrong = values.get("#wrong", values.get("error", values.get("res", "")))
    checked = _value(wrong)
    if "#wrong" not in values and checked is not None:
        checked = 0.0  # older versions print the largest difference, not a count
    slack = 0.002 + _rounding(time) + _rounding(algbw)
    return PrintedTimes(_value(time) or 0.0, _value(algbw), _value(busbw), checked, slack)


def _value(token: str) -> float | None:
    value = float(token) if _NUMBER.fullmatch(token) else None
    return value if value is not None and abs(value) < MAX_FIGURE else None


def _rounding(token: str) -> float:
    """Half a unit of the last digit as a share of the number."""
    mantissa = token.lower().split("e")[0]
    digits = len(mantissa.partition(".")[2])
    value = abs(_value(mantissa) or 0.0)
    return min(0.5, 0.5 * 10.0**-digits / value) if value else 0.0


def _in_microseconds(run: Run) -> Run:
    """Versions before 2.0.0 print milliseconds; the bandwidths show it."""
    ratios = [
        row.bytes / side.time_us / 1e3 / side.algbw
        for row in run.rows
        for side in row.sides
        if side is not None and side.algbw and side.algbw >= 0.1
    ]
    if not ratios or not 500 < median(ratios) < 2000:
        return run
    for at, row in enumerate(run.rows):
        out, into = (side and replace(side, time_us=side.time_us * 1e3) for side in row.sides)
        run.rows[at] = replace(row, sides=(out, into))
    return run


# --- the JSON of nccl-tests -J and rccl-tests -Z json ---------------------------------------------------------

MAX_RANKS = 1_000_000
VALUES_OF_DEVICE = 8  # what a device takes in memory, in values of a range
_JSON_SHAPE = "nccl-tests' -J writes `config` and `results`, each with `size`, `out_of_place` and `in_place`"


def is_json(text: str) -> bool:
    """Whether a text is a JSON report; a YAML table in JSON's signs is not one."""
    start = re.match(r"\s*(\{|\[\s*\{)", text)  # a line may begin with the `[1,0]` of mpirun
    return start is not None and (start[1] != "{" or '"results"' in text)


def read_json(text: str, name: str, platform: MeasuredPlatform | None = None) -> list[Table]:
    """The tables of a report. Raises InputError."""
    report = Report()
    runs = _json_runs(text, name, report)
    report.raise_errors()
    if not any(run.rows for run in runs):
        report.fail(CODE, Place(name, 1, 1), f"expected {FILE.what}, got a report without results", _JSON_SHAPE)
    return tables(runs, name, platform, None, report)


def _json_runs(text: str, name: str, report: Report) -> list[Run]:
    try:
        data = load(text)
    except JSONDecodeError as error:
        place = Place(name, error.lineno, error.colno)
        report.fail(CODE, place, f"not JSON: {error.msg}", "run the test again: the report is incomplete")
    except UnreadableError as error:
        report.fail(CODE, Place(name, error.line or 1, 1), f"not a report: {error.reason}", _JSON_SHAPE)
    reader = _JsonReader(name, report)
    return reader.listed(data) if isinstance(data, list) else [reader.whole(_mapping(data))]


class _JsonReader:
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
        self._report.error(CODE, self._place, f"{where}.size: expected bytes, got {show(row.get('size'))}", _JSON_SHAPE)
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
