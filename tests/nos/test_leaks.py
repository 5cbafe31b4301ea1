"""Routes that tenants import of each other by prefix: the files of every network OS that can, read back and changed."""

from __future__ import annotations

import re
from functools import cache
from ipaddress import ip_network
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.audit.checks.site import judge
from fabric.model.facts import Facts
from fabric.model.plan import SwitchView
from fabric.nos.reading import read_device
from fabric.nos.reading.permitted_routes import lets_in

SITE = """\
version: 1
site: dc1
catalog:
  servers:
    node: {gpus: 0, nics: {frontend: {count: 2, speed_gbps: 100}}}
fabrics:
  front:
    purpose: frontend
    nos: NOS
    qos: {enabled: false}
    servers: {model: node, count: 8, per_rack: 4}
    topology:
      switch: 32x100g
      leaf: {uplinks: {count: 2}}
      attachments: [{name: edge, links: 1, external: {asn: 64602, tenants: exit}}]
    overlay: {kind: evpn-vxlan}
    tenants:
      - name: red
        servers: node-0001..0004
        networks: [{name: login, gateway: 10.20.0.0/24}]
        imports: [{from: exit, prefixes: 0.0.0.0/0}, {from: store, prefixes: 10.30.0.0/24}]
      - name: store
        servers: node-0005..0008
        networks: [{name: data, gateway: 10.30.0.0/24}, {name: copies, gateway: 10.31.0.0/24}]
        imports: {from: red, prefixes: 10.20.0.0/24}
      - {name: exit, imports: [{from: red, prefixes: [10.20.0.0/24]}]}
"""
SYSTEMS = ("cumulus", "eos", "frr", "nxos")
OTHERS = ("10.31.0.0/24", "10.30.0.0/23", "10.40.0.0/24", "10.0.0.0/8", "0.0.0.0/1", "192.168.0.0/16")
# Network OS → a line of the file and its replacement, a fault made by hand.
NO_FILTER = {
    "cumulus": (r" +route-map: RM-red-LEAK\n", ""),
    "eos": (r" +route-target import evpn route-map RM-VRF-red-LEAK\n", ""),
    "frr": (r" +import vrf route-map RM-red-LEAK\n", ""),
    "nxos": (r" +import map RM-red-LEAK\n", ""),
}
WIDER = {
    "cumulus": (r"(PL-red-FROM-store:(?:\n.*){5} )10.30.0.0/24", r"\g<1>10.30.0.0/23"),
    "eos": (r"(PL-red-FROM-store\n   seq 10 permit 10.30.0.0)/24", r"\1/23"),
    "frr": (r"(PL-red-FROM-store seq 10 permit 10.30.0.0)/24", r"\1/23"),
    "nxos": (r"(PL-red-FROM-store seq 10 permit 10.30.0.0)/24", r"\1/23"),
}
NO_IMPORT = {
    "cumulus": (r"(from-vrf:\n +list:\n(?: +exit: .*\n)?) +store: .*\n", r"\1"),
    "eos": (r"(vrf red\n(?:.*\n){3}) +route-target import evpn 65000:50002\n", r"\1"),
    "frr": (r" +import vrf vrf-store\n", ""),
    "nxos": (
        r"(vrf context red\n(?:.*\n)+?) +route-target import 65000:50002\n +route-target import 65000:50002 evpn\n",
        r"\1",
    ),
}
ANOTHER = {
    "cumulus": (r"(from-vrf:\n +list:\n +)(red: \{\})", r"\1exit: {}\n                      \2"),
    "eos": (
        r"(vrf store\n(?:.*\n)+? +)(route-target import evpn 65000:50001)",
        r"\1\2\n      route-target import evpn 65000:50003",
    ),
    "frr": (r"(route-map RM-store-LEAK\n +import vrf )vrf-red", r"\1vrf-red\n  import vrf vrf-exit"),
    "nxos": (
        r"(vrf context store\n(?:.*\n)+? +)(route-target import 65000:50001\n)",
        r"\1\2    route-target import 65000:50003\n",
    ),
}


@cache
def rendered(folder: Path, nos: str) -> list[tuple[SwitchView, dict[str, str]]]:
    """Every leaf, and its files."""
    file = folder / f"{nos}.yaml"
    file.write_text(SITE.replace("NOS", nos))
    intent = pipeline.load(file)
    renderer = pipeline.render(pipeline.plan(intent), intent)
    found = []
    for job in renderer.jobs(lambda name: "leaf" in name):
        view = renderer.views[job.fabric].of(job.device)
        found.append((view, {path.rpartition("/")[2]: data.decode() for path, data in renderer.files(job)}))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("leaks")


def read(view: SwitchView, files: dict[str, str]) -> Facts:
    return read_device(view.device.name, view.device.nos, files)


def changed(files: dict[str, str], pattern: str, to: str) -> dict[str, str]:
    found = {name: re.sub(pattern, to, text) for name, text in files.items()}
    assert found != files
    return found


def messages(view: SwitchView, files: dict[str, str]) -> list[str]:
    facts = read(view, files)
    return [finding.message for finding in judge(view, facts, facts.texts) if finding.severity != "note"]


@pytest.mark.parametrize("nos", SYSTEMS)
def test_tables_let_in_what_is_stated_and_no_more(folder: Path, nos: str) -> None:
    for view, files in rendered(folder, nos):
        facts = read(view, files)
        assert messages(view, files) == []
        assert facts.unread == []
        names = {vrf.name.removeprefix("vrf-"): vrf for vrf in facts.vrfs.values()}
        assert {"red", "store", "exit"} <= set(names)  # a leaf that imports from a table has that table
        entering = {"red": ["0.0.0.0/0", "10.30.0.0/24"], "store": ["10.20.0.0/24"], "exit": ["10.20.0.0/24"]}
        own = {"red": ["10.20.0.0/24"], "store": ["10.30.0.0/24", "10.31.0.0/24"], "exit": ["0.0.0.0/0"]}
        for name, right in entering.items():
            policy = names[name].leak_filter
            assert policy is not None
            asked = ["0.0.0.0/0", "10.20.0.0/24", "10.30.0.0/24", *OTHERS]
            passing = {text for text in asked if lets_in(facts, policy.value, ip_network(text))}
            by_target = not names[name].leaks  # then the policy is asked about the tenant's own routes too
            assert passing == {*right, *(own[name] if by_target else ())}


@pytest.mark.parametrize("nos", SYSTEMS)
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (NO_FILTER, "routes imported from other VRFs: expected"),
        (WIDER, "entries: expected 10.30.0.0/24 le 32, got 10.30.0.0/23 le 32"),
        (NO_IMPORT, "expected"),
        (ANOTHER, "expected none, got"),
    ],
    ids=["no filter", "wider", "no import", "another"],
)
def test_a_changed_leak_is_found(folder: Path, nos: str, fault: dict[str, tuple[str, str]], words: str) -> None:
    view, files = rendered(folder, nos)[0]
    found = messages(view, changed(files, *fault[nos]))
    assert found, fault[nos]
    assert all(words in message for message in found), found
