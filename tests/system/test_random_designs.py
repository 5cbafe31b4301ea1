"""No design is at odds with itself: what `fabric generate` writes for a random one, `fabric check` finds nothing wrong in.

The same three dozen designs in every run; `python -m tests.system.random_designs --designs 2000` is for more.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.system.fresh_designs import FRESH, design
from tests.system.random_designs import keys
from tests.system.random_designs.drawing import Design, draw
from tests.system.random_designs.swapping import swapped
from tests.system.random_designs.trial import run

SEED, PART = 22, 12


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_designs_pass_their_own_checks(part: int, tmp_path: Path) -> None:
    """Most in memory, which is faster; every tenth by way of its folder."""
    planned = 0
    for number in range(part * PART, (part + 1) * PART):
        outcome = run(draw(SEED, number), tmp_path / str(number), written=number % 10 == 0)
        again = f"python -m tests.system.random_designs --seed {SEED} --only {number}"
        assert (outcome.contradictions, outcome.crash) == ((), ""), again
        planned += outcome.planned
    assert planned >= PART // 4


@pytest.mark.slow
def test_designs_with_swapped_cables_pass_as_well(tmp_path: Path) -> None:
    """What `links` states is written at both ends."""
    planned = 0
    for number in range(40):
        folder = tmp_path / str(number)
        folder.mkdir()
        design = swapped(draw(911, number), folder, random.Random(number))
        if design is None:
            continue
        outcome = run(design, folder, written=False)
        assert [line for line in outcome.refused if line.startswith("FAB158")] == [], number
        if not outcome.unsound:  # a leaf without a route server, as the checks of the plan say
            assert (outcome.contradictions, outcome.crash) == ((), ""), number
            planned += outcome.planned
    assert planned >= 4


@pytest.mark.parametrize("case", FRESH)
def test_designs_that_were_wrong_once(case: str, tmp_path: Path) -> None:
    outcome = run(Design("fresh", FRESH[case]), tmp_path, written=False)
    assert (outcome.refused, outcome.unsound, outcome.contradictions, outcome.crash) == ((), (), (), "")
    assert outcome.switches


@pytest.mark.parametrize("written", [True, False])
def test_a_contradiction_is_seen(written: bool, tmp_path: Path) -> None:
    patch = {"PORT": {"Ethernet0": {"mtu": "1500"}}}
    own = {"devices": "backend-spine001", "file": "config_db.json", "patch": patch}
    intent = {**design("sonic", "sn4700", 2), "overrides": [own]}
    found = run(Design("fresh", intent), tmp_path, written=written).contradictions
    assert {line.split()[0] + line.split()[2] for line in found} == {"plan:FAB254", "alone:FAB254"}


def test_designs_use_the_whole_language() -> None:
    """The config of a key that no design states would never be checked."""
    seen: Counter[str] = Counter()
    for number in range(900):
        seen.update(set(keys.used(draw(SEED, number).intent)))
    assert [path for path in keys.paths() if not seen[path]] == []


def test_a_design_is_the_same_in_every_run() -> None:
    assert draw(SEED, 7) == draw(SEED, 7)
    assert draw(SEED, 7) != draw(SEED + 1, 7)
