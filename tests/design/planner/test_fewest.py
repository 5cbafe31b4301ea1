"""The default design has as few switches as an exhaustive search by the same rules, within a tenth."""

from __future__ import annotations

import random

import pytest

from tests.design.planner.fewest import MAX_RATIO, Case, Count, cases, fewest, planned, row

SAMPLE = 240


@pytest.mark.parametrize("part", range(4))
def test_the_default_has_few_switches(part: int) -> None:
    every = cases()
    sample = random.Random(part).sample(every, SAMPLE // 4)
    assert [its for its in map(row, sample) if its.ratio > MAX_RATIO] == []


@pytest.mark.parametrize(
    ("case", "count"),
    [
        (Case("dgx-h100", "qm9700", "", 8), Count(1, 0)),
        (Case("hgx-h100", "sn5600", "", 4), Count(1, 0)),
        (Case("dgx-h100", "sn5600", "kind: rail-only", 8), Count(8, 0)),  # 64 GPUs
        (Case("dgx-h100", "qm9700", "", 9), Count(8, 4)),  # the published unit
    ],
)
def test_published_questions(case: Case, count: Count) -> None:
    assert planned(case) == count == row(case).best


def test_the_search_tries_what_the_planner_does_not() -> None:
    """Units of another size than that of the rule: fewer uplinks of a leaf, so fewer spines."""
    case = Case("dgx-h100", "sn5600", "", 17)
    assert planned(case) == Count(8, 4)
    assert fewest(case) == Count(8, 2)
