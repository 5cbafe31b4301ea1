"""The blocks of a report of a diff, as text and Markdown print them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows under a head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    rest: int = 0  # rows that are left out


@dataclass(frozen=True)
class Notes:
    """Lines of words."""

    title: str
    lines: tuple[str, ...]
    rest: int = 0


@dataclass(frozen=True)
class Fold:
    """The change of one file, for one device or several."""

    title: str
    language: str
    lines: tuple[str, ...]
    size: str  # in few words


@dataclass(frozen=True)
class Section:
    """A part of the report."""

    title: str
    blocks: tuple[Table | Notes | Fold, ...]
