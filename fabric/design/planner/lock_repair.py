"""Valid blocks of a lock file after a merge of two branches that both grew.

Blocks that both branches have are equal lines and meet nothing: each branch grew around them. What meets is new on both
sides. The order in which blocks are taken follows from the blocks alone, so a merge in either direction ends alike, and
so does a later merge that brings back a line which an earlier one had dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabric.base.rounding import ceil_div
from fabric.design.planner.number_space import NumberSpace
from fabric.model.plan import Block

MOVED_POOL = "its pool has moved"
TAKEN = "another area has the same numbers"
TWICE = "the same rows have other numbers in another line"


@dataclass(frozen=True, slots=True)
class LostRows:
    """Rows of an area that cannot keep their numbers, and why."""

    key: str
    row: int
    row_end: int
    reason: str
    numbers: tuple[int, int]  # that they had, [first, end)


def settle(
    blocks: Mapping[str, Iterable[Block]], spaces: Mapping[str, NumberSpace]
) -> tuple[dict[str, tuple[Block, ...]], list[LostRows]]:
    """The valid blocks, with their numbers marked as taken, and the rows that are lost.

    Areas come in order of their keys, so that the rows of one win or lose together; in an area the lowest numbers come
    first, as they were given out first.
    """
    valid: dict[str, tuple[Block, ...]] = {}
    lost: list[LostRows] = []
    for key in sorted(blocks):
        candidates = sorted(set(blocks[key]), key=_rank)
        covered, holds = _Covered(len(candidates)), []
        for block in candidates:
            for piece in covered.without(block, key, lost):
                holds += _free(spaces[key], piece, key, lost)
            covered.add(block)
        valid[key] = tuple(sorted(holds, key=lambda b: (b.row, b.column)))
    return valid, lost


def _rank(block: Block) -> tuple[int, ...]:
    """Of equal numbers the larger block comes first."""
    return block.base, block.row - block.row_end, block.column - block.column_end, block.row, block.column, block.stride


class _Covered:
    """The cells of one area that blocks have numbered."""

    def __init__(self, most: int) -> None:
        self._edges: NDArray[np.int64] = np.zeros((most, 4), dtype=np.int64)
        self._blocks: list[Block] = []

    def add(self, block: Block) -> None:
        self._edges[len(self._blocks)] = (block.row, block.row_end, block.column, block.column_end)
        self._blocks.append(block)

    def _over(self, block: Block) -> list[Block]:
        """The blocks that share cells with this one."""
        edges = self._edges[: len(self._blocks)]
        meets = (edges[:, 0] < block.row_end) & (edges[:, 1] > block.row)
        meets &= (edges[:, 2] < block.column_end) & (edges[:, 3] > block.column)
        return [self._blocks[at] for at in np.flatnonzero(meets)]

    def without(self, block: Block, key: str, lost: list[LostRows]) -> list[Block]:
        """The block without the rows of other blocks; rows whose number would change are added as lost."""
        pieces = [block]
        for other in self._over(block):
            row, end = max(block.row, other.row), min(block.row_end, other.row_end)
            if not _within(block, other, row, end):
                numbers = block.number(row, block.column), block.number(end - 1, block.column) + block.stride
                lost.append(LostRows(key, row, end, TWICE, numbers))
            pieces = [part for piece in pieces for part in _cut(piece, other)]
        return pieces


def _within(block: Block, other: Block, row: int, end: int) -> bool:
    """Whether another block gives all columns of these rows the same numbers."""
    if other.column > block.column or other.column_end < block.column_end:
        return False
    corners = [(r, c) for r in (row, end - 1) for c in (block.column, block.column_end - 1)]
    return all(block.number(r, c) == other.number(r, c) for r, c in corners)


def _cut(block: Block, other: Block) -> Iterator[Block]:
    """The rows of a block above and below another."""
    if block.row < min(block.row_end, other.row):
        yield _rows(block, block.row, min(block.row_end, other.row))
    if max(block.row, other.row_end) < block.row_end:
        yield _rows(block, max(block.row, other.row_end), block.row_end)


def _rows(block: Block, row: int, end: int) -> Block:
    return Block(
        row=row,
        row_end=end,
        column=block.column,
        column_end=block.column_end,
        base=block.number(row, block.column),
        stride=block.stride,
        step=block.step,
    )


def _free(space: NumberSpace, block: Block, key: str, lost: list[LostRows]) -> list[Block]:
    """The rows of a block whose numbers may be used and are not in use yet; they are taken."""
    bad = [(first, end, MOVED_POOL) for first, end in space.outside(block.base, block.end)]
    bad += [(first, end, TAKEN) for first, end in space.taken(block.base, block.end)]
    holds, row = [], block.row
    for first, end, reason in sorted(bad):
        top = max(row, block.row + (max(first, block.base) - block.base) // block.stride)
        bottom = min(block.row_end, block.row + ceil_div(min(end, block.end) - block.base, block.stride))
        if row < top:
            holds.append(_rows(block, row, top))
        if top < bottom:
            numbers = block.number(top, block.column), block.number(bottom - 1, block.column) + block.stride
            lost.append(LostRows(key, top, bottom, reason, numbers))
        row = max(row, bottom)
    if row < block.row_end:
        holds.append(_rows(block, row, block.row_end))
    for piece in holds:
        space.take(piece.base, piece.end)
    return holds
