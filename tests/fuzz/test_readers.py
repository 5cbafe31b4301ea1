"""A share of the damaged and hostile texts for every reader; `python -m tests.fuzz.reading`, `.hostile` and `.patterns` are
the whole."""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Iterator

import pytest

pytest.importorskip("resource")

from tests.fuzz.hostile import MOST_GROWTH, growth, texts
from tests.fuzz.patterns import Place, places, slow
from tests.fuzz.readers import Reading, readings
from tests.fuzz.reading import case, late, run

SEED, TEXTS, PATTERNS, HOSTILE = 1, 300, 120, 30


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    """A reading that takes too long is ended."""
    before = signal.signal(signal.SIGPROF, late)
    yield
    signal.signal(signal.SIGPROF, before)


def test_a_damaged_text_is_read_or_refused() -> None:
    """With the guard of the engine open, so that the mistake of a reader itself is seen."""
    results = [run(*case(SEED, number)) for number in range(TEXTS)]
    assert [f"{one.reading}: {one.failure}" for one in results if one.failure] == []
    assert sum(not one.refused for one in results) > TEXTS / 2


def test_no_pattern_takes_longer_than_its_text_is_long() -> None:
    chosen = random.Random(SEED).sample(places(), PATTERNS)
    assert {place.name: found for place in chosen if (found := slow(place))} == {}


@pytest.mark.parametrize("pattern", [r"(?m)^\s*hostname", r"([\d,-]*[,-][\d,-]*) vni", r"mlx5 .*down", r"(\d+)-(\d+)$"])
def test_a_slow_pattern_is_seen(pattern: str) -> None:
    assert slow(Place("x", re.compile(pattern), searches=True))


def test_the_time_of_a_reader_grows_with_its_text() -> None:
    dice = random.Random(SEED)
    every = [(reading, what, make) for reading in readings().values() for what, make in texts(reading, dice, 1)]
    found = []
    for reading, what, make in dice.sample(every, HOSTILE):
        if growth(reading, make, large=8_000) > MOST_GROWTH:  # then it is looked at again, with larger texts
            ratio = growth(reading, make, large=128_000)
            found += [f"{reading.name}: {what}: {ratio:.1f}"] if ratio > MOST_GROWTH else []
    assert found == []


def test_a_slow_reader_is_seen() -> None:
    slow_reader = Reading("x", lambda text: re.search(r"(?m)^\s*hostname", text), ("hostname x\n",))
    assert growth(slow_reader, lambda size: "\n" * size, large=16_000) > MOST_GROWTH


def test_every_reader_of_every_network_os_is_tested() -> None:
    from fabric.nos.target import targets

    names = {name.split()[1] for name in readings() if name.startswith("facts ")}
    assert names == {name for name, target in targets().items() if target.reader is not None}
