"""Stable numbers: blocks of device numbers, AS numbers and addresses, kept from one run to the next.

An `Area` is a table whose cells each own a number: row and column are stable coordinates (unit and leaf of the unit,
leaf and uplink), the number is an id, an AS number or an address. It is stored as a few rectangles, so the lock file
stays small whatever the fabric's size. What is known and still valid is kept; the rest is filled in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from fabric.design.planner.lock_repair import LostRows as LostRows, settle
from fabric.design.planner.number_space import Exhausted as Exhausted, NumberSpace as NumberSpace
from fabric.model.plan import Area, Block


class AreaAllocator:
    """Allocates areas, the known ones first."""

    def __init__(self, known: Mapping[str, Iterable[Block]] | None = None) -> None:
        self.known = {key: tuple(blocks) for key, blocks in (known or {}).items()}
        self.areas: dict[str, Area] = {}

    def keep(self, keys: Iterable[tuple[str, NumberSpace]]) -> list[LostRows]:
        """Marks the known blocks of these areas as taken, before new ones are allocated.

        Rows outside their space cannot stay, as the intent has moved the pool; nor can rows whose numbers another area
        has, or cells that another block of the area numbers, as two branches were merged. Returns what was lost.
        """
        spaces = dict(keys)
        kept, lost = settle({key: self.known.get(key, ()) for key in spaces}, spaces)
        self.known |= kept
        return lost

    def area(self, key: str, space: NumberSpace, need: Need) -> Area:
        """The area of a key, extended to the need. Raises Exhausted.

        What it grows by is a block of its own, even where the numbers go on: the blocks that were there stay as they
        are, so that their lines in the lock file are the same on all branches.
        """
        # Rows that have grown wider than their block cannot stay in it.
        blocks = [block for block in self.known.get(key, ()) if block.stride >= need.stride and block.step == need.step]
        for cut in _uncovered(blocks, need):
            width = need.stride or (cut[3] - cut[2]) * need.step
            ends = _row_ends(blocks, need, cut)
            blocks.append(_continued(blocks, space, need, cut, width, ends) or _place(space, need, cut, width, ends))
        self.areas[key] = Area(tuple(sorted(blocks, key=lambda b: (b.row, b.column))))
        return self.areas[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Size of an area, and the layout of its numbers."""

    rows: int
    columns: int = 1
    reserve: int = 0  # rows to leave room for, where the pool has it
    step: int = 1  # between columns
    stride: int = 0  # between rows, 0: just what the columns take
    align: bool = False  # begin at a multiple of the size, so that the block is a prefix
    row: int = 0  # first row and column that are needed; rows and columns count from 0 all the same
    column: int = 0
    last: bool = False  # new numbers are higher than all that are in use: their order is that of arrival


Cut = tuple[int, int, int, int]  # row, row end, column, column end


def _place(space: NumberSpace, need: Need, cut: Cut, width: int, ends: Iterable[int]) -> Block:
    """A new block for uncovered cells, with the reserve if there is room for it."""
    row, _, column, column_end = cut
    last: Exhausted | None = None
    for end in ends:
        size = (end - row) * width
        try:
            base = space.find(size, power_of_two(size) if need.align else need.step, last=need.last)
        except Exhausted as error:
            last = error
            continue
        space.take(base, base + size)
        return Block(row=row, row_end=end, column=column, column_end=column_end, base=base, stride=width, step=need.step)
    assert last is not None
    raise last


def _row_ends(blocks: Iterable[Block], need: Need, cut: Cut) -> list[int]:
    """Where new rows may end: with what is reserved, as far as no block has these rows, else with what is needed."""
    _, row_end, column, column_end = cut
    behind = [b.row for b in blocks if b.row >= row_end and b.column < column_end and column < b.column_end]
    reserve = max(need.reserve, row_end) if row_end == need.rows else row_end
    return list(dict.fromkeys((min([reserve, *behind]), row_end)))


def _continued(
    blocks: Iterable[Block], space: NumberSpace, need: Need, cut: Cut, width: int, ends: Iterable[int]
) -> Block | None:
    """A new block for uncovered cells that goes on where another ends, if the numbers behind that are free."""
    row, row_end, column, column_end = cut
    for block in () if need.align else blocks:
        last = block.end
        if need.last and space.used and space.used[-1][1] > last:
            continue
        if (block.row_end, block.column, block.column_end, block.stride) == (row, column, column_end, width):
            for end in ends:
                if _take(space, block, last + (end - row) * width):
                    return Block(
                        row=row, row_end=end, column=column, column_end=column_end, base=last, stride=width, step=need.step
                    )
        beside = (block.row, block.row_end, block.column_end) == (row, row_end, column) and row_end - row == 1
        exact = block.stride == (block.column_end - block.column) * block.step
        if beside and exact and not need.stride and _take(space, block, last + width):
            return Block(
                row=row, row_end=row_end, column=column, column_end=column_end, base=last, stride=width, step=need.step
            )
    return None


def _take(space: NumberSpace, block: Block, end: int) -> bool:
    """Takes the numbers behind a block, if they are free and of the same interval."""
    free = space.holds(block.base, end) and space.is_free(block.end, end)
    if free:
        space.take(block.end, end)
    return free


def _uncovered(blocks: list[Block], need: Need) -> Iterator[Cut]:
    """The cells of a table that no block covers, as (row, row end, column, column end), in order."""
    edges = (edge for b in blocks for edge in (b.row, b.row_end) if need.row < edge < need.rows)
    cuts = sorted({need.row, need.rows, *edges})
    pending: list[Cut] = []
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
