"""All checks of the plan together: each has its pair of tests, and sound designs are left in peace."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.audit.checks import ERROR
from fabric.audit.checks.base import checks, run
from fabric.audit.checks.design.base import FabricCheck
from tests import ROOT
from tests.audit.checks.cases import cases
from tests.audit.checks.design.designs import BACKEND, FRONT, Cases, Design, design, verify

CASES: Cases = cases(__package__)
INTENTS = sorted(path for path in (ROOT / "intent").glob("*.yaml") if path.stem != "b200-3tier")


def test_every_check_is_broken_by_a_case() -> None:
    broken = {id_ for (id_, _), case in CASES.items() if case.says}
    assert [check.id for check in checks(FabricCheck)] == sorted(broken)


@pytest.mark.parametrize("key", sorted(CASES), ids=" ".join)
def test_a_case(key: tuple[str, str]) -> None:
    verify(key, CASES[key])


def test_ids_are_in_order_and_explained() -> None:
    ids = [check.id for check in checks(FabricCheck)]
    assert ids == sorted(set(ids))
    assert all(len(check.why()) > 100 and not check.title.endswith(".") for check in checks(FabricCheck))


@pytest.mark.parametrize("text", [BACKEND, FRONT], ids=["backend", "front"])
def test_a_sound_design_is_left_in_peace(text: str) -> None:
    about = design(text)
    assert [str(finding) for finding in run(FabricCheck, about)] == []


@pytest.mark.parametrize("path", INTENTS, ids=lambda path: path.stem)
def test_shipped_intents_have_no_error(path: Path) -> None:
    plan = pipeline.plan(pipeline.load(path))
    found = [finding for fabric in plan.fabrics.values() for finding in run(FabricCheck, Design(plan, fabric))]
    assert [str(finding) for finding in found if finding.severity == ERROR] == []
