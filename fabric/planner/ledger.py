"""Numbers that stay: blocks of names, AS numbers and addresses, kept from one run to the next.

An `Area` is a table whose cells each own a number: row and column are stable coordinates (unit and leaf of the unit,
leaf and uplink), the number is an id, an AS number or an address. It is stored as a few rectangles, so the lock file
stays small whatever the fabric's size. What is known and still valid is kept; the rest is filled in order.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Exhausted(Exception):
    """A pool has no room for what is asked; carries how much is asked and how much is left."""

    def __init__(self, wanted: int, left: int) -> None:
        super().__init__(wanted, left)
        self.wanted, self.left = wanted, left


@dataclass(frozen=True, slots=True)
class Block:
    """A rectangle of cells: rows and columns [first, end), numbered row by row from `base`, `stride` apart."""

    row: int
    row_end: int
    column: int
    column_end: int
    base: int
    stride: int  # from one row to the next
    step: int  # from one column to the next

    @property
    def end(self) -> int:
        """First number behind the block."""
        return self.base + (self.row_end - self.row) * self.stride

    def number(self, row: int, column: int) -> int:
        return self.base + (row - self.row) * self.stride + (column - self.column) * self.step


@dataclass(frozen=True)
class Area:
    """The blocks of one table."""

    blocks: tuple[Block, ...]

    def number(self, row: int, column: int = 0) -> int:
        """The number of a cell. Raises KeyError for a cell outside."""
        for block in self.blocks:
            if block.row <= row < block.row_end and block.column <= column < block.column_end:
                return block.number(row, column)
        raise KeyError((row, column))

    def numbers(self, rows: Ints, columns: Ints | int = 0) -> NDArray[Any]:
        """The numbers of many cells: an int64 array, or one of Python integers where they need more bits (IPv6).

        Raises KeyError for a cell outside.
        """
        wide = any(block.end >= 2**63 for block in self.blocks)
        rows, columns = np.broadcast_arrays(rows, np.asarray(columns))
        result = np.full(rows.shape, -1, dtype=object if wide else np.int64)
        for block in self.blocks:
            inside = (rows >= block.row) & (rows < block.row_end)
            inside &= (columns >= block.column) & (columns < block.column_end)
            offset = (rows[inside] - block.row) * block.stride + (columns[inside] - block.column) * block.step
            result[inside] = offset.astype(object if wide else np.int64) + block.base
        if (result < 0).any():
            raise KeyError("a cell outside the area")
        return result


class Space:
    """Number space that areas share: intervals that may be used, and those that are."""

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

    def take(self, first: int, end: int) -> None:
        insort(self.used, (first, end))

    def find(self, size: int, align: int) -> int:
        """The first free run of `size` numbers that starts at a multiple of `align`. Raises Exhausted."""
        for low, high in self.intervals:
            first = -(-low // align) * align
            for taken, end in self.used:
                if end <= first:
                    continue
                if taken >= first + size:
                    break
                first = -(-end // align) * align
            if first + size <= high:
                return first
        raise Exhausted(size, self.left())

    def left(self) -> int:
        return sum(
            (high - low) - sum(max(0, min(end, high) - max(first, low)) for first, end in self.used)
            for low, high in self.intervals
        )


class Ledger:
    """Hands out areas, the known ones first."""

    def __init__(self, known: Mapping[str, Iterable[Block]] | None = None) -> None:
        self.known = {key: tuple(blocks) for key, blocks in (known or {}).items()}
        self.areas: dict[str, Area] = {}

    def keep(self, keys: Iterable[tuple[str, Space]]) -> list[tuple[str, str]]:
        """Marks what is known of these areas as taken, before anything new is handed out.

        A block outside its space, or in the way of another, cannot stay: the intent has moved its pool, or two branches
        were merged. Returns the keys of such blocks with the reason.
        """
        dropped = []
        for key, space in keys:
            valid = []
            for block in self.known.get(key, ()):
                if not space.holds(block.base, block.end):
                    dropped.append((key, "its pool has moved"))
                elif not space.is_free(block.base, block.end):
                    dropped.append((key, "another block has the same numbers"))
                else:
                    space.take(block.base, block.end)
                    valid.append(block)
            self.known[key] = tuple(valid)
        return dropped

    def area(self, key: str, space: Space, need: Need) -> Area:
        """The area of that key, grown to what is needed. Raises Exhausted."""
        # Rows that have grown wider than their block cannot stay in it.
        blocks = [block for block in self.known.get(key, ()) if block.stride >= need.stride and block.step == need.step]
        for row, row_end, column, column_end in _uncovered(blocks, need):
            width = need.stride or (column_end - column) * need.step
            if _extend(blocks, space, need, (row, row_end, column, column_end), width):
                continue
            blocks.append(_place(space, need, (row, row_end, column, column_end), width))
        self.areas[key] = Area(tuple(sorted(blocks, key=lambda b: (b.row, b.column))))
        return self.areas[key]


@dataclass(frozen=True, slots=True)
class Need:
    """What an area must cover, and how its numbers lie."""

    rows: int
    columns: int = 1
    reserve: int = 0  # rows to leave room for, where the pool has it
    step: int = 1  # between columns
    stride: int = 0  # between rows, 0: just what the columns take
    align: bool = False  # begin at a multiple of the size, so that the block is a prefix
    row: int = 0  # first row and column that are needed; rows and columns count from 0 all the same
    column: int = 0


def _place(space: Space, need: Need, cut: tuple[int, int, int, int], width: int) -> Block:
    """A new block for uncovered cells, with the reserve if there is room for it."""
    row, row_end, column, column_end = cut
    last: Exhausted | None = None
    for end in dict.fromkeys((max(need.reserve, row_end) if row_end == need.rows else row_end, row_end)):
        size = (end - row) * width
        try:
            base = space.find(size, power_of_two(size) if need.align else need.step)
        except Exhausted as error:
            last = error
            continue
        space.take(base, base + size)
        return Block(row, end, column, column_end, base, width, need.step)
    assert last is not None
    raise last


def _extend(blocks: list[Block], space: Space, need: Need, cut: tuple[int, int, int, int], width: int) -> bool:
    """Lengthens a block that ends where the uncovered cells begin, if the numbers behind it are free."""
    row, row_end, column, column_end = cut
    for at, block in enumerate(blocks):
        below = (block.row_end, block.column, block.column_end, block.stride) == (row, column, column_end, width)
        end = block.base + (row_end - block.row) * width
        if below and not need.align and space.holds(block.base, end) and space.is_free(block.end, end):
            space.take(block.end, end)
            blocks[at] = replace(block, row_end=row_end)
            return True
        beside = (block.row, block.row_end, block.column_end) == (row, row_end, column) and row_end - row == 1
        end = block.base + (column_end - block.column) * need.step
        if beside and not need.stride and space.holds(block.base, end) and space.is_free(block.end, end):
            space.take(block.end, end)
            blocks[at] = replace(block, column_end=column_end, stride=end - block.base)
            return True
    return False


def _uncovered(blocks: list[Block], need: Need) -> Iterator[tuple[int, int, int, int]]:
    """The cells of a table that no block covers, as (row, row end, column, column end), in order."""
    edges = (edge for b in blocks for edge in (b.row, b.row_end) if need.row < edge < need.rows)
    cuts = sorted({need.row, need.rows, *edges})
    pending: list[tuple[int, int, int, int]] = []
    for top, bottom in pairwise(cuts):
        gaps, column = [], need.column
        for block in sorted((b for b in blocks if b.row <= top and b.row_end >= bottom), key=lambda b: b.column):
            if column < block.column and column < need.columns:
                gaps.append((column, min(block.column, need.columns)))
            column = max(column, block.column_end)
        if column < need.columns:
            gaps.append((column, need.columns))
        for first, end in gaps:
            if pending and pending[-1][1:] == (top, first, end):
                pending[-1] = (pending[-1][0], bottom, first, end)
            else:
                pending.append((top, bottom, first, end))
    yield from pending


def power_of_two(number: int) -> int:
    """The smallest power of two that is not smaller."""
    return 1 << max(0, number - 1).bit_length()
