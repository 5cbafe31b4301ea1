"""NX-OS ports, breakouts, management and routing, line by line."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files

import pytest
import yaml

from fabric.configs.render import render
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import PortRef, SwitchView
from fabric.nos.nxos import target as nxos
from fabric.nos.nxos.target import TARGET
from fabric.nos.nxos.write.switch import Banner, banner
from tests.nos.tenant_views import rich
from tests.nos.views import STYLES, SWITCH, view


def config(seen: SwitchView) -> list[str]:
    return render(seen, TARGET)[0].text.splitlines()


def plain(name: str, style: str) -> SwitchView:
    return view(name, replace(STYLES[style], nos="nxos"))


def section(lines: list[str], head: str) -> list[str]:
    """The indented lines under a line."""
    at = lines.index(head) + 1
    end = next((n for n in range(at, len(lines)) if not lines[n].startswith(" ")), len(lines))
    return [line.strip() for line in lines[at:end]]


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        (PortRef(1, 0, 1, 800), "Ethernet1/1"),
        (PortRef(64, 1, 2, 400), "Ethernet1/64/2"),
        (PortRef(3, 7, 8, 100), "Ethernet1/3/8"),
    ],
)
def test_port_names(ref: PortRef, name: str) -> None:
    assert TARGET.port_name(SWITCH, ref, "") == name


def test_it_refuses_the_switches_of_others() -> None:
    assert TARGET.refusal(SWITCH) is None
    assert TARGET.refusal(SWITCH.model_copy(update={"nos": ("eos",)})) == "it runs eos, not NX-OS"
    assert nxos.TARGET.refusal(SWITCH.model_copy(update={"nos": ("frr",), "maker": "generic"}), "64x400g") is None


@pytest.mark.parametrize(
    ("name", "lacking"),
    [("n9364e-sg2", {"l3vni", "l2vni", "multihoming"}), ("n9364d-gx2a", set()), ("n93180yc-fx3", set())],
)
def test_what_a_switch_lacks(name: str, lacking: set[str]) -> None:
    text = files("fabric.hardware.catalog").joinpath("data/switches/cisco.yaml").read_text(encoding="utf-8")
    model = SwitchModel.model_validate_json(json.dumps(yaml.safe_load(text)[name]))
    table = TARGET.capabilities.table()
    assert {what for what, has in table.items() if has and not TARGET.can(model, what)} == lacking


def test_features_come_first_and_breakouts_before_their_ports() -> None:
    lines = config(rich("leaf1", "qos", "nxos"))
    assert lines[:3] == ["! leaf1 (TEST-SWITCH, NX-OS 10.5(3))", "version 10.5(3)", "hostname leaf1"]
    assert [line for line in lines if line.startswith("feature")] == [
        "feature bgp",
        "feature bfd",
        "feature grpc",
        "feature lldp",
    ]
    cages = [line for line in lines if line.startswith("interface breakout")]
    assert cages == [f"interface breakout module 1 port {n} map 400g-2x" for n in (1, 2, 5)]
    assert lines.index(cages[-1]) < lines.index("interface Ethernet1/1/1")


def test_a_stated_release_is_printed() -> None:
    assert config(replace(plain("leaf1", "ipv4"), release="10.6(2)"))[1] == "version 10.6(2)"


def test_vrf_membership_comes_before_the_address() -> None:
    for port in ("Ethernet1/1/1", "Ethernet1/2/1.11"):
        lines = section(config(rich("leaf1", "vrf-lite", "nxos")), f"interface {port}")
        assert lines.index("vrf member red") < next(n for n, line in enumerate(lines) if line.startswith("ip address"))


def test_unnumbered_links_have_link_local_addresses_and_forward_ipv4() -> None:
    lines = config(plain("leaf1", "unnumbered"))
    port = section(lines, "interface Ethernet1/3")
    assert {"ip forward", "ipv6 address use-link-local-only", "ipv6 link-local use-bia"} <= set(port)
    assert "  neighbor Ethernet1/3" in lines
    assert "ip forward" not in section(config(plain("leaf1", "ipv6-unnumbered")), "interface Ethernet1/3")


def test_bfd_sends_no_echo_between_link_local_addresses() -> None:
    seen = plain("leaf1", "unnumbered")
    lines = config(seen)
    assert "no bfd echo" in section(lines, "interface Ethernet1/3")
    assert "no bfd echo" not in section(lines, "interface Ethernet1/1/1")
    assert "  no bfd echo" not in config(plain("leaf1", "ipv4"))
    assert "  no bfd echo" not in config(replace(seen, underlay=replace(seen.underlay, bfd=False)))


@pytest.mark.parametrize(
    ("asic", "kind", "style", "expected"),
    [
        ("cloudscale-fx3", "evpn", "ipv4", ["ing-racl 0", "ing-sup 768", "ing-flow-redirect 512"]),
        ("cloudscale-gx2", "evpn", "ipv4", []),
        ("cloudscale-gx2", "evpn", "unnumbered", ["ing-racl 0", "ing-sup 768"]),
        ("cloudscale-gx2", "qos", "unnumbered", ["ing-racl 0", "ing-sup 768"]),
        ("cloudscale-fx3", "qos", "ipv4", []),
        ("silicon-one-g200", "qos", "unnumbered", []),
        ("cloudscale-gx2", "acl", "unnumbered", []),
    ],
)
def test_tcam_regions_of_cloud_scale(asic: str, kind: str, style: str, expected: list[str]) -> None:
    seen = rich("leaf1", kind, "nxos", style)
    lines = config(replace(seen, model=seen.model.model_copy(update={"asic": asic})))
    found = [line for line in lines if line.startswith("hardware access-list")]
    assert found == [f"hardware access-list tcam region {region}" for region in expected]


def test_more_equal_paths_than_the_switch_takes_are_refused() -> None:
    seen = plain("leaf1", "ipv4")
    with pytest.raises(ValueError, match="leaf1: 65 equal-cost paths: expected at most 64 on NX-OS"):
        config(replace(seen, underlay=replace(seen.underlay, max_paths=65)))


def test_ipv6_underlay() -> None:
    lines = config(plain("leaf1", "ipv6"))
    assert "ipv6 prefix-list PL-OWN seq 10 permit fd00::1/128" in lines
    assert "  neighbor fd00:1::1" in lines
    assert "    aggregate-address fd00:2:1::/64 summary-only" in lines
    assert not any("address-family ipv4" in line for line in lines)


def test_graceful_shutdown_is_honored_and_prefixes_are_limited() -> None:
    lines = config(plain("spine1", "ipv4"))
    assert section(lines, "route-map RM-FABRIC-IN permit 10") == [
        "match community GSHUT",
        "match ip address prefix-list PL-FABRIC",
        "set local-preference 0",
    ]
    assert "      maximum-prefix 12000 80" in lines
    assert "ip community-list standard GSHUT seq 10 permit 65535:0" in lines


def test_an_empty_prefix_list_denies_all() -> None:
    seen = rich("leaf1", "evpn", "nxos")
    bare = replace(seen, vrfs=(replace(seen.vrfs[0], prefixes=()),))
    assert "ip prefix-list PL-red-CONNECTED seq 10 deny 0.0.0.0/0 le 32" in config(bare)


def test_a_closed_port_is_shut_and_described() -> None:
    lines = section(config(rich("leaf1", "evpn", "nxos")), "interface Ethernet1/5/2")
    assert lines == ["description spare1 frontend1, unassigned", "no switchport", "shutdown"]


def test_services_answer_the_allowed_prefixes_alone() -> None:
    lines = config(rich("leaf1", "qos", "nxos"))
    assert section(lines, "ip access-list MANAGEMENT") == [
        "10 permit tcp 172.16.0.0/22 any eq 22",
        "20 permit udp 172.16.0.0/22 any eq 161",
        "30 permit tcp 172.16.0.0/22 any eq 50051",
        "40 deny tcp any any eq 22",
        "50 deny udp any any eq 161",
        "60 deny tcp any any eq 50051",
        "70 permit ip any any",
    ]
    assert section(lines, "line vty") == ["exec-timeout 15", "access-class LOGIN in", "ipv6 access-class LOGIN6 in"]
    assert section(lines, "ipv6 access-list LOGIN6") == ["10 deny ipv6 any any"]
    assert "no feature telnet" in lines


def test_secrets_stay_references() -> None:
    lines = config(rich("leaf1", "qos", "nxos"))
    assert "username admin password 5 ${ADMIN_PASSWORD_HASH} role network-admin" in lines
    user = "snmp-server user monitor network-operator auth sha ${SNMP_AUTH_KEY} priv aes-128 ${SNMP_PRIV_KEY}"
    assert user in lines


def test_without_allowed_prefixes_nothing_is_filtered() -> None:
    seen = plain("leaf1", "ipv4")
    lines = config(replace(seen, management=replace(seen.management, allow=(), timezone="Europe/Berlin")))
    assert not any("access-" in line for line in lines)
    assert "clock timezone CET 1 0" in lines
    assert "clock summer-time CEST 5 Sun Mar 02:00 5 Sun Oct 03:00 60" in lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("keep out", Banner("^", "keep out")),
        ("a^b", Banner("#", "a^b")),
        ("^#|~@%*", Banner("^", "#|~@%*")),
    ],
)
def test_a_banner_never_ends_early(text: str, expected: Banner | None) -> None:
    assert banner(text) == expected


def test_balancing_by_load_only_where_asked() -> None:
    seen = rich("leaf1", "qos", "nxos")
    lines = config(seen)
    assert "ip load-sharing address source-destination port source-destination universal-id 1" in lines
    assert "hardware profile dlb" not in lines
    requested = config(replace(seen, balancing=replace(seen.balancing, dynamic=True)))
    assert section(requested, "hardware profile dlb") == [
        "dlb-interface Ethernet1/2/1 , Ethernet1/2/2 , Ethernet1/3 , Ethernet1/4",
        "mac-address 02:00:00:00:d1:b0",
        "mode flowlet",
    ]
    chip = seen.model.model_copy(update={"asic": "silicon-one-g200"})
    silicon_one = config(replace(seen, model=chip, balancing=replace(seen.balancing, dynamic=True)))
    assert section(silicon_one, "hardware profile dlb") == ["dlb-interface all", "mode flowlet"]
    assert TARGET.capabilities.dynamic_balancing == "asked"


def test_names_that_nxos_cannot_hold_are_refused() -> None:
    seen = rich("leaf2", "evpn", "nxos")
    out = replace(seen.externals[0], peer="w" * 60)
    with pytest.raises(ValueError, match="at most 63 characters for NX-OS"):
        config(replace(seen, externals=(out,)))


@pytest.mark.parametrize(("interval_ms", "multiplier"), [(1000, 3), (49, 3), (300, 51)])
def test_bfd_beyond_the_switch_is_refused(interval_ms: int, multiplier: int) -> None:
    seen = plain("leaf1", "ipv4")
    under = replace(seen.underlay, bfd_interval_ms=interval_ms, bfd_multiplier=multiplier)
    with pytest.raises(ValueError, match="expected 50 to 999 ms and 1 to 50 times on NX-OS"):
        config(replace(seen, underlay=under))
    assert not any("bfd" in line for line in config(replace(seen, underlay=replace(under, bfd=False))))
