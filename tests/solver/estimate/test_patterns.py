"""Who sends to whom: every pattern moves all its bytes, port by port on the same rail, at no more than a port's speed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fabric.solver import Ints
from fabric.solver.estimate.nic_bandwidth import PATTERNS, Phase, peers, together

COUNTS = [2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 64, 100]


def ports_of(domains: int, width: int = 3) -> Ints:
    return np.arange(domains * width).reshape(domains, width)


def between(phase: Phase, width: int = 3) -> set[tuple[int, int]]:
    """Pairs of domains."""
    return set(zip((phase.source // width).tolist(), (phase.target // width).tolist(), strict=True))


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
@pytest.mark.parametrize("domains", COUNTS)
def test_laws(pattern: str, domains: int) -> None:
    ports = ports_of(domains)
    phases = list(PATTERNS[pattern](ports, 1, np.ones(len(ports))))
    assert sum(phase.part for phase in phases) == pytest.approx(1)
    for phase in phases:
        assert (phase.source % 3 == phase.target % 3).all(), "rails do not mix"
        assert (phase.source != phase.target).all()
        sent, got = (np.bincount(end, phase.weight, minlength=ports.size) for end in (phase.source, phase.target))
        assert max(sent.max(), got.max()) == pytest.approx(1), "the busiest port sends at its own speed, none at more"


@pytest.mark.parametrize("domains", COUNTS)
def test_ring(domains: int) -> None:
    (phase,) = PATTERNS["ring"](ports_of(domains), 1, np.ones(domains))
    assert between(phase) == {(at, (at + 1) % domains) for at in range(domains)}
    assert len(phase.source) == domains * 3


@pytest.mark.parametrize("domains", COUNTS)
def test_double_tree(domains: int) -> None:
    """Both trees span all domains, no domain is inside both, and what goes up comes down."""
    (phase,) = PATTERNS["tree"](ports_of(domains, 1), 1, np.ones(domains))
    half = len(phase.source) // 2
    up = list(zip(phase.source[:half].tolist(), phase.target[:half].tolist(), strict=True))
    down = list(zip(phase.target[half:].tolist(), phase.source[half:].tolist(), strict=True))
    assert up == down
    assert len(up) == 2 * (domains - 1)
    trees = up[: domains - 1], up[domains - 1 :]
    inside = []
    for tree in trees:
        parent = dict(tree)
        assert len(parent) == domains - 1
        for at in range(domains):
            steps = 0
            while at in parent:
                at, steps = parent[at], steps + 1
            assert steps <= domains.bit_length()
            assert at == (set(range(domains)) - set(parent)).pop()
        children = np.bincount([up for _, up in tree], minlength=domains)
        assert children.max() <= 2
        inside.append({at for at in range(domains) if children[at] == 2})
    assert not inside[0] & inside[1]


@pytest.mark.parametrize("domains", [2, 4, 8, 64])
def test_halving_meets_every_bit_with_half_the_bytes_each_time(domains: int) -> None:
    phases = list(PATTERNS["halving"](ports_of(domains), 1, np.ones(domains)))
    assert [between(phase) for phase in phases] == [
        {(at, at ^ (1 << bit)) for at in range(domains)} for bit in range(domains.bit_length() - 1)
    ]
    parts = [phase.part for phase in phases]
    assert all(later == pytest.approx(sooner / 2) for sooner, later in pairwise(parts))


def test_neighbors_use_one_nic() -> None:
    (phase,) = PATTERNS["neighbors"](ports_of(5, 8), 2, np.ones(5))
    assert set((phase.source % 8).tolist()) == {0, 1}


@pytest.mark.parametrize("domains", COUNTS)
def test_peers_of_few_domains_are_all_of_them(domains: int) -> None:
    found = set().union(*(between(phase) for phase in peers(ports_of(domains), 1, np.ones(domains))))
    every = {(one, other) for one in range(domains) for other in range(domains) if one != other}
    assert found <= every
    if domains <= 33:
        assert found == every


@pytest.mark.parametrize(("domains", "width", "unit"), [(64, 8, 32), (128, 8, 32), (256, 8, 16), (2048, 8, 32)])
def test_near_and_far_peers_count_as_often_as_they_occur(domains: int, width: int, unit: int) -> None:
    """The sampled rounds leave the unit as often as all of them do: also when there are so many that few are looked at."""
    crossing, whole = 0.0, 0.0
    for phase in peers(ports_of(domains, width), 1, np.ones(domains)):
        source, target = phase.source // width // unit, phase.target // width // unit
        crossing += phase.part * phase.weight[source != target].sum()
        whole += phase.part * phase.weight.sum()
    assert crossing / whole == pytest.approx((domains - unit) / (domains - 1), abs=0.06)


@given(st.lists(st.integers(2, 20), min_size=1, max_size=4))
def test_together(counts: list[int]) -> None:
    """Jobs at the same time: the flows of each, each at its own weight."""
    parts, start = [], 0
    for count in counts:
        (phase,) = PATTERNS["ring"](ports_of(count) + start, 1, np.ones(count))
        parts.append(phase)
        start += count * 3
    whole = together(parts)
    assert len(whole.source) == start
    assert (np.bincount(whole.source, whole.weight) == 1).all()
    assert whole.part == 1


def test_a_last_domain_that_is_not_full() -> None:
    """A port that stands for three GPUs' (one of three servers is there) sends and receives a third of a full domain's."""
    ports = np.array([[0, 1, 2], [3, 4, 5], [6, 6, 6]])
    (phase,) = PATTERNS["stages"](ports, 1, np.array([1, 1, 1 / 3]))
    for end in (phase.source, phase.target):
        assert np.bincount(end, phase.weight, minlength=7).max() == pytest.approx(1)
    (phase,) = PATTERNS["ring"](ports, 1, np.array([1, 1, 1 / 3]))
    assert np.bincount(phase.source, phase.weight)[6] == pytest.approx(3), "a ring passes all of its bytes through the few"
