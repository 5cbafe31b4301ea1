"""Random designs come back from their configs: a sample of `python -m tests.deliver.brownfield.through_files`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deliver.brownfield.through_files import DRAWS, MAX_RATIO, through_files

SEED = 7
SAMPLE = ("drawing:0", "everyday:1", "everyday:3", "drawing:4", "everyday:5")
KINDS = {  # of what a config says in a way of its own
    "drawing:6": "pools of which a part is in no use, by a prefix list",
    "drawing:22": "pools in the lists of leaves alone",
    "drawing:60": "a switch whose config names every port",
    "drawing:98": "spare server ports",
    "everyday:51": "an EVPN overlay without sessions and tenants",
    "everyday:75": "a leaf that serves its own management port",
    "everyday:95": "an EVPN overlay by the VNIs of its VRFs",
}


@pytest.mark.parametrize("name", [*SAMPLE, *(pytest.param(name, marks=pytest.mark.slow) for name in KINDS)])
def test_a_design_comes_back_from_its_configs(name: str, tmp_path: Path) -> None:
    kind, _, number = name.partition(":")
    outcome = through_files(DRAWS[kind](SEED, int(number)), tmp_path)
    assert outcome.crash == ""
    if outcome.planned:
        assert (dict(outcome.kinds), outcome.network) == ({}, ())
        assert outcome.left == 0
        assert outcome.lines <= MAX_RATIO * outcome.lines_before
