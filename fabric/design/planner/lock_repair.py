"""Blocks of numbers, the space that they share, and a lock made valid after a merge of two branches that both grew.

Blocks that both branches have are equal lines and meet nothing: each branch grew around them. What meets is new on both
sides. The order in which blocks are taken follows from the blocks alone, so a merge in either direction ends alike, and
so does a later merge that brings back a line which an earlier one had dropped.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fabric.base.rounding import ceil_div
from fabric.base.text import listed
from fabric.model.plan import Block
from fabric.model.plan.lock import CageSplits, FabricLock, Lock, PortSpot

# --- Blocks of numbers, and the number space that they share --------------------------------------------------


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


# --- blocks of a merged lock ----------------------------------------------------------------------------------

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
    numbers: tuple[int, int]  # former numbers, [first, end)


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


# --- duplicates of a merged lock: ids and ports of attachments, before sizing ---------------------------------

IDS = ("unit", "rack", "pod", "leaf", "spine", "core")
MAX_IDS = 2**31


@dataclass(frozen=True, slots=True)
class Change:
    """Numbers of a fabric that change, in words."""

    fabric: str
    text: str


def id_spaces(fabric: str) -> list[tuple[str, NumberSpace]]:
    """The number spaces of one fabric's ids, by the prefix of their keys."""
    return [(f"{fabric}:id/{kind}", NumberSpace([(0, MAX_IDS)])) for kind in IDS]


def belongs(key: str, prefix: str) -> bool:
    """Whether an area is one of those that share a space."""
    return key == prefix or key.startswith(prefix + "/")


def settled(lock: Lock, attachments: Mapping[str, Collection[str]]) -> tuple[Lock, list[Change]]:
    """The lock without duplicate ids, leaf ports and splits, and what changes.

    Args:
        attachments: names of the attachments that the intent has, by fabric.
    """
    fabrics: dict[str, FabricLock] = {}
    changes: list[Change] = []
    for name, entry in lock.fabrics.items():
        blocks, lost = _ids(entry.blocks)
        changes += [Change(name, in_words(item)) for item in lost]
        spots, moved = _spots(entry.attachments, attachments.get(name, ()), _contested(lost))
        changes += [Change(name, f"attachment {attachment}: port {port}") for attachment, port in moved]
        switches = {switch: _each_once(cages) for switch, cages in entry.switches.items()}
        changes += [
            Change(name, f"splits of {switch}") for switch, cages in entry.switches.items() if cages != switches[switch]
        ]
        fabrics[name] = replace(entry, blocks=blocks, attachments=spots, switches=switches)
    return Lock(fabrics), changes


HINT = (
    "two branches assigned the same numbers; numbers assigned before the branches split are kept. "
    "`fabric plan FILE --against git:BRANCH` lists what changes for a branch"
)


def message(fabric: str, texts: Sequence[str]) -> str:
    """The warning of numbers that change by a merge."""
    return f"fabric '{fabric}': numbers that one branch gave out change ({listed(texts)})"


def in_words(lost: LostRows) -> str:
    """Which rows change, as the lock file names them."""
    return f"{lost.key} rows={lost.row}-{lost.row_end - 1}"


def _ids(blocks: Mapping[str, tuple[Block, ...]]) -> tuple[dict[str, tuple[Block, ...]], list[LostRows]]:
    result, lost = dict(blocks), list[LostRows]()
    for prefix, space in id_spaces(""):
        of_space = {key: known for key, known in blocks.items() if belongs(f":{key}", prefix)}
        kept, dropped = settle(of_space, dict.fromkeys(of_space, space))
        result |= kept
        lost += dropped
    return result, lost


def _each_once(cages: Iterable[CageSplits]) -> tuple[CageSplits, ...]:
    """One line for each cages of a switch: of two branches that began with different catalogs, the first."""
    return tuple(
        {(its.first, its.end): its for its in sorted(cages, reverse=True)}[key] for key in sorted({its[:2] for its in cages})
    )


def _contested(lost: list[LostRows]) -> list[tuple[int, int]]:
    """Numbers of leaves that two branches gave to leaves of their own, from 1."""
    return [(item.numbers[0] + 1, item.numbers[1] + 1) for item in lost if item.key.startswith("id/leaf/")]


def _spots(
    spots: Mapping[str, tuple[PortSpot, ...]], present: Collection[str], contested: list[tuple[int, int]]
) -> tuple[dict[str, tuple[PortSpot, ...]], list[tuple[str, int]]]:
    """One leaf port for each port of an attachment, and no leaf port twice; those of the intent come first.

    A port on a leaf whose number two branches gave away is new on its branch, and may be on another leaf by now.
    """
    used: set[tuple[int, int]] = set()
    result: dict[str, tuple[PortSpot, ...]] = {}
    moved: list[tuple[str, int]] = []
    for attachment in sorted(spots, key=lambda name: (name not in present, name)):
        spot_of: dict[int, PortSpot] = {}
        for spot in sorted(spots[attachment]):
            free = (spot.leaf, spot.slot) not in used and not any(low <= spot.leaf < end for low, end in contested)
            if spot.port not in spot_of and free:
                spot_of[spot.port] = spot
                used.add((spot.leaf, spot.slot))
        ports = {spot.port for spot in spots[attachment]}
        changed = {port for port in ports if port not in spot_of or sum(s.port == port for s in spots[attachment]) > 1}
        moved += [(attachment, port) for port in sorted(changed)]
        result[attachment] = tuple(spot_of[port] for port in sorted(spot_of))
    return dict(sorted(result.items())), moved


def leaf_ports(spots: Mapping[str, tuple[PortSpot, ...]], links: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """(leaf, slot) of all ports; of an attachment with fewer links than before, only of those."""
    for attachment, ports in spots.items():
        yield from ((spot.leaf, spot.slot) for spot in ports if spot.port <= links.get(attachment, spot.port))
