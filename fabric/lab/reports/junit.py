"""JUnit XML, which GitLab, Jenkins and Azure DevOps show as test results: a suite of proofs and one of scenarios.

Elements and attributes are those of Jenkins' xUnit schema (junit-10.xsd). What is not emulated is no test; the other formats
have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from fabric.checks.reports.spell import plain
from fabric.lab.outcome import FAIL, SKIP, Outcome, Result
from fabric.lab.reports.words import by_kind, measures, said


def report(outcome: Outcome) -> str:
    """A suite for each kind of result."""
    root = ET.Element("testsuites", _counts(outcome.results), name="fabric lab test", time=_time(outcome.seconds))
    for kind, results in by_kind(outcome).items():
        suite = ET.SubElement(
            root,
            "testsuite",
            _counts(results),
            skipped=_number(results, SKIP),  # which the schema has for a suite alone
            name=f"fabric lab test: {plain(outcome.site)}: {kind}s",
            time=_time(sum(result.seconds for result in results)),
        )
        for result in results:
            _case(suite, result, f"fabric.lab.{plain(outcome.site)}.{kind}s")
    ET.indent(root)
    body: bytes = ET.tostring(root)  # references instead of letters beyond ASCII: true in whatever encoding it is stored
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body.decode("ascii")}\n'


def _case(suite: ET.Element, result: Result, classname: str) -> None:
    """Faults are the text of the failure; a summary that is no reason, and what was measured, are output."""
    test = ET.SubElement(suite, "testcase", name=plain(result.title), classname=classname, time=_time(result.seconds))
    summary, faults = plain(result.summary), [said(fault) for fault in result.faults]
    output = measures(result)
    if result.status == FAIL:
        ET.SubElement(test, "failure", type=FAIL, message=summary).text = "\n".join(faults) or summary
    elif result.status == SKIP:
        ET.SubElement(test, "skipped", message=summary)
        output += faults
    else:
        output = [summary, *output, *faults]
    if output:
        ET.SubElement(test, "system-out").text = "\n".join(output)


def _counts(results: Sequence[Result]) -> dict[str, str]:
    """Nothing here is an `error`, which is a test that broke."""
    return {"tests": str(len(results)), "failures": _number(results, FAIL), "errors": "0"}


def _number(results: Sequence[Result], status: str) -> str:
    return str(sum(result.status == status for result in results))


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
