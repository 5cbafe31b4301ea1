"""Cores that several spines of a pod share, and pods of one rail: counts, wiring, growth, and what rails can reach."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from fabric.base.diagnostics import InputError
from fabric.design.moves import difference
from fabric.model.plan import CORE, LEAF, LEAF_SPINE, SERVER, SPINE, SPINE_CORE, FabricPlan, Plan
from fabric.solver.capacity.failures import share_of
from fabric.solver.capacity.structured_cuts import structured
from fabric.solver.capacity.throughput import ground
from fabric.solver.network import network
from tests.design.planner import checks as check
from tests.design.planner.core_search import draw, planned, searched
from tests.design.planner.helpers import make, reread, summarize


def small(servers: int = 16, core: str = "{}", more: str = "", pods: str = "{units: 2}", switch: str = "16x400g") -> str:
    """Units of two servers with four rails, 8 links from every leaf's unit up."""
    return f"""
version: 1
site: dc1
catalog: {{servers: {{gpu: {{gpus: 4, nics: {{compute: {{count: 4, speed_gbps: 400}}}}}}}}}}
fabrics:
  backend:
    servers: {{model: gpu, count: {servers}}}
    topology: {{switch: {switch}, tiers: 3, unit: {{servers: 2}}, pods: {pods}, core: {core}}}
    {more}
"""


def test_no_fabric_has_more_cores_than_a_search_of_all() -> None:
    found = [(design, searched(design), planned(design)) for design in map(draw, range(100))]
    assert [design for design, expected, got in found if expected != got] == []
    assert sum(expected is not None for _, expected, _ in found) >= 30


SHARED = "{groups: 1}"


@pytest.mark.parametrize("core", ["{}", SHARED, "{count: 8}", "{count: 4}", "{groups: 2, count: 8}"])
def test_every_spine_has_equal_links_to_the_cores_of_its_group(core: str, tmp_path: Path) -> None:
    plan = make(small(core=core, more="overlay: {kind: evpn-vxlan}"))
    check.everything(plan)
    lock = reread(plan.lock, tmp_path)
    assert lock == plan.lock
    assert check.texts(make(small(core=core, more="overlay: {kind: evpn-vxlan}"), lock)) == check.texts(plan)


def met(fabric: FabricPlan) -> Counter[tuple[int, int]]:
    """(spine, core) → links."""
    rows = fabric.links.kind == SPINE_CORE
    return Counter(zip(fabric.links.a[rows].tolist(), fabric.links.b[rows].tolist(), strict=True))


def test_one_group_joins_every_spine_with_every_core() -> None:
    fabric = make(small(core=SHARED)).fabrics["backend"]
    spines = [d.index for d in fabric.switches if d.role == SPINE]
    cores = [d.index for d in fabric.switches if d.role == CORE]
    assert set(met(fabric)) == {(spine, core) for spine in spines for core in cores}


@pytest.mark.parametrize(
    ("core", "message"),
    [
        ("{count: 3}", "core.count: expected cores that share the 8 uplinks of each of the 2 spines of 4 pods evenly, got 3"),
        (
            "{groups: 3}",
            "core.groups: expected groups that the 2 spines of a pod share evenly, with ports for their uplinks, got 3",
        ),
    ],
)
def test_what_no_cabling_allows_is_refused(core: str, message: str) -> None:
    with pytest.raises(InputError, match="FAB133") as error:
        summarize(small(core=core))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("core", "note"),
    [
        ("{}", []),
        ("{count: 16}", ["12 of 16 ports of every core stay free; 4 of the 16 cores would carry the finished fabric"]),
    ],
)
def test_spare_halves_of_cores_are_noted(core: str, note: list[str]) -> None:
    warnings = make(small(core=core)).warnings
    assert [one.message.removeprefix("fabric 'backend': ") for one in warnings if one.code == "FAB405"] == note


def test_spines_of_several_as_numbers_share_cores_only_where_it_is_stated() -> None:
    scheme = "underlay: {asn: {scheme: per-device}}"
    alone, stated = make(small(more=scheme, switch="32x400g")), make(small(core=SHARED, more=scheme))
    assert alone.fabrics["backend"].sizing.spines_per_core == 1
    assert stated.fabrics["backend"].sizing.spines_per_core == 2
    assert [[one.code for one in plan.warnings if one.code == "FAB406"] for plan in (alone, stated)] == [[], ["FAB406"]]


# --- growth -----------------------------------------------------------------------------------------------------


def grown(seed: int) -> list[str]:
    """The same site at three sizes, pod by pod, by whatever rule it is cabled."""
    dice = Random(seed)
    pods = dice.choice(("{units: 1}", "{units: 2}", "{units: 2, rails: 1}", "{units: 1, rails: 2}"))
    core, planned_servers = dice.choice(("{}", "{}", SHARED)), dice.choice((0, 0, 24))
    more = f"planned: {{servers: {planned_servers}}}" if planned_servers else ""
    sizes, switch = sorted(dice.sample(range(2, 25, 2), 3)), dice.choice(("16x400g", "32x400g"))
    return [small(size, core, more, pods, switch) for size in sizes]


@pytest.mark.parametrize("seed", range(12))
def test_added_pods_move_nothing_that_is_not_listed(seed: int) -> None:
    plans: list[Plan] = []
    for text in grown(seed):
        try:
            plans.append(make(text, plans[-1].lock if plans else None))
        except InputError:
            break
        check.everything(plans[-1])
    for old, new in pairwise(plans):
        before, after = old.fabrics["backend"], new.fabrics["backend"]
        may_go = (SPINE, CORE) if before.sizing.spines != after.sizing.spines else (CORE,)
        gone = check.vanished_links(old, new)
        assert difference(old, new).moved == sum(gone.values())
        assert list(check.kept_devices(old, new, may_go)) == []
        if "planned" in grown(seed)[0] or same_cabling(before, after):
            assert gone == {}


def same_cabling(one: FabricPlan, other: FabricPlan) -> bool:
    numbers = [(s.spines, s.cores, s.spines_per_core, s.spine_uplinks) for s in (one.sizing, other.sizing)]
    return numbers[0] == numbers[1]


@pytest.mark.parametrize(("count", "finished"), [(1, 4), (2, 4), (4, 4), (8, 8), (16, 16)])
def test_stated_cores_are_a_part_of_those_of_the_planned_size(count: int, finished: int) -> None:
    row = summarize(
        small(8, f"{{groups: 1, count: {count}}}" if count < 2 else f"{{count: {count}}}", "planned: {servers: 16}")
    )
    assert (row["backend"]["switches"]["core"], row["backend"]["planned"]["switches"]["core"]) == (count, finished)


def test_a_fabric_in_service_keeps_the_spines_that_share_a_core() -> None:
    old = make(small(8, "{groups: 2, count: 4}"))
    new = make(small(16), old.lock)
    assert (old.fabrics["backend"].sizing.spines_per_core, new.fabrics["backend"].sizing.spines_per_core) == (1, 1)
    shared = make(small(8, SHARED))
    assert make(small(12), shared.lock).fabrics["backend"].sizing.spines_per_core == 2


# --- pods of one rail -------------------------------------------------------------------------------------------

RAILS = small(pods="{units: 2, rails: 1}")


def test_a_rail_of_a_pod_has_spines_of_its_own_and_shares_cores() -> None:
    plan = make(RAILS)
    check.everything(plan)
    (fabric,) = plan.fabrics.values()
    rows = fabric.links.kind == LEAF_SPINE
    devices = fabric.devices
    pods: dict[int, set[tuple[int, int]]] = {}
    for a, b in zip(fabric.links.a[rows].tolist(), fabric.links.b[rows].tolist(), strict=True):
        assert devices[a].pod == devices[b].pod
        pods.setdefault(devices[b].pod, set()).add((devices[a].unit // 2, devices[a].rail))
    assert sorted(next(iter(members)) for members in pods.values()) == [(n, rail) for n in range(4) for rail in range(4)]
    assert all(len(members) == 1 for members in pods.values())
    pods_of_core = {core: {devices[spine].pod for spine, other in met(fabric) if other == core} for _, core in met(fabric)}
    assert set(map(len, pods_of_core.values())) == {16}
    assert {device.pod for device in devices if device.role == SERVER} == {-1}


def test_bandwidth_between_rails_and_units_is_that_of_the_uplinks() -> None:
    (fabric,) = make(small(pods="{units: 2, rails: 1}").replace("core: {}", "spine: {uplinks: {count: 1}}")).fabrics.values()
    base = ground(net := network(fabric))
    shares = {(cut.kind, cut.where): share_of(base, net, cut)[0] for cut in structured(base, net)}
    leaf_links = Counter(fabric.links.a[fabric.links.kind == LEAF_SPINE].tolist())
    assert set(leaf_links.values()) == {2}
    assert shares["rails", "rails 1-2 against rails 3-4"] == shares["units", "units 1-4 against units 5-8"] == 0.5
    assert shares["leaves", "backend-leaf001 against the other 31 leaves"] == 1.0


@pytest.mark.parametrize(
    ("pods", "more", "message"),
    [
        ("{units: 2, rails: 3}", "", "pods.rails: expected a divisor of the 4 rails of gpu, got 3"),
        ("{units: 2, rails: 1}", "kind: rack, ", "pods.rails: expected a rail-optimized fabric, got `kind: rack`"),
        ("{rails: 1}", "", "expected one of count, units and racks, got none"),
    ],
)
def test_rails_that_no_pod_can_have_are_refused(pods: str, more: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        summarize(small(pods=pods).replace("topology: {", f"topology: {{{more}"))
    assert message in str(error.value)


def test_names_count_the_leaves_of_a_pod_of_one_rail() -> None:
    names = "names: {leaf: 'p{pod}-leaf{n}', spine: 'p{pod}-spine{n}'}"
    (fabric,) = make(small(more=names, pods="{units: 2, rails: 1}")).fabrics.values()
    per_pod: dict[int, list[str]] = {}
    for device in fabric.switches:
        if device.role == LEAF:
            per_pod.setdefault(device.pod, []).append(device.name)
    assert {pod: sorted(found) for pod, found in per_pod.items()} == {
        pod: [f"p{pod + 1}-leaf1", f"p{pod + 1}-leaf2"] for pod in range(16)
    }


def test_pictures_and_schedulers_have_every_server_once() -> None:
    from fabric.deliver.export.locality import localities
    from fabric.deliver.export.parts import pods

    plan = make(RAILS)
    (fabric,) = plan.fabrics.values()
    (group,) = pods(fabric, fabric.switches)
    assert [part.label for part in group][:2] == ["pods 1 to 4", "pods 5 to 8"]
    assert sum(unit.servers for part in group for unit in part.all_units) == 16
    assert np.unique([spine.index for part in group for spine in part.spines]).size == fabric.sizing.spine_count
    (locality,) = localities(plan)
    assert [len(units) for units in locality.pods.values()] == [2, 2, 2, 2]
