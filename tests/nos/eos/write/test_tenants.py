"""EOS: tenants, bonds and external connections, as whole files and as the lines that carry them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.configs.render import render
from fabric.model.plan import External, Subinterface, SwitchView
from fabric.nos.eos.target import TARGET
from fabric.nos.eos.write.ports import grouped, switchport, vlan_list
from tests.goldens import golden
from tests.nos.tenant_views import rich


def text(view: SwitchView) -> str:
    return render(view, TARGET)[0].text


def lines(view: SwitchView) -> list[str]:
    return text(view).splitlines()


def section(view: SwitchView, head: str) -> list[str]:
    """The lines below the last one of that text, without their indent."""
    found = lines(view)
    at = len(found) - 1 - found[::-1].index(head)
    indent = len(head) - len(head.lstrip())
    body = []
    for line in found[at + 1 :]:
        if line.strip() != "!" and len(line) - len(line.lstrip()) <= indent:
            break
        body.append(line.strip())
    return [line for line in body if line != "!"]


@pytest.mark.parametrize(
    ("kind", "name"), [("qos", "leaf1"), ("qos", "spine1"), ("evpn", "leaf1"), ("evpn", "leaf2"), ("evpn", "spine1")]
)
def test_files_are_as_recorded(kind: str, name: str) -> None:
    golden(f"render/eos-{kind}-{name}/startup-config", text(rich(name, kind, "eos")))


@pytest.mark.parametrize("name", ["leaf1", "leaf2", "spine1"])
@pytest.mark.parametrize(
    ("kind", "style"),
    [
        *((kind, style) for kind in ("qos", "acl") for style in ("ipv4", "unnumbered", "ipv6", "ipv6-unnumbered")),
        *(("evpn", style) for style in ("ipv4", "unnumbered")),
        ("vrf-lite", "ipv4"),
    ],
)
def test_every_kind_renders(kind: str, style: str, name: str) -> None:
    found = text(rich(name, kind, "eos", style))
    assert found.endswith("\nend\n")
    assert "None" not in found
    assert "\n\n" not in found
    assert text(rich(name, kind, "eos", style)) == found


def test_a_routed_server_is_in_its_vrf_before_it_has_an_address() -> None:
    assert section(rich("leaf1", "evpn", "eos"), "interface Ethernet1/1")[2:] == [
        "mtu 9050",
        "speed 400g-4",
        "no switchport",
        "vrf red",
        "ip address 10.128.1.0/31",
        "service-profile ROCE",
    ]


def test_a_tenant_has_explicit_distinguishers_and_targets() -> None:
    assert section(rich("leaf1", "evpn", "eos"), "   vrf blue")[:4] == [
        "rd 10.0.0.1:2",
        "route-target import evpn 65000:50002",
        "route-target import evpn 65000:50001",
        "route-target export evpn 65000:50002",
    ]
    assert section(rich("leaf1", "evpn", "eos"), "   vlan 100") == [
        "rd 10.0.0.1:10001",
        "route-target both 65000:10001",
        "redistribute learned",
    ]


def test_only_a_route_server_leaves_the_next_hop() -> None:
    line = "   neighbor EVPN next-hop-unchanged"
    assert line in lines(rich("spine1", "evpn", "eos"))
    assert line not in lines(rich("leaf1", "evpn", "eos"))
    assert "interface Vxlan1" not in lines(rich("spine1", "evpn", "eos"))


def test_a_bond_is_one_segment_on_both_leaves() -> None:
    own, other = (section(rich(name, "evpn", "eos"), "interface Port-Channel1") for name in ("leaf1", "leaf2"))
    assert own[5:10] == [
        "evpn ethernet-segment",
        "identifier 0302:0000:0000:0100:0001",
        "redundancy all-active",
        "designated-forwarder election algorithm preference 200",
        "route-target import 02:00:00:00:00:01",
    ]
    assert set(own) ^ set(other) == {f"designated-forwarder election algorithm preference {n}" for n in (100, 200)}
    assert section(rich("leaf1", "evpn", "eos"), "interface Ethernet5/1")[-1] == "channel-group 1 mode active"


def test_the_gateway_is_shared_and_the_closed_port_shut() -> None:
    view = rich("leaf1", "evpn", "eos")
    assert section(view, "interface Vlan100")[-3:] == ["mtu 9050", "vrf red", "ip address virtual 10.1.0.1/24"]
    assert section(view, "interface Ethernet5/5")[:2] == ["description spare1 frontend1, unassigned", "shutdown"]


def test_a_external_connection_in_a_tenant_says_its_own_policy() -> None:
    view = rich("leaf2", "evpn", "eos")
    assert "neighbor 10.64.9.3 route-map RM-EXT-wan-red-IN in" in section(view, "   vrf red")
    assert section(view, "ip prefix-list PL-wan-red-IN") == ["seq 10 permit 0.0.0.0/0"]
    assert section(view, "interface Ethernet6/1.11")[3:] == [
        "encapsulation dot1q vlan 11",
        "vrf red",
        "ip address 10.64.9.2/31",
    ]


def test_a_external_connection_in_the_default_table_is_on_the_port_itself() -> None:
    view = rich("leaf2", "qos", "eos")
    port = replace(rich("leaf2", "evpn", "eos").externals[0].port, subinterfaces=())
    ports = tuple(port if old.ref == port.ref else old for old in view.ports)
    out = External(
        port=port,
        vrf="",
        tag=0,
        address="10.64.9.0/31",
        peer_address="10.64.9.1",
        peer_asn=65_010,
        peer="wan",
        accepts=("0.0.0.0/0",),
    )
    view = replace(view, ports=ports, externals=(out,), underlay=replace(view.underlay, outside=("0.0.0.0/0",)))
    assert section(view, "interface Ethernet6/1")[-3:] == ["no switchport", "ip address 10.64.9.0/31", "no qos trust"]
    assert "   neighbor 10.64.9.1 route-map RM-EXT-wan-OUT out" in lines(view)
    assert "neighbor 10.64.9.1 activate" in section(view, "   address-family ipv4")
    assert "seq 30 permit 0.0.0.0/0" in section(view, "ip prefix-list PL-OWN")


def test_a_tagged_external_connection_of_the_default_table_has_no_vrf_line() -> None:
    view = rich("leaf2", "evpn", "eos")
    port = view.externals[0].port
    part = Subinterface("", 20, "10.64.9.8/31", "10.64.9.9")
    ports = tuple(replace(port, subinterfaces=(part,)) if old.ref == port.ref else old for old in view.ports)
    assert section(replace(view, ports=ports), "interface Ethernet6/1.20")[2:] == [
        "mtu 9100",
        "encapsulation dot1q vlan 20",
        "ip address 10.64.9.8/31",
    ]


def test_vrf_lite_runs_a_session_on_every_subinterface() -> None:
    view = rich("spine1", "vrf-lite", "eos")
    body = section(view, "   vrf red")
    assert [line for line in body if "peer group" in line] == [
        f"neighbor 10.65.0.{n} peer group VRF-red" for n in (0, 8, 4, 12)
    ]
    assert "   neighbor VRF-red bfd" in lines(view)
    assert not [line for line in body if "route-target" in line]


def test_a_tenant_filter_ends_in_a_denial() -> None:
    assert section(rich("leaf1", "acl", "eos"), "ip access-list TENANT-red") == [
        "10 permit ip any 10.128.1.0/31",
        "20 permit ip any 10.128.2.0/31",
        "30 deny ip any any",
    ]
    assert "ip access-group TENANT-red in" in section(rich("leaf1", "acl", "eos"), "interface Ethernet1/1")


def test_neighbor_discovery_passes_an_ipv6_filter() -> None:
    view = rich("leaf1", "acl", "eos", "ipv6")
    rules = section(view, "ipv6 access-list TENANT-red")[-3:]
    assert [rule.partition(" ")[2] for rule in rules] == [
        "permit icmpv6 any fe80::/10",
        "permit icmpv6 any ff02::/16",
        "deny ipv6 any any",
    ]
    assert "ipv6 access-group TENANT-red in" in section(view, "interface Ethernet1/1")


def test_a_filter_without_prefixes_closes_the_port() -> None:
    view = rich("leaf1", "acl", "eos")
    view = replace(view, acls=tuple(replace(acl, permits=()) for acl in view.acls))
    assert section(view, "ip access-list TENANT-red") == ["10 deny ip any any"]


@pytest.mark.parametrize(("style", "discovery"), [("ipv4", 0), ("ipv6", 2)])
def test_the_denial_stays_last_below_any_number_of_prefixes(style: str, discovery: int) -> None:
    view = rich("leaf1", "acl", "eos", style)
    permits = tuple(f"10.{n // 256}.{n % 256}.0/24" for n in range(1_200))
    view = replace(view, acls=tuple(replace(acl, permits=permits) for acl in view.acls))
    ip = "ip" if style == "ipv4" else "ipv6"
    rules = section(view, f"{ip} access-list TENANT-red")
    numbers = [int(rule.split()[0]) for rule in rules]
    assert numbers == sorted(set(numbers))
    assert len(rules) == len(permits) + discovery + 1
    assert rules[-1].endswith(f" deny {ip} any any")


def test_a_prefix_list_without_entries_denies() -> None:
    view = rich("leaf2", "evpn", "eos")
    view = replace(view, externals=tuple(replace(external, accepts=()) for external in view.externals))
    assert section(view, "ip prefix-list PL-wan-red-IN") == ["seq 10 deny 0.0.0.0/0 le 32"]


@pytest.mark.parametrize(
    ("untagged", "tagged", "expected"),
    [
        (100, (), ("switchport access vlan 100", "switchport mode access")),
        (0, (20, 10, 11), ("switchport trunk allowed vlan 10-11,20", "switchport mode trunk")),
        (
            5,
            (7,),
            ("switchport trunk native vlan 5", "switchport trunk allowed vlan 5,7", "switchport mode trunk"),
        ),
    ],
)
def test_switchports(untagged: int, tagged: tuple[int, ...], expected: tuple[str, ...]) -> None:
    assert switchport(untagged, tagged) == expected


@pytest.mark.parametrize(
    ("numbers", "expected"), [([3], "3"), ([1, 2, 3], "1-3"), ([1, 3, 4, 6], "1,3-4,6"), ([4094, 2], "2,4094")]
)
def test_vlan_lists_are_as_eos_writes_them_back(numbers: list[int], expected: str) -> None:
    assert vlan_list(numbers) == expected


def test_three_ways_to_group_octets() -> None:
    assert grouped("02:00:00:00:00:05", 4, ".") == "0200.0000.0005"
    assert grouped("03:02:00:00:00:00:05:00:00:01", 4, ":") == "0302:0000:0000:0500:0001"
