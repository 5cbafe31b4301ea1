"""Addresses, sessions and routes as planned, and no routes of another tenant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

from fabric.audit.checks import ERROR, Finding
from fabric.audit.checks.batfish.checks import Analysis, BatfishCheck, Judged, name_of
from fabric.audit.checks.batfish.client import Row, is_modeled, vrf_name
from fabric.audit.checks.batfish.expect import Route, Session, subnets
from fabric.base.grouping import grouped, grouped_sets
from fabric.base.text import listed, plural
from fabric.model.plan import DEFAULT_ROUTES, LEAF, SwitchView, TenantPlan
from fabric.nos.batfish import VRF

Key = tuple[str, str, str]  # node, VRF, address or interface of the far end


class Owners(BatfishCheck):
    """Looks for addresses that Batfish finds on two devices of a VRF.

    Two owners of one address receive each other's packets. Anycast gateways and the shared VTEP of a pair are exempt.
    """

    id = "FAB304"
    title = "No address is configured on two interfaces of a VRF"
    severity = ERROR
    example = "10.64.0.5 on leaf001 Ethernet1/1 and on leaf007 Ethernet1/1"
    remediation = "search overrides and pins for the address, and change the address on one of the interfaces"

    def check(self, analysis: Analysis) -> Iterator[Finding]:
        shared = set(_shared(analysis))
        owners: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for row in analysis.answers.owners():
            table = _tenant(analysis, name_of(row["Node"]), row["VRF"])
            if row["IP"] not in shared and not row["IP"].startswith("127."):
                owners.setdefault((table, row["IP"]), []).append((name_of(row["Node"]), str(row["Interface"])))
        for (_, address), ports in sorted(owners.items()):
            for node, interface in sorted(ports) if len(ports) > 1 else ():
                others = ", ".join(f"{name} {port}" for name, port in sorted(ports) if (name, port) != (node, interface))
                yield from self.at_switch(
                    analysis, node, f"{interface}: {address} is also the address of {others}", *spelled(address)
                )


def spelled(address: str) -> Iterator[str]:
    """An address as files write it, with the lengths that are in use; where an interface has it before a list."""
    for word in ("address ", ""):
        yield from (f"{word}{address}/{length}" for length in (31, 32, 24))


def _shared(analysis: Analysis) -> Iterator[str]:
    for views in analysis.snapshot.views.values():
        for view in views.values():
            yield from (network.gateway.partition("/")[0] for network in view.networks if network.gateway)
            if view.pair and view.pair.shared_vtep:
                yield view.pair.shared_vtep


def _tenant(analysis: Analysis, node: str, table: str) -> str:
    """A table by a name that is the same on every target."""
    for session in analysis.snapshot.views.values():
        if node in session:
            view = session[node]
            for vrf in view.vrfs:
                if table == vrf_name(view.device.nos, vrf.name):
                    return f"{view.fabric}/{vrf.name}"
    return table


class Sessions(BatfishCheck):
    """Compares the sessions that Batfish brings up with the planned ones.

    Batfish evaluates addresses, AS numbers, families and reachability of both ends. A session that stays down removes its
    routes; one that is not planned lets routes in.
    """

    id = "FAB305"
    title = "All planned BGP sessions come up, and there are no others"
    severity = ERROR
    example = "session with spine001 (10.64.0.1): not compatible"
    remediation = "compare neighbor address, AS number and address families at both ends"

    def judged(self, analysis: Analysis) -> Judged:
        return Judged(len(analysis.expected.sessions), len(analysis.expected.planned_sessions), "session end")

    def check(self, analysis: Analysis) -> Iterator[Finding]:
        # Not the compatibility, which is NO_LOCAL_IP for every Junos session without `local-address`.
        rows = {_key(row): row for row in analysis.answers.sessions()}
        planned = {(session.device, session.vrf, session.peer): session for session in analysis.expected.planned_sessions}
        routed = {node for name, views in analysis.snapshot.views.items() if analysis.expected.routed(name) for node in views}
        for key, session in planned.items():
            if session.judged:
                yield from self._planned(analysis, session, rows.get(key))
        for key in sorted(rows.keys() - planned.keys()):
            if key[0] in routed:
                message = f"{_where(key[1])}unplanned session with {key[2]}"
                yield from self.at_switch(analysis, key[0], message, *_neighbor(key[2]))

    def _planned(self, analysis: Analysis, session: Session, row: Row | None) -> Iterator[Finding]:
        status = row["Established_Status"] if row else "not configured"
        if status == "ESTABLISHED":
            return
        words = status.replace("_", " ").lower()
        if row and str(row["Remote_AS"]) != str(session.asn):
            words += f"; remote AS: expected {session.asn}, got {row['Remote_AS']}"
        message = f"{_where(session.vrf)}session with {session.name} ({session.peer}): {words}"
        yield from self.at_switch(analysis, session.device, message, *_neighbor(session.peer))


def _neighbor(peer: str) -> tuple[str, ...]:
    """A session as files write it; the best place first."""
    return f"neighbor {peer} remote-as", f"neighbor {peer}", peer


def _key(row: Row) -> Key:
    remote = row["Remote_IP"]
    peer = remote["value"] if isinstance(remote, dict) else remote
    interface = row["Local_Interface"]
    if not peer and isinstance(interface, dict):
        peer = interface["interface"]
    return name_of(row["Node"]), row["VRF"], str(peer)


def _where(vrf: str) -> str:
    return "" if vrf == "default" else f"VRF {vrf}: "


# --- routes: is the leaf at fault, or the switch that should announce them? -----------------------------------

DEFAULT = "default"
MAX_NAMED_LEAVES = 3  # in a finding


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A planned route that a leaf lacks, or has over another number of next hops."""

    route: Route
    got: int
    outside: tuple[str, ...] = ()  # external routers among its next hops: "wan (10.128.0.55)"


@dataclass(frozen=True, slots=True)
class Blame:
    """The routes of one table that are short by one switch's fault."""

    switch: str
    vrf: str
    origin: bool  # True: its routes are missing elsewhere; False: it lacks routes
    short: tuple[Shortfall, ...]


def shortfalls(analysis: Analysis, name: str) -> tuple[list[Route], list[Shortfall]]:
    """Every planned route of a fabric, and those that are short."""
    leaves = [node for node, view in analysis.snapshot.views[name].items() if view.device.role == LEAF]
    if not leaves or not analysis.expected.routed(name):
        return [], []
    routes = list(dict.fromkeys(analysis.expected.routes(name)))
    hops = grouped(
        ((name_of(row["Node"]), row["VRF"], row["Network"]), str((row.get("Next_Hop") or {}).get("ip", "")))
        for row in analysis.routes(leaves)
    )
    routers = {
        (node, external.peer_address): f"{external.peer} ({external.peer_address})"
        for node, view in analysis.snapshot.views[name].items()
        for external in view.externals
    }
    short = []
    for route in routes:
        got = hops.get((route.device, route.vrf, route.prefix), [])
        if _short(route, len(got)):
            outside = tuple(routers[route.device, hop] for hop in got if (route.device, hop) in routers)
            short.append(Shortfall(route, len(got), outside))
    return routes, short


def _short(route: Route, got: int) -> bool:
    return got != route.hops if route.hops else not got


def blamed(routes: Iterable[Route], short: Iterable[Shortfall]) -> list[Blame]:
    """Who is at fault: a switch whose route no leaf has as planned, else each leaf that lacks one.

    The default table comes first: a switch at fault there is at fault for the tenants' routes from and to it as well.
    """
    short = list(short)
    expecting, lacking = _leaves_by_route(routes), _leaves_by_route(shortfall.route for shortfall in short)
    elsewhere = _targets(
        shortfall.route
        for shortfall in short
        if len(expecting[_route_key(shortfall.route)]) < 2 or not _all(shortfall, lacking, expecting)
    )
    guilty: dict[tuple[str, str, bool], list[Shortfall]] = {}
    underlay: set[str] = set()
    for shortfall in sorted(short, key=lambda shortfall: shortfall.route.vrf != DEFAULT):
        route, target = shortfall.route, shortfall.route.to.lower()
        ends = {route.device, target} & underlay
        if route.vrf != DEFAULT and len(ends) == 1:
            switch = ends.pop()
            guilty.setdefault((switch, DEFAULT, (switch, DEFAULT, True) in guilty), []).append(shortfall)
            continue
        origin = _all(shortfall, lacking, expecting)
        if len(expecting[_route_key(route)]) == 1:  # a single device expects it: that one, if it lacks other routes too
            origin = elsewhere[route.device] <= {route.to}
        switch = target if origin else route.device
        guilty.setdefault((switch, route.vrf, origin), []).append(shortfall)
        if route.vrf == DEFAULT:
            underlay.add(switch)
    return [Blame(*key, tuple(wrong)) for key, wrong in guilty.items()]


RouteKey = tuple[str, str, str]  # table, prefix, the switch that it is of


def _route_key(route: Route) -> RouteKey:
    return route.vrf, route.prefix, route.to


def _all(one: Shortfall, lacking: Mapping[RouteKey, set[str]], expecting: Mapping[RouteKey, set[str]]) -> bool:
    """Whether no leaf has a route as planned."""
    return lacking[_route_key(one.route)] == expecting[_route_key(one.route)]


def _leaves_by_route(routes: Iterable[Route]) -> Mapping[RouteKey, set[str]]:
    return grouped_sets((_route_key(route), route.device) for route in routes)


def _targets(routes: Iterable[Route]) -> Mapping[str, set[str]]:
    """Leaf → the switches that it lacks routes to."""
    return grouped_sets((route.device, route.to) for route in routes)


class Routes(BatfishCheck):
    """Compares the routes and next hops that Batfish computes on every leaf with the plan.

    With fewer next hops, a session, filter or multipath setting differs from the plan, and the traffic uses the remaining
    paths; more next hops are a detour. A route that all leaves lack is reported on the switch that should advertise it.
    """

    id = "FAB306"
    title = "Every leaf has all planned routes with all equal-cost next hops"
    severity = ERROR
    example = "3 next hops to 10.0.0.4/32 of leaf004; 4 in the plan"
    remediation = "check BGP sessions, route filters and the multipath setting on the path"

    def judged(self, analysis: Analysis) -> Judged:
        routes = [route for name in analysis.snapshot.views for route in analysis.expected.planned_routes(name)]
        return Judged(sum(route.judged for route in routes), len(routes), "route")

    def check(self, analysis: Analysis) -> Iterator[Finding]:
        for name in analysis.snapshot.views:
            for blame in blamed(*shortfalls(analysis, name)):
                message = _owed(blame) if blame.origin else _lacked(blame)
                file, line = analysis.block(blame.switch, blame.vrf)
                yield from self.at_line(analysis, blame.switch, file, line, _where(blame.vrf) + message)


def _lacked(blame: Blame) -> str:
    """`no route to 10.0.0.4/32 of leaf002 (2 more routes differ)`."""
    one = blame.short[0]
    return _one(one, f"to {one.route.prefix} of {one.route.to}") + _more(blame)


def _owed(blame: Blame) -> str:
    """`no route to 10.0.0.4/32 of this switch (2 more routes differ), on 3 leaves: leaf001, leaf003, leaf004`."""
    leaves = sorted({one.route.device for one in blame.short} - {blame.switch})
    count = plural(len(leaves), "leaf", "leaves")
    return (
        f"{_one(blame.short[0], f'to {blame.short[0].route.prefix} of this switch')}{_more(blame)}, on {count}: "
        f"{listed(leaves, MAX_NAMED_LEAVES)}"
    )


def _one(short: Shortfall, destination: str) -> str:
    if not short.got:
        return f"no route {destination}"
    outside = f", of which outside: {listed(short.outside)}" if short.outside else ""
    return f"expected {plural(short.route.hops, 'next hop')} {destination}, got {short.got}{outside}"


def _more(blame: Blame) -> str:
    count = len({(one.route.vrf, one.route.prefix) for one in blame.short}) - 1
    return f" ({count} more {'routes differ' if count > 1 else 'route differs'})" if count else ""


# --- routes that a tenant must not have -----------------------------------------------------------------------

MAX_NAMED_PREFIXES = 3  # in a finding


class TenantRoutes(BatfishCheck):
    """Searches every tenant's routing table, and the default one, for server subnets of another tenant.

    A route target too many, or a table in which a session of another tenant ends, lets routes in long before a packet uses
    them: the other tenant may filter today and not tomorrow.
    """

    id = "FAB312"
    title = "No routing table has routes to servers of another tenant"
    severity = ERROR
    example = "VRF blue: routes to 10.128.0.0/31 of 'red'"
    remediation = "check the imported route targets of the VRF, and which VRF its ports and sessions are in"

    def judged(self, analysis: Analysis) -> Judged:
        tables = [is_modeled(view.device.nos, VRF) for view in _leaves(analysis) for _ in view.vrfs]
        return Judged(sum(tables), len(tables), "routing table of a tenant", "routing tables of tenants")

    def check(self, analysis: Analysis) -> Iterator[Finding]:
        for name, views in analysis.snapshot.views.items():
            leaves = {node: view for node, view in views.items() if view.device.role == LEAF}
            tables = [(view, vrf.name) for view in leaves.values() for vrf in view.vrfs]
            owners = grouped_sets((net, tenant) for view, tenant in tables for net in subnets(view, tenant))
            if owners and analysis.expected.routed(name):
                tenants = analysis.snapshot.plan.fabrics[name].tenancy.tenants
                yield from self._tables(analysis, leaves, owners, {tenant.name: tenant for tenant in tenants})

    def _tables(
        self,
        analysis: Analysis,
        leaves: Mapping[str, SwitchView],
        owners: Mapping[str, set[str]],
        tenants: Mapping[str, TenantPlan],
    ) -> Iterator[Finding]:
        """`owners`: server subnet → its tenants."""
        lengths = sorted({int(net.rpartition("/")[2]) for net in owners})
        wrong: dict[tuple[str, str, str], list[str]] = {}
        for row in analysis.routes(list(leaves)):
            node, network = name_of(row["Node"]), ip_network(row["Network"])
            tenant = _tenant_of_table(leaves[node], row["VRF"]) if node in leaves else None
            around = (str(network.supernet(new_prefix=length)) for length in lengths if length <= network.prefixlen)
            owning = {owner for net in around for owner in owners.get(net, ())}
            if tenant is not None and owning and not owning & _let_in(tenants.get(tenant), network):
                wrong.setdefault((node, tenant, min(owning)), []).append(row["Network"])
        for (node, tenant, owner), networks in sorted(wrong.items()):
            shown = listed(list(dict.fromkeys(networks)), MAX_NAMED_PREFIXES)
            message = f"{f'VRF {tenant}' if tenant else 'default table'}: routes to {shown} of '{owner}'"
            yield from self.at_line(analysis, node, *analysis.block(node, vrf_name(leaves[node].device.nos, tenant)), message)


def _let_in(tenant: TenantPlan | None, network: IPv4Network | IPv6Network) -> set[str]:
    """Tenants of which a table may have a prefix: itself, those imported whole, and those imported by a prefix around it."""
    if tenant is None:
        return set()
    stated = (
        (leak.source, ip_network(text)) for leak in tenant.leaks for text in leak.prefixes if text not in DEFAULT_ROUTES
    )
    around = (source for source, net in stated if net.version == network.version and net.supernet_of(network))  # type: ignore[arg-type]
    return {tenant.name, *tenant.imports, *around}


def _leaves(analysis: Analysis) -> Iterator[SwitchView]:
    return (view for views in analysis.snapshot.views.values() for view in views.values() if view.device.role == LEAF)


def _tenant_of_table(view: SwitchView, table: str) -> str | None:
    """The tenant of a table as Batfish names it, "" of the default one; None of a table that the plan does not have."""
    tables = {vrf_name(view.device.nos, vrf.name): vrf.name for vrf in view.vrfs}
    return "" if table == "default" else tables.get(table)
