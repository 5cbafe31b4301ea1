"""One number per cell of a table, stored as a few rectangles: the form of ids, AS numbers and addresses in the lock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
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


Ints = NDArray[np.int64]


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
