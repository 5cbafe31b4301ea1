"""Tenants on Junos Evolved: EVPN, bonds, VRF-lite, filters, and what the routing engine answers."""

from __future__ import annotations

from dataclasses import replace

from fabric.nos.junos.target import TARGET
from tests.nos.junos.write.test_render import block, text
from tests.nos.tenant_views import rich


def test_a_leaf_has_explicit_distinguishers_and_targets() -> None:
    conf = text(rich("leaf1", "evpn", "junos"))
    red, blue = block(conf, "VRF-red"), block(conf, "VRF-blue")
    assert "    route-distinguisher 10.0.0.1:1;\n    vrf-target target:65000:50001;" in red
    assert "    vrf-import VRF-blue-IN;\n    vrf-export VRF-blue-OUT;" in blue
    assert "community [ RT-65000-50002 RT-65000-50001 ];" in block(conf, "policy-statement VRF-blue-IN")
    assert "community RT-65000-50001 members target:65000:50001;" in conf
    assert "vni 50001;" in red
    assert "vrf-target target:65000:10001;" in block(block(conf, "EVPN-L2"), "vni 10001")


def test_a_spine_passes_on_and_has_no_tenants() -> None:
    conf = text(rich("spine1", "evpn", "junos"))
    assert "    no-nexthop-change;" in block(conf, "multihop")
    assert "VRF-" not in conf
    assert "vtep-source-interface" not in conf
    assert block(conf, "policy-statement EVPN-OUT").count("term") == 1
    leaf = block(text(rich("leaf1", "evpn", "junos")), "policy-statement EVPN-OUT")
    assert leaf.index("as-path FROM-ABOVE;") < leaf.index("accept;")


def test_the_vtep_is_the_one_address_of_the_loopback() -> None:
    """Junos writes the source of its BGP session into its EVPN routes as next hop: tunnels must end at that address."""
    conf = text(rich("leaf1", "evpn", "junos"))
    loopback = block(conf, "lo0")
    assert [line.strip() for line in loopback.split("\n") if "address" in line] == ["address 10.0.0.1/32;"]
    assert "10.2.0." not in conf.replace(
        "10.2.0.0/24", ""
    )  # the plan's own VTEP address: neither on the switch nor announced
    assert "local-address 10.0.0.1;" in block(conf, "group EVPN")
    assert "vtep-source-interface lo0.0;" in conf
    assert 'description "router id";' in block(text(rich("spine1", "evpn", "junos")), "lo0")


def test_tenants_that_see_each_other_are_refused() -> None:
    assert not TARGET.capabilities.imports


def test_a_bond_is_an_ethernet_segment_on_both_leaves() -> None:
    both = [block(text(rich(name, "evpn", "junos")), "ae1") for name in ("leaf1", "leaf2")]
    assert both[0] == both[1]
    assert "03:02:00:00:00:00:01:00:00:01;" in both[0]
    assert "system-id 02:00:00:00:00:01;" in both[0]
    assert "members red-web;" in both[0]


def test_a_bond_with_tagged_networks_is_a_trunk() -> None:
    leaf = rich("leaf1", "evpn", "junos")
    more = replace(leaf.networks[0], name="red-db", vlan=200, vni=10_002, route_target="65000:10002", gateway=None)
    bond = replace(leaf.lags[0], tagged=(200,))
    conf = text(replace(leaf, networks=(*leaf.networks, more), lags=(bond,)))
    assert "native-vlan-id 100;" in block(conf, "ae1")
    assert "members [ red-web red-db ];" in block(conf, "ae1")
    assert "l3-interface" not in block(conf, "red-db")


def test_the_border_takes_in_the_default_route_for_a_tenant() -> None:
    conf = text(rich("leaf2", "evpn", "junos"))
    assert "route-filter-list PL-wan-red-IN;" in block(conf, "policy-statement OUTSIDE-wan-red-IN")
    assert "protocol [ direct evpn ];" in block(conf, "policy-statement OUTSIDE-wan-red-OUT")
    assert block(conf, "term from-wan").count("PL-wan-red-IN") == 1  # and tells the fabric
    neighbor = block(block(conf, "VRF-red"), "neighbor 10.64.9.3")
    assert "peer-as 65010;" in neighbor
    assert block(conf, "et-0/0/5").count("vlan-id") == 2


def test_vrf_lite_slices_beside_the_untagged_link() -> None:
    conf = text(rich("leaf1", "vrf-lite", "junos"))
    link = block(conf, "et-0/0/2")
    assert "    flexible-vlan-tagging;\n    native-vlan-id 1;" in link
    assert "    vlan-id 1;" in block(link, "unit 0")
    assert "address 10.65.0.4/31;" in block(link, "unit 11")
    red = block(conf, "VRF-red")
    assert "instance-type virtual-router;" in red
    assert "interface et-0/0/2.11;" in red
    assert red.count("peer-as") == 4


def test_the_native_vlan_gives_way_to_a_tenants_tag() -> None:
    leaf = rich("leaf1", "vrf-lite", "junos")
    ports = []
    for port in leaf.ports:
        slices = tuple(replace(part, tag=part.tag - 10) for part in port.subinterfaces)
        ports.append(replace(port, subinterfaces=slices))
    assert "native-vlan-id 3;" in block(text(replace(leaf, ports=tuple(ports))), "et-0/0/2")


def test_a_server_reaches_its_own_tenant_only() -> None:
    conf = text(rich("leaf1", "acl", "junos"))
    assert "input ACL-red;" in block(conf, "et-0/0/0:0")
    own = block(conf, "filter ACL-red")
    assert own.index("10.128.1.0/31;") < own.index("accept;") < own.index("discard;")
    leaf = rich("leaf1", "acl", "junos")
    shut = tuple(replace(acl, permits=()) for acl in leaf.acls)
    assert "accept" not in block(text(replace(leaf, acls=shut)), "filter ACL-red")


def test_ipv6_filters_let_neighbor_discovery_through() -> None:
    leaf = rich("leaf1", "acl", "junos", "ipv6")
    acls = tuple(replace(acl, permits=("fd00:2:1::/127",)) for acl in leaf.acls)
    own = block(text(replace(leaf, acls=acls)), "filter ACL-red")
    assert own.index("neighbor-solicit") < own.index("fd00:2:1::/127;") < own.index("discard;")


def test_the_routing_engine_answers_its_neighbors_and_its_keepers() -> None:
    conf = text(rich("leaf2", "evpn", "junos"))
    guard = block(conf, "filter PROTECT-RE")
    order = ["bgp", "bfd", "icmp", "ssh", "replies", "snmp", "gnmi", "ntp", "dns", "rest"]
    assert [line.split()[1] for line in guard.split("\n") if line.strip().startswith("term ")] == order
    peers = block(conf, "prefix-list BGP-PEERS")
    for address in ("10.64.0.9/32", "10.0.0.11/32", "10.64.9.3/32"):  # link, loopback, outside
        assert f"    {address};" in peers
    assert conf.count("input PROTECT-RE;") == 2


def test_unnumbered_neighbors_are_link_local() -> None:
    conf = text(rich("leaf1", "qos", "junos", "unnumbered"))
    assert block(conf, "prefix-list BGP-PEERS6") == "prefix-list BGP-PEERS6 {\n    fe80::/10;\n}"
    assert "input PROTECT-RE6;" in block(conf, "lo0")
    assert "interface et-0/0/1:0.0;" in block(conf, "peer-auto-discovery")
    assert "as-list FABRIC-PEERS members [ 4200000001 4200000002 ];" in conf
    assert "extended-nexthop;" in block(conf, "group FABRIC")
    assert "extended-nexthop;" not in text(rich("leaf1", "qos", "junos", "ipv6-unnumbered"))
