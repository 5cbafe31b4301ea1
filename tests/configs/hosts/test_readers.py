"""The switch's end of a cable, read out of a few lines of every network OS's config."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from fabric.configs.hosts.mismatches import SwitchEnd
from fabric.nos.reading import read_device
from tests.configs.hosts.helpers import ends_of, server_port

END = SwitchEnd(
    dscp=26,
    priority=3,
    cnp_dscp=48,
    cnp_priority=6,
    mtu=9166,
    address="10.128.0.0",
    peer_address="10.128.0.1/31",
    pfc_priorities=(3,),
    lossless_percent=60,
)
NOTHING = SwitchEnd(
    dscp=None,
    priority=None,
    cnp_dscp=None,
    cnp_priority=None,
    mtu=None,
    address=None,
    peer_address=None,
    pfc_priorities=(),
    lossless_percent=None,
)  # a port of which nothing is reported
BONDED = replace(NOTHING, mtu=9100)

EOS = """\
banner login
interface of the login banner
EOF
!
qos map dscp 0 1 2-25 27 49 to traffic-class 0
qos map dscp 26 to traffic-class 3
qos map dscp 48 to traffic-class 6
qos map traffic-class 0 to tx-queue 0
qos map traffic-class 3 to tx-queue 3
qos map traffic-class 6 to tx-queue 6
!
qos profile ROCE
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   !
   uc-tx-queue 0
      no priority
      bandwidth percent 40
   !
   uc-tx-queue 3
      no priority
      bandwidth percent 60
!
interface Ethernet1/1
   description gpu-0001 compute1
   mtu 9166
   no switchport
   ip address 10.128.0.0/31
   service-profile ROCE
!
interface Ethernet2/1
   description gpu-0001 frontend1
   channel-group 1 mode active
!
interface Ethernet3/1
   description spare
!
interface Ethernet4/1.11
   description red wan
!
interface Port-Channel1
   description gpu-0001 frontend1
   switchport access vlan 100
!
interface Loopback0
   description router id
!
interface Vlan100
   mtu 9100
"""

NXOS = """\
class-map type qos match-any ROCE
  match dscp 26
class-map type qos match-any CNP
  match dscp 48
class-map type qos match-any PEER-LINK
  match dscp 56
policy-map type qos CLASSIFY
  class ROCE
    set qos-group 3
  class CNP
    set qos-group 7
  class PEER-LINK
    set qos-group 7
  class class-default
    set qos-group 0
policy-map type network-qos NETWORK
  class type network-qos c-8q-nq3
    mtu 9216
    pause pfc-cos 3
  class type network-qos c-8q-nq-default
    mtu 9216
policy-map type queuing ROCE
  class type queuing c-out-8q-q7
    priority level 1
  class type queuing c-out-8q-q3
    bandwidth remaining percent 60
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 40
policy-map type queuing OTHER
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 50
system qos
  service-policy type network-qos NETWORK
  service-policy type queuing output ROCE

interface Vlan100
  mtu 9100

interface port-channel1
  description gpu-0001 frontend1
  switchport access vlan 100
  mtu 9216

interface Ethernet1/1
  description gpu-0001 compute1
  no switchport
  mtu 9166
  priority-flow-control mode on
  service-policy type qos input CLASSIFY
  ip address 10.128.0.0/31

interface Ethernet1/2
  description gpu-0001 frontend1
  switchport access vlan 100
  mtu 9216
  channel-group 1 mode active

interface Ethernet1/3
  description spare
"""

CUMULUS = """\
- header: {model: sn5600}
- set:
    interface:
      bond1:
        bond: {member: {swp2: {}}}
        bridge: {domain: {br_default: {access: 100}}}
        description: gpu-0001 frontend1
        link: {mtu: 9166}
        type: bond
      eth0: {description: out of band, type: eth}
      swp1:
        description: 'gpu-0001 compute1'
        ipv4: {address: {10.128.0.0/31: {}}}
        link: {mtu: 9166}
        qos: {pfc: {profile: ROCE-3M}}
        type: swp
      swp2:
        description: 'gpu-0001 frontend1'
        qos: {pfc: {profile: NO-PFC}, mapping: {profile: UNTRUSTED}}
        type: swp
      swp3: {description: spare, type: swp}
      vlan100: {link: {mtu: 9100}, type: svi, vlan: 100}
    qos:
      egress-scheduler:
        default-global:
          traffic-class: {'0': {mode: dwrr, bw-percent: 40}, '3': {mode: dwrr, bw-percent: 60}, '6': {mode: strict}}
      mapping:
        UNTRUSTED: {trust: port, port-default-sp: 0}
      pfc:
        NO-PFC: {switch-priority: {'3': {}}, rx: disable, tx: disable}
        ROCE-3M: {switch-priority: {'3': {}}, rx: enable, tx: enable, cable-length: 3}
      roce: {state: enabled, mode: lossless}
"""

JUNOS = """\
/* leaf1 { */
system { login { message "a { brace; in \\"quotes\\""; } }
interfaces {
    et-0/0/0 { description "split into 2x400G"; }  # no server
    et-0/0/0:0 {
        description "gpu-0001 compute1";
        mtu 9200;
        unit 0 { family inet { mtu 9166; address 10.128.0.0/31; } }
    }
    et-0/0/1 { description "gpu-0001 frontend1"; ether-options { 802.3ad ae1; } }
    ae1 {
        description "gpu-0001 frontend1";
        mtu 9218;
        unit 0 { family ethernet-switching { interface-mode access; vlan { members red-login; } } }
    }
    irb { unit 100 { family inet { mtu 9100; address 10.20.0.1/24; } } }
}
class-of-service {
    classifiers {
        dscp ROCE {
            forwarding-class NO-LOSS { loss-priority low code-points 011010; }
            forwarding-class CNP { loss-priority low code-points [ 110000 ]; }
        }
    }
    forwarding-classes {
        class CNP queue-num 6;
        class NO-LOSS queue-num 3 no-loss pfc-priority 3;
    }
    congestion-notification-profile {
        PFC {
            input { dscp { code-point 011010 { pfc; } } }
            output { ieee-802.1 { code-point 011 { flow-control-queue 3; } } }
        }
    }
    interfaces {
        et-0/0/0:0 {
            congestion-notification-profile PFC;
            scheduler-map ROCE;
            unit 0 { classifiers { dscp ROCE; } }
        }
    }
    scheduler-maps {
        ROCE {
            forwarding-class network-control scheduler CONTROL;
            forwarding-class CNP scheduler CNP;
            forwarding-class NO-LOSS scheduler ROCE;
            forwarding-class best-effort scheduler REST;
        }
    }
    schedulers {
        CONTROL { priority strict-high; }
        CNP { transmit-rate percent 5; priority strict-high; }
        ROCE { transmit-rate percent 57; }
        REST { transmit-rate percent 38; }
    }
}
routing-instances { MAC-VRF { vlans { red-login { vlan-id 100; l3-interface irb.100; } } } }
"""

FRR = """\
# leaf1
iface lo inet loopback
    address 10.0.0.1/32
auto swp1
iface swp1
    alias gpu-0001 compute1
    mtu 9166
    address 10.128.0.0/31
iface swp2
    alias gpu-0001 frontend1
    mtu 9166
    bridge-access 100
iface swp3
    alias spare
iface br0
    bridge-vlan-aware yes
    bridge-ports swp2
iface vlan100
    vlan-raw-device br0
    mtu 9100
"""

TEXTS = {"eos": EOS, "nxos": NXOS, "cumulus": CUMULUS, "junos": JUNOS, "frr": FRR}
FILES = {
    "eos": "startup-config",
    "nxos": "startup-config",
    "cumulus": "startup.yaml",
    "junos": "juniper.conf",
    "frr": "interfaces",
}
LOSSY = {
    "dscp": None,
    "priority": None,
    "cnp_dscp": None,
    "cnp_priority": None,
    "pfc_priorities": (),
    "lossless_percent": None,
}
DEAD = {"dscp": None, "priority": None, "pfc_priorities": (), "lossless_percent": None}
WHOLE: dict[str, dict[str, Any]] = {  # what a routed port tells in other words than END
    "nxos": {"cnp_priority": None},
    "frr": LOSSY,
}


def ends(nos: str, *changes: tuple[str, str]) -> dict[tuple[str, str], SwitchEnd]:
    text = TEXTS[nos]
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
        assert count, pattern
    return ends_of(read_device("leaf1", nos, {FILES[nos]: text}))


@pytest.mark.parametrize("nos", TEXTS)
def test_what_a_config_tells(nos: str) -> None:
    assert ends(nos) == {
        ("gpu-0001", "compute1"): replace(END, **WHOLE.get(nos, {})),
        ("gpu-0001", "frontend1"): BONDED,
    }


@pytest.mark.parametrize(
    ("nos", "pattern", "new", "expected"),
    [
        ("eos", "dscp 26 to", "dscp 24 to", {"dscp": 24}),
        ("eos", "dscp 26 to", "dscp 24 26 to", {"dscp": None}),
        ("eos", "dscp 26 to traffic-class 3", "dscp 26 to traffic-class 0", DEAD),
        ("eos", "dscp 48 to", "dscp 46 to", {"cnp_dscp": 46}),
        ("eos", "priority 3 no-drop", "priority 4 no-drop", DEAD),
        (
            "eos",
            "priority 3 no-drop",
            r"priority 3 no-drop\n   priority-flow-control priority 0 no-drop",
            {
                "dscp": None,
                "priority": None,
                "pfc_priorities": (0, 3),
                "lossless_percent": None,
            },
        ),
        ("eos", "   priority-flow-control on\n", "", LOSSY),
        ("eos", "percent 60", "percent 50", {"lossless_percent": 56}),
        ("eos", "traffic-class 6 to tx-queue 6", "traffic-class 6 to tx-queue 2", {"cnp_dscp": None, "cnp_priority": None}),
        ("eos", "mtu 9166", "mtu 1500", {"mtu": 1500}),
        ("eos", "   mtu 9166\n", "", {"mtu": None}),
        ("eos", "ip address 10.128.0.0/31", "ipv6 address fd00::/127", {"address": "fd00::", "peer_address": "fd00::1/127"}),
        ("eos", "10.128.0.0/31", "10.128.0.1/24", {"address": "10.128.0.1", "peer_address": None}),
        ("nxos", "match dscp 26", "match dscp 24", {"dscp": 24}),
        ("nxos", "match dscp 48", "match dscp 46", {"cnp_dscp": 46}),
        ("nxos", "match dscp 56", "match dscp 26", {"dscp": 26}),  # the first class that matches counts
        ("nxos", "set qos-group 3", "set qos-group 5", DEAD),
        ("nxos", "pfc-cos 3", "pfc-cos 4", {"priority": 4, "pfc_priorities": (4,)}),
        ("nxos", "pfc-cos 3", "pfc-cos 7", {"priority": 7, "pfc_priorities": (7,)}),  # the number of another group
        ("nxos", "mode on", "mode off", LOSSY),
        (
            "nxos",
            "(input CLASSIFY)",
            r"\1\n  service-policy type queuing output OTHER",
            {
                "lossless_percent": 50,
                "cnp_dscp": None,
            },
        ),
        ("nxos", "mtu 9166", "mtu 1500", {"mtu": 1500}),
        ("cumulus", "(?s)mapping:\n.*?0}", "mapping: {default-global: {dscp: {'26': {switch-priority: 0}}}}", {"dscp": 24}),
        (
            "cumulus",
            "(?s)mapping:\n.*?0}",
            "mapping: {default-global: {dscp: {'46': {switch-priority: 6}}}}",
            {"cnp_dscp": 48},
        ),
        (
            "cumulus",
            "(?s)mapping:\n.*?0}",
            "mapping: {default-global: {trust: l2}}",
            {"dscp": None, "cnp_dscp": None, "cnp_priority": None},
        ),
        (
            "cumulus",
            r"ROCE-3M: {switch-priority: {'3'",
            "ROCE-3M: {switch-priority: {'4'",
            {
                "dscp": 32,
                "priority": 4,
                "pfc_priorities": (4,),
                "lossless_percent": 50,
            },
        ),
        ("cumulus", "{pfc: {profile: ROCE-3M}}", "{}", {}),  # the profile of the switch
        ("cumulus", r"(?s)egress-scheduler:.*(mapping:)", r"\1", {"lossless_percent": 50}),
        ("cumulus", "mtu: 9166", "mtu: 1500", {"mtu": 1500}),
        ("junos", "code-points 011010", "code-points 011000", {**DEAD}),
        ("junos", "011010", "011000", {"dscp": 24}),
        ("junos", r"\[ 110000 \]", "[ 101110 ]", {"cnp_dscp": 46}),
        ("junos", "pfc-priority 3", "pfc-priority 4", DEAD),
        ("junos", "code-point 011 ", "code-point 100 ", DEAD),
        ("junos", "congestion-notification-profile PFC;", "", DEAD),
        ("junos", "percent 57", "percent 38", {"lossless_percent": 50}),
        ("junos", "inet { mtu 9166;", "inet { mtu 1500;", {"mtu": 1500}),
        ("junos", "inet { mtu 9166;", "inet {", {"mtu": 9186}),  # 9200 without the Ethernet header
        (
            "junos",
            "inet { mtu 9166; address 10.128.0.0/31;",
            "inet6 { address fd00::/127;",
            {
                "mtu": 9186,
                "address": "fd00::",
                "peer_address": "fd00::1/127",
            },
        ),
        ("frr", "mtu 9166", "mtu 1500", {"mtu": 1500}),
        ("frr", "10.128.0.0/31", "10.128.0.2/31", {"address": "10.128.0.2", "peer_address": "10.128.0.3/31"}),
    ],
)
def test_other_words(nos: str, pattern: str, new: str, expected: dict[str, Any]) -> None:
    whole = {**WHOLE.get(nos, {}), **expected}
    assert ends(nos, (pattern, new))["gpu-0001", "compute1"] == replace(END, **whole)


@pytest.mark.parametrize(
    ("nos", "pattern", "new", "mtu"),
    [
        ("eos", "access vlan 100", "trunk allowed vlan 7,99-100", 9100),
        ("eos", "access vlan 100", "trunk allowed vlan none", None),
        ("nxos", "access vlan 100", "access vlan 7", 9216),
        ("cumulus", "access: 100", "vlan: {'7': {}, '100': {}}", 9100),
        ("cumulus", "access: 100", "access: 7", 9166),
        ("junos", "members red-login", "members [ 7 100 ]", 9100),
        ("junos", "members red-login", "members blue", 9204),
        ("junos", "interface-mode access; vlan { members red-login; }", "interface-mode trunk;", 9200),
        ("frr", "bridge-access 100", "bridge-vids 7 100", 9100),
        ("frr", "    bridge-access 100\n", "", 9166),
    ],
)
def test_what_a_bond_and_its_networks_carry(nos: str, pattern: str, new: str, mtu: int | None) -> None:
    assert ends(nos, (pattern, new))["gpu-0001", "frontend1"] == replace(NOTHING, mtu=mtu)


def test_classes_of_a_bond() -> None:
    """A profile may be reported of a member or of its bond; Junos tells it of the bond."""
    classes = replace(END, mtu=9100, address=None, peer_address=None)
    for nos, pattern, new in (
        ("eos", "(channel-group 1 mode active)", r"\1\n   service-profile ROCE"),
        ("eos", "(interface Port-Channel1)", r"\1\n   service-profile ROCE"),
        ("nxos", "(channel-group 1.*)", r"\1\n  priority-flow-control mode on\n  service-policy type qos input CLASSIFY"),
        ("cumulus", "{pfc: {profile: NO-PFC}.*", "{pfc: {profile: ROCE-3M}}"),
        ("junos", "et-0/0/0:0 {\n            cong", "ae1 {\n            cong"),
    ):
        assert ends(nos, (pattern, new))["gpu-0001", "frontend1"] == replace(classes, **WHOLE.get(nos, {})), nos


@pytest.mark.parametrize(
    ("name", "nos"), [("frr.conf", "sonic"), ("config_db.json", "sonic"), ("config_db.json", "eos"), ("accounts", "frr")]
)
def test_files_that_tell_of_no_cables(name: str, nos: str) -> None:
    assert ends_of(read_device("leaf1", nos, {name: "no matter what"})) == {}


def test_a_path_is_as_good_as_a_name() -> None:
    assert ends_of(read_device("leaf1", "frr", {"configs/leaf1/interfaces": FRR})) == ends("frr")


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, None), ("", None), ("spare", None), ("red on wan port1", None), ('"gpu-0001 nic1"', ("gpu-0001", "nic1"))],
)
def test_descriptions(text: str | None, expected: tuple[str, str] | None) -> None:
    assert server_port(text) == expected
