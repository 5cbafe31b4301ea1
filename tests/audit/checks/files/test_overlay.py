"""EVPN/VXLAN of several leaves: one VNI, one meaning, everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import Case, all_say, but

EOS = """\
interface Ethernet1
   description spine1 et-0/0/{n}
   mtu 9214
   ip address 10.0.{n}.1/31
interface Port-Channel5
   evpn ethernet-segment
      identifier 0000:0000:0000:0000:0005
interface Loopback1
   ip address 10.254.0.{n}/32
interface Vlan10
   vrf red
   mtu 9164
   ip address virtual 10.10.0.1/24
interface Vxlan1
   vxlan source-interface Loopback1
   vxlan vlan 10 vni 10010
   vxlan vrf red vni 50001
vrf instance red
ip virtual-router mac-address 00:00:5e:00:01:01
router bgp 65000
   router-id 10.255.0.{n}
   vlan 10
      rd 10.255.0.{n}:10
      route-target both 65000:10010
   vrf red
      rd 10.255.0.{n}:1
      route-target import evpn 65000:50001
      route-target export evpn 65000:50001
"""
NXOS = """\
feature bgp
fabric forwarding anycast-gateway-mac 0000.5e00.0101
vlan 10
  vn-segment 10010
vlan 3001
  vn-segment 50001
vrf context red
  vni 50001
  rd 10.255.0.3:1
  address-family ipv4 unicast
    route-target import 65000:50001 evpn
    route-target export 65000:50001 evpn
interface loopback1
  ip address 10.254.0.3/32
interface nve1
  source-interface loopback1
  member vni 10010
  member vni 50001 associate-vrf
router bgp 65000
  router-id 10.255.0.3
evpn
  vni 10010 l2
    rd 10.255.0.3:10
    route-target import 65000:10010
    route-target export 65000:10010
"""
SPINE = """\
set interfaces et-0/0/1 description "leaf1 Ethernet1"
set interfaces et-0/0/1 unit 0 family inet mtu 9214
set interfaces et-0/0/1 unit 0 family inet address 10.0.1.0/31
"""
LEAVES = {"leaf1.eos": EOS.format(n=1), "leaf2.eos": EOS.format(n=2), "leaf3.nxos": NXOS, "spine1.junos": SPINE}
TWO = {"leaf1.eos": EOS.format(n=1), "leaf2.eos": EOS.format(n=2)}
# Every leaf has a segment of its own AS in its targets: nothing is odd where all differ.
OWN_TARGETS = {name: text.replace("65000:10010", f"6500{at}:10010") for at, (name, text) in enumerate(sorted(LEAVES.items()))}
# VLANs have a meaning on one switch: pairs of leaves use one VLAN for different networks.
LOCAL_VLANS = {f"leaf{n}.eos": EOS.format(n=n).replace("vni 10010", f"vni {10010 if n < 3 else 20010}") for n in (1, 2, 3, 4)}
MORE = "      identifier 0000:0000:0000:0000:0005\n"
TWIN = f"{MORE}interface Port-Channel6\n   evpn ethernet-segment\n{MORE}"

CROSSED = """\
hostname leaf{n}
interface Vxlan1
   vxlan source-interface Loopback0
   vxlan vlan 10 vni 10010
router bgp 6500{n}
   vlan 10
      route-target import 6500{far}:10010
      route-target import 65003:10010
      route-target export 6500{n}:10010
"""
TAKES_ALL = """\
router bgp 65003
 address-family l2vpn evpn
  advertise-all-vni
  vni 10010
   route-target export 65003:10010
  exit-vni
"""
CROSSING = {"leaf1.eos": CROSSED.format(n=1, far=2), "leaf2.eos": CROSSED.format(n=2, far=1), "leaf3.frr": TAKES_ALL}

CASES: Mapping[tuple[str, str], Case] = {
    ("FAB264", "one meaning"): (LEAVES, []),
    ("FAB264", "a VLAN of each pair of leaves"): (LOCAL_VLANS, []),
    ("FAB264", "another VLAN on one of three"): (
        but(LEAVES, {"leaf3.nxos": {"vlan 10\n": "vlan 11\n"}}),
        [
            "leaf3.nxos:3: error[FAB264]: leaf3: VNI 10010: VLAN 11, but VLAN 10 on 2 other devices",
        ],
    ),
    ("FAB264", "another VNI on one of two"): (
        but(TWO, {"leaf2.eos": {"vlan 10 vni 10010": "vlan 10 vni 10011"}}),
        [
            "leaf1.eos:16: error[FAB264]: leaf1: VLAN 10: VNI 10010, but VNI 10011 on leaf2",
            "leaf2.eos:16: error[FAB264]: leaf2: VLAN 10: VNI 10011, but VNI 10010 on leaf1",
        ],
    ),
    ("FAB264", "another VLAN on one of two"): (
        but(TWO, {"leaf2.eos": {"vlan 10 vni 10010": "vlan 11 vni 10010"}}),
        [
            "leaf1.eos:16: error[FAB264]: leaf1: VNI 10010: VLAN 10, but VLAN 11 on leaf2",
            "leaf2.eos:16: error[FAB264]: leaf2: VNI 10010: VLAN 11, but VLAN 10 on leaf1",
        ],
    ),
    ("FAB264", "more than 24 bits"): (
        but(TWO, {"leaf2.eos": {"vlan 10 vni 10010": "vlan 10 vni 16777216"}}),
        [
            "leaf1.eos:16: error[FAB264]: leaf1: VLAN 10: VNI 10010, but VNI 16777216 on leaf2",
            "leaf2.eos:16: error[FAB264]: leaf2: VLAN 10: VNI 16777216, but VNI 10010 on leaf1",
        ],
    ),
    ("FAB265", "one to one"): (LEAVES, []),
    ("FAB265", "another VNI on one of three"): (
        but(LEAVES, {"leaf2.eos": {"vrf red vni 50001": "vrf red vni 50002"}}),
        [
            "leaf2.eos:17: error[FAB265]: leaf2: VRF red: VNI 50002, but VNI 50001 on 2 other devices",
        ],
    ),
    ("FAB265", "the VNI of another tenant"): (
        but(
            TWO,
            {"leaf2.eos": {"vxlan vrf red vni 50001": "vxlan vrf blue vni 50001", "vrf instance red": "vrf instance blue"}},
        ),
        [
            "leaf1.eos:17: error[FAB265]: leaf1: VRF red: VNI 50001 is also assigned to VRF blue on leaf2 (leaf2.eos:17)",
            "leaf2.eos:17: error[FAB265]: leaf2: VRF blue: VNI 50001 is also assigned to VRF red on leaf1 (leaf1.eos:17)",
        ],
    ),
    ("FAB265", "the VNI of a network"): (
        but(LEAVES, {"leaf1.eos": {"vlan 10 vni 10010": "vlan 10 vni 50001", "   vxlan vrf red vni 50001\n": ""}}),
        [
            "leaf1.eos:16: error[FAB265]: leaf1: VNI 50001: L2 VNI on this device, but L3 VNI of VRF red on leaf2",
        ],
    ),
    ("FAB265", "another import target"): (
        but(LEAVES, {"leaf2.eos": {"import evpn 65000:50001": "import evpn 65000:50007"}}),
        [
            "leaf2.eos:27: error[FAB265]: leaf2: VRF red: import route targets 65000:50007, but 65000:50001 on "
            "the other leaves",
        ],
    ),
    ("FAB265", "another export target of a network"): (
        but(LEAVES, {"leaf3.nxos": {"route-target export 65000:10010": "route-target export 65000:10011"}}),
        [
            "leaf3.nxos:25: error[FAB265]: leaf3: VNI 10010: export route targets 65000:10011, but 65000:10010 "
            "on the other leaves",
        ],
    ),
    ("FAB265", "targets of each leaf's own"): (OWN_TARGETS, []),
    ("FAB265", "each leaf takes what the others send, one of them all of the VNI"): (CROSSING, []),
    ("FAB265", "one leaf takes what no other sends"): (
        but(CROSSING, {"leaf2.eos": {"import 65001:10010": "import 65009:10010"}}),
        [
            "leaf1.eos:7: warning[FAB265]: leaf1: VNI 10010: import route targets 65002:10010, 65003:10010, but 65003:10010, "
            "65009:10010 on the other leaves",
            "leaf2.eos:7: warning[FAB265]: leaf2: VNI 10010: import route targets 65003:10010, 65009:10010, but 65002:10010, "
            "65003:10010 on the other leaves",
        ],
    ),
    ("FAB266", "each its own"): (LEAVES, []),
    ("FAB266", "borrowed"): (
        but(LEAVES, {"leaf2.eos": {"rd 10.255.0.2:10": "rd 10.255.0.1:10"}}),
        [
            "leaf2.eos:23: error[FAB266]: leaf2: VNI 10010: route distinguisher 10.255.0.1:10 is also configured on leaf1",
        ],
    ),
    ("FAB266", "borrowed for several VLANs, on one line"): (
        {
            f"leaf{n}.eos": f"hostname leaf{n}\ninterface Loopback0\n   ip address 10.255.0.{n}/32\ninterface Vxlan1\n"
            "   vxlan source-interface Loopback0\n   vxlan vlan 10 vni 10010\n   vxlan vlan 20 vni 10020\nrouter bgp 65000\n"
            "   vlan-aware-bundle all\n      rd 10.255.0.1:100\n      vlan 10,20\n"
            for n in (1, 2)
        },
        [
            "leaf2.eos:10: error[FAB266]: leaf2: VNI 10010: route distinguisher 10.255.0.1:100 is also configured on leaf1",
        ],
    ),
    ("FAB266", "the same everywhere"): (
        but(LEAVES, {"leaf1.eos": {"rd 10.255.0.1:1\n": "rd 65000:1\n"}, "leaf2.eos": {"rd 10.255.0.2:1\n": "rd 65000:1\n"}}),
        [
            "leaf1.eos:26: warning[FAB266]: leaf1: VRF red: route distinguisher 65000:1 is also configured on leaf2",
            "leaf2.eos:26: warning[FAB266]: leaf2: VRF red: route distinguisher 65000:1 is also configured on leaf1",
        ],
    ),
    ("FAB267", "a loopback, one MAC address"): (LEAVES, []),
    ("FAB267", "an interface that is not there"): (
        but(LEAVES, {"leaf1.eos": {"source-interface Loopback1": "source-interface Loopback2"}}),
        [
            "leaf1.eos:15: error[FAB267]: leaf1: tunnel source Loopback2 is not configured on this device",
        ],
    ),
    ("FAB267", "another MAC address on one of three"): (
        but(LEAVES, {"leaf3.nxos": {"0000.5e00.0101": "0000.5e00.0102"}}),
        [
            "leaf3.nxos:2: warning[FAB267]: leaf3: anycast gateway MAC address 00:00:5e:00:01:02, but "
            "00:00:5e:00:01:01 on other leaves",
        ],
    ),
    ("FAB267", "no MAC address of an interface"): (
        but(TWO, {f"leaf{n}.eos": {"00:00:5e:00:01:01": "00:00:00:00:00:00"} for n in (1, 2)}),
        [
            f"leaf{n}.eos:19: error[FAB267]: leaf{n}: anycast gateway: expected a unicast MAC address, got 00:00:00:00:00:00"
            for n in (1, 2)
        ],
    ),
    ("FAB267", "two MAC addresses on two"): (
        but(TWO, {"leaf2.eos": {"00:00:5e:00:01:01": "00:00:5e:00:01:02"}}),
        [
            "leaf1.eos:19: warning[FAB267]: leaf1: anycast gateway MAC address 00:00:5e:00:01:01, but "
            "00:00:5e:00:01:02 on other leaves",
            "leaf2.eos:19: warning[FAB267]: leaf2: anycast gateway MAC address 00:00:5e:00:01:02, but "
            "00:00:5e:00:01:01 on other leaves",
        ],
    ),
    ("FAB268", "on both leaves"): (TWO, []),
    ("FAB268", "on one leaf alone"): (
        but(TWO, {"leaf2.eos": {"0000:0000:0005": "0000:0000:0006"}}),
        [
            "leaf1.eos:7: warning[FAB268]: leaf1: Port-Channel5: Ethernet segment "
            "00:00:00:00:00:00:00:00:00:05 is configured on no other device",
            "leaf2.eos:7: warning[FAB268]: leaf2: Port-Channel5: Ethernet segment "
            "00:00:00:00:00:00:00:00:00:06 is configured on no other device",
        ],
    ),
    ("FAB268", "on two bonds of one leaf"): (
        but(TWO, {"leaf2.eos": {MORE: TWIN}}),
        [
            "leaf2.eos:7: error[FAB268]: leaf2: Port-Channel5: Ethernet segment "
            "00:00:00:00:00:00:00:00:00:05 is also configured on Port-Channel6",
            "leaf2.eos:10: error[FAB268]: leaf2: Port-Channel6: Ethernet segment "
            "00:00:00:00:00:00:00:00:00:05 is also configured on Port-Channel5",
        ],
    ),
    ("FAB269", "room for the header"): (LEAVES, []),
    ("FAB269", "as large as the link"): (
        but(LEAVES, {"leaf1.eos": {"mtu 9164": "mtu 9214"}}),
        [
            "leaf1.eos:12: note[FAB269]: leaf1: Vlan10: MTU 9214 + 50 bytes (VXLAN) exceeds the MTU 9214 of the fabric links",
        ],
    ),
}


def test_sound_leaves_are_left_in_peace() -> None:
    assert [str(finding) for finding in all_say(LEAVES) if "FAB264" <= finding.id <= "FAB269"] == []
