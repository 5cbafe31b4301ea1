"""A verdict as test results: one test case for each check."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from fabric.audit.checks import Finding, Verdict
from fabric.audit.checks.reports.fold_findings import folded
from fabric.audit.checks.reports.rules import Rule, rule_of
from fabric.audit.checks.reports.spell import clean, device_and_message, line
from fabric.base.formats import Case, Failure, Suite
from fabric.base.formats.junit import junit
from fabric.base.grouping import grouped
from fabric.base.text import plural, printable


def report(verdict: Verdict) -> str:
    """A suite for each room of checks; whatever was skipped is a suite of its own."""
    rooms: dict[str, list[Case]] = defaultdict(list)
    found, silenced = _by_id(verdict.findings), _by_id(verdict.silenced)
    for id in sorted({*verdict.ran, *found, *silenced}):
        rule = rule_of(id)
        rooms[rule.room].append(_case(rule, verdict, found.get(id, []), silenced.get(id, [])))
    suites = [Suite(f"fabric check: {room}", cases) for room, cases in sorted(rooms.items())]
    skipped = [
        Case(name=printable(what), classname="fabric.skipped", skipped=printable(why)) for what, why in verdict.skipped
    ]
    return junit("fabric check", [*suites, Suite("fabric check: not checked", skipped)] if skipped else suites)


def _by_id(findings: Iterable[Finding]) -> Mapping[str, list[Finding]]:
    return grouped((finding.id, clean(finding)) for finding in findings)


def _case(rule: Rule, verdict: Verdict, found: list[Finding], silenced: list[Finding]) -> Case:
    """Findings that fail the run fail the test; milder and silenced ones are its output."""
    failing = [finding for finding in found if verdict.failing(finding)]
    failure = None
    if failing:
        number = f"{plural(len(failing), 'finding')}, first: " if len(failing) > 1 else ""
        shown = folded(failing, verdict.whole)
        failure = Failure(failing[0].severity, number + device_and_message(shown[0]), "\n".join(map(_lines, shown)))
    output = [_lines(finding) for finding in folded((one for one in found if not verdict.failing(one)), verdict.whole)]
    output += [f"silenced, {finding.silenced}: {line(finding)}" for finding in folded(silenced, verdict.whole)]
    name = printable(f"{rule.id} {rule.title}")
    return Case(name=name, classname=f"fabric.{rule.subject}", failure=failure, output="\n".join(output))


def _lines(finding: Finding) -> str:
    return f"{line(finding)}\n    hint: {finding.hint}" if finding.hint else line(finding)
