"""Folders as others keep them: parts named after their device, several versions of a network, files beside configs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from fabric.audit.checks.reports.common import folded
from fabric.audit.checks.run import check_folder
from fabric.nos.reading import scan
from fabric.nos.reading.readers import Kind, recognize

EOS = "hostname {}\nvrf instance red\n"
INTERFACES = "auto lo\niface lo inet loopback\n"
QUAGGA = "log syslog\nrouter bgp 65001\n neighbor swp1 interface remote-as external\n"
NO_READER = "{} config, and there is no reader for this network OS"

# Name → path, text, kind.
TEXTS: Mapping[str, tuple[str, str, Kind]] = {
    "FRR written by hand": (
        "r1",
        "hostname r1\nrouter bgp 1\n address-family evpn\n  exit-address-family\nend\n",
        Kind("frr"),
    ),
    "FRR without its daemons in one file": ("r1", "hostname r1\nno service integrated-vtysh-config\n", Kind("frr")),
    "FRR with tabs": ("r1", "router bgp 1\n\tneighbor swp1 interface peer-group X\n", Kind("frr")),
    "FRR by its name": ("r1-frr.conf", "router ospf\n", Kind("frr")),
    "an empty file, whatever its name": ("frr.conf", "\n", Kind("", "empty")),
    "EOS of another style": ("r1", "switchport default mode routed\ninterface Ethernet1\n", Kind("eos")),
    "IOS XE with BGP": (
        "r1",
        "version 17.15\nservice timestamps log datetime msec\nrouter bgp 1\n neighbor 10.0.0.1 remote-as 2\n"
        " address-family ipv4\n exit-address-family\nline vty\n",
        Kind("", NO_READER.format("IOS XE"), config=True),
    ),
    "IOS of an old router": (
        "r1",
        "boot-start-marker\nrouter bgp 1\n address-family ipv4\n exit-address-family\n",
        Kind("", NO_READER.format("IOS or IOS XE"), config=True),
    ),
    "VyOS, in braces as Junos": (
        "r1",
        'interfaces {\n    ethernet eth1 {\n        mtu "9000"\n    }\n}\nprotocols {\n}\nsystem {\n    host-name "r1"\n}\n',
        Kind("", NO_READER.format("VyOS"), config=True),
    ),
    "NCLU": ("leaf1", "net add bgp autonomous-system 65000\n", Kind("", NO_READER.format("NCLU"), config=True)),
    "VyOS as commands": (
        "fw",
        "set interfaces ethernet eth1 address 10.0.0.1/24\nset system host-name fw\n",
        Kind("", NO_READER.format("VyOS"), config=True),
    ),
    "a list of tasks": (
        "site.yml",
        "- hosts: all\n  tasks:\n    - copy:\n        content: |\n          router bgp 1\n           bgp router-id 1.1.1.1\n",
        Kind("", "YAML or JSON data"),
    ),
    "a topology": ("lab.clab.yml", "name: lab\ntopology:\n  nodes:\n", Kind("", "YAML or JSON data")),
}

# Layout → files, the devices that they make: name, network OS, files.
LAYOUTS: Mapping[str, tuple[Mapping[str, str], list[tuple[str, str, list[str]]]]] = {
    "parts named after their device": (
        {
            "leaf1-frr.conf": QUAGGA,
            "leaf1-interfaces.conf": INTERFACES,
            "leaf2-frr.conf": QUAGGA,
            "leaf2-interfaces": INTERFACES,
        },
        [
            ("leaf1", "frr", ["leaf1-frr.conf", "leaf1-interfaces.conf"]),
            ("leaf2", "frr", ["leaf2-frr.conf", "leaf2-interfaces"]),
        ],
    ),
    "a folder a device, with Quagga": (
        {"leaf01/Quagga.conf": QUAGGA, "leaf01/daemons": "bgpd=yes\n", "leaf01/interfaces": INTERFACES},
        [("leaf01", "frr", ["leaf01/Quagga.conf", "leaf01/daemons", "leaf01/interfaces"])],
    ),
    "what a device was asked": (
        {"leaf1/show_running-config.txt": EOS.replace("hostname {}\n", "")},
        [("leaf1", "eos", ["leaf1/show_running-config.txt"])],
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_reported(name: str) -> None:
    path, text, kind = TEXTS[name]
    assert recognize(path, text) == kind


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_is_understood(layout: str, tmp_path: Path) -> None:
    files, devices = LAYOUTS[layout]
    write(tmp_path, files)
    found = scan(tmp_path)
    assert [
        (device.name, device.nos, [str(Path(path).relative_to(tmp_path)) for path in device.files])
        for device in found.devices
    ] == devices


def test_two_versions_of_a_network_are_two_networks(tmp_path: Path) -> None:
    for version in ("before", "after"):
        write(tmp_path / version, {f"{name}.cfg": EOS.format(name) for name in ("leaf1", "leaf2")})
    found = scan(tmp_path)
    assert found.apart == [str(tmp_path / "after"), str(tmp_path / "before")]
    assert [[facts.name for facts in network] for network in found.sites()] == [["leaf1", "leaf2"], ["leaf1", "leaf2"]]
    assert [str(finding) for finding in check_folder(found).findings if finding.id == "FAB250"] == [
        f"{tmp_path / version}: note[FAB250]: checked as a separate network: the folder has several states of a network\n"
        "    hint: check one folder at a time if both contain configs of the same network"
        for version in ("after", "before")
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"pod1/spine1.cfg": "spine1", "pod1/leaf1.cfg": "leaf1", "pod2/leaf2.cfg": "leaf2", "pod2/copy.cfg": "leaf1"},
        {"leaf1/running.cfg": "leaf1", "leaf1/old/running.cfg": "leaf1", "leaf2/running.cfg": "leaf2"},
    ],
)
def test_one_device_reported_twice_is_no_other_network(files: Mapping[str, str], tmp_path: Path) -> None:
    write(tmp_path, {path: f"! {path}\n{EOS.format(name)}" for path, name in files.items()})
    found = scan(tmp_path)
    assert found.apart == []
    assert [finding.severity for finding in check_folder(found).findings if finding.id == "FAB250"] == ["warning"]


STEP1 = "vrf instance red\ninterface Loopback0\n   ip address 10.255.0.1/32\n"
STEP2 = "router bgp 65001\n   neighbor 10.0.0.0 remote-as 65100\n   neighbor 10.0.0.0 update-source Loopback0\n"
STEP2 += "interface Ethernet1\n   ip address 10.0.0.1/31\n"
SPINE = {f"{step}/spine1.cfg": f"vrf instance red\n! {step}\n" for step in (1, 2)}
PIECE = (
    "set vlans red vlan-id 10\nset interfaces irb unit 10 family inet address 10.9.0.1/24 virtual-gateway-address 10.9.0.9\n"
)

# Folder → files, findings that are no notes.
PARTS: Mapping[str, tuple[Mapping[str, str], list[str]]] = {
    "steps that add to each other": ({"1/leaf1.cfg": STEP1, "2/leaf1.cfg": STEP2} | SPINE, []),
    "the last step alone": (
        {"2/leaf1.cfg": STEP2, "2/spine1.cfg": SPINE["2/spine1.cfg"]},
        ["2/leaf1.cfg:3: error[FAB257]: leaf1: neighbor 10.0.0.0: local address Loopback0 is not configured on this device"],
    ),
    "whole configs, which have host names": (
        {"1/leaf1.cfg": "hostname leaf1\n" + STEP1, "2/leaf1.cfg": "hostname leaf1\n" + STEP2} | SPINE,
        ["2/leaf1.cfg:4: error[FAB257]: leaf1: neighbor 10.0.0.0: local address Loopback0 is not configured on this device"],
    ),
    "pieces beside the config of their device": (
        {
            "BASE_leaf1.cfg": "hostname leaf1\n" + STEP1,
            "EVPN_leaf1.cfg": STEP2,
            "OSPF_leaf1.cfg": STEP2.replace("65001", "65002"),
        },
        [
            f"{one}_leaf1.cfg:{line}: warning[FAB252]: {one}_leaf1: Ethernet1: 10.0.0.1 is also configured on {other}_leaf1 "
            f"Ethernet1 ({other}_leaf1.cfg:5)"
            for one, other, line in (("EVPN", "OSPF", 5), ("OSPF", "EVPN", 5))
        ],
    ),
    "a piece beside the config of another device": (
        {"BASE_leaf2.cfg": "hostname leaf2\n" + STEP1, "EVPN_leaf1.cfg": STEP2},
        [
            "EVPN_leaf1.cfg:3: error[FAB257]: EVPN_leaf1: neighbor 10.0.0.0: local address Loopback0 is not configured on "
            "this device"
        ],
    ),
    "pieces to be added to one device": (
        {"leaf1_add.conf": PIECE, "leaf1_replace.conf": PIECE},
        [
            f"leaf1_{one}.conf:2: warning[FAB252]: leaf1_{one}: irb.10: 10.9.0.1 is also configured on leaf1_{other} irb.10 "
            f"(leaf1_{other}.conf:2)"
            for one, other in (("add", "replace"), ("replace", "add"))
        ],
    ),
}


@pytest.mark.parametrize("folder", PARTS)
def test_what_a_part_lacks_may_be_in_the_rest(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, findings = PARTS[folder]
    monkeypatch.chdir(tmp_path)
    write(tmp_path, files)
    found = check_folder(scan(Path())).findings
    assert [str(one).partition("\n")[0] for one in found if one.severity != "note"] == findings


def test_what_lies_beside_configs_is_only_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"leaf1.cfg": EOS.format("leaf1"), "lab.clab.yml": "name: lab\n", "LICENSE": "MIT\n", "notes": "x\n"})
    assert [
        (finding.file, finding.severity) for finding in check_folder(scan(Path())).findings if finding.id == "FAB291"
    ] == [
        ("LICENSE", "note"),
        ("lab.clab.yml", "note"),
        ("notes", "note"),
    ]


IOS_XR = "!! IOS XR Configuration 7.3\n"
PART = "conf t\nrouter bgp 1\n  router-id 1.1.1.1\n"
OUTPUT = "leaf1# show version\n"

# Layout → files, lines of FAB291 in a report: place, severity, message.
UNREAD: Mapping[str, tuple[Mapping[str, str], list[str]]] = {
    "a config alone has its own line": (
        {"r1/run.cfg": IOS_XR},
        ["r1/run.cfg: warning: not read: IOS XR config, and there is no reader for this network OS"],
    ),
    "a folder of configs": (
        {f"pe/r{n}.cfg": IOS_XR for n in range(1, 9)},
        ["pe: warning: 8 files not read: IOS XR config, and there is no reader for this network OS: r1.cfg, r2.cfg, r3.cfg, "
         "r4.cfg, r5.cfg, r6.cfg and 2 more"],
    ),
    "a folder for each device": (
        {f"pe/r{n}/run.cfg": IOS_XR for n in (1, 2)},
        ["pe: warning: 2 files not read: IOS XR config, and there is no reader for this network OS: r1/run.cfg, r2/run.cfg"],
    ),
    "parts in two folders": (
        {f"{lab}/{name}.txt": PART for lab in ("lab1", "lab2") for name in ("Leaf1", "Leaf2")},
        [
            f"{lab}: warning: 2 files not read: part of a config, too short to tell its network OS: Leaf1.txt, Leaf2.txt"
            for lab in ("lab1", "lab2")
        ],
    ),
    "what is no config is one line, of text and of JSON": (
        {f"show/leaf{n}/{name}": OUTPUT for n in (1, 2) for name in ("show version.txt", "show_version.json")}
        | {"show/leaf1/vars": "---\nasn: 1\n"},
        [
            "show: note: 4 files not read: output of commands, such as show version.txt",
            "show/leaf1/vars: note: not read: YAML or JSON data",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", UNREAD)
def test_unread_files_of_a_folder_are_one_line(layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, lines = UNREAD[layout]
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {**files, "leaf1.cfg": EOS.format("leaf1")})
    found = [finding for finding in check_folder(scan(Path())).findings if finding.id == "FAB291"]
    assert {finding.file for finding in found} == set(files)
    assert [f"{one.file}: {one.severity}: {one.message}" for one in folded(found)] == lines


def write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


CONFLICTS: Mapping[str, tuple[str, int]] = {  # text → first line of the conflict
    "a whole conflict": ("hostname leaf1\n<<<<<<< HEAD\nvlan 10\n=======\nvlan 20\n>>>>>>> theirs\nvrf instance red\n", 2),
    "the last marker alone": ("hostname leaf1\nvrf instance red\nvlan 20\n>>>>>>> theirs\n", 4),
    "CRLF": ("hostname leaf1\r\nvrf instance red\r\n<<<<<<< HEAD\r\nvlan 10\r\n", 3),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_a_merge_conflict_is_one_error(case: str, tmp_path: Path) -> None:
    text, line = CONFLICTS[case]
    (tmp_path / "leaf1.cfg").write_bytes(text.encode())
    found = check_folder(scan(tmp_path)).findings
    assert [(one.severity, one.line) for one in found if one.id == "FAB290"] == [("error", line)]
    assert [one.message for one in found if one.id == "FAB292"] == []


def test_a_conflict_in_json_is_named_as_such(tmp_path: Path) -> None:
    document = (
        '{"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}},\n<<<<<<< HEAD\n"VLAN": {},\n>>>>>>> theirs\n"PORT": {}}\n'
    )
    write(tmp_path, {"leaf1/config_db.json": document})
    found = [one for one in check_folder(scan(tmp_path)).findings if one.id == "FAB290"]
    assert [(one.line, one.message) for one in found] == [(2, "unresolved merge conflict: expected no marker lines of git")]


def test_a_rule_of_equals_signs_in_a_banner_is_no_conflict(tmp_path: Path) -> None:
    write(tmp_path, {"leaf1.cfg": "hostname leaf1\nbanner motd\n=======\nleaf1\n=======\nEOF\nvrf instance red\n"})
    assert [one for one in check_folder(scan(tmp_path)).findings if one.id in ("FAB290", "FAB292")] == []


def test_a_byte_order_mark_is_no_statement(tmp_path: Path) -> None:
    (tmp_path / "leaf1.cfg").write_bytes(b"\xef\xbb\xbfhostname leaf1\nvrf instance red\n")
    folder = scan(tmp_path)
    assert [device.name for device in folder.devices] == ["leaf1"]
    assert [one for one in check_folder(folder).findings if one.id == "FAB292"] == []


def test_what_to_do_with_a_config_in_another_encoding_or_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "leaf1.cfg").write_bytes("hostname leaf1\nsnmp-server location Zürich\n".encode("latin-1"))
    (tmp_path / "leaf2.cfg").write_text("")
    found = [one for one in check_folder(scan(tmp_path)).findings if one.id == "FAB291"]
    assert ["iconv -f latin1" in one.hint for one in found] == [True, False]
    assert ["collect the config" in one.hint for one in found] == [False, True]


@pytest.mark.parametrize(
    ("files", "devices"),
    [
        ({f"r1/{name}.conf": "frr defaults datacenter\nhostname r1\n" for name in ("isisd", "staticd", "zebra")}, ["r1"]),
        ({"r1/interfaces": INTERFACES, "r1/#interfaces#": INTERFACES, "r1/interfaces~": INTERFACES}, ["r1"]),
        ({"hosts/interfaces.h1": INTERFACES, "hosts/interfaces.h2": INTERFACES}, ["h1", "h2"]),
    ],
    ids=["files of single daemons", "copies of an editor", "the device in the ending"],
)
def test_files_of_one_device_are_put_together(tmp_path: Path, files: Mapping[str, str], devices: list[str]) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [device.name for device in scan(tmp_path).devices] == devices
