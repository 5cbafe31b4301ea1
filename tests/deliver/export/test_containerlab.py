"""The containerlab topology: its published schema, how each kind names interfaces, and every link of the plan."""

from __future__ import annotations

import json
import re
from collections import Counter
from ipaddress import ip_address, ip_network
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from fabric.deliver.export.containerlab import WARN_NODES, containerlab, containerlab_files
from tests.deliver.export.plans import DESIGNS, plan
from tests.examples import folder
from tests.goldens import golden

# The part of schemas/clab.schema.json (srl-labs/containerlab) that is used here, and no key beyond.
NAME = "^[a-zA-Z0-9][a-zA-Z0-9-._]*$"
KINDS = ["linux", "arista_ceos", "sonic-vs", "cisco_n9kv", "juniper_cjunosevolved", "nvidia_cumulusvx"]
STRING = {"type": "string"}
NODE = {
    "type": "object",
    "required": ["kind"],
    "additionalProperties": False,
    "properties": {
        "kind": {"enum": KINDS},
        "image": STRING,
        "group": STRING,
        "startup-config": STRING,
        "mgmt-ipv4": {"type": "string", "format": "ipv4"},
        "labels": {"type": "object", "additionalProperties": STRING},
        "binds": {"type": "array", "minItems": 1, "uniqueItems": True, "items": STRING},
    },
}
KIND = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"image": STRING, "enforce-startup-config": {"type": "boolean"}},
}
MGMT = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"network": STRING, "ipv4-subnet": STRING, "ipv4-gw": STRING, "ipv4-range": STRING},
}
END = {"type": "string", "pattern": r"^\S+:\S+$"}
LINK = {
    "type": "object",
    "required": ["endpoints"],
    "additionalProperties": False,
    "properties": {"endpoints": {"type": "array", "minItems": 2, "maxItems": 2, "uniqueItems": True, "items": END}},
}
TOPOLOGY = {
    "type": "object",
    "required": ["nodes"],
    "additionalProperties": False,
    "properties": {
        "kinds": {"type": "object", "propertyNames": {"enum": KINDS}, "additionalProperties": KIND},
        "nodes": {"type": "object", "propertyNames": {"pattern": NAME}, "additionalProperties": NODE},
        "links": {"type": "array", "minItems": 1, "items": LINK},
    },
}
SCHEMA = {
    "type": "object",
    "required": ["name", "topology"],
    "additionalProperties": False,
    "properties": {"name": {"type": "string", "pattern": NAME}, "mgmt": MGMT, "topology": TOPOLOGY},
}
# CheckInterfaceName of each kind in nodes/: names of the network OS, or ethN from the first data port on.
INTERFACES = {
    "arista_ceos": r"eth[1-9][\w.]*",
    "sonic-vs": r"eth[1-9][0-9]*",
    "cisco_n9kv": r"Ethernet1/[1-9][0-9]*|eth[1-9][0-9]*",
    "juniper_cjunosevolved": r"et-0/0/[0-9]+|eth([4-9]|[1-9][0-9]+)",
    "nvidia_cumulusvx": r"swp[1-9][0-9]*|eth[1-9][0-9]*",
    "linux": r"(?!eth0$)[^/\s]{1,15}",
}
FIRST = {"juniper_cjunosevolved": 4}
SITES = ["ai-sonic", "ai-eos", "ai-nxos", "ai-junos", "ai-cumulus", "ai-frr"]


def read(design: str) -> dict[str, Any]:
    lab: dict[str, Any] = yaml.load(containerlab(plan(design)), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    Draft202012Validator(SCHEMA).validate(lab)
    return lab


@pytest.mark.parametrize("design", [*DESIGNS, *SITES])
def test_every_link_stands_between_names_that_the_kinds_have(design: str) -> None:
    lab, made = read(design), plan(design)
    nodes = lab["topology"]["nodes"]
    assert set(nodes) == {device.name for fabric in made.fabrics.values() for device in fabric.devices}
    ends: Counter[tuple[str, str]] = Counter()
    for link in lab["topology"]["links"]:
        for end in link["endpoints"]:
            node, interface = end.split(":", 1)
            kind = nodes[node]["kind"]
            assert re.fullmatch(INTERFACES[kind], interface), end
            ends[node, linux_name(kind, interface)] += 1
    assert max(ends.values()) == 1
    models = Counter(tuple(end.split(":")[0] for end in link["endpoints"]) for link in lab["topology"]["links"])
    planned: Counter[tuple[str, ...]] = Counter()
    for fabric in made.fabrics.values():
        for a, b in zip(fabric.links.a.tolist(), fabric.links.b.tolist(), strict=True):
            planned[fabric.devices[a].name, fabric.devices[b].name] += 1
    assert models == planned


def linux_name(kind: str, interface: str) -> str:
    """The interface in the container: `Ethernet1/3` and `eth3` are one."""
    found = re.fullmatch(r"(?:Ethernet1/|et-0/0/|swp)([0-9]+)", interface)
    if kind == "linux" or found is None:
        return interface
    return f"eth{int(found[1]) + FIRST.get(kind, 0)}"


@pytest.mark.parametrize("site", SITES)
def test_every_file_that_a_node_starts_with_is_generated(site: str) -> None:
    for name, node in read(site)["topology"]["nodes"].items():
        wanted = [bind.split(":")[0] for bind in node.get("binds", ())] + [node.get("startup-config", "")]
        for path in filter(None, wanted):
            assert path.startswith(f"configs/{name}/")
            assert (folder(site) / path).is_file(), path


def test_ports_of_a_split_cage_are_named_as_eos_names_them() -> None:
    assert "backend-leaf001:eth1_5" in containerlab(plan("ai-eos"))


def test_what_a_kind_cannot_name_is_reported() -> None:
    assert "# juniper_cjunosevolved has no names for all these ports" in containerlab(plan("ai-junos"))
    assert "has no names" not in containerlab(plan("ai-eos"))


@pytest.mark.parametrize("site", SITES)
def test_switches_have_their_planned_management_addresses(site: str) -> None:
    """So that what their files say of management holds: the address, the gateway, who may log in."""
    lab, made = read(site), plan(site)
    net = ip_network(lab["mgmt"]["ipv4-subnet"])
    assert ip_address(lab["mgmt"]["ipv4-gw"]) in net
    given = {name: node["mgmt-ipv4"] for name, node in lab["topology"]["nodes"].items() if "mgmt-ipv4" in node}
    assert {device.name for fabric in made.fabrics.values() for device in fabric.switches} <= given.keys()
    assert len(set(given.values())) == len(given)
    assert all(ip_address(address) in net for address in given.values())
    assert not any(ip_address(address) in ip_network(lab["mgmt"]["ipv4-range"]) for address in given.values())
    for name, address in given.items():
        files = (folder(site) / "configs" / name).glob("*")
        assert any(address in file.read_text(encoding="utf-8") for file in files), name


def test_ports_of_ceos_are_mapped_with_its_management_port() -> None:
    files = containerlab_files(plan("ai-eos"))
    lab = yaml.safe_load(files["ai-eos.clab.yml"])
    Draft202012Validator(SCHEMA).validate(lab)
    plain = yaml.safe_load(containerlab(plan("ai-eos")))
    for link, named in zip(lab["topology"]["links"], plain["topology"]["links"], strict=True):
        for end, own in zip(link["endpoints"], named["endpoints"], strict=True):
            node, interface = end.split(":")
            if lab["topology"]["nodes"][node]["kind"] == "arista_ceos":
                mapping = json.loads(files[f"clab/{node}.json"])
                assert mapping["ManagementIntf"] == {"eth0": "Management1"}
                name = mapping["EthernetIntf"][interface]
                assert own.split(":")[1] == name.replace("Ethernet", "eth").replace("/", "_")
                assert f"clab/{node}.json:/mnt/flash/EosIntfMapping.json:ro" in lab["topology"]["nodes"][node]["binds"]
    assert "Management0" not in files["ai-eos.clab.yml"]


def test_other_sites_need_no_mapping() -> None:
    assert containerlab_files(plan("lab")) == {"lab.clab.yml": containerlab(plan("lab"))}


def test_what_is_left_to_the_user_is_reported() -> None:
    text = containerlab(plan("ai-eos"))
    assert "# Startup configurations refer to ADMIN_PASSWORD_HASH, SNMP_AUTH_KEY, SNMP_PRIV_KEY:" in text
    assert "# arista_ceos: cEOS has Management0 in place of Management1" in text
    assert "# cisco_n9kv: the VM's mgmt0" in containerlab(plan("ai-nxos"))
    assert "# juniper_cjunosevolved: without FXP0ADDRESS" in containerlab(plan("ai-junos"))
    assert "# sonic-vs: files are bound as they are" in containerlab(plan("ai-sonic"))


def test_a_switch_without_a_kind_is_named() -> None:
    text = containerlab(plan("infiniband"))
    assert "# No kind runs InfiniBand: plain Linux without a configuration stands for " in text
    assert "No kind runs" not in containerlab(plan("lab"))


def test_a_lab_that_is_too_large_says_so() -> None:
    assert f"more than {WARN_NODES}" not in containerlab(plan("lab"))
    assert "nodes are more than one machine runs" in containerlab(plan("rails"))
    assert "nodes are more than one machine runs" not in containerlab(plan("lab"))


def test_golden() -> None:
    golden("export/containerlab/lab.clab.yml", containerlab(plan("lab")))
