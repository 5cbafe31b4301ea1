"""Switch, NIC and cluster agree: each of many planted disagreements between configs, server files and objects is found."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric import pipeline
from fabric.audit.checks import Scope, cluster
from fabric.audit.checks.finding import Finding
from fabric.base.diagnostics import InputError
from fabric.deliver.export.network_operator import network_operator
from fabric.model.plan import Plan

INTENT = """
version: 1
site: dc1
pools: {servers: 172.16.0.0/12}
catalog: {servers: {node: {gpus: 2, nics: {compute: {count: 2, speed_gbps: 800, model: ConnectX-8}}}}}
fabrics:
  backend:
    nos: cumulus
    servers: {model: node, count: 3, name: gpu, plane_mode: MODE, nic_pci: ["0000:1a:00.0", "0000:2a:00.0"],
      nic_names: {interface: "eth_r{rail}_p{plane}", rdma: "RDMA"}}
    topology: {planes: 2, switch: sn5600, unit: {servers: 4}}
    underlay: {server_subnets: spectrum-x}
    network_operator: {profile: site-profile}
"""
PROFILE = """
mlxConfig:
  swplb: {"1023": {postBreakout: {ROCE_RTT_RESP_DSCP_P1: "48", NUM_OF_PF: "2"}}}
runtimeConfig:
  roce:
    - {name: Trust, value: dscp, dmsPath: /interfaces/interface/nvidia/qos/config/trust-mode, valueType: string}
    - {name: PFC, value: "00010000", dmsPath: /interfaces/interface/nvidia/qos/config/pfc, valueType: string}
"""
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "site-profile"}, "data": {"profile": PROFILE}}
Object = dict[str, Any]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path, dict[str, list[Object]]]:
    """The plan, its folder with generated files, and the objects of its cluster."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "dc1.yaml").write_text(INTENT.replace("MODE", "swplb").replace("RDMA", "roce_r{rail}_p{plane}"))
    intent = pipeline.load(folder / "dc1.yaml", folder / "generated")
    plan = pipeline.plan(intent)
    pipeline.generate(intent).write()
    return plan, folder, objects(plan)


def objects(plan: Plan) -> dict[str, list[Object]]:
    files = network_operator(plan)
    found = {Path(name).stem: list(yaml.safe_load_all(text)) for name, text in files.items() if name.endswith("yaml")}
    return found | {"profile": [copy.deepcopy(MAP)]}


def written(things: dict[str, list[Object]], folder: Path) -> Path:
    for name, group in things.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump_all(group, sort_keys=False))
    return folder


def codes(found: list[Finding]) -> set[str]:
    return {finding.id for finding in found}


# --- cluster --------------------------------------------------------------------------------------------------

Change = Callable[[dict[str, list[Object]]], object]
POOL, NAMES, NIC, RAIL = "cidr-pools", "interface-names", "nic-configuration", "rail-pools"


def put(value: Any, file: str, *path: str | int) -> Change:
    def change(things: dict[str, list[Object]]) -> None:
        part: Any = things[file]
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value

    return change


def drop(file: str, *path: str | int) -> Change:
    def change(things: dict[str, list[Object]]) -> None:
        part: Any = things[file]
        for key in path[:-1]:
            part = part[key]
        del part[path[-1]]

    return change


def exchanged(file: str, path: tuple[str | int, ...], one: int, other: int, key: str) -> Change:
    def change(things: dict[str, list[Object]]) -> None:
        part: Any = things[file]
        for step in path:
            part = part[step]
        part[one][key], part[other][key] = part[other][key], part[one][key]

    return change


def allocations(at: int) -> tuple[str | int, ...]:
    return (at, "spec", "staticAllocations")


def profile(old: str, new: str) -> Change:
    def change(things: dict[str, list[Object]]) -> None:
        data = things["profile"][0]["data"]
        assert old in data["profile"]
        data["profile"] = data["profile"].replace(old, new)

    return change


def both(*changes: Change) -> Change:
    return lambda things: [change(things) for change in changes]


SPX = (0, "spec", "template", "spectrumXOptimized")
RAILS = (0, "spec", "railTopology")
IN_CLUSTER: dict[str, tuple[str, Change]] = {
    "a node has the prefix of another rail": ("FAB461", both(
        put("172.16.0.8/31", POOL, *allocations(0), 0, "prefix"), put("172.16.0.9", POOL, *allocations(0), 0, "gateway"))),
    "two nodes are exchanged": ("FAB461", exchanged(POOL, allocations(0), 0, 1, "nodeName")),
    "a node is missing in one pool": ("FAB461", drop(POOL, *allocations(1), 2)),
    "a node that the plan does not have": ("FAB461", put("gpu-9999", POOL, *allocations(2), 0, "nodeName")),
    "the gateway is the server": ("FAB461", put("172.16.0.0", POOL, *allocations(0), 0, "gateway")),
    "no gateway, and the index of the server": ("FAB461", both(
        drop(POOL, *allocations(0), 0, "gateway"), put(0, POOL, 0, "spec", "gatewayIndex"))),
    "the leaf's address may be given out": ("FAB461", put([], POOL, 0, "spec", "perNodeExclusions")),
    "the server's address may not": ("FAB461", put([{"startIndex": 0, "endIndex": 1}], POOL, 0, "spec", "perNodeExclusions")),
    "a smaller pool": ("FAB461", put("172.16.0.0/24", POOL, 0, "spec", "cidr")),
    "no routes": ("FAB461", put([], POOL, 3, "spec", "routes")),
    "routes to one rail alone": ("FAB461", put([{"dst": "172.16.0.0/18"}], POOL, 0, "spec", "routes")),
    "a pool is missing": ("FAB461", drop(POOL, 3)),
    "a pool has another name": ("FAB461", put("rail-9-plane-0", POOL, 0, "metadata", "name")),
    "a route to the other plane": ("FAB465", put([{"dst": "172.16.0.0/12"}], POOL, 0, "spec", "routes")),
    "pools of planes are exchanged": ("FAB461", both(
        put("rail-0-plane-1", POOL, 0, "metadata", "name"), put("rail-0-plane-0", POOL, 1, "metadata", "name"))),
    "names by plane, then rail": ("FAB462", put("eth_p%plane_id%_r%rail_id%", NAMES, 0, "spec", "netDevicePrefix")),
    "names by NIC": ("FAB462", put("eth_r%nic_id%_p%plane_id%", NAMES, 0, "spec", "netDevicePrefix")),
    "RDMA names without plane": ("FAB462", put("roce_r%rail_id%", NAMES, 0, "spec", "rdmaDevicePrefix")),
    "no RDMA names": ("FAB462", put("", NAMES, 0, "spec", "rdmaDevicePrefix")),
    "rails exchanged by PCI address": ("FAB462", put(
        [["0000:2a:00.0"], ["0000:1a:00.0"]], NAMES, 0, "spec", "railPciAddresses")),
    "both NICs on one rail": ("FAB462", put([["0000:1a:00.0", "0000:2a:00.0"]], NAMES, 0, "spec", "railPciAddresses")),
    "a PCI address with a typing error": ("FAB462", put("0000:1b:00.0", NAMES, 0, "spec", "railPciAddresses", 0, 0)),
    "one function a NIC": ("FAB465", put(1, NAMES, 0, "spec", "pfsPerNic")),
    "no names at all": ("FAB462", drop(NAMES, 0)),
    "a NIC is not configured": ("FAB462", drop(NIC, 0, "spec", "nicSelector", "pciAddresses", 1)),
    "another NIC is configured": ("FAB462", put("0000:3a:00.0", NIC, 0, "spec", "nicSelector", "pciAddresses", 1)),
    "another type of NIC": ("FAB462", put("1025", NIC, 0, "spec", "nicSelector", "nicType")),
    "hwplb": ("FAB465", put("hwplb", NIC, *SPX, "multiplaneMode")),
    "four planes": ("FAB465", put(4, NIC, *SPX, "numberOfPlanes")),
    "one plane": ("FAB465", both(put("none", NIC, *SPX, "multiplaneMode"), put(1, NIC, *SPX, "numberOfPlanes"))),
    "NICs without configuration": ("FAB465", drop(NIC, 0)),
    "Spectrum-X is off": ("FAB464", put(False, NIC, *SPX, "enabled")),
    "classes of RoCE instead": ("FAB464", both(
        put(False, NIC, *SPX, "enabled"), put({"enabled": True}, NIC, 0, "spec", "template", "roceOptimized"))),
    "another profile": ("FAB466", put("other", NIC, *SPX, "version")),
    "an overlay": ("FAB466", put("l3", NIC, *SPX, "overlay")),
    "a rail with a larger MTU": ("FAB463", put(9500, RAIL, *RAILS, 0, "mtu")),
    "a rail with a smaller MTU": ("FAB463", put(1500, RAIL, *RAILS, 3, "mtu")),
    "ports of planes are exchanged": ("FAB465", exchanged(RAIL, RAILS, 0, 1, "nicSelector")),
    "ports of rails are exchanged": ("FAB465", exchanged(RAIL, RAILS, 0, 2, "nicSelector")),
    "pools of rails are exchanged": ("FAB465", exchanged(RAIL, RAILS, 0, 3, "cidrPoolRef")),
    "a port of another name": ("FAB462", put(["eth_p0_r0"], RAIL, *RAILS, 0, "nicSelector", "pfNames")),
    "both planes in one rail": ("FAB465", put(["eth_r0_p0", "eth_r0_p1"], RAIL, *RAILS, 0, "nicSelector", "pfNames")),
    "a rail without pool": ("FAB465", drop(RAIL, *RAILS, 1, "cidrPoolRef")),
    "a rail is missing": ("FAB465", drop(RAIL, *RAILS, 2)),
    "a pool twice": ("FAB465", put("rail-0-plane-0", RAIL, *RAILS, 1, "cidrPoolRef")),
    "no rails": ("FAB465", drop(RAIL, 0)),
    "more functions": ("FAB466", put(4, RAIL, 0, "spec", "numVfs")),
    "another namespace of pods": ("FAB466", put("other", RAIL, 0, "spec", "networkNamespace")),
    "PFC on priority 4": ("FAB464", profile("00010000", "00001000")),
    "PFC on two priorities": ("FAB464", profile("00010000", "00011000")),
    "no PFC": ("FAB464", profile("00010000", "00000000")),
    "PFC that is no bits": ("FAB464", profile("00010000", "3")),
    "trust of the tag": ("FAB464", profile("value: dscp", "value: pcp")),
    "DSCP of responses": ("FAB464", profile('"48"', '"46"')),
    "a field of another release": ("FAB460", put("b300", NIC, *SPX, "platformType")),
}  # fmt: skip


def test_a_cluster_that_agrees(site: tuple[Plan, Path, dict[str, list[Object]]], tmp_path: Path) -> None:
    plan, _, things = site
    found, read = cluster.findings(plan, written(things, tmp_path))
    assert found == []
    assert read.files == 5


@pytest.mark.parametrize("name", IN_CLUSTER)
def test_planted_in_the_cluster(name: str, site: tuple[Plan, Path, dict[str, list[Object]]], tmp_path: Path) -> None:
    plan, _, things = site
    things = copy.deepcopy(things)
    code, change = IN_CLUSTER[name]
    change(things)
    found, _ = cluster.findings(plan, written({key: group for key, group in things.items() if group}, tmp_path))
    assert code in codes(found), [finding.message for finding in found]
    assert all(finding.file.startswith(str(tmp_path)) for finding in found)


def test_planes_that_share_an_address(tmp_path: Path) -> None:
    (tmp_path / "dc1.yaml").write_text(INTENT.replace("MODE", "hwplb").replace("RDMA", "roce_r{rail}"))
    plan = pipeline.plan(pipeline.load(tmp_path / "dc1.yaml"))
    things, folder = objects(plan), tmp_path / "objects"
    folder.mkdir()
    assert cluster.findings(plan, written(things, folder))[0] == []
    things[RAIL][0]["spec"]["railTopology"][0]["nicSelector"]["pfNames"] = ["eth_r0_p0"]
    assert codes(cluster.findings(plan, written(things, folder))[0]) == {"FAB465"}


def test_lists_of_kubectl_with_what_the_cluster_adds(
    site: tuple[Plan, Path, dict[str, list[Object]]], tmp_path: Path
) -> None:
    """`kubectl get … -o yaml` and `-o json`: one list, metadata of the cluster, a status, other objects between them."""
    plan, _, things = site
    items = [thing for group in copy.deepcopy(things).values() for thing in group]
    for item in items:
        item["metadata"] |= {"uid": "1", "resourceVersion": "2", "annotations": {"a/last-applied-configuration": '{"a":1}\n'}}
        if item["kind"] == "CIDRPool":
            item["status"] = {"allocations": []}
    items.insert(0, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}})
    (tmp_path / "all.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1))
    assert cluster.findings(plan, tmp_path)[0] == []
    pool = next(item for item in items if item["kind"] == "CIDRPool")
    pool["spec"]["staticAllocations"][0]["gateway"] = "172.16.0.0"
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)
    (tmp_path / "all.json").write_text(text)
    (finding,) = cluster.findings(plan, tmp_path)[0]
    assert '"gateway": "172.16.0.0"' in text.splitlines()[finding.line - 1]
    assert finding.device == "gpu-0001"


@pytest.mark.parametrize(
    ("text", "message"), [("a: [", "FAB003"), ("kind: Pod\n", "got none in 1 files"), ("", "got none in 1 files")]
)
def test_files_that_say_nothing(
    text: str, message: str, site: tuple[Plan, Path, dict[str, list[Object]]], tmp_path: Path
) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(InputError, match=message):
        cluster.findings(site[0], tmp_path)


# --- leaves and servers ---------------------------------------------------------------------------------------

LEAF, HOST = "configs/backend-leaf001/startup.yaml", "hosts/gpu-0001/60-fabric.yaml"
ROCE, NCCL = "hosts/_groups/gpu.roce.sh", "hosts/_groups/gpu.nccl.env"
IN_FILES: dict[str, tuple[str, str, str]] = {  # file, pattern, replacement: the first place only
    "leaf: another subnet": (LEAF, r"172\.16\.0\.1/31", "172.16.0.5/31"),
    "leaf: no address": (LEAF, r" +ipv4:\n +address:\n +172\.16\.0\.1/31: \{\}\n", ""),
    "leaf: the server's address": (LEAF, r"172\.16\.0\.1/31", "172.16.0.0/31"),
    "leaf: a smaller MTU": (LEAF, r"mtu: 9216", "mtu: 1500"),
    "leaf: no PFC on the port": (LEAF, r" +pfc:\n +profile: ROCE-5M\n", ""),
    "leaf: PFC on another priority": (LEAF, r"switch-priority:\n( +)'3': \{\}", r"switch-priority:\n\1'4': {}"),
    "leaf: ECN of another class": (LEAF, r"'3':\n( +)ecn: enable", r"'4':\n\1ecn: enable"),
    "leaf: weight of the class": (LEAF, r"bw-percent: 60", "bw-percent: 20"),
    "NIC: another address": (HOST, r'addresses: \["172\.16\.0\.0/31"\]', 'addresses: ["172.16.0.2/31"]'),
    "NIC: addresses of planes exchanged": (HOST, r"eth_r0_p0:(.*\n(.*\n)*?)    eth_r0_p1:", r"eth_r0_p1:\1    eth_r0_p0:"),
    "NIC: gateway of the other plane": (HOST, r'via: "172\.16\.0\.1"\}', 'via: "172.20.0.1"}'),
    "NIC: another name": (HOST, r"eth_r0_p0:", "eth_p0_r0:"),
    "NIC: a larger MTU": (HOST, r"mtu: 9000", "mtu: 9600"),
    "NIC: a tagged VLAN": (HOST, r"\Z", "  vlans:\n    eth_r0_p0.900:\n      id: 900\n      link: eth_r0_p0\n"),
    "NIC: no rule for its source": (HOST, r" +routing-policy:\n.*\n", ""),
    "NIC: PFC on priority 4": (ROCE, r"prio-pfc all:off 3:on", "prio-pfc all:off 4:on"),
    "NIC: no PFC": (ROCE, r"prio-pfc all:off 3:on", "prio-pfc all:off"),
    "NIC: DSCP in another priority": (ROCE, r"26:3", "26:0"),
    "NIC: a second DSCP in the class": (ROCE, r"25:0", "25:3"),
    "NIC: DSCP of packets": (ROCE, r"put 106", "put 2"),
    "NIC: CNPs with another DSCP": (ROCE, r"put 48", "put 46"),
    "NIC: CNPs in another priority": (ROCE, r"48:6", "48:0"),
    "NIC: weight of the class": (ROCE, r"0:40 3:60", "0:60 3:40"),
    "NIC: names in the script": (ROCE, r"eth_r0_p0( .*; do\n.*\n  run ip link)", r"eth_p0_r0\1"),
    "NCCL: traffic class": (NCCL, r"NCCL_IB_TC=104", "NCCL_IB_TC=0"),
    "NCCL: one plane": (NCCL, r"roce_r0_p0,roce_r0_p1,", "roce_r0_p0,"),
    "NCCL: names by plane": (NCCL, r"roce_r1_p1", "roce_p1_r1"),
}


@pytest.mark.parametrize("name", IN_FILES)
def test_planted_in_files(name: str, site: tuple[Plan, Path, dict[str, list[Object]]]) -> None:
    _, folder, _ = site
    path, pattern, new = IN_FILES[name]
    file = folder / "generated" / "dc1" / path
    old = file.read_text()
    assert re.search(pattern, old), old
    try:
        file.write_text(re.sub(pattern, new, old, count=1))
        verdict = pipeline.check(Scope(files=(folder / "dc1.yaml",), output=folder / "generated", jobs=1)).verdict
    finally:
        file.write_text(old)
    found = [finding for finding in verdict.findings if finding.severity == "error" and finding.file.endswith(path)]
    assert found, [finding.message for finding in verdict.findings]


def test_the_whole_command(site: tuple[Plan, Path, dict[str, list[Object]]], tmp_path: Path) -> None:
    _, folder, things = site
    scope = Scope(files=(folder / "dc1.yaml",), output=folder / "generated", jobs=1, cluster=written(things, tmp_path))
    verdict = pipeline.check(scope).verdict
    assert [finding for finding in verdict.findings if finding.severity == "error"] == []
    assert {"FAB460", "FAB466"} <= set(verdict.ran)
    assert (
        "FAB460" not in pipeline.check(Scope(files=(folder / "dc1.yaml",), output=folder / "generated", jobs=1)).verdict.ran
    )


def test_planted_are_many() -> None:
    assert len(IN_CLUSTER) + len(IN_FILES) >= 60
