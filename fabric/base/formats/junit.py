"""JUnit XML, which GitLab, Jenkins and Azure DevOps show as test results.

Elements and attributes are those of Jenkins' xUnit schema (junit-10.xsd). GitLab knows a test by `classname` and `name`,
ignores repetitions, and shows the text of `failure`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

NO_TIME = "0"  # the same bytes every time
_COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


@dataclass(frozen=True)
class Failure:
    """Why a test failed."""

    type: str
    message: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Case:
    """A test: it failed, was skipped for a reason, or passed."""

    name: str
    classname: str
    time: str = NO_TIME
    failure: Failure | None = None
    skipped: str | None = None
    output: str = ""


@dataclass(frozen=True)
class Suite:
    """Tests of one kind."""

    name: str
    cases: Sequence[Case]
    time: str = NO_TIME
    output: str = ""


def junit(name: str, suites: Sequence[Suite], time: str = NO_TIME) -> str:
    """The document. Nothing in it is an `error`, which is a test that broke."""
    root = ET.Element("testsuites", name=name, time=time)
    for suite in suites:
        element = ET.SubElement(root, "testsuite", name=suite.name, time=suite.time)
        for case in suite.cases:
            _case(element, case)
        if suite.output:
            ET.SubElement(element, "system-out").text = suite.output
        for count, tag in _COUNTED.items():
            element.set(count, str(len(list(element.iter(tag)))))
    for count in [*_COUNTED][:3]:  # the schema has no `skipped` here
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root)
    body: bytes = ET.tostring(root)  # references instead of letters beyond ASCII: true in whatever encoding it is stored
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body.decode("ascii")}\n'


def seconds_text(seconds: float) -> str:
    """As attributes of the schema have it."""
    return f"{seconds:.3f}"


def _case(suite: ET.Element, case: Case) -> None:
    test = ET.SubElement(suite, "testcase", name=case.name, classname=case.classname, time=case.time)
    if case.failure is not None:
        failure = ET.SubElement(test, "failure", type=case.failure.type, message=case.failure.message)
        failure.text = case.failure.text
    if case.skipped is not None:
        ET.SubElement(test, "skipped", message=case.skipped)
    if case.output:
        ET.SubElement(test, "system-out").text = case.output
