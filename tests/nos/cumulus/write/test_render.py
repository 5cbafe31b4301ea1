"""Cumulus Linux: names, splits, ports that are shut, what the CPU answers, and that every reference has its object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
import yaml

from fabric.configs.render import DocumentPatch, render
from fabric.hardware import catalog
from fabric.hardware.catalog.models import PortGroup, SwitchModel
from fabric.model.plan import Balancing, PortRef, SwitchView
from fabric.nos.cumulus.target import TARGET
from fabric.nos.cumulus.write.interfaces import breakouts
from fabric.nos.cumulus.write.switch import tree
from tests.nos.cumulus.write.test_dialect import every_view
from tests.nos.tenant_views import rich
from tests.nos.views import STYLES, SWITCH, view, whole


def written(own: SwitchView, *patches: DocumentPatch) -> dict[str, Any]:
    """The file as a reader of YAML sees it."""
    entries = yaml.safe_load(render(own, TARGET, patches)[0].text)
    assert [list(entry) for entry in entries] == [["set"]]
    found: dict[str, Any] = entries[0]["set"]
    return found


def named(branch: Mapping[str, Any], key: str) -> Iterator[Any]:
    """Every value that stands under this key, anywhere."""
    for name, value in branch.items():
        if name == key:
            yield value
        if isinstance(value, Mapping):
            yield from named(value, key)


# --- the file -----------------------------------------------------------------------------------------------


@every_view
def test_the_file_is_the_tree(own: SwitchView) -> None:
    assert written(own) == tree(own)


def test_the_first_line_says_whose_it_is_and_which_dialect() -> None:
    own = replace(view("leaf1", STYLES["ipv4"]), release="5.14")
    assert render(own, TARGET)[0].text.splitlines()[0] == "# leaf1 (test-switch), Cumulus Linux 5.14"


def test_a_site_patches_the_file() -> None:
    own = view("leaf1", STYLES["ipv4"])
    patch = {"system": {"timezone": "Europe/Berlin", "api": None}, "interface": {"swp9": {"description": "console"}}}
    before, after = written(own), written(own, DocumentPatch("startup.yaml", patch))
    assert after["system"]["timezone"] == "Europe/Berlin"
    assert "api" not in after["system"]
    assert after["interface"]["swp9"]["description"] == "console"
    assert after["router"] == before["router"]


@every_view
def test_same_bytes_every_time(own: SwitchView) -> None:
    assert render(own, TARGET) == render(own, TARGET)


@every_view
def test_nothing_is_referred_to_that_is_not_there(own: SwitchView) -> None:
    data = tree(own)
    policy = data["router"]["policy"]
    for kind, words in (("prefix-list", ("prefix-list", "ip-prefix-list")), ("route-map", ("route-map",))):
        used = {value for word in words for value in named(data, word) if isinstance(value, str)}
        assert used == set(policy[kind]), kind
    for vrf in data["vrf"].values():
        bgp = vrf["router"]["bgp"]
        groups = {peer["peer-group"] for peer in bgp.get("neighbor", {}).values() if "peer-group" in peer}
        assert groups == set(bgp.get("peer-group", {}))
    ports = data["interface"].values()
    used = {name for port in ports for name in port.get("acl", {})} | set(data["system"]["control-plane"]["acl"])
    assert used == set(data["acl"]) | {"acl-default-dos", "acl-default-whitelist"}
    assert {port["vrf"] for port in ports if "vrf" in port} - {"mgmt"} <= set(data["vrf"])
    assert {port["base-interface"] for port in ports if "base-interface" in port} <= set(data["interface"])
    for feature in ("pfc", "congestion-control", "mapping"):
        used = {port["qos"][feature]["profile"] for port in ports if feature in port.get("qos", {})}
        assert used == set(data.get("qos", {}).get(feature, {})) - {"default-global"}, feature


# --- ports --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        (PortRef(1, 0, 1, 800), "swp1"),
        (PortRef(64, 0, 2, 400), "swp64s0"),
        (PortRef(64, 3, 4, 200), "swp64s3"),
        (PortRef(65, 0, 1, 25), "swp65"),
    ],
)
def test_names(ref: PortRef, name: str) -> None:
    assert TARGET.port_name(SWITCH, ref, "") == name


@pytest.mark.parametrize(
    ("speed_gbps", "split", "mode"),
    [
        (800, 2, {"2x": "4"}),
        (800, 4, {"4x": "2"}),
        (800, 8, {"8x": "1"}),
        (400, 4, {"4x": "2"}),
        (200, 2, {"2x": "2"}),
        (100, 4, {"4x": "1"}),
    ],
)
def test_a_split_says_its_lanes(speed_gbps: int, split: int, mode: dict[str, str]) -> None:
    own = view("leaf1", STYLES["ipv4"])
    model = SwitchModel(ports=(PortGroup(count=1, speed_gbps=speed_gbps),))
    port = replace(own.ports[0], ref=PortRef(1, 0, split, speed_gbps // split))
    split_tree = breakouts(replace(own, model=model, ports=(port,)))["swp1"]["link"]["breakout"]
    assert {name: width["lanes-per-port"] for name, width in split_tree.items()} == mode


@pytest.mark.parametrize(
    ("ref", "speed"),
    [
        (PortRef(3, 0, 1, 800), None),
        (PortRef(3, 0, 1, 400), "400G"),
        (PortRef(3, 0, 2, 400), None),
        (PortRef(3, 0, 4, 100), "100G"),
    ],
)
def test_speed_is_reported_where_it_is_not_the_cage_s_own(ref: PortRef, speed: str | None) -> None:
    own = view("leaf1", STYLES["ipv4"])
    port = replace(next(port for port in own.ports if port.ref == whole(3)), ref=ref)
    name = TARGET.port_name(SWITCH, ref, "")
    assert tree(replace(own, ports=(port,)))["interface"][name]["link"].get("speed") == speed


def test_unused_and_closed_ports_are_shut() -> None:
    ports = tree(rich("leaf1", "evpn", "cumulus"))["interface"]
    assert ports["swp5s1"] == {
        "type": "swp",
        "description": "spare1 frontend1, unassigned",
        "link": {"state": {"down": {}}},
    }
    assert ports["swp9"] == {"type": "swp", "description": "spare", "link": {"state": {"down": {}}}}


def test_every_split_cage_is_named_cabled_or_not() -> None:
    ports = tree(view("leaf1", STYLES["ipv4"]))["interface"]
    assert [name for name, port in ports.items() if "breakout" in port.get("link", {})] == ["swp1", "swp2", "swp5"]


# --- refusals and limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("sn5600", None),
        ("sn2201", None),
        ("64x400g", None),
        ("7060x6-64pe", "it runs eos, sonic, not Cumulus Linux"),
        ("qm9700", "an infiniband switch has no NVIDIA Cumulus Linux configuration"),
    ],
)
def test_refusals(name: str, refusal: str | None) -> None:
    assert TARGET.refusal(catalog.switch(name), name) == refusal


@pytest.mark.parametrize(
    ("name", "dynamic", "esi"), [("sn5600", True, True), ("sn4700", False, True), ("sn2700", False, False)]
)
def test_models_lack_what_their_chip_lacks(name: str, dynamic: bool, esi: bool) -> None:
    model = catalog.switch(name)
    assert (TARGET.can(model, "dynamic_balancing"), TARGET.can(model, "multihoming")) == (dynamic, esi)


# --- underlay -----------------------------------------------------------------------------------------------


def test_unnumbered_sessions_run_on_interfaces() -> None:
    data = tree(view("leaf1", STYLES["unnumbered"]))
    peers = data["vrf"]["default"]["router"]["bgp"]["neighbor"]
    assert sorted(peers) == ["swp2s0", "swp2s1", "swp3", "swp4"]
    assert peers["swp3"] == {
        "type": "unnumbered",
        "peer-group": "FABRIC",
        "remote-as": 4200000001,
        "description": "spine1 swp2",
    }
    assert "ipv4" not in data["interface"]["swp3"]


@pytest.mark.parametrize("style", ["ipv6", "ipv6-unnumbered"])
def test_an_ipv6_fabric_carries_no_ipv4(style: str) -> None:
    bgp = tree(view("leaf1", STYLES[style]))["vrf"]["default"]["router"]["bgp"]
    assert list(bgp["address-family"]) == ["ipv6-unicast"]
    assert bgp["peer-group"]["FABRIC"]["address-family"]["ipv4-unicast"] == {"state": "disabled"}
    assert bgp["peer-group"]["FABRIC"]["address-family"]["ipv6-unicast"]["policy"] == {
        "inbound": {"prefix-list": "PL-FABRIC"},
        "outbound": {"prefix-list": "PL-OWN"},
    }


@pytest.mark.parametrize("text", ["5.14", "5.15"])
@pytest.mark.parametrize("kind", ["evpn", "vrf-lite", "acl"])
def test_a_session_over_its_limit_does_not_come_back_at_once(kind: str, text: str) -> None:
    """Half a minute by NVUE's reference, half an hour if FRR reads the number: five of either would not do."""
    waits = set()
    for name in ("leaf1", "leaf2", "spine1"):
        for vrf in tree(replace(rich(name, kind, "cumulus"), release=text))["vrf"].values():
            bgp = vrf["router"]["bgp"]
            for peer in [*bgp.get("peer-group", {}).values(), *bgp.get("neighbor", {}).values()]:
                limits = peer.get("address-family", {}).get("ipv4-unicast", {}).get("prefix-limits", {})
                waits |= {limits["inbound"]["reestablish-wait"]} if limits else set()
    assert waits == {30}


def test_only_a_leaf_restarts_gracefully() -> None:
    modes = {name: tree(view(name, STYLES["ipv4"]))["router"]["bgp"]["graceful-restart"] for name in ("leaf1", "spine1")}
    assert modes == {"leaf1": {"mode": "full"}, "spine1": {"mode": "helper-only"}}


def test_without_bfd_there_is_none() -> None:
    own = view("leaf1", STYLES["ipv4"])
    own = replace(own, underlay=replace(own.underlay, bfd=False))
    for text in ("5.14", "5.15"):
        assert list(named(tree(replace(own, release=text)), "bfd")) == []


# --- adaptive routing ---------------------------------------------------------------------------------------


def adaptive(own: SwitchView) -> list[str]:
    ports = tree(replace(own, balancing=Balancing(seed=1, dynamic=True)))["interface"]
    return [name for name, port in ports.items() if "adaptive-routing" in port.get("router", {})]


def test_one_800g_uplink_keeps_all_uplinks_out() -> None:
    assert adaptive(view("leaf1", STYLES["ipv4"])) == []


def test_uplinks_of_400g_adapt_and_server_ports_do_not() -> None:
    own = view("leaf1", STYLES["ipv4"])
    slow = tuple(port for port in own.ports if port.ref.speed_gbps <= 400)
    own = replace(own, ports=slow, sessions=tuple(s for s in own.sessions if s.port.ref.speed_gbps <= 400))
    assert adaptive(own) == ["swp2s0", "swp2s1"]
    data = tree(replace(own, balancing=Balancing(seed=1, dynamic=True)))
    assert data["router"]["adaptive-routing"] == {"state": "enabled"}
    assert "adaptive-routing" not in tree(own)["router"]


def test_tenants_on_subinterfaces_keep_a_port_out() -> None:
    own = rich("leaf1", "vrf-lite", "cumulus")
    slow = tuple(port for port in own.ports if port.ref.speed_gbps <= 400)
    assert adaptive(replace(own, ports=slow)) == []


# --- management ---------------------------------------------------------------------------------------------


def test_only_the_allowed_reach_the_services_and_nothing_else_is_denied() -> None:
    acls = tree(rich("leaf1", "qos", "cumulus"))["acl"]
    rules = list(acls["MANAGEMENT-IPV4"]["rule"].values())
    assert [(next(iter(rule["action"])), rule["match"]["ip"].get("source-ip")) for rule in rules] == [
        ("permit", "172.16.0.0/22"),
        ("deny", None),
    ] * 3
    for acl in acls.values():
        for rule in acl["rule"].values():
            match = rule["match"]["ip"]
            assert match[match["protocol"]]["dest-port"] in ({"22": {}}, {"161": {}}, {"9339": {}})


def test_without_allowed_prefixes_there_is_no_guard() -> None:
    own = view("leaf1", STYLES["ipv4"])
    data = tree(replace(own, management=replace(own.management, allow=())))
    assert "acl" not in data
    assert sorted(data["system"]["control-plane"]["acl"]) == ["acl-default-dos", "acl-default-whitelist"]


def test_secrets_are_references() -> None:
    system = tree(rich("leaf1", "qos", "cumulus"))["system"]
    assert system["aaa"]["user"]["cumulus"]["hashed-password"] == "${ADMIN_PASSWORD_HASH}"
    assert system["snmp-server"]["username"] == {
        "monitor": {"auth-sha": {"${SNMP_AUTH_KEY}": {"encrypt-aes": {"${SNMP_PRIV_KEY}": {}}}}}
    }


@pytest.mark.parametrize("banner", ["a: b", "# no comment", 'it\'s "ours"', "- set:", "{x}", "on", "%", "  padded  "])
def test_a_banner_never_becomes_syntax(banner: str) -> None:
    own = view("leaf1", STYLES["ipv4"])
    data = written(replace(own, management=replace(own.management, banner=banner)))
    assert data["system"]["message"] == {"pre-login": banner}


def test_no_address_no_vrf_no_servers() -> None:
    own = view("leaf1", STYLES["ipv4"])
    bare = replace(
        own.management, address=None, gateway=None, vrf=False, ntp=(), dns=(), syslog=(), banner="", snmp_user="m", gnmi=True
    )
    for text, eth0 in (
        ("5.15", {"type": "eth", "ipv4": {"dhcp-client": {"state": "enabled"}}}),
        ("5.14", {"type": "eth", "ip": {"address": {"dhcp": {}}}}),
    ):
        data = tree(replace(own, release=text, management=bare))
        assert data["interface"]["eth0"] == eth0
        assert "service" not in data
        assert not {"ntp", "dns", "syslog", "message"} & set(data["system"])
        assert data["system"]["ssh-server"]["vrf"] == {"default": {}}
        assert data["system"]["snmp-server"]["listening-address"] == {"all": {}}
