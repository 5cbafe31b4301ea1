"""NX-OS tenants: VNIs, gateways, vPC pairs, VRF-lite, filters, external connections; and whole files to read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.configs.render import render
from fabric.model.plan import Acl
from fabric.nos.nxos.target import TARGET
from tests.goldens import golden
from tests.nos.nxos.write.test_render import config, section
from tests.nos.tenant_views import rich

CASES = [
    ("qos", "ipv4", "leaf1"),
    ("qos", "ipv6", "spine1"),
    ("qos", "unnumbered", "leaf1"),
    ("evpn", "ipv4", "leaf1"),
    ("evpn", "ipv4", "leaf2"),
    ("evpn", "unnumbered", "spine1"),
    ("vrf-lite", "ipv4", "spine1"),
    ("acl", "ipv4", "leaf1"),
]


@pytest.mark.parametrize(("kind", "style", "name"), CASES, ids=["-".join(case) for case in CASES])
def test_files_are_as_recorded(kind: str, style: str, name: str) -> None:
    golden(f"render/nxos/{kind}-{style}-{name}/startup-config", render(rich(name, kind, "nxos", style), TARGET)[0].text)


@pytest.mark.parametrize("kind", ["qos", "acl"])
@pytest.mark.parametrize("style", ["ipv4", "unnumbered", "ipv6", "ipv6-unnumbered"])
@pytest.mark.parametrize("name", ["leaf1", "leaf2", "spine1"])
def test_every_view_renders_without_empty_words(kind: str, style: str, name: str) -> None:
    text = render(rich(name, kind, "nxos", style), TARGET)[0].text
    assert "None" not in text
    assert "  \n" not in text
    assert text.endswith("\n")


def test_a_vrf_imports_and_exports_exactly_its_targets() -> None:
    assert section(config(rich("leaf1", "evpn", "nxos")), "vrf context blue") == [
        "vni 50002",
        "rd 10.0.0.1:2",
        "address-family ipv4 unicast",
        "route-target import 65000:50002",
        "route-target import 65000:50002 evpn",
        "route-target import 65000:50001",
        "route-target import 65000:50001 evpn",
        "route-target export 65000:50002",
        "route-target export 65000:50002 evpn",
    ]


def test_a_network_is_a_vlan_a_vni_and_an_anycast_gateway() -> None:
    lines = config(rich("leaf1", "evpn", "nxos"))
    assert "fabric forwarding anycast-gateway-mac 0000.5e00.0101" in lines
    assert section(lines, "vlan 100") == ["name red-web", "vn-segment 10001"]
    assert section(lines, "interface Vlan100")[-2:] == ["ip address 10.1.0.1/24", "fabric forwarding mode anycast-gateway"]
    assert section(lines, "interface Vlan3001")[-1] == "ip forward"
    assert section(lines, "evpn") == [
        "vni 10001 l2",
        "rd 10.0.0.1:10001",
        "route-target import 65000:10001",
        "route-target export 65000:10001",
    ]


def test_arp_is_suppressed_only_where_the_gateway_is() -> None:
    seen = rich("leaf1", "evpn", "nxos")
    assert "suppress-arp" in section(config(seen), "interface nve1")
    bridged = config(replace(seen, networks=(replace(seen.networks[0], gateway=None),)))
    assert "suppress-arp" not in section(bridged, "interface nve1")
    assert "interface Vlan100" not in bridged


def test_a_pair_shares_a_vtep_and_has_no_peer_link_cable() -> None:
    lines = config(rich("leaf1", "evpn", "nxos"))
    assert section(lines, "vpc domain 1")[:5] == [
        "peer-switch",
        "role priority 1000",
        "system-mac 0200.0000.0001",
        "peer-keepalive destination 172.16.0.11 source 172.16.0.10 vrf management",
        "virtual peer-link destination 10.0.0.2 source 10.0.0.1 dscp 56",
    ]
    assert section(lines, "interface loopback1")[1:] == ["ip address 10.2.0.1/32", "ip address 10.2.0.129/32 secondary"]
    assert "port-type fabric" in section(lines, "interface Ethernet1/3")
    assert "advertise virtual-rmac" in section(lines, "interface nve1")
    assert "    advertise-pip" in lines
    assert "channel-group 1 mode active" in section(lines, "interface Ethernet1/5/1")
    assert not any(line.startswith("spanning-tree") for line in section(lines, "interface Ethernet1/5/1"))
    assert "spanning-tree port type edge" in " ".join(section(lines, "interface port-channel1"))
    assert "vpc 1" in section(lines, "interface port-channel1")
    assert "role priority 2000" in section(config(rich("leaf2", "evpn", "nxos")), "vpc domain 1")


def test_a_pair_needs_management_addresses_and_the_overlay() -> None:
    seen = rich("leaf1", "evpn", "nxos")
    with pytest.raises(ValueError, match="need management addresses on NX-OS"):
        config(replace(seen, management=replace(seen.management, address=None)))
    with pytest.raises(ValueError, match="need the overlay on NX-OS"):
        config(replace(seen, overlay=None, networks=(), vrfs=(), externals=()))


def test_bonds_end_before_the_peer_link() -> None:
    seen = rich("leaf1", "evpn", "nxos")
    lag = replace(seen.lags[0], number=4096)
    with pytest.raises(ValueError, match="bond 4096"):
        config(replace(seen, lags=(lag,)))


def test_a_trunk_carries_the_stated_vlans_alone() -> None:
    seen = rich("leaf1", "evpn", "nxos")
    lines = config(replace(seen, lags=(replace(seen.lags[0], untagged=100, tagged=(200, 101)),)))
    assert section(lines, "interface port-channel1")[1:6] == [
        "switchport",
        "switchport mode trunk",
        "switchport trunk native vlan 100",
        "switchport trunk allowed vlan 100,101,200",
        "spanning-tree port type edge trunk",
    ]


def test_a_spine_keeps_every_route_and_its_next_hop() -> None:
    lines = config(rich("spine1", "evpn", "nxos"))
    assert "    retain route-target all" in lines
    assert "      route-map RM-UNCHANGED out" in lines
    assert section(lines, "route-map RM-UNCHANGED permit 10") == ["set ip next-hop unchanged"]
    assert not any(line.startswith(("vlan", "interface nve", "evpn", "vrf context red")) for line in lines)


def test_a_spine_without_overlay_sessions_has_no_evpn() -> None:
    seen = rich("spine1", "evpn", "nxos")
    assert seen.overlay is not None
    lines = config(replace(seen, overlay=replace(seen.overlay, sessions=())))
    assert not any("evpn" in line.lower() or "OVERLAY" in line for line in lines)


def test_a_leaf_is_no_transit_between_spines() -> None:
    lines = config(rich("leaf1", "evpn", "nxos"))
    assert 'ip as-path access-list OVERLAY-PEERS seq 10 permit "^4200000001_"' in lines
    assert section(lines, "route-map RM-OVERLAY-OUT deny 10") == ["match as-path OVERLAY-PEERS"]
    assert "      route-map RM-OVERLAY-OUT out" in lines


def test_vrf_lite_has_a_session_per_vrf_and_link() -> None:
    lines = config(rich("spine1", "vrf-lite", "nxos"))
    assert "vrf context red" in lines
    assert "  template peer FABRIC-red" in lines
    assert lines.count("      inherit peer FABRIC-red") == 4
    assert section(lines, "interface Ethernet1/1/1.11")[1] == "encapsulation dot1q 11"
    assert not any("evpn" in line or "nve" in line for line in lines)


def test_a_external_connection_has_a_policy_of_its_own() -> None:
    lines = config(rich("leaf2", "evpn", "nxos"))
    at = lines.index("    neighbor 10.64.9.3")
    assert [line.strip() for line in lines[at + 1 : at + 8]] == [
        "remote-as 65010",
        "description wan",
        "timers 3 9",
        "address-family ipv4 unicast",
        "maximum-prefix 12000 80",
        "route-map RM-wan-red-IN in",
        "route-map RM-wan-red-OUT out",
    ]
    assert "ip prefix-list PL-wan-red-IN seq 10 permit 0.0.0.0/0" in lines


def test_a_external_connection_of_the_default_table() -> None:
    seen = rich("leaf2", "evpn", "nxos")
    out = replace(seen.externals[0], vrf="", tag=0)
    lines = config(replace(seen, externals=(out,)))
    assert "  neighbor 10.64.9.3" in lines
    assert "      route-map RM-wan-IN in" in lines


@pytest.mark.parametrize(
    ("permits", "expected"),
    [
        ((), {"ip access-list ACL-red": ["10 deny ip any any"]}),
        (("10.1.0.0/24",), {"ip access-list ACL-red": ["10 permit ip any 10.1.0.0/24", "20 deny ip any any"]}),
        (
            ("fd00:2::/64",),
            {
                "ipv6 access-list ACL6-red": [
                    "10 permit icmp any any nd-na",
                    "20 permit icmp any any nd-ns",
                    "30 permit icmp any any router-advertisement",
                    "40 permit icmp any any router-solicitation",
                    "50 permit ipv6 any fd00:2::/64",
                    "60 deny ipv6 any any",
                ]
            },
        ),
    ],
)
def test_filters_keep_a_tenant_to_its_own_prefixes(permits: tuple[str, ...], expected: dict[str, list[str]]) -> None:
    seen = rich("leaf1", "acl", "nxos")
    lines = config(replace(seen, acls=(Acl("red", permits),)))
    for head, inside in expected.items():
        assert section(lines, head) == inside
    port = section(lines, "interface Ethernet1/1/1")
    name = next(iter(expected)).rpartition(" ")[2]
    assert any(line in port for line in (f"ip access-group {name} in", f"ipv6 traffic-filter {name} in"))


def test_reserved_vrf_names_are_refused() -> None:
    seen = rich("leaf1", "evpn", "nxos")
    with pytest.raises(ValueError, match="tenant management: NX-OS keeps this VRF name for itself"):
        config(replace(seen, vrfs=(replace(seen.vrfs[0], name="management"),)))
