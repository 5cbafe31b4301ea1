"""What is drawn of generated files: nodes, interfaces, tables, tunnels, slices, stand-ins, as a person reads them there."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.lab.blueprint import (
    BRIDGE,
    LOOPBACK,
    PORT,
    SERVER,
    STAND_IN,
    SWITCH,
    TUNNEL,
    Blueprint,
    End,
    Interface,
    Names,
    Node,
    Wire,
)
from fabric.lab.devices import BONDS, server, tagged
from fabric.lab.expected import OUTSIDE, OVERLAY, UNDERLAY, endpoints, sessions
from fabric.lab.up_down import digest
from tests import ROOT
from tests.examples import folder
from tests.lab.sites import EVPN, SONIC, TAGGED, drawn, edit, generated, planned_and_drawn


@cache
def example(name: str, limit: str = "", servers: int = 2) -> Blueprint:
    return planned_and_drawn(pipeline.load(ROOT / "intent" / f"{name}.yaml"), limit, servers)


def shown(own: Interface) -> str:
    """An interface in one line: kind, table, addresses, size, and what it belongs to."""
    words = [own.kind, own.vrf or "default", *own.addresses, f"mtu {own.mtu}" if own.mtu else "", "" if own.up else "down"]
    words += [f"in {own.bridge}" if own.bridge else "", f"of {own.parent}" if own.parent else ""]
    words += [f"vni {own.vni} from {own.local}" if own.vni else "", "answers" if own.answers else ""]
    return " ".join(word for word in words if word)


def interfaces(node: Node, *names: str) -> dict[str, str]:
    """Those with these names, or all."""
    return {own.name: shown(own) for own in node.interfaces if not names or own.name in names}


def far(lab: Blueprint, node: str) -> dict[str, str]:
    """Port → what its cable or slice leads to."""
    ends = {wire.a.interface: wire.b for wire in lab.wires if wire.a.node == node}
    ends |= {wire.b.interface: wire.a for wire in lab.wires if wire.b.node == node}
    return {name: f"{end.node} {end.interface}" for name, end in ends.items()}


# --- examples -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("ai-frr", "6 spines, 8 leaves, 5 servers, 3 stand-ins, 138 cables"),
        ("ai-sonic", "6 spines, 10 leaves, 5 servers, 3 stand-ins, 142 cables"),
        ("lab", "2 spines, 6 leaves, 2 servers, 30 cables"),
    ],
)
def test_shapes(name: str, shape: str) -> None:
    assert example(name).shape == shape


# Node → interface → what it is; what a person finds in what intent/ai-frr.yaml and intent/ai-sonic.yaml generate.
DRAWN = {
    ("ai-frr", "frontend-leaf001"): {
        "lo": "loopback default 10.0.0.9/32 10.2.0.5/32",
        "vlan100": "bridge vrf-red 10.20.0.1/24 mtu 9166",
        "vlan3001": "bridge vrf-red mtu 9166",
        "vlan3002": "bridge vrf-blue mtu 9166",
        "swp1": "port vrf-red mtu 9166 in vlan100",
        "swp2": "port vrf-red mtu 9166 in vlan100",
        "swp3": "port vrf-red mtu 9166 in vlan100",
        "swp4": "port vrf-red mtu 9166 in vlan100",
        "swp30": "port default mtu 9166",
        "swp30.11": "port vrf-red 10.64.0.136/31 mtu 9166 of swp30",
        "swp30.12": "port vrf-blue 10.64.0.138/31 mtu 9166 of swp30",
        "swp31": "port default 10.64.0.128/31 mtu 9216",
        "swp32": "port default 10.64.0.130/31 mtu 9216",
        "vni10001": "tunnel vrf-red mtu 9166 in vlan100 vni 10001 from 10.2.0.5 answers",
        "vni50001": "tunnel vrf-red mtu 9166 in vlan3001 vni 50001 from 10.2.0.5",
        "vni50002": "tunnel vrf-blue mtu 9166 in vlan3002 vni 50002 from 10.2.0.5",
    },
    ("ai-frr", "frontend-spine001"): {
        "lo": "loopback default 10.0.0.7/32",
        "swp1": "port default 10.64.0.129/31 mtu 9216",
        "swp2": "port default 10.64.0.133/31 mtu 9216",
    },
    ("ai-sonic", "frontend-leaf001"): {
        "lo": "loopback default 10.0.0.9/32 10.2.0.5/32",
        "Vlan100": "bridge Vrf-red 10.20.0.1/24 mtu 9166",
        "Vlan3001": "bridge Vrf-red mtu 9166",
        "Vlan3002": "bridge Vrf-blue mtu 9166",
        "Ethernet0": "port Vrf-red mtu 9166 in Vlan100",
        "Ethernet4": "port Vrf-red mtu 9166 in Vlan100",
        "Ethernet116": "port default mtu 9166",
        "Ethernet116.11": "port Vrf-red 10.64.0.144/31 mtu 9166 of Ethernet116",
        "Ethernet116.12": "port Vrf-blue 10.64.0.146/31 mtu 9166 of Ethernet116",
        "Ethernet120": "port default 10.64.0.128/31 mtu 9216",
        "Ethernet124": "port default 10.64.0.130/31 mtu 9216",
        "vni10001": "tunnel Vrf-red mtu 9166 in Vlan100 vni 10001 from 10.2.0.5",
        "vni50001": "tunnel Vrf-red mtu 9166 in Vlan3001 vni 50001 from 10.2.0.5",
        "vni50002": "tunnel Vrf-blue mtu 9166 in Vlan3002 vni 50002 from 10.2.0.5",
    },
}


@pytest.mark.parametrize(("name", "node"), DRAWN, ids=[" ".join(key) for key in DRAWN])
def test_switches(name: str, node: str) -> None:
    assert interfaces(example(name).nodes[node]) == DRAWN[name, node]


@pytest.mark.parametrize(
    ("name", "node", "vrfs"),
    [
        ("ai-frr", "backend-leaf001", ("vrf-red",)),
        ("ai-frr", "backend-leaf003", ("vrf-red", "vrf-blue")),
        ("ai-frr", "storage-leaf001", ()),
        ("ai-frr", "backend-spine001", ()),
        ("ai-sonic", "backend-leaf003", ("Vrf-red", "Vrf-blue")),
    ],
)
def test_tables_of_tenants(name: str, node: str, vrfs: tuple[str, ...]) -> None:
    """The management table is no tenant's, and is not built."""
    assert example(name).nodes[node].vrfs == vrfs


@pytest.mark.parametrize(
    ("name", "node", "cables"),
    [
        (
            "ai-frr",
            "frontend-leaf001",
            {
                "swp1": "gpu-0001 frontend1p1",
                "swp2": "gpu-0001 frontend1p2",
                "swp3": "gpu-0002 frontend1p1",
                "swp4": "gpu-0002 frontend1p2",
                "swp30": "wan port1",
                "swp30.11": "wan-red port1.11",
                "swp30.12": "wan-blue port1.12",
                "swp31": "frontend-spine001 swp1",
                "swp32": "frontend-spine002 swp1",
            },
        ),
        (
            "ai-sonic",
            "storage-leaf002",
            {
                "Ethernet0": "gpu-0005 storage1",
                "Ethernet4": "gpu-0005 storage2",
                "Ethernet8": "gpu-0006 storage1",
                "Ethernet12": "gpu-0006 storage2",
                "Ethernet16": "gpu-0007 storage1",
                "Ethernet20": "gpu-0007 storage2",
                "Ethernet224": "storage-spine001 Ethernet16",
                "Ethernet232": "storage-spine001 Ethernet24",
                "Ethernet240": "storage-spine002 Ethernet16",
                "Ethernet248": "storage-spine002 Ethernet24",
            },
        ),
        ("ai-frr", "wan-blue", {"port1.12": "frontend-leaf001 swp30.12", "port2.12": "frontend-leaf002 swp30.12"}),
    ],
)
def test_cables(name: str, node: str, cables: dict[str, str]) -> None:
    assert far(example(name), node) == cables


def test_ports_of_tagged_slices() -> None:
    """Each slice belongs to the cable that it is a slice of, at a stand-in to a port of the router."""
    lab = drawn(TAGGED)
    cable = Wire(End("backend-leaf001", "swp30"), End("wan", "port1"))
    assert cable in lab.cables
    slices = [(part.b.node, part.a.interface, part.b.interface, part.slice_of) for part in lab.slices(cable)]
    assert slices == [("wan-red", "swp30.11", "port1.11", "swp30"), ("wan-blue", "swp30.12", "port1.12", "swp30")]
    backwards = lab.slices(Wire(cable.b, cable.a))
    assert [(part.a.interface, part.b.interface) for part in backwards] == [
        ("port1.11", "swp30.11"),
        ("port1.12", "swp30.12"),
    ]
    ports = {end: port for end, port in lab.port_of.items() if "swp30.1" in end.interface or "wan-" in end.node}
    assert ports == {
        **{End(f"backend-leaf00{n}", f"swp30.{tag}"): End(f"backend-leaf00{n}", "swp30") for n in (1, 2) for tag in (11, 12)},
        **{
            End(f"wan-{t}", f"port{n}.{tag}"): End("wan", f"port{n}")
            for n in (1, 2)
            for t, tag in (("red", 11), ("blue", 12))
        },
    }
    assert lab.port_of.keys() == {end for wire in lab.wires for end in (wire.a, wire.b)}
    assert {lab.port_of[end] for end in lab.port_of} == {end for wire in lab.cables for end in (wire.a, wire.b)}


def test_files_of_a_switch() -> None:
    lab = example("ai-frr")
    leaf = lab.nodes["frontend-leaf001"]
    configs = folder("ai-frr") / "configs/frontend-leaf001"
    assert leaf.frr_conf == (configs / "frr.conf").read_text(encoding="utf-8")
    assert leaf.filters == (configs / "nftables.conf").read_text(encoding="utf-8")
    assert leaf.lldp == (configs / "lldpd.conf").read_text(encoding="utf-8")
    assert "configs/frontend-leaf001/interfaces" in lab.files["frontend-leaf001"]
    assert ("net.ipv4.fib_multipath_hash_policy", "1") in leaf.sysctls
    assert ("net.ipv4.fib_multipath_hash_seed", "1") in leaf.sysctls  # its line begins with a dash
    sonic = example("ai-sonic").nodes["frontend-leaf001"]
    assert (sonic.filters, sonic.lldp, sonic.frr_conf != "") == ("", "", True)


# --- servers and what is outside ----------------------------------------------------------------------------


def test_a_server() -> None:
    """Every port with its own address, route and rule, as its netplan file has it."""
    gpu = example("ai-frr").nodes["gpu-0001"]
    assert interfaces(gpu, "compute1", "storage2", "frontend1p1") == {
        "compute1": "port default 10.128.0.1/31 mtu 9000",
        "storage2": "port default 10.128.2.3/31 mtu 9000",
        "frontend1p1": "port default 10.20.0.2/24 mtu 9000",
    }
    routes = {(route.to, route.via, route.interface, route.table, route.metric) for route in gpu.routes}
    assert ("10.128.0.0/25", "10.128.0.0", "compute1", 0, 100) in routes
    assert ("10.128.0.0/9", "10.128.0.0", "compute1", 1001, 0) in routes
    assert ("default", "10.20.0.1", "frontend1p1", 0, 4000) in routes
    assert ("10.128.0.1", 1001, 1001) in {(rule.source, rule.table, rule.priority) for rule in gpu.rules}
    assert (gpu.kind, gpu.routed, gpu.lacks) == (SERVER, False, ())


def test_a_host_has_the_address_of_a_bond_on_every_port_and_sends_over_one() -> None:
    """Hosts take turns over the switches; the switches have every port in the network of the bond."""
    lab = example("ai-sonic")
    for name, order in {"gpu-0001": [0, 1], "gpu-0002": [1, 0]}.items():
        ports = [own for own in lab.nodes[name].interfaces if own.bond == "bond0"]
        assert [(own.name, own.standby) for own in ports] == list(zip(["frontend1p1", "frontend1p2"], order, strict=True))
        assert len({(own.addresses, own.mac) for own in ports}) == 1
        routes = {route.interface: route.metric for route in lab.nodes[name].routes if route.interface.startswith("front")}
        assert routes == {own.name: own.standby for own in ports}
        (end,) = (end for end in endpoints(lab) if end.server == name and end.address == ports[0].addresses[0][:-3])
        assert end.interface == f"frontend1p{order.index(0) + 1}"
        moved = [one for one in endpoints(lab, {end.leaf}) if (one.server, one.address) == (name, end.address)]
        assert [one.interface for one in moved] == [f"frontend1p{order.index(1) + 1}"]
        assert moved[0].leaf != end.leaf
    for name in ("gpu-0001", "frontend-leaf001"):
        assert lab.nodes[name].lacks == (BONDS,)
    far = {end: wire.other(end.node) for wire in lab.wires for end in (wire.a, wire.b)}
    ends = [far[End("gpu-0001", name)] for name in ("frontend1p1", "frontend1p2")]
    drawn = {(name, own.name): own.bridge for name, node in lab.nodes.items() for own in node.interfaces}
    assert len({drawn[end.node, end.interface] for end in ends} - {""}) == 1


def test_stand_ins() -> None:
    """A router with sessions in two tenants is two nodes, and a third that has nothing but the cables."""
    lab = example("ai-frr")
    assert [node.name for node in lab.of(STAND_IN)] == ["wan", "wan-blue", "wan-red"]
    assert interfaces(lab.nodes["wan-red"]) == {
        "lo": "loopback default 198.51.100.1/32",
        "port1.11": "port default 10.64.0.137/31 mtu 9166",
        "port2.11": "port default 10.64.0.141/31 mtu 9166",
    }
    lines = lab.nodes["wan-red"].frr_conf.splitlines()
    assert [line.strip() for line in lines if "remote-as" in line or "  network" in line or "router bgp" in line] == [
        "router bgp 65010",
        "neighbor 10.64.0.136 remote-as 4200000006",
        "neighbor 10.64.0.140 remote-as 4200000007",
        "network 0.0.0.0/0",
    ]
    assert not lab.nodes["wan"].routed


def test_sessions() -> None:
    lab = example("ai-frr")
    own = [one for one in sessions(lab) if one.node == "frontend-leaf001"]
    assert [(one.kind, one.vrf, one.peer, one.peer_node, one.peer_asn, one.interface) for one in own] == [
        (UNDERLAY, "", "10.64.0.129", "frontend-spine001", 4200000005, "swp31"),
        (UNDERLAY, "", "10.64.0.131", "frontend-spine002", 4200000005, "swp32"),
        (OVERLAY, "", "10.0.0.7", "frontend-spine001", 4200000005, ""),
        (OVERLAY, "", "10.0.0.8", "frontend-spine002", 4200000005, ""),
        (OUTSIDE, "vrf-red", "10.64.0.137", "wan-red", 65010, "swp30.11"),
        (OUTSIDE, "vrf-blue", "10.64.0.139", "wan-blue", 65010, "swp30.12"),
    ]
    assert own[4].shown == "session with wan-red (10.64.0.137) in vrf-red"
    assert own[2].shown == "EVPN session with frontend-spine001 (10.0.0.7)"


def test_endpoints() -> None:
    found = [end for end in endpoints(example("ai-frr")) if end.server == "gpu-0006" and end.fabric == "frontend"]
    assert [(end.interface, end.address, end.leaf, end.port, end.tenant, end.mtu) for end in found] == [
        ("frontend1p1", "10.30.0.2", "frontend-leaf002", "swp3", "blue", 9000),
        ("frontend1p2", "10.30.0.3", "frontend-leaf002", "swp4", "blue", 9000),
    ]
    assert {end.network.name for end in found if end.network} == {"blue-login"}


# --- what is left out ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "servers", "shape"),
    [
        ("frontend-*", 2, "2 spines, 2 leaves, 5 servers, 3 stand-ins, 16 cables"),
        ("frontend-*", 1, "2 spines, 2 leaves, 3 servers, 3 stand-ins, 12 cables"),
        ("frontend-*", 0, "2 spines, 2 leaves, 3 stand-ins, 6 cables"),
        ("storage-leaf001", 2, "1 leaf, 2 servers, 4 cables"),
        ("storage-spine*", 2, "2 spines"),
    ],
)
def test_limits(limit: str, servers: int, shape: str) -> None:
    lab = example("ai-frr", limit, servers)
    assert lab.shape == shape
    ends = {(end.node, end.interface) for wire in lab.wires for end in (wire.a, wire.b)}
    ports = {(node.name, own.name) for node in lab.nodes.values() for own in node.interfaces if own.kind == PORT}
    assert ends == ports


@pytest.mark.parametrize(("name", "limit", "messages"), [("ai-eos", "", "FAB510"), ("ai-frr", "nothing-*", "FAB162")])
def test_nothing_to_build(name: str, limit: str, messages: str) -> None:
    with pytest.raises(InputError) as caught:
        example(name, limit)
    assert [found.code for found in caught.value.diagnostics] == [messages]


# --- files that a person has edited -------------------------------------------------------------------------


def test_an_edited_file_is_drawn_as_it_lies(tmp_path: Path) -> None:
    intent = generated(EVPN, "lab-drawn", tmp_path)
    planned = planned_and_drawn(intent)
    edit(
        intent,
        "backend-leaf001/interfaces",
        {"address 10.64.0.0/31": "address 10.64.0.100/31", "    bridge-arp-nd-suppress on\n": "", "9216": "1500"},
    )
    found = planned_and_drawn(intent)
    assert interfaces(found.nodes["backend-leaf001"], "swp31", "vni10001") == {
        "swp31": "port default 10.64.0.100/31 mtu 1500",
        "vni10001": "tunnel vrf-red mtu 9166 in vlan100 vni 10001 from 10.2.0.1",
    }
    assert digest(found) != digest(planned)
    assert interfaces(planned_and_drawn(intent, fresh=True).nodes["backend-leaf001"], "swp31") == {
        "swp31": "port default 10.64.0.0/31 mtu 9216"
    }
    others = [name for name in planned.nodes if name != "backend-leaf001"]
    assert [planned.nodes[name] for name in others] == [found.nodes[name] for name in others]


@pytest.mark.parametrize(
    ("file", "changes", "tunnels"),
    [
        ("interfaces", {"vni10001": "vni10009", "vxlan-id 10001": "vxlan-id 10009"}, {"vni10009", "vni50001", "vni50002"}),
        ("frr.conf", {" vni 50002\n": " vni 50009\n"}, {"vni10001", "vni50001", "vni50002"}),
        ("frr.conf", {"  vni 10001\n": "  vni 10009\n"}, {"vni10001", "vni50001", "vni50002"}),
    ],
)
def test_a_vni_that_is_named_in_bgp_alone_has_no_tunnel(
    file: str, changes: dict[str, str], tunnels: set[str], tmp_path: Path
) -> None:
    """A switch has the devices of its interfaces file, and no others."""
    intent = generated(EVPN, "lab-drawn", tmp_path)
    edit(intent, f"backend-leaf001/{file}", changes)
    leaf = planned_and_drawn(intent).nodes["backend-leaf001"]
    assert {own.name for own in leaf.interfaces if own.kind == TUNNEL} == tunnels


def test_kinds_in_their_order() -> None:
    """A bridge must be there before what is put in it."""
    for text in (EVPN, SONIC):
        lab = drawn(text.replace("SITE", "kinds"))
        assert [node.kind for node in lab.nodes.values()] == sorted(
            (node.kind for node in lab.nodes.values()), key=[SWITCH, SERVER, STAND_IN].index
        )
        for node in lab.of(SWITCH):
            kinds = [own.kind for own in node.interfaces]
            assert kinds == sorted(kinds, key=[LOOPBACK, BRIDGE, PORT, TUNNEL].index)
            masters = {own.name for own in node.interfaces if own.kind == BRIDGE}
            assert {own.bridge for own in node.interfaces if own.bridge} <= masters


def test_names() -> None:
    names = Names("dc1")
    assert names.namespace("backend-leaf001") == "fabric-dc1.backend-leaf001"
    assert names.namespace("backend-leaf001", "vrf-red") == "fabric-dc1.backend-leaf001.vrf-red"
    assert not names.prefix.startswith(Names("dc").prefix)  # one site's name may begin with another's
    assert names.home("leaf1") == names.folder / "nodes/leaf1"


# --- netplan ------------------------------------------------------------------------------------------------

NETPLAN = """\
network:
  ethernets:
    eth0: {mtu: 9000}
    eth1: {mtu: 9000}
    eth2: {activation-mode: "off"}
    eth3: {addresses: [10.0.0.1/31, "2001:db8::1/64"]}
  bonds:
    bond0:
      interfaces: [eth0, eth1]
      addresses: [10.1.0.2/24]
      routes: [{to: default, via: 10.1.0.1, metric: 5}]
  vlans:
    storage: {id: 200, link: bond0, addresses: [10.2.0.2/24], mtu: 1500}
"""


def test_a_netplan_file() -> None:
    node = server("web", NETPLAN)
    assert interfaces(node) == {
        "eth0": "port default 10.1.0.2/24",
        "storage": "port default 10.2.0.2/24 mtu 1500 of eth0",
        "eth1": "port default 10.1.0.2/24",
        "storage-2": "port default 10.2.0.2/24 mtu 1500 of eth1",
        "eth2": "port default down",
        "eth3": "port default 10.0.0.1/31 2001:db8::1/64",
    }
    assert [(route.to, route.via, route.interface, route.metric) for route in node.routes] == [
        ("default", "10.1.0.1", "eth0", 5),
        ("default", "10.1.0.1", "eth1", 6),
    ]
    assert {own.name: own.standby for own in node.interfaces if own.bond} == {
        "eth0": 0,
        "storage": 0,
        "eth1": 1,
        "storage-2": 1,
    }
    assert (tagged(NETPLAN, "eth0", 200), tagged(NETPLAN, "eth1", 200)) == ("storage", "storage-2")
    assert (tagged(NETPLAN, "eth0", 201), tagged(NETPLAN, "eth3", 200)) == ("", "")


@pytest.mark.parametrize("text", ["", "network: [", "network: {ethernets: [eth0]}", "[]", "network:\n  bonds: {b: {}}"])
def test_no_netplan_file(text: str) -> None:
    with pytest.raises(ValueError, match="web: no netplan file"):
        server("web", text)


def test_a_server_file_that_is_broken_is_named(tmp_path: Path) -> None:
    """What a person has edited is reported to be wrong, with its path."""
    intent = generated(EVPN, "lab-drawn", tmp_path)
    (intent.folder / "hosts/gpu-0001/60-fabric.yaml").write_text("network: [\n", encoding="utf-8")
    with pytest.raises(InputError, match="gpu-0001"):
        planned_and_drawn(intent)
