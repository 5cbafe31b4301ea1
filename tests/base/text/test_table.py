"""Columns below each other."""

from __future__ import annotations

from fabric.base.text import aligned
from fabric.base.text.screen import table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert aligned([("a", "1"), ("bcd", "22")], "<>", indent=" ") == [" a     1", " bcd  22"]


def test_a_column_may_have_a_least_width() -> None:
    assert aligned([("a", "1", "x")], "<4>3<", gap="") == ["a     1x"]


def test_no_rows_are_no_lines() -> None:
    assert aligned([]) == []


def test_empty_columns_are_left_out() -> None:
    assert table(("name", "", "n"), [("leaf", "", "1"), ("spine", "", "16")], "<<>") == [
        "  name    n",
        "  leaf    1",
        "  spine  16",
    ]
