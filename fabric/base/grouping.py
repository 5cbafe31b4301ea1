"""Values by what they share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

MIN_GROUP_DEVICES = 3  # devices with the same finding are a group: of two both places are worth their line
# Line numbers inside a message: they move while the finding stays the same.
_LINES = re.compile(r"(?P<file>\.[a-z]+)(:\d+)+|\b(?P<word>lines?) \d+((, | and | to |-)\d+)*")
_NAME = re.compile(r"[A-Za-z][\w-]*\d[\w-]*")
_DIGITS = re.compile(r"\d+")

K = TypeVar("K")
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Key → its values; keys and values in the order in which they come."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def grouped_sets(pairs: Iterable[tuple[K, V]]) -> dict[K, set[V]]:
    """Key → its values, each once."""
    found: dict[K, set[V]] = {}
    for key, value in pairs:
        found.setdefault(key, set()).add(value)
    return found


def consecutive(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """(first, last) of each run of numbers that follow each other, ascending."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def by_message(rows: Iterable[V], parts: Callable[[V], tuple[str, str, Hashable]]) -> list[list[V]]:
    """Groups of findings that differ in nothing but their devices, in the order of their first ones.

    Messages may name other lines, and other devices with names such as those with findings. The second time that a device
    has the same finding counts as another one. Fewer than `MIN_GROUP_DEVICES` are no group.

    Args:
        parts: device, message and whatever else has to be the same of a finding.
    """
    split = [(row, *parts(row)) for row in rows]
    shapes = {_shape(device) for _, device, _, _ in split if device}
    times: Counter[Hashable] = Counter()
    keyed: list[tuple[Hashable, V]] = []
    for row, device, message, rest in split:
        key = _neutral(message, shapes), rest
        times[key, device] += 1
        keyed.append(((key, times[key, device]), row))
    groups = grouped(keyed)
    return [
        groups[key] if len(groups[key]) >= MIN_GROUP_DEVICES else [row]
        for key, row in keyed
        if len(groups[key]) < MIN_GROUP_DEVICES or groups[key][0] is row
    ]


def without_lines(message: str) -> str:
    """A message without the line numbers in it."""
    return _LINES.sub(lambda match: match["file"] or match["word"], message)


def _neutral(message: str, shapes: set[str]) -> str:
    """A message without line numbers and without the numbers in names of devices."""
    return _NAME.sub(lambda name: shape if (shape := _shape(name[0])) in shapes else name[0], without_lines(message))


def _shape(name: str) -> str:
    """`leaf#` of `leaf001`."""
    return _DIGITS.sub("#", name)
