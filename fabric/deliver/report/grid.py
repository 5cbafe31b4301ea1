"""A small table of the page: text that the template prints as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """Columns whose title begins with `#` are numbers, set to the right; `total`: the last row is a sum."""

    caption: str
    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    total: bool = False

    @property
    def head(self) -> list[tuple[str, bool]]:
        """(title, whether the column is of numbers)."""
        return [(title.removeprefix("#"), title.startswith("#")) for title in self.titles]

    @property
    def lines(self) -> list[list[tuple[str, bool]]]:
        """Cells with whether each is a number."""
        numbers = [title.startswith("#") for title in self.titles]
        return [list(zip(row, numbers, strict=True)) for row in self.rows]


def grid(caption: str, titles: Sequence[str], rows: Iterable[Sequence[object]], note: str = "", total: bool = False) -> Grid:
    """Cells as text; columns that are empty throughout are left out."""
    cells = [[str(cell) for cell in row] for row in rows]
    kept = [at for at in range(len(titles)) if any(row[at] for row in cells)]
    return Grid(caption, tuple(titles[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in cells), note, total)
