"""Facts of SONiC switches, out of small tables and out of whole folders."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

import pytest

from fabric.model.facts import MANAGEMENT, Facts
from fabric.nos.sonic.read.device import read
from fabric.nos.sonic.read.dump import Object, read_json
from tests.examples import located, paths
from tests.nos.classes import LINKS
from tests.nos.frr.read.helpers import GOLDEN, plain, shown, values, whole
from tests.nos.undefined import undefined_in

FOLDERS = [path.parent for path in (*paths("config_db.json"), *sorted(GOLDEN.rglob("config_db.json")))]

PORTS = """\
{
  "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "bgp_asn": "65001"}},
  "PORT": {
    "Ethernet0": {"lanes": "0,1", "speed": "400000", "mtu": "9216",
      "admin_status": "up", "description": "spine1 Ethernet0"},
    "Ethernet8": {"lanes": "8,9", "admin_status": "down", "description": ""},
    "Ethernet16": {}
  },
  "DEVICE_NEIGHBOR": {"Ethernet8": {"name": "gpu-0001", "port": "compute1"}},
  "PORTCHANNEL": {"PortChannel5": {"mtu": "9100", "system_mac": "02:00:00:00:00:01"}},
  "PORTCHANNEL_MEMBER": {"PortChannel5|Ethernet16": {}},
  "EVPN_ETHERNET_SEGMENT": {"PortChannel5": {"esi": "AUTO", "type": "TYPE_3_MAC_BASED"}},
  "INTERFACE": {
    "Ethernet0": {"ipv6_use_link_local_only": "enable"},
    "Ethernet8": {"vrf_name": "Vrf-red"},
    "Ethernet8|10.0.0.0/31": {},
    "Ethernet8|FD00:0::1/127": {"scope": "global", "family": "IPv6"}
  },
  "VLAN": {"Vlan100": {"vlanid": "100", "mtu": "9050"}},
  "VLAN_MEMBER": {"Vlan100|PortChannel5": {"tagging_mode": "untagged"},
    "Vlan200|PortChannel5": {"tagging_mode": "tagged"}},
  "VLAN_INTERFACE": {"Vlan100": {"vrf_name": "Vrf-red", "static_anycast_gateway": "true"}, "Vlan100|10.1.0.1/24": {}},
  "VLAN_SUB_INTERFACE": {"Eth0.11": {"vlan": "11"}, "Eth0.11|10.2.0.0/31": {}},
  "LOOPBACK_INTERFACE": {"Loopback0|10.0.0.1/32": {}},
  "MGMT_INTERFACE": {"eth0|172.16.0.4/16": {"gwaddr": "172.16.0.1"}},
  "MGMT_VRF_CONFIG": {"vrf_global": {"mgmtVrfEnabled": "true"}},
  "SAG": {"GLOBAL": {"gateway_mac": "00:00:5E:00:01:01"}},
  "VRF": {"Vrf-red": {"vni": "50001"}},
  "VXLAN_TUNNEL": {"vtep": {"src_ip": "10.2.0.1"}},
  "VXLAN_EVPN_NVO": {"nvo": {"source_vtep": "vtep"}},
  "VXLAN_TUNNEL_MAP": {
    "vtep|map_10001_Vlan100": {"vlan": "Vlan100", "vni": "10001"},
    "vtep|map_50001_Vlan100": {"vlan": "Vlan100", "vni": "50001"}
  },
  "ACL_TABLE": {"TENANT": {"type": "L3", "ports": ["Ethernet8"]}, "SSH": {"type": "CTRLPLANE", "services": ["SSH"]}}
}
"""


def facts(tables: str | dict[str, Any]) -> Facts:
    return read("device", {"config_db.json": tables if isinstance(tables, str) else json.dumps(tables)})


INTERFACES = {
    "Ethernet0": {
        "description": "spine1 Ethernet0@5",
        "enabled": "True@5",
        "mtu": "9216@4",
        "speed_gbps": "400@4",
        "link_local": True,
    },
    "Ethernet8": {
        "description": "gpu-0001 compute1@9",
        "enabled": "False@6",
        "addresses": ["10.0.0.0/31@16", "fd00::1/127@17"],
        "vrf": "Vrf-red@15",
        "filters": ["TENANT@35"],
    },
    "Ethernet16": {"bond": "PortChannel5@11"},
    "PortChannel5": {
        "mtu": "9100@10",
        "access": "100@20",
        "trunk": ["200@21"],
        "esi": "03:02:00:00:00:00:01:00:00:05@12",
        "election": "preference@12",
    },
    "Vlan100": {"gateways": ["10.1.0.1/24@22"], "mtu": "9050@19", "vrf": "Vrf-red@22"},
    "Eth0.11": {"addresses": ["10.2.0.0/31@23"], "mtu": "9216@4", "tag": "11@23"},
    "Loopback0": {"addresses": ["10.0.0.1/32@24"]},
    "eth0": {"addresses": ["172.16.0.4/16@25"], "vrf": f"{MANAGEMENT}@26"},
}


@pytest.mark.parametrize("name", INTERFACES)
def test_port(name: str) -> None:
    found = facts(PORTS)
    assert shown(found.interfaces[name]) == INTERFACES[name]
    assert set(found.interfaces) == set(INTERFACES)


def test_overlay() -> None:
    found = facts(PORTS)
    assert (found.name, plain(found.hostname), plain(found.vtep)) == ("leaf1", "leaf1@2", "10.2.0.1@29")
    assert plain(found.anycast_mac) == "00:00:5e:00:01:01@27"
    assert {name: plain(vrf.vni) for name, vrf in found.vrfs.items()} == {MANAGEMENT: None, "Vrf-red": "50001@28"}
    assert {number: plain(vni.vlan) for number, vni in found.vnis.items()} == {10001: "100@32"}
    assert (found.unread, found.broken, found.conflicts) == ([], [], [])
    assert plain(found.services.control_plane) == "True@35"


QOS = {
    "PORT": {"Ethernet0": {}, "Ethernet4": {}, "Ethernet8": {}},
    "DSCP_TO_TC_MAP": {"ROCE": {"0": "0", "26": "3", "48": "6"}, "OTHER": {"26": "1"}},
    "TC_TO_QUEUE_MAP": {"ROCE": {"0": "0", "3": "4", "6": "6"}},
    "TC_TO_PRIORITY_GROUP_MAP": {"ROCE": {"0": "0", "3": "2", "6": "0"}},
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"ROCE": {"5": "2"}},
    "PORT_QOS_MAP": {
        "global": {"dscp_to_tc_map": "OTHER"},
        "Ethernet0": {
            "dscp_to_tc_map": "[DSCP_TO_TC_MAP|ROCE]",
            "tc_to_queue_map": "ROCE",
            "tc_to_pg_map": "ROCE",
            "pfc_to_pg_map": "ROCE",
            "pfc_enable": "5",
        },
        "Ethernet4": {"dscp_to_tc_map": "ROCE", "pfc_enable": "3,4"},
    },
    "SCHEDULER": {
        "be": {"type": "DWRR", "weight": "40"},
        "roce": {"type": "DWRR", "weight": "60"},
        "cnp": {"type": "STRICT"},
    },
    "WRED_PROFILE": {
        "ECN": {
            "ecn": "ecn_all",
            "green_min_threshold": "1000",
            "green_max_threshold": "2000",
            "green_drop_probability": "5",
        },
        "DROP": {"ecn": "ecn_none", "green_min_threshold": "1000"},
    },
    "QUEUE": {
        "Ethernet0,Ethernet4|0-2": {"scheduler": "be", "wred_profile": "DROP"},
        "Ethernet0|4": {"scheduler": "roce", "wred_profile": "[WRED_PROFILE|ECN]"},
        "Ethernet0,Ethernet4|6": {"scheduler": "cnp"},
    },
    "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress"}},
    "BUFFER_PROFILE": {"LOSSLESS": {"pool": "ingress_lossless_pool", "size": "0", "xoff": "77824"}},
    "BUFFER_PG": {"Ethernet0|2": {"profile": "LOSSLESS"}, "Ethernet4|3-4": {"profile": "NULL"}},
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m", "Ethernet4": "x"}},
    "PFC_WD": {
        "GLOBAL": {"POLL_INTERVAL": "200"},
        "Ethernet0": {"action": "drop", "detection_time": "400", "restoration_time": "400"},
    },
}


CLASSES: dict[str, dict[str, Any]] = {
    "Ethernet0": {  # traffic class 3 goes through queue 4 and group 2, and priority 5 pauses it
        "priorities": {0: 0, 26: 5, 48: 6},
        "pfc": [5],
        "strict": [6],
        "weights": {0: 40, 5: 60},
        "ecn": {5: [1000, 2000, 5]},
        "xoff_bytes": {5: 77824},
        "cable_length_m": 40,
        "watchdog": True,
    },
    "Ethernet4": {"priorities": {0: 0, 26: 3, 48: 6}, "pfc": [3, 4], "strict": [6], "weights": {0: 40, 1: 40, 2: 40}},
    "Ethernet8": {"priorities": {26: 1}},
}


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name: str) -> None:
    found = facts(QOS)
    qos = found.interfaces[name].qos
    configured = {field: values(getattr(qos, field)) for field in set(type(qos).__slots__) - set(LINKS)}
    assert {field: value for field, value in configured.items() if value not in (None, [], {})} == CLASSES[name]
    assert (values(found.watchdog_ms), found.unread, found.broken) == (400, [], [])


def test_lines_of_classes() -> None:
    found = facts(json.dumps(QOS, indent=1))
    lines = json.dumps(QOS, indent=1).split("\n")
    qos = found.interfaces["Ethernet0"].qos
    assert qos is not None
    shared = (qos.priorities[26], qos.pfc[0], qos.strict[0], qos.weights[5], qos.ecn[5].kmax_bytes, qos.xoff_bytes[5])
    assert [lines[parsed.line - 1].strip(" ,") for parsed in shared if parsed] == [
        '"26": "3"',
        '"pfc_enable": "5"',
        '"type": "STRICT"',
        '"weight": "60"',
        '"green_max_threshold": "2000"',
        '"xoff": "77824"',
    ]


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "X"}}}, ["DSCP map X"]),
        ({"QUEUE": {"Ethernet0|3": {"scheduler": "S", "wred_profile": "W"}}}, ["scheduler S", "WRED profile W"]),
        (
            {"BUFFER_PG": {"Ethernet0|3": {"profile": "pg_lossless_400000_40m_profile"}, "Ethernet0|0": {"profile": "P"}}},
            ["buffer profile P"],
        ),
        ({"INTERFACE": {"Ethernet0": {"vrf_name": "Vrf-x"}, "Ethernet4": {"vrf_name": "Vrf-x"}}}, ["VRF Vrf-x"]),
        ({"VXLAN_TUNNEL_MAP": {"vtep|m": {"vlan": "Vlan9", "vni": "9"}}}, ["VLAN Vlan9", "VXLAN tunnel vtep"]),
        ({"VRF": {"Vrf-x": {"vni": "9"}}}, ["tunnel map of VNI 9"]),
        (
            {"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}}, "ACL_RULE": {"A|R": {}}},
            ["ACL table A", "PortChannel PortChannel1"],
        ),
        ({"BGP_NEIGHBOR": {"10.0.0.1": {"peer_group_name": "G"}}}, ["BGP peer group G"]),
    ],
)
def test_names_that_nothing_defines(tables: dict[str, Any], expected: list[str]) -> None:
    tables = {"PORT": {"Ethernet0": {}, "Ethernet4": {}}} | tables
    found = undefined_in("sonic", {"config_db.json": json.dumps(tables, indent=1)})
    assert sorted({one.value for one in found}) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "unread", "broken"),
    [
        (
            '{"PORT": {"Ethernet0": {"mtu": "9100", "colour": "red"}},\n"GARDEN": {"rose": {}}}',
            ["PORT|Ethernet0 colour@1", "GARDEN|rose@2"],
            [],
        ),
        (
            '{"PORT": 7, "INTERFACE": {"Ethernet0": 1, "Ethernet0|10.0.0.300/31": {}}}',
            ["PORT@1"],
            ["no address: 10.0.0.300/31@1"],
        ),
        ('{"PORT": {"Ethernet0": {"mtu": "big", "speed": [1]}}}', [], ["mtu of Ethernet0 is no number: big@1"]),
        ("[]", [], ["not a JSON object@1"]),
        ("", [], ["not JSON: Expecting value@1"]),
        ('{"PORT": {"Ethernet0": {"mtu": "9100"},\n  "Ethernet4": {"mt', [], ["not JSON: Unterminated string starting at@2"]),
        ("[" * 5000, [], ["not JSON: a number too long or brackets too deep@1"]),
    ],
)
def test_what_is_not_understood_is_listed(text: str, unread: list[str], broken: list[str]) -> None:
    found = facts(text)
    assert (plain(found.unread), plain(found.broken)) == (unread, broken)


def test_a_cut_file_is_read_as_far_as_it_goes() -> None:
    found = facts(PORTS[: PORTS.index('"VLAN":')])
    assert shown(found.interfaces["Ethernet8"], "filters") == {
        name: value for name, value in INTERFACES["Ethernet8"].items() if name != "filters"
    }
    assert plain(found.broken) == ["not JSON: Expecting property name enclosed in double quotes@19"]


SERVICES = """\
{
  "NTP_SERVER": {"192.0.2.10": {}, "192.0.2.11": {}},
  "SYSLOG_SERVER": {"192.0.2.20": {"port": "514"}},
  "DNS_NAMESERVER": {"192.0.2.53": {}},
  "FEATURE": {"lldp": {"state": "disabled"}},
  "COPP_GROUP": {"queue4_group2": {"cir": "600"}},
  "SNMP_COMMUNITY": {"public": {"TYPE": "RO"}},
  "RESTAPI": {"config": {"allow_insecure": "true"}},
  "TACPLUS": {"global": {"passkey": "hunter2"}},
  "SNMP_USER": {"mon": {"SNMP_USER_AUTH_PASSWORD": "${A}", "SNMP_USER_ENCRYPTION_PASSWORD": "hunter2"}}
}
"""


def test_services() -> None:
    services = facts(SERVICES).services
    assert {name: plain(getattr(services, name)) for name in services.__slots__} == {
        "ntp": ["192.0.2.10@2", "192.0.2.11@2"],
        "syslog": ["192.0.2.20@3"],
        "dns": ["192.0.2.53@4"],
        "tacacs": [],
        "radius": [],
        "ldap": [],
        "login": None,
        "lldp": "False@5",
        "control_plane": "True@6",
        "plain_text": ["SNMP community (read-only)@7", "REST API without TLS@8"],
        "open_logins": [],
        "weak_logins": [],
        "secrets": [
            "SNMP community, in clear text@7",
            "SNMP_USER_ENCRYPTION_PASSWORD of SNMP_USER|mon, in clear text@10",
            "passkey of TACPLUS|global, in clear text@9",
        ],
    }
    assert "hunter" not in repr(services)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parts[-3]}-{folder.name}")
def test_generated(folder: PurePath) -> None:
    files = whole(located(folder))
    found = read("device", files)
    peers = [neighbor for neighbor in found.neighbors() if neighbor.remote_as]
    assert len(peers) == sum(1 for line in files.get("frr.conf", "").splitlines() if " remote-as " in line)
    assert peers or "frr.conf" not in files
    assert folder.name.endswith(found.name) or folder.parent.name == "sonic"
    assert (found.unread, found.broken, found.conflicts) == ([], [], [])
    assert found.services.secrets == []


@pytest.mark.parametrize("shape", [{}, {"indent": 1}, {"indent": 4, "separators": (",", ":")}])
def test_keys_know_their_lines_in_every_shape(shape: dict[str, Any]) -> None:
    text = json.dumps(json.loads((located(FOLDERS[0]) / "config_db.json").read_text()), **shape)
    lines = text.split("\n")
    root, mistake, _ = read_json(text, [])
    assert mistake == ""
    assert all(json.dumps(key) + ":" in lines[line - 1] for key, line in every_key(root))
    assert len(every_key(root)) > 1000


def every_key(of: Any) -> list[tuple[str, int]]:
    if not isinstance(of, Object):
        return []
    return [*of.lines.items(), *(pair for value in of.values.values() for pair in every_key(value))]
