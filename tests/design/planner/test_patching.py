"""Patch panels: every port has one trunk, both trunks of a link meet at a panel, and growth lays none again."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fabric.base.diagnostics import InputError
from fabric.design.moves import difference
from fabric.model.plan import BETWEEN_SWITCHES, FabricPlan, Plan
from tests.deliver.change.expansion import draw, grown, trunks
from tests.design.planner.helpers import make

DESIGN: dict[str, Any] = {
    "version": 1,
    "site": "s",
    "catalog": {"servers": {"s": {"gpus": 4, "nics": {"compute": {"count": 4, "speed_gbps": 400}}}}},
}


def made(servers: int, topology: dict[str, Any], old: Plan | None = None) -> FabricPlan:
    fabric = {"servers": {"model": "s", "count": servers, "nics": "compute"}, "topology": topology}
    return make({**DESIGN, "fabrics": {"b": fabric}}, old.lock if old else None).fabrics["b"]


TWO = {"switch": "32x400g", "unit": {"servers": 8}, "patch_panels": {"leaf-spine": {"ports": 48}}}
THREE = {
    "switch": "16x400g",
    "unit": {"servers": 4},
    "tiers": 3,
    "patch_panels": {"leaf-spine": {"ports": 48}, "spine-core": {"ports": 96}},
}


def test_without_the_key_a_plan_has_no_panels() -> None:
    assert made(16, {"switch": "32x400g", "unit": {"servers": 8}}).patching is None


@pytest.mark.parametrize("topology", [TWO, THREE], ids=["two tiers", "three tiers"])
def test_every_link_of_a_stated_kind_passes_a_panel(topology: dict[str, Any]) -> None:
    fabric = made(16, topology)
    patched = fabric.patching
    assert patched is not None
    assert np.array_equal(patched.panel >= 0, np.isin(fabric.links.kind, BETWEEN_SWITCHES))
    trunks(fabric)
    ports = {panel.name: panel.ports for panel in patched.panels}
    assert all(1 <= port <= ports[panel] for panel, port in trunks(fabric).values())


def test_new_switches_take_a_part_of_a_panel() -> None:
    """Eight links of a leaf, two to each spine: 16 of 48 ports are for links, so a panel has those of two leaves."""
    fabric = made(16, TWO)
    assert fabric.patching is not None
    leaves = [set(fabric.links.a[fabric.patching.panel == at].tolist()) for at in range(len(fabric.patching.panels))]
    uplinks = fabric.sizing.groups[0].uplinks
    assert {len(its) for its in leaves} == {16 // uplinks}
    stated = made(16, {**TWO, "patch_panels": {"leaf-spine": {"ports": 48, "links": uplinks}}})
    assert stated.patching is not None
    assert len(stated.patching.panels) == fabric.sizing.leaves


@pytest.mark.parametrize(
    ("topology", "more", "words"),
    [
        (TWO, {"planes": 1}, {"b-panel001"}),
        (THREE, {}, {"b-pod1-panel001", "b-core-group1-panel001"}),
        (TWO, {"kind": "rail-only"}, {f"b-rail{rail}-panel001" for rail in (1, 2, 3, 4)}),
    ],
)
def test_names_say_what_a_panel_is_of(topology: dict[str, Any], more: dict[str, Any], words: set[str]) -> None:
    fabric = made(32, {**topology, **more})
    assert fabric.patching is not None
    assert words <= {panel.name for panel in fabric.patching.panels}


def test_more_links_than_a_panel_has_ports_are_refused() -> None:
    with pytest.raises(InputError, match="expected at most 24 links on a panel of 48 ports, got 25"):
        made(16, {**TWO, "patch_panels": {"leaf-spine": {"ports": 48, "links": 25}}})


def test_growth_lays_no_trunk_again() -> None:
    """Of random fabrics that keep their tiers: trunks in use stay, and what moves are jumpers of one panel."""
    its, moving = random.Random(5), 0
    for _ in range(60):
        intent, servers = draw(its)
        fabric = intent["fabrics"]["backend"]
        fabric["topology"]["tiers"] = 2
        try:
            old, new = grown(intent, 2 * servers)
        except InputError:
            continue
        before, after = old.fabrics["backend"], new.fabrics["backend"]
        if not before.sizing.spines:
            continue
        first, then = trunks(before), trunks(after)
        assert {end: then[end] for end in first} == first
        changes = difference(old, new)
        cables = [cable for step in changes.steps for cable in step.cables if cable.old is not None]
        assert all(cable.jumper for cable in cables)
        assert before.sizing.spines != after.sizing.spines or not cables
        moving += bool(cables)
    assert moving > 5


def test_stated_links_are_cabled_directly() -> None:
    fabric = {"servers": {"model": "s", "count": 8, "nics": "compute"}, "topology": TWO}
    first = made(8, TWO)
    end = f"b-leaf001 {int(first.links.a_cage[first.links.kind == BETWEEN_SWITCHES[1]][0])}"
    stated = {**fabric, "links": {"remove": [end], "add": [{"ends": [end, "b-spine001 32"]}]}}
    plan = make({**DESIGN, "fabrics": {"b": stated}}).fabrics["b"]
    assert plan.patching is not None
    assert first.patching is not None
    assert plan.patching.of(len(plan.links) - 1) is None
    assert int((plan.patching.panel >= 0).sum()) == int((first.patching.panel >= 0).sum()) - 1
    kept = trunks(first)
    assert all(kept[end] == place for end, place in trunks(plan).items())
