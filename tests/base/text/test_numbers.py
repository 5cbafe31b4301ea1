"""Numbers with their units."""

from __future__ import annotations

import pytest

from fabric.base.text import duration, percent, power, size, time, trimmed, volume


def test_shares_have_one_digit() -> None:
    assert [percent(share) for share in (0, 0.1254, 1)] == ["0.0 %", "12.5 %", "100.0 %"]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (8, "8 B"), (1536, "1.5 KiB"), (64 << 20, "64 MiB"), (1 << 62, "4096 PiB")]
)
def test_sizes_are_powers_of_two(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (8, "8 B"), (1500, "1.5 kB"), (999.9e6, "1 GB"), (1.234e9, "1.23 GB"), (5e18, "5,000 PB")]
)
def test_volumes_are_powers_of_ten(count: float, text: str) -> None:
    assert volume(count) == text


@pytest.mark.parametrize(("watts", "text"), [(0, "0 W"), (950, "950 W"), (22_412, "22.4 kW"), (1_250_000, "1.25 MW")])
def test_power(watts: float, text: str) -> None:
    assert power(watts) == text


@pytest.mark.parametrize(
    ("us", "text"), [(0.84, "0.8 us"), (12.44, "12.4 us"), (850.4, "850 us"), (999.9, "1.00 ms"), (8412, "8.41 ms")]
)
def test_times_in_microseconds(us: float, text: str) -> None:
    assert time(us) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0.04, "0.04 ms"),
        (8.412, "8.41 ms"),
        (9.999, "10.0 ms"),
        (49.6, "49.6 ms"),
        (250, "250 ms"),
        (999.9, "1.0 s"),
        (43_100, "43.1 s"),
        (59_990, "1 min"),
        (180_000, "3 min"),
        (200_000, "3 min 20 s"),
        (3_599_000, "1 h"),
        (7_500_000, "2 h 5 min"),
        (float("inf"), "inf s"),
    ],
)
def test_times_have_three_digits(ms: float, text: str) -> None:
    assert duration(ms) == text


def test_numbers_lose_what_says_nothing() -> None:
    assert [trimmed(value, 2) for value in (2, 6.5, 6.555, 1024)] == ["2", "6.5", "6.55", "1,024"]
