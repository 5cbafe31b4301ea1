"""Names of racks: the row in letters, the place in two digits: `A01`, `Z20`, `AA01`."""

from __future__ import annotations

import re


def row_letters(row: int) -> str:
    """A, B, …, Z, AA, AB, …; rows count from 0."""
    letters, row = "", row + 1
    while row:
        row, last = divmod(row - 1, 26)
        letters = chr(ord("A") + last) + letters
    return letters


def rack_name(row: int, place: int) -> str:
    """The name of the rack at a place, both from 0."""
    return f"{row_letters(row)}{place + 1:02}"


def rack_place(name: str) -> tuple[int, int]:
    """Row and place from 0; the place is -1 where the name ends in 00."""
    letters, digits = re.match(r"([A-Z]+)([0-9]+)", name).groups()  # type: ignore[union-attr]
    row = 0
    for letter in letters:
        row = row * 26 + ord(letter) - ord("A") + 1
    return row - 1, int(digits) - 1
