"""What a run came to: counts, what fails it, and its last sentence."""

from __future__ import annotations

import pytest

from fabric.audit.checks import Finding, Read, Verdict
from fabric.audit.checks.reports.common import rule_of


def found(*severities: str) -> Verdict:
    return Verdict.of(
        [
            Finding(id=f"FAB30{at}", severity=severity, device="", file="a.yaml", line=at, message="m")
            for at, severity in enumerate(severities)
        ]
    )


@pytest.mark.parametrize(
    ("severities", "worst", "failing"),
    [
        ((), "", ()),
        (("note",), "note", ("note",)),
        (("note", "warning"), "warning", ("note", "warning")),
        (("note", "error", "warning"), "error", ("note", "warning", "error")),
    ],
    ids=str,
)
def test_what_fails(severities: tuple[str, ...], worst: str, failing: tuple[str, ...]) -> None:
    verdict = found(*severities)
    assert verdict.worst == worst
    assert {limit for limit in ("error", "warning", "note", "never") if verdict.fails(limit)} == set(failing)
    assert verdict.fails() == ("error" in severities)


def test_findings_are_sorted_once_each_and_silenced_ones_apart() -> None:
    late = Finding(id="FAB301", severity="error", device="leaf1", file="b.conf", line=2, message="late")
    early = Finding(id="FAB302", severity="warning", device="leaf1", file="b.conf", line=1, message="early")
    quiet = Finding(id="FAB303", severity="error", device="", file="a.yaml", line=1, message="quiet", silenced="meant")
    verdict = Verdict.of([late, quiet, early, late], ran=["FAB302", "FAB301", "FAB302"], skipped=[("a", "b"), ("a", "b")])
    assert verdict.findings == (early, late)
    assert verdict.silenced == (quiet,)
    assert verdict.ran == ("FAB301", "FAB302")
    assert verdict.skipped == (("a", "b"),)
    assert verdict.counts() == {"error": 1, "warning": 1, "note": 0}


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (Verdict(), "nothing found; no check was applied"),
        (Verdict(read=(Read(what="a", devices=1),), ran=("FAB201",)), "nothing found in 1 device; 1 check applied"),
        (found("error", "error", "warning"), "2 errors, 1 warning; no check was applied"),
        (
            Verdict.of(
                [Finding(id="FAB1", severity="error", device="", file="", line=0, message="m", silenced="s")],
                [Read(what="a", devices=2), Read(what="b", devices=3)],
                ["FAB201", "FAB202"],
            ),
            "nothing found, 1 silenced in 5 devices; 2 checks applied",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_sentence(verdict: Verdict, sentence: str) -> None:
    assert verdict.sentence() == sentence


@pytest.mark.parametrize(
    ("id", "name", "severity", "room"),
    [
        ("FAB000", "CutReport", "note", "other"),
        ("FAB001", "ReadableIntent", "error", "intent"),
        ("FAB102", "IntentLanguage", "error", "intent"),
        ("FAB145", "PossiblePlan", "error", "intent"),
        ("FAB187", "PlanWarning", "warning", "intent"),
        ("FAB999", "Finding", "error", "other"),
        ("nonsense", "Finding", "error", "other"),
    ],
)
def test_ids_without_a_class_have_the_rule_of_their_family(id: str, name: str, severity: str, room: str) -> None:
    rule = rule_of(id)
    assert (rule.id, rule.name, rule.severity, rule.room) == (id, name, severity, room)
    assert rule.title
    assert rule.why
    assert rule.remediation
