"""What runs beside forwarding, names, and what could not be read: judged one device at a time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from fabric.audit.checks.files.reading import NO_CONFIG
from fabric.audit.checks.run import check_folder
from fabric.nos.reading import scan
from tests.audit.checks.files.helpers import SMALL, Case, but, in_full

ODD = "".join(f"frobnicate {n}\n" for n in range(1, 8))

CASES: Mapping[tuple[str, str], Case] = {
    ("FAB250", "small"): (SMALL, []),
    ("FAB250", "two of one name"): (
        but(SMALL, {"leaf2.nxos": {"hostname leaf2": "hostname LEAF1"}}),
        [
            "leaf2.nxos:1: warning[FAB250]: LEAF1: host name leaf1 is in the configs of 2 devices, the first leaf1.eos"
            "\n    hint: give each device a name of its own; check alternatives for one device in separate runs",
        ],
    ),
    ("FAB2514", "small"): (SMALL, []),
    ("FAB2514", "at the console, over SSH, from everywhere"): (
        {
            "leaf1.eos": "hostname leaf1\nusername admin nopassword\n",
            "leaf2.nxos": "hostname leaf2\naaa authentication login default none\n",
            "spine1.junos": "set system services ssh root-login allow\n",
        },
        [
            "leaf1.eos:2: warning[FAB2514]: leaf1: user admin needs no password at the console",
            "leaf2.nxos:2: error[FAB2514]: leaf2: logins are not authenticated (default)",
            "spine1.junos:1: warning[FAB2514]: spine1: root may log in over SSH with a password",
        ],
    ),
    ("FAB281", "small"): (SMALL, []),
    ("FAB281", "filters that are defined nowhere, reported once"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"maximum-routes 1000\n": "maximum-routes 1000\n   neighbor 10.0.0.0 route-map RM-IN in\n"},
                "leaf2.nxos": {
                    "    address-family ipv4 unicast\n": "    address-family ipv4 unicast\n      prefix-list PL in\n"
                },
                "spine1.junos": {"type external": "type external\nset protocols bgp group LEAVES import ACCEPT"},
            },
        ),
        [
            "leaf1.eos:24: error[FAB281]: leaf1: route-map RM-IN is used, but not defined",
            "leaf2.nxos:26: error[FAB281]: leaf2: prefix-list PL is used, but not defined",
            "spine1.junos:19: error[FAB281]: spine1: policy-statement ACCEPT is used, but not defined",
        ],
    ),
    ("FAB283", "small"): (SMALL, []),
    ("FAB283", "none, and one"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"ntp server 192.0.2.10\nntp server 192.0.2.11\nlogging host 192.0.2.20\n": ""},
                "leaf2.nxos": {"logging server 192.0.2.20 6 use-vrf management\n": ""},
                "spine1.junos": {"set system ntp server 192.0.2.11\n": ""},
            },
        ),
        [
            "leaf1.eos: note[FAB283]: leaf1: no NTP server",
            "spine1.junos: note[FAB283]: spine1: only one NTP server",
            "leaf1.eos: note[FAB283]: leaf1: no syslog server on this device and 1 other device",
        ],
    ),
    ("FAB284", "nothing is known"): (SMALL, []),
    ("FAB284", "off"): (
        but(SMALL, {"leaf2.nxos": {"feature bgp\n": "feature bgp\nno copp profile\n"}}),
        [
            "leaf2.nxos:3: warning[FAB284]: leaf2: control-plane protection is disabled",
        ],
    ),
    ("FAB285", "small"): (SMALL, []),
    ("FAB285", "doors of three vendors"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"vrf instance MGMT\n": "vrf instance MGMT\nmanagement telnet\n   no shutdown\n"},
                "leaf2.nxos": {"feature bgp\n": "feature bgp\nfeature telnet\nsnmp-server community public ro\n"},
                "spine1.junos": {"set protocols lldp": "set system services telnet\nset protocols lldp"},
            },
        ),
        [
            "leaf1.eos:7: error[FAB285]: leaf1: clear-text service: telnet",
            "leaf2.nxos:3: error[FAB285]: leaf2: clear-text service: telnet",
            "leaf2.nxos:4: error[FAB285]: leaf2: clear-text service: SNMP community (read-only)",
            "spine1.junos:23: error[FAB285]: spine1: clear-text service: telnet",
        ],
    ),
    ("FAB286", "references are no secrets"): (
        but(SMALL, {"leaf1.eos": {"vrf instance MGMT\n": "vrf instance MGMT\nusername admin secret sha512 ${ADMIN_HASH}\n"}}),
        [],
    ),
    ("FAB286", "secrets of three vendors, never shown"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"maximum-routes 1000\n": "maximum-routes 1000\n   neighbor 10.0.0.0 password 7 hush\n"},
                "leaf2.nxos": {"feature bgp\n": "feature bgp\nusername admin password 5 hush role network-admin\n"},
                "spine1.junos": {
                    "set protocols lldp": 'set system root-authentication encrypted-password "hush"\nset protocols lldp'
                },
            },
        ),
        [
            "leaf1.eos:24: warning[FAB286]: leaf1: BGP password of 10.0.0.0 is stored in reversible form",
            "leaf2.nxos:3: note[FAB286]: leaf2: password of user admin is stored as a salted hash",
            "spine1.junos:23: note[FAB286]: spine1: password of root is stored as a salted hash",
        ],
    ),
    ("FAB286", "by form and use; what FAB285 reports is not repeated"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"vrf instance MGMT\n": "vrf instance MGMT\nusername admin secret 0 hush\n"},
                "leaf2.nxos": {"feature bgp\n": "feature bgp\nsnmp-server community hush ro\nradius-server key hush\n"},
                "spine1.junos": {
                    "set protocols lldp": 'set system radius-server 192.0.2.1 secret "$8$hush"\n'
                    'set system radius-server 192.0.2.2 secret "secret"\nset protocols lldp'
                },
            },
        ),
        [
            "leaf1.eos:6: error[FAB286]: leaf1: password of user admin is stored in clear text",
            "leaf2.nxos:4: warning[FAB286]: leaf2: key of radius-server is stored in clear text",
            "spine1.junos:23: note[FAB286]: spine1: RADIUS secret of 192.0.2.1 is stored encrypted with a key that is not in "
            "the file",
        ],
    ),
    ("FAB287", "small"): (SMALL, []),
    ("FAB287", "off"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"hostname leaf1\n": "hostname leaf1\nno lldp run\n"},
                "leaf2.nxos": {"feature bgp\n": "feature bgp\nno feature lldp\n"},
            },
        ),
        [
            "leaf1.eos:2: note[FAB287]: leaf1: LLDP is disabled",
            "leaf2.nxos:3: note[FAB287]: leaf2: LLDP is disabled",
        ],
    ),
    ("FAB290", "small"): (SMALL, []),
    ("FAB290", "cut off"): (
        {"leaf1.sonic": '{\n  "PORT": {\n', "spine1.junos": "interfaces {\n    et-0/0/1 {\n"},
        [
            "leaf1.sonic:3: error[FAB290]: leaf1: not JSON: Expecting property name enclosed in double quotes",
            "spine1.junos:2: error[FAB290]: spine1: the '{' after 'et-0/0/1' is never closed; 1 block around it is open as "
            "well",
        ],
    ),
    ("FAB290", "many places of one file"): (
        {"spine1.junos": "system {\n" + "".join(f"    services {{ a{n} }}\n" for n in range(7)) + "}\n"},
        ["spine1.junos:2: error[FAB290]: spine1: expected ';' after 'a0', got '}'; 6 more places of this file"],
    ),
    ("FAB292", "small"): (SMALL, []),
    ("FAB292", "many are counted"): (
        but(SMALL, {"leaf1.eos": {"hostname leaf1\n": f"hostname leaf1\n{ODD}"}}),
        [
            "leaf1.eos:2: note[FAB292]: leaf1: unknown statement: frobnicate 1",
            "leaf1.eos:3: note[FAB292]: leaf1: unknown statement: frobnicate 2",
            "leaf1.eos:4: note[FAB292]: leaf1: unknown statement: frobnicate 3",
            "leaf1.eos:5: note[FAB292]: leaf1: unknown statement: frobnicate 4",
            "leaf1.eos:6: note[FAB292]: leaf1: unknown statement: frobnicate 5",
            "leaf1.eos:7: note[FAB292]: leaf1: 2 more of 30 statements are unknown",
        ],
    ),
    ("FAB292", "the same words on another device"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"hostname leaf1\n": "hostname leaf1\nfoo 1\n"},
                "leaf2.nxos": {"feature bgp\n": "feature bgp\nfoo 2\n"},
            },
        ),
        [
            "leaf1.eos:2: note[FAB292]: leaf1: unknown statement: foo 1",
            "leaf2.nxos:3: note[FAB292]: leaf2: 1 of 27 statements are unknown; similar ones are shown for other devices",
        ],
    ),
    ("FAB294", "small"): (SMALL, []),
    ("FAB294", "two files of one device"): (
        {"leaf1.frr/bgpd.conf": "vrf red\n vni 8\n", "leaf1.frr/zebra.conf": "vrf red\n vni 7\n"},
        [
            "leaf1.frr/bgpd.conf:2: error[FAB294]: leaf1: the VNI of VRF red is 8 here and 7 in leaf1.frr/zebra.conf:2",
            "leaf1.frr/zebra.conf:2: error[FAB294]: leaf1: the VNI of VRF red is 7 here and 8 in leaf1.frr/bgpd.conf:2",
        ],
    ),
}


def test_files_that_no_reader_is_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "a.cfg": SMALL["leaf1.eos"],
        "core": "\0",
        "notes.txt": "Ask Ann.\n",
        "r1.cfg": "sysname r1\n",
    }.items():
        Path(name).write_text(text)
    found = [str(finding) for finding in check_folder(scan(Path())).findings if finding.id == "FAB291"]
    assert found == in_full(
        "FAB291",
        [
            f"core: note[FAB291]: not read: binary\n    hint: {NO_CONFIG}",
            f"notes.txt: note[FAB291]: not read: no sign of a network OS\n    hint: {NO_CONFIG}",
            "r1.cfg: warning[FAB291]: not read: VRP or Comware config, and there is no reader for this network OS",
        ],
    )


def test_every_file_is_recognized(tmp_path: Path) -> None:
    (tmp_path / "leaf1.cfg").write_text(SMALL["leaf1.eos"])
    assert [finding.id for finding in check_folder(scan(tmp_path)).findings if finding.severity != "note"] == []
