"""Which switches of a large site go to Batfish."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.audit.checks.batfish.snapshot import subset
from fabric.model.plan import CORE, LEAF, SPINE, Plan
from tests import ROOT


@pytest.fixture(scope="module")
def three_tiers() -> Plan:
    """320 switches: 16 units of eight leaves in two pods."""
    return pipeline.plan(pipeline.load(ROOT / "intent" / "b200-3tier.yaml"))


def test_a_small_site_goes_whole() -> None:
    plan = pipeline.plan(pipeline.load(ROOT / "intent" / "ai-eos.yaml"))
    found = subset(plan)
    assert found.named == ""
    assert sum(map(len, found.taken.values())) == found.count == 16


def test_a_large_one_is_cut_and_named(three_tiers: Plan) -> None:
    found = subset(three_tiers)
    assert len(found.names) <= 128
    assert found.named == (
        "128 of 320 switches: backend with 32 leaves (backend-leaf001 … backend-leaf048), "
        "48 spines (backend-spine001 … backend-spine056), 48 cores (backend-core001 … backend-core048)"
    )


@pytest.mark.parametrize("most", [128, 64, 24])
def test_every_role_pod_and_rail_stays(three_tiers: Plan, most: int) -> None:
    fabric = three_tiers.fabrics["backend"]
    taken = subset(three_tiers, most).taken["backend"]
    assert len(taken) <= most
    assert {device.role for device in taken} == {LEAF, SPINE, CORE}
    leaves = [device for device in taken if device.role == LEAF]
    assert {leaf.pod for leaf in leaves} == {0, 1}
    assert {leaf.rail for leaf in leaves} == {device.rail for device in fabric.switches if device.role == LEAF}
    chosen = {device.index for device in taken}
    ways = Counter(
        a for a, b in zip(fabric.links.a.tolist(), fabric.links.b.tolist(), strict=True) if a in chosen and b in chosen
    )
    for role in (LEAF, SPINE):  # switches of a role have equally many ways up, two at least
        counts = {ways[device.index] for device in taken if device.role == role}
        assert len(counts) == 1
        assert counts.pop() >= 2


WIDER = {
    "count: 8, per_rack: 4": "count: 800, per_rack: 4",
    "gpu-0001..0005": "gpu-0001..0400",
    "gpu-0006..0008": "gpu-0401..0800",
    "10.20.0.0/24": "10.20.0.0/20",
    "10.30.0.0/24": "10.30.0.0/20",
}


def test_border_leaves_and_their_pairs_stay(tmp_path: Path) -> None:
    text = (ROOT / "intent" / "ai-eos.yaml").read_text(encoding="utf-8")
    for old, new in WIDER.items():
        text = text.replace(old, new)
    path = tmp_path / "wide.yaml"
    path.write_text(text, encoding="utf-8")
    plan = pipeline.plan(pipeline.load(path, tmp_path))
    found = subset(plan, 60)
    assert found.count > 60 >= len(found.names)
    frontend = plan.fabrics["frontend"]
    border = {int(frontend.links.b[way.link]) for way in frontend.tenancy.external_connections}
    pairs = {frontend.tenancy.pair[leaf] for leaf in border}
    assert {frontend.devices[leaf].name for leaf in border | pairs} <= found.names
