"""Fabrics without spines: when they are chosen, when an intent or a site in service keeps its spines, and how they grow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.design.intent.intent import Intent
from fabric.design.planner.one_tier import fewest
from fabric.design.planner.resolve import resolve_intent
from fabric.design.planner.sizing import size
from fabric.model.plan import FabricPlan, Sizing
from fabric.model.plan.lock import FabricLock
from tests.design.planner.helpers import make

NICS = "catalog: {servers: {twin: {gpus: 4, nics: {compute: {count: 4, ports: 2, speed_gbps: 400}}}}}\n"
# servers, topology, and more keys of the fabric → leaves and spines
CHOSEN: dict[str, tuple[int, int]] = {
    "dgx-h100 8 | switch: qm9700": (1, 0),
    "hgx-h100 4 | switch: sn5600": (1, 0),
    "dgx-h100 16 | switch: sn5600": (1, 0),
    "dgx-h100 17 | switch: sn5600": (8, 4),
    "dgx-h100 8 | switch: sn5600, tiers: 1": (1, 0),
    "dgx-h100 8 | switch: sn5600, spine: {count: 0}": (1, 0),
    "dgx-h100 8 | switch: sn5600, kind: rail-optimized, tiers: 1": (1, 0),
    "dgx-h100 8 | switch: sn5600, leaf: {oversubscription: 2}": (1, 0),
    "dgx-h100 8 | switch: sn5600, attachments: [{name: ufm, links: 4}]": (1, 0),
    "dgx-h100 16 | switch: sn5600, attachments: [{name: ufm, links: 4}]": (8, 4),  # no port is left for it
    "dgx-h100 8 | switch: sn5600, kind: rail-only": (8, 0),  # 64 GPUs
    "dgx-h100 32 | switch: sn5600, kind: rail-only": (8, 0),  # 256 GPUs
    "dgx-h100 32 | switch: sn5600, kind: rail-only, unit: {servers: 32}": (8, 0),
    "dgx-h100 129 | switch: sn5600, kind: rail-only": (24, 16),
    "dgx-h100 4 | switch: sn5600 | purpose: storage": (1, 0),
    "dgx-h100 8 | switch: sn2201 | purpose: oob": (1, 0),
    "twin 8 | switch: sn5600, planes: 2": (2, 0),
    "twin 8 | switch: sn5600, dual_tor: true": (2, 0),
    "twin 8 | switch: sn5600, dual_tor: true | overlay: {kind: evpn-vxlan} | tenants: [{name: a, networks: [{name: n}]}]": (
        8,
        4,
    ),
    # what only a fabric with spines has
    "dgx-h100 8 | switch: sn5600, tiers: 2": (8, 4),
    "dgx-h100 8 | switch: sn5600, kind: rail-optimized": (8, 4),
    "dgx-h100 8 | switch: sn5600, rails: 2": (2, 2),
    "dgx-h100 8 | switch: sn5600, unit: {servers: 8}": (8, 2),
    "dgx-h100 8 | switch: sn5600, spine: {switch: sn5600}": (8, 4),
    "dgx-h100 8 | switch: sn5600, leaf: {uplinks: {count: 4}}": (8, 2),
    "dgx-h100 8 | switch: sn5600 | planned: {servers: 64}": (8, 4),
    "dgx-h100 8 | switch: sn5600 | planned: {servers: 16}": (1, 0),
    "dgx-h100 8 | switch: sn5600 | planned: {servers: 64, uplinks: recable}": (1, 0),
}


def intent(tmp_path: Path, design: str) -> Intent:
    servers, topology, *more = design.split(" | ")
    model, _, count = servers.partition(" ")
    path = tmp_path / "d.yaml"
    path.write_text(
        f"version: 1\nsite: d\n{NICS}fabrics:\n  backend:\n    servers: {{model: {model}, count: {count}}}\n"
        f"    topology: {{{topology}}}\n" + "".join(f"    {key}\n" for key in more),
        encoding="utf-8",
    )
    return pipeline.load(path)


def row(tmp_path: Path, design: str) -> dict[str, Any]:
    return dict(pipeline.summarize(intent(tmp_path, design))["fabrics"]["backend"])


@pytest.mark.parametrize("design", CHOSEN)
def test_what_is_chosen(design: str, tmp_path: Path) -> None:
    made = row(tmp_path, design)
    assert (made["switches"]["leaf"], made["switches"]["spine"]) == CHOSEN[design]
    assert (made["tiers"] == 1) == (CHOSEN[design][1] == 0)


@pytest.mark.parametrize(
    ("design", "reason"),
    [
        ("dgx-h100 40 | switch: sn5600, tiers: 1", "a leaf (sn5600) carries 16 servers, 40 are asked for"),
        ("dgx-h100 8 | switch: sn5600, rails: 2, tiers: 1", "the 2 leaves of a network reach each other over spines alone"),
    ],
)
def test_what_cannot_be_built_says_why(design: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        row(tmp_path, design)
    assert reason in str(error.value)


def test_the_note_says_what_a_loss_and_the_next_step_cost(tmp_path: Path) -> None:
    made = pipeline.plan(intent(tmp_path, "hgx-h100 4 | switch: sn5600"))
    (note,) = [str(warning) for warning in made.warnings if warning.code == "FAB400"]
    assert "one switch carries all 4 servers; the fabric stops with it" in note
    assert "up to 16 servers nothing is cabled again; 17 servers take 8 leaves, 4 spines" in note


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, "one switch; the fabric stops with it"), (2, "2 leaves without spines; without one of them 1 is left")],
)
def test_the_note_without_servers_speaks_of_none(count: int, expected: str) -> None:
    topology = {"switch": "64x400g", "leaves_without_servers": [{"name": "border", "count": count}]}
    topology |= {"kind": "rack", "tiers": 1, "dual_tor": True} if count == 2 else {}
    made = make({"version": 1, "site": "dc1", "fabrics": {"edge": {"nos": "eos", "topology": topology}}})
    assert [one.message for one in made.warnings if one.code == "FAB400"] == [f"fabric 'edge': {expected}"]


def test_leaves_without_servers_are_too_many_for_one_tier() -> None:
    topology = {"tiers": 1, "switch": "64x400g", "leaves_without_servers": [{"name": "border", "count": 3}]}
    with pytest.raises(InputError, match="the 3 leaves of a network reach each other over spines alone"):
        make({"version": 1, "site": "dc1", "fabrics": {"edge": {"nos": "eos", "topology": topology}}})


def sized(tmp_path: Path, design: str, lock: FabricLock) -> Sizing:
    spec = resolve_intent(intent(tmp_path, design)).fabrics["backend"]
    return size(fewest(spec, lock))


def test_a_fabric_in_service_keeps_its_spines(tmp_path: Path) -> None:
    design = "dgx-h100 8 | switch: sn5600"
    with_spines = pipeline.plan(intent(tmp_path, f"{design}, tiers: 2")).lock.fabrics["backend"]
    assert (sized(tmp_path, design, with_spines).leaves, sized(tmp_path, design, FabricLock()).leaves) == (8, 1)
    without = pipeline.plan(intent(tmp_path, design)).lock.fabrics["backend"]
    assert sized(tmp_path, design, without).leaves == 1


def ends(plan: FabricPlan) -> Iterator[tuple[int, ...]]:
    return zip(*(plan.links.lists()[name] for name in ("a", "a_cage", "b", "b_cage", "b_sub")), strict=True)


@pytest.mark.parametrize("kind", ["switch: sn5600", "switch: 64x800g, kind: rail-only", "switch: sn5600 | purpose: storage"])
def test_growth_on_the_same_leaves_moves_nothing(kind: str, tmp_path: Path) -> None:
    small, large = (pipeline.plan(intent(tmp_path, f"dgx-h100 {count} | {kind}")) for count in (5, 9))
    before, after = (
        {
            (plan.devices[a].name, a_cage, plan.devices[b].name, b_cage, sub, subnet)
            for (a, a_cage, b, b_cage, sub), subnet in zip(ends(plan), plan.subnet.tolist(), strict=True)
        }
        for plan in (made.fabrics["backend"] for made in (small, large))
    )
    assert len(before) < len(after)
    assert before - after == set()


@pytest.mark.parametrize("model", ["dgx-h100", "dgx-a100", "hgx-h200", "dgx-b200"])
@pytest.mark.parametrize("switch", ["sn5600", "sn4700", "64x400g"])
def test_no_design_has_more_switches_than_the_best_of_all_stated(model: str, switch: str, tmp_path: Path) -> None:
    """Against every kind of tiers that can be stated, with the unit and the rails of the rule."""
    base = resolve_intent(intent(tmp_path, f"{model} 1 | switch: {switch}")).fabrics["backend"]
    (group,) = base.groups
    for count in (1, 2, 5, 8, 13, 16, 17, 32, 64):
        spec = replace(base, groups=(replace(group, count=count, planned=count),))
        options = {}
        for tiers in ("auto", 1, 2, 3):
            stated = replace(spec, constraints=replace(spec.constraints, tiers=tiers))
            try:
                options[tiers] = switches(size(fewest(stated, FabricLock())))
            except InputError:
                continue
        assert options["auto"] == min(options.values()), (count, options)


def switches(sizing: Sizing) -> int:
    return sizing.leaves + sizing.spine_count + sizing.core_count
