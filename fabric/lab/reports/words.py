"""Words and numbers of an outcome, as its reports for people write them; all on one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fabric.base.grouping import by_message, grouped
from fabric.base.text import devices, duration, printable
from fabric.lab.outcome import FAIL, PASS, SKIP, Fault, Measure, Outcome, Result

SCENARIO = "scenario"
MARKS = {PASS: "pass", FAIL: "FAIL", SKIP: "skip"}
COUNTED = {PASS: "passed", FAIL: "failed", SKIP: "skipped"}
NOTHING = "–"
UNITS = {"_ms": 1, "_s": 1000}  # how the name of a time ends → milliseconds
SHARE = "_percent"


def label(name: str) -> str:
    """`fib_repair_ms` → `fib repair`: the unit stands beside the value."""
    return printable(name.removesuffix(_unit(name)).removesuffix(SHARE).replace("_", " "))


def shown(name: str, value: Measure) -> str:
    """The value of a measure, with the unit that its name ends in."""
    if isinstance(value, str):
        return printable(value)
    if unit := _unit(name):
        return duration(value * UNITS[unit])
    if name.endswith(SHARE):
        return f"{value:.1f} %"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def measures(result: Result) -> list[str]:
    """`fib repair 12.5 ms`, one a measure."""
    return [f"{label(name)} {shown(name, value)}" for name, value in result.measured.items()]


def table(kind: str, results: Sequence[Result]) -> list[list[str]]:
    """A head, then a row for each result, the summary last since it may be long.

    Scenarios measure the same things, so each measure has a column; the summary of a proof says what there is to say.
    """
    names = list(dict.fromkeys(name for row in results for name in row.measured)) if kind == SCENARIO else []
    head = ["", kind, *map(label, names), "found"]
    return [
        head,
        *([MARKS[row.status], printable(row.title), *_values(row, names), printable(row.summary)] for row in results),
    ]


def _values(result: Result, names: Sequence[str]) -> Iterator[str]:
    return (shown(name, result.measured[name]) if name in result.measured else NOTHING for name in names)


def fault_text(fault: Fault) -> str:
    """Device and message."""
    return printable(f"{fault.device}: {fault.message}" if fault.device else fault.message)


def folded(faults: Iterable[Fault]) -> list[Fault]:
    """Faults that several devices share once; its device lists all of them."""
    groups = by_message(faults, lambda fault: (fault.device, fault.message, "" if fault.device else fault))
    return [_shared(group) if len(group) > 1 else group[0] for group in groups]


def _shared(group: Sequence[Fault]) -> Fault:
    same = all(fault.message == group[0].message for fault in group)
    return replace(group[0], device=devices([fault.device for fault in group], same))


def by_kind(outcome: Outcome) -> Mapping[str, list[Result]]:
    """`proof`, `scenario` → their results, in the order in which they ran."""
    return grouped((printable(result.kind), result) for result in outcome.results)


def verdict(outcome: Outcome) -> str:
    """`17 passed, 1 failed, 1 skipped in 43.1 s`."""
    number = Counter(result.status for result in outcome.results)
    counts = ", ".join(f"{number[status]:,} {word}" for status, word in COUNTED.items() if number[status])
    return f"{counts or 'nothing ran'} in {duration(outcome.seconds * 1000)}"


def _unit(name: str) -> str:
    return next((unit for unit in UNITS if name.endswith(unit)), "")
