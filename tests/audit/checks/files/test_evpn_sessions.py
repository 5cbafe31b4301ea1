"""Sessions that cannot come up or carry nothing, and EVPN between leaves of one role."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import Case, but, without

SPINE = """\
ip routing
interface Loopback0
   ip address 10.255.1.1/32
router bgp 65100
   router-id 10.255.1.1
   neighbor EVPN peer group
   neighbor EVPN update-source Loopback0
   neighbor EVPN ebgp-multihop 3
   neighbor EVPN next-hop-unchanged
   neighbor EVPN send-community extended
   neighbor 10.255.0.1 peer group EVPN
   neighbor 10.255.0.1 remote-as 65001
   neighbor 10.255.0.2 peer group EVPN
   neighbor 10.255.0.2 remote-as 65002
   address-family evpn
      neighbor EVPN activate
"""
LEAF = """\
ip routing
interface Loopback0
   ip address 10.255.0.{n}/32
interface Loopback1
   ip address 10.254.0.{n}/32
interface Vxlan1
   vxlan source-interface Loopback1
router bgp 6500{n}
   router-id 10.255.0.{n}
   neighbor 10.255.1.1 remote-as 65100
   neighbor 10.255.1.1 update-source Loopback0
   neighbor 10.255.1.1 ebgp-multihop 3
   neighbor 10.255.1.1 send-community extended
   address-family evpn
      neighbor 10.255.1.1 activate
"""
EBGP = {"leaf1.eos": LEAF.format(n=1), "leaf2.eos": LEAF.format(n=2), "spine1.eos": SPINE}
ONE_AS = but(
    EBGP,
    {
        "leaf2.eos": {"router bgp 65002": "router bgp 65001"},
        "spine1.eos": {"neighbor 10.255.0.2 remote-as 65002": "neighbor 10.255.0.2 remote-as 65001"},
    },
)
IBGP = {
    name: text.replace("remote-as 65100", "remote-as 65000")
    .replace("remote-as 65001", "remote-as 65000")
    .replace("remote-as 65002", "remote-as 65000")
    .replace("router bgp 65100", "router bgp 65000")
    .replace("router bgp 65001", "router bgp 65000")
    .replace("router bgp 65002", "router bgp 65000")
    .replace("   neighbor EVPN ebgp-multihop 3\n", "   neighbor EVPN route-reflector-client\n")
    for name, text in EBGP.items()
}
GATEWAYS = {
    f"leaf{n}.eos": "interface Vlan10\n   vrf red\n   ip address virtual 10.61.1.1/24\nvrf instance red\n" for n in (1, 2, 3)
}

NXOS_SPINE = """\
hostname spine1
feature bgp
nv overlay evpn
interface loopback0
  ip address 10.255.1.1/32
route-map KEEP permit 10
  set ip next-hop unchanged
router bgp 65100
  address-family l2vpn evpn
    retain route-target all
  template peer LEAF
    update-source loopback0
    ebgp-multihop 3
    address-family l2vpn evpn
      send-community extended
      route-map KEEP out
  neighbor 10.255.0.1
    inherit peer LEAF
    remote-as 65001
  neighbor 10.255.0.2
    inherit peer LEAF
    remote-as 65002
"""
NXOS = EBGP | {"spine1.nxos": NXOS_SPINE}
del NXOS["spine1.eos"]
RETAIN = "    retain route-target all"

CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2515", "kept"): (NXOS, []),
    ("FAB2515", "dropped"): (
        without(NXOS, "spine1.nxos", RETAIN),
        [
            "spine1.nxos:8: error[FAB2515]: spine1: EVPN routes of 10.255.0.1, 10.255.0.2 are dropped: no VRF or VNI imports "
            "them"
        ],
    ),
    ("FAB2515", "clients of a route reflector"): (
        but(
            without(NXOS, "spine1.nxos", RETAIN),
            {"spine1.nxos": {"      route-map KEEP out": "      route-reflector-client"}},
        ),
        [],
    ),
    ("FAB2515", "a leaf"): (
        but(
            without(NXOS, "spine1.nxos", RETAIN),
            {"spine1.nxos": {"route-map KEEP permit": "interface nve1\n  member vni 10\nroute-map KEEP permit"}},
        ),
        [],
    ),
    ("FAB2500", "kept"): (EBGP, []),
    ("FAB2500", "iBGP"): (without(IBGP, "spine1.eos", "   neighbor EVPN next-hop-unchanged"), []),
    ("FAB2500", "changed"): (
        without(EBGP, "spine1.eos", "   neighbor EVPN next-hop-unchanged"),
        [
            "spine1.eos:10: error[FAB2500]: spine1: next hop of EVPN routes is changed for 10.255.0.1, 10.255.0.2, and this "
            "device has no VTEP"
        ],
    ),
    ("FAB2500", "changed for neighbors of one AS, which do not accept what another of them sent"): (
        without(ONE_AS, "spine1.eos", "   neighbor EVPN next-hop-unchanged"),
        [],
    ),
    ("FAB2501", "sent"): (EBGP, []),
    ("FAB2501", "not sent"): (
        without(EBGP, "leaf1.eos", "   neighbor 10.255.1.1 send-community extended"),
        ["leaf1.eos:10: error[FAB2501]: leaf1: no extended communities are sent to EVPN neighbors 10.255.1.1"],
    ),
    ("FAB2502", "clients"): (IBGP, []),
    ("FAB2502", "no client"): (
        without(IBGP, "spine1.eos", "   neighbor EVPN route-reflector-client"),
        ["spine1.eos:10: error[FAB2502]: spine1: EVPN routes are not passed on between leaf1 and leaf2: neither is a client"],
    ),
    ("FAB2502", "no client, and routes end here over MPLS"): (
        but(
            without(IBGP, "spine1.eos", "   neighbor EVPN route-reflector-client"),
            {
                "spine1.eos": {
                    "   address-family evpn": "   vrf red\n      route-target import evpn 65000:7\n   address-family evpn"
                }
            },
        ),
        [],
    ),
    ("FAB2503", "multihop"): (EBGP, []),
    ("FAB2503", "no multihop"): (
        without(EBGP, "leaf2.eos", "   neighbor 10.255.1.1 ebgp-multihop 3"),
        ["leaf2.eos:10: error[FAB2503]: leaf2: neighbor 10.255.1.1: eBGP session to a loopback without multihop"],
    ),
    ("FAB2504", "each its own"): (EBGP, []),
    ("FAB2504", "accepted"): (
        but(
            ONE_AS,
            {
                name: {"   router-id": "   neighbor 10.255.1.1 allowas-in 1\n   router-id"}
                for name in ("leaf1.eos", "leaf2.eos")
            },
        ),
        [],
    ),
    ("FAB2504", "one AS number"): (
        ONE_AS,
        [
            "leaf1.eos:8: error[FAB2504]: leaf1: AS number 65001 is also that of leaf2 behind spine1, and no session "
            "accepts it"
        ],
    ),
    ("FAB2504", "gateways between EVPN domains"): (
        but(
            ONE_AS,
            {name: {"   router-id": "   neighbor X domain remote\n   router-id"} for name in ("leaf1.eos", "leaf2.eos")},
        ),
        [
            "leaf1.eos:8: warning[FAB2504]: leaf1: AS number 65001 is also that of leaf2 behind spine1, and no session "
            "accepts it"
        ],
    ),
    ("FAB2505", "enabled"): (EBGP, []),
    ("FAB2505", "shut down"): (
        but(EBGP, {"spine1.eos": {"remote-as 65002\n": "remote-as 65002\n   neighbor 10.255.0.2 shutdown\n"}}),
        ["spine1.eos:15: error[FAB2505]: spine1: neighbor 10.255.0.2: shut down, but enabled on leaf2 (leaf2.eos:10)"],
    ),
    ("FAB2507", "one length"): (GATEWAYS, []),
    ("FAB2507", "two lengths"): (
        but(GATEWAYS, {"leaf2.eos": {"10.61.1.1/24": "10.61.1.1/25"}}),
        ["leaf2.eos:3: error[FAB2507]: leaf2: Vlan10: anycast gateway 10.61.1.1 with /25, but /24 on other leaves"],
    ),
    ("FAB259", "no family at one end"): (
        but(
            EBGP,
            {
                "leaf1.eos": {
                    "   address-family evpn\n      neighbor 10.255.1.1 activate\n": "   no bgp default ipv4-unicast\n"
                }
            },
        ),
        [
            "leaf1.eos:10: error[FAB259]: leaf1: neighbor 10.255.1.1: no address family, but spine1 has evpn, ipv4 "
            "(spine1.eos:11)"
        ],
    ),
}
