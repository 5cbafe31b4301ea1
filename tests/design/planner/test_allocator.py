"""Areas, spaces and the area_allocator: what is known stays, and no number is given twice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabric.design.planner.numbers import AreaAllocator, Exhausted, Need, NumberSpace
from fabric.model.plan import Area, Block
from tests.design.planner.intents import STABLE

TABLE = Area(
    (
        Block(row=0, row_end=2, column=0, column_end=4, base=100, stride=8, step=2),
        Block(row=2, row_end=3, column=0, column_end=4, base=50, stride=8, step=2),
        Block(row=0, row_end=1, column=4, column_end=5, base=10, stride=2, step=2),
    )
)


@pytest.mark.parametrize(
    ("row", "column", "number"),
    [(0, 0, 100), (0, 3, 106), (1, 0, 108), (1, 3, 114), (2, 0, 50), (2, 3, 56), (0, 4, 10)],
)
def test_a_cell_has_the_number_of_its_block(row: int, column: int, number: int) -> None:
    assert TABLE.number(row, column) == number
    assert TABLE.numbers(np.array([row]), np.array([column])).tolist() == [number]


@pytest.mark.parametrize(("row", "column"), [(1, 4), (3, 0), (0, 5)])
def test_a_cell_outside_has_none(row: int, column: int) -> None:
    with pytest.raises(KeyError):
        TABLE.number(row, column)


def test_numbers_may_need_more_than_64_bits() -> None:
    area = Area((Block(row=0, row_end=2, column=0, column_end=1, base=2**127, stride=64, step=1),))
    assert area.numbers(np.array([0, 1])).tolist() == [2**127, 2**127 + 64]


@pytest.mark.parametrize(
    ("intervals", "used", "size", "align", "first"),
    [
        ([(0, 16)], [], 4, 4, 0),
        ([(1, 16)], [], 4, 4, 4),
        ([(0, 16)], [(0, 1)], 4, 4, 4),
        ([(0, 16)], [(0, 4), (6, 8)], 2, 1, 4),
        ([(0, 16)], [(0, 4), (6, 8)], 3, 1, 8),
        ([(0, 4), (100, 108)], [(1, 2)], 4, 1, 100),
        ([(0, 16)], [(3, 5)], 12, 1, None),
        ([(0, 16)], [(0, 1)], 16, 1, None),
    ],
)
def test_the_first_free_run_is_found(
    intervals: list[tuple[int, int]], used: list[tuple[int, int]], size: int, align: int, first: int | None
) -> None:
    space = NumberSpace(intervals, list(used))
    if first is None:
        with pytest.raises(Exhausted) as error:
            space.find(size, align)
        assert error.value.left == sum(high - low for low, high in intervals) - sum(end - at for at, end in used)
    else:
        assert space.find(size, align) == first
        assert space.is_free(first, first + size)


@pytest.mark.parametrize(
    ("first", "end", "free"),
    [(0, 10, True), (0, 11, False), (19, 21, False), (20, 30, True), (12, 14, False), (19, 20, False), (5, 40, False)],
)
def test_what_overlaps_a_taken_run_is_not_free(first: int, end: int, free: bool) -> None:
    assert NumberSpace([(0, 100)], [(10, 20)]).is_free(first, end) is free


def area_allocator(space: NumberSpace, known: dict[str, tuple[Block, ...]]) -> AreaAllocator:
    made = AreaAllocator(known)
    made.keep((key, space) for key in sorted(known))
    return made


@pytest.mark.parametrize(
    ("block", "kept"),
    [
        (Block(row=0, row_end=4, column=0, column_end=1, base=20, stride=1, step=1), True),
        (Block(row=0, row_end=4, column=0, column_end=1, base=98, stride=1, step=1), False),  # beyond the pool
        (Block(row=0, row_end=4, column=0, column_end=1, base=8, stride=1, step=1), False),  # that blocks `a`
    ],
)
def test_a_known_block_is_kept_where_it_may_be(block: Block, kept: bool) -> None:
    space = NumberSpace([(0, 100)])
    made = area_allocator(
        space, {"a": (Block(row=0, row_end=10, column=0, column_end=1, base=0, stride=1, step=1),), "b": (block,)}
    )
    assert (made.area("b", space, Need(rows=4)).blocks == (block,)) is kept


def test_room_is_reserved_where_the_pool_has_it() -> None:
    wide, narrow = NumberSpace([(0, 100)]), NumberSpace([(0, 10)])
    assert AreaAllocator().area("a", wide, Need(rows=5, reserve=16)).blocks == (
        Block(row=0, row_end=16, column=0, column_end=1, base=0, stride=1, step=1),
    )
    assert AreaAllocator().area("a", narrow, Need(rows=5, reserve=16)).blocks == (
        Block(row=0, row_end=5, column=0, column_end=1, base=0, stride=1, step=1),
    )


def test_a_pool_that_is_too_small_says_by_how_much() -> None:
    with pytest.raises(Exhausted) as error:
        AreaAllocator().area("a", NumberSpace([(0, 10)]), Need(rows=6, columns=2))
    assert (error.value.requested, error.value.left) == (12, 10)


def test_an_aligned_block_is_a_prefix() -> None:
    (block,) = (
        AreaAllocator().area("a", NumberSpace([(1, 1000)]), Need(rows=3, reserve=4, step=16, stride=16, align=True)).blocks
    )
    assert (block.base % 64, block.end - block.base) == (0, 64)


NEEDS = st.lists(
    st.tuples(
        st.sampled_from(("a", "b", "c")),
        st.integers(1, 9),
        st.integers(1, 5),
        st.integers(0, 16),
        st.sampled_from((1, 2)),
    ),
    min_size=1,
    max_size=8,
)


@settings(STABLE, max_examples=300)
@given(NEEDS, st.lists(st.integers(0, 40), max_size=3))
def test_growing_tables_share_a_space(needs: list[tuple[str, int, int, int, int]], holes: list[int]) -> None:
    """Run after run with the blocks of the last: cells that were there keep their numbers, no two share one."""
    steps: dict[str, int] = {}
    known: dict[str, tuple[Block, ...]] = {}
    cells: dict[tuple[str, int, int], int] = {}
    intervals = [(100 * at + hole, 100 * at + 90) for at, hole in enumerate(holes)] + [(1000, 9000)]
    for key, rows, columns, reserve, step in needs:
        step = steps.setdefault(key, step)
        space = NumberSpace(intervals)
        made = area_allocator(space, known)
        area = made.area(key, space, Need(rows=rows, columns=columns, reserve=reserve, step=step))
        known = {**known, key: area.blocks}
        for row in range(rows):
            for column in range(columns):
                number = area.number(row, column)
                assert cells.setdefault((key, row, column), number) == number
                assert any(low <= number and number + step <= high for low, high in intervals)
        runs = sorted((b.base, b.end) for blocks in known.values() for b in blocks)
        assert all(end <= first for (_, end), (first, _) in pairwise(runs))
        taken = [number + at for (name, *_), number in cells.items() for at in range(steps[name])]
        assert len(set(taken)) == len(taken)


def test_numbers_beyond_31_bits_from_narrow_coordinates() -> None:
    area = Area((Block(row=0, row_end=4, column=0, column_end=2, base=3_232_235_520, stride=4, step=2),))
    rows = np.array([0, 3], dtype=np.int32)
    assert area.numbers(rows, np.array([1, 1], dtype=np.int32)).tolist() == [3_232_235_522, 3_232_235_534]
