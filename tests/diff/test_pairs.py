"""A sample of the random pairs of configs; `python -m tests.diff.pairs` has more."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.diff.pairs import pairs, wrong

SAMPLE = {"junos": 22, "cumulus": 12}


@pytest.mark.parametrize("nos", SAMPLE)
def test_what_is_printed_makes_one_config_of_the_other(nos: str) -> None:
    for pair in islice(pairs(nos, 1), SAMPLE[nos]):
        assert not wrong(nos, pair), pair.what
