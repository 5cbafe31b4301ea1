"""The table of effects: what its page claims in words, and that the page in docs has every row."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests import ROOT
from tools.docs import effects
from tools.docs.effects import CASES, PLACEMENTS, SERVERS, Case, Effect

PAGE = ROOT / "docs" / "effects.md"
BY_NAME = {case.name: case for case in CASES}


@cache
def effect(placement: str, case: str, servers: int = 64) -> Effect:
    return effects.measure(servers, placement, BY_NAME[case])


def share(placement: str, case: str, pattern: str) -> float:
    return effect(placement, case).share(pattern)


@pytest.mark.parametrize("case", ["base", "2:1 oversubscription", "4:1 oversubscription", "one spine failed"])
def test_packed_rings_on_rails_see_none_of_it(case: str) -> None:
    assert share("packed", case, "ring") == share("packed", case, "tree") == 1.0


def test_alltoall_sees_oversubscription() -> None:
    shares = [share("packed", case, "peers") for case in ("base", "2:1 oversubscription", "4:1 oversubscription")]
    assert shares[0] > shares[1] > shares[2]


def test_placement_costs_more_than_oversubscription() -> None:
    spread, packed = (effect(request, "base").reduce.rows[0].time_us for request in ("spread", "packed"))
    over = effect("packed", "4:1 oversubscription").reduce.rows[0].time_us
    assert spread > over == packed


def test_the_hash_costs_at_one_to_one() -> None:
    shares = [share("spread", case, "ring") for case in ("base", "4 queue pairs", "adaptive routing")]
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] == pytest.approx(1)


def test_adaptive_routing_leaves_the_cut() -> None:
    shares = [share("spread", f"adaptive, {ratio}:1", "ring") for ratio in (2, 4)]
    assert shares == pytest.approx([1 / 2, 1 / 4], abs=0.01)
    assert share("spread", "adaptive, 4:1", "peers") == pytest.approx(1 / 2, abs=0.02)


def test_racks_give_a_packed_ring_less() -> None:
    assert share("packed", "rack instead of rails", "ring") < share("packed", "base", "ring")


def test_a_failed_spine_costs_who_crosses() -> None:
    assert share("packed", "one spine failed", "peers") < share("packed", "base", "peers")


def test_page_has_every_row() -> None:
    """The figures in it follow the fitted parameters; rows and claims do not."""
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([0-9,]+) \| (packed|spread) \| ([^|]+) \|", text, re.MULTILINE)
    assert rows == [(f"{servers * 8:,}", where, case.name) for servers in SERVERS for where in PLACEMENTS for case in CASES]
    for item in (effect("packed", "base"), effect("packed", "4:1 oversubscription")):
        shares = " | ".join(f"{item.share(pattern):.0%}" for pattern in ("ring", "tree", "peers"))
        assert f"| 512 | packed | {item.case.name} | {shares} |" in text
    assert "## Conclusions" in text


def test_cases_are_those_that_were_asked_for() -> None:
    assert {1, 2, 4} == {case.ratio for case in CASES}
    assert {"rail-optimized", "rack"} == {case.kind for case in CASES}
    assert {1, 4} == {case.queue_pairs for case in CASES}
    assert {"ecmp", "adaptive"} == {case.routing for case in CASES}
    assert Case("base") == CASES[0]
    assert any(case.fail for case in CASES)
