"""NX-OS configs as people type them, and as NX-OS prints them."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from fabric.nos.nxos.statements import as_shown
from tests.goldens import GOLDEN

PRINTED = sorted(GOLDEN.glob("render/nxos/*/startup-config"))

# Typed lines → the lines as NX-OS prints them.
TYPED = {
    "a neighbor at the margin": (
        "router bgp 1\n neighbor 10.0.0.1\n   remote-as 1\n   address-family l2vpn evpn\n     send-community extended\n"
        "neighbor 10.0.0.2\n   remote-as 1\n",
        "router bgp 1\n  neighbor 10.0.0.1\n    remote-as 1\n    address-family l2vpn evpn\n      send-community extended\n"
        "  neighbor 10.0.0.2\n    remote-as 1\n",
    ),
    "parts of a neighbor at the margin": (
        "router bgp 1\n  neighbor 10.0.0.1\n    remote-as 1\nupdate-source loopback0\naddress-family l2vpn evpn\n"
        "route-map A out\nfeature pim\n",
        "router bgp 1\n  neighbor 10.0.0.1\n    remote-as 1\n    update-source loopback0\n    address-family l2vpn evpn\n"
        "      route-map A out\nfeature pim\n",
    ),
    "a tunnel interface and a VRF": (
        "interface nve1\n  member vni 10300\nmcast-group 225.1.1.3\n  member vni 3 associate-vrf\nvrf context red\n"
        "  address-family ipv4 unicast\nroute-target both auto\n",
        "interface nve1\n  member vni 10300\n    mcast-group 225.1.1.3\n  member vni 3 associate-vrf\nvrf context red\n"
        "  address-family ipv4 unicast\n    route-target both auto\n",
    ),
    "a mode that is left": (
        "interface Ethernet1/1\nno switchport\nexit\nip route 0.0.0.0/0 10.0.0.1\n",
        "interface Ethernet1/1\n  no switchport\n\nip route 0.0.0.0/0 10.0.0.1\n",
    ),
    "a section of another kind keeps its lines": (
        "vpc domain 1\n  peer-switch\n  role priority 10\ninterface Ethernet1/1\nno switchport\n",
        "vpc domain 1\n  peer-switch\n  role priority 10\ninterface Ethernet1/1\n  no switchport\n",
    ),
    "features cut short": (
        "feature vn-segment-vlan-base\nfeature nv\n",
        "feature vn-segment-vlan-based\nfeature nv overlay\n",
    ),
    "features that are misspelled, or may be two": ("feature vn-segmnt\nfeature osp\n", "feature vn-segmnt\nfeature osp\n"),
}


@pytest.mark.parametrize("case", TYPED)
def test_typed_lines_become_those_that_nxos_prints(case: str) -> None:
    typed, shown = TYPED[case]
    assert as_shown(typed) == shown
    assert as_shown(shown) == shown


@pytest.mark.parametrize("path", PRINTED, ids=str)
def test_a_printed_config_stays_as_it_is(path: PurePath) -> None:
    text = (GOLDEN / path).read_text()
    assert as_shown(text) == text
