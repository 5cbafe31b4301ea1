"""Tenants on FRR: what frr.conf says of them, and the goldens of whole switches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.configs.render import render
from fabric.model.plan import External, SwitchView
from fabric.nos.frr.target import TARGET as FRR
from fabric.nos.sonic.target import TARGET as SONIC
from fabric.nos.target import Target
from tests.goldens import golden_folder
from tests.nos.tenant_views import rich

CASES = [
    ("evpn", "ipv4", "leaf1"),
    ("evpn", "unnumbered", "leaf2"),
    ("evpn", "ipv4", "spine1"),
    ("vrf-lite", "ipv4", "leaf1"),
    ("vrf-lite", "ipv4", "spine1"),
    ("acl", "ipv4", "leaf1"),
    ("acl", "ipv6", "leaf1"),
]


def tenants(name: str, kind: str, style: str = "ipv4") -> SwitchView:
    """As the planner hands it to a target without a lossless class."""
    return replace(rich(name, kind, "frr", style), qos=None)


def files(view: SwitchView, target: Target = FRR) -> dict[str, str]:
    return {file.path: file.text for file in render(view, target)}


def block(text: str, head: str) -> list[str]:
    """The lines from one that begins with `head` to the end of its block."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(head))
    depth = len(lines[start]) - len(lines[start].lstrip())
    rest = [n for n in range(start + 1, len(lines)) if len(lines[n]) - len(lines[n].lstrip()) <= depth]
    return [line.strip() for line in lines[start + 1 : rest[0] if rest else None]]


@pytest.mark.parametrize(("kind", "style", "name"), CASES, ids=["-".join(case) for case in CASES])
def test_files_are_as_recorded(kind: str, style: str, name: str) -> None:
    made = files(tenants(name, kind, style))
    golden_folder(f"render/frr-{kind}-{style}-{name}", made)
    for text in made.values():
        assert text.endswith("\n")
        assert "\n\n\n" not in text


def test_a_leaf_has_vnis_and_a_spine_passes_on() -> None:
    leaf, spine = (files(tenants(name, "evpn"))["frr.conf"] for name in ("leaf1", "spine1"))
    assert block(leaf, " address-family l2vpn evpn") == [
        "neighbor OVERLAY activate",
        "advertise-all-vni",
        "vni 10001",
        "rd 10.0.0.1:10001",
        "route-target import 65000:10001",
        "route-target export 65000:10001",
        "exit-vni",
    ]
    assert block(spine, " address-family l2vpn evpn") == ["neighbor OVERLAY activate"]
    assert "vrf" not in spine


def test_overlay_sessions_run_between_loopbacks() -> None:
    text = files(tenants("leaf1", "evpn"))["frr.conf"]
    for line in (
        " neighbor OVERLAY ebgp-multihop 3",
        " neighbor OVERLAY update-source 10.0.0.1",
        " neighbor 10.0.0.11 remote-as 4200000001",
        " neighbor 10.0.0.11 peer-group OVERLAY",
    ):
        assert f"{line}\n" in text


def test_a_tenant_is_a_vrf_with_its_own_instance() -> None:
    text = files(tenants("leaf1", "evpn"))["frr.conf"]
    assert "vrf vrf-blue\n vni 50002\nexit-vrf\n" in text
    assert block(text, "router bgp 4200000101 vrf vrf-blue") == [
        "bgp router-id 10.0.0.1",
        "no bgp default ipv4-unicast",
        "bgp bestpath as-path multipath-relax",
        "!",
        "address-family ipv4 unicast",
        "redistribute connected route-map RM-blue-CONNECTED",
        "maximum-paths 64",
        "exit-address-family",
        "!",
        "address-family l2vpn evpn",
        "advertise ipv4 unicast",
        "rd 10.0.0.1:2",
        "route-target import 65000:50002",
        "route-target import 65000:50001",  # the intent lets red in
        "route-target export 65000:50002",
        "exit-address-family",
    ]


def test_a_bond_of_two_leaves_is_an_ethernet_segment() -> None:
    first, second = (files(tenants(name, "evpn"))["frr.conf"] for name in ("leaf1", "leaf2"))
    segment = ["evpn mh es-id 1", "evpn mh es-sys-mac 02:00:00:00:00:01"]
    assert block(first, "interface bond1") == ["evpn mh es-df-pref 50000", *segment]
    assert block(second, "interface bond1") == segment  # the other is preferred; this one has the default of 32767
    assert first.count("evpn mh uplink") == 4


def test_a_border_leaf_filters_both_ways_and_passes_on_what_it_took() -> None:
    text = files(tenants("leaf2", "evpn"))["frr.conf"]
    own = block(text, "router bgp 4200000102 vrf vrf-red")
    for line in (
        "neighbor 10.64.9.3 remote-as 65010",
        "neighbor 10.64.9.3 maximum-prefix 12000 80 restart 5",
        "neighbor 10.64.9.3 prefix-list PL-wan-red-IN in",
        "neighbor 10.64.9.3 prefix-list PL-wan-red-OUT out",
        "advertise ipv4 unicast",
        "bgp graceful-restart",
    ):
        assert line in own
    assert "ip prefix-list PL-wan-red-IN seq 10 permit 0.0.0.0/0\n" in text


def test_a_external_connection_of_the_default_table() -> None:
    base = tenants("leaf1", "qos")
    way = External(
        port=base.ports[-1],
        vrf="",
        tag=0,
        address="10.9.0.0/31",
        peer_address="10.9.0.1",
        peer_asn=65010,
        peer="wan",
        accepts=("0.0.0.0/0",),
    )
    made = files(replace(base, externals=(way,), underlay=replace(base.underlay, outside=("0.0.0.0/0",))))
    own = block(made["frr.conf"], "router bgp 4200000101")
    assert "neighbor 10.9.0.1 prefix-list PL-wan-IN in" in own
    assert "ip prefix-list PL-OWN seq 30 permit 0.0.0.0/0\n" in made["frr.conf"]
    assert "10.9.0.1" in made["nftables.conf"]


def test_vrf_lite_has_a_session_a_link_and_tenant() -> None:
    for name, asn in (("leaf1", 4200000101), ("spine1", 4200000001)):
        text = files(tenants(name, "vrf-lite"))["frr.conf"]
        for vrf in ("red", "blue"):
            own = block(text, f"router bgp {asn} vrf vrf-{vrf}")
            assert len([line for line in own if line.endswith(" peer-group FABRIC")]) == 4
            assert f"neighbor FABRIC prefix-list PL-{vrf}-FABRIC in" in own
            assert "neighbor FABRIC bfd profile FABRIC" in own
        assert "l2vpn" not in text
    assert "neighbor FABRIC prefix-list PL-red-OWN out" in files(tenants("leaf1", "vrf-lite"))["frr.conf"]


def test_sonic_spells_vrfs_and_bonds_its_own_way() -> None:
    text = files(rich("leaf1", "evpn", "sonic"), SONIC)["frr.conf"]
    assert "vrf Vrf-red\n vni 50001\n" in text
    assert "router bgp 4200000101 vrf Vrf-red\n" in text
    assert block(text, "interface PortChannel1")[1:] == ["evpn mh es-id 1", "evpn mh es-sys-mac 02:00:00:00:00:01"]
    assert "vrf-red" not in text


def test_a_tenant_name_fits_a_device_name() -> None:
    assert FRR.vrf_name_limit == 11
    assert len("vrf-" + "x" * FRR.vrf_name_limit) == 15
