"""Reports of an outcome: text for a terminal, Markdown, JSON, JUnit; each is text that ends with a line break.

Names come from the intent and messages from daemons, so every report writes both as data of its format.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from fabric.audit.checks import ERROR, Read, Verdict
from fabric.audit.checks.reports import report as report_of
from fabric.audit.checks.reports.common import Rule, device_and_message, folded
from fabric.audit.checks.reports.formats import Report
from fabric.base.formats import Case, Failure, Suite
from fabric.base.formats.blocks import Section, Table, plain
from fabric.base.grouping import grouped
from fabric.base.schemas.models import Amount, Count, Document, Number, Text, document, each_of, enum_of, json_key, old_name
from fabric.base.text import aligned, and_more, duration, printable, style
from fabric.lab.outcome import FAIL, PASS, SKIP, Measure, NotEmulated, Outcome, Result

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


def _text(outcome: Outcome) -> str:
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
    yield from (f"    {printable(device_and_message(fault))}" for fault in faults[:MAX_FAULTS])
    if len(faults) > MAX_FAULTS:
        yield f"    {and_more(len(faults) - MAX_FAULTS, see='`--json`')}"


def _not_emulated(limits: tuple[NotEmulated, ...]) -> Iterator[str]:
    """Their reasons are in the other formats."""
    if not limits:
        return
    yield "not emulated, and the checks that cover it instead:"
    rows = [[printable(limit.what), printable(", ".join(limit.covered_by)) or NOTHING] for limit in limits]
    yield from aligned(rows, indent="    ")


# --- json -----------------------------------------------------------------------------------------------------


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
    summary: Annotated[dict[str, Count], each_of(COUNTED.values())] = json_key("numbers of results", _counts)


def _finite(value: Measure) -> Measure | None:
    return None if isinstance(value, float) and not math.isfinite(value) else value


# --- Markdown: a record to keep beside a design ---------------------------------------------------------------


def _sections(outcome: Outcome) -> Iterator[Section]:
    """What ran, a table of results for each kind, the faults of each result, and what is not emulated."""
    ran = {"Shape": outcome.shape, "FRR": outcome.frr, "Kernel": outcome.kernel, "VRFs": f"as {outcome.vrfs}"}
    yield Section("What ran", [Table("", ("", ""), [*ran.items()])])
    for kind, results in by_kind(outcome).items():
        head, *rows = table(kind, results)
        yield Section(f"{kind.capitalize()}s", [Table("", head, rows)])
    broken = [
        Table(result.title, ("device", "fault"), [(one.device or NOTHING, one.message) for one in folded(result.faults)])
        for result in outcome.results
        if result.faults
    ]
    if broken:
        yield Section("Faults", broken)
    if outcome.not_emulated:
        head = ["what", "why", "checks that look at it instead"]
        rows = [[limit.what, limit.why, ", ".join(limit.covered_by) or NOTHING] for limit in outcome.not_emulated]
        yield Section("Not emulated", [Table("", head, rows)])


# --- JUnit ----------------------------------------------------------------------------------------------------


def _suites(outcome: Outcome, name: str, classname: str) -> list[Suite]:
    """A suite for each kind of result. What is not emulated is no test."""
    return [
        Suite(
            f"{name}: {kind}s",
            [_case(result, f"{classname}.{kind}s") for result in results],
            _time(sum(result.seconds for result in results)),
        )
        for kind, results in by_kind(outcome).items()
    ]


def _case(result: Result, classname: str) -> Case:
    """Faults are the text of the failure; a summary that is no reason, and what was measured, are output."""
    summary, output = printable(result.summary), measures(result)
    faults = [printable(device_and_message(fault)) for fault in folded(result.faults)]
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


def report(form: str, outcome: Outcome) -> str:
    """The report in one of the formats of findings: a result is a test, and its faults are findings with its id."""
    command, site = "fabric lab test", printable(outcome.site)
    shown = Report(
        command=command,
        verdict=_verdict(outcome),
        title=f"Lab test of site {plain(outcome.site)}",
        summary=lambda: verdict(outcome),
        text=lambda: _text(outcome),
        document=lambda: document(outcome, OutcomeDocument),
        sections=lambda: _sections(outcome),
        suites=lambda: _suites(outcome, f"{command}: {site}", f"fabric.lab.{site}"),
        shown_by=f"{command} --json",
        rules={result.id: _rule(result) for result in outcome.results},
        time=_time(outcome.seconds),
        ascii=True,
    )
    return report_of(form, shown)


def _rule(result: Result) -> Rule:
    return Rule(
        id=result.id,
        name="".join(word.capitalize() for word in re.findall(r"\w+", result.id)),
        title=f"{result.title} as planned",
        why="The configs of the plan ran on routing daemons, and did not do what the plan says.",
        remediation="See the message of each finding.",
        severity=ERROR,
        subject=f"lab.{result.kind}s",
    )


def _verdict(outcome: Outcome) -> Verdict:
    findings = (
        replace(fault, id=result.id, file=outcome.intent)
        for result in outcome.results
        for fault in result.faults
        if result.status == FAIL
    )
    read = Read(what=f"lab of site {outcome.site}", path=outcome.intent)
    ran = [result.id for result in outcome.results if result.status != SKIP]
    return Verdict.of(findings, [read], ran, [(one.title, one.summary) for one in outcome.results if one.status == SKIP])
