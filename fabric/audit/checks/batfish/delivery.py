"""What must get through: packets between the leaves of a fabric, and between the servers of one tenant.

A check that nothing is lost or let out where it should not says nothing about a network in which no packet moves. So these
come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_interface, ip_network

from fabric.audit.checks import ERROR, Finding
from fabric.audit.checks.batfish.checks import Asked, BatfishCheck, Judged, name_of
from fabric.audit.checks.batfish.client import Row
from fabric.audit.checks.batfish.expect import Place, merged
from fabric.audit.checks.batfish.places import places_of, servers, tenants_of
from fabric.audit.checks.batfish.routes import shortfalls
from fabric.base.text import plural
from fabric.model.plan import LEAF, SwitchView


class Crossing(BatfishCheck):
    """Searches for one packet from a leaf to the loopback of another.

    FAB307 to FAB309 look for faults among the packets that cross the fabric. If no packet does, they have no data, and
    the absence of findings is no pass.
    """

    id = "FAB311"
    title = "Packets from a leaf reach another leaf"
    severity = ERROR
    example = "no packet from 10.0.0.1 on leaf001 arrives at 10.0.0.4 on leaf004"
    remediation = "fix the findings about sessions and routes first (FAB305, FAB306)"

    def judged(self, asked: Asked) -> Judged:
        joined = [name for name in asked.snapshot.views if _several_leaves(asked, name)]
        return Judged(
            sum(crossing(asked, name) is not None for name in joined),
            len(joined),
            "fabric with several leaves",
            "fabrics with several leaves",
        )

    def check(self, asked: Asked) -> Iterator[Finding]:
        for name in asked.snapshot.views:
            pair = crossing(asked, name)
            if pair and not crosses(asked, name):
                one, other = pair
                start, end = (view.loopback.partition("/")[0] for view in pair)
                example = f"from {start} to {end} on {other.device.name}"
                message = f"no packet from any leaf arrives at another leaf, for example {example}"
                yield from self.at_switch(asked, one.device.name.lower(), message, *asked.process(one.device.name.lower()))


def _several_leaves(asked: Asked, fabric: str) -> bool:
    views = asked.snapshot.views[fabric].values()
    return sum(view.device.role == LEAF and bool(view.sessions) for view in views) > 1


def crossing(asked: Asked, fabric: str) -> tuple[SwitchView, SwitchView] | None:
    """Two leaves of a fabric that the plan joins over other switches; None where there are none, or Batfish sends nothing."""
    paths = asked.expected.paths(fabric)
    leaves = [view for view in asked.snapshot.views[fabric].values() if view.device.role == LEAF]
    pairs = ((one, other) for one in leaves for other in leaves if one is not other)
    return next((pair for pair in pairs if paths.crosses(*pair)), None)


def crosses(asked: Asked, fabric: str) -> bool:
    """Whether a packet of some leaf gets to the loopback of another one; true where the plan joins no leaves."""
    if crossing(asked, fabric) is None:
        return asked.expected.forwards(fabric)
    leaves = {node: view.loopback for node, view in asked.snapshot.views[fabric].items() if view.device.role == LEAF}
    loopbacks = merged(leaves.values())
    rows = asked.answers.reachability(f"/^({'|'.join(leaves)})$/[@connectedTo({loopbacks})]", loopbacks, loopbacks)
    return any(len({name_of(hop["node"]) for hop in row["Traces"][0]["hops"]}) > 1 for row in rows)


class Delivered(BatfishCheck):
    """Searches for packets between servers of one tenant that are dropped.

    A filter that denies its own tenant, or a VRF without one of its subnets, passes every isolation test. Reachability
    between all subnets of a tenant is tested separately.
    """

    id = "FAB310"
    title = "All servers of a tenant reach each other"
    severity = ERROR
    example = "10.1.0.5 of 'red' on leaf001 does not reach 10.1.4.5: leaf003 drops the packet (denied in)"
    remediation = "check the filter and the routes of the switch that drops the packet"

    def judged(self, asked: Asked) -> Judged:
        found = []
        for name, views in asked.snapshot.views.items():
            paths, seen = asked.expected.paths(name), set(asked.expected.places)
            planned = [place for place in asked.expected.planned_places if place.fabric == name]
            for one, other in ((one, other) for one in planned for other in planned if one.tenant == other.tenant):
                a, b = views[one.device], views[other.device]
                if a is b or paths.plans(a, b):
                    found.append({one, other} <= seen and paths.passes(a, b, one.tenant))
        return Judged(
            sum(found), len(found), "pair of leaves with servers of a tenant", "pairs of leaves with servers of a tenant"
        )

    def check(self, asked: Asked) -> Iterator[Finding]:
        for name in asked.snapshot.views:
            reported = bool(shortfalls(asked, name)[1])
            for tenant in tenants_of(asked, name):
                for places in groups(asked, name, tenant):
                    yield from self._lost(asked, tenant, places, reported)

    def _lost(self, asked: Asked, tenant: str, places: list[Place], reported: bool) -> Iterator[Finding]:
        """`reported`: FAB306 says already that routes are missing."""
        hosts = host_ranges(place_subnets(places), gateways(asked, places))
        rows = asked.answers.lost(servers(places), hosts, hosts)
        dropped: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            trace = row["Traces"][0]
            if reported and trace["disposition"] == "NO_ROUTE":
                continue
            dropped.setdefault((name_of(trace["hops"][-1]["node"]), trace["disposition"]), []).append(row)
        for (node, disposition), traces in sorted(dropped.items()):
            flow = traces[0]["Flow"]
            whose = f"of '{tenant}' " if tenant else ""
            start = f"{flow['srcIp']} {whose}on {flow['ingressNode']} {flow.get('ingressInterface') or ''}".strip()
            words = f"drops the packet ({disposition.replace('_', ' ').lower()})"
            message = f"{start} does not reach {flow['dstIp']}: {node} {words}"
            message += f"; also from {plural(len(traces) - 1, 'other interface')}" if len(traces) > 1 else ""
            yield from self.at_switch(asked, node, message, *_filter(traces[0]), *asked.process(node))


def groups(asked: Asked, fabric: str, tenant: str) -> Iterator[list[Place]]:
    """The places of a tenant that the plan joins and that Batfish sees joined, all with each other."""
    left = places_of(asked, fabric, tenant)
    views, paths = asked.snapshot.views[fabric], asked.expected.paths(fabric)
    while left:
        group = [left.pop(0)]
        for other in list(left):
            if all(paths.passes(views[one.device], views[other.device], tenant) for one in group):
                group.append(other)
                left.remove(other)
        yield group


def place_subnets(places: Iterable[Place]) -> list[str]:
    """Subnets of all places, sorted."""
    return sorted({net for place in places for net in place.subnets})


def gateways(asked: Asked, places: Iterable[Place]) -> set[str]:
    """The switches' own addresses in the subnets: what answers there is the switch, not a server."""
    views = [view for fabric in {place.fabric for place in places} for view in asked.snapshot.views[fabric].values()]
    texts = [port.address for view in views for port in view.ports if port.address]
    texts += [text for view in views for network in view.networks for text in (network.gateway, network.own_address) if text]
    return {str(ip_interface(text).ip) for text in texts}


def host_ranges(subnets: Iterable[str], without: set[str]) -> str:
    """The addresses of servers in subnets, as Batfish takes them: ranges, without those of switches and broadcasts."""
    spaces = []
    for subnet in subnets:
        net = ip_network(subnet)
        own = sorted(address for address in without if ip_interface(address).ip in net)
        taken = [*own, *([str(net[0]), str(net[-1])] if net.prefixlen < 31 else [])]
        spaces.append(f"({net} \\ ({', '.join(dict.fromkeys(taken))}))" if taken else str(net))
    return ", ".join(spaces)


def _filter(row: Row) -> Iterator[str]:
    """The head of the filter that drops a packet, as files write it."""
    for step in row["Traces"][0]["hops"][-1].get("steps", ()):
        name = (step.get("detail") or {}).get("filter")
        if name:
            yield from (f"ip access-list {name}", f"filter {name}", name)
