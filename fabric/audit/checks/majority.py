"""What should be alike, and which one is not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import TypeVar

from fabric.model.facts import Located

T = TypeVar("T")
V = TypeVar("V", bound=Hashable)


def role(name: str) -> str:
    """Devices of one role differ in numbers alone: `backend-leaf001` and `backend-leaf002`."""
    return re.sub(r"\d+", "", name)


def place(fact: Located[T]) -> str:
    """`configs/leaf1/frr.conf:12`."""
    return f"{fact.file}:{fact.line}" if fact.line else fact.file


def odd_ones(values: Iterable[tuple[V, T]]) -> tuple[V | None, list[tuple[V, T]]]:
    """What most have, and those that have something else; of two, neither can be believed, so both are odd.

    Nothing is odd where more than a quarter differ: then there is no rule to break.
    """
    rows = list(values)
    counts = Counter(value for value, _ in rows)
    if len(counts) < 2:
        return None, []
    usual, most = max(counts.items(), key=lambda item: (item[1], str(item[0])))
    others = [row for row in rows if row[0] != usual]
    if len(rows) == 2:
        return usual, rows
    return (usual, others) if len(others) <= max(1, len(rows) // 4) and most > len(others) else (None, [])
