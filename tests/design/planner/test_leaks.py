"""Imports of routes by prefix: what is refused, what is warned of, and which tables a leaf has."""

from __future__ import annotations

import pytest

from fabric.base.diagnostics import InputError
from fabric.configs.view_of import Views
from fabric.model.plan import LEAF, Plan, SwitchView
from fabric.nos.policy import external_policy
from tests.design.planner.helpers import make

SITE = """\
version: 1
site: c
catalog: {{servers: {{node: {{gpus: 0, nics: {{frontend: {{count: 2, speed_gbps: 100}}}}}}}}}}
fabrics:
  front:
    purpose: frontend
    nos: eos
    servers: {{model: node, count: 16, per_rack: 4}}
    topology:
      switch: 7050cx3-32s
      attachments: [{{name: edge, links: 1, external: {{asn: 65010, tenants: [exit, web]}}}}]
    overlay: {{{how}}}
    tenants:
      - {{name: red, servers: node-0001..0004, {red}}}
      - {{name: store, servers: node-0005..0008, networks: [{{name: data, gateway: 10.30.0.0/24}}], {store}}}
      - {{name: web, servers: node-0009..0012, networks: [{{name: web, gateway: 10.40.0.0/24}}]}}
      - {{name: plain, servers: node-0013..0016}}
      - {{name: exit, {exit}}}
"""
RED = "tenant 'red': "
LOGIN = "networks: [{name: login, gateway: 10.20.0.0/24}]"


def site(imports: str, *, store: str = "", outlet: str = "", how: str = "kind: evpn-vxlan") -> str:
    red = f"{LOGIN}, imports: {imports}" if "evpn" in how else f"imports: {imports}"
    text = SITE.format(red=red, store=store or "imports: []", exit=outlet or "imports: []", how=how)
    return (
        text
        if "evpn" in how
        else text.replace(", networks: [{name: data, gateway: 10.30.0.0/24}]", "")
        .replace(", networks: [{name: web, gateway: 10.40.0.0/24}]", "")
        .replace("attachments:", "#")
    )


def _leaves(plan: Plan) -> list[SwitchView]:
    fabric = plan.fabrics["front"]
    views = Views(plan, fabric)
    return [views.of(device) for device in fabric.switches if device.role == LEAF]


REFUSED = {
    "{from: exit, prefixes: 192.168.0.0/16}": "FAB144: imports: expected prefixes that 'exit' has (0.0.0.0/0), got 192.168",
    "{from: store, prefixes: 10.30.0.0/25}": "FAB136: imports: expected whole subnets, got 10.30.0.0/25",
    "{from: store, prefixes: 10.20.0.0/15}": "FAB136: imports: expected prefixes that the tenant does not have itself",
    "{from: exit, prefixes: 10.30.0.0/24}": "FAB144: imports: expected prefixes that 'exit' has (0.0.0.0/0), got",
    "[{from: exit, prefixes: 0.0.0.0/0}, {from: web, prefixes: 10.40.0.0/24}]": "FAB136: imports: expected prefixes of one",
    "[store, {from: store, prefixes: 10.30.0.0/24}]": "FAB144: expected all routes of 'store' or those of prefixes, got both",
    "{from: store, prefixes: 'fd00::/16'}": "FAB104: imports: expected IPv4 prefixes, got fd00::/16",
    "{from: green, prefixes: 10.30.0.0/24}": "FAB144: imports: expected another tenant, got 'green'",
}


@pytest.mark.parametrize("imports", REFUSED)
def test_an_import_that_is_refused(imports: str) -> None:
    with pytest.raises(InputError) as error:
        make(site(imports))
    found = [f"{one.code}: {one.message.removeprefix(RED)}" for one in error.value.diagnostics]
    assert len(found) == 1
    assert found[0].startswith(REFUSED[imports])


def test_a_prefix_that_is_not_passed_on_says_who_has_it() -> None:
    with pytest.raises(InputError, match="not passed on") as error:
        make(site("{from: store, prefixes: 0.0.0.0/0}", store="imports: {from: exit, prefixes: 0.0.0.0/0}"))
    assert "`{from: web, prefixes: [0.0.0.0/0]}`" in str(error.value)


def test_an_import_without_a_return_route_has_the_line_to_add() -> None:
    one_way = make(site("{from: store, prefixes: 10.30.0.0/24}"))
    assert [(found.code, found.hint) for found in one_way.warnings if found.code == "FAB407"] == [
        ("FAB407", "add `imports: [{from: red, prefixes: [10.20.0.0/24]}]` to tenant 'store'")
    ]
    back = "imports: [{from: red, prefixes: [10.20.0.0/24]}]"
    both = make(site("{from: store, prefixes: 10.30.0.0/24}", store=back))
    assert [found.code for found in both.warnings if found.code == "FAB407"] == []


def test_a_leaf_has_the_tables_that_routes_come_from() -> None:
    """Those of tenants that import from each other by prefix, over any number of steps, and no others."""
    plan = make(site("{from: exit, prefixes: 0.0.0.0/0}", outlet="imports: {from: red, prefixes: 10.20.0.0/24}"))
    tables = {view.device.name: {vrf.name for vrf in view.vrfs} for view in _leaves(plan)}
    assert tables["front-leaf001"] == {"red", "exit", "web"}  # the router is here
    assert tables["front-leaf002"] == {"store"}
    assert all(("red" in names) == ("exit" in names) for names in tables.values())


def test_what_a_router_is_sent_has_the_imported_prefixes() -> None:
    plan = make(site("{from: exit, prefixes: 0.0.0.0/0}", outlet="imports: {from: red, prefixes: 10.20.0.0/24}"))
    view = next(view for view in _leaves(plan) if view.externals)
    sent = {external.vrf: external_policy(view, external).lists[1] for external in view.externals}
    assert [entry.words for entry in sent["exit"].entries][-1] == "10.20.0.0/24 le 31"
    assert all("10.20.0.0/24" not in entry.prefix for entry in sent["web"].entries)


def test_filters_permit_the_addresses_of_the_other_tenant_alone() -> None:
    how = "isolation: acl"
    whole, part = (make(site(text, how=how)) for text in ("[plain]", "{from: plain, prefixes: 10.0.0.0/8}"))
    permits = [[acl.permits for view in _leaves(plan) for acl in view.acls if acl.name == "red"] for plan in (whole, part)]
    assert permits[0] == permits[1] != []
    outside = make(site("{from: plain, prefixes: 192.168.0.0/16}", how=how))
    none = [acl.permits for view in _leaves(outside) for acl in view.acls if acl.name == "red"]
    assert set(none[0]) < set(permits[0][0])
    with pytest.raises(InputError, match="a filter on a port would permit every tenant"):
        make(site("{from: plain, prefixes: 0.0.0.0/0}", how=how))


STORE = "imports: {from: store, prefixes: 10.30.0.0/24}"
RED_BACK = "imports: {from: red, prefixes: 10.20.0.0/24}"
OUT = "imports: {from: exit, prefixes: 0.0.0.0/0}"
RELAYS = {  # server, imports of the relay's tenant, of the server's → what is warned of
    ("10.30.0.9", "imports: []", "imports: []"): (
        "network 'login': dhcp_relay: tenant 'red' has no routes to and from 10.30.0.9, in a network of tenant 'store'",
        "add `imports: [{from: store, prefixes: [10.30.0.0/24]}]` to tenant 'red', and `imports: [{from: red, prefixes: "
        "[10.20.0.0/24]}]` to tenant 'store'",
    ),
    ("10.30.0.9", OUT, "imports: []"): "the router outside has no route back",
    ("{servers: 10.30.0.9, tenant: default}", STORE, RED_BACK): (
        "network 'login': dhcp_relay: the default table has no routes to and from 10.30.0.9, in a network of tenant 'store'",
        "add `imports: [{from: store, prefixes: [10.30.0.0/24]}]` to tenant 'red'; then state the addresses alone",
    ),
    ("10.30.0.9", STORE, RED_BACK): None,
    ("10.30.0.9", OUT, OUT): None,  # over the router
    ("10.99.0.9", "imports: []", "imports: []"): None,
}


def relay(server: str, red: str, store: str) -> str:
    text = site("[]", store=store).replace(", imports: []}", "}", 1)
    return text.replace(f"{LOGIN}", LOGIN.replace("}]", f", dhcp_relay: {server}}}], {red}"))


@pytest.mark.parametrize(("server", "red", "store"), RELAYS)
def test_a_relay_to_a_server_of_another_tenant(server: str, red: str, store: str) -> None:
    expected = RELAYS[server, red, store]
    relays = [found for found in make(relay(server, red, store)).warnings if "dhcp_relay" in found.message]
    assert [found.code for found in relays] == (["FAB407"] if expected else [])
    if isinstance(expected, tuple):
        assert [(found.message, found.hint) for found in relays] == [expected]


def test_a_relay_to_a_server_of_its_own_network_is_refused() -> None:
    with pytest.raises(InputError, match=r"servers outside its subnet 10\.20\.0\.0/24, got 10\.20\.0\.9"):
        make(relay("10.20.0.9", "imports: []", "imports: []"))


def test_the_pool_of_servers_is_in_tables_with_routed_ports_alone() -> None:
    """A tenant that has a router and no port of a server sends no addresses of servers, and refuses no network in them."""
    intent = site("exit", outlet="imports: red").replace("10.20.0.0/24", "10.130.0.0/24")
    views = _leaves(make(intent))
    tables = {vrf.name: vrf.prefixes for view in views for vrf in view.vrfs}
    assert (tables["exit"], tables["plain"]) == ((), ("10.128.0.0/9",))
    border = next(view for view in views if view.externals)
    policy = external_policy(border, next(external for external in border.externals if external.vrf == "exit"))
    assert [entry.prefix for entry in policy.list_of(policy.exports).entries if not entry.rule.startswith("deny")] == []
    with pytest.raises(InputError, match="overlaps pool 'servers'"):
        make(intent.replace("0013..0016", "0013..0015").replace("{name: exit, ", "{name: exit, servers: node-0016, "))
