"""The tables beside a site's configs: they name what the switches have, and nothing that no switch has."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.configs.hosts import host_files
from fabric.configs.site_files import LINK_COLUMNS, _ipv6, links_csv, sessions_csv, site_files, upper_ends
from fabric.design.explain.counts import sessions
from fabric.model.plan import Plan
from tests import ROOT

OLD = "fabric,kind,speed_gbps,length_m,a,a_port,b,b_port,a_address,b_address\n"
ALL = sorted(path.stem for path in (ROOT / "intent").glob("ai-*.yaml"))
Row = dict[str, str]

LITE = """\
version: 1
site: dc1
fabrics:
  backend:
    nos: frr
    servers: {model: dgx-h100, count: 8, name: gpu}
    topology:
      switch: sn5600
      rails: 2
      unit: {servers: 4}
      leaf: {uplinks: {count: 2}}
      attachments:
        - {name: wan, links: 2, external: {asn: 65010, tenants: [red]}}
        - {name: filer, links: 1, tenant: blue}
    overlay: {isolation: vrf-lite}
    tenants:
      - {name: red, servers: gpu-0001..0004}
      - {name: blue, servers: gpu-0006..0008}
"""
INFINIBAND = """\
version: 1
site: dc1
fabrics:
  backend: {servers: {model: dgx-h100, count: 64}, topology: {switch: qm9700, unit: {servers: 32}}}
"""
TAGGED = """\
version: 1
site: dc1
fabrics:
  frontend:
    purpose: frontend
    nos: frr
    servers: {model: dgx-h100, count: 4, name: gpu}
    topology: {switch: sn5600, leaf: {uplinks: {count: 2}}}
    overlay: {kind: evpn-vxlan}
    tenants:
      - name: red
        networks:
          - {name: web, vlan: 300, gateway: 10.30.0.0/24}
          - {name: bare, vlan: 200}
          - {name: data, vlan: 100, gateway: 10.10.0.0/24}
"""


def plan(folder: Path, text: str) -> Plan:
    path = folder / "dc1.yaml"
    path.write_text(text, encoding="utf-8")
    return pipeline.plan(pipeline.load(path))


def rows(text: str) -> list[Row]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("name", ALL)
def test_every_address_and_port_name_is_on_its_switch(name: str) -> None:
    """Both ends of every link and session, looked up in the files of the switch and of the server."""
    intent = pipeline.load(ROOT / "intent" / f"{name}.yaml")
    made = pipeline.plan(intent)
    renderer = pipeline.render(made, intent)
    text: dict[str, str] = {}
    files = [file for job in renderer.jobs(lambda _: True) for file in renderer.files(job)]
    for path, data in [*files, *host_files(made, lambda _: True)]:
        device = path.split("/")[1]
        text[device] = text.get(device, "") + data.decode()
    words = {device: {word.rstrip(":") for word in re.findall(r"[\w./:-]+", found)} for device, found in text.items()}

    def has(device: str, word: str) -> bool:
        return any(spelled in words[device] for spelled in (word, f"{word}/31", f"{word}/24", f"{word}/127"))

    links = rows(links_csv(made))
    assert links
    for row in links:
        for end in "ab":
            if row[end] in text:
                assert all(has(row[end], word) for word in row[f"{end}_address"].split()), row
                assert row[f"{end}_port_name"] in text[row[end]], row
    found = rows(sessions_csv(made))
    assert found
    for row in found:
        assert has(row["device"], row["address"]), row
        assert has(row["device"], row["peer_address"]), row
        assert row["interface"].partition(".")[0] in text[row["device"]], row


def test_a_bond_has_the_servers_address_and_no_subnet() -> None:
    made = pipeline.plan(pipeline.load(ROOT / "intent" / "ai-sonic.yaml"))
    bonded = [row for row in rows(links_csv(made)) if row["a"] == "gpu-0001" and row["fabric"] == "frontend"]
    assert [(row["a_address"], row["b_address"], row["tenant"], row["vlan"], row["bond"]) for row in bonded] == [
        ("10.20.0.2", "", "red", "100", "1"),
        ("10.20.0.2", "", "red", "100", "1"),
    ]
    assert [(row["a_port_name"], row["b_port_name"]) for row in bonded] == [
        ("frontend1p1", "Ethernet0"),
        ("frontend1p2", "Ethernet0"),
    ]


def test_several_networks_come_by_vlan(tmp_path: Path) -> None:
    row = rows(links_csv(plan(tmp_path, TAGGED)))[0]
    assert (row["a_address"], row["b_address"], row["vlan"]) == ("10.10.0.2 10.30.0.2", "", "100 200 300")


def test_infiniband_has_neither_addresses_nor_port_names_of_switches(tmp_path: Path) -> None:
    made = plan(tmp_path, INFINIBAND)
    found = rows(links_csv(made))
    assert {(row["a_address"], row["b_address"], row["b_port_name"]) for row in found} == {("", "", "")}
    assert found[0]["a_port_name"] == "compute1"
    assert sessions_csv(made) == ""
    assert "sessions.csv" not in dict(site_files(made))


def test_a_slice_has_two_ends_that_agree(tmp_path: Path) -> None:
    made = plan(tmp_path, LITE)
    found = rows(sessions_csv(made))
    lite = [row for row in found if row["kind"] == "vrf-lite"]
    ends = {(row["device"], row["interface"], row["address"].partition("/")[0], row["asn"], row["vrf"]) for row in lite}
    fars = {(row["peer"], row["peer_interface"], row["peer_address"], row["peer_asn"], row["vrf"]) for row in lite}
    assert ends == fars
    assert len(ends) == len(lite)
    counted = sessions(made.fabrics["backend"])
    assert len(lite) == 2 * counted.of_tenants
    assert len(found) - len(lite) == counted.to_outside == 2


def test_a_external_connection_says_all_that_the_router_must_know(tmp_path: Path) -> None:
    made = plan(tmp_path, LITE)
    out = next(row for row in rows(sessions_csv(made)) if row["kind"] == "external")
    assert (out["device"], out["vrf"], out["vlan"]) == ("backend-leaf001", "red", "11")
    assert re.fullmatch(r"swp\d+(s\d)?\.11", out["interface"])
    assert out["address"].endswith("/31")
    assert (out["asn"], out["peer"], out["peer_asn"]) == ("4200000001", "wan", "65010")
    assert (out["prefixes_in"], out["prefixes_out"]) == ("0.0.0.0/0", "10.128.0.0/9 le 31")
    link = next(row for row in rows(links_csv(made)) if row["a"] == "wan")
    assert (link["a_address"], link["b_address"], link["tenant"], link["vlan"]) == ("", "", "red", "11")
    assert out["interface"] == f"{link['b_port_name']}.11"
    filer = next(row for row in rows(links_csv(made)) if row["a"] == "filer")
    assert (filer["tenant"], filer["vlan"], filer["a_port_name"]) == ("blue", "", "")
    assert filer["a_address"]


def test_upper_ends_reads_tables_old_and_new(tmp_path: Path) -> None:
    made = plan(tmp_path, LITE)
    new = links_csv(made)
    assert new.startswith(OLD[:-1] + ",a_port_name,b_port_name,tenant,vlan,bond\n")
    old = OLD + "".join(",".join(line[:10]) + "\n" for line in list(csv.reader(io.StringIO(new)))[1:])
    assert upper_ends(old) == upper_ends(new)
    assert len(upper_ends(new)) == len(made.fabrics["backend"].links)


@pytest.mark.parametrize("text", ["", "\n", "a,b\n1,2\n", OLD + "backend,x\n", json.dumps({"fabric": 1})])
def test_what_is_no_table_of_links_has_no_ends(text: str) -> None:
    assert upper_ends(text) == {}


def test_old_columns_keep_their_places() -> None:
    assert ",".join(LINK_COLUMNS[:10]) + "\n" == OLD


@pytest.mark.parametrize(
    ("number", "text"),
    [(0xFD00 << 112, "fd00::"), ((0xFD00 << 112) + 1, "fd00::1"), (1, "::1"), (0xFFFF0A000001, "::ffff:a00:1")],
)
def test_ipv6_is_spelled_as_everywhere(number: int, text: str) -> None:
    assert _ipv6(number) == text
