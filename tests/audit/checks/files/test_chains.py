"""EVPN followed part by part, equal paths by destination, cages, and what two ends must have alike."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.audit.checks.files.helpers import Case, Files, all_say, but

NXOS = """\
hostname leaf{n}
nv overlay evpn
feature bgp
feature interface-vlan
feature vn-segment-vlan-based
feature nv overlay
vlan 10
  vn-segment 10010
vlan 3001
  vn-segment 50001
vrf context red
  vni 50001
  rd 10.8.0.{n}:1
  address-family ipv4 unicast
    route-target both 65000:50001
    route-target both 65000:50001 evpn
interface Vlan10
  no shutdown
  vrf member red
  ip address 10.20.0.1/24
  fabric forwarding mode anycast-gateway
interface Vlan3001
  no shutdown
  vrf member red
  ip forward
interface nve1
  no shutdown
  host-reachability protocol bgp
  source-interface loopback0
  member vni 10010
    ingress-replication protocol bgp
  member vni 50001 associate-vrf
interface Ethernet1/1
  no switchport
  ip address 10.9.{n}.0/31
  no shutdown
interface Ethernet1/2
  no switchport
  ip address 10.9.{n}.2/31
  no shutdown
interface loopback0
  ip address 10.8.0.{n}/32
router bgp 6500{n}
  router-id 10.8.0.{n}
  address-family ipv4 unicast
    network 10.8.0.{n}/32
    maximum-paths 4
  neighbor 10.9.{n}.1
    remote-as 65100
    address-family ipv4 unicast
    address-family l2vpn evpn
      send-community extended
  neighbor 10.9.{n}.3
    remote-as 65100
    address-family ipv4 unicast
    address-family l2vpn evpn
      send-community extended
evpn
  vni 10010 l2
    rd 10.8.0.{n}:10
    route-target import 65000:10010
    route-target export 65000:10010
"""
SPINE = """\
hostname spine{n}
interface Ethernet1
   no switchport
   ip address 10.9.1.{port}/31
interface Ethernet2
   no switchport
   ip address 10.9.2.{port}/31
interface Loopback0
   ip address 10.8.0.10{n}/32
router bgp 65100
   router-id 10.8.0.10{n}
   neighbor 10.9.1.{far} remote-as 65001
   neighbor 10.9.2.{far} remote-as 65002
   neighbor 10.9.1.{far} send-community
   neighbor 10.9.2.{far} send-community
   address-family evpn
      neighbor 10.9.1.{far} activate
      neighbor 10.9.1.{far} next-hop-unchanged
      neighbor 10.9.2.{far} activate
      neighbor 10.9.2.{far} next-hop-unchanged
"""
FABRIC: Files = {
    "leaf1.nxos": NXOS.format(n=1),
    "leaf2.nxos": NXOS.format(n=2),
    "spine1.eos": SPINE.format(n=1, port=1, far=0),
    "spine2.eos": SPINE.format(n=2, port=3, far=2),
}


def both(files: Files, old: str, new: str) -> Files:
    """A change on both leaves: what is wrong alike is found as well."""
    leaves = [name for name in files if name.startswith("leaf")]
    return but(files, {name: {old: new} for name in leaves})


EOS = """\
hostname leaf{n}
vlan 10
vrf instance red
interface Ethernet1
   no switchport
   ip address 10.9.0.{at}/31
interface Port-Channel1
   evpn ethernet-segment
      identifier 0000:0000:0001:0001:0001
   lacp system-id 0001.0001.0001
interface Ethernet5
   channel-group 1 mode active
interface Loopback0
   ip address 10.8.0.{n}/32
interface Vlan10
   vrf red
   ip address virtual 10.20.0.1/24
interface Vxlan1
   vxlan source-interface Loopback0
   vxlan vlan 10 vni 10010
   vxlan vrf red vni 50001
router bgp 6500{n}
   router-id 10.8.0.{n}
   neighbor 10.9.0.{far} remote-as 6500{other}
   neighbor 10.9.0.{far} send-community extended
   vlan 10
      rd 10.8.0.{n}:10
      route-target both 10:10010
      redistribute learned
   address-family evpn
      neighbor 10.9.0.{far} activate
   vrf red
      rd 10.8.0.{n}:1
      route-target import evpn 1:50001
      route-target export evpn 1:50001
      redistribute connected
"""
PAIR: Files = {"leaf1.eos": EOS.format(n=1, at=0, far=1, other=2), "leaf2.eos": EOS.format(n=2, at=1, far=0, other=1)}
JUNOS = """\
set system host-name leaf{n}
set interfaces et-0/0/0 unit 0 family inet address 10.9.0.{at}/31
set interfaces et-0/0/1 ether-options 802.3ad ae1
set interfaces ae1 esi 00:11:11:11:11:11:11:11:11:01
set interfaces ae1 esi all-active
set interfaces ae1 aggregated-ether-options lacp active
set interfaces ae1 aggregated-ether-options lacp system-id 00:11:11:11:00:01
set interfaces ae1 unit 0 family ethernet-switching vlan members v10
set interfaces lo0 unit 0 family inet address 10.8.0.{n}/32
set routing-options router-id 10.8.0.{n}
set routing-options autonomous-system 6500{n}
set routing-instances M instance-type mac-vrf
set routing-instances M service-type vlan-aware
set routing-instances M vtep-source-interface lo0.0
set routing-instances M route-distinguisher 10.8.0.{n}:1
set routing-instances M vrf-target target:10:10010
set routing-instances M protocols evpn encapsulation vxlan
set routing-instances M protocols evpn extended-vni-list all
set routing-instances M interface ae1.0
set routing-instances M vlans v10 vlan-id 10
set routing-instances M vlans v10 vxlan vni 10010
set protocols bgp group U type external
set protocols bgp group U family inet unicast
set protocols bgp group U family evpn signaling
set protocols bgp group U neighbor 10.9.0.{far} peer-as 6500{other}
"""
JUNOS_PAIR: Files = {
    "leaf1.junos": JUNOS.format(n=1, at=0, far=1, other=2),
    "leaf2.junos": JUNOS.format(n=2, at=1, far=0, other=1),
}
FRR = """\
frr defaults traditional
hostname leaf{n}
interface swp1
 ip address 10.9.0.{at}/31
router bgp 6500{n}
 neighbor 10.9.0.{far} remote-as 6500{other}
 address-family l2vpn evpn
  neighbor 10.9.0.{far} activate
  advertise-all-vni
  vni 10010
   route-target import 10:10010
   route-target export 10:10010
  exit-vni
 exit-address-family
"""
FRR_PAIR: Files = {
    "leaf1.frr": FRR.format(n=1, at=0, far=1, other=2),
    "leaf2.frr": FRR.format(n=2, at=1, far=0, other=1),
}
NVUE = """\
- set:
    system: {{hostname: leaf{n}}}
    evpn: {{enable: on}}
    interface:
      swp1: {{ip: {{address: {{10.9.0.{at}/31: {{}}}}}}}}
      swp2: {{link: {{breakout: {{4x: {{}}}}}}}}
      swp2s0: {{ip: {{address: {{10.9.5.{at}/31: {{}}}}}}}}
    nve: {{vxlan: {{source: {{address: 10.8.0.{n}}}}}}}
    bridge: {{domain: {{br_default: {{vlan: {{10: {{vni: {{10010: {{}}}}}}}}}}}}}}
    router: {{bgp: {{enable: on, autonomous-system: 6500{n}}}}}
    vrf:
      default:
        router:
          bgp:
            enable: on
            address-family: {{l2vpn-evpn: {{enable: on}}}}
            neighbor:
              10.9.0.{far}: {{remote-as: 6500{other}, address-family: {{l2vpn-evpn: {{enable: on}}}}}}
"""
NVUE_PAIR: Files = {
    "leaf1.cumulus": NVUE.format(n=1, at=0, far=1, other=2),
    "leaf2.cumulus": NVUE.format(n=2, at=1, far=0, other=1),
}
TRADITIONAL: Files = {  # two spines with AS numbers of their own
    **{
        f"leaf{n}.frr": f"frr defaults traditional\nhostname leaf{n}\ninterface swp1\n ip address 10.9.{n}.0/31\n"
        "interface swp2\n"
        f" ip address 10.9.{n}.2/31\ninterface swp3\n ip address 10.20.{n}.1/24\nrouter bgp 6500{n}\n"
        f" neighbor 10.9.{n}.1 remote-as 65101\n neighbor 10.9.{n}.3 remote-as 65102\n address-family ipv4 unicast\n"
        "  redistribute connected\n exit-address-family\n"
        for n in (1, 2)
    },
    **{
        f"spine{s}.frr": f"frr defaults traditional\nhostname spine{s}\ninterface swp1\n ip address 10.9.1.{2 * s - 1}/31\n"
        f"interface swp2\n ip address 10.9.2.{2 * s - 1}/31\nrouter bgp 6510{s}\n"
        f" neighbor 10.9.1.{2 * s - 2} remote-as 65001\n neighbor 10.9.2.{2 * s - 2} remote-as 65002\n"
        for s in (1, 2)
    },
}
RELAXED = both(TRADITIONAL, " address-family", " bgp bestpath as-path multipath-relax\n address-family")
SONIC = """\
{
"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}},
"BREAKOUT_CFG": {
"Ethernet0": {"brkout_mode": "2x200G"}},
"PORT": {
"Ethernet0": {"lanes": "1,2,3,4", "speed": "200000"},
"Ethernet4": {"lanes": "5,6,7,8", "speed": "200000"}},
"INTERFACE": {
"Ethernet0": {}, "Ethernet0|10.9.0.0/31": {},
"Ethernet4": {}, "Ethernet4|10.9.0.2/31": {}}
}
"""
PARALLEL: Files = {  # two links between two leaves
    f"leaf{n}.eos": f"hostname leaf{n}\ninterface Ethernet1\n   ip address 10.9.1.{n}/24\ninterface Ethernet2\n"
    f"   ip address 10.9.2.{n}/24\ninterface Vlan20\n   ip address 10.20.{n}.1/24\nrouter bgp 6500{n}\n"
    f"   neighbor 10.9.1.{3 - n} remote-as 6500{3 - n}\n   neighbor 10.9.2.{3 - n} remote-as 6500{3 - n}\n"
    "   redistribute connected\n"
    for n in (1, 2)
}
PERMIT = "route-map FIRST permit 10\nroute-map SECOND permit 10\nrouter bgp"
CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2550", "Junos: targets of a VNI in one direction"): (
        both(
            JUNOS_PAIR,
            "set routing-instances M vrf-target target:10:10010\n",
            "set routing-instances M vrf-target target:10:10010\n"
            "set routing-instances M protocols evpn vni-options vni 10010 vrf-target export target:10:10010\n",
        ),
        [],
    ),
    ("FAB2550", "NX-OS"): (
        FABRIC,
        [],
    ),
    ("FAB2550", "NX-OS: no interface of the VLAN of an L3 VNI"): (
        both(FABRIC, "interface Vlan3001\n  no shutdown\n  vrf member red\n  ip forward\n", ""),
        [
            "leaf1.nxos:10: error[FAB2550]: leaf1: VRF red: no interface Vlan3001 (VNI 50001 → VLAN 3001 → "
            "interface Vlan3001)",
            "leaf2.nxos:10: error[FAB2550]: leaf2: VRF red: no interface Vlan3001 (VNI 50001 → VLAN 3001 → "
            "interface Vlan3001)",
        ],
    ),
    ("FAB2550", "NX-OS: no IP on it"): (
        both(FABRIC, "  ip forward\n", ""),
        [
            "leaf1.nxos:22: error[FAB2550]: leaf1: VRF red: no `ip forward` (VNI 50001 → VLAN 3001 → "
            "interface Vlan3001 → `ip forward`)",
            "leaf2.nxos:22: error[FAB2550]: leaf2: VRF red: no `ip forward` (VNI 50001 → VLAN 3001 → "
            "interface Vlan3001 → `ip forward`)",
        ],
    ),
    ("FAB2550", "NX-OS: no member of the tunnel"): (
        both(FABRIC, "  member vni 10010\n    ingress-replication protocol bgp\n", ""),
        [
            "leaf1.nxos:8: error[FAB2550]: leaf1: VLAN 10: no `member vni 10010` of the tunnel interface "
            "(VNI 10010 → `member vni 10010` of the tunnel interface)",
            "leaf2.nxos:8: error[FAB2550]: leaf2: VLAN 10: no `member vni 10010` of the tunnel interface "
            "(VNI 10010 → `member vni 10010` of the tunnel interface)",
        ],
    ),
    ("FAB2550", "NX-OS: broadcast is not replicated"): (
        both(FABRIC, "    ingress-replication protocol bgp\n", ""),
        [
            "leaf1.nxos:30: error[FAB2550]: leaf1: VLAN 10: no `mcast-group` or `ingress-replication` (VNI "
            "10010 → `member vni 10010` of the tunnel interface → `mcast-group` or `ingress-replication`)",
            "leaf2.nxos:30: error[FAB2550]: leaf2: VLAN 10: no `mcast-group` or `ingress-replication` (VNI "
            "10010 → `member vni 10010` of the tunnel interface → `mcast-group` or `ingress-replication`)",
        ],
    ),
    ("FAB2550", "NX-OS: no VLAN of the VNI"): (
        both(FABRIC, "  vn-segment 50001\n", ""),
        [
            "leaf1.nxos:11: error[FAB2550]: leaf1: VRF red: no VLAN with `vn-segment 50001` (VNI 50001 → "
            "VLAN with `vn-segment 50001`)",
            "leaf2.nxos:11: error[FAB2550]: leaf2: VRF red: no VLAN with `vn-segment 50001` (VNI 50001 → "
            "VLAN with `vn-segment 50001`)",
        ],
    ),
    ("FAB2550", "NX-OS: none is needed"): (
        both(
            but(FABRIC, {f"leaf{n}.nxos": {"  vn-segment 50001\n": "", "  ip forward\n": ""} for n in (1, 2)}),
            "  vni 50001\n",
            "  vni 50001 l3\n",
        ),
        [],
    ),
    ("FAB2550", "NX-OS: remote leaves are not learned"): (
        both(FABRIC, "  host-reachability protocol bgp\n", ""),
        [
            "leaf1.nxos:26: error[FAB2550]: leaf1: nve1: no `host-reachability protocol bgp` (interface nve1 "
            "→ `host-reachability protocol bgp`)",
            "leaf2.nxos:26: error[FAB2550]: leaf2: nve1: no `host-reachability protocol bgp` (interface nve1 "
            "→ `host-reachability protocol bgp`)",
        ],
    ),
    ("FAB2550", "EOS: nothing is learned"): (
        both(PAIR, "      redistribute learned\n", ""),
        [
            "leaf1.eos:26: error[FAB2550]: leaf1: VLAN 10: no `redistribute learned` (`vlan 10` → `vxlan "
            "vlan 10 vni 10010` → `vlan 10` or its bundle in `router bgp` → `redistribute learned`)",
            "leaf2.eos:26: error[FAB2550]: leaf2: VLAN 10: no `redistribute learned` (`vlan 10` → `vxlan "
            "vlan 10 vni 10010` → `vlan 10` or its bundle in `router bgp` → `redistribute learned`)",
        ],
    ),
    ("FAB2550", "EOS: no VNI of a VRF"): (
        both(PAIR, "   vxlan vrf red vni 50001\n", ""),
        [
            "leaf1.eos:31: error[FAB2550]: leaf1: VRF red: no `vxlan vrf red vni` (`vrf instance red` → `vrf "
            "red` in `router bgp` → `vxlan vrf red vni`)",
            "leaf2.eos:31: error[FAB2550]: leaf2: VRF red: no `vxlan vrf red vni` (`vrf instance red` → `vrf "
            "red` in `router bgp` → `vxlan vrf red vni`)",
        ],
    ),
    ("FAB2550", "EOS: no VLAN"): (
        both(PAIR, "vlan 10\nvrf instance", "vrf instance"),
        [
            "leaf1.eos:19: error[FAB2550]: leaf1: VLAN 10: no `vlan 10` (`vlan 10`)",
            "leaf2.eos:19: error[FAB2550]: leaf2: VLAN 10: no `vlan 10` (`vlan 10`)",
        ],
    ),
    ("FAB2550", "EOS: lists of VTEPs need no EVPN"): (
        both(both(PAIR, "      redistribute learned\n", ""), "   vxlan vrf", "   vxlan flood vtep 10.8.0.9\n   vxlan vrf"),
        [],
    ),
    ("FAB2550", "EOS: no instance"): (
        both(PAIR, "   vlan 10\n      rd", "   vlan 11\n      rd"),
        [
            "leaf1.eos:20: error[FAB2550]: leaf1: VLAN 10: no `vlan 10` or its bundle in `router bgp` (`vlan "
            "10` → `vxlan vlan 10 vni 10010` → `vlan 10` or its bundle in `router bgp`)",
            "leaf2.eos:20: error[FAB2550]: leaf2: VLAN 10: no `vlan 10` or its bundle in `router bgp` (`vlan "
            "10` → `vxlan vlan 10 vni 10010` → `vlan 10` or its bundle in `router bgp`)",
        ],
    ),
    ("FAB2550", "Junos: a VNI that is not extended"): (
        both(JUNOS_PAIR, "extended-vni-list all", "extended-vni-list 10011"),
        [
            "leaf1.junos:17: error[FAB2550]: leaf1: VLAN v10: no VNI 10010 in `extended-vni-list` (VNI 10010 "
            "→ `encapsulation vxlan` in `protocols evpn` → VNI 10010 in `extended-vni-list`)",
            "leaf2.junos:17: error[FAB2550]: leaf2: VLAN v10: no VNI 10010 in `extended-vni-list` (VNI 10010 "
            "→ `encapsulation vxlan` in `protocols evpn` → VNI 10010 in `extended-vni-list`)",
        ],
    ),
    ("FAB2550", "Junos: MPLS"): (
        both(JUNOS_PAIR, "set routing-instances M protocols evpn encapsulation vxlan\n", ""),
        [
            "leaf1.junos:20: error[FAB2550]: leaf1: VLAN v10: no `encapsulation vxlan` in `protocols evpn` "
            "(VNI 10010 → `encapsulation vxlan` in `protocols evpn`)",
            "leaf2.junos:20: error[FAB2550]: leaf2: VLAN v10: no `encapsulation vxlan` in `protocols evpn` "
            "(VNI 10010 → `encapsulation vxlan` in `protocols evpn`)",
        ],
    ),
    ("FAB2550", "FRR: VNIs are not advertised"): (
        both(FRR_PAIR, "  advertise-all-vni\n", ""),
        [
            "leaf1.frr:9: error[FAB2550]: leaf1: VNI 10010: no `advertise-all-vni` (VNI 10010 → `advertise-all-vni`)",
            "leaf2.frr:9: error[FAB2550]: leaf2: VNI 10010: no `advertise-all-vni` (VNI 10010 → `advertise-all-vni`)",
        ],
    ),
    ("FAB2550", "NVUE: EVPN is off"): (
        both(NVUE_PAIR, "    evpn: {enable: on}\n", ""),
        [
            "leaf1.cumulus:8: error[FAB2550]: leaf1: VLAN 10: no `evpn`, switched on (VNI 10010 → `evpn`, switched on)",
            "leaf2.cumulus:8: error[FAB2550]: leaf2: VLAN 10: no `evpn`, switched on (VNI 10010 → `evpn`, switched on)",
        ],
    ),
    ("FAB2550", "no session has the family"): (
        both(PAIR, "   address-family evpn\n", "   address-family ipv4\n"),
        [
            "leaf1.eos:22: error[FAB2550]: leaf1: VRF red, VNI 10010: no neighbor with the EVPN address family",
            "leaf2.eos:22: error[FAB2550]: leaf2: VRF red, VNI 10010: no neighbor with the EVPN address family",
        ],
    ),
    ("FAB2550", "no session has the family, but the VRF has its own"): (
        both(
            both(PAIR, "   address-family evpn\n", "   address-family ipv4\n"),
            "      redistribute connected\n",
            "      redistribute connected\n      neighbor 192.0.2.9 remote-as 65009\n",
        ),
        [f"leaf{n}.eos:22: warning[FAB2550]: leaf{n}: VNI 10010: no neighbor with the EVPN address family" for n in (1, 2)],
    ),
    ("FAB2550", "EOS: the VNI of a VRF that other devices have"): (
        both(PAIR, "   vxlan vrf red vni 50001\n", "   vxlan vrf red vni 50001\n   vxlan vrf blue vni 50002\n"),
        [],
    ),
    ("FAB2551", "one target"): (
        FABRIC,
        [],
    ),
    ("FAB2551", "derived from AS numbers"): (
        both(
            both(
                FABRIC,
                "    route-target both 65000:50001\n    route-target both 65000:50001 evpn\n",
                "    route-target both auto evpn\n",
            ),
            "    route-target import 65000:10010\n    route-target export 65000:10010\n",
            "    route-target import auto\n    route-target export auto\n",
        ),
        [
            "leaf1.nxos:15: error[FAB2551]: leaf1: VRF red: no other device imports route target 65001:50001",
            "leaf2.nxos:15: error[FAB2551]: leaf2: VRF red: no other device imports route target 65002:50001",
            "leaf1.nxos:61: error[FAB2551]: leaf1: VNI 10010: no other device imports route target 65001:10010",
            "leaf2.nxos:61: error[FAB2551]: leaf2: VNI 10010: no other device imports route target 65002:10010",
        ],
    ),
    ("FAB2551", "exported by all and imported by none"): (
        both(PAIR, "route-target import evpn 1:50001", "route-target import evpn 1:50002"),
        [
            "leaf1.eos:35: error[FAB2551]: leaf1: VRF red: no other device imports route target 1:50001",
            "leaf2.eos:35: error[FAB2551]: leaf2: VRF red: no other device imports route target 1:50001",
        ],
    ),
    ("FAB2552", "VLAN-aware on both"): (
        JUNOS_PAIR,
        [],
    ),
    ("FAB2552", "two vendors"): (
        {"leaf1.eos": PAIR["leaf1.eos"], "leaf2.junos": JUNOS_PAIR["leaf2.junos"]},
        [
            "leaf1.eos:26: error[FAB2552]: leaf1: VNI 10010: VLAN-based service, but VLAN-aware on leaf2 (leaf2.junos:13)",
            "leaf2.junos:13: error[FAB2552]: leaf2: VNI 10010: VLAN-aware service, but VLAN-based on leaf1 (leaf1.eos:26)",
        ],
    ),
    ("FAB2552", "FRR"): (
        {"leaf1.frr": FRR_PAIR["leaf1.frr"], "leaf2.junos": JUNOS_PAIR["leaf2.junos"]},
        [
            "leaf1.frr:10: error[FAB2552]: leaf1: VNI 10010: VLAN-based service, but VLAN-aware on leaf2 (leaf2.junos:13)",
            "leaf2.junos:13: error[FAB2552]: leaf2: VNI 10010: VLAN-aware service, but VLAN-based on leaf1 (leaf1.frr:10)",
        ],
    ),
    ("FAB2553", "EOS"): (
        PAIR,
        [],
    ),
    ("FAB2553", "EOS: two system IDs"): (
        but(PAIR, {"leaf2.eos": {"lacp system-id 0001.0001.0001": "lacp system-id 0009.0009.0009"}}),
        [
            "leaf1.eos:10: error[FAB2553]: leaf1: Port-Channel1: LACP system ID 00:01:00:01:00:01, but "
            "00:09:00:09:00:09 on leaf2 (leaf2.eos:10), in Ethernet segment 00:00:00:00:00:01:00:01:00:01",
            "leaf2.eos:10: error[FAB2553]: leaf2: Port-Channel1: LACP system ID 00:09:00:09:00:09, but "
            "00:01:00:01:00:01 on leaf1 (leaf1.eos:10), in Ethernet segment 00:00:00:00:00:01:00:01:00:01",
        ],
    ),
    ("FAB2553", "EOS: none on both"): (
        both(PAIR, "   lacp system-id 0001.0001.0001\n", ""),
        [
            "leaf1.eos:9: error[FAB2553]: leaf1: Port-Channel1: no LACP system ID, so that of the switch, "
            "but its own on leaf2 (leaf2.eos:9), in Ethernet segment 00:00:00:00:00:01:00:01:00:01",
            "leaf2.eos:9: error[FAB2553]: leaf2: Port-Channel1: no LACP system ID, so that of the switch, "
            "but its own on leaf1 (leaf1.eos:9), in Ethernet segment 00:00:00:00:00:01:00:01:00:01",
        ],
    ),
    ("FAB2553", "EOS: two modes"): (
        but(PAIR, {"leaf2.eos": {"   lacp system-id": "      redundancy single-active\n   lacp system-id"}}),
        [
            "leaf1.eos:9: error[FAB2553]: leaf1: Port-Channel1: redundancy mode all-active, but "
            "single-active on leaf2, in Ethernet segment 00:00:00:00:00:01:00:01:00:01",
            "leaf2.eos:10: error[FAB2553]: leaf2: Port-Channel1: redundancy mode single-active, but "
            "all-active on leaf1, in Ethernet segment 00:00:00:00:00:01:00:01:00:01",
        ],
    ),
    ("FAB2553", "Junos: two system IDs"): (
        but(JUNOS_PAIR, {"leaf2.junos": {"system-id 00:11:11:11:00:01": "system-id 00:11:11:11:00:02"}}),
        [
            "leaf1.junos:7: error[FAB2553]: leaf1: ae1: LACP system ID 00:11:11:11:00:01, but "
            "00:11:11:11:00:02 on leaf2 (leaf2.junos:7), in Ethernet segment 00:11:11:11:11:11:11:11:11:01",
            "leaf2.junos:7: error[FAB2553]: leaf2: ae1: LACP system ID 00:11:11:11:00:02, but "
            "00:11:11:11:00:01 on leaf1 (leaf1.junos:7), in Ethernet segment 00:11:11:11:11:11:11:11:11:01",
        ],
    ),
    ("FAB2554", "NX-OS: whole and split"): (
        but(FABRIC, {"leaf1.nxos": {"interface nve1\n": "interface breakout module 1 port 1 map 100g-4x\ninterface nve1\n"}}),
        [
            "leaf1.nxos:34: error[FAB2554]: leaf1: Ethernet1/1 is in use, but its cage is split into 4 ports (line 26)",
        ],
    ),
    ("FAB2554", "NX-OS: parts, and no split"): (
        but(FABRIC, {"leaf1.nxos": {"interface Ethernet1/2\n": "interface Ethernet1/2/1\n"}}),
        [
            "leaf1.nxos:37: error[FAB2554]: leaf1: Ethernet1/2/1 is a part of cage Ethernet1/2, which no statement splits",
        ],
    ),
    ("FAB2554", "NX-OS: more parts than there are"): (
        but(
            FABRIC,
            {
                "leaf1.nxos": {
                    "interface Ethernet1/2\n": "interface breakout module 1 port 2 map 200g-2x\ninterface Ethernet1/2/3\n"
                }
            },
        ),
        [
            "leaf1.nxos:38: error[FAB2554]: leaf1: Ethernet1/2/3 is in use, but Ethernet1/2 is split into 2 ports (line 37)",
        ],
    ),
    ("FAB2554", "NVUE: split"): (
        NVUE_PAIR,
        [],
    ),
    ("FAB2554", "NVUE: whole and split"): (
        but(
            NVUE_PAIR,
            {"leaf1.cumulus": {"{breakout: {4x: {}}}}": "{breakout: {4x: {}}}, ip: {address: {10.9.9.1/31: {}}}}"}},
        ),
        [
            "leaf1.cumulus:6: error[FAB2554]: leaf1: swp2 is in use, but its cage is split into 4 ports (line 6)",
        ],
    ),
    ("FAB2554", "NVUE: no split"): (
        but(NVUE_PAIR, {"leaf1.cumulus": {"      swp2: {link: {breakout: {4x: {}}}}\n": ""}}),
        [
            "leaf1.cumulus:6: error[FAB2554]: leaf1: swp2s0 is a part of cage swp2, which no statement splits",
        ],
    ),
    ("FAB2554", "NVUE: no split of a cage that is down"): (
        but(NVUE_PAIR, {"leaf1.cumulus": {"{link: {breakout: {4x: {}}}}": "{link: {state: {down: {}}}}"}}),
        [],
    ),
    ("FAB2554", "NVUE: no module has three lanes"): (
        but(NVUE_PAIR, {"leaf1.cumulus": {"{4x: {}}": "{3x: {}}"}}),
        [
            "leaf1.cumulus:6: error[FAB2554]: leaf1: swp2 is split into 3 ports: expected 1, 2, 4 or 8",
        ],
    ),
    ("FAB2554", "EOS: lanes of another port"): (
        but(
            PAIR,
            {
                "leaf1.eos": {
                    "interface Ethernet1\n": (
                        "interface Ethernet2/1\n   speed 400g-8\n   ip address 10.9.7.0/31\ninterface "
                        "Ethernet2/5\n   ip address 10.9.8.0/31\ninterface Ethernet1\n"
                    )
                }
            },
        ),
        [
            "leaf1.eos:7: error[FAB2554]: leaf1: Ethernet2/5 is in use, but its cage is without lanes: "
            "another port has them (line 5)",
        ],
    ),
    ("FAB2554", "Junos: whole and split"): (
        but(
            JUNOS_PAIR,
            {"leaf1.junos": {"set interfaces lo0": "set interfaces et-0/0/0 number-of-sub-ports 4\nset interfaces lo0"}},
        ),
        [
            "leaf1.junos:2: error[FAB2554]: leaf1: et-0/0/0 is in use, but its cage is split into 4 ports (line 9)",
        ],
    ),
    ("FAB2554", "Junos: a part, and no split"): (
        but(JUNOS_PAIR, {"leaf1.junos": {"set interfaces et-0/0/0 unit": "set interfaces et-0/0/0:1 unit"}}),
        [
            "leaf1.junos:2: warning[FAB2554]: leaf1: et-0/0/0:1 is a part of cage et-0/0/0, which no statement splits",
        ],
    ),
    ("FAB2554", "SONiC: split"): (
        {"leaf1.sonic/config_db.json": SONIC},
        [],
    ),
    ("FAB2554", "SONiC: ports of another speed"): (
        {"leaf1.sonic/config_db.json": SONIC.replace("2x200G", "2x400G")},
        [
            "leaf1.sonic/config_db.json:6: error[FAB2554]: leaf1: Ethernet0: 200G, but "
            "BREAKOUT_CFG|Ethernet0 is split into ports of 400G (line 4)",
            "leaf1.sonic/config_db.json:7: error[FAB2554]: leaf1: Ethernet4: 200G, but "
            "BREAKOUT_CFG|Ethernet0 is split into ports of 400G (line 4)",
        ],
    ),
    ("FAB2554", "SONiC: a port too many"): (
        {"leaf1.sonic/config_db.json": SONIC.replace("2x200G", "1x400G[200G]")},
        [
            "leaf1.sonic/config_db.json:7: error[FAB2554]: leaf1: Ethernet4 is in use, but "
            "BREAKOUT_CFG|Ethernet0 is split into 1 port (line 4)",
        ],
    ),
    ("FAB2555", "nothing is stated"): (
        PAIR,
        [],
    ),
    ("FAB2555", "two codes"): (
        but(
            PAIR,
            {
                "leaf1.eos": {
                    "   ip address 10.9.0.0/31": "   error-correction encoding reed-solomon\n   ip address 10.9.0.0/31"
                },
                "leaf2.eos": {"   ip address 10.9.0.1/31": "   no error-correction encoding\n   ip address 10.9.0.1/31"},
            },
        ),
        [
            "leaf1.eos:6: error[FAB2555]: leaf1: Ethernet1: error correction rs, but none at leaf2 Ethernet1 (leaf2.eos:6)",
        ],
    ),
    ("FAB2555", "two UDP ports"): (
        but(PAIR, {"leaf1.eos": {"   vxlan vlan": "   vxlan udp-port 8472\n   vxlan vlan"}}),
        [
            "leaf1.eos:20: error[FAB2555]: leaf1: VXLAN to UDP port 8472, but 4789 on leaf2",
            "leaf2.eos:19: error[FAB2555]: leaf2: VXLAN to UDP port 4789, but 8472 on leaf1",
        ],
    ),
    ("FAB2556", "one gateway"): (
        PAIR,
        [],
    ),
    ("FAB2556", "another one"): (
        but(PAIR, {"leaf2.eos": {"virtual 10.20.0.1/24": "virtual 10.20.0.2/24"}}),
        [
            "leaf1.eos:17: error[FAB2556]: leaf1: Vlan10: gateway 10.20.0.1 of VNI 10010, but 10.20.0.2 on "
            "leaf2 (leaf2.eos:17)",
            "leaf2.eos:17: error[FAB2556]: leaf2: Vlan10: gateway 10.20.0.2 of VNI 10010, but 10.20.0.1 on "
            "leaf1 (leaf1.eos:17)",
        ],
    ),
    ("FAB2557", "connected routes"): (
        RELAXED,
        [],
    ),
    ("FAB2557", "no statement"): (
        both(RELAXED, "  redistribute connected\n", ""),
        [
            "leaf1.frr:9: warning[FAB2557]: leaf1: BGP: no statement advertises 1 subnet, 10.20.1.0/24",
            "leaf2.frr:9: warning[FAB2557]: leaf2: BGP: no statement advertises 1 subnet, 10.20.2.0/24",
        ],
    ),
    ("FAB2557", "a wide subnet of a neighbor"): (
        but(
            both(RELAXED, "  redistribute connected\n", ""),
            {f"leaf{n}.frr": {" address-family": f" neighbor 10.20.{n}.9 remote-as 65009\n address-family"} for n in (1, 2)},
        ),
        [],
    ),
    ("FAB2557", "a link-local subnet"): (
        both(
            but(RELAXED, {f"leaf{n}.frr": {f"10.20.{n}.1/24": f"169.254.{n}.1/24"} for n in (1, 2)}),
            "  redistribute connected\n",
            "",
        ),
        [],
    ),
    ("FAB2557", "the map of the other direction"): (
        but(
            RELAXED,
            {
                "leaf1.frr": {
                    "  redistribute connected\n exit-address-family\n": (
                        "  redistribute connected\n  neighbor 10.9.1.1 route-map OUT in\n  neighbor "
                        "10.9.1.3 route-map OUT in\n exit-address-family\nip prefix-list OWN permit "
                        "10.20.1.0/24\nroute-map OUT permit 10\n match ip address prefix-list OWN\n"
                    )
                }
            },
        ),
        [
            "leaf1.frr:15: warning[FAB2557]: leaf1: OUT permits none of 1 subnet of other devices, and no session does",
        ],
    ),
    ("FAB2557", "a map that permits others"): (
        but(
            RELAXED,
            {
                "leaf1.frr": {
                    "  redistribute connected\n exit-address-family\n": (
                        "  redistribute connected\n  neighbor 10.9.1.1 route-map OUT out\n  neighbor "
                        "10.9.1.3 route-map OUT out\n exit-address-family\nip prefix-list OWN permit "
                        "10.21.1.0/24\nroute-map OUT permit 10\n match ip address prefix-list OWN\n"
                    )
                }
            },
        ),
        [
            "leaf1.frr:15: warning[FAB2557]: leaf1: OUT permits none of 1 subnet, 10.20.1.0/24, and no session does",
        ],
    ),
    ("FAB2558", "none"): (
        PAIR,
        [],
    ),
    ("FAB2558", "NVUE"): (
        but(
            NVUE_PAIR,
            {"leaf1.cumulus": {"l2vpn-evpn: {enable: on}}}\n": "l2vpn-evpn: {enable: on, route-reflector-client: on}}}\n"}},
        ),
        [
            "leaf1.cumulus:18: error[FAB2558]: leaf1: neighbor 10.9.0.1: client of a route reflector, but in another AS",
        ],
    ),
    ("FAB2558", "EOS, in a group"): (
        but(
            PAIR,
            {
                "leaf1.eos": {
                    "   neighbor 10.9.0.1 send": (
                        "   neighbor RR peer group\n   neighbor RR route-reflector-client\n   neighbor "
                        "10.9.0.1 peer group RR\n   neighbor 10.9.0.1 send"
                    )
                }
            },
        ),
        [
            "leaf1.eos:26: error[FAB2558]: leaf1: neighbor 10.9.0.1: client of a route reflector, but in another AS",
        ],
    ),
    ("FAB2558", "Junos"): (
        but(
            JUNOS_PAIR,
            {
                "leaf1.junos": {
                    "set protocols bgp group U type external\n": (
                        "set protocols bgp group U type external\nset protocols bgp group U cluster 10.8.0.1\n"
                    )
                }
            },
        ),
        [
            "leaf1.junos:23: error[FAB2558]: leaf1: neighbor 10.9.0.1: client of a route reflector, but in another AS",
        ],
    ),
    ("FAB261", "NX-OS: as many as there are, and one path of each spine to a leaf"): (
        FABRIC,
        [],
    ),
    ("FAB261", "NX-OS: none is stated"): (
        both(FABRIC, "    maximum-paths 4\n", ""),
        [
            "leaf1.nxos:43: error[FAB261]: leaf1: BGP: 1 of 2 equal-cost paths is used",
            "leaf2.nxos:43: error[FAB261]: leaf2: BGP: 1 of 2 equal-cost paths is used",
        ],
    ),
    ("FAB261", "NX-OS: those of iBGP do not count"): (
        both(FABRIC, "maximum-paths 4", "maximum-paths ibgp 4"),
        [
            "leaf1.nxos:47: error[FAB261]: leaf1: BGP: 1 of 2 equal-cost paths is used",
            "leaf2.nxos:47: error[FAB261]: leaf2: BGP: 1 of 2 equal-cost paths is used",
        ],
    ),
    ("FAB261", "FRR: spines of two AS numbers are equal if it is stated"): (
        RELAXED,
        [],
    ),
    ("FAB261", "FRR: and not by default"): (
        TRADITIONAL,
        [
            "leaf1.frr:9: error[FAB261]: leaf1: BGP: 2 paths with 2 AS numbers are not used as equal-cost paths",
            "leaf2.frr:9: error[FAB261]: leaf2: BGP: 2 paths with 2 AS numbers are not used as equal-cost paths",
        ],
    ),
    ("FAB261", "EOS: sessions in parallel"): (
        PARALLEL,
        [f"leaf{n}.eos:8: error[FAB261]: leaf{n}: BGP: 1 of 2 equal-cost paths is used" for n in (1, 2)],
    ),
    ("FAB261", "EOS: sessions in parallel with policies of their own"): (
        {
            f"leaf{n}.eos": PARALLEL[f"leaf{n}.eos"].replace("router bgp", PERMIT)
            + f"   neighbor 10.9.1.{3 - n} route-map FIRST out\n   neighbor 10.9.2.{3 - n} route-map SECOND out\n"
            for n in (1, 2)
        },
        [],
    ),
    ("FAB261", "EOS: sessions in parallel that advertise nothing"): (
        {
            f"leaf{n}.eos": PARALLEL[f"leaf{n}.eos"].replace("router bgp", "route-map NONE deny 10\nrouter bgp")
            + f"   neighbor 10.9.1.{3 - n} route-map NONE out\n   neighbor 10.9.2.{3 - n} route-map NONE out\n"
            for n in (1, 2)
        },
        [],
    ),
    ("FAB2534", "EOS: a list without VTEPs"): (
        but(PAIR, {"leaf1.eos": {"   vxlan vrf": "   vxlan vlan 10 flood vtep\n   vxlan vrf"}}),
        [
            "leaf1.eos:21: error[FAB2534]: leaf1: `vxlan vlan 10 flood vtep` names no VTEP: EOS takes it as incomplete\n"
            "    hint: add the addresses of the VTEPs, or remove the line",
        ],
    ),
}
QUIET = {"NX-OS": FABRIC, "EOS": PAIR, "Junos": JUNOS_PAIR, "FRR": FRR_PAIR, "NVUE": NVUE_PAIR}
OURS = {f"FAB25{n}" for n in range(50, 59)} | {"FAB261"}


@pytest.mark.parametrize("name", QUIET)
def test_a_sound_network_is_quiet(name: str) -> None:
    assert [str(finding) for finding in all_say(QUIET[name]) if finding.id in OURS] == []
