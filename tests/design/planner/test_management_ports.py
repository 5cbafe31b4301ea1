"""Management ports of switches on leaf ports: whose each is, what stays when the site grows, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from fabric.base.diagnostics import InputError
from fabric.model.plan import Plan
from tests.design.planner.helpers import make

SITE = """
version: 1
site: dc1
pools: {management: 172.16.0.0/24}
fabrics:
  backend:
    nos: sonic
    servers: {model: dgx-h100, count: 8, name: gpu, per_rack: 4}
    topology: {switch: sn5600, rails: 2, unit: {servers: 8}}
  oob:
    purpose: oob
    nos: cumulus
    servers: {model: dgx-h100, count: 8, name: gpu, per_rack: 4}
    topology:
      leaf: {switch: sn2201, uplinks: {count: 2}}
      spine: {switch: sn3700c}
      attachments: [{name: mgmt, links: 6, speed_gbps: 1, tenant: switches}]
    overlay: {kind: evpn-vxlan}
    tenants:
      - {name: bmc, servers: gpu-*, networks: [{name: bmc, vlan: 10, gateway: 10.40.0.0/24}]}
      - {name: switches, networks: [{name: ports, vlan: 20, gateway: 172.16.0.0/24}]}
"""


def site(**oob: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(SITE)
    found["fabrics"]["oob"] |= oob
    return found


def ports(plan: Plan) -> list[tuple[str, str]]:
    """(leaf, switch) of every management port, by port of the attachment."""
    oob = plan.fabrics["oob"]
    return [(oob.devices[int(oob.links.b[link])].name, its.name) for link, its in sorted(oob.management_ports.items())]


def found(plan: Plan, code: str) -> list[tuple[str, str]]:
    return [(warning.severity, warning.message) for warning in plan.warnings if warning.code == code]


def refused(intent: dict[str, Any]) -> list[str]:
    with pytest.raises(InputError) as caught:
        make(intent)
    return [f"{one.code} {one.message}" for one in caught.value.diagnostics]


def test_other_fabrics_come_first_and_every_switch_has_one_port() -> None:
    plan = make(site())
    assert ports(plan) == [
        ("oob-leaf001", "backend-spine001"), ("oob-leaf002", "backend-spine002"), ("oob-leaf001", "backend-leaf001"),
        ("oob-leaf002", "backend-leaf002"), ("oob-leaf001", "oob-spine001"), ("oob-leaf002", "oob-spine002"),
    ]  # fmt: skip
    assert found(plan, "FAB194") == []


def test_growth_moves_no_management_port_and_a_new_switch_takes_a_free_one() -> None:
    intent = site()
    intent["fabrics"]["oob"]["topology"]["attachments"][0]["links"] = 5
    before = make(intent)
    intent["fabrics"]["oob"]["topology"]["attachments"][0]["links"] = 7
    intent["fabrics"]["backend"]["servers"]["count"] = 16
    after = make(intent, before.lock)
    assert ports(after)[:5] == ports(before)
    assert [switch for _, switch in ports(after)][5:] == ["backend-leaf003", "backend-leaf004"]
    assert ports(make(intent, after.lock)) == ports(after)
    removed = make(site(), after.lock)  # a port whose switch is gone is free again
    assert {switch for _, switch in ports(removed)} == {switch for _, switch in ports(make(site()))}


def test_a_switch_without_a_port_is_named() -> None:
    intent = site()
    intent["fabrics"]["oob"]["topology"]["attachments"][0]["links"] = 3
    text = "fabric 'oob': no leaf port is planned for the management port of"
    assert found(make(intent), "FAB194") == [("warning", f"{text} 1 switch: backend-leaf002")]
    intent["fabrics"]["oob"]["topology"]["attachments"] = []
    plan = make(intent)
    names = "backend-spine001, backend-spine002, backend-leaf001 and 1 more"
    assert found(plan, "FAB194") == [("note", f"{text} 4 switches: {names}")]
    unused = "network 'switches/ports' has no port: no leaf has its VLAN and its gateway"
    assert found(plan, "FAB187") == [("warning", unused)]
    del intent["fabrics"]["oob"]
    assert found(make(intent), "FAB194") == []


def taken_gateway(intent: dict[str, Any]) -> None:
    intent["management"] = {"gateway": "172.16.0.254"}


def servers_too(intent: dict[str, Any]) -> None:
    """A tenant without servers takes those that no other tenant names."""
    intent["fabrics"]["oob"]["tenants"][0]["servers"] = "gpu-0001..0007"


def address_of_a_leaf(intent: dict[str, Any]) -> None:
    intent["fabrics"]["oob"]["pins"] = {"oob-spine001": {"management": "172.16.0.254"}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            taken_gateway,
            "network 'ports' of the management ports: its gateway is 172.16.0.1, and the switches of fabric 'backend' have "
            "`management.gateway` 172.16.0.254",
        ),
        (servers_too, "network 'ports' is the pool 'management' 172.16.0.0/24: expected switches alone in it, got 1 server"),
        (
            address_of_a_leaf,
            "network 'ports' of the management ports: 172.16.0.254 of oob-spine001 is also the address of oob-leaf001 in it",
        ),
    ],
)
def test_addresses_that_cannot_be(change: Callable[[dict[str, Any]], None], message: str) -> None:
    intent = site()
    change(intent)
    assert f"FAB136 {message}" in refused(intent)


def test_a_group_that_the_remaining_tenant_takes_is_a_note() -> None:
    intent = site()
    intent["fabrics"]["oob"]["servers"] = [
        {"model": "dgx-h100", "count": 8, "name": "gpu", "per_rack": 4},
        {"model": "dgx-h200", "count": 2, "name": "new", "per_rack": 2},
    ]
    intent["fabrics"]["oob"]["topology"]["attachments"] = []
    intent["fabrics"]["oob"]["tenants"][0]["servers"] = "gpu-0001..0004"
    intent["fabrics"]["oob"]["tenants"][1] = {"name": "rest", "networks": [{"name": "rest"}]}
    text = "tenant 'rest' takes all servers that no tenant names, 2 servers of 'new' too"
    assert found(make(intent), "FAB199") == [("note", text)]
    intent["fabrics"]["oob"]["tenants"][0]["servers"] = ["gpu-0001..0004", "new-0001"]
    assert found(make(intent), "FAB199") == []


def test_the_lock_line_of_a_management_port() -> None:
    lock = make(site()).lock
    assert lock.fabrics["oob"].attachments["mgmt"][0].switch == "backend-spine001"
