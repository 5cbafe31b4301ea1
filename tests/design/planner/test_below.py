"""Leaves below those of another fabric: out-of-band switches below a pair, planned once and seen from both ends."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric import pipeline
from fabric.audit.checks.run import Scope
from fabric.base.diagnostics import InputError
from fabric.configs.view_of import Views
from fabric.deliver.bom.gather import BomRequest, gather
from fabric.deliver.cabling.runs import runs
from fabric.design.floor.floor import floor
from fabric.model.plan import Plan, Port
from tests.design.planner.helpers import make, summarize

SITE = """\
version: 1
site: NOS
catalog:
  servers:
    gpu: {gpus: 8, nics: {frontend: {count: 1, ports: 2, speed_gbps: 100}, oob: {count: 1, speed_gbps: SPEED}}}
pools: {management: 172.16.0.0/24}
fabrics:
  core:
    purpose: frontend
    nos: NOS
    topology: {kind: collapsed, switch: CORE, unit: {servers: 8}, leaf: {uplinks: {count: 2}}}
    servers: {model: gpu, count: 4}
    overlay: {kind: evpn-vxlan}
    tenants:
      - {name: inband, servers: gpu-*, networks: [{name: inband, vlan: 400, gateway: 10.40.0.0/24}]}
      - name: oob
        networks:
          - {name: switches, vlan: 200, gateway: 172.16.0.0/24}
          - {name: bmc, vlan: 201, gateway: 10.20.0.0/24, dhcp_relay: [10.40.0.9, 10.40.0.10]}
  oob:
    purpose: oob
    nos: NOS
    servers: {model: gpu, count: 4, per_rack: 2}
    topology: {leaf: {switch: LOWER}}
    below: {fabric: core, tenant: oob}
"""
SYSTEMS = {  # network OS → switch above, switch below, Gb/s of a controller
    "sonic": ("sn5600", "sn2201", 1),
    "cumulus": ("sn5600", "sn2201", 1),
    "eos": ("7050cx3-32s", "7050sx3-48yc8", 10),
    "nxos": ("n9364d-gx2a", "n93180yc-fx3", 10),
    "junos": ("qfx5130-32cd", "qfx5130-32cd", 100),
    "frr": ("64x100g", "64x100g", 100),
}


def text(nos: str = "cumulus") -> str:
    core, lower, speed = SYSTEMS[nos]
    found = SITE.replace("NOS", nos).replace("CORE", core).replace("LOWER", lower).replace("SPEED", str(speed))
    if nos == "frr":  # no bonds over two leaves, no relay: one switch
        found = found.replace("kind: collapsed", "kind: rack, tiers: 1").replace(
            ", unit: {servers: 8}, leaf: {uplinks: {count: 2}}", ""
        )
        found = found.replace(", dhcp_relay: [10.40.0.9, 10.40.0.10]", "")
    return found


def site(**oob: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text())
    for key, value in oob.items():
        found["fabrics"]["oob"][key] = {**found["fabrics"]["oob"].get(key, {}), **value} if isinstance(value, dict) else value
    return found


def ports(plan: Plan, fabric: str, name: str) -> list[Port]:
    """The ports of a switch in a bond to a switch of the other fabric."""
    made = plan.fabrics[fabric]
    view = Views(plan, made).of(made.by_name[name])
    return [port for port in view.ports if port.lag and port.peer and port.peer.model]


def test_both_ends_of_every_link_agree() -> None:
    plan = make(text())
    ends: dict[tuple[str, str], Port] = {}
    for fabric, made in plan.fabrics.items():
        for device in made.switches:
            for port in ports(plan, fabric, device.name):
                assert port.peer is not None
                ends[device.name, port.peer.device.name] = port
    assert sorted(ends) == sorted(
        pair for a in ("core-leaf001", "core-leaf002") for b in ("oob-leaf001", "oob-leaf002") for pair in ((a, b), (b, a))
    )
    for (near, far), port in ends.items():
        other = ends[far, near]
        assert port.peer is not None
        assert port.peer.port == other.ref, (near, far)
        assert (
            (port.tagged, port.untagged, port.length_m)
            == (other.tagged, other.untagged, other.length_m)
            == ((200, 201), 0, 5)
        )
        assert port.ref.speed_gbps == other.ref.speed_gbps == 100


def test_a_link_is_listed_priced_and_placed_once() -> None:
    plan = make(text())
    rows = runs(plan, floor(plan))
    managed = [name for name, kind in zip(rows.managed, rows.kind.tolist(), strict=True) if kind == 4]
    assert Counter(managed) == {
        **dict.fromkeys(("oob-leaf001", "oob-leaf002"), 3),  # two uplinks and its own management port
        **dict.fromkeys(("core-leaf001", "core-leaf002"), 1),
    }
    bill, _ = gather(plan, BomRequest())
    bought = {line.part.item: line.in_use for line in bill.lines}
    assert {name: bought[name] for name in ("sn5600", "sn2201", "gpu")} == {"sn5600": 2, "sn2201": 2, "gpu": 4}
    assert set(floor(plan).spots) >= {"oob-leaf001", "core-leaf001"}
    assert summarize(text())["core"]["links"]["attachments"] == 4


def test_every_management_port_is_cabled_and_none_to_its_own_switch() -> None:
    oob = make(text()).fabrics["oob"]
    cabled = {(oob.devices[int(oob.links.b[link])].name, device.name) for link, device in oob.management_ports.items()}
    assert {name for _, name in cabled} == {"core-leaf001", "core-leaf002", "oob-leaf001", "oob-leaf002"}
    assert all(leaf != name for leaf, name in cabled)


def test_growth_moves_no_port() -> None:
    first = make(text())
    intent = yaml.safe_load(text())
    for fabric in intent["fabrics"].values():
        fabric["servers"]["count"] = 8
    second = make(intent, first.lock)
    for name, known in first.lock.fabrics.items():
        grown = second.lock.fabrics[name]
        assert all(set(spots) <= set(grown.attachments[key]) for key, spots in known.attachments.items()), name
        assert all(set(blocks) <= set(grown.blocks[key]) for key, blocks in known.blocks.items()), name
    assert second.fabrics["oob"].sizing.leaves == 4


def test_controllers_and_servers_of_one_network_have_different_addresses() -> None:
    intent = yaml.safe_load(text())
    intent["fabrics"]["core"]["tenants"] = [
        {"name": "oob", "networks": [{"name": "all", "vlan": 200, "gateway": "10.0.0.0/24"}]}
    ]
    intent["pools"] = {"management": "10.0.0.128/26"}
    plan = make(intent)
    given = [
        number for made in plan.fabrics.values() for hosts in made.tenancy.hosts.values() for number in set(hosts.values())
    ]
    managed = [int(number) for made in plan.fabrics.values() for number in made.management if number > 0]
    assert len(given) == len(set(given)) == 8
    assert not set(given) & set(managed)
    core = plan.fabrics["core"]
    manage = Views(plan, core).of(core.by_name["core-leaf001"]).management
    assert manage.address is not None
    assert (manage.address.partition("/")[2], manage.gateway) == ("24", "10.0.0.1")


@pytest.mark.parametrize("nos", SYSTEMS)
def test_configs_are_read_back_as_planned(nos: str, tmp_path: Path) -> None:
    path = tmp_path / "dc1.yaml"
    path.write_text(text(nos), encoding="utf-8")
    pipeline.generate(pipeline.load(path, tmp_path / "generated"), jobs=1).write()
    verdict = pipeline.check(Scope(files=(path,), output=tmp_path / "generated", jobs=1)).verdict
    assert not [finding for finding in verdict.findings if finding.severity == "error"]


REFUSED = {
    "no fabric": ({"below": {"fabric": "cor"}}, "FAB109 below.fabric: expected another fabric of Ethernet switches"),
    "itself": ({"below": {"fabric": "oob"}}, "FAB109 below.fabric: expected another fabric of Ethernet switches"),
    "no tenant": ({"below": {"tenant": "obo"}}, "FAB144 below.tenant: expected a tenant of fabric 'core'"),
    "an odd number": ({"below": {"links": 3}}, "FAB109 below.links: expected an even number"),
    "a speed": ({"below": {"speed_gbps": 800}}, "FAB132 below.speed_gbps: expected a speed of sn2201 and of sn5600, got 800"),
    "spines": ({"topology": {"spine": {"count": 2}}}, "FAB109 topology.spine: expected none in a fabric `below` another"),
    "rails": ({"topology": {"kind": "rail-optimized"}}, "FAB109 kind: expected `rack`"),
    "more servers than ports": ({"servers": {"count": 60, "per_rack": None}}, "FAB131"),
    "more links than ports": ({"below": {"links": 6}}, "FAB140 below.links: expected at most"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_hang_below(name: str) -> None:
    change, expected = REFUSED[name]
    with pytest.raises(InputError) as caught:
        make(site(**change))
    assert any(f"{one.code} {one.message}".startswith(expected) for one in caught.value.diagnostics), caught.value


@pytest.mark.parametrize(
    ("below", "hint"),
    [
        ({"network": "bmcs"}, "did you mean 'bmc'?"),
        ({"network": "other"}, "one of bmc, switches"),
        ({"network": "bmc", "tenant": None}, "state `tenant`, or remove `network`"),
    ],
)
def test_a_wrong_network_says_what_there_is(below: dict[str, Any], hint: str) -> None:
    with pytest.raises(InputError) as caught:
        make(site(below=below))
    found = [one for one in caught.value.diagnostics if one.message.startswith("below.network: expected a network of")]
    assert [one.hint for one in found] == [hint]


RELAY = "dhcp_relay: [10.40.0.9, 10.40.0.10]"


def test_a_relay_is_in_the_table_of_its_tenant_or_the_default_one() -> None:
    with pytest.raises(InputError) as error:
        make(text("eos").replace(RELAY, "dhcp_relay: {servers: [10.40.0.9, 10.40.0.10], tenant: inband}"))
    assert [(one.code, one.message, one.hint) for one in error.value.diagnostics] == [
        (
            "FAB144",
            "dhcp_relay.tenant: expected `default`, got 'inband'",
            "the servers need a route back: add `imports: [{from: inband, prefixes: [10.40.0.0/24]}]` to tenant 'oob', "
            "and state the addresses alone: `dhcp_relay: [10.40.0.9, 10.40.0.10]`",
        )
    ]
    for tenant in ("default", "oob"):
        make(text("eos").replace(RELAY, f"dhcp_relay: {{servers: 10.90.0.9, tenant: {tenant}}}"))


def test_a_single_switch_that_is_cabled_to_itself_is_noted() -> None:
    expected = "fabric 'oob': the management port of oob-leaf001 is cabled to the switch itself"
    for per_rack, notes in ((4, [("FAB194", "note", expected)]), (2, [])):
        plan = make(text().replace("per_rack: 2", f"per_rack: {per_rack}"))
        assert [(its.code, its.severity, its.message) for its in plan.warnings if its.code == "FAB194"] == notes
