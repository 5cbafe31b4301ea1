"""Values, orders and combinations that network OSes refuse: FAB2532, FAB2533, FAB2534."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import Case, but

FRR = """frr defaults datacenter
hostname leaf1
router bgp 65001
 bgp router-id 10.8.0.1
 neighbor 10.9.0.1 remote-as 65002
 neighbor 10.9.0.1 timers 3 9
 address-family ipv4 unicast
  neighbor 10.9.0.1 activate
  neighbor 10.9.0.1 maximum-prefix 100
 address-family l2vpn evpn
  neighbor 10.9.0.1 activate
  advertise-all-vni
  vni 10100
   rd 10.8.0.1:100
"""
LEAF = {"leaf1.frr": FRR}


def changed(*edits: tuple[str, str]) -> Mapping[str, str]:
    return but(LEAF, {"leaf1.frr": dict(edits)})


RD = "a route distinguisher: 2-byte AS number:0-4294967295, IPv4 address:0-65535 or 4-byte AS number:0-65535"
TIMERS = " neighbor 10.9.0.1 timers 3 9\n"
REMOTE = " neighbor 10.9.0.1 remote-as 65002\n"
EVPN = " address-family l2vpn evpn\n"
CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2532", "values that FRR takes"): (LEAF, []),
    ("FAB2532", "a wide number behind an address"): (
        changed(("10.8.0.1:100", "10.8.0.1:100100")),
        [
            f"leaf1.frr:14: error[FAB2532]: leaf1: `10.8.0.1:100100`: expected {RD}\n    hint: configure a value that the "
            "network OS accepts: FRR bgpd/bgp_rd.c, str2prefix_rd; RFC 4364 section 4.2. FRR 8.4.4 keeps the last 16 bits of "
            "a wider number (seen)"
        ],
    ),
    ("FAB2533", "the neighbor first"): (LEAF, []),
    ("FAB2533", "timers first"): (
        changed((TIMERS, ""), (REMOTE, TIMERS + REMOTE)),
        [
            "leaf1.frr:5: error[FAB2533]: leaf1: `neighbor 10.9.0.1 timers`: no line above it makes the neighbor, so "
            "FRR drops it\n    hint: put the line below `neighbor 10.9.0.1 remote-as`"
        ],
    ),
    ("FAB2533", "no AS number at all, which FAB255 reports"): (
        changed((REMOTE, " neighbor 10.9.0.9 remote-as 65009\n")),
        [],
    ),
    ("FAB2534", "no route reflector"): (LEAF, []),
    ("FAB2534", "a route reflector of another AS"): (
        changed((EVPN, EVPN + "  neighbor 10.9.0.1 route-reflector-client\n")),
        [
            "leaf1.frr:11: error[FAB2534]: leaf1: neighbor 10.9.0.1 is no internal neighbor: FRR refuses "
            "`route-reflector-client`\n    hint: remove the line"
        ],
    ),
}
