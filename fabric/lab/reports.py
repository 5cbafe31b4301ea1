"""Reports of an outcome: text for a terminal, Markdown, JSON, JUnit; each is text that ends with a line break.

Names come from the intent and messages from daemons, so every report writes both as data of its format.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from fabric.audit.diff.formats import MENTION, SPECIAL
from fabric.base.formats import Case, Failure, Format, Suite, json_text
from fabric.base.formats.junit import junit
from fabric.base.grouping import by_message, grouped
from fabric.base.schemas.models import Amount, Count, Document, Number, Text, document, each_of, enum_of, json_key, old_name
from fabric.base.text import aligned, and_more, devices, duration, printable, style
from fabric.lab.outcome import FAIL, PASS, SKIP, Fault, Measure, NotEmulated, Outcome, Result

# --- words and numbers of an outcome, all on one line ---------------------------------------------------------

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


# --- text for a terminal --------------------------------------------------------------------------------------

MAX_FAULTS = 20  # of one result that are shown


def text_report(outcome: Outcome) -> str:
    """Blocks with an empty line between them."""
    blocks = [
        [
            printable(f"site {outcome.site}: {outcome.shape}"),
            printable(f"FRR {outcome.frr}, kernel {outcome.kernel}, VRFs as {outcome.vrfs}"),
        ],
        *(_results(*table(kind, results)) for kind, results in by_kind(outcome).items()),
        *(list(_faults(result)) for result in outcome.results if result.faults),
        list(_not_emulated(outcome.not_emulated)),
        [verdict(outcome)],
    ]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks if block) + "\n"


def _results(head: list[str], *rows: list[str]) -> list[str]:
    """The first cell of a row is the mark of its result."""
    return aligned([[style(mark.lower(), mark), *rest] for mark, *rest in rows], head=head)


def _faults(result: Result) -> Iterator[str]:
    yield style("fail", f"{printable(result.title)}:")
    faults = folded(result.faults)
    yield from (f"    {fault_text(fault)}" for fault in faults[:MAX_FAULTS])
    if len(faults) > MAX_FAULTS:
        yield f"    {and_more(len(faults) - MAX_FAULTS, see='`--json`')}"


def _not_emulated(limits: tuple[NotEmulated, ...]) -> Iterator[str]:
    """Their reasons are in the other formats."""
    if not limits:
        return
    yield "not emulated, and the checks that cover it instead:"
    rows = [[printable(limit.what), printable(", ".join(limit.covered_by)) or NOTHING] for limit in limits]
    yield from aligned(rows, indent="    ")


# --- Markdown: a record to keep beside a design ---------------------------------------------------------------

MORE_SPECIAL = re.compile(r"([&$])")  # begin entities and formulas


def markdown_report(outcome: Outcome) -> str:
    """Blocks with an empty line between them."""
    return "\n\n".join(_blocks(outcome)) + "\n"


def _blocks(outcome: Outcome) -> Iterator[str]:
    yield f"# Lab test of site {_text(outcome.site)}"
    yield f"**{verdict(outcome)}**"
    ran = {"Shape": outcome.shape, "FRR": outcome.frr, "Kernel": outcome.kernel, "VRFs": f"as {outcome.vrfs}"}
    yield _table(("What ran", ""), ran.items())
    for kind, results in by_kind(outcome).items():
        yield f"## {_text(kind.capitalize())}s"
        head, *rows = table(kind, results)
        yield _table(head, rows)
    broken = [result for result in outcome.results if result.faults]
    if broken:
        yield "## Faults"
    for result in broken:
        yield f"### {_text(result.title)}"
        yield _table(("device", "fault"), ((fault.device, fault.message) for fault in folded(result.faults)))
    if outcome.not_emulated:
        yield "## Not emulated"
        limits = ((limit.what, limit.why, ", ".join(limit.covered_by)) for limit in outcome.not_emulated)
        yield _table(("what", "why", "checks that look at it instead"), limits)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [[_text(cell) for cell in head], ["---"] * len(head)]
    cells += [[_text(cell) or NOTHING for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _text(words: str) -> str:
    """Words on one line that Markdown takes as they are."""
    escaped = SPECIAL.sub(r"\\\1", printable(words))
    return MORE_SPECIAL.sub(r"\\\1", escaped).replace("@", MENTION)


# --- json -----------------------------------------------------------------------------------------------------
def json_report(outcome: Outcome) -> str:
    """The document; letters beyond ASCII are written as escapes, so that any text can be stored."""
    return json_text(document(outcome, OutcomeDocument)) + "\n"


def _counts(outcome: Outcome) -> dict[str, int]:
    statuses = [result.status for result in outcome.results]
    return {word: statuses.count(status) for status, word in COUNTED.items()}


class FaultDocument(Document):
    device: str = json_key('"" for the fabric as a whole')
    message: str


class ResultDocument(Document):
    id: Text
    kind: Annotated[str, enum_of(("proof", SCENARIO))]
    title: str
    status: Annotated[str, enum_of(MARKS)]
    summary: str = json_key("of what is skipped, why")
    faults: list[FaultDocument]
    measured: dict[str, Number | str | None] = json_key(
        "units in their names; null for a number that is not finite",
        lambda result: {name: _finite(value) for name, value in result.measured.items()},
    )
    seconds: Amount


class NotEmulatedDocument(Document):
    what: str
    reason: str = json_key(of="why")
    why: str = old_name("reason", "why")
    covered_by: list[str] = json_key("ids of checks")


class OutcomeDocument(Document):
    site: Text
    shape: str
    frr: str = json_key("its version")
    kernel: str = json_key("its version")
    vrfs: Annotated[str, enum_of(("devices", "namespaces"))] = json_key("how tenants are kept apart")
    seconds: Amount = json_key("of the whole run")
    results: list[ResultDocument] = json_key("in the order in which they ran")
    not_emulated: list[NotEmulatedDocument]
    summary: Annotated[dict[str, Count], each_of(COUNTED.values())] = json_key(
        "numbers of results", lambda outcome: _counts(outcome)
    )


def _finite(value: Measure) -> Measure | None:
    return None if isinstance(value, float) and not math.isfinite(value) else value


# --- junit ----------------------------------------------------------------------------------------------------
# An outcome as test results: a suite of proofs and one of scenarios. What is not emulated is no test.


def junit_report(outcome: Outcome) -> str:
    """A suite for each kind of result."""
    site = printable(outcome.site)
    suites = [
        Suite(
            f"fabric lab test: {site}: {kind}s",
            [_case(result, f"fabric.lab.{site}.{kind}s") for result in results],
            _time(sum(result.seconds for result in results)),
        )
        for kind, results in by_kind(outcome).items()
    ]
    return junit("fabric lab test", suites, _time(outcome.seconds))


def _case(result: Result, classname: str) -> Case:
    """Faults are the text of the failure; a summary that is no reason, and what was measured, are output."""
    summary, output = printable(result.summary), measures(result)
    faults = [fault_text(fault) for fault in folded(result.faults)]
    failed, skipped = result.status == FAIL, result.status == SKIP
    if not failed:
        output = [*output, *faults] if skipped else [summary, *output, *faults]
    return Case(
        name=printable(result.title),
        classname=classname,
        time=_time(result.seconds),
        failure=Failure(FAIL, summary, "\n".join(faults) or summary) if failed else None,
        skipped=summary if skipped else None,
        output="\n".join(output),
    )


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"


# --- all formats ----------------------------------------------------------------------------------------------

FORMATS: Mapping[str, Format[str]] = {
    "text": Format("text for a terminal", "fabric.lab.reports:text_report"),
    "json": Format("all results of the run", "fabric.lab.reports:json_report"),
    "junit": Format("JUnit XML, for test results of CI", "fabric.lab.reports:junit_report"),
    "markdown": Format("a record to keep with a design", "fabric.lab.reports:markdown_report"),
}


def report(form: str, outcome: Outcome) -> str:
    """The report in one of FORMATS. KeyError for another name."""
    return FORMATS[form](outcome)
