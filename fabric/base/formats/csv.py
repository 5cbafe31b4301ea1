"""CSV for programs, and for spreadsheets that evaluate what looks like a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows under a line of column names."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def no_formula(value: T) -> T | str:
    """A cell that no spreadsheet evaluates: a text that it would take for a formula is put behind an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
