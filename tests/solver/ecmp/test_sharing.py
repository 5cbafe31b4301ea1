"""Max-min fair rates: against a linear program, against the bottleneck condition, and by hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from fabric.solver.ecmp import study
from fabric.solver.ecmp.flows import connections, queue_pairs, together

STABLE = settings(derandomize=True, deadline=None, database=None, max_examples=60)


@dataclass
class Case:
    """A small sharing problem, as `max_min` takes it."""

    capacity: np.ndarray
    flow: np.ndarray
    link: np.ndarray
    flows: int
    weight: np.ndarray
    demand: np.ndarray
    share: np.ndarray

    def solve(self) -> np.ndarray:
        return study.max_min(**self.__dict__)

    @property
    def matrix(self) -> np.ndarray:
        """What a rate of 1 puts on every link, [links, flows]."""
        found = np.zeros((len(self.capacity), self.flows))
        np.add.at(found, (self.link, self.flow), self.share)
        return found


@st.composite
def cases(draw: st.DrawFn) -> Case:
    links, flows = draw(st.integers(1, 6)), draw(st.integers(1, 7))
    capacity = np.array(draw(st.lists(st.sampled_from((0.0, 1.0, 2.0, 2.0, 5.0, 12.5)), min_size=links, max_size=links)))
    entries = draw(
        st.lists(
            st.tuples(st.integers(0, flows - 1), st.integers(0, links - 1), st.sampled_from((1.0, 1.0, 0.5, 0.25))),
            max_size=18,
        )
    )
    table = np.array(entries).reshape(-1, 3)
    weights = st.lists(st.sampled_from((1.0, 1.0, 2.0, 0.5)), min_size=flows, max_size=flows)
    demands = st.lists(st.sampled_from((0.0, 0.7, 3.0, 100.0)), min_size=flows, max_size=flows)
    flow, link = table[:, 0].astype(int), table[:, 1].astype(int)
    return Case(
        capacity=capacity,
        flow=flow,
        link=link,
        flows=flows,
        weight=np.array(draw(weights)),
        demand=np.array(draw(demands)),
        share=table[:, 2],
    )


def by_programmes(case: Case) -> np.ndarray:
    """Lexicographic max-min by linear programs: raise the least level, fix those who can get no more, again."""
    level = np.full(case.flows, np.nan)
    load = case.matrix * case.weight
    while np.isnan(level).any():
        open_ = np.flatnonzero(np.isnan(level))
        done = load @ np.nan_to_num(level)
        common = load[:, open_].sum(axis=1, keepdims=True)
        top = linprog([-1], common, case.capacity - done, bounds=[(0, (case.demand / case.weight)[open_].min())])
        least = top.x[0]
        for flow in open_:  # fixed where no other least may fall and this one cannot rise
            bounds = [(least, least if at != flow else None) for at in open_]
            bounds = [
                (low, min(high or np.inf, case.demand[at] / case.weight[at]))
                for (low, high), at in zip(bounds, open_, strict=True)
            ]
            more = linprog(-(open_ == flow).astype(float), load[:, open_], case.capacity - done + 1e-9, bounds=bounds)
            if -more.fun < least + 1e-6:
                level[flow] = least
    found: np.ndarray = level * case.weight
    return found


@STABLE
@given(cases())
def test_rates_are_those_of_the_linear_program(case: Case) -> None:
    assert case.solve() == pytest.approx(by_programmes(case), abs=1e-5)


@STABLE
@given(cases(), st.booleans())
def test_every_flow_has_a_bottleneck(case: Case, endless: bool) -> None:
    """Bertsekas and Gallager: feasible, and each flow meets its demand or a full link on which no flow has a higher level."""
    if endless:
        case.demand = np.full(case.flows, np.inf)
    rate = case.solve()
    level, load = rate / case.weight, case.matrix
    finite = np.where(np.isfinite(rate), rate, 0.0)
    assert (load @ finite <= case.capacity * (1 + 1e-9) + 1e-9).all()
    full = load @ finite >= case.capacity * (1 - 1e-9) - 1e-9
    for flow in range(case.flows):
        passed = np.flatnonzero(load[:, flow] > 0)
        if rate[flow] >= case.demand[flow] * (1 - 1e-9) or (not len(passed) and np.isinf(rate[flow])):
            continue
        assert any(full[link] and level[flow] >= level[load[link] > 0].max() * (1 - 1e-9) for link in passed)


@pytest.mark.parametrize(
    ("capacity", "entries", "rates"),
    [
        ([10.0], [(0, 0), (1, 0)], [5, 5]),
        ([10.0, 4.0], [(0, 0), (1, 0), (1, 1), (2, 1)], [8, 2, 2]),  # what the second leaves, the first gets
        ([10.0, 0.0], [(0, 0), (1, 0), (1, 1)], [10, 0]),  # a failed link
        ([6.0, 4.0, 3.0], [(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 2)], [2.5, 1.5, 1.5]),
        ([np.inf, 2.0], [(0, 0), (1, 0), (1, 1), (2, 1)], [np.inf, 1, 1]),
        ([5.0], [(1, 0)], [np.inf, 5]),  # a flow without links
    ],
)
def test_small_cases_by_hand(capacity: list[float], entries: list[tuple[int, int]], rates: list[float]) -> None:
    flow, link = np.array(entries).T
    assert study.max_min(np.array(capacity), flow, link, len(rates)).tolist() == pytest.approx(rates)


def test_weights_demands_and_parts() -> None:
    capacity, flow, link = np.array([12.0, 12.0]), np.array([0, 1, 2, 2]), np.array([0, 0, 0, 1])
    half = np.array([1.0, 1.0, 0.5, 0.5])
    assert study.max_min(capacity, flow, link, 3, share=half).tolist() == pytest.approx([4.8, 4.8, 4.8])
    weighted = study.max_min(capacity, flow, link, 3, weight=np.array([1.0, 2.0, 2.0]), share=half)
    assert weighted.tolist() == pytest.approx([3, 6, 6])
    capped = study.max_min(capacity, flow, link, 3, demand=np.array([1.0, 99.0, 2.0]), share=half)
    assert capped.tolist() == pytest.approx([1, 10, 2])


def test_a_long_chain_of_bottlenecks_is_exact() -> None:
    """Link i is shared by flows i and i + 1, and every link can only be settled after the one before it."""
    links = 2000
    capacity = np.arange(2, links + 2).astype(np.float64)
    flow = np.concatenate([np.arange(links), np.arange(1, links + 1)])
    link = np.tile(np.arange(links), 2)
    rate = study.max_min(capacity, flow, link, links + 1)
    expected = [1.0]
    for c in capacity:
        expected.append(c - expected[-1])
    assert rate.tolist() == pytest.approx(expected)


def test_a_connection_keeps_the_pace_of_its_slowest_queue_pair() -> None:
    one = queue_pairs(connections(np.array([0, 1]), np.array([2, 3]), weight=np.array([8.0, 4.0])), 2)
    assert study.connection_rates(one, np.array([3.0, 5.0, 2.0, 2.0])).tolist() == [6.0, 4.0]


def test_jobs_share_without_mixing_their_connections() -> None:
    first = queue_pairs(connections(np.array([0, 1]), np.array([2, 3])), 2)
    second = connections(np.array([4]), np.array([5]), weight=np.array([2.0]))
    both = together([first, second, first])
    assert both.job.tolist() == [0, 0, 0, 0, 1, 2, 2, 2, 2]
    assert both.connection.tolist() == [0, 0, 1, 1, 2, 3, 3, 4, 4]
    assert both.weight.sum() == pytest.approx(6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"flow": np.array([0, 3])}, "expected a flow from 0 to 1, got 0 to 3"),
        ({"link": np.array([0, -1])}, "expected a link from 0 to 0, got -1 to 0"),
        ({"link": np.array([0])}, "entries differ in length: 2 flows, 1 links, 2 shares"),
        ({"weight": np.array([1.0, 0.0])}, "expected weights above 0"),
        ({"weight": np.array([1.0])}, "expected a weight and a demand for each of 2 flows"),
        ({"capacity": np.array([-1.0])}, "expected capacities, shares and demands of 0 or more"),
        ({"demand": np.array([np.nan, 1.0])}, "expected capacities, shares and demands of 0 or more"),
    ],
)
def test_senseless_arrays_are_refused(change: dict[str, np.ndarray], message: str) -> None:
    good = {"capacity": np.array([1.0]), "flow": np.array([0, 1]), "link": np.array([0, 0])}
    with pytest.raises(ValueError, match=message):
        study.max_min(**{**good, **change}, flows=2)
