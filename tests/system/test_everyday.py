"""Everyday designs: one of each kind is planned, generated, checked and grown; what people asked for has those switches.

`python -m tests.system.random_designs --everyday --designs 1000` is the long run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from fabric.base.formats import yaml
from fabric.design.moves import Changes
from tests import ROOT
from tests.system.random_designs.drawing import Design
from tests.system.random_designs.everyday import KINDS, draw_everyday
from tests.system.random_designs.growing import differences, judged, with_count
from tests.system.random_designs.trial import run_growing

SEED = 8


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_one_of_each_kind(number: int, tmp_path: Path) -> None:
    design = draw_everyday(SEED, number)
    outcome = run_growing(design, tmp_path, written=False)
    assert (outcome.contradictions, outcome.crash, outcome.refused) == ((), "", ())
    assert outcome.switches or design.kind == "no switches"


def test_a_design_is_the_same_in_every_run() -> None:
    for number in range(3 * len(KINDS)):
        assert draw_everyday(SEED, number) == draw_everyday(SEED, number)


QUESTIONS = yaml.read(ROOT / "tests" / "system" / "random_designs" / "questions.yaml")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["asked"])
def test_what_people_asked_for(question: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(
        Design("q", {"version": 1, "site": "q", "fabrics": {"backend": question["fabric"]}}).text, encoding="utf-8"
    )
    (fabric,) = pipeline.plan(pipeline.load(path)).fabrics.values()
    roles = [device.role for device in fabric.switches]
    assert [roles.count("leaf"), roles.count("spine")] == question["switches"]


def test_what_moves_without_a_word_is_seen(tmp_path: Path) -> None:
    """Four servers in place of three, back to back: cables move, and nothing announces them."""
    fabric = {"servers": {"model": "gb200-tray", "count": 3}, "topology": {"kind": "back-to-back"}}
    intent = {"version": 1, "site": "b", "fabrics": {"b": fabric}}
    path, plans = tmp_path / "b.yaml", []
    for count in (3, 4):
        path.write_text(Design("b", with_count(intent, "gb200-tray", count)).text, encoding="utf-8")
        plans.append(pipeline.plan(pipeline.load(path)))
    moved = list(differences(*plans))
    found = list(judged(moved, Changes(), plans[1], 0))
    assert any("gone" in line for line in found)
    assert found[-1] == "3 links move, FAB185 says 0"
