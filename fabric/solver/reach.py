"""Questions backwards: the least value of a key with which an answer reaches a goal, or the largest where more is worse.

Values are tried by halving, so that a few answers decide among thousands. The found value reaches the goal and the next one
does not, whatever the answers between others are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from fabric.base.diagnostics import Diagnostic, InputError, Place, nearest, show
from fabric.base.schemas.models import Document, Number, Text, described, document, json_key
from fabric.base.source import Node
from fabric.base.text import aligned

OPTION = Place("--reach")


class Measure(NamedTuple):
    """An answer that a goal may be stated of."""

    unit: str
    is_more_better: bool
    shown: str = "{:,.4g}"
    """Format of a value with its unit."""


@dataclass(frozen=True)
class Goal:
    """What an answer has to be."""

    name: Annotated[str, described("of the answer, such as useful")]
    value: Number
    measure: Measure

    def is_reached(self, got: float | None) -> bool:
        """Whether an answer is good enough; none is not."""
        return got is not None and (got >= self.value if self.measure.is_more_better else got <= self.value)

    @property
    def wanted(self) -> str:
        """`useful of at least 92 %`."""
        return f"{self.name} of {'at least' if self.measure.is_more_better else 'at most'} {self.shown(self.value)}"

    def shown(self, got: float | None) -> str:
        return "not possible" if got is None else self.measure.shown.format(got) + self.measure.unit


@dataclass(frozen=True)
class Tried:
    """A value and its answer; None: not possible with it."""

    value: Any
    got: float | None


@dataclass(frozen=True, kw_only=True)
class Reached:
    """The value that reaches a goal, and the next one, which does not."""

    key: str
    goal: Goal
    found: Tried | None  # None: none of them reaches the goal
    next: Tried | None  # None: all of them reach it
    is_least: bool
    values: int
    tried: int

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return document(self, ReachedDocument)

    def lines(self) -> list[str]:
        """The answer in one sentence, and the two values beside it."""
        goal, other, wanted = self.goal, self.next, self.goal.wanted
        if self.found is None:
            assert other is not None
            none = f"none of {self.values:,} values of {self.key} gives {wanted}"
            return [f"{none}; nearest: {other.value}, {goal.shown(other.got)}"]
        if other is None:
            return [f"each of {self.values:,} values of {self.key} gives {wanted}, from {self.found.value} on"]
        which = "least" if self.is_least else "largest"
        text = f"{self.key} {self.found.value} is the {which} of {self.values:,} values that gives {wanted}"
        rows = [(f"{tried.value}", goal.shown(tried.got)) for tried in (self.found, other)]
        return [text, "", *aligned(rows, ">>", head=(self.key, goal.name))]


class TriedDocument(Document):
    value: Any = json_key("of the key")
    got: Number | None = json_key("answer with it; null: not possible")


class ReachedDocument(Document):
    key: Text = json_key("varied key")
    goal: Text = json_key("answer that the goal is of", "goal.name")
    goal_value: Number = json_key("what it has to reach", "goal.value")
    found: TriedDocument | None = json_key("value that reaches it; null: none does")
    next: TriedDocument | None = json_key("next value, which does not; the nearest where none does; null: all do")
    is_least: bool = json_key("the least value that reaches the goal; false: the largest")
    values: int = json_key("values that were asked about")
    tried: int = json_key("values whose answer was computed")


def goal_of(text: str, measures: Mapping[str, Measure]) -> Goal:
    """A goal of a text such as `useful=0.92`. Raises InputError."""
    name, sign, value = text.partition("=")
    if name not in measures:
        raise _wrong(f"expected one of {', '.join(measures)}, got {show(name)}", nearest(name, list(measures)))
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not sign or not 0 < number < math.inf:
        raise _wrong(f"expected {name}=VALUE with a number above 0, got {show(text)}", f"such as {name}=2")
    return Goal(name, number, measures[name])


def reach(key: str, nodes: Sequence[Node], goal: Goal, answer: Callable[[Node], float | None]) -> Reached:
    """The first or the last of ascending values that reaches a goal.

    Args:
        nodes: numbers, in any order.
        answer: that of a value; None where nothing is possible with it.

    Raises:
        InputError: fewer than two values, or values that are no numbers.
    """
    node_of = {node.plain(): node for node in nodes}
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in node_of):
        raise _wrong("expected numbers to vary", "state numbers or a range, such as `--vary checkpoint.write_GBps=10..400`")
    ordered = sorted(node_of)
    if len(ordered) < 2:
        raise _wrong("expected at least two values", "such as `--vary checkpoint.write_GBps=10..400`")
    known: dict[int, float | None] = {}

    def reaches(at: int) -> bool:
        if at not in known:
            known[at] = answer(node_of[ordered[at]])
        return goal.is_reached(known[at])

    first, last = 0, len(ordered) - 1
    is_least = reaches(last) or not reaches(first)
    good, bad = (last, first) if is_least else (first, last)
    if reaches(good) and not reaches(bad):
        while abs(good - bad) > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if reaches(middle) else (good, middle)
    tried = {at: Tried(ordered[at], got) for at, got in known.items()}
    found = tried[good] if reaches(good) else None
    other: Tried | None = tried[bad]
    if found is not None and reaches(bad):  # all do
        found, other, is_least = tried[first], None, True
    elif found is None:
        possible = [item for item in tried.values() if item.got is not None]
        other = min(possible, key=lambda item: abs((item.got or 0.0) - goal.value), default=other)
    return Reached(key=key, goal=goal, found=found, next=other, is_least=is_least, values=len(ordered), tried=len(known))


def _wrong(message: str, hint: str) -> InputError:
    return InputError([Diagnostic("FAB102", OPTION, message, hint)])
