"""Columns as the page's data have them: what is packed comes back, in Python and in the page's script."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given, strategies as st

from fabric.deliver.report.tables import LETTERS, lettered, numbered, packed, unpacked
from tests.deliver.report.browser import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FEW = st.lists(st.sampled_from([0, 250, 533, 1000, 1066, 1500]), max_size=200)
ANY = st.lists(st.integers(-(2**40), 2**40), max_size=200)


@given(st.one_of(FEW, ANY))
def test_what_is_packed_comes_back(values: list[int]) -> None:
    for pack in (packed, lettered):
        assert unpacked(pack(np.array(values, dtype=np.int64))) == values


def test_a_letter_is_a_byte_that_json_does_not_escape() -> None:
    assert len(LETTERS) == len(set(LETTERS)) == 91
    assert json.dumps(LETTERS) == f'"{LETTERS}"'


def test_addresses_are_steps() -> None:
    texts = ["", "10.64.0.0", "10.64.0.1", "10.64.0.2", "255.255.255.255", "fd00::1", "10.0.0.1 10.0.0.3", "0.0.0.0"]
    assert numbered(texts) == ["", 171966464, 1, 1, 4123000829, "fd00::1", "10.0.0.1 10.0.0.3", -4294967295]


def test_the_script_reads_the_same(browser: Browser, report: Callable[[str], Path]) -> None:
    """Every letter, and addresses of both families, by the functions that stand in the page."""
    tab = opened(browser, report("small"))
    tab.go()
    values = np.arange(91, dtype=np.int64) * 7
    read: Callable[[str, Any], Any] = lambda function, value: tab.page.evaluate(f"value => {function}(value)", value)  # noqa: E731
    assert read("unpackLetters", lettered(values)) == values.tolist()
    texts = ["", "10.64.0.0", "10.64.0.1", "255.255.255.255", "fd00::1", "0.0.0.0", "172.16.5.1"]
    assert read("unpackAddresses", numbered(texts)) == texts
    tab.page.context.close()
