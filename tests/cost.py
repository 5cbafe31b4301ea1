"""What a call costs, counted: functions called, bytes held, or how the time grows from one size to another.

No test asserts seconds: they are those of one machine on one day. Limits in seconds are in tests/bench/limits.py, which
`make bench` measures.
"""

from __future__ import annotations

import cProfile
import time
import tracemalloc
from collections.abc import Callable

ROUNDS = 3  # the least of several times: other work on the machine only adds to them


def calls(run: Callable[[], object]) -> int:
    """Functions that a call of `run` calls, in Python and of Python in C: the same number on every machine.

    Loops inside one C function are not seen: `growth` measures those, `peak_bytes` what they make.
    """
    profile = cProfile.Profile()
    profile.runcall(run)
    return sum(entry.callcount for entry in profile.getstats())


def peak_bytes(run: Callable[[], object]) -> int:
    """Most memory that a call of `run` held at once, of Python and of NumPy."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def growth(small: Callable[[], object], large: Callable[[], object]) -> float:
    """CPU time of one call as a multiple of another's, each the least of some rounds in turns.

    For work n times as large it is n where time grows with size, and n² where it grows with pairs: assert the middle.
    """
    least = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for at, run in enumerate((small, large)):
            begun = time.process_time()
            run()
            least[at] = min(least[at], time.process_time() - begun)
    return least[1] / max(least[0], 1e-4)
