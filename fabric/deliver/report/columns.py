"""Columns as JSON has them: texts that repeat are numbers of a pool, integers that grow slowly are differences."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = list[Any] | dict[str, Any]
LETTERS = "".join(map(chr, range(35, 92))) + "".join(map(chr, range(93, 127)))  # 91 that JSON does not escape


class Pool:
    """Texts, each once, by their number; "" is 0."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {"": 0}

    def __call__(self, text: str) -> int:
        return self._number.setdefault(text, len(self._number))

    def column(self, texts: Iterable[str]) -> list[int]:
        return [self._number.setdefault(text, len(self._number)) for text in texts]

    @property
    def texts(self) -> list[str]:
        return list(self._number)


def packed(values: NDArray[Any]) -> Column:
    """A column of integers as a list, or as differences where fewer of those are distinct: they compress better."""
    whole = np.asarray(values, dtype=np.int64)
    if len(whole) < 2:
        return [int(value) for value in whole]
    steps = np.diff(whole, prepend=0)
    if len(np.unique(steps)) < len(np.unique(whole)):
        return {"delta": steps.tolist()}
    found: list[int] = whole.tolist()
    return found


def lettered(values: NDArray[Any]) -> Column:
    """A column of integers of few distinct values: these, and one letter per row as the index."""
    whole = np.asarray(values, dtype=np.int64)
    distinct, at = np.unique(whole, return_inverse=True)
    if len(whole) < 2 or len(distinct) > len(LETTERS):
        return packed(whole)
    return {"of": distinct.tolist(), "letters": "".join(LETTERS[place] for place in at.tolist())}


def numbered(texts: Iterable[str]) -> list[str | int]:
    """IPv4 addresses as the difference from the one before, which is mostly 1; other texts stay."""
    values, last = list[str | int](), 0
    for text in texts:
        parts = text.split(".")
        if len(parts) == 4 and all(part.isdigit() for part in parts):
            address = int(IPv4Address(text))
            values.append(address - last)
            last = address
        else:
            values.append(text)
    return values


def unpacked(column: Column) -> list[Any]:
    """What `packed` was given."""
    if isinstance(column, dict):
        found: list[Any] = (
            [column["of"][LETTERS.index(letter)] for letter in column["letters"]]
            if "of" in column
            else np.cumsum(column["delta"]).tolist()
        )
        return found
    return column


def ranges(rows: NDArray[Any]) -> list[list[int]]:
    """Row numbers as [first, end) ranges, in their order."""
    if not len(rows):
        return []
    starts = np.flatnonzero(np.r_[True, np.diff(rows) != 1])
    ends = np.r_[starts[1:], len(rows)]
    return [[int(rows[start]), int(rows[end - 1]) + 1] for start, end in zip(starts, ends, strict=True)]
