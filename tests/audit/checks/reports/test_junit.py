"""JUnit XML: the document whole, its counts, and the attributes that GitLab, Jenkins and Azure DevOps need."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from fabric.audit.checks import Check, Finding, Verdict
from fabric.audit.checks.reports import report

# Element → attributes it must have, and those it may have; from Jenkins' junit-10.xsd.
ATTRIBUTES = {
    "testsuites": ({"name", "tests", "failures", "errors"}, {"time"}),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped"}, {"time"}),
    "testcase": ({"name", "classname"}, {"time"}),
    "failure": ({"message", "type"}, set()),
    "skipped": ({"message"}, set()),
    "system-out": (set(), set()),
}
INSIDE = {"testsuites": {"testsuite"}, "testsuite": {"testcase"}, "testcase": {"failure", "skipped", "system-out"}}


@pytest.fixture
def verdict(monkeypatch: pytest.MonkeyPatch) -> Verdict:
    monkeypatch.setattr(Check, "registry", {})

    class UniqueAddresses(Check):
        """Compares all addresses.

        Two devices would answer.
        """

        id, title, severity, remediation = "FAB201", "Addresses are unique", "error", "change one"
        example = "10.0.0.1 on leaf1 and leaf2"
        __module__ = "fabric.audit.checks.design.addresses"

    return Verdict.of(
        [
            Finding(
                id="FAB201",
                severity="error",
                device="leaf1",
                file="a.conf",
                line=3,
                message="10.0.0.1 is used twice",
                hint="change one",
            ),
            Finding(id="FAB201", severity="error", device="leaf2", file="b.conf", line=4, message="10.0.0.1 is used twice"),
            Finding(id="FAB201", severity="warning", device="leaf3", file="c.conf", line=5, message="10.0.0.2 is odd"),
            Finding(
                id="FAB187",
                severity="warning",
                device="",
                file="dc1.yaml",
                line=4,
                message="8 ports are shut",
                silenced="spare",
                column=5,
            ),
        ],
        ran=["FAB201", "FAB102"],
        skipped=[("Batfish", "no server")],
    )


def test_the_whole_document(verdict: Verdict) -> None:
    assert report("junit", verdict) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites name="fabric check" time="0" tests="4" failures="1" errors="0">\n'
        '  <testsuite name="fabric check: design" time="0" tests="1" failures="1" errors="0" skipped="0">\n'
        '    <testcase name="FAB201 Addresses are unique" classname="fabric.design.addresses" time="0">\n'
        '      <failure type="error" message="2 findings, first: leaf1: 10.0.0.1 is used twice">'
        "a.conf:3: error[FAB201]: leaf1: 10.0.0.1 is used twice\n"
        "    hint: change one\n"
        "b.conf:4: error[FAB201]: leaf2: 10.0.0.1 is used twice</failure>\n"
        "      <system-out>c.conf:5: warning[FAB201]: leaf3: 10.0.0.2 is odd</system-out>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        '  <testsuite name="fabric check: intent" time="0" tests="2" failures="0" errors="0" skipped="0">\n'
        '    <testcase name="FAB102 The intent matches the schema" classname="fabric.intent.language" time="0" />\n'
        '    <testcase name="FAB187 The plan has no warnings" classname="fabric.intent.remarks" time="0">\n'
        "      <system-out>silenced, spare: dc1.yaml:4:5: warning[FAB187]: 8 ports are shut</system-out>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        '  <testsuite name="fabric check: not checked" time="0" tests="1" failures="0" errors="0" skipped="1">\n'
        '    <testcase name="Batfish" classname="fabric.skipped" time="0">\n'
        '      <skipped message="no server" />\n'
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )


@pytest.mark.parametrize(("fail_on", "failures"), [("error", 2), ("warning", 3), ("note", 3), ("never", 0)])
def test_a_test_fails_as_the_run_does(verdict: Verdict, fail_on: str, failures: int) -> None:
    asked = Verdict.of(verdict.findings, ran=verdict.ran, fail_on=fail_on)
    root = ET.fromstring(report("junit", asked))
    assert root.get("failures") == str(min(failures, 1))
    text = root.findtext(".//failure") or ""
    assert text.count("FAB201") == failures
    assert (root.findtext(".//system-out") or "").count("FAB201") == 3 - failures


def test_elements_and_attributes_are_those_of_the_schema(verdict: Verdict) -> None:
    root = ET.fromstring(report("junit", verdict))
    assert root.tag == "testsuites"
    for element in root.iter():
        needed, allowed = ATTRIBUTES[element.tag]
        assert needed <= set(element.attrib) <= needed | allowed, element.tag
        assert {child.tag for child in element} <= INSIDE.get(element.tag, set())


def test_an_empty_run_is_a_document() -> None:
    root = ET.fromstring(report("junit", Verdict()))
    assert (root.tag, root.get("tests"), list(root)) == ("testsuites", "0", [])
