"""Where FRR reads the lines below `router bgp`, seen with FRR 8.4.4."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fabric.nos.frr.read.nodes import STRAY, by_node

CASES = {
    "a command of the process ends the address family": (
        """\
        router bgp 65001
         address-family l2vpn evpn
          neighbor RR activate
          timers bgp 3 9
          advertise-all-vni
         exit-address-family
        exit
        """,
        [0, 1, 2, 1, 1, 2, 0],
    ),
    "a command of IPv4 unicast ends the one of EVPN": (
        """\
        router bgp 65001
         address-family l2vpn evpn
          advertise-all-vni
          redistribute connected
         exit-address-family
         address-family ipv4 unicast
          redistribute connected
        """,
        [0, 1, 2, 1, 2, 1, 2],
    ),
    "a VNI lasts until its end": (
        """\
        router bgp 65001
         address-family l2vpn evpn
          vni 10100
          rd 10.8.0.1:9
         route-target import 65000:9
          exit-vni
          advertise-svi-ip
        """,
        [0, 1, 2, 3, 3, 2, 2],
    ),
    "sections of other kinds stay": (
        """\
        router bgp 65001
         bmp targets T
           bmp monitor ipv4 unicast pre-policy
         exit
         neighbor 10.9.0.1 remote-as 65002
        exit
        """,
        [0, 1, 3, 1, 1, 0],
    ),
    "a VNI of the default VRF ends the process": (
        """\
        router bgp 65001
           neighbor 10.9.0.1 remote-as 65002
        vni 50001
        interface lo
         ip address 10.8.0.1/32
        """,
        [0, 1, 0, 0, 1],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_margins(case: str) -> None:
    text, margins = CASES[case]
    shown = by_node(dedent(text))
    assert [len(line) - len(line.lstrip()) for line in shown.splitlines()] == margins
    assert [line.strip() for line in shown.splitlines()] == [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("text", "strays"),
    [
        ("vrf red\n vni 1\nexit-vrf\n ip address 10.8.0.1/32\nexit\nip route 192.0.2.0/24 10.9.0.1\n", [5]),
        ("vrf red\n vni 1\nexit-vrf\ninterface lo\nexit\nip route 192.0.2.0/24 10.9.0.1\n", []),
        ("newfangled thing\n setting 1\nexit\nip route 192.0.2.0/24 10.9.0.1\n", []),
        ("router bgp 65001\nexit\nexit\nhostname leaf1\n", [3]),
        ("hostname leaf1\nexit\n", []),
    ],
    ids=["its section is gone", "an empty section", "an unknown section", "once too often", "nothing below it"],
)
def test_an_exit_of_no_section(text: str, strays: list[int]) -> None:
    assert [number for number, line in enumerate(by_node(text).splitlines(), 1) if line == STRAY] == strays
