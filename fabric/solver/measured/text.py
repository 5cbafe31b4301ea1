"""Raw output of nccl-tests and rccl-tests, of any version and behind any log prefix, as tables.

The columns are those the header line names: `time algbw busbw #wrong` twice, older ones `error` or `res`, newer ones more.
A YAML head between two lines `---` in front of the text says what the text does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from fabric.base.diagnostics import Place, Report, nearest
from fabric.base.reading import whole_lines
from fabric.solver import Fields, parse
from fabric.solver.measured.run import Device, Printed, PrintedTimes, Run, tables
from fabric.solver.measured.tables import CODE, WHAT, MeasuredPlatform, Table

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
MAX_FIGURE = 1e18  # of any figure that a row prints
_WHOLE = re.compile(r"-?\d{1,9}")
_FIELD = re.compile(rf"{_NUMBER.pattern}|N/A|-?nan|-?inf", re.IGNORECASE)
_USUAL = ("redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong")
_TIMES = ("time", "cputime")
_SHAPE = "a table in YAML, or the output of nccl-tests with its line `# size count type … time algbw busbw`"


def is_raw(text: str) -> bool:
    """Whether a text holds output of nccl-tests rather than a YAML table."""
    plain = whole_lines(_ESCAPES.sub("", text))
    return any(_HEAD.search(line) or _ROW.search(line) for line in plain.splitlines())


def read_text(text: str, name: str, platform: MeasuredPlatform | None = None) -> list[Table]:
    """The tables of a text, one a run of a program. Raises InputError."""
    report = Report()
    front, body = _front(text, name, report)
    runs = _Reader().read(body)
    if not any(run.rows for run in runs):
        first = next((line for line in body if line.strip()), "").strip()
        message = f"expected {WHAT}, got {first[:50]!r}" if first else f"expected {WHAT}, got an empty file"
        report.fail(CODE, Place(name, 1, 1), message, _SHAPE)
    return tables(runs, name, platform, front, report)


def _front(text: str, name: str, report: Report) -> tuple[Fields | None, list[str]]:
    """The YAML head, and the lines below it at their places; a head's lines are empty ones."""
    lines = whole_lines(_ESCAPES.sub("", text)).replace("\r", "").split("\n")
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
    front = Fields(parse(head, name, WHAT, "`platform:` and its keys"), name, report, CODE)
    keys = ("id", "collective", "platform", "source", "not_scored", "notes", "config", "quality")
    for key in front:
        if key not in keys:
            report.warn(CODE, front.place(key), f"the head's key `{key}` is not known", nearest(key, keys))
    return front, blank + lines[last + 1 :]


class _Reader:
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
        alone = len(tokens) in (width, expected)  # then it is a time, and the column of the root is blank
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
