"""Columns below each other, as wide as the screen at most.

A table that is wider is made narrower in this order: texts go on below themselves in their column; then the last columns
leave the table and stand below each row with their titles, `bottleneck: server NICs; wire: 12 MiB`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fabric.base.text.screen import padded, screen, shortened, style, width_of, wrapped

_COLUMN = re.compile(r"([<>])(\d*)")
_TEXT = 20  # a column of texts that is narrower than that reads badly
_FIRST = 8  # the first column is not shortened below that


@dataclass(frozen=True, slots=True)
class _Column:
    side: str  # `<` or `>`
    width: int  # of its widest cell, or as stated
    least: int  # width with its texts broken at every blank that may be one


def aligned(
    rows: Sequence[Sequence[str]], columns: str = "", *, indent: str = "", gap: str = "  ", head: Sequence[str] = ()
) -> list[str]:
    """Rows of cells as lines.

    Args:
        columns: `<` or `>` for every column, and after it the least width: `<46>5>9`. Default: all to the left.
        head: titles above the columns; columns that do not fit the screen stand below their rows with their titles.
    """
    lines = [head, *rows] if head else rows
    if not lines:
        return []
    stated = _COLUMN.findall(columns or "<" * len(lines[0]))
    widest = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    widths = [max(least, int(width or 0)) for least, (_, width) in zip(widest, stated, strict=True)]
    sides = [side for side, _ in stated]
    out = [_line(row, sides, widths, indent, gap) for row in lines]
    limit = screen().width
    if not limit or max(map(width_of, out)) <= limit:
        return [style("title", out[0]), *out[1:]] if head else out
    return _narrow(rows, head, list(map(_column, sides, widest, zip(*lines, strict=True))), indent, gap)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Columns below a line of titles, two blanks in; those that are empty throughout are left out.

    Args:
        align: `<` or `>` for every column.
    """
    kept = [index for index in range(len(head)) if head[index] or any(row[index] for row in rows)]
    body = [[row[index] for index in kept] for row in rows]
    return aligned(body, "".join(align[index] for index in kept), indent="  ", head=[head[index] for index in kept])


def _line(row: Sequence[str], sides: Sequence[str], widths: Sequence[int], indent: str, gap: str) -> str:
    return (indent + gap.join(map(padded, row, sides, widths))).rstrip()


def _column(side: str, width: int, column: Sequence[str]) -> _Column:
    """Numbers and their units stay on one line; texts are broken at blanks, yet not into a column of single words."""
    words = max((width_of(word) for cell in column for word in cell.split()), default=0)
    if side == "<":
        return _Column(side, width, max(words, min(width, _TEXT)))
    title, *values = column
    return _Column(side, width, max([*map(width_of, values), *map(width_of, title.split())], default=0))


def _narrow(
    rows: Sequence[Sequence[str]], head: Sequence[str], columns: Sequence[_Column], indent: str, gap: str
) -> list[str]:
    room = screen().width - len(indent)
    count = len(columns)
    while count > 1 and sum(column.least for column in columns[:count]) + len(gap) * (count - 1) > room:
        count -= 1
    shown = columns[:count]
    widths = _shrunk(shown, room - len(gap) * (count - 1))
    out = [style("title", line) for line in _broken(head[:count], shown, widths, indent, gap)] if head else []
    for row in rows:
        out += _broken(row[:count], shown, widths, indent, gap)
        titles = head[count:] or [""] * len(row[count:])
        rest = [f"{title}: {cell}" if title else cell for title, cell in zip(titles, row[count:], strict=True) if cell]
        below = indent + "    "
        lines = wrapped(below + "; ".join(rest), screen().width, len(below)) if rest else []
        out += [shortened(line, screen().width) for line in lines]
    return out


def _shrunk(columns: Sequence[_Column], room: int) -> list[int]:
    """Widths that fit: the widest column of texts gives first."""
    widths = [column.width for column in columns]
    while sum(widths) > room:
        loose = [index for index, column in enumerate(columns) if widths[index] > column.least]
        if not loose:
            return [max(min(widths[0], room), _FIRST)] if len(widths) == 1 else widths
        widest = max(loose, key=lambda index: widths[index])
        goal = max(columns[widest].least, widths[widest] - (sum(widths) - room))
        widths[widest] = max(goal, min(widths[widest] - 1, sorted(widths)[-2])) if len(widths) > 1 else goal
    return widths


def _broken(row: Sequence[str], columns: Sequence[_Column], widths: Sequence[int], indent: str, gap: str) -> list[str]:
    """A row as one or more lines."""
    parts = [
        [shortened(part, width) for part in wrapped(cell, width, min(2, width // 8))]
        for cell, width in zip(row, widths, strict=True)
    ]
    sides = [column.side for column in columns]
    height = max(map(len, parts))
    filled = [[*part, *[""] * (height - len(part))] for part in parts]
    return [_line(line, sides, widths, indent, gap) for line in zip(*filled, strict=True)]
