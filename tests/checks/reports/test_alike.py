"""What several devices share is shown once, where a person reads it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from fabric.checks import ERROR, NOTE, Finding, Verdict
from fabric.checks.reports import report
from fabric.checks.reports.alike import folded, groups


def one(device: str, message: str = "expected 10.0.0.1, got none", line: int = 3, severity: str = ERROR) -> Finding:
    return Finding("FAB283", severity, device, f"{device or 'intent'}/frr.conf", line, message, "a hint")


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
