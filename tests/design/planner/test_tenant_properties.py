"""What holds for the tenants of every plan, and what growth must keep of them: random intents, the same ones in every run."""

from __future__ import annotations

import copy
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from ipaddress import ip_address, ip_interface, ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, strategies as st

from fabric.configs.view_of import Views
from fabric.model.plan import (
    ATTACHMENT,
    CLOSED,
    LEAF,
    LEAF_LEAF,
    LEAF_SPINE,
    NO_TENANT,
    SERVER,
    SERVER_LEAF,
    SPINE_CORE,
    FabricPlan,
    Plan,
    SwitchView,
)
from tests.design.planner import checks as check
from tests.design.planner.helpers import make, reread
from tests.design.planner.intents import SERVERS, Data, fabrics
from tests.design.planner.test_properties import built, fair_share, raise_planned

Change = Callable[[st.DataObject, Data], None]
FABRIC = (LEAF_LEAF, LEAF_SPINE, SPINE_CORE)
SMALL = ("16x400g", "32x400g", "32x800g")


@st.composite
def tenanted(draw: st.DrawFn) -> Data:
    """A site of one fabric with tenants, kept apart one way or another."""
    fabric = draw(fabrics())
    how = draw(st.sampled_from(("evpn", "evpn", "vrf-lite", "acl")))
    if draw(st.integers(0, 5)) == 0:  # bonds of a pair, which few of the others have
        how, pair = "evpn", {"kind": "collapsed", "planes": 1, "dual_tor": False, "leaf": {}, "spine": {}}
        fabric["servers"] = fabric["servers"][:1]
        fabric["topology"] = {**pair, "unit": {"servers": fabric["servers"][0]["count"]}}
    topology = fabric["topology"]
    for group in fabric["servers"]:
        group["name"] = f"s-{group['model']}"
    topology["switch"] = draw(st.sampled_from(SMALL))
    topology["spine"].pop("switch", None)
    fabric["nos"] = "frr"
    fabric["overlay"] = {"kind": "evpn-vxlan"} if how == "evpn" else {"isolation": how}
    if how == "evpn":
        fabric["overlay"]["route_servers"] = draw(st.integers(1, 4))
    if how == {"ipv6": "evpn", "unnumbered": "vrf-lite"}.get(fabric["underlay"]["addressing"]):
        fabric["underlay"]["addressing"] = "ipv4"
    fabric["tenants"] = draw(tenants(fabric, how))
    if how == "evpn" and (topology["dual_tor"] or topology["kind"] == "collapsed") and draw(st.integers(0, 3)):
        fabric["nos"], topology["switch"] = "cumulus", "sn4700"
    names = [tenant["name"] for tenant in fabric["tenants"]]
    attachments = [{"name": "appliance", "links": draw(st.integers(1, 3)), "tenant": names[0]}] if draw(st.booleans()) else []
    if how != "acl" and draw(st.booleans()):
        served = draw(st.lists(st.sampled_from(names), unique=True))
        attachments.append({"name": "wan", "links": draw(st.integers(1, 3)), "external": {"asn": 65_010, "tenants": served}})
    topology["attachments"] = attachments
    return {"version": 1, "site": "dc1", "catalog": {"servers": SERVERS}, "fabrics": {"backend": fabric}}


@st.composite
def tenants(draw: st.DrawFn, fabric: Data, how: str) -> list[Data]:
    """Ranges of servers side by side, or rails; the last one may take the rest."""
    group = fabric["servers"][0]
    names = ("red", "blue", "green")[: draw(st.integers(2, 3))]
    by_rail = fabric["topology"]["kind"] in ("rail-optimized", "rail-only") and draw(st.integers(0, 3)) == 0
    most = SERVERS[group["model"]]["nics"]["compute"]["count"] if by_rail else group["count"]
    most = fabric["topology"].get("rails", most) if by_rail else most
    assume(most >= len(names))
    cuts = sorted(draw(st.lists(st.integers(1, most - 1), min_size=len(names) - 1, max_size=len(names) - 1, unique=True)))
    found: list[Data] = []
    for name, (low, high) in zip(names, pairwise((0, *cuts, most)), strict=True):
        tenant: Data = {"name": name}
        if by_rail:
            tenant["rails"] = list(range(low + 1, high + 1))
        elif name != names[-1] or draw(st.booleans()):
            tenant["servers"] = f"{group['name']}-{low + 1:04}..{high:04}"
        if how == "evpn" and draw(st.booleans()):
            gateways = [f"10.{20 + len(found)}.0.0/16", f"10.{30 + len(found)}.0.0/16", None]
            chosen = draw(st.lists(st.sampled_from(gateways), min_size=1, max_size=2, unique=True))
            tenant["networks"] = [{"name": f"n{at}", **({"gateway": g} if g else {})} for at, g in enumerate(chosen)]
        found.append(tenant)
    return found


def views(plan: Plan) -> list[SwitchView]:
    made = Views(plan, plan.fabrics["backend"])
    return [made.of(device) for device in plan.fabrics["backend"].switches]


# --- whose every port is -----------------------------------------------------------------------------------


def owner_of(fabric: FabricPlan, link: int) -> str:
    """The tenant of a link, read from the intent again; "" is no one's."""
    links, devices = fabric.links, fabric.devices
    server, rail = devices[int(links.a[link])], devices[int(links.b[link])].rail
    if server.role != SERVER:
        attachment = next(attachment for attachment in fabric.spec.attachments if attachment.name == server.name)
        return "" if attachment.external else attachment.tenant or ""
    rest = ""
    for tenant in fabric.spec.tenants:
        if not tenant.servers and not tenant.rails:
            rest = tenant.name
            continue
        there = not tenant.servers
        for text in tenant.servers:
            first, _, last = text.partition("..")
            stem = first[: len(first) - len(last)]
            there |= len(server.name) == len(first) and first <= server.name <= stem + (last or first)
        if there and (not tenant.rails or rail + 1 in tenant.rails):
            return tenant.name
    return rest


def ports(fabric: FabricPlan) -> None:
    names = [tenant.name for tenant in fabric.tenancy.tenants]
    for link, kind in enumerate(fabric.links.kind.tolist()):
        owner = int(fabric.tenancy.owner[link])
        if kind not in (SERVER_LEAF, ATTACHMENT):
            assert owner == NO_TENANT
            continue
        requested = owner_of(fabric, link)
        assert (names[owner] if owner >= 0 else "") == requested
        assert kind == ATTACHMENT or requested or owner == CLOSED


def tables(plan: Plan, of_switches: list[SwitchView]) -> None:
    """A port lies in its tenant's table alone, and no table takes in another's routes."""
    fabric = plan.fabrics["backend"]
    bridged = {tenant.name: {network.vlan for network in tenant.networks} for tenant in fabric.tenancy.tenants}
    rds: list[str] = []
    for view in of_switches:
        for port in view.ports:
            if port.kind not in ("server", "attachment") or port.peer is None:
                continue
            found = {port.vrf, port.acl} - {""}
            vlans = {port.untagged, *port.tagged} - {0}
            found |= {name for name, of_tenant in bridged.items() if vlans & of_tenant}
            routers = {part.vrf for part in port.subinterfaces}
            assert len(found) <= 1
            assert not (routers and found)
            assert port.closed == (not found and not routers) or (port.kind == "attachment" and port.closed)
        targets = {vrf.name: vrf.route_target for vrf in view.vrfs} | {n.name: n.route_target for n in view.networks}
        assert len(set(targets.values())) == len(targets)
        assert not any(vrf.imports for vrf in view.vrfs)
        rds += [*(vrf.rd for vrf in view.vrfs), *(network.rd for network in view.networks)]
        for acl in view.acls:
            filters(fabric, acl.name, acl.permits)
    assert len(set(rds)) == len(rds)


def filters(fabric: FabricPlan, tenant: str, permits: tuple[str, ...]) -> None:
    """A filter lets in the tenant's own links and no address of another."""
    at = [plan.name for plan in fabric.tenancy.tenants].index(tenant)
    own = {int(low) for low in fabric.subnet[(fabric.tenancy.owner == at) & (fabric.subnet >= 0)]}
    nets = [ip_network(text) for text in permits]
    assert sum(net.num_addresses for net in nets) == 2 * len(own)
    assert all(any(ip_address(low) in net for net in nets) for low in own)


# --- what tenants are given --------------------------------------------------------------------------------


def slices(plan: Plan, of_switches: list[SwitchView]) -> None:
    """Subnets of tenants on links: none twice, none in the underlay, all in the pool, and both ends agree."""
    fabric = plan.fabrics["backend"]
    underlay = {int(low) + step for low in fabric.subnet if low >= 0 for step in (0, 1)}
    pools = [ip_network(prefix) for prefix in fabric.prefixes["p2p"]]
    near: dict[str, tuple[str, int]] = {}
    outside = set()
    for view in of_switches:
        for port in view.ports:
            for part in port.subinterfaces:
                address = ip_interface(part.address)
                assert int(address.ip) not in underlay
                assert any(address.ip in pool for pool in pools)
                assert str(address.ip) not in near
                near[str(address.ip)] = (part.peer_address, part.tag)
                if port.kind == "attachment":
                    outside.add(str(address.ip))
        for vrf in view.vrfs:
            assert {session.tag for session in vrf.sessions} <= {10 + vrf.number}
    for here, (far, tag) in near.items():
        assert here in outside or near[far] == (here, tag)


def overlay_sessions(fabric: FabricPlan) -> None:
    """Every leaf reaches all leaves of its network over switches that pass routes on, each end knows the other."""
    peers, devices = fabric.tenancy.peers, fabric.devices
    cabled = {
        (int(a), int(b)) for a, b, k in zip(fabric.links.a, fabric.links.b, fabric.links.kind, strict=True) if k in FABRIC
    }
    for one, there in peers.items():
        assert all(one in peers[other] for other in there)
        assert all((one, other) in cabled or (other, one) in cabled for other in there)
    networks: dict[tuple[int, int], set[int]] = defaultdict(set)
    for device in devices:
        if device.role == LEAF:
            networks[device.plane, device.rail if fabric.spec.kind == "rail-only" else -1].add(device.index)
    for leaves in networks.values():
        first = min(leaves)
        seen, todo = {first}, [first]
        while todo:
            at = todo.pop()
            new = set(peers.get(at, ())) - seen if devices[at].role != LEAF or at == first else set()
            seen |= new
            todo += new
        assert {at for at in seen if devices[at].role == LEAF} == leaves
    assert len(set(fabric.tenancy.vtep.values())) == sum(map(len, networks.values()))


def bonds(of_switches: list[SwitchView]) -> None:
    """A bond has one port on each leaf of a pair, of the same server, under the same names; no other bond has them."""
    found: dict[str, list[tuple[str, int, str, bool]]] = defaultdict(list)
    for view in of_switches:
        for lag in view.lags:
            (ref,) = lag.ports
            peer = next(port.peer for port in view.ports if port.ref == ref)
            assert peer is not None
            assert view.pair is not None
            found[lag.esi].append((peer.device.name, lag.number, lag.system_mac, lag.preferred))
    for members in found.values():
        assert len(members) == 2
        assert len({member[:3] for member in members}) == 1
        assert {member[3] for member in members} == {True, False}


def hosts(fabric: FabricPlan) -> dict[tuple[str, str, str, int, int], int]:
    """(tenant, network, server, NIC, port) → address."""
    links, found = fabric.links, {}
    for (tenant, network), addresses in fabric.tenancy.hosts.items():
        owner = fabric.tenancy.tenants[tenant]
        for link, address in addresses.items():
            server = fabric.devices[int(links.a[link])].name
            key = (owner.name, owner.networks[network].name, server, int(links.a_cage[link]), int(links.a_sub[link]))
            found[key] = address
    return found


def addresses(plan: Plan, of_switches: list[SwitchView]) -> None:
    """In a network no address has two owners: servers' ports or bonds, the gateway, the leaves."""
    fabric = plan.fabrics["backend"]
    for (tenant, network), given in fabric.tenancy.hosts.items():
        net = fabric.tenancy.tenants[tenant].networks[network]
        subnet = ip_network((net.subnet, net.length))
        users: dict[int, set[tuple[int, int]]] = defaultdict(set)
        for link, address in given.items():
            lag = int(fabric.tenancy.lag[link])
            users[address].add((int(fabric.links.a[link]), lag or -link - 1))
        assert all(len(owners) == 1 for owners in users.values())
        assert all(ip_address(address) in subnet for address in users)
        taken = {net.subnet, net.gateway, int(subnet.broadcast_address)}
        for view in of_switches:
            of_leaf = [n.own_address for n in view.networks if n.vlan == net.vlan]
            taken |= {int(ip_interface(text).ip) for text in of_leaf if text}
        assert not taken & users.keys()


def everything(plan: Plan) -> None:
    fabric = plan.fabrics["backend"]
    check.names(plan)
    ports(fabric)
    of_switches = views(plan)
    tables(plan, of_switches)
    slices(plan, of_switches)
    bonds(of_switches)
    addresses(plan, of_switches)
    if fabric.tenancy.kind == "evpn":
        overlay_sessions(fabric)


def test_every_plan_with_tenants(whole: bool) -> None:
    def body(data: st.DataObject, seen: Counter[str]) -> None:
        plan = built(data.draw(tenanted()))
        fabric = plan.fabrics["backend"]
        everything(plan)
        seen[fabric.tenancy.kind] += 1
        seen[f"{fabric.sizing.tiers} tiers"] += 1
        seen["bonds"] += bool(fabric.tenancy.lag.any())
        seen["external connections"] += bool(fabric.tenancy.external_connections)

    kinds = ("evpn", "vrf-lite", "acl", "1 tiers", "2 tiers", "3 tiers", "bonds", "external connections")
    fair_share(body, (66, 160), 0.3, whole, dict.fromkeys(kinds, 4))


# --- growth ------------------------------------------------------------------------------------------------


def one_more_server(data: st.DataObject, fabric: Data) -> None:
    fabric["servers"][0]["count"] += data.draw(st.integers(1, 9))


def one_more_tenant(data: st.DataObject, fabric: Data) -> None:
    fabric["tenants"].insert(data.draw(st.integers(0, 1)), {"name": "amber", "servers": "later-0001"})
    fabric["servers"].append({"model": fabric["servers"][0]["model"], "name": "later", "count": 1})


def one_tenant_less(data: st.DataObject, fabric: Data) -> None:
    fabric["topology"]["attachments"] = []
    del fabric["tenants"][0]


def more_servers_of_a_tenant(data: st.DataObject, fabric: Data) -> None:
    first, second = fabric["tenants"][:2]
    assume("servers" in first)
    stem, _, last = first["servers"].partition("..")
    first["servers"] = f"{stem}..{int(last) + 1:04}"
    if "servers" in second:
        stem, _, last = second["servers"].partition("..")
        cut = stem.rindex("-") + 1
        low = int(stem[cut:]) + 1
        assume(low <= int(last))
        second["servers"] = f"{stem[:cut]}{low:04}..{last}"


def one_more_network(data: st.DataObject, fabric: Data) -> None:
    bridged = [tenant for tenant in fabric["tenants"] if tenant.get("networks")]
    assume(bridged)
    bridged[-1]["networks"].insert(0, {"name": "later", "gateway": "10.99.0.0/16"})


def one_more_router(data: st.DataObject, fabric: Data) -> None:
    assume(fabric["overlay"].get("isolation") != "acl")
    fabric["topology"]["attachments"].insert(0, {"name": "later", "links": 2, "external": {"asn": 65_011}})


def more_links_of_a_router(data: st.DataObject, fabric: Data) -> None:
    routers = [attachment for attachment in fabric["topology"]["attachments"] if "external" in attachment]
    assume(routers)
    routers[0]["links"] += 1
    routers[0]["external"]["tenants"] = []


GROWTH: list[Change] = [
    one_more_server,
    one_more_tenant,
    one_tenant_less,
    more_servers_of_a_tenant,
    one_more_network,
    one_more_router,
    more_links_of_a_router,
]


def given(fabric: FabricPlan) -> dict[tuple[object, ...], object]:
    """Everything that was handed out to tenants, by what has it."""
    tenancy, links, devices = fabric.tenancy, fabric.links, fabric.devices
    found: dict[tuple[object, ...], object] = {("host", *key): address for key, address in hosts(fabric).items()}
    for tenant in tenancy.tenants:
        found["tenant", tenant.name] = (tenant.number, tenant.vni)
        found |= {("network", tenant.name, n.name): (n.number, n.vlan, n.vni, n.gateway) for n in tenant.networks}
    found |= {("vtep", devices[leaf].name): address for leaf, address in tenancy.vtep.items()}
    found |= {("pair", devices[a].name): devices[b].name for a, b in tenancy.pair.items()}

    def end(link: int) -> tuple[object, ...]:
        columns: Mapping[str, Any] = {name: getattr(links, name) for name in ("a_cage", "a_sub", "b_cage", "b_sub")}
        a, b = devices[int(links.a[link])].name, devices[int(links.b[link])].name
        return (a, b, *(int(column[link]) for column in columns.values()), fabric.subnet[link])

    for at, first in tenancy.slices.items():
        found |= {("slice", tenancy.tenants[at].name, *end(n)): low for n, low in enumerate(first) if low >= 0}
    for way in tenancy.external_connections:
        found["way", way.name, tenancy.tenants[way.tenant].name, *end(way.link)] = way.address
    for link in (tenancy.lag > 0).nonzero()[0].tolist():
        found["bond", *end(link)] = int(tenancy.lag[link])
    return found


@pytest.mark.parametrize("grow", GROWTH, ids=lambda change: change.__name__)
def test_growth_keeps_what_tenants_have(grow: Change) -> None:
    def body(data: st.DataObject, seen: Counter[str]) -> None:
        site = data.draw(tenanted())
        if grow is one_more_tenant:
            assume(site["fabrics"]["backend"]["topology"]["kind"] in ("rail-optimized", "rack"))
            site["fabrics"]["backend"].pop("planned", None)
        larger = copy.deepcopy(site)
        grow(data, larger["fabrics"]["backend"])
        raise_planned(larger)
        old = built(site)
        with tempfile.TemporaryDirectory() as folder:
            lock = reread(old.lock, Path(folder))
        new = built(larger, lock)
        assume(old.fabrics["backend"].sizing.tiers == new.fabrics["backend"].sizing.tiers)
        everything(new)
        had, has = given(old.fabrics["backend"]), given(new.fabrics["backend"])
        assert {key: (had[key], has[key]) for key in had.keys() & has.keys() if had[key] != has[key]} == {}
        assert check.texts(make(larger, new.lock)) == check.texts(new)

    fair_share(body, (10, 10), 0.1 if grow in (one_more_server, one_tenant_less) else 0.04, whole=True)
