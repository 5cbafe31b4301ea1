"""Random designs come back from their configs: a sample of `python -m tests.deliver.brownfield.through_files`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deliver.brownfield.through_files import DRAWS, MAX_RATIO, through_files
from tests.system.random_designs.drawing import Design

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


def test_pairs_without_bonds_come_back_by_their_as_numbers(tmp_path: Path) -> None:
    fabric = {
        "purpose": "frontend",
        "nos": "junos",
        "servers": {"model": "node", "count": 21, "unit": {"servers": 7}},
        "topology": {
            "kind": "rack",
            "switch": "qfx5240-64od",
            "dual_tor": True,
            "leaves_without_servers": [{"name": "edge", "count": 2}],
        },
        "underlay": {"asn": {"scheme": "per-pair"}},
    }
    catalog = {"servers": {"node": {"gpus": 0, "nics": {"frontend": {"count": 1, "ports": 2, "speed_gbps": 200}}}}}
    outcome = through_files(
        Design("pairs", {"version": 1, "site": "pairs", "catalog": catalog, "fabrics": {"front": fabric}}), tmp_path
    )
    assert outcome.planned
    assert (outcome.crash, dict(outcome.kinds), outcome.network) == ("", {}, ())
