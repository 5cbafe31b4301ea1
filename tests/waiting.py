"""Waiting for what other processes do: until it is there, and not for a time that one machine needs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

FAR_S = 600.0  # no machine at work is so slow: what takes longer hangs

T = TypeVar("T")


def wait_for(state: Callable[[], T], what: str = "", every_s: float = 0.05) -> T:
    """The first value of `state` that counts as true. Raises AssertionError where none comes."""
    end = time.monotonic() + FAR_S
    while not (found := state()):
        assert time.monotonic() < end, what or f"not after {FAR_S:.0f} s"
        time.sleep(every_s)
    return found
