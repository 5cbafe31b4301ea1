"""JUnit XML, which GitLab, Jenkins and Azure DevOps show as test results: one test case for each check.

Elements and attributes are those of Jenkins' xUnit schema (junit-10.xsd). GitLab knows a test by `classname` and `name`,
ignores repetitions, and shows the text of `failure`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from xml.etree import ElementTree as ET

from fabric.checks.finding import Finding
from fabric.checks.reports.rules import Rule, rule_of
from fabric.checks.reports.spell import clean, line, plain, said
from fabric.checks.verdict import Verdict
from fabric.text.words import plural

NO_TIME = "0"  # the same bytes every time


def report(verdict: Verdict) -> str:
    """A suite for each room of checks; whatever was skipped is a suite of its own."""
    root = ET.Element("testsuites", name="fabric check", time=NO_TIME)
    rooms: dict[str, list[Rule]] = defaultdict(list)
    found = _by_id(verdict.findings)
    silenced = _by_id(verdict.silenced)
    for id in sorted({*verdict.ran, *found, *silenced}):
        rule = rule_of(id)
        rooms[rule.room].append(rule)
    for room, rules in sorted(rooms.items()):
        suite = _suite(root, room)
        for rule in rules:
            _case(suite, rule, verdict, found.get(rule.id, []), silenced.get(rule.id, []))
    if verdict.skipped:
        suite = _suite(root, "not checked")
        for what, why in verdict.skipped:
            ET.SubElement(_test(suite, plain(what), "skipped"), "skipped", message=plain(why))
    _count(root)
    ET.indent(root)
    body: bytes = ET.tostring(root)  # references instead of letters beyond ASCII: true in whatever encoding it is stored
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body.decode("ascii")}\n'


def _by_id(findings: Iterable[Finding]) -> Mapping[str, list[Finding]]:
    grouped: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        grouped[finding.id].append(clean(finding))
    return grouped


def _suite(root: ET.Element, room: str) -> ET.Element:
    return ET.SubElement(root, "testsuite", name=f"fabric check: {room}", time=NO_TIME)


def _test(suite: ET.Element, name: str, subject: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", name=name, classname=f"fabric.{subject}", time=NO_TIME)


def _case(suite: ET.Element, rule: Rule, verdict: Verdict, found: list[Finding], silenced: list[Finding]) -> None:
    """Findings that fail the run fail the test; milder and silenced ones are its output."""
    test = _test(suite, plain(f"{rule.id} {rule.title}"), rule.subject)
    failing = [finding for finding in found if verdict.failing(finding)]
    if failing:
        number = f"{plural(len(failing), 'finding')}, first: " if len(failing) > 1 else ""
        failure = ET.SubElement(test, "failure", type=failing[0].severity, message=number + said(failing[0]))
        failure.text = "\n".join(map(_lines, failing))
    output = [_lines(finding) for finding in found if not verdict.failing(finding)]
    output += [f"silenced, {finding.silenced}: {line(finding)}" for finding in silenced]
    if output:
        ET.SubElement(test, "system-out").text = "\n".join(output)


def _lines(finding: Finding) -> str:
    return f"{line(finding)}\n    hint: {finding.hint}" if finding.hint else line(finding)


def _count(root: ET.Element) -> None:
    """Numbers of every suite, and their sums; nothing here is an `error`, which is a test that broke."""
    counted = ("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")
    for suite in root:
        for name, tag in counted:
            suite.set(name, str(len(list(suite.iter(tag)))))
    for name, _ in counted[:3]:  # the schema has no `skipped` here
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
