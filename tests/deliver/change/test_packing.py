"""Waves: every switch in one, none below the floor, and no partition with fewer."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.deliver.change.packing import Packer
from fabric.model.plan import FabricPlan
from fabric.solver.capacity.outages import Outages
from fabric.solver.network import network
from tests.cost import calls
from tests.deliver.change.small import FLOORS, chosen, fewest, small

CASES, ALL_CASES = 60, 1000
MIN_BEST = 0.99  # share of the cases with the fewest waves that there are

TWO_TIERS = """\
version: 1
site: s
fabrics:
  backend:
    nos: frr
    servers: {model: dgx-h100, count: 64}
    topology: {switch: 64x400g, unit: {servers: 16}, leaf: {oversubscription: 1}}
"""
PAIRS = """\
version: 1
site: s
catalog:
  servers: {srv: {gpus: 4, nvlink_domain_gpus: 4, nics: {compute: {count: 1, ports: 2, speed_gbps: 100}}}}
fabrics:
  backend:
    nos: frr
    qos: {enabled: false}
    servers: {model: srv, count: 8, nics: compute, per_rack: 2}
    topology: {kind: rack, dual_tor: true, tiers: 2, switch: 16x100g}
"""
PLANES = """\
version: 1
site: s
catalog:
  servers: {srv: {gpus: 4, nvlink_domain_gpus: 4, nics: {compute: {count: 4, ports: 4, speed_gbps: 100}}}}
fabrics:
  backend:
    nos: frr
    servers: {model: srv, count: 16, nics: compute}
    topology: {planes: 4, tiers: 2, switch: 32x100g, unit: {servers: 4}}
"""


def plan(text: str, folder: Path) -> FabricPlan:
    file = folder / "intent.yaml"
    file.write_text(text, encoding="utf-8")
    return pipeline.plan(pipeline.load(file)).fabrics["backend"]


def packed(fabric: FabricPlan, floor: float, *roles: str) -> tuple[list[list[str]], list[str]]:
    """Names of the switches of each wave, and of those that no wave takes."""
    outages = Outages(network(fabric))
    packer = Packer(outages, floor)
    waves, refused = packer.pack([frozenset((device.index,)) for device in fabric.switches if device.role in roles])
    for wave in waves:
        out = frozenset().union(*wave)
        assert outages.left(out) >= floor - 1e-9
    name = {device.index: device.name.removeprefix("backend-") for device in fabric.devices}
    named = [sorted(name[at] for item in wave for at in item) for wave in waves]
    return named, sorted(name[at] for entry in refused for at in entry.devices)


def test_as_few_waves_as_any_partition_has(whole: bool, tmp_path: Path) -> None:
    """In 99 % of all cases; every wave respects the floor, and every switch is in one wave or refused."""
    best = cases = 0
    for seed in range(ALL_CASES if whole else CASES):
        draw = random.Random(seed)
        fabric = small(draw, tmp_path)
        items = chosen(draw, fabric)
        packer = Packer(Outages(network(fabric)), draw.choice(FLOORS))
        waves, refused = packer.pack(items)
        gone = {entry.devices for entry in refused}
        assert all(packer.outages.left(item) < packer.floor for item in gone)
        assert sorted(map(sorted, (item for wave in waves for item in wave))) == sorted(
            sorted(i) for i in items if i not in gone
        )
        assert all(packer.fits(frozenset().union(*wave)) for wave in waves)
        rest = [item for item in items if item not in gone]
        if rest:
            cases += 1
            best += len(waves) == fewest(packer, rest)
    assert cases > (600 if whole else 30)
    assert best >= MIN_BEST * cases if whole else best >= cases - 1


def test_the_floor_decides_how_many_spines_go(tmp_path: Path) -> None:
    fabric = plan(TWO_TIERS, tmp_path)
    assert len([device for device in fabric.switches if device.role == "spine"]) == 8
    counts = {floor: [len(wave) for wave in packed(fabric, floor, "spine")[0]] for floor in (0.9, 0.75, 0.6, 0.25)}
    assert counts == {0.9: [1] * 8, 0.75: [2] * 4, 0.6: [3, 3, 2], 0.25: [6, 2]}


def test_what_cannot_respect_the_floor_is_refused(tmp_path: Path) -> None:
    fabric = plan(TWO_TIERS, tmp_path)
    waves, refused = packed(fabric, 0.95, "spine")
    assert (waves, len(refused)) == ([], 8)
    assert packed(fabric, 0.95, "leaf")[1] == []


def test_a_nic_with_two_leaves_keeps_one(tmp_path: Path) -> None:
    """However low the floor is: all leaves of one side, then all of the other."""
    waves, refused = packed(plan(PAIRS, tmp_path), 0.0, "leaf")
    assert refused == []
    assert [len(wave) for wave in waves] == [4, 4]
    assert waves[0] == ["leaf001", "leaf003", "leaf005", "leaf007"]


def test_a_wave_stays_in_a_plane(tmp_path: Path) -> None:
    """A plane that has lost its spines loses nothing more with its leaves."""
    fabric = plan(PLANES, tmp_path)
    waves, _ = packed(fabric, 0.75, "leaf", "spine")
    planes = {device.name.removeprefix("backend-"): device.plane for device in fabric.switches}
    assert [{planes[name] for name in wave} for wave in waves] == [{0}, {1}, {2}, {3}]


def test_what_is_alike_is_measured_once(tmp_path: Path) -> None:
    """The time of a plan does not grow with the number of its waves."""
    fabric = plan(TWO_TIERS, tmp_path)
    outages = Outages(network(fabric))
    Packer(outages, 0.9).pack([frozenset((device.index,)) for device in fabric.switches])
    assert outages.measured < 60
    before = calls(lambda: outages.left(frozenset((fabric.switches[0].index,))))
    assert before < 500


@pytest.mark.parametrize("seed", range(12))
def test_equal_keys_are_equal_capacity(seed: int, tmp_path: Path) -> None:
    """Sets of switches that are taken for alike leave as much as each measured by itself."""
    draw = random.Random(seed)
    fabric = small(draw, tmp_path)
    alike, each = Outages(network(fabric)), Outages(network(fabric), regular=False)
    switches = [device.index for device in fabric.switches]
    for _ in range(30):
        out = frozenset(draw.sample(switches, draw.randint(1, min(len(switches), 6))))
        assert alike.left(out) == pytest.approx(each.left(out), abs=1e-9)
