"""One switch of a plan: its files say what the plan says, and one changed line is reported in the words of the change.

A case changes one text of a rendered file. Findings are reported with the beginning of the line that they point at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

import pytest

from fabric import pipeline
from fabric.audit.checks import KINDS, FilesCheck
from fabric.audit.checks.base import checks
from fabric.audit.checks.servers import Sample
from fabric.audit.checks.site import judge
from fabric.model.plan import SwitchView
from fabric.nos.reading import read_device
from tests import ROOT

INTENTS = ROOT / "intent"
FRONT, BACK = (f"ai-eos {name}-leaf001 startup-config" for name in ("frontend", "backend"))
SYSTEMS = ("cumulus", "eos", "frr", "junos", "nxos", "sonic")
MODE = "          mode: lacp\n        bridge:\n          domain:\n            br_default:\n"
Reported: TypeAlias = tuple[str, str, str]  # id, how the line begins that is meant, message


class Switch(NamedTuple):
    """A switch, and its files as they were rendered."""

    view: SwitchView
    files: Mapping[str, str]


@cache
def site(name: str) -> Mapping[str, Switch]:
    """Every switch of an intent that ships."""
    intent = pipeline.load(INTENTS / f"{name}.yaml")
    made = pipeline.plan(intent)
    renderer = pipeline.render(made, intent)
    return {
        job.device.name: Switch(
            renderer.views[job.fabric].of(job.device),
            {path.rpartition("/")[2]: data.decode() for path, data in renderer.files(job)},
        )
        for job in renderer.jobs(lambda name: True)
    }


def reported(switch: Switch, files: Mapping[str, str]) -> list[Reported]:
    """The findings of a switch, in the order of its files."""
    device = switch.view.device
    found = judge(switch.view, read_device(device.name, device.nos, files), files)
    assert {finding.device for finding in found} <= {device.name}
    lines = {file: ["", *text.splitlines()] for file, text in files.items()}
    return [
        (finding.id, lines[finding.file][finding.line].strip()[:60], finding.message)
        for finding in sorted(found, key=lambda finding: finding.order)
    ]


# (id, case) → intent, switch and file, what is changed in it, and what is reported of that.
CASES: Mapping[tuple[str, str], tuple[str, tuple[str, str], list[Reported]]] = {
    ("FAB250", "another host name"): (
        FRONT,
        ("\nhostname frontend-leaf001", "\nhostname leaf1"),
        [
            ("FAB250", "hostname leaf1", "host name: expected frontend-leaf001, got leaf1"),
        ],
    ),
    ("FAB251", "another address"): (
        FRONT,
        ("ip address 10.64.0.64/31", "ip address 10.64.0.64/30"),
        [
            ("FAB251", "ip address 10.64.0.64/30", "Ethernet31/1: address: expected 10.64.0.64/31, got 10.64.0.64/30"),
        ],
    ),
    ("FAB251", "no address"): (
        FRONT,
        ("   ip address 10.64.0.64/31\n", ""),
        [
            ("FAB251", "interface Ethernet31/1", "Ethernet31/1: address: expected 10.64.0.64/31, got none"),
        ],
    ),
    ("FAB251", "another loopback"): (
        FRONT,
        ("ip address 10.0.0.9/32", "ip address 10.0.0.19/32"),
        [
            ("FAB251", "ip address 10.0.0.19/32", "loopback addresses: expected 10.0.0.9/32, got 10.0.0.19/32"),
            (
                "FAB257",
                "neighbor EVPN update-source Loopback0",
                "neighbor 10.0.0.7 and 1 more: local address: expected 10.0.0.9, got 10.0.0.19",
            ),
        ],
    ),
    ("FAB251", "another gateway"): (
        FRONT,
        ("address virtual 10.20.0.1/24", "address virtual 10.20.0.254/24"),
        [
            (
                "FAB251",
                "ip address virtual 10.20.0.254/24",
                "Vlan100: anycast gateway: expected 10.20.0.1/24, got 10.20.0.254/24",
            ),
        ],
    ),
    ("FAB251", "an address that is not planned"): (
        FRONT,
        ("interface Ethernet29/1\n", "interface Ethernet29/1\n   ip address 10.0.0.9/31\n"),
        [
            ("FAB251", "ip address 10.0.0.9/31", "Ethernet29/1: address: expected none, got 10.0.0.9/31"),
        ],
    ),
    ("FAB254", "another MTU"): (
        FRONT,
        ("   description wan port1\n   no shutdown\n   mtu 9214", "   description wan port1\n   no shutdown\n   mtu 1500"),
        [
            ("FAB254", "mtu 1500", "Ethernet30/1: MTU: expected 9214, got 1500"),
        ],
    ),
    ("FAB254", "another MTU of the frame"): (
        "ai-junos backend-leaf001 juniper.conf",
        ('description "gpu-0001 compute1";\n        mtu 9158;', 'description "gpu-0001 compute1";\n        mtu 9000;'),
        [
            ("FAB254", "mtu 9000;", "et-0/0/0:0: MTU: expected 9144, got 8986"),
            ("FAB254", "mtu 9000;", "et-0/0/0:0: frame MTU: expected 9158, got 9000"),
        ],
    ),
    ("FAB255", "another remote AS"): (
        FRONT,
        ("neighbor 10.64.0.65 remote-as 4200000005", "neighbor 10.64.0.65 remote-as 4200000006"),
        [
            (
                "FAB255",
                "neighbor 10.64.0.65 remote-as 4200000006",
                "neighbor 10.64.0.65: remote AS: expected 4200000005, got 4200000006",
            ),
        ],
    ),
    ("FAB255", "another AS number"): (
        "ai-eos backend-spine001 startup-config",
        ("router bgp 42", "router bgp 41"),
        [
            ("FAB255", "router bgp 4100000000", "BGP: AS number: expected 4200000000, got 4100000000"),
        ],
    ),
    ("FAB256", "a session less"): (
        FRONT,
        (
            "   neighbor 10.0.0.8 peer group EVPN\n   neighbor 10.0.0.8 remote-as 4200000005\n"
            "   neighbor 10.0.0.8 description frontend-spine002\n",
            "",
        ),
        [
            ("FAB256", "router bgp 4200000006", "BGP: neighbors: expected 10.0.0.8, got none"),
        ],
    ),
    ("FAB256", "a session shut"): (
        FRONT,
        (
            "   neighbor 10.64.0.67 peer group FABRIC\n",
            "   neighbor 10.64.0.67 peer group FABRIC\n   neighbor 10.64.0.67 shutdown\n",
        ),
        [
            ("FAB256", "router bgp 4200000006", "BGP: neighbors: expected 10.64.0.67, got none"),
        ],
    ),
    ("FAB256", "a session more"): (
        FRONT,
        (
            "   neighbor 10.64.0.67 peer group FABRIC\n",
            "   neighbor 10.64.0.67 peer group FABRIC\n   neighbor 10.64.0.64 remote-as 65001\n",
        ),
        [
            ("FAB256", "neighbor 10.64.0.64 remote-as 65001", "BGP: neighbors: expected none, got 10.64.0.64"),
        ],
    ),
    ("FAB257", "another loopback as source"): (
        FRONT,
        ("update-source Loopback0", "update-source Loopback1"),
        [
            (
                "FAB257",
                "neighbor EVPN update-source Loopback1",
                "neighbor 10.0.0.7 and 1 more: local address: expected 10.0.0.9, got 10.2.0.5",
            ),
        ],
    ),
    ("FAB258", "another router id"): (
        BACK,
        ("   router-id 10.0.0.3\n   update", "   router-id 10.0.0.4\n   update"),
        [
            ("FAB258", "router-id 10.0.0.4", "BGP: router ID: expected 10.0.0.3, got 10.0.0.4"),
        ],
    ),
    ("FAB259", "another hold time for all"): (
        FRONT,
        ("neighbor FABRIC timers 3 9", "neighbor FABRIC timers 10 30"),
        [
            (
                "FAB259",
                "neighbor FABRIC timers 10 30",
                "neighbor 10.64.0.65 and 1 more: hold time in seconds: expected 9, got 30",
            ),
            (
                "FAB259",
                "neighbor FABRIC timers 10 30",
                "neighbor 10.64.0.65 and 1 more: keepalive in seconds: expected 3, got 10",
            ),
        ],
    ),
    ("FAB259", "no BFD"): (
        FRONT,
        ("   neighbor FABRIC bfd\n", ""),
        [
            ("FAB259", "neighbor 10.64.0.65 peer group FABRIC", "neighbor 10.64.0.65: BFD: expected on, got none"),
            ("FAB259", "neighbor 10.64.0.67 peer group FABRIC", "neighbor 10.64.0.67: BFD: expected on, got none"),
        ],
    ),
    ("FAB260", "no prefix limit"): (
        FRONT,
        ("FABRIC maximum-routes 12000 ", "FABRIC maximum-routes 0 "),
        [
            (
                "FAB260",
                "neighbor FABRIC maximum-routes 0 warning-limit 80 percent",
                "neighbor 10.64.0.65 and 1 more: prefix limit: expected 12000, got 0",
            ),
        ],
    ),
    ("FAB261", "a single path"): (
        BACK,
        ("   maximum-paths 64 ecmp 64\n   neighbor FABRIC peer", "   maximum-paths 1\n   neighbor FABRIC peer"),
        [
            ("FAB261", "maximum-paths 1", "BGP: equal-cost paths: expected 64, got 1"),
        ],
    ),
    ("FAB261", "paths over several AS numbers are not equal"): (
        BACK,
        ("   neighbor FABRIC peer group\n", "   no bgp bestpath as-path multipath-relax\n   neighbor FABRIC peer group\n"),
        [
            (
                "FAB261",
                "no bgp bestpath as-path multipath-relax",
                "BGP: multipath across AS numbers: expected on, got off",
            ),
        ],
    ),
    ("FAB264", "another VNI"): (
        FRONT,
        ("vxlan vlan 100 vni 10001", "vxlan vlan 100 vni 10002"),
        [
            ("FAB264", "vxlan vlan 100 vni 10002", "L2 VNIs: expected 10001, got 10002"),
        ],
    ),
    ("FAB264", "another VLAN"): (
        FRONT,
        ("vxlan vlan 100 vni 10001", "vxlan vlan 101 vni 10001"),
        [
            ("FAB264", "vxlan vlan 101 vni 10001", "VNI 10001: VLAN: expected 100, got 101"),
        ],
    ),
    ("FAB265", "another VNI of a VRF"): (
        FRONT,
        ("vxlan vrf red vni 50001", "vxlan vrf red vni 50003"),
        [
            ("FAB265", "vxlan vrf red vni 50003", "VRF red: VNI: expected 50001, got 50003"),
        ],
    ),
    ("FAB265", "another route target"): (
        FRONT,
        ("route-target both 65000:10001", "route-target both 65000:10002"),
        [
            (
                "FAB265",
                "route-target both 65000:10002",
                "VNI 10001: exported route targets: expected 65000:10001, got 65000:10002",
            ),
            (
                "FAB265",
                "route-target both 65000:10002",
                "VNI 10001: imported route targets: expected 65000:10001, got 65000:10002",
            ),
        ],
    ),
    ("FAB2523", "routes of another table"): (
        "ai-frr frontend-leaf001 frr.conf",
        (
            "redistribute connected route-map RM-red-CONNECTED",
            "redistribute connected route-map RM-red-CONNECTED\n  import vrf vrf-blue",
        ),
        [
            ("FAB2523", "import vrf vrf-blue", "VRF vrf-red: VRFs whose routes are imported: expected none, got vrf-blue"),
        ],
    ),
    ("FAB266", "another route distinguisher"): (
        FRONT,
        ("rd 10.0.0.9:10001", "rd 10.0.0.8:10001"),
        [
            ("FAB266", "rd 10.0.0.8:10001", "VNI 10001: route distinguisher: expected 10.0.0.9:10001, got 10.0.0.8:10001"),
        ],
    ),
    ("FAB267", "another source of the tunnels"): (
        FRONT,
        ("vxlan source-interface Loopback1", "vxlan source-interface Loopback0"),
        [
            ("FAB267", "vxlan source-interface Loopback0", "tunnel source: expected 10.2.0.5, got 10.0.0.9"),
        ],
    ),
    ("FAB267", "another MAC address of the gateways"): (
        FRONT,
        ("00:00:5e:00:01:01", "00:00:5e:00:01:02"),
        [
            (
                "FAB267",
                "ip virtual-router mac-address 00:00:5e:00:01:02",
                "anycast gateway MAC address: expected 00:00:5e:00:01:01, got 00:00:5e:00:01:02",
            ),
        ],
    ),
    ("FAB268", "another Ethernet segment"): (
        FRONT,
        ("0302:0000:0000:0100:0001", "0302:0000:0000:0100:0009"),
        [
            (
                "FAB268",
                "identifier 0302:0000:0000:0100:0009",
                "Port-Channel1: Ethernet segment: expected 03:02:00:00:00:00:01:00:00:01, got 03:02:00:00:00:00:01:00:00:09",
            ),
        ],
    ),
    ("FAB270", "another VRF"): (
        FRONT,
        ("   encapsulation dot1q vlan 11\n   vrf red", "   encapsulation dot1q vlan 11\n   vrf blue"),
        [
            ("FAB270", "vrf blue", "Ethernet30/1.11: VRF: expected red, got blue"),
        ],
    ),
    ("FAB270", "another bond"): (
        FRONT,
        ("channel-group 4 mode", "channel-group 3 mode"),
        [
            ("FAB270", "channel-group 3 mode active", "Ethernet4/1: bond: expected Port-Channel4, got Port-Channel3"),
        ],
    ),
    ("FAB270", "another VLAN of a bond"): (
        FRONT,
        (
            "   description gpu-0004 frontend1p1\n   no shutdown\n   switchport access vlan 100",
            "   description gpu-0004 frontend1p1\n   no shutdown\n   switchport access vlan 200",
        ),
        [
            ("FAB270", "switchport access vlan 200", "Port-Channel4: untagged VLAN: expected 100, got 200"),
        ],
    ),
    ("FAB271", "shut"): (
        FRONT,
        ("   description wan port1\n   no shutdown", "   description wan port1\n   shutdown"),
        [
            ("FAB271", "shutdown", "Ethernet30/1: port state: expected on, got off"),
        ],
    ),
    ("FAB271", "a spare port is open"): (
        FRONT,
        (
            "interface Ethernet29/1\n   description spare\n   shutdown",
            "interface Ethernet29/1\n   description spare\n   no shutdown",
        ),
        [
            ("FAB271", "no shutdown", "Ethernet29/1: port state: expected off, got on"),
        ],
    ),
    ("FAB272", "another priority"): (
        BACK,
        ("priority-flow-control priority 3 no-drop", "priority-flow-control priority 4 no-drop"),
        [
            (
                "FAB272",
                "priority-flow-control priority 4 no-drop",
                "Ethernet1/1 and 23 more: priorities with PFC: expected 3, got 4",
            ),
        ],
    ),
    ("FAB272", "no classes on one port"): (
        BACK,
        ("   ip address 10.128.0.0/31\n   service-profile ROCE\n", "   ip address 10.128.0.0/31\n"),
        [
            ("FAB272", "interface Ethernet1/1", "Ethernet1/1: priorities with PFC: expected 3, got none"),
        ],
    ),
    ("FAB273", "one DSCP more"): (
        BACK,
        ("qos map dscp 26 to", "qos map dscp 26 34 to"),
        [
            (
                "FAB273",
                "qos map dscp 26 34 to traffic-class 3",
                "Ethernet1/1 and 23 more: DSCPs of the lossless class: expected 26, got 26, 34",
            ),
        ],
    ),
    ("FAB273", "notifications elsewhere"): (
        BACK,
        ("qos map dscp 48 to traffic-class 6", "qos map dscp 46 to traffic-class 6"),
        [
            (
                "FAB273",
                "qos map dscp 46 to traffic-class 6",
                "Ethernet1/1 and 23 more: DSCPs of congestion notifications: expected 48, got 46",
            ),
        ],
    ),
    ("FAB274", "another threshold"): (
        BACK,
        ("minimum-threshold 1411072 ", "minimum-threshold 1411000 "),
        [
            (
                "FAB274",
                "random-detect ecn minimum-threshold 1411000 bytes maximum-th",
                "Ethernet1/1 and 23 more: ECN minimum in bytes: expected 1411072, got 1411000",
            ),
        ],
    ),
    ("FAB274", "minimum above maximum"): (
        BACK,
        ("minimum-threshold 1411072 ", "minimum-threshold 2822145 "),
        [
            (
                "FAB274",
                "random-detect ecn minimum-threshold 2822145 bytes maximum-th",
                "Ethernet1/1 and 23 more: ECN minimum in bytes: expected 1411072, got 2822145",
            ),
            (
                "FAB274",
                "random-detect ecn minimum-threshold 2822145 bytes maximum-th",
                "Ethernet1/1: priority 3: ECN minimum 2822145 bytes is above the maximum 2822144 bytes",
            ),
        ],
    ),
    ("FAB275", "another cable length"): (
        "ai-sonic backend-leaf001 config_db.json",
        ('"Ethernet0": "3m"', '"Ethernet0": "40m"'),
        [
            ("FAB275", '"Ethernet0": "40m",', "Ethernet0: cable length in metres: expected 3, got 40"),
        ],
    ),
    ("FAB276", "no watchdog"): (
        BACK,
        ("   priority-flow-control pause watchdog\n", ""),
        [
            ("FAB276", "interface Ethernet1/1", "Ethernet1/1 and 23 more: PFC watchdog: expected on, got none"),
        ],
    ),
    ("FAB273", "no DSCP of the class that all ports share"): (
        "ai-nxos backend-leaf001 startup-config",
        ("  match dscp 26\n", ""),
        [
            (
                "FAB273",
                "interface Ethernet1/1",
                "Ethernet1/1 and 31 more: DSCPs of the lossless class: expected 26, got none",
            ),
        ],
    ),
    ("FAB270", "a VLAN that the bridge does not have"): (
        "ai-cumulus frontend-leaf001 startup.yaml",
        (f"swp1: {{}}\n{MODE}              access: 100", f"swp1: {{}}\n{MODE}              access: 101"),
        [
            ("FAB270", "access: 101", "bond1: untagged VLAN: expected 100, got 101"),
        ],
    ),
    ("FAB277", "another hash seed"): (
        "ai-nxos backend-leaf001 startup-config",
        ("universal-id 1\n", "universal-id 7\n"),
        [
            ("FAB277", "ip load-sharing address source-destination port source-desti", "hash seed: expected 1, got 7"),
        ],
    ),
    ("FAB271", "another speed"): (
        FRONT,
        (
            "   description wan port1\n   no shutdown\n   mtu 9214\n   speed forced 100gfull",
            "   description wan port1\n   no shutdown\n   mtu 9214\n   speed forced 40gfull",
        ),
        [
            ("FAB271", "speed forced 40gfull", "Ethernet30/1: speed in Gb/s: expected 100, got 40"),
        ],
    ),
    ("FAB294", "two files that differ"): (
        "ai-sonic backend-leaf001 frr.conf",
        ("\n vni 50001\n", "\n vni 50002\n"),
        [
            ("FAB294", '"Vrf-red": {"vni": "50001"}', "the VNI of VRF Vrf-red is 50001 here and 50002 in frr.conf:37"),
            ("FAB294", "vni 50002", "the VNI of VRF Vrf-red is 50002 here and 50001 in config_db.json:861"),
        ],
    ),
    ("FAB278", "another share"): (
        BACK,
        ("bandwidth percent 60", "bandwidth percent 80"),
        [
            (
                "FAB278",
                "bandwidth percent 80",
                "Ethernet1/1 and 23 more: weight of the lossless class in percent: expected 60, got 67",
            ),
        ],
    ),
    ("FAB278", "the lossless class goes first"): (
        BACK,
        ("   uc-tx-queue 3\n      no priority\n", "   uc-tx-queue 3\n      priority strict\n"),
        [
            (
                "FAB273",
                "qos map dscp 26 to traffic-class 3",
                "Ethernet1/1 and 23 more: DSCPs of congestion notifications: expected 48, got 26, 48",
            ),
            ("FAB278", "priority strict", "Ethernet1/1 and 23 more: strict priorities: expected 6, got 3, 6"),
        ],
    ),
    ("FAB280", "an entry more"): (
        FRONT,
        ("   seq 20 permit 10.2.0.0/15 ge 32\n", "   seq 20 permit 10.2.0.0/15 ge 32\n   seq 30 permit 0.0.0.0/0 le 32\n"),
        [
            ("FAB280", "seq 30 permit 0.0.0.0/0 le 32", "prefix list PL-FABRIC: entries: expected none, got 0.0.0.0/0 le 32"),
        ],
    ),
    ("FAB280", "an entry less"): (
        FRONT,
        ("   seq 20 permit 10.2.0.0/15 ge 32\n", ""),
        [
            (
                "FAB280",
                "seq 10 permit 10.0.0.0/15 ge 32",
                "prefix list PL-FABRIC: entries: expected 10.2.0.0/15 ge 32, got none",
            ),
        ],
    ),
    ("FAB281", "a name misspelled"): (
        FRONT,
        ("neighbor FABRIC route-map RM-FABRIC-IN in", "neighbor FABRIC route-map RM-FABRIC-INN in"),
        [
            ("FAB281", "neighbor FABRIC route-map RM-FABRIC-INN in", "route-map RM-FABRIC-INN is used, but not defined"),
            (
                "FAB296",
                "neighbor FABRIC route-map RM-FABRIC-INN in",
                "neighbor 10.64.0.65 and 1 more: accepted routes: expected PL-FABRIC, got RM-FABRIC-INN",
            ),
        ],
    ),
    ("FAB282", "an unassigned address in a filter"): (
        FRONT,
        ("40 permit tcp 172.16.0.0/16 any", "40 permit tcp 172.61.0.0/16 any"),
        [
            (
                "FAB282",
                "40 permit tcp 172.61.0.0/16 any eq ssh",
                "172.61.0.0/16 is not in the plan of this switch",
            ),
        ],
    ),
    ("FAB283", "another time server"): (
        FRONT,
        ("ntp server vrf MGMT 192.0.2.10", "ntp server vrf MGMT 192.0.2.11"),
        [
            ("FAB283", "", "NTP servers: expected 192.0.2.10, got none"),
        ],
    ),
    ("FAB285", "telnet"): (
        FRONT,
        ("management console\n", "management telnet\n   no shutdown\n!\nmanagement console\n"),
        [
            ("FAB285", "no shutdown", "clear-text service: telnet"),
        ],
    ),
    ("FAB286", "a hash"): (
        FRONT,
        ("sha512 ${ADMIN_PASSWORD_HASH}", "sha512 $6$hush"),
        [
            (
                "FAB286",
                "username admin privilege 15 role network-admin secret sha512",
                "password of user admin is stored as a salted hash",
            ),
        ],
    ),
    ("FAB287", "LLDP is off"): (
        FRONT,
        ("lldp run", "no lldp run"),
        [
            ("FAB287", "no lldp run", "LLDP is disabled"),
        ],
    ),
    ("FAB270", "management in the table of the fabric"): (
        FRONT,
        ("   description out of band\n   vrf MGMT\n", "   description out of band\n"),
        [
            ("FAB270", "interface Management1", "Management1: VRF: expected management, got none"),
        ],
    ),
    ("FAB290", "cut off"): (
        "ai-sonic backend-leaf001 config_db.json",
        ('"localhost": {', '"localhost": '),
        [
            ("FAB290", '"localhost": "hostname": "backend-leaf001", "hwsku": "ACS-MS', "not JSON: Expecting ',' delimiter"),
        ],
    ),
    ("FAB296", "a filter that is gone"): (
        FRONT,
        ("      neighbor 10.64.0.81 route-map RM-EXT-wan-red-IN in\n", ""),
        [
            (
                "FAB296",
                "neighbor 10.64.0.81 remote-as 65010",
                "neighbor 10.64.0.81 in VRF red: accepted routes: expected PL-wan-red-IN, got none",
            ),
        ],
    ),
    ("FAB296", "a filter that lets everything out"): (
        FRONT,
        (
            "route-map RM-FABRIC-OUT permit 10\n   match ip address prefix-list PL-OWN\n",
            "route-map RM-FABRIC-OUT permit 10\n",
        ),
        [
            (
                "FAB296",
                "route-map RM-FABRIC-OUT permit 10",
                "neighbor 10.64.0.65 and 1 more: advertised routes: expected PL-OWN, got any route",
            ),
        ],
    ),
    ("FAB296", "a filter that lets nothing in"): (
        FRONT,
        ("route-map RM-FABRIC-IN permit 20", "route-map RM-FABRIC-IN deny 20"),
        [
            (
                "FAB296",
                "neighbor FABRIC route-map RM-FABRIC-IN in",
                "neighbor 10.64.0.65 and 1 more: accepted routes: expected PL-FABRIC, got none",
            ),
        ],
    ),
    ("FAB296", "a filter of the other direction"): (
        FRONT,
        ("   match ip address prefix-list PL-OWN\n", "   match ip address prefix-list PL-FABRIC\n"),
        [
            (
                "FAB296",
                "match ip address prefix-list PL-FABRIC",
                "neighbor 10.64.0.65 and 1 more: advertised routes: expected PL-OWN, got PL-FABRIC",
            ),
        ],
    ),
    ("FAB296", "nothing enters BGP"): (
        FRONT,
        ("      redistribute connected route-map RM-VRF-red-CONNECTED\n", ""),
        [
            ("FAB296", "vrf red", "BGP of VRF red: redistributed connected routes: expected PL-red-CONNECTED, got none"),
        ],
    ),
    ("FAB296", "everything enters BGP"): (
        FRONT,
        ("   redistribute connected route-map RM-CONNECTED\n", "   redistribute connected\n"),
        [
            (
                "FAB296",
                "redistribute connected",
                "BGP: redistributed connected routes: expected PL-CONNECTED, got any route",
            ),
        ],
    ),
    ("FAB296", "another aggregate"): (
        "ai-eos storage-leaf001 startup-config",
        ("aggregate-address 10.128.3.0/25", "aggregate-address 10.128.3.0/24"),
        [
            (
                "FAB296",
                "aggregate-address 10.128.3.0/24 summary-only",
                "BGP: aggregates: expected 10.128.3.0/25, got 10.128.3.0/24",
            ),
        ],
    ),
    ("FAB296", "an aggregate is gone from a Junos switch"): (
        "ai-junos storage-leaf001 juniper.conf",
        ("        route 10.128.8.0/23 discard;\n", ""),
        [
            ("FAB296", "bgp {", "BGP: aggregates: expected 10.128.8.0/23, got none"),
        ],
    ),
    ("FAB296", "a policy of Junos that rejects nothing"): (
        "ai-junos frontend-leaf001 juniper.conf",
        (
            "PL-FABRIC;\n            }\n            then {\n                accept;\n            }\n        }\n"
            "        term rest {\n            then {\n                reject;\n",
            "PL-FABRIC;\n            }\n            then {\n                accept;\n            }\n        }\n"
            "        term rest {\n            then {\n                next policy;\n",
        ),
        [
            (
                "FAB296",
                "policy-statement FABRIC-IN {",
                "neighbor 10.64.0.65 and 1 more: accepted routes: expected none, got any route",
            ),
        ],
    ),
    ("FAB296", "a session of NVUE without its list"): (
        "ai-cumulus frontend-leaf001 startup.yaml",
        ("                        prefix-list: PL-wan-red-OUT\n", "                        prefix-list: PL-wan-red-IN\n"),
        [
            (
                "FAB296",
                "prefix-list: PL-wan-red-IN",
                "neighbor 10.64.0.145 in VRF red: advertised routes: expected PL-wan-red-OUT, got PL-wan-red-IN",
            ),
        ],
    ),
    ("FAB296", "a list of FRR turned round"): (
        "ai-frr frontend-leaf001 frr.conf",
        ("neighbor FABRIC prefix-list PL-OWN out", "neighbor FABRIC prefix-list PL-FABRIC out"),
        [
            (
                "FAB296",
                "neighbor FABRIC prefix-list PL-FABRIC out",
                "neighbor 10.64.0.129 and 1 more: advertised routes: expected PL-OWN, got PL-FABRIC",
            ),
        ],
    ),
    ("FAB296", "a policy of NX-OS without its list"): (
        "ai-nxos frontend-leaf001 startup-config",
        (
            "route-map RM-wan-red-OUT permit 10\n  match ip address prefix-list PL-wan-red-OUT\n",
            "route-map RM-wan-red-OUT permit 10\n",
        ),
        [
            (
                "FAB296",
                "route-map RM-wan-red-OUT permit 10",
                "neighbor 10.64.0.145 in VRF red: advertised routes: expected PL-wan-red-OUT, got any route",
            ),
        ],
    ),
    ("FAB2530", "a login server that is not in the plan"): (
        FRONT,
        ("lldp run\n", "lldp run\ntacacs-server host 192.0.2.99 vrf MGMT key 7 ${TACACS_KEY}\n"),
        [
            (
                "FAB2530",
                "tacacs-server host 192.0.2.99 vrf MGMT key 7 ${TACACS_KEY}",
                "TACACS+ servers: expected none, got 192.0.2.99",
            ),
        ],
    ),
    ("FAB292", "a line that is unknown"): (
        FRONT,
        ("lldp run\n", "lldp run\nfrobnicate\n"),
        [
            ("FAB292", "frobnicate", "unknown statement: frobnicate"),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_one_change_is_reported(case: tuple[str, str]) -> None:
    where, (old, new), expected = CASES[case]
    intent, name, file = where.split()
    switch = site(intent)[name]
    assert switch.files[file].count(old) == 1
    found = reported(switch, {**switch.files, file: switch.files[file].replace(old, new)})
    assert found == expected
    assert case[0] in {id_ for id_, _, _ in found}


@pytest.mark.parametrize("system", SYSTEMS)
def test_files_as_they_are_rendered_are_left_in_peace(system: str) -> None:
    found = {name: reported(switch, switch.files) for name, switch in site(f"ai-{system}").items()}
    assert {name: rows for name, rows in found.items() if rows} == {}


def test_every_kind_of_row_breaks_one_check() -> None:
    assert sorted(kind for check in checks(FilesCheck) for kind in check.kinds) == sorted(KINDS)


def test_what_is_missing_whole_is_reported_once() -> None:
    """No session, VNI or VRF is reported of again for each of its parts."""
    switch = site("ai-eos")["frontend-leaf001"]
    found = reported(switch, {"startup-config": "hostname frontend-leaf001\n"})
    assert [message for id_, _, message in found if id_ in ("FAB256", "FAB259", "FAB260", "FAB264", "FAB265", "FAB266")] == [
        "BGP of VRF blue: neighbors: expected 10.64.0.83, got none",
        "BGP of VRF red: neighbors: expected 10.64.0.81, got none",
        "BGP: neighbors: expected 10.0.0.7, 10.0.0.8, 10.64.0.65, 10.64.0.67, got none",
        "L2 VNIs: expected 10001, got none",
        "VRFs: expected blue, red, got none",
    ]


@pytest.mark.parametrize("name", ["ai-eos", "ai-sonic", "ai-junos"])
def test_the_hint_for_a_server_that_an_override_dropped(name: str) -> None:
    """The intent names it already: `name them under management:` would send a reader to the wrong file."""
    switch = next(iter(site(name).values()))
    server = switch.view.management.ntp[0]
    files = {file: text.replace(server, "192.0.2.99") for file, text in switch.files.items()}
    found = judge(switch.view, read_device(switch.view.device.name, switch.view.device.nos, files), files)
    hints = {finding.hint for finding in found if finding.id == "FAB283"}
    assert hints == {"run `fabric generate` to restore the file, or remove the override that changes these servers"}


def test_a_sample_says_what_it_is_and_how_to_have_all(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pipeline.plan(pipeline.load(INTENTS / "h100-4su.yaml"))
    for most, step, left in ((256, 1, 0), (100, 2, 63), (60, 3, 84), (47, 3, 84)):
        monkeypatch.setattr("fabric.audit.checks.servers.MOST", most)
        sample = Sample.of_site(made)
        assert (sample.step, sample.of - len(sample.servers)) == (step, left)
        assert Sample.of_site(made, whole=True).skipped == []
        if left:
            assert sample.skipped == [
                (
                    f"{left} of 127 servers",
                    f"only 1 in {step} servers is compared with its leaves; use --all-servers to compare all",
                )
            ]


# Intent and file, the line that is taken out of it, and a line of the block that it belongs in.
BLOCKS: Mapping[str, tuple[str, str, str, str]] = {
    "eos": ("ai-eos", "startup-config", r"^   vxlan source-interface .*\n", "interface Vxlan1"),
    "nxos": ("ai-nxos", "startup-config", r"^  source-interface loopback.*\n", "vn-segment"),
    "frr": ("ai-frr", "interfaces", r"^    vxlan-local-tunnelip .*\n", "vxlan-id"),
}


@pytest.mark.parametrize("system", BLOCKS)
def test_what_is_missing_is_placed_in_its_block(system: str) -> None:
    """A line that is not there has no number; its block has."""
    intent, name, pattern, head = BLOCKS[system]
    switch = site(intent)["frontend-leaf001"]
    files = {**switch.files, name: re.sub(pattern, "", switch.files[name], flags=re.MULTILINE)}
    assert files != switch.files
    found = [line for code, line, message in reported(switch, files) if code == "FAB267" and "tunnel source" in message]
    assert [head in line for line in found] == [True], found
