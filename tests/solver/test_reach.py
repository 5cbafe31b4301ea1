"""The value that reaches a goal, against forward answers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.base.source import Node
from fabric.solver.reach import Goal, Measure, Reached, goal_of, reach
from fabric.solver.training import file as training_file
from fabric.solver.training.step import step_time
from fabric.solver.training.sweep import MEASURES, choices, measured
from tests.solver.training.test_step import EXAMPLE, simple

MORE, LESS = Measure(" GB/s", is_more_better=True), Measure(" s", is_more_better=False)


def asked(answers: list[float | None], goal: Goal) -> Reached:
    nodes = [Node(line=1, column=1, value=at) for at in range(len(answers))]
    return reach("key", nodes, goal, lambda node: answers[node.plain()])


@settings(max_examples=200, deadline=None)
@given(
    answers=st.lists(st.none() | st.floats(0.1, 100), min_size=2, max_size=60),
    value=st.floats(0.1, 100),
    measure=st.sampled_from([MORE, LESS]),
)
def test_the_found_value_reaches_the_goal_and_the_next_one_does_not(
    answers: list[float | None], value: float, measure: Measure
) -> None:
    """Whatever the answers: only the ends decide whether there is an answer."""
    goal = Goal("busbw", value, measure)
    found = asked(answers, goal)
    ends = [goal.is_reached(answers[0]), goal.is_reached(answers[-1])]
    assert (found.found is not None) == any(ends)
    assert (found.next is None) == all(ends)
    if found.found is not None:
        assert goal.is_reached(answers[found.found.value])
        assert found.found.got == answers[found.found.value]
    if found.found is not None and found.next is not None:
        assert not goal.is_reached(answers[found.next.value])
        assert found.next.value - found.found.value == (-1 if found.is_least else 1)


STEPS = {
    "batch.micro_batches": "4..96",
    "compute.utilisation": "0.2,0.3,0.4,0.45,0.5,0.55,0.6,0.7",
    "compute.overhead_ms": "0..3000",
    "overlap.expert": "0,0.2,0.4,0.6,0.8,1",
}


def forward(key: str, node: Node, name: str) -> float:
    tree = training_file.with_values(training_file.tree(EXAMPLE, "job.yaml"), {key: node})
    return measured(step_time(training_file.of_node(tree, "job.yaml", 1024), simple, 8), name)


@settings(max_examples=200, deadline=None)
@given(key=st.sampled_from(sorted(STEPS)), name=st.sampled_from(sorted(MEASURES)), share=st.floats(0, 1))
def test_the_step_backwards_is_the_step_forwards(key: str, name: str, share: float) -> None:
    """Goals between the answers of the least and the largest value, by trying every value."""
    nodes = choices([f"{key}={STEPS[key]}"])[key]
    known = {node.plain(): forward(key, node, name) for node in nodes[:: max(1, len(nodes) // 40)]}
    least, most = known[min(known)], known[max(known)]
    goal = Goal(name, least + share * (most - least), MEASURES[name])
    nodes = [node for node in nodes if node.plain() in known]
    found = reach(key, nodes, goal, lambda node: forward(key, node, name))
    good = [value for value, got in known.items() if goal.is_reached(got)]
    assert found.found is not None
    assert found.found.value == (min(good) if found.is_least else max(good))
    assert found.found.got == known[found.found.value]
    assert found.tried <= 2 + len(known).bit_length()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("usefull=0.9", "expected one of useful, got 'usefull'"),
        ("useful", "expected useful=VALUE with a number above 0, got 'useful'"),
        ("useful=-1", "expected useful=VALUE with a number above 0"),
        ("useful=inf", "expected useful=VALUE with a number above 0"),
        ("useful=a lot", "expected useful=VALUE with a number above 0"),
    ],
)
def test_a_wrong_goal(text: str, message: str) -> None:
    with pytest.raises(InputError, match=r"error\[FAB102\]") as error:
        goal_of(text, {"useful": MORE})
    assert message in str(error.value)


@pytest.mark.parametrize("values", ["fast,slow", "true,false", "7"])
def test_only_two_numbers_or_more_can_be_halved(values: str) -> None:
    nodes = choices([f"compute.overhead_ms={values}"])["compute.overhead_ms"]
    with pytest.raises(InputError, match="expected"):
        reach("compute.overhead_ms", nodes, Goal("step", 1, LESS), lambda _: 1.0)


def test_lines() -> None:
    answers: list[float | None] = [10.0, 20.0, 30.0, None]
    assert asked(answers[:3], Goal("busbw", 15, MORE)).lines() == [
        "key 1 is the least of 3 values that gives busbw of at least 15 GB/s",
        "",
        "key    busbw",
        "  1  20 GB/s",
        "  0  10 GB/s",
    ]
    assert asked(answers[:3], Goal("busbw", 15, LESS)).lines()[0] == (
        "key 0 is the largest of 3 values that gives busbw of at most 15 s"
    )
    assert asked(answers[:3], Goal("busbw", 5, MORE)).lines() == [
        "each of 3 values of key gives busbw of at least 5 GB/s, from 0 on"
    ]
    assert asked(answers[:3], Goal("busbw", 50, MORE)).lines() == [
        "none of 3 values of key gives busbw of at least 50 GB/s; nearest: 2, 30 GB/s"
    ]
    assert asked(answers, Goal("busbw", 50, MORE)).lines() == [
        "none of 4 values of key gives busbw of at least 50 GB/s; nearest: 0, 10 GB/s"
    ]
