"""Prefixes of a network that its border devices accept from outside."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import Case, but

LEAF = """\
ip routing
ip prefix-list PL-FABRIC seq 10 permit 10.0.0.0/8 le 32
ip prefix-list PL-WAN seq 10 deny 10.255.0.0/24 le 32
ip prefix-list PL-WAN seq 20 deny 10.0.0.0/24 le 32
ip prefix-list PL-WAN seq 30 permit 10.0.0.0/8 le 32
route-map RM-FABRIC permit 10
   match ip address prefix-list PL-FABRIC
route-map RM-WAN permit 10
   match ip address prefix-list PL-WAN
interface Loopback0
   ip address 10.255.0.{n}/32
interface Ethernet1
   no switchport
   ip address 10.0.0.{own}/31
interface Ethernet2
   no switchport
   ip address 192.0.2.{own}/31
router bgp 6500{n}
   neighbor 10.0.0.{far} remote-as 65100
   neighbor 10.0.0.{far} route-map RM-FABRIC in
   neighbor 192.0.2.{far} remote-as 64602
   neighbor 192.0.2.{far} route-map RM-WAN in
"""
SPINE = """\
ip routing
interface Ethernet1
   no switchport
   ip address 10.0.0.0/31
interface Ethernet2
   no switchport
   ip address 10.0.0.2/31
router bgp 65100
   neighbor 10.0.0.1 remote-as 65001
   neighbor 10.0.0.3 remote-as 65002
"""
SOUND = {
    "leaf1.eos": LEAF.format(n=1, own=1, far=0),
    "leaf2.eos": LEAF.format(n=2, own=3, far=2),
    "spine1.eos": SPINE,
}
LOOPBACKS = "ip prefix-list PL-WAN seq 10 deny 10.255.0.0/24 le 32\n"
FOUND = "leaf1.eos:22: warning[FAB2522]: leaf1: RM-WAN of 192.0.2.0 permits"

CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2522", "denied"): (SOUND, []),
    ("FAB2522", "not denied"): (
        but(SOUND, {"leaf1.eos": {LOOPBACKS: "ip prefix-list PL-NOT seq 10 deny 10.255.0.0/24 le 32\n"}}),
        [f"{FOUND} 2 prefixes of the network itself: 10.255.0.1/32, 10.255.0.2/32"],
    ),
    ("FAB2522", "denied too late"): (
        but(SOUND, {"leaf1.eos": {"PL-WAN seq 10 deny": "PL-WAN seq 40 deny"}}),
        [f"{FOUND} 2 prefixes of the network itself: 10.255.0.1/32, 10.255.0.2/32"],
    ),
    ("FAB2522", "denied by the policy"): (
        but(
            SOUND,
            {
                "leaf1.eos": {
                    LOOPBACKS: "ip prefix-list PL-OWN seq 10 permit 10.255.0.0/24 le 32\n",
                    "route-map RM-WAN permit 10\n": (
                        "route-map RM-WAN deny 5\n   match ip address prefix-list PL-OWN\nroute-map RM-WAN permit 10\n"
                    ),
                }
            },
        ),
        [],
    ),
    ("FAB2522", "one AS number: its own path is refused"): (
        but(
            SOUND,
            {
                "leaf1.eos": {LOOPBACKS: "ip prefix-list PL-NOT seq 10 deny 10.255.0.0/24 le 32\n"},
                "leaf2.eos": {"router bgp 65002": "router bgp 65001"},
            },
        ),
        [],
    ),
    ("FAB2522", "a spine that was not read"): (
        {name: text for name, text in SOUND.items() if name != "spine1.eos"},
        [],
    ),
}
