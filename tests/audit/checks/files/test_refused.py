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
GRAMMAR = (
    "configure a value that the network OS accepts: FRR 8.4.4, `list` of vtysh in each node; `DEFUN` and `DEFPY` of FRR 10.5"
)
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
    ("FAB2533", "no AS number at all, which FAB2534 reports"): (
        changed((REMOTE, " neighbor 10.9.0.9 remote-as 65009\n")),
        [],
    ),
    ("FAB255", "no AS number at all, which FAB2534 reports"): (
        changed((REMOTE, " neighbor 10.9.0.9 remote-as 65009\n")),
        [],
    ),
    ("FAB2534", "no AS number at all"): (
        changed((REMOTE, " neighbor 10.9.0.9 remote-as 65009\n")),
        [
            "leaf1.frr:6: error[FAB2534]: leaf1: no line of `router bgp 65001` makes neighbor 10.9.0.1: FRR drops its lines\n"
            "    hint: configure `neighbor 10.9.0.1 remote-as`, or correct the name of the neighbor"
        ],
    ),
    ("FAB2532", "a VNI of more than 24 bits"): (
        changed(("vni 10100", "vni 16777216")),
        [
            "leaf1.frr:13: error[FAB2532]: leaf1: `16777216`: expected a VNI from 1 to 16777215\n    hint: configure a value "
            "that the network OS accepts: FRR lib/vxlan.h, CMD_VNI_RANGE: (1-16777215)"
        ],
    ),
    ("FAB2532", "a command without its value"): (
        changed(("bgp router-id 10.8.0.1", "bgp router-id")),
        [
            "leaf1.frr:4: error[FAB2532]: leaf1: `router-id`: expected a command of `router bgp` as FRR knows it\n"
            f"    hint: {GRAMMAR}"
        ],
    ),
    ("FAB2532", "a word of another command"): (
        changed((TIMERS, " neighbor 10.9.0.1 ttl-security FABRIC\n")),
        [
            "leaf1.frr:6: error[FAB2532]: leaf1: `ttl-security FABRIC`: expected a command of a neighbor as FRR knows it\n"
            f"    hint: {GRAMMAR}"
        ],
    ),
    ("FAB2533", "a line of the process in an address family"): (
        changed((EVPN, EVPN + " timers bgp 3 9\n")),
        [
            "leaf1.frr:12: error[FAB2533]: leaf1: `neighbor 10.9.0.1 activate` is read in IPv4 unicast: a line above it ends "
            "`address-family l2vpn evpn`\n    hint: move the line that no address family has above it, or this line into its "
            "address family",
            "leaf1.frr:13: error[FAB2533]: leaf1: `advertise-all-vni` stands in no address family: FRR drops it\n"
            "    hint: move the line below its `address-family`",
            "leaf1.frr:15: error[FAB2533]: leaf1: `rd` stands in no section: FRR does not know it there\n"
            "    hint: put the line below the one that opens its section",
        ],
    ),
    ("FAB2533", "an end of no section"): (
        changed(("hostname leaf1\n", "hostname leaf1\nexit\n")),
        [
            "leaf1.frr:3: error[FAB2533]: leaf1: `exit` closes no section: it leaves the configuration, and FRR refuses "
            "every line below it\n    hint: remove the line, or add the section that it closes"
        ],
    ),
    ("FAB2533", "an end of no section on the last line"): (
        changed(("   rd 10.8.0.1:100\n", "   rd 10.8.0.1:100\n" + 4 * "exit\n")),
        [],
    ),
    ("FAB2534", "an invalid neighbor makes no member of a group wrong"): (
        changed((TIMERS, " neighbor G peer-group\n neighbor 10.9.0.999 peer-group G\n neighbor 10.9.0.1 peer-group G\n")),
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
