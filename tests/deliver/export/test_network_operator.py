"""Objects of NVIDIA's Network Operator: exact, accepted by the rules, and no other node moved by a new one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from ipaddress import IPv4Network, ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.configs.cluster.kinds import mistakes
from fabric.configs.view_of import Views
from fabric.deliver.export.network_operator import network_operator
from fabric.model.plan import LEAF, Plan
from tests.deliver.export.crds import needs_crds, refused

PCI = [f"0000:{bus:02x}:00.0" for bus in (0x1A, 0x2A, 0x3A, 0x4A, 0x9A, 0xAA, 0xBA, 0xCA)]
SITES = {  # name → servers, planes, mode
    "b300": ("hgx-b300", 2, "swplb"),
    "b300-hwplb": ("hgx-b300", 2, "hwplb"),
    "gb300": ("gb300-tray", 2, "swplb"),
    "b300-single": ("hgx-b300", 1, "none"),
    "h200-bf3": ("hgx-h200", 1, "none"),
    "four-planes": ("own", 4, "swplb"),
}
Object = dict[str, Any]


def intent(site: str = "b300", count: int = 12, **more: Any) -> dict[str, Any]:
    model, planes, mode = SITES[site]
    part = "_p{plane}" if planes > 1 else ""
    names = {"interface": "eth_r{rail}" + part, "rdma": "roce_r{rail}" + part * (mode != "hwplb")}
    servers = {"model": model, "count": count, "name": "gpu", "plane_mode": mode, "nic_names": names}
    servers["nic_pci"] = PCI[:4] if model == "gb300-tray" else PCI
    own = {"gpus": 8, "nics": {"compute": {"count": 8, "ports": 4, "speed_gbps": 200, "model": "ConnectX-8"}}}
    fabric = {
        "nos": "cumulus",
        "servers": servers | more.pop("servers", {}),
        "topology": {"planes": planes, "switch": "sn5600", "unit": {"servers": 8}} | more.pop("topology", {}),
        "planned": {"servers": 64},
        "underlay": {"server_subnets": "spectrum-x"},
        "network_operator": {"profile": "site-profile"},
    }
    pools = {"servers": "172.16.0.0/12"}
    catalog = {"servers": {"own": own}}
    return {"version": 1, "site": "dc1", "pools": pools, "catalog": catalog, "fabrics": {"backend": fabric | more}}


def planned(text: dict[str, Any], folder: Path) -> Plan:
    path = folder / "dc1.yaml"
    path.write_text(yaml.safe_dump(text), encoding="utf-8")
    return pipeline.plan(pipeline.load(path))


def exported(text: dict[str, Any], folder: Path) -> dict[str, list[Object]]:
    files = network_operator(planned(text, folder))
    return {name: list(yaml.safe_load_all(body)) for name, body in files.items() if name.endswith(".yaml")}


def every(files: dict[str, list[Object]]) -> list[Object]:
    return [thing for things in files.values() for thing in things]


# --- what is written ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("site", SITES)
def test_the_rules_accept_all_objects(site: str, tmp_path: Path) -> None:
    things = every(exported(intent(site), tmp_path))
    assert {thing["kind"] for thing in things} == {
        "CIDRPool", "NicInterfaceNameTemplate", "NicConfigurationTemplate", "SpectrumXRailPoolConfig"
    }  # fmt: skip
    assert [wrong for thing in things for wrong in mistakes(thing)] == []


@needs_crds
@pytest.mark.parametrize("site", SITES)
def test_the_crds_accept_all_objects(site: str, tmp_path: Path) -> None:
    things = every(exported(intent(site), tmp_path))
    assert things
    assert [wrong for thing in things for wrong in refused(thing)] == []


@pytest.mark.parametrize("site", SITES)
def test_pools_have_the_addresses_of_the_leaves(site: str, tmp_path: Path) -> None:
    """Every allocation is the other end of a port that the config of a leaf has, and none is missing."""
    plan = planned(intent(site), tmp_path)
    fabric, rails = plan.fabrics["backend"], 4 if site == "gb300" else 8
    views = Views(plan, fabric)
    expected: dict[tuple[str, int, int], set[tuple[str, str]]] = {}
    for leaf in fabric.devices:
        if leaf.role == LEAF:
            for port in views.of(leaf).ports:
                if port.kind == "server" and port.peer and port.address:
                    ends = str(ip_network(port.address, strict=False)), port.address.partition("/")[0]
                    expected.setdefault((port.peer.device.name, leaf.rail, leaf.plane), set()).add(ends)
    mode, planes = SITES[site][2], SITES[site][1]
    seen = set()
    for pool in exported(intent(site), tmp_path)["backend/cidr-pools.yaml"]:
        words = pool["metadata"]["name"].split("-")
        rail, plane = int(words[1]), int(words[3]) if len(words) > 2 else 0
        for each in pool["spec"]["staticAllocations"]:
            assert expected[each["nodeName"], rail, plane] == {(each["prefix"], each["gateway"])}
            if mode == "hwplb":
                assert expected[each["nodeName"], rail, 1] == {(each["prefix"], each["gateway"])}
            assert IPv4Network(each["prefix"]).subnet_of(IPv4Network(pool["spec"]["cidr"]))
            seen.add((each["nodeName"], rail, plane))
    assert len(seen) == 12 * rails * (planes if mode == "swplb" else 1)


def test_names_of_objects_and_ports(tmp_path: Path) -> None:
    files = exported(intent(), tmp_path)
    (rails,) = files["backend/rail-pools.yaml"]
    assert [(rail["name"], rail["nicSelector"]["pfNames"], rail["cidrPoolRef"]) for rail in rails["spec"]["railTopology"]][
        :3
    ] == [
        ("rail0p0", ["eth_r0_p0"], "rail-0-plane-0"),
        ("rail0p1", ["eth_r0_p1"], "rail-0-plane-1"),
        ("rail1p0", ["eth_r1_p0"], "rail-1-plane-0"),
    ]
    (names,) = files["backend/interface-names.yaml"]
    assert names["spec"]["netDevicePrefix"] == "eth_r%rail_id%_p%plane_id%"
    assert names["spec"]["railPciAddresses"] == [[address] for address in PCI]
    (rails,) = exported(intent("b300-hwplb"), tmp_path)["backend/rail-pools.yaml"]
    assert rails["spec"]["railTopology"][7]["nicSelector"]["pfNames"] == ["eth_r7_p0", "eth_r7_p1"]
    assert rails["spec"]["railTopology"][7]["cidrPoolRef"] == "rail-7"


def test_groups_have_objects_of_their_own(tmp_path: Path) -> None:
    text = intent()
    first = text["fabrics"]["backend"]["servers"]
    del text["fabrics"]["backend"]["planned"]
    text["fabrics"]["backend"]["servers"] = [
        first | {"node_selector": {"gpu": "a"}},
        first | {"name": "late", "nic_pci": PCI[::-1], "node_selector": {"gpu": "b"}},
    ]
    files = exported(text, tmp_path)
    for name in ("interface-names", "nic-configuration", "rail-pools"):
        assert [thing["spec"]["nodeSelector"] for thing in files[f"backend/{name}.yaml"]] == [{"gpu": "a"}, {"gpu": "b"}]
    assert len(files["backend/cidr-pools.yaml"]) == 16
    assert [wrong for thing in every(files) for wrong in mistakes(thing)] == []


# --- the topology file ----------------------------------------------------------------------------------------


def derived(text: str, tiers: int, planes: int) -> dict[tuple[str, int, int], str]:
    """(host, rail, plane) → its address, as the launch kit computes it from the file: host numbers by first appearance."""
    hosts: dict[tuple[int, int, int], list[str]] = {}
    found = {}
    for ends in json.loads(text)["links"]:
        leaf, host = sorted(ends, key=lambda end: str(end["attributes"]["role"]), reverse=True)
        plane, own = leaf["attributes"]["plane"], host["attributes"]
        pod, su, rail = own["pod"], own["su"], own["rail"]
        seen = hosts.setdefault((plane, pod, su), [])
        if host["node"] not in seen:
            seen.append(host["node"])
        number = seen.index(host["node"]) << 1
        if tiers == 2:
            octets = (172, 16 | plane << 2 | rail >> 2, (rail & 3) << 6 | su, number)
            octets = octets if planes > 1 else (172, 16 | rail << 1, su, number)
        else:
            octets = (10, plane << 6 | rail << 3 | pod >> 2, (pod & 3) << 6 | su, number)
            octets = octets if planes > 1 else (10, rail << 5 | pod, su, number)
        found[host["node"], rail, plane] = str(ip_address(bytes(octets)))
    return found


def allocated(plan: Plan) -> dict[tuple[str, int, int], str]:
    pools = yaml.safe_load_all(network_operator(plan)["backend/cidr-pools.yaml"])
    found = {}
    for pool in pools:
        words = pool["metadata"]["name"].split("-")
        for each in pool["spec"]["staticAllocations"]:
            rail, plane = int(words[1]), int(words[3]) if len(words) > 2 else 0
            found[each["nodeName"], rail, plane] = each["prefix"].partition("/")[0]
    return found


@pytest.mark.parametrize(("tiers", "planes"), [(2, 2), (2, 1), (3, 2), (3, 1)])
def test_the_launch_kit_computes_the_addresses_of_the_plan(tiers: int, planes: int, tmp_path: Path) -> None:
    topology = {"tiers": tiers, "unit": {"servers": 4}} | ({"pods": {"units": 2}} if tiers == 3 else {})
    text = intent("b300" if planes > 1 else "b300-single", 14, topology=topology, planned={"servers": 16})
    if tiers == 3:
        text["pools"] = {"servers": "10.0.0.0/8", "loopback": "192.168.0.0/17", "p2p": "172.24.0.0/14"}
    plan = planned(text, tmp_path)
    files = network_operator(plan)
    addresses = derived(files["backend/topology.json"], tiers, planes)
    assert addresses == allocated(plan)
    assert len(addresses) == 14 * 8 * planes


def test_no_topology_file_where_the_launch_kit_would_compute_others(tmp_path: Path) -> None:
    plan = planned(intent(underlay={"server_subnets": "leaf"}), tmp_path)
    files = network_operator(plan)
    assert "backend/topology.json" not in files
    assert [wrong for name in files for thing in yaml.safe_load_all(files[name]) for wrong in mistakes(thing)] == []


def test_a_host_in_the_middle_moves_no_other(tmp_path: Path) -> None:
    """Units of two groups: a server more in the first stands before all of the second, and a unit more between them."""
    first = intent()["fabrics"]["backend"]["servers"]
    path = tmp_path / "dc1.yaml"

    def site(counts: tuple[int, int], lock: Any = None) -> Plan:
        text = intent()
        del text["fabrics"]["backend"]["planned"]
        text["fabrics"]["backend"]["servers"] = [
            first | {"name": name, "count": count, "planned": 48, "node_selector": {"group": name}}
            for name, count in zip(("a", "b"), counts, strict=True)
        ]
        path.write_text(yaml.safe_dump(text), encoding="utf-8")
        return pipeline.plan(pipeline.load(path), lock)

    before = site((5, 6))
    plan, held = before, allocated(before)
    for counts in ((6, 6), (6, 9), (12, 9), (30, 9), (31, 20)):
        plan = site(counts, plan.lock)
        now = allocated(plan)
        assert {key: now[key] for key in held} == held
        assert derived(network_operator(plan)["backend/topology.json"], 2, 2) == now
        held = now
    assert len(held) == 51 * 16


# --- what is refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network_operator": {"profile": "p", "release": "26.10"}}, "network_operator 26.10: its CRDs, of RA2.4 and RA3.1"),
        ({"network_operator": None}, "no fabric has a `network_operator`"),
        ({"servers": {"plane_mode": None}}, "expected a plane_mode of servers 'gpu'"),
        ({"servers": {"nic_pci": []}}, "expected nic_pci, the PCI addresses of 8 NICs"),
        ({"servers": {"nic_pci": PCI[:7]}}, "for each of the 8 NICs, got 7"),
        ({"servers": {"nic_pci": [*PCI[:7], PCI[0]]}}, "got 0000:1a:00.0 twice"),
        ({"servers": {"nic_names": {}}}, "expected nic_names with interface and rdma"),
        ({"servers": {"nic_names": {"interface": "e{rail:02}p{plane}", "rdma": "r{rail}p{plane}"}}}, "without widths"),
        ({"underlay": {"addressing": "ipv6"}}, "expected IPv4 addresses of servers, got ipv6"),
        ({"topology": {"kind": "rack"}, "underlay": {}}, "expected a fabric with rails, got rack"),
        ({"topology": {"rails": 4}, "underlay": {}, "servers": {"nic_names": {"interface": "e{nic}p{plane}",
          "rdma": "r{nic}p{plane}"}}}, "expected one NIC on each rail of a fabric with planes"),
    ],
)  # fmt: skip
def test_what_the_objects_cannot_say(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    text = intent(**copy.deepcopy(changes))
    fabric = text["fabrics"]["backend"]
    fabric["servers"] = {key: value for key, value in fabric["servers"].items() if value is not None}
    fabric = text["fabrics"]["backend"] = {key: value for key, value in fabric.items() if value is not None}
    if changes.get("underlay", {}).get("addressing") == "ipv6":
        del text["pools"]
    with pytest.raises(InputError) as raised:
        exported(text, tmp_path)
    assert message in str(raised.value)


def test_connectx_7_has_no_objects(tmp_path: Path) -> None:
    text = intent("b300-single", servers={"model": "dgx-h100"})
    with pytest.raises(InputError, match="expected ConnectX-8, ConnectX-9 or BlueField-3, got NIC model 'ConnectX-7'"):
        exported(text, tmp_path)


# --- injected faults -------------------------------------------------------------------------------------------

Change = Callable[[Object], object]


def at(*path: str | int) -> Callable[[Object], Any]:
    def part(thing: Object) -> Any:
        value: Any = thing
        for key in path:
            value = value[key]
        return value

    return part


def put(value: Any, *path: str | int) -> Change:
    def change(thing: Object) -> None:
        at(*path[:-1])(thing)[path[-1]] = value

    return change


def drop(*path: str | int) -> Change:
    def change(thing: Object) -> None:
        del at(*path[:-1])(thing)[path[-1]]

    return change


def many(*changes: Change) -> Change:
    return lambda thing: [change(thing) for change in changes]


SPX = ("spec", "template", "spectrumXOptimized")
POOL, NAMES, NIC, RAIL = "cidr-pools", "interface-names", "nic-configuration", "rail-pools"
FIRST = ("spec", "staticAllocations", 0)
PLANTED: dict[str, tuple[str, Change]] = {  # refused by schema and CEL rules
    "removed field withBCM": (RAIL, put(True, "spec", "withBCM")),
    "no virtual function": (RAIL, put(0, "spec", "numVfs")),
    "no rails": (RAIL, put([], "spec", "railTopology")),
    "rail without ports": (RAIL, put([], "spec", "railTopology", 0, "nicSelector", "pfNames")),
    "rail without MTU": (RAIL, drop("spec", "railTopology", 0, "mtu")),
    "MTU below 0": (RAIL, put(-1, "spec", "railTopology", 0, "mtu")),
    "MTU as text": (RAIL, put("9000", "spec", "railTopology", 0, "mtu")),
    "rail without name": (RAIL, put("", "spec", "railTopology", 0, "name")),
    "pool and ipam": (RAIL, put("{}", "spec", "railTopology", 0, "ipam")),
    "group of older texts": (RAIL, put("spectrumx.net.nvidia.com/v1alpha2", "apiVersion")),
    "older version": (RAIL, put("spectrumx.nvidia.com/v1alpha1", "apiVersion")),
    "field of a later release": (RAIL, put(True, "spec", "vfStateFollow")),
    "selector as list": (RAIL, put(["gpu"], "spec", "nodeSelector")),
    "none with planes": (NIC, put("none", *SPX, "multiplaneMode")),
    "planes that default to 1": (NIC, drop(*SPX, "numberOfPlanes")),
    "eight planes": (NIC, put(8, *SPX, "numberOfPlanes")),
    "unknown mode": (NIC, put("mrc", *SPX, "multiplaneMode")),
    "two virtual functions": (NIC, put(2, "spec", "template", "numVfs")),
    "InfiniBand": (NIC, put("Infiniband", "spec", "template", "linkType")),
    "no link type": (NIC, drop("spec", "template", "linkType")),
    "RoCE beside it": (NIC, put({"enabled": True}, "spec", "template", "roceOptimized")),
    "range of indices": (NIC, put([{"name": "X[0..3]", "value": "1"}], "spec", "template", "rawNvConfig")),
    "ConnectX-7": (NIC, put("1021", "spec", "nicSelector", "nicType")),
    "hwplb on BlueField-3": (NIC, many(put("a2dc", "spec", "nicSelector", "nicType"), put("hwplb", *SPX, "multiplaneMode"))),
    "no profile": (NIC, drop(*SPX, "version")),
    "platform of a later release": (NIC, put("b300", *SPX, "platformType")),
    "PCI address without domain": (NIC, put(["1a:00.0"], "spec", "nicSelector", "pciAddresses")),
    "overlay": (NIC, put("l2", *SPX, "overlay")),
    "network bay of ConnectX-8": (
        NIC, many(put({"conf": "x"}, "spec", "template", "networkBay"), drop("spec", "template", "linkType"))
    ),
    "flat list of rails": (NAMES, put(PCI, "spec", "railPciAddresses")),
    "no functions": (NAMES, drop("spec", "pfsPerNic")),
    "no names": (NAMES, drop("spec", "netDevicePrefix")),
    "no pool": (POOL, drop("spec", "cidr")),
    "no length": (POOL, drop("spec", "perNodeNetworkPrefix")),
    "length as text": (POOL, put("31", "spec", "perNodeNetworkPrefix")),
    "exclusion backwards": (POOL, put([{"startIndex": 1, "endIndex": 0}], "spec", "perNodeExclusions")),
    "exclusion below 0": (POOL, put([{"startIndex": -1, "endIndex": 0}], "spec", "perNodeExclusions")),
    "route without destination": (POOL, put([{"to": "10.0.0.0/8"}], "spec", "routes")),
    "allocation without prefix": (POOL, drop(*FIRST, "prefix")),
}  # fmt: skip
ADMISSION: dict[str, tuple[str, Change]] = {  # refused by the webhook of nvidia-k8s-ipam
    "host bits": (POOL, put("172.16.0.1/18", "spec", "cidr")),
    "length of the pool": (POOL, put(17, "spec", "perNodeNetworkPrefix")),
    "gateway outside": (POOL, put(2, "spec", "gatewayIndex")),
    "routes without gateway": (POOL, drop("spec", "gatewayIndex")),
    "exclusion outside": (POOL, put([{"startIndex": 0, "endIndex": 2}], "spec", "perNodeExclusions")),
    "prefix of another pool": (POOL, put("10.9.0.0/31", *FIRST, "prefix")),
    "prefix of another length": (POOL, put("172.16.0.0/30", *FIRST, "prefix")),
    "gateway of another node": (POOL, put("172.16.0.9", *FIRST, "gateway")),
    "node twice": (POOL, put("gpu-0002", *FIRST, "nodeName")),
    "prefix twice": (POOL, many(put("172.16.0.2/31", *FIRST, "prefix"), put("172.16.0.3", *FIRST, "gateway"))),
    "IPv6 route": (POOL, put([{"dst": "fd00::/8"}], "spec", "routes")),
}


def broken(name: str, folder: Path) -> Object:
    file, change = (PLANTED | ADMISSION)[name]
    thing = exported(intent(), folder)[f"backend/{file}.yaml"][0]
    assert mistakes(thing) == []
    change(thing)
    return thing


@pytest.mark.parametrize("name", [*PLANTED, *ADMISSION])
def test_the_rules_refuse_injected_faults(name: str, tmp_path: Path) -> None:
    assert mistakes(broken(name, tmp_path)) != []


@needs_crds
@pytest.mark.parametrize("name", PLANTED)
def test_the_crds_refuse_injected_faults(name: str, tmp_path: Path) -> None:
    assert refused(broken(name, tmp_path)) != []


@pytest.mark.parametrize(
    "thing", [{}, {"kind": "Pod"}, {"kind": "CIDRPool"}, {"kind": "CIDRPool", "metadata": [], "spec": []}]
)
def test_what_is_no_object(thing: Object) -> None:
    assert mistakes(thing) != []
