"""How many random examples a property meets: a sample in the suite, the same in every run.

`EXAMPLES=10 python -m pytest tests/planner` meets ten times as many.
"""

from __future__ import annotations

import os

TIMES = float(os.environ.get("EXAMPLES", "1"))


def examples(count: int) -> int:
    """As many as asked for times `count`, of the suite."""
    return max(1, round(TIMES * count))
