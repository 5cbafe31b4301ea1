"""Integer division that rounds up."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def ceil_div(dividend: T, divisor: T) -> T:
    """The least whole number of groups of `divisor` that hold `dividend`; numbers or arrays of integers."""
    return -(-dividend // divisor)  # type: ignore[operator,no-any-return]
