"""A fabric that grows leaves the files of servers in service as they are."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from fabric.configs.hosts import host_files
from fabric.model.plan.lock_file import Lock
from tests import ROOT
from tests.configs.hosts.helpers import lossless_facts, make, site

STARTER = ROOT / "intent" / "starter.yaml"


def files(intent: dict[str, Any], lock: Lock | None = None) -> tuple[dict[str, bytes], Lock]:
    made = make(intent, lock)
    return dict(host_files(made, facts_of=lossless_facts)), made.lock


def changed(intent: dict[str, Any], *counts: int) -> list[set[str]]:
    """Files of servers in service that each step of growth changes."""
    found, lock = files(intent)
    steps = []
    for count in counts:
        intent["fabrics"]["backend"]["servers"]["count"] = count
        grown, lock = files(intent, lock)
        steps.append({path for path, data in found.items() if grown[path] != data})
        found = grown
    return steps


def test_the_readme_step_from_8_to_12_servers() -> None:
    intent = yaml.safe_load(STARTER.read_text(encoding="utf-8"))
    assert changed(intent, 12, 40) == [set(), set()]


KINDS: list[dict[str, Any]] = [
    {},
    {"underlay": {"addressing": "ipv6"}},
    {"topology": {"kind": "rack", "switch": "16x400g", "tiers": 2}},
    {"topology": {"switch": "16x400g", "unit": {"servers": 2}, "tiers": 3}},
]


@pytest.mark.parametrize("changes", KINDS)
def test_units_that_no_one_planned(changes: dict[str, Any]) -> None:
    intent = site(**changes)
    intent["fabrics"]["backend"]["servers"]["per_rack"] = 2
    assert changed(intent, 4, 5, 8, 20) == [set()] * 4


APART: list[dict[str, Any]] = [
    {"topology": {"kind": "rail-only", "switch": "16x400g", "unit": {"servers": 2}, "tiers": 2}},
    {"topology": {"switch": "16x400g", "unit": {"servers": 2}, "planes": 2, "tiers": 2}},
]


def apart(changes: dict[str, Any], planned: int = 0) -> dict[str, Any]:
    """A fabric whose ports do not reach all of it."""
    intent = site(**changes, **({"planned": {"servers": planned}} if planned else {}))
    if "planes" in changes["topology"]:
        intent["catalog"]["servers"]["node"]["nics"]["compute"] = {"count": 1, "ports": 2, "speed_gbps": 400}
    return intent


def shared(planned: int = 0) -> dict[str, Any]:
    """Two fabrics with one pool."""
    intent = site(**({"planned": {"servers": planned}} if planned else {}))
    front = {"purpose": "frontend", "nos": "frr", "topology": {"kind": "collapsed", "switch": "16x400g"}}
    intent["fabrics"]["front"] = {**front, "servers": {"model": "dgx-h100", "count": 1, "name": "head"}}
    return intent


@pytest.mark.parametrize("intent", [*[apart(changes, 8) for changes in APART], shared(8)])
def test_one_to_four_units_that_are_planned(intent: dict[str, Any]) -> None:
    assert changed(intent, 4, 8) == [set(), set()]


@pytest.mark.parametrize("intent", [*map(apart, APART), shared()])
def test_where_growth_beyond_the_reserve_does_change_them(intent: dict[str, Any]) -> None:
    """docs/hosts.md says so: the new block of a rail can be named by its own prefix only."""
    assert changed(intent, 4) == [{"hosts/gpu-0001/60-fabric.yaml", "hosts/gpu-0002/60-fabric.yaml"}]


def test_two_fabrics_with_pools_of_their_own() -> None:
    intent = shared()
    intent["fabrics"]["front"]["pools"] = {"servers": "10.16.0.0/16"}
    assert changed(intent, 4, 8) == [set(), set()]
