"""All checks of the plan together: each has its pair of tests, and sound designs are left in peace."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.checks.design import checks
from fabric.checks.finding import ERROR
from tests import ROOT
from tests.checks.design import (
    test_addressing,
    test_lossless,
    test_management,
    test_overlay,
    test_physical,
    test_resilience,
    test_routing,
)
from tests.checks.design.designs import BACKEND, FRONT, Design, design

SUBJECTS = (
    test_routing,
    test_addressing,
    test_overlay,
    test_lossless,
    test_physical,
    test_resilience,
    test_management,
)
INTENTS = sorted(path for path in (ROOT / "intent").glob("*.yaml") if path.stem != "b200-3tier")


def test_every_check_is_broken_by_a_case() -> None:
    broken = {id_ for subject in SUBJECTS for (id_, _), case in subject.CASES.items() if case.says}
    assert [check.id for check in checks()] == sorted(broken)


def test_ids_are_in_order_and_explained() -> None:
    ids = [check.id for check in checks()]
    assert ids == sorted(set(ids))
    assert all("FAB201" <= id_ <= "FAB249" for id_ in ids)
    assert all(len(check.why()) > 100 and not check.title.endswith(".") for check in checks())


@pytest.mark.parametrize("text", [BACKEND, FRONT], ids=["backend", "front"])
def test_a_sound_design_is_left_in_peace(text: str) -> None:
    about = design(text)
    assert [str(finding) for check in checks() for finding in check.over(about)] == []


@pytest.mark.parametrize("path", INTENTS, ids=lambda path: path.stem)
def test_shipped_intents_have_no_error(path: Path) -> None:
    plan = pipeline.plan(pipeline.load(path))
    found = [
        finding for fabric in plan.fabrics.values() for check in checks() for finding in check.over(Design(plan, fabric))
    ]
    assert [str(finding) for finding in found if finding.severity == ERROR] == []
