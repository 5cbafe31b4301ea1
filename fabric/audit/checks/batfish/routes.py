"""Does every leaf have every planned route, and if not, is the leaf at fault or the switch that should announce it?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fabric.audit.checks import ERROR, Finding
from fabric.audit.checks.batfish.checks import Asked, BatfishCheck, Judged, name_of
from fabric.audit.checks.batfish.expect import Route
from fabric.base.grouping import grouped, grouped_sets
from fabric.base.text import listed, plural
from fabric.model.plan import LEAF

DEFAULT = "default"
NAMED = 3  # leaves that a finding names


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A planned route that a leaf lacks, or has over another number of next hops."""

    route: Route
    got: int
    outside: tuple[str, ...] = ()  # routers outside among its next hops: "wan (10.128.0.55)"


@dataclass(frozen=True, slots=True)
class Blame:
    """The routes of one table that are short by one switch's fault."""

    switch: str
    vrf: str
    origin: bool  # the switch owes the routes to others; else it is the one that lacks them
    short: tuple[Shortfall, ...]


def shortfalls(asked: Asked, name: str) -> tuple[list[Route], list[Shortfall]]:
    """Every planned route of a fabric, and those that are short."""
    leaves = [node for node, view in asked.snapshot.views[name].items() if view.device.role == LEAF]
    if not leaves or not asked.expected.routed(name):
        return [], []
    routes = list(dict.fromkeys(asked.expected.routes(name)))
    hops = grouped(
        ((name_of(row["Node"]), row["VRF"], row["Network"]), str((row.get("Next_Hop") or {}).get("ip", "")))
        for row in asked.routes(leaves)
    )
    routers = {
        (node, external.peer_address): f"{external.peer} ({external.peer_address})"
        for node, view in asked.snapshot.views[name].items()
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
    expecting, lacking = _leaves_by_route(routes), _leaves_by_route(one.route for one in short)
    elsewhere = _targets(
        one.route for one in short if len(expecting[_key(one.route)]) < 2 or not _all(one, lacking, expecting)
    )
    guilty: dict[tuple[str, str, bool], list[Shortfall]] = {}
    underlay: set[str] = set()
    for one in sorted(short, key=lambda one: one.route.vrf != DEFAULT):
        route, target = one.route, one.route.to.lower()
        ends = {route.device, target} & underlay
        if route.vrf != DEFAULT and len(ends) == 1:
            switch = ends.pop()
            guilty.setdefault((switch, DEFAULT, (switch, DEFAULT, True) in guilty), []).append(one)
            continue
        origin = _all(one, lacking, expecting)
        if len(expecting[_key(route)]) == 1:  # one device expects it: the one that lacks other routes too is at fault
            origin = elsewhere[route.device] <= {route.to}
        switch = target if origin else route.device
        guilty.setdefault((switch, route.vrf, origin), []).append(one)
        if route.vrf == DEFAULT:
            underlay.add(switch)
    return [Blame(*key, tuple(wrong)) for key, wrong in guilty.items()]


Key = tuple[str, str, str]  # table, prefix, the switch that it is of


def _key(route: Route) -> Key:
    return route.vrf, route.prefix, route.to


def _all(one: Shortfall, lacking: Mapping[Key, set[str]], expecting: Mapping[Key, set[str]]) -> bool:
    """Whether no leaf has a route as planned."""
    return lacking[_key(one.route)] == expecting[_key(one.route)]


def _leaves_by_route(routes: Iterable[Route]) -> Mapping[Key, set[str]]:
    return grouped_sets((_key(route), route.device) for route in routes)


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

    def judged(self, asked: Asked) -> Judged:
        routes = [route for name in asked.snapshot.views for route in asked.expected.planned_routes(name)]
        return Judged(sum(route.judged for route in routes), len(routes), "route")

    def check(self, asked: Asked) -> Iterator[Finding]:
        for name in asked.snapshot.views:
            for blame in blamed(*shortfalls(asked, name)):
                message = _owed(blame) if blame.origin else _lacked(blame)
                file, line = asked.block(blame.switch, blame.vrf)
                yield from self.at_line(asked, blame.switch, file, line, _where(blame.vrf) + message)


def _where(vrf: str) -> str:
    return "" if vrf == DEFAULT else f"VRF {vrf}: "


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
        f"{listed(leaves, NAMED)}"
    )


def _one(short: Shortfall, destination: str) -> str:
    if not short.got:
        return f"no route {destination}"
    outside = f", of which outside: {listed(short.outside)}" if short.outside else ""
    return f"expected {plural(short.route.hops, 'next hop')} {destination}, got {short.got}{outside}"


def _more(blame: Blame) -> str:
    count = len({(one.route.vrf, one.route.prefix) for one in blame.short}) - 1
    return f" ({count} more {'routes differ' if count > 1 else 'route differs'})" if count else ""
