"""The list of lines that Batfish does not know: what is on it, and what is not."""

from __future__ import annotations

import re

import pytest

from fabric.audit.checks.batfish.parsing import allowed, reason
from fabric.nos.batfish import Context, contexts, paths
from fabric.nos.target import target_names

QUALITY = "Quality of service is not modeled; the checks of lossless classes read the files themselves."
EVOLVED = "The management port, under the name that it has on Evolved, and its routing table."
TARGETS = "Batfish makes route distinguishers and targets of its own; those of the files are read back against the plan."
GATEWAY = "Property 'gwaddr' of 'eth0|172.16.0.10/16' is not implemented"
SPEED = "Speed and error correction of a port; the packets go the same way."
EVPN_VNI = ("router bgp 65001", "address-family l2vpn evpn", "vni 10001")
KNOWN: dict[tuple[str, str, str], tuple[Context, str]] = {
    ("eos", "lines", "service-profile ROCE"): (("interface Ethernet1/1",), QUALITY),
    ("eos", "lines", "speed 400g-8"): (("interface Ethernet1/1",), SPEED),
    ("nxos", "references", "class-map type queuing c-out-8q-q3"): ((), QUALITY),
    ("junos", "lines", "set system management-instance"): (("system {",), EVOLVED),
    ("frr", "lines", "rd 10.0.0.3:10001"): (EVPN_VNI, TARGETS),
    ("sonic", "details", GATEWAY): ((), "Return routes of the management port, which no packet of the fabric takes."),
}


@pytest.mark.parametrize(("asked", "expected"), KNOWN.items(), ids=[" ".join(key) for key in KNOWN])
def test_what_is_on_the_list_has_its_reason(asked: tuple[str, str, str], expected: tuple[Context, str]) -> None:
    context, why = expected
    assert reason(*asked, context) == why


SSH = ("management ssh",)
BGP = ("router bgp 65001",)
PORT = ("interface Ethernet1/1",)
ELSEWHERE: list[tuple[str, str, Context, Context]] = [  # target, line, where it is right, where it is not
    ("eos", "shutdown", SSH, PORT),
    ("eos", "shutdown", SSH, BGP),
    ("eos", "no shutdown", (*SSH, "vrf MGMT"), BGP),
    ("eos", "vrf MGMT", SSH, PORT),
    ("eos", "vrf MGMT", SSH, ()),
    ("eos", "service-profile ROCE", PORT, ("interface Vlan100",)),
    ("eos", "maximum-routes 12000 warning-limit 80 percent", BGP, ("router ospf 1",)),
    ("eos", "redistribute learned", (*BGP, "vlan 100"), BGP),
    ("eos", "10 permit ip any any tracked", ("ip access-list CP-FABRIC",), ("ip access-list TENANT-red",)),
    ("nxos", "maximum-paths 64", (*BGP, "address-family l2vpn evpn"), (*BGP, "address-family ipv4 unicast")),
    ("nxos", "remote-as 65001", (*BGP, "neighbor Ethernet1/1"), (*BGP, "neighbour 10.64.0.1")),
    ("nxos", "remote-as 65001", (*BGP, "neighbor Ethernet1/1"), (*BGP, "neighbor 10.64.0.1")),
    ("nxos", "inherit peer FABRIC", (*BGP, "neighbor Ethernet1/1"), (*BGP, "neighbor 10.64.0.1")),
    ("nxos", "description spine001 Ethernet1/1", (*BGP, "neighbor Ethernet1/1"), ("interfce Ethernet1/1",)),
    ("nxos", "retain route-target all", (*BGP, "address-family l2vpn evpn"), (*BGP, "address-family ipv4 unicast")),
    ("nxos", "nexthop route-map RM-UNCHANGED", (*BGP, "address-family l2vpn evpn"), BGP),
    ("nxos", "peer-switch", ("vpc domain 1",), PORT),
    ("frr", "no zebra nexthop kernel enable", (), BGP),
    ("frr", "rd 10.0.0.3:1", (*BGP, "address-family l2vpn evpn"), ("vrf vrf-red",)),
    ("frr", "ebgp-multihop 2", BGP, ()),
    ("sonic", "src 10.0.0.1", ("route-map RM_SET_SRC permit 10",), ("route-map RM-FABRIC permit 10",)),
    ("junos", "vtep-source-interface lo0.0", ("routing-instances {", "EVPN-L2 {"), ("routing-instances {", "red {")),
]


@pytest.mark.parametrize(("nos", "line", "right", "wrong"), ELSEWHERE, ids=lambda value: str(value))
def test_a_line_is_allowed_in_its_own_block_alone(nos: str, line: str, right: Context, wrong: Context) -> None:
    assert reason(nos, "lines", line, right)
    assert reason(nos, "lines", line, wrong) == ""


MAC_VRF = "routing-instances { / EVPN-L2 { / vlans { / red-login {"


@pytest.mark.parametrize(
    ("reference", "lines", "allowed_here"),
    [
        ("vlan red-login", [MAC_VRF], True),
        ("vlan red-loign", [MAC_VRF], False),
        ("vlan red-login", ["vlans { / red-login {"], False),
        ("vlan red.login", [MAC_VRF], False),
        ("vlan red-login", [], False),
    ],
)
def test_a_reference_is_allowed_where_the_switch_defines_the_name(
    reference: str, lines: list[str], allowed_here: bool
) -> None:
    assert bool(reason("junos", "references", reference, paths=lambda: lines)) == allowed_here


@pytest.mark.parametrize(
    ("number", "allowed_here"), [(1, False), (65535, False), (65536, True), (70001, True), (770001, True)]
)
def test_only_route_targets_beyond_16_bits_are_unknown_to_batfish(number: int, allowed_here: bool) -> None:
    line = f"route-target import evpn 64999:{number}"
    assert bool(reason("eos", "lines", line, (*BGP, "vrf red"))) == allowed_here


@pytest.mark.parametrize(
    ("nos", "line"),
    [
        ("eos", "servce-profile ROCE"),
        ("eos", "mttu 9214"),
        ("eos", "rooter-id 10.0.0.1"),
        ("eos", "priority-flow-control priority 3 drop"),
        ("eos", "qos map dscp 26 to trafic-class 3"),
        ("nxos", "service-profile ROCE"),  # of another target
        ("nxos", "pause pfc-cos"),
        ("nxos", "neighbour 10.64.0.1"),
        ("junos", "set interfaces et-0/0/0 mttu 9216"),
        ("junos", "set class-of-service congestion-notification-profil PFC-3M input cable-length 3"),
        ("frr", "neighbor FABRIC prefix-lst PL-FABRIC in"),
        ("sonic", "bgp rooter-id 10.0.0.1"),
        ("cumulus", "rd 10.0.0.3:10001"),
    ],
)
def test_what_is_not_on_the_list_is_a_finding(nos: str, line: str) -> None:
    assert reason(nos, "lines", line) == ""


@pytest.mark.parametrize("nos", target_names())
def test_every_entry_has_a_reason(nos: str) -> None:
    assert allowed(nos)
    for entry in allowed(nos):
        assert re.fullmatch(r"[A-Z].*\.", entry.reason), entry


TEXT = """\
router bgp 65001
   router-id 10.0.0.1
   !
   vrf red
      rd 10.0.0.1:1
!
   neighbor FABRIC bfd

interface Loopback0
""".splitlines()


def test_contexts() -> None:
    """Blank lines and separators end no block; less indentation does."""
    assert contexts(TEXT) == [
        *((), ("router bgp 65001",), (), ("router bgp 65001",), ("router bgp 65001", "vrf red")),
        *((), ("router bgp 65001",), (), ()),
    ]
    assert list(paths(TEXT)) == [
        "router bgp 65001",
        "router bgp 65001 / router-id 10.0.0.1",
        "router bgp 65001 / vrf red",
        "router bgp 65001 / vrf red / rd 10.0.0.1:1",
        "router bgp 65001 / neighbor FABRIC bfd",
        "interface Loopback0",
    ]
