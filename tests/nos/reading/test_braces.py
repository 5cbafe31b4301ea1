"""Texts in braces: comments and quotes, and the time that it takes to find them."""

from __future__ import annotations

import time

import pytest

from fabric.nos.reading.sections import ASIDE, TOKEN, bare

BARE = {
    "a quote": ('a "{";\n', "a '';\n"),
    "comments": ("a; # {\n/* {\n} */ b;\n", "a; ''\n\n b;\n"),
    "a quote over lines": ('cert "x\n}\n";\nb;\n', "cert \n\n;\nb;\n"),
    "a quote in a quote": (r'a "x \" {"; b {', "a ''; b {"),
    "a quote that is never closed": ('a "x\nb {\n', 'a "x\nb {\n'),
}


@pytest.mark.parametrize("name", BARE)
def test_bare(name: str) -> None:
    text, wanted = BARE[name]
    assert bare(text) == wanted


UNITS = ('x\\"\n', '\\"', '"a\n', "/*", '"\n\\"', '\\\n\\"', '"\\\n', '"\\\\"\n', 'a " b\\"\n')


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_text(unit: str) -> None:
    """Four times the text takes four times as long, not sixteen."""
    for size in (1_000, 3_000, 9_000):
        seconds = []
        for text in (unit * size, unit * 4 * size):
            begin = time.process_time()
            for _ in range(3):
                TOKEN.findall(text), ASIDE.findall(text)
            seconds.append(time.process_time() - begin)
        if seconds[1] < 8 * seconds[0]:
            return
    pytest.fail(f"4 times the text takes {seconds[1] / seconds[0]:.1f} times as long")
