"""The lossless class of a whole fabric: thresholds, sums over a switch, refusals, and that growth changes none of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from fabric.base.diagnostics import InputError
from fabric.configs.view_of import Views
from fabric.design.planner.lossless import choose_ecn
from fabric.hardware import catalog
from fabric.model.plan import FabricPlan, Plan, RoleLossless
from fabric.model.settings.services import ECN_RULES, Ecn
from tests.design.planner.helpers import make
from tests.design.planner.intents import STABLE

SITE = """
version: 1
site: dc1
catalog:
  servers:
    node: {gpus: 8, nics: {compute: {count: 8, speed_gbps: 400}}}
    slow: {gpus: 8, nics: {compute: {count: 8, speed_gbps: 200}}}
fabrics:
  backend:
    servers: {model: node, count: 8, name: gpu}
    topology: {switch: sn5600, rails: 2, unit: {servers: 8}}
"""
# Of every way that headroom is found, and of alphas above and below 1.
SWITCHES = ("sn5600", "sn4700", "sn5640", "7060x6-64pe", "z9664f-on", "z9332f-on", "as9516-32d", "n9364e-sg2", "qfx5240-64od")


def site(qos: dict[str, Any] | None = None, **topology: Any) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(SITE)
    data["fabrics"]["backend"]["topology"] |= topology
    data["fabrics"]["backend"]["qos"] = qos or {}
    return data


def fabric(data: dict[str, Any]) -> FabricPlan:
    return make(data).fabrics["backend"]


def roles(plan: FabricPlan) -> dict[tuple[str, str], RoleLossless]:
    assert plan.lossless is not None
    return dict(plan.lossless.roles)


def planned(data: dict[str, Any]) -> tuple[FabricPlan | None, set[str]]:
    """The plan, or the codes of its refusal."""
    try:
        return fabric(data), set()
    except InputError as error:
        return None, {found.code for found in error.diagnostics}


def refusal(data: dict[str, Any], code: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        make(data)
    assert {found.code for found in caught.value.diagnostics} == {code}
    assert all(found.place.line and found.hint for found in caught.value.diagnostics)
    return [found.message for found in caught.value.diagnostics]


def formula(entry: RoleLossless) -> None:
    """What is reserved and when PAUSE is sent, added up again."""
    buffer, count = entry.qos.buffer, sum(entry.counts.values())
    of_ports = sum(entry.headroom[place].size_bytes * number for place, number in entry.counts.items())
    pool = sum(entry.headroom[place].xoff_bytes * number for place, number in entry.counts.items())
    assert buffer.headroom_pool_bytes in (0, pool)
    assert buffer.reserved_bytes == of_ports + buffer.headroom_pool_bytes
    if buffer.total_bytes is None:
        assert buffer.trigger_bytes is None
        return
    alpha = Fraction(2) ** buffer.alpha_exponent
    assert buffer.shared_bytes == buffer.total_bytes - buffer.reserved_bytes
    assert buffer.trigger_bytes == int(alpha * buffer.shared_bytes / (1 + count * alpha))


def test_the_figures_of_a_small_fabric() -> None:
    """16 ports of 400G at 5 m and 8 of 800G at 40 m on a leaf, by hand."""
    data = site(cable_length_m={"leaf-spine": 40})
    data["fabrics"]["backend"]["servers"]["count"] = 4
    data["fabrics"]["backend"]["topology"]["unit"] = {"servers": 4}
    entry = roles(fabric(data))["leaf", "gpu"]
    assert entry.counts == {(400, 5): 16, (800, 40): 8}
    for (speed, metres), room in entry.headroom.items():
        cable = 2 * metres * speed * 1e9 / 198_000_000 / 8
        response = {400: 905, 800: 905}[speed] * 64
        exact = 4200 + (9216 + cable + 819.2 + response + speed * 120 / 8) * 3
        assert room.xoff_bytes == -(-int(exact + 1) // 1024) * 1024
        assert room.xon_bytes == 19 * 1024 * (2 if speed == 800 else 1)
    formula(entry)


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize("traffic", ["static", "dynamic"])
def test_what_is_reserved_and_when_pause_is_sent(switch: str, traffic: str) -> None:
    plan = fabric(site({"traffic": traffic}, switch=switch, unit={"servers": 2}, cable_length_m={"leaf-spine": 100}))
    for entry in roles(plan).values():
        formula(entry)
        for place, port in entry.ports.items():
            trigger = entry.qos.buffer.trigger_bytes
            assert port.marking.kmin_bytes < port.marking.kmax_bytes
            assert trigger is None or port.marking.kmax_bytes <= trigger
            assert (port.xoff_bytes, port.size_bytes) == (
                entry.headroom[place].xoff_bytes,
                entry.headroom[place].size_bytes,
            )


def test_the_switches_have_alphas_other_than_one() -> None:
    found = set()
    for switch in SWITCHES:
        for entry in roles(fabric(site(switch=switch, unit={"servers": 2}))).values():
            found.add(entry.qos.buffer.alpha_exponent)
    assert min(found) < 0
    assert 0 in found


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_headroom_that_does_not_fit_is_reported_with_parts_that_add_up(switch: str) -> None:
    data = site(switch=switch, unit={"servers": 2}, cable_length_m={"leaf-spine": 100_000, "server-leaf": 100_000})
    for message in refusal(data, "FAB145"):
        total, parts = re.search(r"got ([\d,]+): (.*)", message).groups()  # type: ignore[union-attr]
        each = re.findall(r"(\d+) ports of \d+G at \d+ m x ([\d,]+)", parts)
        assert sum(int(count) * number(size) for count, size in each) == number(total)


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_marking_that_begins_after_pause_is_refused() -> None:
    entry = roles(fabric(site()))["leaf", "gpu"]
    trigger = entry.qos.buffer.trigger_bytes
    assert trigger is not None
    messages = refusal(site({"ecn": {"kmin_bytes": trigger}}), "FAB146")
    assert f"the XOFF threshold, {trigger:,} bytes of a priority group" in messages[0]
    warned = make(site({"ecn": {"kmin_bytes": trigger - 1, "kmax_bytes": trigger + 1}})).warnings
    assert "FAB189" in {warning.code for warning in warned}
    assert "FAB189" not in {warning.code for warning in make(site()).warnings}


@STABLE
@given(
    st.sampled_from(sorted(ECN_RULES)),
    st.none() | st.integers(1, 20_000_000),
    st.none() | st.integers(1, 20_000_000),
    st.sampled_from((1, 10, 25, 100, 400, 800, 1600)),
    st.none() | st.integers(18_432, 10_000_000),
)
def test_thresholds_are_in_order(rule: str, kmin: int | None, kmax: int | None, speed: int, trigger: int | None) -> None:
    if kmin is not None and kmax is not None:
        kmin, kmax = min(kmin, kmax), max(kmin, kmax)
    request = Ecn.model_validate({"rule": rule, "kmin_bytes": kmin, "kmax_bytes": kmax})
    found = choose_ecn(request, speed, trigger)
    assert 1 <= found.kmin_bytes <= found.kmax_bytes
    assert kmin in (None, found.kmin_bytes)
    assert kmax in (None, found.kmax_bytes)
    if kmin is None and kmax != 1:
        assert found.kmin_bytes < found.kmax_bytes
    if kmin is None and kmax is None:
        assert found.rule == rule
        assert rule != "linear" or trigger is None or found.kmax_bytes <= trigger


# --- growth ------------------------------------------------------------------------------------------------


def on_ports(plan: Plan) -> Iterator[tuple[tuple[str, int, int], object]]:
    made = Views(plan, plan.fabrics["backend"])
    for device in plan.fabrics["backend"].switches:
        view = made.of(device)
        yield (device.name, 0, 0), view.qos
        yield from (((device.name, p.ref.cage, p.ref.sub), p.lossless) for p in view.ports if p.peer is not None)


@pytest.mark.parametrize("tiers", [2, 3])
def test_growth_within_what_is_planned_changes_no_threshold(tiers: int) -> None:
    small = site(tiers=tiers, unit={"servers": 2}, attachments=[{"name": "appliance", "links": 3}])
    if tiers == 3:
        small["fabrics"]["backend"]["topology"]["pods"] = {"units": 2}
    small["fabrics"]["backend"]["planned"] = {"servers": 24}
    large = yaml.safe_load(yaml.safe_dump(small))
    large["fabrics"]["backend"]["servers"]["count"] = 23
    old = make(small)
    new = make(large, old.lock)
    was, now = dict(on_ports(old)), dict(on_ports(new))
    assert len(now) > len(was)
    assert {key: (was[key], now[key]) for key in was.keys() & now.keys() if was[key] != now[key]} == {}


def test_switches_count_where_they_are_cabled() -> None:
    """Six links of a switch on two leaves stay three on each, whatever leaves come later; routers do not count."""
    small = site(
        attachments=[
            {"name": "appliance", "links": 6, "speed_gbps": 800},
            {"name": "wan", "links": 2, "external": {"asn": 65_010}},
        ],
        cable_length_m={"attachments": 20, "leaf-spine": 40},
    )
    old = make(small)
    assert roles(old.fabrics["backend"])["leaf", "gpu"].counts[800, 20] == 3
    large = yaml.safe_load(yaml.safe_dump(small))
    large["fabrics"]["backend"]["servers"]["count"] = 40
    assert roles(make(large, old.lock).fabrics["backend"])["leaf", "gpu"].counts[800, 20] == 3


def test_a_switch_on_the_leaf_of_another_group_is_lossless_too() -> None:
    """Its speed is that of the first group, whichever leaf it is cabled to."""
    data = site(switch="sn5600", unit={"servers": 4}, attachments=[{"name": "appliance", "links": 6}])
    data["fabrics"]["backend"]["servers"] = [
        {"model": "node", "count": 4, "name": "gpu"},
        {"model": "slow", "count": 4, "name": "old"},
    ]
    plan = make(data)
    made = Views(plan, plan.fabrics["backend"])
    ports = [p for d in plan.fabrics["backend"].switches for p in made.of(d).ports if p.kind == "attachment"]
    assert len(ports) == 6
    assert all(port.lossless is not None for port in ports)


def test_every_switch_of_the_catalog_has_a_lossless_class_or_a_refusal() -> None:
    seen = 0
    for name in catalog.switch_names():
        model = catalog.switch(name)
        assert model is not None
        if model.technology != "ethernet":
            continue
        for speed in model.speeds:
            data = site({"enabled": True}, switch=name, rails=1, unit={"servers": 1}, leaf={"oversubscription": 4})
            data["catalog"]["servers"]["node"]["nics"]["compute"] = {"count": 1, "speed_gbps": speed}
            found, codes = planned(data)
            assert codes <= {"FAB132", "FAB134", "FAB145", "FAB164"}, (name, speed, codes)
            seen += found is not None
            for entry in roles(found).values() if found is not None else ():
                formula(entry)
    assert seen > 60
