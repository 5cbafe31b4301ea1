"""Lines, tables and colours for a terminal of some width."""

from __future__ import annotations

import pytest

from fabric.base.text import Screen, aligned, diff_line, fit, on, style, width_of, wrapped
from fabric.base.text.screen import table

HEAD = ("size", "time", "what limits it")
ROWS = [("8 MiB", "49.6 ms", "server NICs, such as gpu-0001"), ("1 GiB", "1.2 s", "uplinks of leaf001")]


def test_a_file_has_no_width_and_no_colour() -> None:
    line = "word " * 100
    assert fit(line) == line
    assert style("error", "error") == "error"


def test_colour_takes_no_columns() -> None:
    with on(Screen(0, True)):
        red = style("error", "error")
        assert (red, width_of(red)) == ("\x1b[1;31merror\x1b[0m", 5)
        assert style("unknown", "x") == "x"
        assert diff_line("+a").startswith("\x1b[32m")
    assert width_of("配線") == 4


def test_a_line_is_broken_at_blanks_only() -> None:
    assert wrapped("one  two three", 8, 2) == ["one  two", "  three"]
    assert wrapped("  a-word-that-is-wider and", 8, 2) == ["  a-word-that-is-wider", "  and"]


def test_a_coloured_line_keeps_its_colour() -> None:
    with on(Screen(0, True)):
        assert wrapped(style("added", "one two"), 4) == [style("added", "one"), style("added", "two")]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a.yaml:1:2: error[FAB1]: expected nothing", ["a.yaml:1:2: error[FAB1]:", "    expected nothing"]),
        ("  bgp  many sessions of leaves", ["  bgp  many sessions of", "       leaves"]),
        ("- one item that is too long", ["- one item that is too", "  long"]),
    ],
)
def test_a_line_goes_on_below_its_text(text: str, lines: list[str]) -> None:
    with on(Screen(24)):
        assert fit(text).split("\n") == lines


def test_a_long_text_goes_on_in_its_column() -> None:
    with on(Screen(42)):
        assert table(HEAD, ROWS, "<><") == [
            "  size      time  what limits it",
            "  8 MiB  49.6 ms  server NICs, such as",
            "                    gpu-0001",
            "  1 GiB    1.2 s  uplinks of leaf001",
        ]


def test_columns_that_do_not_fit_stand_below_their_rows() -> None:
    with on(Screen(30)):
        assert table(HEAD, ROWS, "<><") == [
            "  size      time",
            "  8 MiB  49.6 ms",
            "      what limits it: server",
            "      NICs, such as gpu-0001",
            "  1 GiB    1.2 s",
            "      what limits it: uplinks",
            "      of leaf001",
        ]


def test_a_name_that_is_wider_than_the_terminal_is_shortened() -> None:
    with on(Screen(12)):
        assert aligned([("backend-leaf001", "1")]) == ["backend-lea…", "    1"]


def test_titles_of_numbers_are_broken_too() -> None:
    with on(Screen(24)):
        assert table(("", "typical kW", "worst case kW"), [("leaf", "1.5", "22.4")], "<>>") == [
            "        typical    worst",
            "             kW  case kW",
            "  leaf      1.5     22.4",
        ]
