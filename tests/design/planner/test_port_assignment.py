"""Which port a link takes: links that stay keep their ports at both ends, new ones take the first that are free."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from fabric.design.planner.wiring import continued, lower_slots, now, upper_slots
from fabric.model.plan import Epoch
from tests.design.planner.intents import STABLE


def epoch(uppers: int, links: int, lowers: int, **others: int) -> Epoch:
    return Epoch(uppers, tuple(sorted({"a": links, **others}.items())), lowers)


@pytest.mark.parametrize(
    ("history", "slots"),
    [
        ([epoch(2, 2, 4)], [[0, 1], [2, 3]]),
        ([epoch(4, 1, 4)], [[0], [1], [2], [3]]),
        # two uppers become four: the second link to each gives its port to a new upper
        ([epoch(2, 2, 4), epoch(4, 1, 8)], [[0], [2], [1], [3]]),
        # and back: the ports of the two that are gone return
        ([epoch(2, 2, 4), epoch(4, 1, 8), epoch(2, 2, 8)], [[0, 1], [2, 3]]),
        ([epoch(1, 4, 1), epoch(2, 2, 2), epoch(4, 1, 4)], [[0], [2], [1], [3]]),
    ],
)
def test_ports_of_a_lower_switch(history: list[Epoch], slots: list[list[int]]) -> None:
    assert lower_slots(history, "a").tolist() == slots


@pytest.mark.parametrize(
    ("history", "groups", "slots"),
    [
        ([epoch(2, 2, 2)], "aa", [[0, 1], [2, 3]]),
        ([epoch(2, 2, 2)], "aaa", [[0, 1], [2, 3], [4, 5]]),  # growth within a time needs no replay
        ([epoch(2, 2, 2, b=1)], "aba", [[0, 1], [2], [3, 4]]),
        # each lower drops a link; the new ones take the freed ports
        ([epoch(2, 2, 2), epoch(4, 1, 4)], "aaaa", [[0], [2], [1], [3]]),
        ([epoch(2, 2, 2), epoch(4, 1, 4), epoch(4, 2, 4)], "aaaa", [[0, 4], [2, 5], [1, 6], [3, 7]]),
    ],
)
def test_ports_of_an_upper_switch(history: list[Epoch], groups: str, slots: list[list[int]]) -> None:
    assert [ports.tolist() for ports in upper_slots(history, list(groups))] == slots


def test_a_time_of_equal_numbers_only_counts_on() -> None:
    assert now([], epoch(2, 2, 4)) == (epoch(2, 2, 4),)
    assert now([epoch(2, 2, 4)], epoch(2, 2, 9)) == (epoch(2, 2, 9),)
    assert now([epoch(2, 2, 4)], epoch(2, 2, 4, b=1)) == (epoch(2, 2, 4, b=1),)
    assert now([epoch(2, 2, 4)], epoch(4, 1, 8)) == (epoch(2, 2, 4), epoch(4, 1, 8))


@pytest.mark.parametrize(
    ("uplinks", "downlinks", "restarts"),
    [
        (4, 7, False),
        (4, 6, True),  # a spine that has lost the port that the last leaf's link stands on
        (3, 7, True),  # a leaf whose last uplink is gone
    ],
)
def test_the_wiring_starts_again_when_a_kept_port_is_gone(uplinks: int, downlinks: int, restarts: bool) -> None:
    history, current = [epoch(2, 2, 4)], epoch(2, 1, 4)
    # from 2 to 1 link a pair: leaves keep uplinks 0 and 2, spines the ports 0, 2, 4 and 6
    uplinks = {4: 4, 3: 2}[uplinks]
    made = continued(history, current, ["a"] * 4, {"a": uplinks}, downlinks)
    assert made == ((current,) if restarts else (*history, current))


HISTORIES = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(0, 2), st.integers(1, 5)), max_size=4)


@settings(STABLE, max_examples=300)
@given(HISTORIES.filter(bool), st.lists(st.sampled_from("ab"), min_size=1, max_size=6))
def test_a_link_that_stays_keeps_both_ports(times: list[tuple[int, int, int, int]], groups: list[str]) -> None:
    history: tuple[Epoch, ...] = ()
    there = 0
    before: dict[tuple[int, int, int], tuple[int, int]] = {}
    for uppers, links, others, lowers in times:
        there = max(there, min(lowers, len(groups)))  # places of lower switches that are gone are held
        present = groups[:there]
        history = now(history, epoch(uppers, links, there, b=others))
        last = history[-1]
        lower = {group: lower_slots(history, group) for group in "ab"}
        upper = upper_slots(history, present)
        here = {
            (at, spine, link): (int(lower[group][spine, link]), int(upper[at][link]))
            for at, group in enumerate(present)
            for spine in range(uppers)
            for link in range(last.of(group))
        }
        for group in "ab":
            used = lower[group].ravel().tolist()
            assert len(set(used)) == len(used)
        used = [int(port) for ports in upper for port in ports]
        assert len(set(used)) == len(used)
        assert all(here[key] == ports for key, ports in before.items() if key in here)
        before = here
