"""What several devices share is shown once, where a person reads it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from fabric.audit.checks import ERROR, NOTE, Finding, Merge, Verdict
from fabric.audit.checks.reports import report
from fabric.audit.checks.reports.common import folded, groups


def one(device: str, message: str = "expected 10.0.0.1, got none", line: int = 3, severity: str = ERROR) -> Finding:
    return Finding(
        id="FAB283",
        severity=severity,
        device=device,
        file=f"{device or 'intent'}/frr.conf",
        line=line,
        message=message,
        hint="a hint",
    )


LEAVES = [one(f"leaf{number:02}") for number in range(1, 17)]


@pytest.mark.parametrize(
    ("findings", "devices"),
    [
        (LEAVES, ["leaf01, leaf02 and 14 more"]),
        (LEAVES[:3], ["leaf01, leaf02 and 1 more"]),
        (LEAVES[:2], ["leaf01", "leaf02"]),
        ([*LEAVES[:2], one("leaf09", "another")], ["leaf01", "leaf02", "leaf09"]),
        ([one("leaf01", line=at) for at in (1, 2, 3)], ["leaf01", "leaf01", "leaf01"]),  # of one device: three lines
        ([one("", line=at) for at in (1, 2, 3)], ["", "", ""]),
        (
            [*LEAVES[:3], *(one(f"leaf{at:02}", severity=NOTE) for at in (1, 2))],
            ["leaf01, leaf02 and 1 more", "leaf01", "leaf02"],
        ),
        (
            [one(f"leaf{at:02}", line=line) for at in (1, 2, 3) for line in (1, 2)],
            ["leaf01, leaf02 and 1 more"] * 2,
        ),
    ],
)
def test_folded(findings: list[Finding], devices: list[str]) -> None:
    assert [finding.device for finding in folded(findings)] == devices


def used(device: str, uses: int, name: str = "") -> Finding:
    """An undefined name, as a check reports it."""
    merge = Merge(
        text="QOS is used on {uses} of {devices}, but not defined" + (": {names}" if name else ""),
        names=(name,) if name else (),
        uses=uses,
    )
    return replace(one(device, f"QOS is used on {uses} lines, but not defined"), merge=merge)


@pytest.mark.parametrize(
    ("findings", "device", "message"),
    [
        ([used("leaf1", 3)], "leaf1", "QOS is used on 3 lines, but not defined"),
        ([used("leaf1", 3), used("leaf2", 1)], "leaf1, leaf2", "QOS is used on 4 lines of 2 devices, but not defined"),
        ([used("leaf1", 3), used("leaf1", 1)], "leaf1", "QOS is used on 4 lines of 1 device, but not defined"),
        (
            [used("leaf1", 1, "{uses}"), used("leaf2", 1, "a"), used("leaf3", 1, "a")],  # a name is never a blank
            "leaf1, leaf2 and 1 more",
            "QOS is used on 3 lines of 3 devices, but not defined: a, {uses}",
        ),
    ],
)
def test_findings_of_one_cause_are_one(findings: list[Finding], device: str, message: str) -> None:
    assert [(shown.device, shown.message) for shown in folded(findings)] == [(device, message)]
    assert folded(findings, whole=True) == findings


def test_severities_and_places_of_one_cause_stay_apart() -> None:
    here = [replace(used(f"leaf{at}", 1), merge=Merge(text="{uses} not read", noun="file", file="a")) for at in (1, 2)]
    there = replace(here[0], merge=Merge(text="{uses} not read", noun="file", file="b"))
    assert [(one.file, one.line, one.message) for one in folded([*here, there, replace(here[0], severity=NOTE)])] == [
        ("a", 0, "2 files not read"),
        ("leaf1/frr.conf", 3, here[0].message),
        ("leaf1/frr.conf", 3, here[0].message),
    ]


def test_every_report_has_all_places_of_one_cause() -> None:
    findings = [replace(one("", at), file=f"show/{at}", line=0) for at in "abc"]
    findings = [replace(row, merge=Merge(text="{uses} not read", noun="file", file="show")) for row in findings]
    verdict = Verdict.of(findings, ran=["FAB283"])
    assert [row["file"] for row in json.loads(report("json", verdict))["findings"]] == ["show/a", "show/b", "show/c"]
    (result,) = json.loads(report("sarif", verdict))["runs"][0]["results"]
    places = [result["locations"][0], *result["relatedLocations"]]
    uris = [place["physicalLocation"]["artifactLocation"]["uri"] for place in places]
    assert (uris, result["message"]["text"]) == (["show/a", "show/b", "show/c"], "3 files not read. a hint")
    assert '<failure type="error" message="3 findings, first: 3 files not read">show: error[FAB283]' in report(
        "junit", verdict
    )
    assert report("text", verdict).splitlines()[0] == "show: error[FAB283]: 3 files not read"
    assert report("text", verdict).splitlines()[-1] == "1 error (3 places) in 0 devices; 1 check applied"
    whole = report("text", replace(verdict, whole=True))
    assert [line.partition(":")[0] for line in whole.splitlines() if "FAB283" in line] == ["show/a", "show/b", "show/c"]
    assert whole.splitlines()[-1] == "3 errors in 0 devices; 1 check applied"


def test_messages_that_differ_in_names_and_lines_alone() -> None:
    """The other devices have their own neighbor and line; another AS number is another finding."""
    findings = [one(f"leaf{at:02}", f"neighbor leaf{at + 30}: line {at}: AS 65000") for at in range(1, 5)]
    (group,) = groups([*findings])
    assert (list(group.findings), group.shown.message) == (findings, findings[0].message)
    assert group.shown.device == "leaf01 (likewise leaf02 and 2 more)"
    assert len(groups([one(f"leaf{at:02}", f"AS {65000 + at}") for at in range(1, 5)])) == 4


def test_every_finding_on_request() -> None:
    assert folded(LEAVES, whole=True) == LEAVES
    verdict = Verdict.of(LEAVES)
    for form in ("text", "github", "sarif", "junit"):
        assert report(form, verdict).count("none") < len(LEAVES) <= report(form, replace(verdict, whole=True)).count("none")


def test_one_result_of_several_devices_keeps_its_fingerprint() -> None:
    """One more device with it is no new alert."""

    def result(findings: list[Finding]) -> dict[str, Any]:
        (only,) = json.loads(report("sarif", Verdict.of(findings)))["runs"][0]["results"]
        return dict(only)

    few, many = result(LEAVES[1:4]), result(LEAVES)
    assert few["partialFingerprints"] == many["partialFingerprints"]
    names = [place["logicalLocations"][0]["name"] for place in many["relatedLocations"]]
    assert names == [finding.device for finding in LEAVES[1:]]


def test_the_order_of_places_stays() -> None:
    rows = [one("leaf01", "a", 1), one("leaf01", "b", 2), one("leaf02", "a", 1), one("leaf02", "b", 2)]
    assert folded(rows) == rows


def test_an_error_is_not_behind_what_repeats() -> None:
    """GitHub shows ten annotations: sixteen alike take one of them."""
    verdict = Verdict.of([*LEAVES, one("spine01", "MTU: expected 9216, got 1500"), one("zz", "a note", severity=NOTE)])
    lines = report("github", verdict).splitlines()
    assert [line.partition(" ")[0] for line in lines[:3]] == ["::error", "::error", "::notice"]
    assert "leaf01, leaf02 and 14 more: expected" in lines[0]
    assert "spine01: MTU" in lines[1]
    text = report("text", verdict)
    assert text.count("got none") == 1
    assert "2 errors (17 places), 1 note" in text  # the verdict counts both
    assert len(json.loads(report("json", verdict))["findings"]) == 18
