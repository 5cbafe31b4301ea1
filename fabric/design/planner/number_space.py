"""Blocks of numbers, and the number space that they share."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator

from fabric.base.rounding import ceil_div


class Exhausted(Exception):
    """A pool is exhausted; has the requested and the free count."""

    def __init__(self, requested: int, left: int) -> None:
        super().__init__(requested, left)
        self.requested, self.left = requested, left


class NumberSpace:
    """Number space that areas share: allowed intervals, and those in use."""

    def __init__(self, intervals: Iterable[tuple[int, int]], used: list[tuple[int, int]] | None = None) -> None:
        self.intervals = tuple(intervals)
        self.used: list[tuple[int, int]] = [] if used is None else used  # sorted [first, end), shared between spaces

    def holds(self, first: int, end: int) -> bool:
        return any(low <= first and end <= high for low, high in self.intervals)

    def is_free(self, first: int, end: int) -> bool:
        at = bisect_right(self.used, (first, 2**130))
        before = at > 0 and self.used[at - 1][1] > first
        after = at < len(self.used) and self.used[at][0] < end
        return not before and not after

    def taken(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """The runs in use that overlap [first, end), in order."""
        at = max(0, bisect_right(self.used, (first, 2**130)) - 1)
        while at < len(self.used) and self.used[at][0] < end:
            if self.used[at][1] > first:
                yield self.used[at]
            at += 1

    def outside(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """The parts of [first, end) that may not be used."""
        for low, high in sorted(self.intervals):
            if first < min(low, end):
                yield first, min(low, end)
            first = max(first, high)
        if first < end:
            yield first, end

    def take(self, first: int, end: int) -> None:
        insort(self.used, (first, end))

    def find(self, size: int, align: int, *, last: bool = False) -> int:
        """The first free run of `size` numbers that starts at a multiple of `align`. Raises Exhausted.

        With `last` it lies behind everything that is in use.
        """
        behind = self.used[-1][1] if last and self.used else 0
        for low, high in self.intervals:
            first = ceil_div(max(low, behind), align) * align
            for taken, end in self.used:
                if end <= first:
                    continue
                if taken >= first + size:
                    break
                first = ceil_div(end, align) * align
            if first + size <= high:
                return first
        raise Exhausted(size, self.left())

    def left(self) -> int:
        return sum(
            (high - low) - sum(max(0, min(end, high) - max(first, low)) for first, end in self.used)
            for low, high in self.intervals
        )
