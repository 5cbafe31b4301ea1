"""The records of a plan for a source of truth: complete for every design, each thing once, ports that can be."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from ipaddress import ip_interface, ip_network
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.deliver.inventory.gather import inventory, words
from fabric.deliver.inventory.nautobot import nautobot, nautobot_tables
from fabric.deliver.inventory.netbox import netbox, netbox_tables, slug
from fabric.deliver.inventory.records import LOOPBACK, PORT, Ref, Table, Term
from fabric.model.plan import Plan
from tests import ROOT
from tests.cost import calls
from tests.deliver.inventory.truth_server import NAUTOBOT, NETBOX
from tests.goldens import golden

HEAD = """\
version: 1
site: dc1
catalog:
  servers:
    two: {gpus: 8, nics: {compute: {count: 8, ports: 2, speed_gbps: 200}}}
    all: {gpus: 8, nics: {compute: {count: 8, speed_gbps: 400}, frontend: {count: 1, ports: 2, speed_gbps: 100}}}
fabrics:
"""
DESIGNS = {
    "dual-tor": "f: {servers: {model: two, count: 20}, topology: {switch: sn5600, dual_tor: true, unit: {servers: 16}}}",
    "planes": "f: {servers: {model: two, count: 16}, topology: {switch: sn5600, planes: 2, unit: {servers: 8}}}",
    "three-tiers": (
        "f: {nos: nxos, servers: {model: dgx-h100, count: 16}, topology: {switch: 16x400g, tiers: 3, unit: {servers: 4}}}"
    ),
    "rail-only": (
        "f: {servers: {model: dgx-h100, count: 32}, topology: {kind: rail-only, switch: 64x400g, unit: {servers: 16}}}"
    ),
    "collapsed": "f: {nos: junos, servers: {model: dgx-h100, count: 4}, topology: {kind: collapsed, switch: qfx5240-64od}}",
    "infiniband": "f: {servers: {model: dgx-h100, count: 64}, topology: {switch: qm9700, unit: {servers: 32}}}",
    "ipv6": (
        "f: {underlay: {addressing: ipv6}, servers: {model: dgx-h100, count: 8},"
        " topology: {switch: sn5600, unit: {servers: 8}}}"
    ),
    "unnumbered": (
        "f: {underlay: {addressing: unnumbered}, servers: {model: dgx-h100, count: 8},"
        " topology: {switch: sn5600, unit: {servers: 8}}}"
    ),
    "attached": (
        "f: {nos: eos, servers: {model: dgx-h100, count: 31}, topology: {switch: 7060dx5-64s, unit: {servers: 32},"
        " attachments: [{name: ufm, links: 2}]}}"
    ),
    "shared-servers": (
        "f: {servers: {model: all, count: 8, per_rack: 4}, topology: {switch: sn5600, unit: {servers: 8}}}\n"
        "  g: {purpose: frontend, servers: {model: all, count: 8, per_rack: 4}, topology: {switch: sn4700, dual_tor: true}}"
    ),
    "vrf-lite": (
        "f: {nos: sonic, servers: {model: dgx-h100, count: 8}, topology: {switch: sn5600, rails: 2, unit: {servers: 8}},"
        " overlay: {isolation: vrf-lite},"
        " tenants: [{name: red, servers: dgx-h100-0001..0004}, {name: blue, servers: dgx-h100-0005}]}"
    ),
    "oob": (
        "f: {purpose: oob, nos: cumulus, servers: {model: dgx-h100, count: 16, per_rack: 4},"
        " topology: {leaf: {switch: sn2201}, spine: {switch: sn3700c}}}"
    ),
}
LARGE = (
    "f: {nos: sonic, servers: {model: dgx-h100, count: 2048},"
    " topology: {switch: sn5400, unit: {servers: 32}, pods: {units: 4}}}"
)


def plan_of(folder: Path, body: str) -> Plan:
    path = folder / "intent.yaml"
    path.write_text(f"{HEAD}  {body}\n", encoding="utf-8")
    return pipeline.plan(pipeline.load(path))


@pytest.mark.parametrize("design", DESIGNS)
def test_every_design_is_complete_and_each_thing_is_there_once(design: str, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, DESIGNS[design])
    made = inventory(plan)
    devices = {device.name for device in made.devices}
    assert devices == {device.name for fabric in plan.fabrics.values() for device in fabric.devices}
    ports = {(port.device, port.name) for port in made.ports}
    assert len(ports) == len(made.ports)
    assert len(made.wires) == sum(len(fabric.links) for fabric in plan.fabrics.values())
    ends = Counter(end for wire in made.wires for end in (wire.a, wire.b))
    assert set(ends.values()) == {1}
    assert set(ends) <= ports
    places = [(device.rack, device.ru) for device in made.devices if device.ru]
    assert len(places) == len(set(places))
    assert {device.rack for device in made.devices} <= set(made.racks)
    for address in made.addresses:
        assert ip_interface(address.text)
        assert not address.device or (address.device, address.port) in ports
    assert all(ip_network(prefix.text) for prefix in made.prefixes)
    assert len({(address.text, address.vrf) for address in made.addresses}) == len(made.addresses)


@pytest.mark.parametrize("design", DESIGNS)
def test_types_of_ports_and_cables_are_choices(design: str, tmp_path: Path) -> None:
    """Every one is a choice of the systems, and fits the speed."""
    made = inventory(plan_of(tmp_path, DESIGNS[design]))
    known = {type_ for by_speed in words()["port_types"].values() for type_ in by_speed.values()}
    known |= {*words()["infiniband"].values(), "virtual"}
    for port in made.ports:
        assert port.type in known
        if port.what == PORT:
            assert port.type.startswith(("infiniband", f"{port.speed_gbps}g", "1000base"))
        if port.what == LOOPBACK:
            assert port.type == "virtual"
    assert {wire.type for wire in made.wires} <= {*words()["cable_types"].values()}
    assert all(wire.length_m > 0 for wire in made.wires)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("system", ["netbox", "nautobot"])
def test_references_go_backwards_and_fields_are_known(system: str, design: str, tmp_path: Path) -> None:
    """A table only needs what stands before it, and sends no field that the server does not know."""
    tables = {"netbox": netbox_tables, "nautobot": nautobot_tables}[system](inventory(plan_of(tmp_path, DESIGNS[design])))
    kinds = {"netbox": NETBOX, "nautobot": NAUTOBOT}[system]
    known: set[tuple[str, tuple[str, ...]]] = {("ip_roles", ("Loopback",)), ("ip_roles", ("Anycast",))}
    for table in tables:
        kind = kinds[table.endpoint.replace(".", "/").replace("_", "-")]
        assert len({item.key for item in table.items}) == len(table.items), table.name
        for item in table.items:
            fields = {**item.fields, **item.once}
            assert set(fields) <= {*kind.required, *kind.optional}
            assert table.patch or set(kind.required) <= set(fields)
            assert all((ref.table, ref.key) in known for ref in references(list(fields.values()))), (table.name, item)
        known |= {(table.name, item.key) for item in table.items}


def references(values: list[object]) -> list[Ref]:
    found: list[Ref] = []
    for value in values:
        if isinstance(value, Ref):
            found.append(value)
        elif isinstance(value, Term):
            found.append(value.of)
        elif isinstance(value, list | tuple):
            found += references(list(value))
    return found


def test_slugs() -> None:
    assert [slug(text) for text in ("Arista", "7060X6 64PE", "a/b..c", "", "x" * 200)] == [
        *("arista", "7060x6-64pe", "a-b-c", "x"),
        "x" * 100,
    ]


@pytest.mark.parametrize("export", [netbox, nautobot])
def test_the_document_is_json_and_the_same_every_time(export: object, tmp_path: Path) -> None:
    assert callable(export)
    plan = plan_of(tmp_path, DESIGNS["shared-servers"])
    text = export(plan)
    assert text == export(plan_of(tmp_path, DESIGNS["shared-servers"]))
    rows = json.loads(text)
    assert len(rows["dcim/devices"]) == len(inventory(plan).devices)
    if export is netbox:
        port = rows["dcim/interfaces"][0]
        assert port["device"] == {"site": {"slug": "dc1"}, "name": plan.fabrics["f"].switches[0].name}
        assert port["tags"] == [{"slug": "fabricwright"}, {"slug": "fabricwright-dc1"}]


def test_names_are_data(tmp_path: Path) -> None:
    """Whatever a name holds, it stays a name in the JSON and becomes no path or filter."""
    plan = plan_of(tmp_path, DESIGNS["collapsed"])
    bad = '"}], "x": [{"\n=cmd()'
    fabric = plan.fabrics["f"]
    devices = tuple(replace(device, nos=device.nos) for device in fabric.devices)
    made = replace(plan, site=bad, fabrics={"f": replace(fabric, devices=devices)})
    rows = json.loads(netbox(made))
    assert rows["dcim/sites"][0]["name"] == bad
    assert rows["dcim/sites"][0]["slug"] == "x-cmd"


@pytest.mark.slow
def test_1280_switches_cost_as_much_a_link_as_a_few(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, LARGE)
    assert len(plan.fabrics["f"].switches) == 1280
    tables: list[Table] = []
    links = len(plan.fabrics["f"].links)
    assert calls(lambda: tables.extend(netbox_tables(inventory(plan)))) < 350 * links  # 87 of each link
    assert sum(len(table.items) for table in tables if table.name == "cables") == links


@pytest.mark.parametrize(("name", "export"), [("netbox.json", netbox), ("nautobot.json", nautobot)])
def test_golden(name: str, export: object) -> None:
    assert callable(export)
    golden(f"inventory/{name}", export(pipeline.plan(pipeline.load(ROOT / "intent" / "evpn-lab.yaml"))))
