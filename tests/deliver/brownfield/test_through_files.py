"""Random designs come back from their configs: a sample of `python -m tests.deliver.brownfield.through_files`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deliver.brownfield.through_files import DRAWS, MAX_RATIO, through_files

SEED = 7
SAMPLE = ("drawing:0", "everyday:1", "everyday:3", "drawing:4", "everyday:5")


@pytest.mark.parametrize("name", SAMPLE)
def test_a_design_comes_back_from_its_configs(name: str, tmp_path: Path) -> None:
    kind, _, number = name.partition(":")
    outcome = through_files(DRAWS[kind](SEED, int(number)), tmp_path)
    assert outcome.crash == ""
    if outcome.planned:
        assert (dict(outcome.kinds), outcome.network) == ({}, ())
        assert outcome.left == 0
        assert outcome.lines <= MAX_RATIO * outcome.lines_before
