"""Subnets of servers from table to table, filters between switches, and tables that take another tenant's routes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fabric.model.facts import FilterRule
from fabric.nos.reading import read_device
from fabric.nos.reading.packet_filters import access_rule
from tests.audit.checks.files.helpers import Case, but

LEAF = """\
hostname leaf{n}
vrf instance red
vrf instance blue
interface Ethernet1
   description spine1 Ethernet{n}
   mtu 9214
   no switchport
   ip address 10.9.0.{far}/31
interface Ethernet5
   no switchport
   ip address 10.20.{n}.1/25
interface Ethernet6
   no switchport
   ip address 10.20.{n}.129/25
interface Vlan10
   vrf red
   ip address virtual 10.30.0.1/24
interface Vlan11
   vrf red
   ip address 10.31.{n}.1/24
interface Vlan20
   vrf blue
   ip address virtual 10.40.0.1/24
interface Loopback0
   ip address 10.8.0.{n}/32
interface Vxlan1
   vxlan source-interface Loopback0
   vxlan vlan 10 vni 10010
   vxlan vrf red vni 50001
   vxlan vrf blue vni 50002
ip prefix-list ALL
   seq 10 permit 10.0.0.0/8 le 32
ip prefix-list OWN
   seq 10 permit 10.20.{n}.0/25
   seq 20 permit 10.20.{n}.128/25
   seq 30 permit 10.8.0.{n}/32
route-map IN permit 10
   match ip address prefix-list ALL
route-map OUT permit 10
   match ip address prefix-list OWN
router bgp 6500{n}
   router-id 10.8.0.{n}
   neighbor 10.9.0.{near} remote-as 65100
   neighbor 10.9.0.{near} bfd
   neighbor 10.9.0.{near} route-map IN in
   neighbor 10.9.0.{near} route-map OUT out
   redistribute connected
   vrf red
      rd 10.8.0.{n}:1
      route-target import evpn 65000:50001
      route-target export evpn 65000:50001
      redistribute connected
   vrf blue
      rd 10.8.0.{n}:2
      route-target import evpn 65000:50002
      route-target export evpn 65000:50002
      redistribute connected
"""
SPINE = "hostname spine1\n" + "".join(
    f"interface Ethernet{n}\n   description leaf{n} Ethernet1\n   mtu 9214\n   ip address 10.9.0.{2 * n}/31\n"
    for n in (1, 2, 3)
)
SPINE += "interface Loopback0\n   ip address 10.8.0.100/32\nrouter bgp 65100\n   router-id 10.8.0.100\n" + "".join(
    f"   neighbor 10.9.0.{2 * n + 1} remote-as 6500{n}\n   neighbor 10.9.0.{2 * n + 1} bfd\n" for n in (1, 2, 3)
)
FABRIC = {f"leaf{n}.eos": LEAF.format(n=n, far=2 * n + 1, near=2 * n) for n in (1, 2, 3)} | {"spine1.eos": SPINE}


def leaf1(old: str, new: str, to: str = "leaf1.eos") -> Mapping[str, str]:
    """The fabric with a text of one device replaced."""
    return but(FABRIC, {to: {old: new}})


def filtered(*rules: str, port: str = "10.9.0.3/31") -> Mapping[str, str]:
    """The fabric with a filter on the uplink of leaf1, whose rules begin on line 10."""
    text = "ip access-list UP\n" + "".join(f"   {rule}\n" for rule in rules)
    return leaf1(f"   ip address {port}\n", f"   ip address {port}\n   ip access-group UP in\n{text}")


MAP = "ip prefix-list SOME\n   seq 10 permit 10.30.0.0/16 le 32\nroute-map SOME permit 10\n"
MAP += "   match ip address prefix-list SOME\n"
CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2560", "none"): (FABRIC, []),
    ("FAB2560", "an entry of a list"): (
        leaf1("   seq 20 permit 10.20.1.128/25\n", ""),
        [
            "leaf1.eos:45: warning[FAB2560]: leaf1: BGP: 10.20.1.128/25 is in no other table of the network: OUT denies it",
        ],
    ),
    ("FAB2560", "the loopback of tunnels"): (
        leaf1("   seq 30 permit 10.8.0.1/32\n", "", "leaf1.eos"),
        [
            "leaf1.eos:45: warning[FAB2560]: leaf1: BGP: 10.8.0.1/32 is in no other table of the network: OUT denies it",
        ],
    ),
    ("FAB2560", "a statement for one of two subnets"): (
        leaf1(
            "route-map OUT out\n   redistribute connected\n",
            "route-map OUT out\n   network 10.20.1.0/25\n   network 10.8.0.1/32\n",
        ),
        [
            "leaf1.eos:48: warning[FAB2560]: leaf1: BGP: 10.20.1.128/25 is in no other table of the network: no statement "
            "lets it enter BGP",
        ],
    ),
    ("FAB2560", "an aggregate around them"): (
        but(
            FABRIC,
            {
                "leaf1.eos": {
                    "   seq 20 permit 10.20.1.128/25\n": "   seq 20 permit 10.20.1.0/24\n",
                    "route-map OUT out\n   redistribute connected\n": (
                        "route-map OUT out\n   aggregate-address 10.20.1.0/24 summary-only\n   network 10.8.0.1/32\n"
                    ),
                }
            },
        ),
        [],
    ),
    ("FAB2560", "a policy on connected routes of a VRF"): (
        leaf1(
            "50001\n      redistribute connected\n",
            "50001\n      redistribute connected route-map SOME\n",
        )
        | {
            "leaf1.eos": leaf1(
                "50001\n      redistribute connected\n", "50001\n      redistribute connected route-map SOME\n"
            )["leaf1.eos"]
            + MAP
        },
        [
            "leaf1.eos:52: warning[FAB2560]: leaf1: BGP of VRF red: 10.31.1.0/24 is in no other table of its VRF: SOME "
            "denies it",
        ],
    ),
    ("FAB2560", "for each leaf alone"): (
        but(FABRIC, {f"leaf{n}.eos": {f"   seq 20 permit 10.20.{n}.128/25\n": ""} for n in (1, 2, 3)}),
        [],
    ),
    ("FAB2560", "an interior routing protocol"): (
        but(FABRIC, {"leaf1.eos": {"   seq 20 permit 10.20.1.128/25\n": "", "router bgp": "router ospf 1\nrouter bgp"}}),
        [],
    ),
    ("FAB2561", "none"): (FABRIC, []),
    ("FAB2561", "an import policy"): (
        leaf1("   seq 10 permit 10.0.0.0/8 le 32\n", "   seq 10 deny 10.20.2.0/25\n   seq 20 permit 10.0.0.0/8 le 32\n"),
        ["leaf1.eos:46: warning[FAB2561]: leaf1: BGP: IN denies 1 subnet, 10.20.2.0/25, which leaf2, leaf3 accept"],
    ),
    ("FAB2561", "an import policy, of several leaves"): (
        leaf1("   seq 10 permit 10.0.0.0/8 le 32\n", "   seq 10 permit 10.20.0.0/16 le 32\n"),
        [
            "leaf1.eos:45: warning[FAB2561]: leaf1: BGP: IN denies 2 subnets, 10.8.0.2/32, 10.8.0.3/32, which leaf2, leaf3 "
            "accept",
        ],
    ),
    ("FAB2562", "none"): (FABRIC, []),
    ("FAB2562", "what is needed"): (
        filtered(
            "permit tcp any any eq bgp",
            "permit udp any any range 3784 3785",
            "permit udp any any eq 4789",
            "permit ip 10.20.0.0 0.0.255.255 any",
        ),
        [],
    ),
    ("FAB2562", "BGP"): (
        filtered("deny tcp any any eq bgp", "permit ip any any"),
        ["leaf1.eos:11: error[FAB2562]: leaf1: Ethernet1: filter UP denies BGP (TCP 179)"],
    ),
    ("FAB2562", "BGP from others, and what has a DSCP"): (
        filtered(
            "permit tcp host 10.9.0.2 host 10.9.0.3 eq bgp",
            "deny tcp any any eq bgp",
            "deny udp any any eq 4789 dscp 26",
            "deny ip host 10.9.0.3 any",
            "permit ip any any",
        ),
        [],
    ),
    ("FAB2562", "nothing for tunnels and BFD"): (
        filtered("permit tcp any any", "permit icmp any any", "permit ip 10.20.0.0/16 10.20.0.0/16"),
        [
            "leaf1.eos:9: error[FAB2562]: leaf1: Ethernet1: filter UP has no rule that permits BFD (UDP 3784)",
            "leaf1.eos:9: error[FAB2562]: leaf1: Ethernet1: filter UP has no rule that permits VXLAN (UDP 4789)",
        ],
    ),
    ("FAB2562", "packets between servers"): (
        filtered("deny ip 10.20.0.0/16 10.20.0.0/16 log", "permit ip any any"),
        ["leaf1.eos:11: error[FAB2562]: leaf1: Ethernet1: filter UP denies packets between servers"],
    ),
    ("FAB2562", "packets of one subnet"): (filtered("deny ip 10.20.1.0/24 any", "permit ip any any"), []),
    ("FAB2563", "none"): (FABRIC, []),
    ("FAB2563", "a route target on all leaves"): (
        but(
            FABRIC,
            {
                f"leaf{n}.eos": {
                    "import evpn 65000:50002\n": "import evpn 65000:50002\n      route-target import evpn 65000:50001\n"
                }
                for n in (1, 2, 3)
            },
        ),
        [
            f"leaf{n}.eos:{line}: warning[FAB2563]: leaf{n}: VRF blue: imports route target 65000:50001 of VRF red, which "
            "imports none of its own"
            for n, line in ((1, 56), (2, 56), (3, 56))
        ],
    ),
    ("FAB2563", "in both directions"): (
        but(
            FABRIC,
            {
                f"leaf{n}.eos": {
                    f"export evpn 65000:{own}\n": f"export evpn 65000:{own}\n      route-target import evpn 65000:{other}\n"
                    for own, other in ((50001, 50002), (50002, 50001))
                }
                for n in (1, 2, 3)
            },
        ),
        [],
    ),
    ("FAB2563", "a network in another VRF"): (
        leaf1("interface Vlan10\n   vrf red\n", "interface Vlan10\n   vrf blue\n"),
        [
            "leaf1.eos:16: error[FAB2563]: leaf1: Vlan10: VNI 10010 is in VRF blue, but in VRF red on leaf2 (leaf2.eos:16)",
        ],
    ),
}
# Rules of six network OSes; what each is read as: permits, protocol, source, target, ports of both, asks for more.
RULES = {
    "10 permit udp any host 10.0.0.1 eq 4791": (True, "udp", "", "10.0.0.1/32", (), ((4791, 4791),), False),
    "deny tcp 10.0.0.0 0.0.0.255 gt 1023 any eq bgp log": (
        False,
        "tcp",
        "10.0.0.0/24",
        "",
        ((1024, 65535),),
        ((179, 179),),
        False,
    ),
    "permit 17 addrgroup A any range 4789 4790": (True, "udp", "", "", (), ((4789, 4790),), True),
    "seq 5 permit ip 10.0.0.0/8 any tracked": (True, "", "10.0.0.0/8", "", (), (), True),
    "permit host 10.0.0.1": (True, "", "10.0.0.1/32", "", (), (), False),
    "deny tcp any any established": (False, "tcp", "", "", (), (), True),
    "deny ip 10.0.0.0 0.0.255.0 any": (False, "", "", "", (), (), True),
    "permit udp any any neq 53": (True, "udp", "", "", (), ((0, 52), (54, 65535)), False),
    "remark no rule": None,
}


@pytest.mark.parametrize("text", RULES)
def test_a_rule(text: str) -> None:
    rule, wanted = access_rule(text), RULES[text]
    assert rule == (FilterRule(**dict(zip(FIELDS, wanted, strict=True))) if wanted else None)


FIELDS = ("permits", "protocol", "source", "target", "source_ports", "target_ports", "narrowed")
FILES = {
    "eos": "ip access-list UP\n   20 permit ip any any\n   10 deny udp any any eq 4791\n",
    "nxos": "hostname a\nip access-list UP\n  statistics per-entry\n  10 deny udp any any eq 4791\n  20 permit ip any any\n",
    "junos": "set firewall family inet filter UP term a from protocol udp\nset firewall family inet filter UP term a from "
    "destination-port 4791\nset firewall family inet filter UP term a then discard\n"
    "set firewall family inet filter UP term b then accept\n",
    "sonic": '{"ACL_TABLE": {"UP": {"type": "L3", "ports": ["Ethernet0"], "stage": "ingress"}}, "ACL_RULE": {"UP|B": '
    '{"PRIORITY": "10", "PACKET_ACTION": "FORWARD"}, "UP|A": {"PRIORITY": "20", "PACKET_ACTION": "DROP", '
    '"IP_PROTOCOL": "17", "L4_DST_PORT": "4791", "ETHER_TYPE": "2048"}}}',
    "cumulus": "nv set acl UP type ipv4\nnv set acl UP rule 10 match ip protocol udp\nnv set acl UP rule 10 match ip udp "
    "dest-port 4791\nnv set acl UP rule 10 action deny\nnv set acl UP rule 20 action permit\n",
}


@pytest.mark.parametrize("nos", FILES)
def test_a_filter(nos: str) -> None:
    """The rules of every network OS, in the order in which it evaluates them."""
    file = "config_db.json" if nos == "sonic" else "a"
    found = read_device("a", nos, {file: FILES[nos]}).packet_filters["UP"]
    assert found.permits_rest == (nos in ("sonic", "cumulus"))
    assert [one.value for one in found.rules] == [
        FilterRule(permits=False, protocol="udp", target_ports=((4791, 4791),)),
        FilterRule(permits=True),
    ]
