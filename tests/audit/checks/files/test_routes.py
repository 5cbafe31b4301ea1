"""Static routes: a next hop in a subnet, behind another route, or nowhere."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fabric.model.facts import MANAGEMENT
from fabric.nos.reading import read_device
from tests.audit.checks.files.helpers import SMALL, Case, but

EOS, NXOS, JUNOS = "leaf1.eos", "leaf2.nxos", "spine1.junos"


def with_routes(eos: str = "", nxos: str = "", junos: str = "") -> Mapping[str, str]:
    """The small network with static routes, from line 3 on at the earliest."""
    return but(
        SMALL,
        {
            EOS: {"hostname leaf1\n": f"hostname leaf1\n{eos}"},
            NXOS: {"hostname leaf2\n": f"hostname leaf2\n{nxos}"},
            JUNOS: {"set system host-name spine1\n": f"set system host-name spine1\n{junos}"},
        },
    )


def leaking(red: str = "", blue: str = "") -> Mapping[str, str]:
    """A switch of FRR with two tenants' tables, and lines of their unicast families."""
    families = {"red": red, "blue": blue}
    tables = [
        f"router bgp 65009 vrf {name}\n address-family ipv4 unicast\n{lines} exit-address-family\nexit\n"
        for name, lines in families.items()
    ]
    vrfs = "vrf red\nexit-vrf\nvrf blue\nexit-vrf\n"
    return {**SMALL, "leaf9.frr": f"frr version 8.4.4\nhostname leaf9\n{vrfs}{''.join(tables)}"}


STATIC = "set routing-options static route"
CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2516", "none"): (SMALL, []),
    ("FAB2516", "in a subnet, behind a route, over an interface, of another device"): (
        with_routes(
            "ip route 10.9.0.0/16 10.0.0.0\nip route vrf MGMT 0.0.0.0/0 192.0.2.1\nip route 10.8.0.0/16 10.9.0.1\n"
            "ip route 10.7.0.0/16 Null0\nip route 10.6.0.0/16 Ethernet1 172.16.0.1\nip route 10.5.0.0/16 10.0.0.3\n",
            "ip route 10.4.0.0/16 Ethernet1/1 172.16.0.1\nvrf context management\n  ip route 0.0.0.0/0 192.0.2.1\n",
            f"{STATIC} 10.3.0.0/16 next-hop 172.16.0.1\n{STATIC} 10.3.0.0/16 resolve\n{STATIC} 10.2.0.0/16 discard\n",
        ),
        [],
    ),
    ("FAB2516", "nowhere"): (
        with_routes(
            "ip route 10.9.0.0/16 172.16.0.1\nip route 10.8.0.0/16 172.16.0.1\nip route vrf MGMT 0.0.0.0/0 10.0.0.0\n",
            "ip route 10.7.0.0 255.255.0.0 172.16.0.2\n",
            f"{STATIC} 10.6.0.0/16 next-hop 172.16.0.3\n",
        ),
        [
            "leaf1.eos:2: warning[FAB2516]: leaf1: next hop 172.16.0.1 of 10.9.0.0/16, 10.8.0.0/16 is in no subnet",
            "leaf1.eos:4: warning[FAB2516]: leaf1: next hop 10.0.0.0 of 0.0.0.0/0 is in no subnet of VRF management",
            "leaf2.nxos:2: warning[FAB2516]: leaf2: next hop 172.16.0.2 of 10.7.0.0/16 is in no subnet",
            "spine1.junos:2: warning[FAB2516]: spine1: next hop 172.16.0.3 of 10.6.0.0/16 is in no subnet",
        ],
    ),
    ("FAB2516", "in a table without addresses, beside an address of DHCP"): (
        with_routes(
            "vrf instance red\nip route vrf red 10.9.0.0/16 172.16.0.1\n",
            "interface Vlan7\n  ip address dhcp\nip route 10.7.0.0/16 172.16.0.2\n",
        ),
        [],
    ),
    ("FAB2523", "in both directions, and of the default table"): (
        leaking("  import vrf blue\n  import vrf default\n", "  import vrf red\n  import vrf route-map RM-LEAK\n"),
        [],
    ),
    ("FAB2523", "in one direction, and of a table that is not there"): (
        leaking("  import vrf blue\n", "  import vrf green\n"),
        [
            "leaf9.frr:9: warning[FAB2523]: leaf9: VRF red: imports routes of VRF blue, which imports none of its own",
            "leaf9.frr:14: warning[FAB2523]: leaf9: VRF blue: imports routes of green, which is no VRF here",
        ],
    ),
}
SONIC = '{"STATIC_ROUTE": {%s}}'
ROUTES: dict[tuple[str, str], tuple[str, list[tuple[str, str, str, str]]]] = {
    ("eos", "VRF"): (
        "ip route vrf MGMT 10.0.0.7 255.0.0.0 egress-vrf red 10.1.0.1 250 name X\nipv6 route ::/0 fd00::1\n",
        [(MANAGEMENT, "10.0.0.7/8", "10.1.0.1", "red"), ("", "::/0", "fd00::1", "")],
    ),
    ("nxos", "VRF"): (
        "vrf context red\n  ip route 10.0.0.0/8 10.1.0.1 vrf blue\n  ip route 10.2.0.0/16 Vlan7 10.1.0.1\n",
        [("red", "10.0.0.0/8", "10.1.0.1", "blue"), ("red", "10.2.0.0/16", "", "red")],
    ),
    ("junos", "instance"): (
        "set routing-instances red instance-type vrf\n"
        "set routing-instances red routing-options static route 10.0.0.0/8 next-hop [ 10.1.0.1 10.1.0.2 ]\n"
        "set routing-options rib inet6.0 static route ::/0 qualified-next-hop fe80::1 interface et-0/0/0\n",
        [("", "::/0", "", ""), ("red", "10.0.0.0/8", "10.1.0.1", "red"), ("red", "10.0.0.0/8", "10.1.0.2", "red")],
    ),
    ("frr", "VRF"): (
        "vrf red\n ip route 10.0.0.0/8 10.1.0.1 nexthop-vrf blue\nexit-vrf\nip route 10.2.0.0/16 10.1.0.1 swp1 vrf red\n"
        "no ip route 10.4.0.0/16 10.1.0.1\nip route 10.3.0.0/16 10.1.0.1 20 onlink\nipv6 route ::/0 fd00::1 tag 7\n",
        [
            ("red", "10.0.0.0/8", "10.1.0.1", "blue"),
            ("red", "10.2.0.0/16", "", "red"),
            ("", "10.3.0.0/16", "", ""),
            ("", "::/0", "fd00::1", ""),
        ],
    ),
    ("cumulus", "VRF"): (
        "nv set vrf red router static 10.0.0.0/8 via 10.1.0.1 type ipv4-address\n"
        "nv set vrf mgmt router static 0.0.0.0/0 via blackhole\n",
        [("red", "10.0.0.0/8", "10.1.0.1", "red"), (MANAGEMENT, "0.0.0.0/0", "", MANAGEMENT)],
    ),
    ("sonic", "columns"): (
        SONIC % '"Vrf-red|10.0.0.0/8": {"nexthop": "10.1.0.1,10.1.0.2", "ifname": ",Ethernet0", "nexthop-vrf": "default,"},'
        '"10.2.0.0/16": {"nexthop": "10.1.0.3"}',
        [
            ("Vrf-red", "10.0.0.0/8", "10.1.0.1", ""),
            ("Vrf-red", "10.0.0.0/8", "", "Vrf-red"),
            ("", "10.2.0.0/16", "10.1.0.3", ""),
        ],
    ),
}


@pytest.mark.parametrize("case", ROUTES, ids=" ".join)
def test_read(case: tuple[str, str]) -> None:
    text, expected = ROUTES[case]
    file = {"sonic": "config_db.json", "frr": "frr.conf"}.get(case[0], "x.cfg")
    routes = read_device("x", case[0], {file: text}).routes
    assert [(route.vrf, route.prefix, route.via, route.table) for route in routes] == expected
