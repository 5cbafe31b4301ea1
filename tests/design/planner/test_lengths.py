"""Cable lengths: classes that cover the floor plan of the finished fabric, and what growth does to them."""

from __future__ import annotations

import copy
import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.design.floor.floor import Floor, floor
from fabric.design.moves import difference, text, threshold_changes
from fabric.hardware.catalog import media
from fabric.model.plan import CLASSES_M, FLOOR, KINDS, LOCK, STATED, FabricPlan, Length, Plan, class_of
from fabric.model.plan.lock_file import FabricLock, Lock
from fabric.model.plan.topology import BEYOND_M
from tests.design.planner.helpers import make, summarize
from tests.design.planner.intents import STABLE, Data, sites

EXAMPLES = int(os.environ.get("FABRIC_LENGTH_EXAMPLES", "25"))


def fabric_data(servers: int, planned: int = 0, **topology: Any) -> Data:
    """One fabric of DGX H100 on 64-port switches."""
    backend: Data = {
        "nos": "sonic",
        "servers": {"model": "dgx-h100", "count": servers},
        "topology": {"switch": "64x400g", "unit": {"servers": 32}, **topology},
    }
    if planned:
        backend["planned"] = {"servers": planned}
    return {"version": 1, "site": "dc1", "fabrics": {"backend": backend}}


def lengths(plan: Plan, fabric: str = "backend") -> dict[str, Length]:
    """Length by kind of link, of the kinds that the fabric has."""
    return {kind: its for kind, its in zip(KINDS, plan.fabrics[fabric].spec.lengths, strict=True) if its.source}


def codes(plan: Plan) -> list[str]:
    return [warning.code for warning in plan.warnings]


@pytest.mark.parametrize(
    ("metres", "class_m"), [(0.4, 5), (5, 5), (5.01, 10), (10, 10), (20.5, 50), (300, 300), (301, 500), (2000.5, 3000)]
)
def test_the_class_that_covers_a_length(metres: float, class_m: int) -> None:
    assert class_of(metres) == class_m


@pytest.mark.parametrize("name", [*media.cables(), *media.fibres()])
def test_every_medium_is_sold_in_the_classes(name: str) -> None:
    """So a cable that fits its class is never bought longer than it."""
    its = media.bought(name)
    for metres in (*CLASSES_M, *BEYOND_M):
        if metres <= its.longest_m:
            assert its.order_m(metres) == metres


def test_a_larger_floor_needs_longer_cables() -> None:
    small, large = lengths(make(fabric_data(32))), lengths(make(fabric_data(1024)))
    assert {kind: (its.metres, its.source) for kind, its in small.items()} == {
        "server-leaf": (10, FLOOR),
        "leaf-spine": (10, FLOOR),
    }
    assert {kind: its.metres for kind, its in large.items()} == {"server-leaf": 10, "leaf-spine": 100, "spine-core": 20}


def test_a_stated_length_counts_as_it_is() -> None:
    plan = make(fabric_data(1024, cable_length_m={"leaf-spine": 70}))
    assert lengths(plan)["leaf-spine"] == Length(70, STATED)
    assert plan.lock.fabrics["backend"].lengths == {"server-leaf": 10, "spine-core": 20}
    assert codes(plan) == []


@pytest.mark.parametrize("stated", [False, True], ids=["no floor stated", "floor stated"])
def test_a_stated_floor_contradicts_stated_lengths(stated: bool) -> None:
    data = fabric_data(64, cable_length_m={"leaf-spine": 5, "server-leaf": 20}) | ({"floor": {}} if stated else {})
    plan = make(data)
    assert codes(plan) == (["FAB192"] if stated else [])
    if stated:
        longer = plan.fabrics["backend"].longer
        assert [(KINDS[its.kind], its.stated_m, its.count) for its in longer] == [("leaf-spine", 5, 512)]
        assert plan.warnings[0].message == (
            "fabric 'backend': expected cables of at most 5 m between a leaf and a spine, as PFC headroom assumes, "
            f"got 512 longer on the floor plan, the longest {longer[0].longest_m:g} m"
        )
        assert "`cable_length_m: {leaf-spine: 20}`" in plan.warnings[0].hint
    data["fabrics"]["backend"]["qos"] = {"enabled": False}
    assert codes(make(data)) == []


def test_a_place_of_the_intent_counts() -> None:
    data = fabric_data(32) | {"floor": {"places": {"backend-spine001": {"rack": "Z01", "ru": 1}}}}
    assert lengths(make(data))["leaf-spine"].metres == 100  # 25 rows of 2.4 m
    data["floor"]["places"] = {"backend-spine999": {"rack": "Z01", "ru": 1}}
    with pytest.raises(InputError) as caught:
        make(data)
    assert [error.code for error in caught.value.diagnostics] == ["FAB152"]


def test_beyond_the_longest_class_is_warned_of() -> None:
    plan = make(fabric_data(512) | {"floor": {"row_pitch_m": 50}})
    assert lengths(plan)["leaf-spine"].metres == 500
    assert codes(plan) == ["FAB195"]


def test_growth_beyond_planned_is_reported() -> None:
    small = make(fabric_data(64, 64))
    grown = make(fabric_data(512, 512), small.lock)
    before, after = lengths(small)["leaf-spine"].metres, lengths(grown)["leaf-spine"].metres
    assert (before, after) == (20, 50)
    assert codes(grown) == ["FAB188"]
    assert "PFC headroom, buffer and ECN values of switches in service change" in grown.warnings[0].message
    (change,) = threshold_changes(small, grown)
    assert change.lengths == (("leaf-spine", 20, 50),)
    assert {"backend-leaf001", "backend-spine001"} <= set(change.switches)
    shown = text(difference(small, grown))
    assert "cable lengths that headroom is computed for: leaf-spine 20 m to 50 m" in shown
    assert f"{len(change.switches)} switches in service with other PFC headroom, buffer or ECN values" in shown


def test_the_class_in_use_is_never_lowered() -> None:
    large = make(fabric_data(256))
    small = make(fabric_data(64), large.lock)
    assert lengths(small)["leaf-spine"].metres == lengths(large)["leaf-spine"].metres == 50
    assert lengths(small)["leaf-spine"].source == LOCK
    assert small.lock.fabrics["backend"].lengths == large.lock.fabrics["backend"].lengths
    assert codes(small) == []


def test_a_lock_file_without_lengths_is_reported() -> None:
    plan = make(fabric_data(64))
    old = Lock({name: replace(its, lengths={}) for name, its in plan.lock.fabrics.items()})
    assert codes(make(fabric_data(64), old)) == ["FAB188"]
    assert codes(make(fabric_data(64), Lock({"backend": FabricLock()}))) == []


def test_headroom_that_does_not_fit_names_the_length() -> None:
    with pytest.raises(InputError) as caught:
        make(fabric_data(64, switch="sn5600", cable_length_m={"leaf-spine": 20_000}))
    assert "; cable lengths: server-leaf 10 m (floor plan: longest " in str(caught.value)
    assert "leaf-spine 20000 m (stated)" in str(caught.value)


def test_counts_have_the_lengths_of_the_plan() -> None:
    data = fabric_data(64, 512, cable_length_m={"server-leaf": 7})
    assert summarize(yaml.safe_dump(data))["backend"]["lengths"] == {
        "server-leaf": {"metres": 7, "source": "stated"},
        "leaf-leaf": {"metres": 0, "source": ""},
        "leaf-spine": {"metres": 50, "source": "floor"},
        "spine-core": {"metres": 20, "source": "floor"},
        "attachments": {"metres": 0, "source": ""},
    }


def covered(plan: Plan) -> None:
    """No cable of the floor plan is longer than its class."""
    ground: Floor = floor(plan)
    for fabric in plan.fabrics.values():
        metres = ground.lengths_m(fabric)
        most = np.array([its.metres for its in fabric.spec.lengths])[fabric.links.kind]
        assert (metres <= most + 1e-9).all()


def values(fabric: FabricPlan) -> dict[str, object]:
    """What every switch is configured with for the lossless class, and its cable lengths."""
    found = fabric.lossless
    if found is None:
        return {device.name: fabric.spec.length_m for device in fabric.switches}
    roles = {device.name: found.of(device.role, device.group) for device in fabric.switches}
    return {name: (role.qos, role.ports, role.counts) for name, role in roles.items()}


@settings(STABLE, max_examples=EXAMPLES)
@given(sites(), st.data())
def test_growth_within_planned_changes_no_threshold(data: Data, draw: st.DataObject) -> None:
    """Any design, grown in any steps up to what is planned: classes cover the floor, and nothing in service changes."""
    for fabric in data["fabrics"].values():
        fabric.pop("planned", None)
        for group in fabric["servers"]:
            group["planned"] = group["count"] + draw.draw(st.sampled_from((0, 1, 7, 40, 200)))
    try:
        plan = make(data)
    except InputError:
        return
    for _ in range(2):
        covered(plan)
        grown = copy.deepcopy(data)
        for fabric in grown["fabrics"].values():
            for group in fabric["servers"]:
                group["count"] = draw.draw(st.integers(group["count"], group["planned"]))
        try:
            after = make(grown, plan.lock)
        except InputError:
            return
        for name, fabric_plan in plan.fabrics.items():
            assert after.fabrics[name].spec.length_m == fabric_plan.spec.length_m
            now = values(after.fabrics[name])
            assert {device: value for device, value in values(fabric_plan).items() if now.get(device, value) != value} == {}
        assert not {"FAB188", "FAB192"} & {*codes(plan), *codes(after)}
        assert threshold_changes(plan, after) == ()
        data, plan = grown, after
    covered(plan)


@st.composite
def shared_sites(draw: st.DrawFn) -> Data:
    """Two fabrics of the same servers, with other units and switches of their own, all planned for the same size."""
    count = draw(st.integers(1, 12))
    group = {"name": "gpu", "model": "node", "count": count, "planned": count + draw(st.sampled_from((0, 3, 30)))}
    if draw(st.booleans()):
        group["per_rack"] = draw(st.integers(1, 4))
    node = {"gpus": 8, "nics": {name: {"count": 2, "speed_gbps": 200} for name in ("compute", "storage")}}
    made: dict[str, Data] = {}
    for purpose in node["nics"]:  # type: ignore[attr-defined]
        topology: Data = {"switch": draw(st.sampled_from(("16x400g", "sn4700"))), "kind": "rail-optimized"}
        topology["unit"] = {"servers": draw(st.sampled_from((2, 3, 4)))}
        if draw(st.booleans()):
            topology["attachments"] = [{"name": f"{purpose}-appliance", "links": draw(st.integers(1, 6))}]
        made[purpose] = {"purpose": purpose, "servers": dict(group), "topology": topology}
    floor_: Data = {
        "leaves": draw(st.sampled_from(("auto", "network-rack"))),
        "racks_per_row": draw(st.sampled_from((3, 20))),
    }
    return {"version": 1, "site": "dc1", "catalog": {"servers": {"node": node}}, "floor": floor_, "fabrics": made}


@settings(STABLE, max_examples=EXAMPLES)
@given(shared_sites(), st.data())
def test_servers_of_two_fabrics_grow_within_planned(data: Data, draw: st.DataObject) -> None:
    try:
        plan = make(data)
    except InputError:
        return
    for _ in range(3):
        covered(plan)
        group = data["fabrics"]["compute"]["servers"]
        data = copy.deepcopy(data)
        count = draw.draw(st.integers(group["count"], group["planned"]))
        for fabric in data["fabrics"].values():
            fabric["servers"]["count"] = count
        after = make(data, plan.lock)
        for name, fabric_plan in plan.fabrics.items():
            assert after.fabrics[name].spec.length_m == fabric_plan.spec.length_m
        assert threshold_changes(plan, after) == ()
        plan = after
    covered(plan)


def test_a_second_run_has_the_lengths_of_the_first() -> None:
    """An attachment on the ports of servers, in one of two fabrics of the same servers: the next run knows its ports."""
    servers = "servers: {model: dgx-spark, count: 29, name: gpu}"
    attachments = "attachments: [{name: wan, links: 2}, {name: ufm, links: 2}]"
    made_of = (
        "version: 1\nsite: s\nfabrics:\n"
        f"  backend: {{{servers}, topology: {{switch: sn3700, {attachments}}}}}\n"
        f"  oob: {{purpose: oob, {servers}, topology: {{switch: sn2201}}}}\n"
    )
    first = make(made_of)
    second = make(made_of, first.lock)
    assert first.fabrics["backend"].spec.groups[0].held
    for name, fabric in first.fabrics.items():
        assert fabric.spec.lengths == second.fabrics[name].spec.lengths
    assert first.lock == second.lock
