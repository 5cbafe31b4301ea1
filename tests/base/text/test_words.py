"""Counts and lists in words."""

from __future__ import annotations

import pytest

from fabric.base.text import and_more, counted, listed, plural, printable


def test_nouns_follow_their_number() -> None:
    assert [plural(n, "spine") for n in (0, 1, 1024)] == ["0 spines", "1 spine", "1024 spines"]
    assert [counted(n, "leaf", "leaves") for n in (1, 1024)] == ["1 leaf", "1,024 leaves"]


@pytest.mark.parametrize(
    ("names", "most", "shown"),
    [
        ([], 2, ""),
        (["a"], 1, "a"),
        (["a", "b"], 2, "a, b"),
        (["a", "b", "c"], 2, "a, b and 1 more"),
        (["a"] * 2000, 1, "a and 1,999 more"),
    ],
)
def test_a_list_says_what_it_leaves_out(names: list[str], most: int, shown: str) -> None:
    assert listed(names, most) == shown


def test_what_is_left_out_has_its_noun() -> None:
    assert and_more(29) == "and 29 more"
    assert [and_more(n, "line") for n in (1, 2000)] == ["and 1 more line", "and 2,000 more lines"]


def test_what_does_not_print_is_spelled() -> None:
    assert printable("a\x1b[0mb\u202e\n") == "a\\x1b[0mb\\u202e\\n"
    assert printable("a\x1bb", "?") == "a?b"
