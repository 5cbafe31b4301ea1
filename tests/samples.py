"""How much of a long test the suite runs: a sample, the same in every run.

`EXAMPLES=10 python -m pytest tests/design/planner` meets ten times as many random examples; from twice as many on, tables are
replayed whole. A test with the fixture `whole` is two: a sample in `make test`, all in `make slow`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

TIMES = float(os.environ.get("EXAMPLES", "1"))
WHOLE = TIMES >= 2


def examples(count: int) -> int:
    """As many as asked for times `count`, of the suite."""
    return max(1, round(TIMES * count))


def some(items: Sequence[Item], count: int, whole: bool = WHOLE) -> list[Item]:
    """So many of the items in their order, chosen by a seed; all of them where the whole is asked for."""
    if whole or count >= len(items):
        return list(items)
    return [items[at] for at in sorted(random.Random(0).sample(range(len(items)), count))]
