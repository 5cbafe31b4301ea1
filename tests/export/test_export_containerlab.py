"""The containerlab topology: its published schema, how each kind names interfaces, and every link of the plan."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
import yaml
from export_plans import DESIGNS, ROOT, check_golden, plan
from jsonschema import Draft202012Validator

from fabric.export.containerlab import MANY_NODES, containerlab

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
        "labels": {"type": "object", "additionalProperties": STRING},
        "binds": {"type": "array", "minItems": 1, "uniqueItems": True, "items": STRING},
    },
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
        "kinds": {"type": "object", "propertyNames": {"enum": KINDS}},
        "nodes": {"type": "object", "propertyNames": {"pattern": NAME}, "additionalProperties": NODE},
        "links": {"type": "array", "minItems": 1, "items": LINK},
    },
}
SCHEMA = {
    "type": "object",
    "required": ["name", "topology"],
    "additionalProperties": False,
    "properties": {"name": {"type": "string", "pattern": NAME}, "topology": TOPOLOGY},
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
    boxes = Counter(tuple(end.split(":")[0] for end in link["endpoints"]) for link in lab["topology"]["links"])
    planned: Counter[tuple[str, ...]] = Counter()
    for fabric in made.fabrics.values():
        for a, b in zip(fabric.links.a.tolist(), fabric.links.b.tolist(), strict=True):
            planned[fabric.devices[a].name, fabric.devices[b].name] += 1
    assert boxes == planned


def linux_name(kind: str, interface: str) -> str:
    """The interface in the container: `Ethernet1/3` and `eth3` are one."""
    found = re.fullmatch(r"(?:Ethernet1/|et-0/0/|swp)([0-9]+)", interface)
    if kind == "linux" or found is None:
        return interface
    return f"eth{int(found[1]) + FIRST.get(kind, 0)}"


@pytest.mark.parametrize("site", SITES)
def test_every_file_that_a_node_starts_with_is_generated(site: str) -> None:
    folder = ROOT / "generated" / site
    for name, node in read(site)["topology"]["nodes"].items():
        wanted = [bind.split(":")[0] for bind in node.get("binds", ())] + [node.get("startup-config", "")]
        for path in filter(None, wanted):
            assert path.startswith(f"configs/{name}/")
            assert (folder / path).is_file(), path


def test_ports_of_a_split_cage_are_named_as_eos_names_them() -> None:
    assert "backend-leaf001:eth1_5" in containerlab(plan("ai-eos"))


def test_what_a_kind_cannot_name_is_said() -> None:
    assert "# juniper_cjunosevolved has no names for all these ports" in containerlab(plan("ai-junos"))
    assert "has no names" not in containerlab(plan("ai-eos"))


def test_a_lab_that_is_too_large_says_so() -> None:
    assert f"more than {MANY_NODES}" not in containerlab(plan("lab"))
    assert "nodes are more than one machine runs" in containerlab(plan("rails"))
    assert "nodes are more than one machine runs" not in containerlab(plan("lab"))


def test_golden() -> None:
    check_golden("containerlab/lab.clab.yml", containerlab(plan("lab")))
