"""Prefixes accepted from routers outside: the site's own are denied, and an accepted prefix that is only those is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from fabric.base.diagnostics import InputError
from fabric.configs.view_of import Views
from fabric.model.plan import SwitchView
from fabric.nos.policy import external_policy
from tests.design.planner.helpers import make

SITE = """
version: 1
site: dc1
catalog:
  servers:
    web: {gpus: 0, nics: {frontend: {count: 1, ports: 2, speed_gbps: 100}}}
fabrics:
  front:
    purpose: frontend
    nos: eos
    servers: {model: web, count: 8, name: web, per_rack: 4}
    topology: {switch: 7050cx3-32s, attachments: []}
"""
TENANTS = [
    {"name": "red", "servers": ["web-0001..0004"], "networks": [{"name": "a", "gateway": "192.168.1.0/24"}]},
    {"name": "blue", "servers": ["web-0005..0006"], "networks": [{"name": "b", "gateway": "192.168.2.0/24"}]},
    {"name": "green", "servers": ["web-0007"], "networks": [{"name": "c", "gateway": "192.168.3.0/24"}], "imports": ["blue"]},
]


def site(routers: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """`routers`: name → what is accepted, or the whole of `external`."""
    found: dict[str, Any] = yaml.safe_load(SITE)
    externals = {name: {"asn": 64602, "accept": one} if isinstance(one, list) else one for name, one in routers.items()}
    attachments = [{"name": name, "links": 2, "external": one} for name, one in externals.items()]
    found["fabrics"]["front"]["topology"]["attachments"] = attachments
    found["fabrics"]["front"] |= changes
    return found


def evpn(routers: Mapping[str, Any]) -> dict[str, Any]:
    return site(routers, overlay={"kind": "evpn-vxlan"}, tenants=TENANTS)


def borders(intent: dict[str, Any]) -> list[SwitchView]:
    plan = make(intent)
    fabric = plan.fabrics["front"]
    views = Views(plan, fabric)
    return [view for device in fabric.switches for view in [views.of(device)] if view.externals]


def accepted(intent: dict[str, Any]) -> dict[str, dict[int, str]]:
    """Router and tenant → number → entry."""
    view = borders(intent)[0]
    found = {}
    for external in view.externals:
        policy = external_policy(view, external)
        entries = policy.list_of(policy.imports).entries
        found[f"{external.peer} {external.vrf}".strip()] = {entry.seq: entry.rule for entry in entries}
    return found


REFUSED = {  # → what is refused, and what it is in
    "inside a pool": (site({"wan": ["10.128.0.0/16"]}), ["10.128.0.0/16, which is in pool 'servers' 10.128.0.0/9"]),
    "a pool": (site({"wan": ["10.0.0.0/8", "10.64.0.0/10"]}), ["10.64.0.0/10, which is in pool 'p2p' 10.64.0.0/10"]),
    "two pools": (
        site({"wan": ["10.0.0.0/15"]}, pools={"loopback": ["10.0.0.0/16"], "p2p": ["10.1.0.0/16"]}),
        ["10.0.0.0/15, which is in pool 'loopback' 10.0.0.0/16, pool 'p2p' 10.1.0.0/16"],
    ),
    "management": (site({"wan": ["172.16.9.0/24"]}), ["172.16.9.0/24, which is in pool 'management' 172.16.0.0/16"]),
    "IPv6": (
        site({"wan": ["::/0", "fd00:0:0:8000::/64"]}, underlay={"addressing": "ipv6"}),
        ["fd00:0:0:8000::/64, which is in pool 'servers' fd00:0:0:8000::/49"],
    ),
    "a tenant's own network": (
        evpn({"wan": ["192.168.1.0/24"]}),
        ["192.168.1.0/24, which is in network 'a' of tenant 'red' 192.168.1.0/24"],
    ),
    "the network of a tenant that shares routes": (
        evpn({"wan": {"asn": 64602, "tenants": ["green"], "accept": ["192.168.2.128/25"]}}),
        ["192.168.2.128/25, which is in network 'b' of tenant 'blue' 192.168.2.0/24"],
    ),
    "the network of a tenant behind the same router": (
        evpn({"wan": {"asn": 64602, "tenants": ["red", "blue"], "accept": ["192.168.2.0/24"]}}),
        ["192.168.2.0/24, which is in network 'b' of tenant 'blue' 192.168.2.0/24"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_accepted_prefix_that_is_the_sites_own(case: str) -> None:
    intent, expected = REFUSED[case]
    with pytest.raises(InputError) as error:
        make(intent)
    found = [(one.code, one.message.partition("got ")[2]) for one in error.value.diagnostics]
    assert found == [("FAB136", text) for text in expected]


def test_the_default_route_needs_no_denials() -> None:
    assert accepted(site({"wan": ["0.0.0.0/0"]})) == {"wan": {10: "0.0.0.0/0"}}
    assert accepted(site({"wan": ["203.0.113.0/24", "0.0.0.0/0"]})) == {
        "wan": {10: "0.0.0.0/0", 50_000: "203.0.113.0/24 le 32"}
    }


def test_pools_of_kinds_that_the_fabric_has_no_use_for_are_not_its_own() -> None:
    """No overlay: the default pool of VTEPs is free for others."""
    assert accepted(site({"wan": ["10.2.0.0/16"]})) == {"wan": {50_000: "10.2.0.0/16 le 32"}}


def test_networks_of_tenants_behind_a_router_are_denied() -> None:
    """Those that it serves, and those that share routes with one of them; another tenant may have the same subnet."""
    routers = {
        "wan": {"asn": 64602, "tenants": ["red"], "accept": ["192.168.0.0/16"]},
        "corp": {"asn": 64603, "tenants": ["green"], "accept": ["192.168.0.0/16"]},
    }
    found = accepted(evpn(routers))
    assert found["wan red"] == {10_010: "deny 192.168.1.0/24 le 32", 50_000: "192.168.0.0/16 le 32"}
    assert found["corp green"] == {
        10_020: "deny 192.168.2.0/24 le 32",
        10_030: "deny 192.168.3.0/24 le 32",
        50_000: "192.168.0.0/16 le 32",
    }


def test_another_pool_or_server_renumbers_no_entry() -> None:
    one = site({"wan": ["10.0.0.0/8"]}, pools={"servers": ["10.128.0.0/24"]})
    two = site({"wan": ["10.0.0.0/8"]}, pools={"servers": ["10.128.0.0/24", "10.7.0.0/16"], "p2p": ["10.96.0.0/16"]})
    before, after = accepted(one)["wan"], accepted(two)["wan"]
    assert after[5010] == "deny 10.7.0.0/16 le 32"
    assert {seq: rule for seq, rule in before.items() if seq != 4000} == {
        seq: rule for seq, rule in after.items() if seq not in (4000, 5010)
    }
    grown = site({"wan": ["10.0.0.0/8"]}, pools={"servers": ["10.128.0.0/24"]})
    grown["fabrics"]["front"]["servers"]["count"] = 16
    assert accepted(grown)["wan"] == before


def test_pinned_loopbacks_outside_the_pools_are_denied() -> None:
    pinned = site(
        {"wan": ["10.0.0.0/8"]}, pins={"front-leaf001": {"loopback": "10.200.0.1"}}, pools={"servers": "10.16.0.0/16"}
    )
    assert accepted(pinned)["wan"][7000] == "deny 10.200.0.1/32"


def test_no_length_beside_a_prefix() -> None:
    """A prefix is accepted with all inside it; bounds are not part of the language."""
    for text in ("0.0.0.0/0 le 32", "10.0.0.0/8 ge 24"):
        with pytest.raises(InputError):
            make(site({"wan": [text]}))
