"""Columns below each other, for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

_COLUMN = re.compile(r"([<>])(\d*)")


def aligned(rows: Sequence[Sequence[str]], columns: str = "", *, indent: str = "", gap: str = "  ") -> list[str]:
    """Rows of cells as lines.

    Args:
        columns: `<` or `>` for every column, and after it the least width: `<46>5>9`. All to the left unless given.
    """
    widest = [max(map(len, column)) for column in zip(*rows, strict=True)]
    stated = _COLUMN.findall(columns or "<" * len(widest))
    look = [f"{side}{max(least, int(width or 0))}" for least, (side, width) in zip(widest, stated, strict=True)]
    return [(indent + gap.join(map(format, row, look))).rstrip() for row in rows]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Columns below a line of titles, two blanks in; those that are empty throughout are left out.

    Args:
        align: `<` or `>` for every column.
    """
    kept = [at for at in range(len(head)) if head[at] or any(row[at] for row in rows)]
    return aligned([[row[at] for at in kept] for row in (head, *rows)], "".join(align[at] for at in kept), indent="  ")
