"""Sessions as both ends configure them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.audit.checks.files.helpers import SMALL, Case, all_say, but, without


def clos(leaves: int, spines: int) -> dict[str, str]:
    """Of one vendor, with sessions between loopbacks, which spines listen for."""
    found = {}
    for leaf in range(1, leaves + 1):
        ports = "".join(f"interface Ethernet{n}\n   ip address 10.0.{leaf}.{2 * n - 1}/31\n" for n in range(1, spines + 1))
        peers = [f"neighbor 10.0.{leaf}.{2 * n - 2}" for n in range(1, spines + 1)]
        over = "".join(f"   neighbor 10.255.0.{100 + n} peer group OVERLAY\n" for n in range(1, spines + 1))
        found[f"leaf{leaf}.eos"] = f"""\
{ports}interface Loopback0
   ip address 10.255.0.{leaf}/32
router bgp 6500{leaf}
   router-id 10.255.0.{leaf}
   no bgp default ipv4-unicast
   maximum-paths 2
   neighbor OVERLAY peer group
   neighbor OVERLAY remote-as 65100
   neighbor OVERLAY update-source Loopback0
   neighbor OVERLAY ebgp-multihop 2
   neighbor OVERLAY bfd
{"".join(f"   {peer} remote-as 65100{chr(10)}" for peer in peers)}{over}   address-family ipv4
{"".join(f"      {peer} activate{chr(10)}" for peer in peers)}   address-family evpn
      neighbor OVERLAY activate
"""
    for spine in range(1, spines + 1):
        ports = "".join(f"interface Ethernet{n}\n   ip address 10.0.{n}.{2 * spine - 2}/31\n" for n in range(1, leaves + 1))
        peers = [f"   neighbor 10.0.{n}.{2 * spine - 1} remote-as 6500{n}\n" for n in range(1, leaves + 1)]
        found[f"spine{spine}.eos"] = f"""\
{ports}interface Loopback0
   ip address 10.255.0.{100 + spine}/32
router bgp 65100
   router-id 10.255.0.{100 + spine}
   maximum-paths 2
{"".join(peers)}   neighbor LEAVES peer group
   neighbor LEAVES update-source Loopback0
   neighbor LEAVES ebgp-multihop 2
   neighbor LEAVES bfd
   bgp listen range 10.255.0.0/26 peer-group LEAVES peer-filter ANY
   address-family evpn
      neighbor LEAVES activate
"""
    return found


WIDE = clos(2, 2)
# Unnumbered sessions between two vendors: only the descriptions tell what is cabled to what.
UNNUMBERED = {
    "leaf1.eos": """\
interface Ethernet1
   description spine1 swp1
   ipv6 enable
router bgp 65001
   neighbor interface Ethernet1 peer-group LINKS
   neighbor LINKS peer group
   neighbor LINKS remote-as 65100
""",
    "spine1.frr": """\
frr defaults datacenter
interface swp1
 description leaf1 Ethernet1
router bgp 65100
 neighbor swp1 interface remote-as external
""",
}
# A reflector and its clients, all of one AS; one client's other reflector is not among the files.
INTERNAL = {
    "rr1.junos": """\
set interfaces lo0 unit 0 family inet address 10.255.1.1/32
set routing-options autonomous-system 65000
set protocols bgp group CLIENTS type internal
set protocols bgp group CLIENTS local-address 10.255.1.1
set protocols bgp group CLIENTS family evpn signaling
set protocols bgp group CLIENTS cluster 10.255.1.1
set protocols bgp group CLIENTS allow 10.255.0.0/24
""",
    "leaf1.nxos": """\
feature bgp
interface loopback0
  ip address 10.255.0.1/32
router bgp 65000
  template peer RR
    remote-as 65000
    update-source loopback0
    address-family l2vpn evpn
  neighbor 10.255.1.1
    inherit peer RR
  neighbor 10.255.1.2
    inherit peer RR
""",
    "leaf2.eos": """\
interface Loopback0
   ip address 10.255.0.2/32
router bgp 65000
   neighbor 10.255.1.1 remote-as 65000
   neighbor 10.255.1.1 update-source Loopback0
   address-family evpn
      neighbor 10.255.1.1 activate
""",
}
# Two tenants with one address, and a firewall of one of them that no one read.
TENANTS = {
    "leaf1.eos": """\
interface Ethernet1
   vrf red
   ip address 10.1.0.0/31
router bgp 65001
   vrf red
      neighbor 10.1.0.1 remote-as 65200
""",
    "leaf2.eos": """\
interface Ethernet1
   vrf blue
   ip address 10.1.0.1/31
router bgp 65002
   vrf blue
      neighbor 10.1.0.0 remote-as 65300
""",
}
# A tenant's session with a router where it is in the default table.
CROSSING = {
    "leaf1.eos": """\
interface Ethernet1
   vrf red
   ip address 10.1.0.0/31
router bgp 65001
   vrf red
      neighbor 10.1.0.1 remote-as 65200
""",
    "core1.eos": """\
interface Ethernet1
   ip address 10.1.0.1/31
router bgp 65200
   neighbor 10.1.0.0 remote-as 65001
""",
}
IPV6 = {
    f"{name}.eos": f"""\
interface Ethernet1
   ipv6 address fd00::{own}/127
router bgp {asn}
   neighbor fd00:0::{far} remote-as {other}
   address-family ipv6
      neighbor fd00:0::{far} activate
"""
    for name, own, far, asn, other in (("leaf1", 0, 1, 65001, 65100), ("spine1", 1, 0, 65100, 65001))
}
TIMERS = {
    "spine1.eos": "router bgp 65100\n"
    + "".join(f"   neighbor 10.0.0.{n} remote-as 65001\n   neighbor 10.0.0.{n} timers 3 9\n" for n in range(1, 9, 2))
}
OUTSIDE = "   neighbor 192.0.2.9 remote-as 1\n   neighbor 192.0.2.9 maximum-routes 0\n"
FAR = "  neighbor 192.0.2.9\n    remote-as 1\n    address-family ipv4 unicast\n"
UNLIMITED = "   neighbor 10.0.1.0 maximum-routes 0\n"
LOCAL = "   neighbor 10.0.0.0 local-as 65009 no-prepend replace-as\n"
STRAY = "   neighbor 10.0.9.9 remote-as 65300\n   neighbor 10.0.9.9 description to spine1\n"
EVPN = "   address-family evpn\n      neighbor 10.255.1.1 activate\n"
SOUND = {"unnumbered": UNNUMBERED, "internal": INTERNAL, "wide": WIDE, "crossing": CROSSING, "ipv6": IPV6}

CASES: Mapping[tuple[str, str], Case] = {
    ("FAB255", "small"): (SMALL, []),
    ("FAB255", "wrong at one end"): (
        but(SMALL, {"leaf1.eos": {"remote-as 65100": "remote-as 65101"}}),
        ["leaf1.eos:20: error[FAB255]: leaf1: neighbor 10.0.0.0: remote AS 65101, but spine1 has AS 65100 (spine1.junos:17)"],
    ),
    ("FAB255", "all neighbors expect another"): (
        but(SMALL, {"spine1.junos": {"autonomous-system 65100": "autonomous-system 65010"}}),
        [
            "spine1.junos:17: error[FAB255]: spine1: AS number 65010, but all 2 neighbors are configured "
            "with remote AS 65100\n"
            "    hint: set the AS number to 65100, or correct it on the neighbors"
        ],
    ),
    ("FAB255", "none at all"): (
        without(SMALL, "leaf2.nxos", "    remote-as 65100"),
        [
            "leaf2.nxos:21: error[FAB255]: leaf2: neighbor 10.0.0.2: no remote AS number",
        ],
    ),
    ("FAB255", "over a link without addresses"): (
        but(UNNUMBERED, {"leaf1.eos": {"remote-as 65100": "remote-as 65101"}}),
        ["leaf1.eos:7: error[FAB255]: leaf1: neighbor Ethernet1: remote AS 65101, but spine1 has AS 65100 (spine1.frr:4)"],
    ),
    ("FAB255", "any number that a filter accepts"): (
        but(
            without(UNNUMBERED, "leaf1.eos", "   neighbor LINKS remote-as 65100"),
            {"leaf1.eos": {"peer-group LINKS": "peer-group LINKS peer-filter ANY"}},
        ),
        [],
    ),
    ("FAB255", "external, but the same number"): (
        but(UNNUMBERED, {"spine1.frr": {"65100": "65001"}, "leaf1.eos": {"65100": "65001"}}),
        ["spine1.frr:5: error[FAB255]: spine1: neighbor swp1: remote AS external, but leaf1 has AS 65001 (leaf1.eos:4)"],
    ),
    ("FAB255", "a number for this session alone"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"   neighbor 10.0.0.0 remote-as 65100\n": f"   neighbor 10.0.0.0 remote-as 65100\n{LOCAL}"},
                "spine1.junos": {"peer-as 65001": "peer-as 65009"},
            },
        ),
        [],
    ),
    ("FAB255", "a tenant and the default table of a router"): (
        but(CROSSING, {"core1.eos": {"remote-as 65001": "remote-as 65011"}}),
        ["core1.eos:4: error[FAB255]: core1: neighbor 10.1.0.0: remote AS 65011, but leaf1 has AS 65001 (leaf1.eos:4)"],
    ),
    ("FAB256", "small"): (SMALL, []),
    ("FAB256", "listening is an end as well"): (WIDE, []),
    ("FAB256", "without addresses"): (UNNUMBERED, []),
    ("FAB256", "missing at one end"): (
        without(
            SMALL,
            "leaf1.eos",
            "   neighbor 10.0.0.0 remote-as 65100",
            "   neighbor 10.0.0.0 description spine1",
            "   neighbor 10.0.0.0 timers 3 9",
            "   neighbor 10.0.0.0 maximum-routes 1000",
        ),
        [
            "leaf1.eos:17: error[FAB256]: leaf1: BGP: no neighbor statement for spine1, which has "
            "neighbor 10.0.0.1 (spine1.junos:21)",
        ],
    ),
    ("FAB256", "no BGP at the other end"): (
        but(UNNUMBERED, {"spine1.frr": {"router bgp 65100\n neighbor swp1 interface remote-as external\n": ""}}),
        [
            "spine1.frr: error[FAB256]: spine1: BGP: no neighbor statement for leaf1, which has neighbor "
            "Ethernet1 (leaf1.eos:5)"
        ],
    ),
    ("FAB256", "another address, and the description knows better"): (
        but(
            SMALL,
            {"leaf1.eos": {"remote-as 65100\n": f"remote-as 65100\n{STRAY}"}},
        ),
        [
            "leaf1.eos:21: error[FAB256]: leaf1: neighbor 10.0.9.9: address not assigned to any known device; "
            "the description names spine1",
        ],
    ),
    ("FAB256", "another address, and the AS number is one device's"): (
        but(SMALL, {"spine1.junos": {"neighbor 10.0.0.3": "neighbor 10.0.0.9"}}),
        [
            "spine1.junos:18: error[FAB256]: spine1: BGP: no neighbor statement for leaf2, which has "
            "neighbor 10.0.0.2 (leaf2.nxos:21)",
            "spine1.junos:22: error[FAB256]: spine1: neighbor 10.0.0.9: address not assigned to any known "
            "device; AS 65002 belongs to leaf2",
        ],
    ),
    ("FAB256", "an address in no subnet"): (
        but(SMALL, {"spine1.junos": {"neighbor 10.0.0.3 peer-as 65002": "neighbor 10.0.0.9 peer-as 65009"}}),
        [
            "spine1.junos:18: error[FAB256]: spine1: BGP: no neighbor statement for leaf2, which has "
            "neighbor 10.0.0.2 (leaf2.nxos:21)",
            "spine1.junos:22: warning[FAB256]: spine1: neighbor 10.0.0.9: address not assigned to any known "
            "device, and in no subnet of this device",
        ],
    ),
    ("FAB256", "its own address"): (
        but(SMALL, {"spine1.junos": {"neighbor 10.0.0.3 peer-as": "neighbor 10.0.0.2 peer-as"}}),
        [
            "spine1.junos:18: error[FAB256]: spine1: BGP: no neighbor statement for leaf2, which has "
            "neighbor 10.0.0.2 (leaf2.nxos:21)",
            "spine1.junos:22: error[FAB256]: spine1: neighbor 10.0.0.2: this is the device's own address, on et-0/0/2",
        ],
    ),
    ("FAB256", "far ends that were not read are noted"): (
        {"leaf1.eos": SMALL["leaf1.eos"]} | INTERNAL,
        [
            "leaf1.eos:20: note[FAB256]: leaf1: neighbor 10.0.0.0: address not assigned to any device in the files",
            "leaf1.nxos:11: note[FAB256]: leaf1: neighbor 10.255.1.2: address not assigned to any device in the files",
        ],
    ),
    ("FAB256", "one address in two tenants"): (
        TENANTS,
        [
            "leaf1.eos:6: note[FAB256]: leaf1: neighbor 10.1.0.1 in VRF red: address not assigned to any device in the files",
            "leaf2.eos:6: note[FAB256]: leaf2: neighbor 10.1.0.0 in VRF blue: address not assigned to any device "
            "in the files",
        ],
    ),
    ("FAB256", "a tenant and the default table of a router"): (CROSSING, []),
    ("FAB256", "outside the range that is listened on"): (
        but(WIDE, {"leaf1.eos": {"address 10.255.0.1/32": "address 10.255.0.71/32"}}),
        [
            "spine1.eos:7: error[FAB256]: spine1: BGP: no neighbor statement for leaf1, which has "
            "neighbor 10.255.0.101 (leaf1.eos:18)",
            "spine2.eos:7: error[FAB256]: spine2: BGP: no neighbor statement for leaf1, which has "
            "neighbor 10.255.0.102 (leaf1.eos:19)",
        ],
    ),
    ("FAB257", "the loopback"): (INTERNAL, []),
    ("FAB257", "an unassigned address, an interface that is not there"): (
        but(
            INTERNAL,
            {
                "rr1.junos": {"local-address 10.255.1.1": "local-address 10.255.1.3"},
                "leaf1.nxos": {"update-source loopback0": "update-source loopback1"},
            },
        ),
        [
            "rr1.junos:4: error[FAB257]: rr1: neighbor 10.255.0.0/24: local address 10.255.1.3 is not "
            "configured on this device",
            "leaf1.nxos:7: error[FAB257]: leaf1: neighbor 10.255.1.1 and 1 more: local address loopback1 "
            "is not configured on this device",
        ],
    ),
    ("FAB258", "small"): (SMALL, []),
    ("FAB258", "borrowed from another"): (
        but(SMALL, {"leaf2.nxos": {"router-id 10.255.0.2": "router-id 10.255.0.1"}}),
        [
            "leaf2.nxos:18: error[FAB258]: leaf2: router ID 10.255.0.1 is also configured on leaf1",
        ],
    ),
    ("FAB258", "no device's"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"router-id 10.255.0.1": "router-id 1.1.1.1"},
                "leaf2.nxos": {"router-id 10.255.0.2": "router-id 1.1.1.1"},
            },
        ),
        [
            "leaf1.eos:18: error[FAB258]: leaf1: router ID 1.1.1.1 is also configured on leaf2",
            "leaf2.nxos:18: error[FAB258]: leaf2: router ID 1.1.1.1 is also configured on leaf1",
        ],
    ),
    ("FAB259", "small"): (SMALL, []),
    ("FAB259", "with a listener"): (WIDE, []),
    ("FAB259", "IPv4 beside EVPN at one end alone"): (
        but(
            WIDE,
            {"leaf1.eos": {"   address-family ipv4\n": "   address-family ipv4\n      neighbor OVERLAY activate\n"}},
        ),
        [],
    ),
    ("FAB259", "no family in common"): (
        but(
            INTERNAL,
            {"leaf2.eos": {EVPN: EVPN.replace("evpn", "ipv4")}},
        ),
        [
            "leaf2.eos:7: error[FAB259]: leaf2: neighbor 10.255.1.1: no address family in common: ipv4, but rr1 "
            "has evpn (rr1.junos:5)",
        ],
    ),
    ("FAB259", "EVPN at one end alone"): (
        but(
            SMALL,
            {
                "spine1.junos": {
                    "set protocols lldp": "set protocols bgp group LEAVES family evpn signaling\nset protocols lldp"
                }
            },
        ),
        [
            "leaf1.eos:20: error[FAB259]: leaf1: neighbor 10.0.0.0: address family evpn is configured "
            "only on spine1 (spine1.junos:23)",
            "leaf2.nxos:21: error[FAB259]: leaf2: neighbor 10.0.0.2: address family evpn is configured "
            "only on spine1 (spine1.junos:23)",
        ],
    ),
    ("FAB259", "hold times"): (
        but(SMALL, {"leaf2.nxos": {"timers 3 9": "timers 10 30"}}),
        [
            "leaf2.nxos:24: warning[FAB259]: leaf2: neighbor 10.0.0.2: hold time 30 s, but 9 s on spine1 (spine1.junos:19)",
        ],
    ),
    ("FAB259", "BFD at one end alone"): (
        without(WIDE, "leaf1.eos", "   neighbor OVERLAY bfd"),
        [
            "leaf1.eos:17: warning[FAB259]: leaf1: neighbor 10.255.0.101: no BFD, but BFD is enabled on spine1",
            "leaf1.eos:18: warning[FAB259]: leaf1: neighbor 10.255.0.102: no BFD, but BFD is enabled on spine2",
        ],
    ),
    ("FAB260", "small"): (SMALL, []),
    ("FAB260", "EOS has a limit by default"): (without(SMALL, "leaf1.eos", "   neighbor 10.0.0.0 maximum-routes 1000"), []),
    ("FAB260", "an explicit 0 is a choice"): (
        but(
            WIDE,
            {"leaf1.eos": {"   neighbor 10.0.1.0 remote-as 65100\n": "   neighbor 10.0.1.0 remote-as 65100\n" + UNLIMITED}},
        ),
        [],
    ),
    ("FAB260", "none on some"): (
        but(SMALL, {"spine1.junos": {"bgp group LEAVES family inet": "bgp group LEAVES neighbor 10.0.0.1 family inet"}}),
        ["spine1.junos:22: warning[FAB260]: spine1: neighbor 10.0.0.3: no prefix limit; the other neighbors have one"],
    ),
    ("FAB260", "sessions that leave the files are judged by themselves"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"maximum-routes 1000\n": "maximum-routes 1000\n" + OUTSIDE},
                "leaf2.nxos": {"  neighbor 10.0.0.2\n": FAR + "  neighbor 10.0.0.2\n"},
            },
        ),
        [
            "leaf1.eos:25: note[FAB260]: leaf1: neighbor 192.0.2.9: no prefix limit on a session that leaves the files",
            "leaf2.nxos:21: note[FAB260]: leaf2: neighbor 192.0.2.9: no prefix limit on a session that leaves the files",
        ],
    ),
    ("FAB260", "none at all"): (
        but(SMALL, {"leaf2.nxos": {"      maximum-prefix 1000\n": ""}, "spine1.junos": {" prefix-limit maximum 1000": ""}}),
        [
            "leaf2.nxos:17: note[FAB260]: leaf2: BGP: no prefix limit on the eBGP neighbor",
            "spine1.junos:18: note[FAB260]: spine1: BGP: no prefix limit on 2 eBGP neighbors",
        ],
    ),
    ("FAB261", "as many as there are"): (WIDE, []),
    ("FAB261", "a single path"): (
        but(WIDE, {"leaf1.eos": {"maximum-paths 2": "maximum-paths 1"}}),
        [
            "leaf1.eos:10: error[FAB261]: leaf1: BGP: 1 of 2 equal-cost paths is used",
        ],
    ),
    ("FAB261", "a single path, with more spines than leaves"): (
        {name: text.replace("maximum-paths 2", "maximum-paths 1") for name, text in clos(2, 3).items()},
        [
            "leaf1.eos:12: error[FAB261]: leaf1: BGP: 1 of 3 equal-cost paths is used",
            "leaf2.eos:12: error[FAB261]: leaf2: BGP: 1 of 3 equal-cost paths is used",
        ],
    ),
    ("FAB261", "fewer than a leaf has spines"): (
        clos(4, 3),
        [
            "leaf1.eos:12: warning[FAB261]: leaf1: BGP: 2 of 3 equal-cost paths are used",
            "leaf2.eos:12: warning[FAB261]: leaf2: BGP: 2 of 3 equal-cost paths are used",
            "leaf3.eos:12: warning[FAB261]: leaf3: BGP: 2 of 3 equal-cost paths are used",
            "leaf4.eos:12: warning[FAB261]: leaf4: BGP: 2 of 3 equal-cost paths are used",
        ],
    ),
    ("FAB261", "spines of several AS numbers"): (
        but(
            WIDE,
            {
                "spine2.eos": {"router bgp 65100": "router bgp 65101"},
                "leaf1.eos": {
                    "neighbor 10.0.1.2 remote-as 65100": "neighbor 10.0.1.2 remote-as 65101",
                    "   maximum-paths 2\n": "   maximum-paths 2\n   no bgp bestpath as-path multipath-relax\n",
                },
                "leaf2.eos": {"neighbor 10.0.2.2 remote-as 65100": "neighbor 10.0.2.2 remote-as 65101"},
            },
        ),
        [
            "leaf1.eos:11: error[FAB261]: leaf1: BGP: 2 paths with 2 AS numbers are not used as equal-cost paths",
        ],
    ),
    ("FAB262", "small"): (SMALL, []),
    ("FAB262", "a reserved one"): (
        but(SMALL, {"leaf1.eos": {"router bgp 65001": "router bgp 23456"}}),
        [
            "leaf1.eos:17: error[FAB262]: leaf1: AS number 23456 is reserved",
        ],
    ),
    ("FAB263", "alike"): (TIMERS, []),
    ("FAB263", "one of four differs"): (
        but(TIMERS, {"spine1.eos": {"10.0.0.5 timers 3 9": "10.0.0.5 timers 60 180"}}),
        [
            "spine1.eos:7: note[FAB263]: spine1: neighbor 10.0.0.5: hold time 180 s, but 9 s on other neighbors",
        ],
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_sessions_are_left_in_peace(name: str) -> None:
    found = [finding for finding in all_say(SOUND[name]) if "FAB255" <= finding.id <= "FAB263"]
    assert [str(finding) for finding in found if finding.severity != "note"] == []
