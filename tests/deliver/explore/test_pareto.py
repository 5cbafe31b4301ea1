"""The Pareto front, against the definition."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from fabric.deliver.bom.parts import Power
from fabric.deliver.explore.measure import Outcome
from fabric.deliver.explore.request import OBJECTIVES, front, known
from tests.deliver.explore.designs import figures_of

OBJECTIVE = tuple(OBJECTIVES[name] for name in ("cost", "power", "time"))


def outcome(name: str, cost: float | None, power: float | None, time: float | None) -> Outcome:
    watts = Power(typical_w=power * 1e3, max_w=power * 1e3) if power is not None else None
    return Outcome((("switch", name),), figures_of(time * 1e3 if time is not None else None, watts, cost))


def names(outcomes: list[Outcome], rows: dict[int, int]) -> list[str]:
    return [str(outcomes[at].choice[0][1]) for at in rows]


@pytest.mark.parametrize(
    ("designs", "expected"),
    [
        ({"a": (1, 1, 1), "b": (2, 2, 2)}, ["a"]),
        ({"a": (1, 1, 3), "b": (2, 2, 2)}, ["a", "b"]),
        ({"a": (2, 1, 1), "b": (2, 1, 1), "c": (3, 1, 1)}, ["a"]),  # of equal ones the first
        ({"slow": (1, 1, 9), "fast": (9, 9, 1), "between": (5, 5, 5), "worse": (5, 5, 6)}, ["slow", "between", "fast"]),
        ({"known": (5, 5, 5), "unknown power": (5, None, 5)}, ["known"]),
        ({"dear": (6, 5, 5), "unknown power": (5, None, 5)}, ["unknown power", "dear"]),
        ({"a": (1, 1, 1.0000000001), "b": (1, 1, 1)}, ["a"]),  # no one would tell the two apart
        ({"a": (1, 1, 9.03), "b": (2, 1, 9.0)}, ["a"]),  # another draw of queue pairs
        ({"a": (1, 1, 9.03), "b": (2, 1, 8.8)}, ["a", "b"]),
    ],
)
def test_front(designs: dict[str, tuple[float | None, ...]], expected: list[str]) -> None:
    outcomes = [outcome(name, *figures) for name, figures in designs.items()]
    assert names(outcomes, front(outcomes, OBJECTIVE)) == expected


def test_what_cannot_be_built_is_on_no_front() -> None:
    outcomes = [Outcome((("switch", "a"),), why="too small"), outcome("b", 1, 1, 1)]
    assert names(outcomes, front(outcomes, OBJECTIVE)) == ["b"]
    assert front(outcomes[:1], OBJECTIVE) == {}


def test_an_objective_without_figures_is_none() -> None:
    outcomes = [outcome("a", None, 1, 1), outcome("b", None, 2, 2)]
    assert [item.name for item in known(outcomes, ("cost", "power", "time"))] == ["power", "time"]


def test_those_that_come_to_the_same_are_counted() -> None:
    outcomes = [outcome("a", 1, 1, 1), outcome("b", 1, 1, 1), outcome("worse", 1, 1, 2), outcome("c", 2, 1, 0.5)]
    assert front(outcomes, OBJECTIVE) == {0: 1, 3: 0}


figure = st.integers(1, 5)


@given(st.lists(st.tuples(figure, figure, figure), min_size=1, max_size=40))
def test_the_front_is_what_nothing_beats(rows: list[tuple[int, int, int]]) -> None:
    outcomes = [outcome(str(at), *row) for at, row in enumerate(rows)]
    kept = {rows[at]: same for at, same in front(outcomes, OBJECTIVE).items()}
    for row in rows:
        beaten = any(other != row and all(a <= b for a, b in zip(other, row, strict=True)) for other in rows)
        assert (row in kept) == (not beaten)
        assert beaten or kept[row] == rows.count(row) - 1
