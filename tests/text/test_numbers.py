"""Numbers with their units."""

from __future__ import annotations

import pytest

from fabric.text import duration, percent, size, trimmed


def test_shares_have_one_digit() -> None:
    assert [percent(share) for share in (0, 0.1254, 1)] == ["0.0 %", "12.5 %", "100.0 %"]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (8, "8 B"), (1536, "1.5 KiB"), (64 << 20, "64 MiB"), (1 << 62, "4096 PiB")]
)
def test_sizes_are_powers_of_two(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(("ms", "text"), [(0.04, "0.0 ms"), (12.5, "12.5 ms"), (250, "250 ms"), (43_100, "43.1 s")])
def test_times_have_three_digits(ms: float, text: str) -> None:
    assert duration(ms) == text


def test_numbers_lose_what_says_nothing() -> None:
    assert [trimmed(value, 2) for value in (2, 6.5, 6.555, 1024)] == ["2", "6.5", "6.55", "1,024"]
