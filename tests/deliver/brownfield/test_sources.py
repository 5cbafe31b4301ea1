"""Topology files and workbooks; and what is hostile or broken is refused with its place, and nothing is written."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl  # type: ignore[import-untyped]
import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.deliver.brownfield.sources import combined as sources
from fabric.deliver.brownfield.sources.combined import ImportRequest, surveyed
from fabric.deliver.brownfield.sources.topology import Wire, wires_of
from fabric.deliver.brownfield.sources.workbook import read_workbook
from tests.cli.conftest import Run, run as run

WIRES: list[Wire] = [("leaf1", "swp1", "spine1", "swp3"), ("leaf2", "swp1", "spine1", "swp4")]
AIR = {
    "content": {
        "links": [[{"node": a, "interface": p}, {"node": b, "interface": q}] for a, p, b, q in WIRES] + ["unconnected"]
    }
}
BATFISH = {
    "edges": [
        {"node1": {"hostname": a, "interfaceName": p}, "node2": {"hostname": b, "interfaceName": q}} for a, p, b, q in WIRES
    ]
}
TOPOLOGIES = {
    "air.json": json.dumps(AIR),
    "layer1_topology.json": json.dumps(BATFISH),
    "net.dot": 'graph x {\n "leaf1" [os="x"]\n "leaf1":"swp1" -- "spine1":"swp3" [a="b"]\n # "x":"1" -- "y":"2"\n'
    'leaf2:swp1 -- "spine1":"swp4"\n}\n',
    "lab.clab.yml": "topology:\n  links:\n    - endpoints: [leaf1:swp1, spine1:swp3]\n"
    "    - endpoints: [{node: leaf2, interface: swp1}, {node: spine1, interface: swp4}]\n",
    "links.csv": "Type,Node,Node Interface,Peer Type,Peer Node,Peer Interface\nleaf,leaf1,swp1,spine,spine1,swp3\n"
    "leaf,leaf2,swp1,spine,spine1,swp4\n",
    "generated.csv": "fabric,a,a_port,b,b_port,a_port_name,b_port_name\nf,leaf1,1,spine1,3,swp1,swp3\n"
    "f,leaf2,1,spine1,4,swp1,swp4\n",
    "cabling.csv": "a_device,a_port,a_port_name,b_device,b_port,b_port_name\nleaf1,1,swp1,spine1,3,swp3\n"
    "leaf2,swp1,,spine1,4,swp4\n",
}


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_topology_files_list_the_same_cables(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(TOPOLOGIES[name], encoding="utf-8")
    assert wires_of([path]) == WIRES


@pytest.mark.parametrize(
    ("a", "b", "links"),
    [
        ("swp57s0-swp57s1", "swp9s2-swp9s3", [("swp57s0", "swp9s2"), ("swp57s1", "swp9s3")]),
        ("Ethernet1/57/1-2", "et-0/0/4:0-et-0/0/4:1", [("Ethernet1/57/1", "et-0/0/4:0"), ("Ethernet1/57/2", "et-0/0/4:1")]),
        ("swp1s0-swp1s1", "eth-1", [("swp1s0-swp1s1", "eth-1")]),
    ],
)
def test_a_cable_of_several_links(a: str, b: str, links: list[tuple[str, str]], tmp_path: Path) -> None:
    path = tmp_path / "cables.csv"
    path.write_text(f"a_device,a_port_name,b_device,b_port_name\nleaf1,{a},leaf2,{b}\n", encoding="utf-8")
    assert wires_of([path]) == [("leaf1", first, "leaf2", second) for first, second in links]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("cut.json", '{"edges": [{"node1": ', ":1:1: error[FAB009]: cannot be read: Expecting value"),
        ("cut.yml", "topology:\n  links: [a\n", ":3:1: error[FAB009]: cannot be read: "),
        ("empty.dot", "graph x {}\n", ": error[FAB009]: expected cables between ports, got none"),
        ("other.csv", "a,b\n1,2\n", "expected columns with the devices and ports of both ends, got a, b"),
        ("deep.json", "[" * 100_000, "error[FAB009]"),
        (
            "code.yml",
            "!!python/object/apply:os.system [ls]\n",
            "error[FAB009]: cannot be read: could not determine a constructor",
        ),
    ],
)
def test_a_broken_topology_file_is_refused_with_its_place(name: str, text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        wires_of([path])
    assert expected in str(raised.value.diagnostics[0])


# --- workbooks ------------------------------------------------------------------------------------------------


def book(path: Path, **changes: Callable[[list[list[object]]], None]) -> Path:
    """A workbook with two switches and two servers; `changes` edit the rows of a sheet."""
    sheets: dict[str, list[list[object]]] = {
        "Settings": [
            ["Setting", "Value"],
            ["GENERAL", ""],
            ["site_name", "east"],
            ["bgp_asn", 4260394788],
            ["ntp_servers", "192.0.2.1"],
        ],
        "Nodes": [
            ["Function", "Name", "Type", "MAC Address for ZTP", "Mgmt IP Address", "Prefix", "Gateway", "ZTP", "Enabled"],
            ["core-01", "", "switch", "", "192.168.200.5", 24, "192.168.200.1", "Yes", "Yes"],
            ["core-02", "spine02", "", "", "192.168.200.6", 24, "", "Yes", ""],
            ["su-01-node-01", "", "node", "", "192.168.200.201", 24, "", "No", ""],
            ["su-01-node-02", "", "node", "", "192.168.200.202", 24, "", "No", "No"],
        ],
        "VLANs & Profiles": [
            ["VLANs"],
            ["VLAN ID", "Name", "Purpose", "Subnet", "Gateway", "VRF", "VNI"],
            [300, "cpu", "", "172.16.178.0/24", "172.16.178.1", "INBAND", ""],
            [900, "gpu", "", "192.168.110.0/24", "192.168.110.1", "GPU", 4901],
            [],
            ["VRFs"],
            ["VRF Name", "Description", "L3 VNI", "VLAN"],
            ["INBAND", "", 5002, 3002],
            ["GPU", "", 5003, 3003],
            [],
            ["Port Profiles"],
            ["Profile", "Port Mode", "Native/Access VLAN", "Allowed VLANs", "Untagged VLAN", "VRF", "LACP Bypass", "Speed"],
            ["GPU Network", "Access", 900, "", "", "", "", "400G"],
            ["ISL", "L3", "", "", "", "", "", "400G"],
        ],
        "Wire Map": [
            ["Display in Air", "System Name (A)", "Port (A)", "System Name (B)", "Port (B)", "Network Profile"],
            ["Yes", "su-01-node-01", "eth1", "core-01", "swp1s0", "GPU Network"],
            ["Yes", "su-01-node-01", "eth2", "spine02", "swp1s0", "GPU Network"],
            ["Yes", "core-01", "swp33s0", "spine02", "swp33s0", "ISL"],
            ["Yes", "su-01-node-02", "eth1", "core-01", "swp1s1", "GPU Network"],
            ["Yes", "core-01", "swp64", "spine02", "swp64", "Disabled by Neighbor"],
            ["Yes", "su-01-node-01", "eth0", "core-01", "swp50", "Air - Management"],
        ],
        "Loopbacks": [["Switch", "Default", "GPU"], ["core-01", "172.16.176.11", ""], ["spine02", "172.16.176.12/32", ""]],
    }
    for title, change in changes.items():
        change(sheets[title.replace("_", " ")])
    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, rows in sheets.items():
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def test_a_workbook_is_read_as_facts(tmp_path: Path) -> None:
    found = read_workbook(book(tmp_path / "site.xlsx"))
    assert found.site == "east"
    core, other = found.devices
    assert (core.name, other.name) == ("core-01", "spine02")
    assert core.bgp[""].asn is not None
    assert core.bgp[""].asn.value == 4260394788
    assert [at.value for at in core.interfaces["lo"].addresses] == ["172.16.176.11/32"]
    assert [at.value for at in core.interfaces["eth0"].addresses] == ["192.168.200.5/24"]
    assert {number: vni.vlan.value for number, vni in core.vnis.items() if vni.vlan} == {4300: 300, 4901: 900}
    assert {name: vrf.vni.value for name, vrf in core.vrfs.items() if vrf.vni} == {"INBAND": 5002, "GPU": 5003}
    gateways = {name: [at.value for at in its.gateways] for name, its in core.interfaces.items() if its.gateways}
    assert gateways == {"vlan300": ["172.16.178.1/24"], "vlan900": ["192.168.110.1/24"]}
    port = core.interfaces["swp1s0"]
    assert (port.access and port.access.value, port.speed_gbps and port.speed_gbps.value) == (900, 400)
    assert list(found.wires) == [
        ("su-01-node-01", "eth1", "core-01", "swp1s0"),
        ("su-01-node-01", "eth2", "spine02", "swp1s0"),
        ("core-01", "swp33s0", "spine02", "swp33s0"),
    ]


def test_a_workbook_becomes_a_survey(tmp_path: Path) -> None:
    path = book(tmp_path / "site.xlsx")
    survey = surveyed(ImportRequest(sources=(path,), output=tmp_path / "x.yaml", site="x")).survey
    assert sorted(survey.switches) == ["core-01", "spine02"]
    assert list(survey.hosts) == ["su-01-node-01"]
    assert len(survey.cables) == 3


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"Nodes": lambda rows: rows.append(["core-09", "core-01"])}, "sheet 'Nodes', row 6: name core-01 is also in row 2"),
        ({"Nodes": lambda rows: rows.append(["x", "../../etc"])}, "sheet 'Nodes', row 6: expected a name of letters"),
        (
            {"Wire_Map": lambda rows: rows.append(["", "spine02", "swp9", "core-01", "swp1s0", "ISL"])},
            "row 8: port swp1s0 of core-01",
        ),
        (
            {"Loopbacks": lambda rows: rows.append(["core-01", "10.1"])},
            "sheet 'Loopbacks', row 4: expected an address, got '10.1/32'",
        ),
        ({"Nodes": lambda rows: rows.__delitem__(slice(1, 3))}, "sheet 'Nodes': expected switches, got none"),
    ],
)
def test_a_mistake_in_a_workbook_has_its_sheet_and_row(
    changes: dict[str, Callable[[list[list[object]]], None]], expected: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as raised:
        read_workbook(book(tmp_path / "site.xlsx", **changes))
    assert any(expected in str(one) for one in raised.value.diagnostics), raised.value.diagnostics


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", "<a>" + " " * 40_000_000)


def billion_laughs(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')


def many_parts(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(1_001):
            archive.writestr(f"xl/{number}.xml", "")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (bomb, "sheet1.xml: unpacks to more than 200 times its size"),
        (billion_laughs, "xl/workbook.xml: expected XML without a document type"),
        (many_parts, "expected at most 1,000 parts, got 1,001"),
        (lambda path: path.write_bytes(b"no zip"), "cannot be read: File is not a zip file"),
        (lambda path: path.write_bytes(b"PK\x03\x04" + b"\0" * 60), "cannot be read"),
        (lambda path: path.mkdir(), "expected a regular file"),
        (lambda path: None, "no such file"),
    ],
)
def test_a_hostile_workbook_is_refused(make: Callable[[Path], object], expected: str, tmp_path: Path) -> None:
    path = tmp_path / "site.xlsx"
    make(path)
    with pytest.raises(InputError) as raised:
        read_workbook(path)
    assert expected in str(raised.value.diagnostics[0])


# --- folders --------------------------------------------------------------------------------------------------

LEAF = "hostname leaf1\n!\ninterface Ethernet1/1\n   no switchport\n   ip address 10.0.0.1/31\n!\nrouter bgp 65001\n!\nend\n"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("files", "code", "expected"),
    [
        ({"notes.md": "hello"}, 2, "expected configs of switches, got 1 file"),
        (
            {"a/leaf1.cfg": LEAF, "b/leaf1.cfg": LEAF.replace("65001", "65002")},
            2,
            "error[FAB250]: leaf1: duplicate host name",
        ),
        (
            {"leaf1/config_db.json": '{"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}}, "PORT": {'},
            2,
            "error[FAB290]: leaf1: ",
        ),
        ({}, 2, "expected configs of switches, got a folder without files"),
    ],
)
def test_a_folder_that_is_no_network_is_refused(
    files: dict[str, str], code: int, expected: str, tmp_path: Path, run: Run
) -> None:
    (tmp_path / "configs").mkdir()
    write(tmp_path / "configs", files)
    done = run("import configs -o intent/x.yaml")
    assert done.code == code, done.err
    assert expected in done.out + done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["configs"]


def test_more_than_can_be_read_is_refused(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "configs", {f"leaf{number}.cfg": LEAF for number in range(5)})
    monkeypatch.setattr(sources, "MAX_FOLDER_BYTES", 4 * len(LEAF))
    done = run("import configs -o x.yaml")
    assert done.code == 2
    assert "error[FAB002]: expected at most 0 MB of files, got more at configs/leaf4.cfg" in done.err
    assert not (tmp_path / "x.yaml").exists()


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path, run: Run) -> None:
    write(tmp_path, {"outside/leaf1.cfg": LEAF})
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "leaf1.cfg").symlink_to(tmp_path / "outside" / "leaf1.cfg")
    done = run("import configs -o x.yaml")
    assert done.code == 2
    assert "a symlink that leads out of the folder" in done.err


def test_both_a_workbook_and_configs(tmp_path: Path, run: Run) -> None:
    write(tmp_path / "configs", {"leaf1.cfg": LEAF})
    book(tmp_path / "site.xlsx")
    done = run("import configs site.xlsx -o x.yaml")
    assert done.code == 2
    assert "`fabric import configs --topology site.xlsx` takes its cables" in done.err


def test_an_unknown_model(run: Run, tmp_path: Path) -> None:
    done = run("import configs -o x.yaml --model leaf*=sn56000")
    assert (done.code, "--model: error[FAB102]: expected a switch model of the catalog, got 'sn56000'" in done.err) == (
        2,
        True,
    )
    assert "did you mean 'sn5600'?" in done.err


def test_an_import_goes_over_no_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("mine\n", encoding="utf-8")
    done = run("import configs -o x.yaml")
    assert (done.code, "x.yaml: error[FAB001]: expected no file, got one" in done.err) == (2, True)
    assert (tmp_path / "x.yaml").read_text(encoding="utf-8") == "mine\n"


def test_the_verb_is_public() -> None:
    assert "import_site" in pipeline.__all__
