"""The picture of busbw against size: well-formed, complete, without overlaps, the same every time."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from fabric.base.formats import text_width
from fabric.base.text import size as size_words
from fabric.solver import Series, busbw_svg
from fabric.solver.estimate.plot import HEIGHT, WIDTH

SVG = "{http://www.w3.org/2000/svg}"


def curve(most: float, half: float) -> tuple[tuple[float, float], ...]:
    return tuple((2.0**power, most / (1 + half / 2**power)) for power in range(3, 34))


FIVE = [
    Series("predicted", curve(390, 1e7)),
    Series("ideal", tuple((2.0**power, 400.0) for power in range(3, 34)), "dashed"),
    Series("measured", curve(380, 1.2e7), "dots", 0),
    Series("rack 2:1", curve(195, 1e7)),
    Series("one spine down", curve(388, 1e7)),
]


def texts(svg: str) -> list[tuple[float, float, str, str]]:
    """x, y, class and words of every text."""
    return [
        (float(item.get("x", "0")), float(item.get("y", "0")), item.get("class", ""), item.text or "")
        for item in ElementTree.fromstring(svg).iter(f"{SVG}text")
    ]


def labels(svg: str) -> list[tuple[float, float, str]]:
    return sorted((y, x, words) for x, y, kind, words in texts(svg) if kind.startswith("f"))


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (1, "1 B"),
        (1000, "1000 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (2**26, "64 MiB"),
        (2**34, "16 GiB"),
        (2**60, "1024 PiB"),
    ],
)
def test_sizes_in_binary_units(size: float, words: str) -> None:
    assert size_words(size) == words


def test_what_is_drawn() -> None:
    svg = busbw_svg("all_reduce", FIVE, "bytes")
    root = ElementTree.fromstring(svg)
    shapes = [item.get("class", "") for item in root.iter(f"{SVG}path")]
    assert [shapes.count(kind) for kind in ("line c0", "dashed c1", "line c3", "line c4")] == [2, 2, 2, 2]  # and in the key
    assert len([item for item in root.iter(f"{SVG}circle") if item.get("class") == "dot f0"]) == 31 + 1
    words = [text for *_, text in texts(svg)]
    assert [text for text in words if text.endswith("iB")] == ["1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB"]
    assert {"all_reduce", "bytes", "bus bandwidth, GB/s", "0", "100", "500"} <= set(words)
    assert {words for *_, words in labels(svg)} == {item.label for item in FIVE}
    assert (root.get("width"), root.get("height")) == (f"{WIDTH:.0f}", f"{HEIGHT:.0f}")


def test_screen_readers_and_the_dark_scheme() -> None:
    svg = busbw_svg("all_reduce", FIVE)
    root = ElementTree.fromstring(svg)
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
    assert "rack 2:1: 31 sizes, 8 B to 8 GiB, at most 194.8 GB/s at 8 GiB." in (desc.text or "")
    assert "@media (prefers-color-scheme:dark)" in svg
    assert all(
        rule.strip().startswith(f"#{root.get('id')} ") for rule in svg.split("<style>")[1].split("@media")[0].split("}")[:-1]
    )


def test_it_is_small_and_the_same_every_time() -> None:
    assert busbw_svg("a", FIVE) == busbw_svg("a", list(FIVE))
    assert busbw_svg("a", FIVE) != busbw_svg("b", FIVE)
    assert len(busbw_svg("a", FIVE)) < 20_000  # a hint for every point


def test_a_single_row_is_a_dot_on_axes() -> None:
    svg = busbw_svg("one", [Series("predicted", ((1 << 20, 12.0),)), Series("ideal", ((1 << 20, 50.0),), "dashed")])
    dots = [(item.get("cx"), item.get("cy")) for item in ElementTree.fromstring(svg).iter(f"{SVG}circle")]
    assert len(dots) == 2
    assert len({x for x, _ in dots}) == 1
    assert [text for *_, text in texts(svg) if text.endswith("iB")] == ["512 KiB", "1 MiB", "2 MiB"]


@pytest.mark.parametrize(
    "series", [[], [Series("nothing", ())], [Series("bad", ((0.0, 1.0), (8.0, float("nan")), (8.0, -1.0)))]]
)
def test_nothing_to_draw_is_reported(series: list[Series]) -> None:
    assert "no rows" in [text for *_, text in texts(busbw_svg("none", series))]


NAMES = st.text(max_size=40)
POINTS = st.lists(st.tuples(st.floats(0, 2.0**50), st.floats(0, 1e5)), max_size=12).map(tuple)
MANY = st.lists(
    st.builds(Series, NAMES, POINTS, st.sampled_from(["line", "dashed", "dots"]), st.none() | st.integers(0, 20)), max_size=30
)


@settings(max_examples=100, deadline=None)
@given(NAMES, MANY, NAMES)
def test_any_series_give_a_picture_without_overlaps(title: str, series: list[Series], x_label: str) -> None:
    svg = busbw_svg(title, series, x_label)
    root = ElementTree.fromstring(svg)
    height = float(root.get("height", "0"))
    found = labels(svg)
    assert all(below[0] - above[0] >= 16.8 for above, below in pairwise(found))
    assert all(0 < y < height and x + text_width(words, 12.5) <= WIDTH for y, x, words in found)
    for item in root.iter(f"{SVG}circle"):
        assert 0 < float(item.get("cx", "")) < WIDTH
        assert 0 < float(item.get("cy", "")) < height
    assert len(found) == sum(any(size >= 1 for size, _ in item.points) for item in series)
