"""Tenants on Cumulus Linux: VRFs, EVPN, bonds over two leaves, external connections and filters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fabric.model.plan import Acl, External, SwitchView
from fabric.nos.cumulus.target import TARGET
from fabric.nos.cumulus.write.routing import prefix_list, tenant_filter
from fabric.nos.cumulus.write.switch import tree
from fabric.nos.policy import PrefixList
from tests.nos.tenant_views import rich


def evpn(name: str) -> SwitchView:
    return rich(name, "evpn", "cumulus")


def bgp(own: SwitchView, vrf: str) -> dict[str, Any]:
    found: dict[str, Any] = tree(own)["vrf"][vrf]["router"]["bgp"]
    return found


# --- EVPN ---------------------------------------------------------------------------------------------------


def test_distinguishers_and_targets_are_the_plan_s() -> None:
    own = evpn("leaf1")
    data = tree(own)
    assert data["evpn"]["vni"] == {
        "10001": {
            "rd": "10.0.0.1:10001",
            "route-target": {"import": {"65000:10001": {}}, "export": {"65000:10001": {}}},
        }
    }
    blue = bgp(own, "blue")
    assert blue["rd"] == "10.0.0.1:2"
    assert blue["route-export"] == {"to-evpn": {"route-target": {"65000:50002": {}}}}
    assert blue["route-import"] == {"from-evpn": {"route-target": {"65000:50002": {}, "65000:50001": {}}}}
    assert data["vrf"]["blue"]["evpn"] == {"state": "enabled", "vlan": 3002, "vni": {"50002": {}}}


def test_tenants_do_not_see_each_other_s_routes() -> None:
    """NVIDIA rules it out on a leaf that has both VNIs, and a plan may put both tenants on any leaf."""
    assert not TARGET.capabilities.imports


def test_connected_routes_pass_the_tenant_s_list() -> None:
    own = evpn("leaf1")
    family = bgp(own, "red")["address-family"]["ipv4-unicast"]
    assert family["redistribute"] == {"connected": {"state": "enabled", "route-map": "RM-red-CONNECTED"}}
    assert family["route-export"] == {"to-evpn": {"state": "enabled"}}
    maps = tree(own)["router"]["policy"]["route-map"]
    assert maps["RM-red-CONNECTED"]["rule"]["10"]["match"] == {"type": "ipv4", "ip-prefix-list": "PL-red-CONNECTED"}


def test_the_vtep_is_beside_the_router_id_and_known_in_the_underlay() -> None:
    data = tree(evpn("leaf1"))
    assert list(data["interface"]["lo"]["ipv4"]["address"]) == ["10.0.0.1/32", "10.2.0.1/32"]
    assert data["nve"]["vxlan"]["source"] == {"address": "10.2.0.1"}
    own = [next(iter(rule["match"])) for rule in data["router"]["policy"]["prefix-list"]["PL-OWN"]["rule"].values()]
    assert "10.2.0.1/32" in own


def test_overlay_sessions_come_from_the_loopback_and_carry_evpn_alone() -> None:
    found = bgp(evpn("leaf1"), "default")
    assert found["peer-group"]["OVERLAY"] == {
        "timers": {"keepalive": 3, "hold": 9},
        "address-family": {"ipv4-unicast": {"state": "disabled"}, "l2vpn-evpn": {"state": "enabled"}},
        "multihop-ttl": 2,
        "update-source": "10.0.0.1",
    }
    assert found["neighbor"]["10.0.0.11"]["remote-as"] == 4200000001
    assert "l2vpn-evpn" not in found["peer-group"]["FABRIC"]["address-family"]


def test_a_spine_passes_routes_on_and_has_no_tunnel() -> None:
    data = tree(evpn("spine1"))
    assert bgp(evpn("spine1"), "default")["address-family"]["l2vpn-evpn"] == {"state": "enabled"}
    assert not {"evpn", "nve", "bridge"} & set(data)
    assert list(data["vrf"]) == ["default"]
    assert all("evpn" not in port for port in data["interface"].values())


def test_the_gateway_is_shared_and_each_leaf_has_an_address_beside_it() -> None:
    svis = {name: tree(evpn(name))["interface"]["vlan100"] for name in ("leaf1", "leaf2")}
    assert {name: list(svi["ipv4"]["address"]) for name, svi in svis.items()} == {
        "leaf1": ["10.1.0.254/24"],
        "leaf2": ["10.1.0.253/24"],
    }
    assert svis["leaf1"]["ipv4"]["vrr"] == svis["leaf2"]["ipv4"]["vrr"]
    assert tree(evpn("leaf1"))["system"]["global"] == {"fabric-mac": "00:00:5e:00:01:01"}


def test_a_gateway_without_an_own_address_is_refused() -> None:
    own = evpn("leaf1")
    own = replace(own, networks=(replace(own.networks[0], own_address=None),))
    with pytest.raises(ValueError, match="leaf1: the gateway of red-web needs an address of this leaf beside it"):
        tree(own)


def test_layer_2_alone_has_no_svi() -> None:
    own = evpn("leaf1")
    data = tree(replace(own, networks=(replace(own.networks[0], gateway=None, own_address=None),)))
    assert "vlan100" not in data["interface"]
    assert "vrr" not in data["router"]
    assert data["bridge"]["domain"]["br_default"]["vlan"] == {"100": {"vni": {"10001": {}}}}


def test_tenant_ports_take_less_than_fabric_links() -> None:
    ports = tree(evpn("leaf2"))["interface"]
    found = {
        name: ports[name]["link"].get("mtu") for name in ("swp1s0", "swp3", "bond1", "vlan100", "swp6", "swp6.11", "swp5s0")
    }
    assert found == {
        "swp1s0": 9050,
        "swp3": 9100,
        "bond1": 9050,
        "vlan100": 9050,
        "swp6": 9100,
        "swp6.11": 9050,
        "swp5s0": None,
    }


# --- bonds --------------------------------------------------------------------------------------------------


def test_both_leaves_show_one_segment_and_one_leads() -> None:
    segments = {name: tree(evpn(name))["interface"]["bond1"]["evpn"]["multihoming"]["segment"] for name in ("leaf1", "leaf2")}
    assert segments["leaf1"] == {
        "state": "enabled",
        "local-id": 1,
        "mac-address": "02:00:00:00:00:01",
        "df-preference": 50_000,
    }
    assert segments["leaf2"] == segments["leaf1"] | {"df-preference": 32_767}


def test_the_switch_makes_the_plan_s_segment_id() -> None:
    """Type 3: the MAC address, then the local id in three bytes."""
    lag = evpn("leaf1").lags[0]
    number = f"{lag.number:06x}"
    assert lag.esi == f"03:{lag.system_mac}:{number[:2]}:{number[2:4]}:{number[4:]}"


def test_a_member_has_nothing_of_its_own_but_the_class() -> None:
    port = tree(evpn("leaf1"))["interface"]["swp5s0"]
    assert sorted(port) == ["description", "link", "qos", "type"]
    assert port["link"] == {"state": {"up": {}}}


def test_uplinks_are_tracked() -> None:
    ports = tree(evpn("leaf1"))["interface"]
    tracked = [name for name, port in ports.items() if port.get("evpn", {}).get("multihoming", {}).get("uplink")]
    assert tracked == ["swp2s0", "swp2s1", "swp3", "swp4"]


def test_a_leaf_without_bonds_takes_part_all_the_same() -> None:
    own = replace(evpn("leaf1"), lags=(), pair=None)
    assert tree(own)["evpn"]["multihoming"] == {"state": "enabled"}


def test_a_switch_that_cannot_says_its_svi_addresses_itself() -> None:
    own = evpn("leaf1")
    model = own.model.model_copy(update={"lacks": ("multihoming",)})
    data = tree(replace(own, model=model, lags=(), pair=None))
    assert data["evpn"]["route-advertise"] == {"svi-ip": "enabled"}
    assert "multihoming" not in data["evpn"]
    assert all("evpn" not in port for port in data["interface"].values())


@pytest.mark.parametrize(
    ("untagged", "tagged", "expected"),
    [
        (100, (), {"access": 100}),
        (100, (200,), {"untagged": 100, "vlan": {"100": {}, "200": {}}}),
        (0, (200, 300), {"untagged": "none", "vlan": {"200": {}, "300": {}}}),
    ],
)
def test_vlans_of_a_bond(untagged: int, tagged: tuple[int, ...], expected: dict[str, object]) -> None:
    own = evpn("leaf1")
    own = replace(own, lags=(replace(own.lags[0], untagged=untagged, tagged=tagged),))
    member = tree(own)["interface"]["bond1"]["bridge"]["domain"]["br_default"]
    assert member == {**expected, "stp": {"admin-edge": "enabled", "bpdu-guard": "enabled"}}


# --- VRF-lite and external connections ----------------------------------------------------------------------------------


def test_a_session_per_tenant_and_link() -> None:
    own = rich("spine1", "vrf-lite", "cumulus")
    data = tree(own)
    assert list(data["vrf"]) == ["default", "red", "blue"]
    assert sorted(bgp(own, "red")["neighbor"]) == ["10.65.0.0", "10.65.0.12", "10.65.0.4", "10.65.0.8"]
    assert data["interface"]["swp1s0.11"] == {
        "type": "sub",
        "base-interface": "swp1s0",
        "vlan": 11,
        "vrf": "red",
        "ipv4": {"address": {"10.65.0.1/31": {}}},
    }
    assert "evpn" not in data["vrf"]["red"]


def test_the_external_connection_has_a_policy_of_its_own() -> None:
    found = bgp(evpn("leaf2"), "red")["neighbor"]["10.64.9.3"]
    assert found["remote-as"] == 65010
    family = found["address-family"]["ipv4-unicast"]
    assert family["policy"] == {"inbound": {"prefix-list": "PL-wan-red-IN"}, "outbound": {"prefix-list": "PL-wan-red-OUT"}}
    assert family["prefix-limits"]["inbound"]["maximum"] == 12_000
    assert "peer-group" not in found


def test_a_external_connection_of_the_default_table_is_on_the_port() -> None:
    own = rich("leaf1", "qos", "cumulus")
    port = next(port for port in own.ports if port.kind == "server")
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
    data = tree(replace(own, externals=(out,)))
    assert data["interface"]["swp1s0"]["ipv4"]["address"]["10.64.9.0/31"] == {}
    assert data["vrf"]["default"]["router"]["bgp"]["neighbor"]["10.64.9.1"]["remote-as"] == 65_010
    assert data["router"]["policy"]["prefix-list"]["PL-wan-IN"]["rule"]["10"]["match"] == {"0.0.0.0/0": {}}


# --- filters ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("permits", "kind", "allowed"),
    [
        (("10.128.1.0/31", "10.128.2.0/31"), "ipv4", ["10.128.1.0/31", "10.128.2.0/31"]),
        (("fd00:2:1::/127",), "ipv6", ["ff02::/16", "fe80::/10", "fd00:2:1::/127"]),
        ((), "ipv4", []),
    ],
)
def test_a_filter_lets_its_own_through_and_drops_the_rest(permits: tuple[str, ...], kind: str, allowed: list[str]) -> None:
    found = tenant_filter(rich("leaf1", "acl", "cumulus"), Acl("red", permits))
    *first, last = found["rule"].values()
    assert found["type"] == kind
    assert [rule["match"]["ip"]["dest-ip"] for rule in first] == allowed
    assert all(rule["action"] == {"permit": {}} for rule in first)
    assert last == {"action": {"deny": {}}}
    assert list(found["rule"]) == [str(10 * n) for n in range(1, len(allowed) + 2)]


def test_filters_stand_on_the_server_ports() -> None:
    ports = tree(rich("leaf1", "acl", "cumulus"))["interface"]
    assert {name: port["acl"] for name, port in ports.items() if "acl" in port} == {
        "swp1s0": {"TENANT-red": {"inbound": {}}},
        "swp1s1": {"TENANT-blue": {"inbound": {}}},
    }


def test_a_list_without_entries_lets_nothing_through() -> None:
    four, six = (prefix_list(PrefixList("PL-X", ()), family) for family in ("ipv4", "ipv6"))
    assert four["rule"] == {"10": {"action": "deny", "match": {"0.0.0.0/0": {"max-prefix-len": 32}}}}
    assert six["rule"] == {"10": {"action": "deny", "match": {"::/0": {"max-prefix-len": 128}}}}
