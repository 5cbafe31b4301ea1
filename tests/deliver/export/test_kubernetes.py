"""Kubernetes manifests: nodes as kubectl reads them, and the rules of Kueue's and Volcano's custom resources."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric.base.diagnostics import InputError
from fabric.deliver.export.kubernetes import HOSTNAME, OLDER, kubernetes
from fabric.deliver.export.locality import localities
from fabric.model.plan import SERVER
from tests.deliver.export.plans import DESIGNS, plan
from tests.goldens import golden

# k8s.io/apimachinery validation: a label's value, a label's key, a DNS-1123 subdomain.
VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
KEY = re.compile(rf"{SUBDOMAIN.pattern}/[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?")


@cache
def written(design: str) -> Mapping[str, str]:
    return kubernetes(plan(design))


@cache
def read(design: str, file: str) -> list[dict[str, Any]]:
    return [*yaml.load_all(written(design)[file], getattr(yaml, "CSafeLoader", yaml.SafeLoader))]


@pytest.mark.parametrize("design", DESIGNS)
def test_every_server_is_a_node_with_valid_labels(design: str) -> None:
    nodes = read(design, "nodes.yaml")
    servers = [server.name for locality in localities(plan(design)) for server in locality.servers]
    assert len(nodes) == len(servers) == len({node["metadata"]["name"] for node in nodes})
    for node in nodes:
        assert set(node) == {"apiVersion", "kind", "metadata"}
        assert set(node["metadata"]) == {"name", "labels"}
        assert SUBDOMAIN.fullmatch(node["metadata"]["name"])
        for key, value in node["metadata"]["labels"].items():
            assert KEY.fullmatch(key)
            assert VALUE.fullmatch(value)


@pytest.mark.parametrize("design", DESIGNS)
def test_labels_are_a_hierarchy(design: str) -> None:
    """Servers with the same inner label have the same outer ones."""
    nodes = read(design, "nodes.yaml")
    for inner, outer in pairwise(
        ("fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1", "fabric.topograph.run/tier-2")
    ):
        above: dict[str, set[str | None]] = {}
        for node in nodes:
            labels = node["metadata"]["labels"]
            if inner in labels:
                above.setdefault(labels[inner], set()).add(labels.get(outer))
            assert all(labels[older] == labels[key] for key, older in OLDER.items() if key in labels)
        assert all(len(found) == 1 for found in above.values())


@pytest.mark.parametrize("design", DESIGNS)
def test_kueue_takes_the_topology(design: str) -> None:
    """The rules of topologies.kueue.x-k8s.io v1beta2: 1 to 16 unique levels, the host name last; every node has them all."""
    things = {(thing["kind"], thing["metadata"]["name"]): thing for thing in read(design, "kueue.yaml")}
    nodes = [node["metadata"]["labels"] for node in read(design, "nodes.yaml")]
    taken = 0
    for locality in localities(plan(design)):
        name = locality.fabric.lower()
        levels = [level["nodeLabel"] for level in things["Topology", name]["spec"]["levels"]]
        assert 1 <= len(levels) == len(set(levels)) <= 16
        assert levels[-1] == HOSTNAME
        assert all(KEY.fullmatch(key) and len(key) <= 316 for key in levels)
        flavor = things["ResourceFlavor", name]["spec"]
        assert flavor["topologyName"] == name
        mine = [labels for labels in nodes if flavor["nodeLabels"].items() <= labels.items()]
        assert len(mine) == len(locality.servers)
        assert all(set(levels[:-1]) <= set(labels) for labels in mine)
        taken += len(mine)
    assert taken == len(nodes)


@pytest.mark.parametrize("design", DESIGNS)
def test_volcano_takes_the_hypernodes(design: str) -> None:
    """The rules of topology.volcano.sh/v1alpha1: one selector a member, names exist, each below one other, tiers rise."""
    hypers = {thing["metadata"]["name"]: thing["spec"] for thing in read(design, "volcano.yaml")}
    labels = [node["metadata"]["labels"] for node in read(design, "nodes.yaml")]
    seen: list[str] = []
    selected = 0
    for name, spec in hypers.items():
        assert SUBDOMAIN.fullmatch(name)
        assert spec["members"]
        for member in spec["members"]:
            (how, what), *others = member["selector"].items()
            assert not others
            if member["type"] == "Node":
                assert how == "labelMatch"
                selected += sum(what["matchLabels"].items() <= own.items() for own in labels)
            else:
                assert hypers[what["name"]]["tier"] == spec["tier"] - 1
                seen.append(what["name"])
    assert selected == len(labels)
    assert len(seen) == len(set(seen))
    assert len(set(hypers) - set(seen)) == len(localities(plan(design)))


def test_nvlink_domains_are_the_lowest_level_where_they_lie_inside_a_unit() -> None:
    domain = "accelerator.topograph.run/domain"
    levels = {
        design: [level["nodeLabel"] for level in read(design, "kueue.yaml")[0]["spec"]["levels"]]
        for design in ("nvl72", "nvl72-across", "rails")
    }
    assert levels["nvl72"].index(domain) == len(levels["nvl72"]) - 2
    assert domain not in levels["nvl72-across"] + levels["rails"]
    assert all(domain in node["metadata"]["labels"] for node in read("nvl72-across", "nodes.yaml"))
    assert not any(domain in node["metadata"]["labels"] for node in read("rails", "nodes.yaml"))


def test_capitals_and_underscores_of_a_host_name_go() -> None:
    assert read("names", "nodes.yaml")[0]["metadata"]["name"] == "gpu-1.x"


def test_two_servers_that_would_be_one_node_are_refused() -> None:
    made = plan("one-unit")
    fabric = made.fabrics["f"]
    first = next(device.index for device in fabric.devices if device.role == SERVER)
    names = {first + at: name for at, name in enumerate(("gpu_1", "GPU-1"))}
    devices = tuple(replace(device, name=names.get(device.index, device.name)) for device in fabric.devices)
    with pytest.raises(InputError, match="two servers map to the Kubernetes node 'gpu-1'"):
        kubernetes(replace(made, fabrics={"f": replace(fabric, devices=devices)}))


@pytest.mark.parametrize("design", ["names", "nvl72"])
def test_kubectl_reads_the_nodes(design: str, tmp_path: Path) -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl (kubernetes-client) is not installed")
    file = tmp_path / "nodes.yaml"
    file.write_text(kubernetes(plan(design))["nodes.yaml"])
    command = ["kubectl", "label", "--local", "-f", str(file), "seen=yes", "-o", "json"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    theirs: dict[str, dict[str, str]] = {}
    at = 0
    while at < len(shown):  # one JSON document after another
        node, end = json.JSONDecoder().raw_decode(shown, at)
        theirs[node["metadata"]["name"]] = node["metadata"]["labels"]
        at = end + len(shown[end:]) - len(shown[end:].lstrip())
    ours = {node["metadata"]["name"]: node["metadata"]["labels"] | {"seen": "yes"} for node in read(design, "nodes.yaml")}
    assert theirs == ours


def test_golden() -> None:
    for file, text in kubernetes(plan("gb300-twin-plane")).items():
        if file != "nodes.yaml":
            golden(f"export/kubernetes/{file}", text)
    golden("export/kubernetes/nodes.yaml", kubernetes(plan("ai-sonic"))["nodes.yaml"])
