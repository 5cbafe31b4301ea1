"""Packets: what must get through between leaves and servers, tenants apart, a spine down, no loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address, ip_interface, ip_network

from fabric.audit.checks import ERROR, Finding
from fabric.audit.checks.batfish.checks import (
    Analysis,
    BatfishCheck,
    FileAnalysis,
    Judged,
    isolated,
    name_of,
    places_of,
    servers,
    tenants_of,
)
from fabric.audit.checks.batfish.client import Row, Rows
from fabric.audit.checks.batfish.expect import TenantLeaf, merged
from fabric.audit.checks.batfish.routing import blamed, shortfalls
from fabric.base.grouping import grouped
from fabric.base.text import plural
from fabric.model.plan import LEAF, SPINE, SwitchView

# --- delivery -------------------------------------------------------------------------------------------------
# Reachability: packets between the leaves of a fabric, and between the servers of one tenant.
#
# Checks of loss and isolation also pass in a network that carries no packets, so these come first.


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

    def judged(self, analysis: Analysis) -> Judged:
        joined = [name for name in analysis.snapshot.views if _several_leaves(analysis, name)]
        return Judged(
            sum(crossing(analysis, name) is not None for name in joined),
            len(joined),
            "fabric with several leaves",
            "fabrics with several leaves",
        )

    def check(self, analysis: Analysis) -> Iterator[Finding]:
        for name in analysis.snapshot.views:
            pair = crossing(analysis, name)
            if pair and not crosses(analysis, name):
                leaf, other = pair
                start, end = (view.loopback.partition("/")[0] for view in pair)
                example = f"from {start} to {end} on {other.device.name}"
                message = f"no packet from any leaf arrives at another leaf, for example {example}"
                yield from self.at_switch(
                    analysis, leaf.device.name.lower(), message, *analysis.process(leaf.device.name.lower())
                )


def _several_leaves(analysis: Analysis, fabric: str) -> bool:
    views = analysis.snapshot.views[fabric].values()
    return sum(view.device.role == LEAF and bool(view.sessions) for view in views) > 1


def crossing(analysis: Analysis, fabric: str) -> tuple[SwitchView, SwitchView] | None:
    """Two leaves of a fabric that the plan joins over other switches; None where there are none, or Batfish sends nothing."""
    paths = analysis.expected.paths(fabric)
    leaves = [view for view in analysis.snapshot.views[fabric].values() if view.device.role == LEAF]
    pairs = ((one, other) for one in leaves for other in leaves if one is not other)
    return next((pair for pair in pairs if paths.crosses(*pair)), None)


def crosses(analysis: Analysis, fabric: str) -> bool:
    """Whether a packet of some leaf gets to the loopback of another one; true where the plan joins no leaves."""
    if crossing(analysis, fabric) is None:
        return analysis.expected.forwards(fabric)
    leaves = {node: view.loopback for node, view in analysis.snapshot.views[fabric].items() if view.device.role == LEAF}
    loopbacks = merged(leaves.values())
    rows = analysis.answers.reachability(f"/^({'|'.join(leaves)})$/[@connectedTo({loopbacks})]", loopbacks, loopbacks)
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

    def judged(self, analysis: Analysis) -> Judged:
        pairs = []
        for name, views in analysis.snapshot.views.items():
            paths, shown = analysis.expected.paths(name), set(analysis.expected.places)
            planned = [place for place in analysis.expected.planned_places if place.fabric == name]
            for place, other in ((place, other) for place in planned for other in planned if place.tenant == other.tenant):
                a, b = views[place.device], views[other.device]
                if a is b or paths.plans(a, b):
                    pairs.append({place, other} <= shown and paths.passes(a, b, place.tenant))
        return Judged(
            sum(pairs), len(pairs), "pair of leaves with servers of a tenant", "pairs of leaves with servers of a tenant"
        )

    def check(self, analysis: Analysis) -> Iterator[Finding]:
        for name in analysis.snapshot.views:
            reported = bool(shortfalls(analysis, name)[1])
            for tenant in tenants_of(analysis, name):
                for places in groups(analysis, name, tenant):
                    yield from self._lost(analysis, tenant, places, reported)

    def _lost(self, analysis: Analysis, tenant: str, places: list[TenantLeaf], reported: bool) -> Iterator[Finding]:
        """`reported`: FAB306 says already that routes are missing."""
        hosts = host_ranges(place_subnets(places), gateways(analysis, places))
        rows = analysis.answers.lost(servers(places), hosts, hosts)
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
            yield from self.at_switch(analysis, node, message, *_filter(traces[0]), *analysis.process(node))


def groups(analysis: Analysis, fabric: str, tenant: str) -> Iterator[list[TenantLeaf]]:
    """The places of a tenant that the plan joins and that Batfish sees joined, all with each other."""
    left = places_of(analysis, fabric, tenant)
    views, paths = analysis.snapshot.views[fabric], analysis.expected.paths(fabric)
    while left:
        group = [left.pop(0)]
        for other in list(left):
            if all(paths.passes(views[member.device], views[other.device], tenant) for member in group):
                group.append(other)
                left.remove(other)
        yield group


def place_subnets(places: Iterable[TenantLeaf]) -> list[str]:
    """Subnets of all places, sorted."""
    return sorted({net for place in places for net in place.subnets})


def gateways(analysis: Analysis, places: Iterable[TenantLeaf]) -> set[str]:
    """The switches' own addresses in the subnets: what answers there is the switch, not a server."""
    views = [view for fabric in {place.fabric for place in places} for view in analysis.snapshot.views[fabric].values()]
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


# --- tenants, a spine down, loops -----------------------------------------------------------------------------

MOST_SPINES = 8  # spines whose failure is simulated, each with a data plane


class Isolation(BatfishCheck):
    """Searches for packets from servers of one tenant that arrive at servers of another.

    Tenants that share switches must be isolated unless the intent connects them. Batfish evaluates all possible packets
    through VRFs and filters, not a sample.
    """

    id = "FAB307"
    title = "Tenants do not reach each other"
    severity = ERROR
    example = "a server of 'red' on Ethernet1/5 reaches 10.2.0.7 of 'blue'"
    remediation = "check the VRF of the ports, the imported route targets and the filters on the path"

    def judged(self, analysis: Analysis) -> Judged:
        pairs = [judged for name in analysis.snapshot.views for _, _, judged in isolated(analysis, name)]
        return Judged(
            sum(pairs),
            len(pairs),
            "pair of leaves with servers of two tenants",
            "pairs of leaves with servers of two tenants",
        )

    def check(self, analysis: Analysis) -> Iterator[Finding]:
        for name in analysis.snapshot.views:
            pairs = grouped((one.tenant, (one, other)) for one, other, judged in isolated(analysis, name) if judged)
            for tenant in sorted(pairs):
                yield from self._from(analysis, tenant, pairs[tenant])

    def _from(self, analysis: Analysis, tenant: str, pairs: list[tuple[TenantLeaf, TenantLeaf]]) -> Iterator[Finding]:
        members = list(dict.fromkeys(place for place, _ in pairs))
        mine = {net for place in members for net in place.subnets}
        others = {net: place.tenant for _, place in pairs for net in place.subnets if net not in mine}
        if not others:
            return
        rows = analysis.answers.reachability(servers(members), merged(mine), merged(others))
        reported = set()
        for flow in (row["Flow"] for row in rows):
            node, target = flow["ingressNode"], _tenant_of(flow["dstIp"], others)
            if (node, target) not in reported:
                reported.add((node, target))
                message = f"a server of '{tenant}' on {flow['ingressInterface']} reaches {flow['dstIp']} of '{target}'"
                yield from self.at_switch(analysis, node, message, flow["ingressInterface"])


def _tenant_of(address: str, nets: dict[str, str]) -> str:
    return next((tenant for net, tenant in nets.items() if ip_address(address) in ip_network(net)), "another")


class WithoutSpine(BatfishCheck):
    """Removes each spine in turn and compares the packets that arrive.

    A Clos fabric must survive the loss of a spine: every packet that arrived before must still arrive, between servers
    and between the loopbacks of leaves, where tunnels start. The finding is on the leaf that does not use the other spines,
    where the lost packets show one; on the spine otherwise.
    """

    id = "FAB308"
    title = "No single spine failure interrupts reachability"
    severity = ERROR
    example = "without spine001, 10.0.0.1 on leaf001 does not reach 10.0.0.4"
    remediation = "connect every leaf to at least two spines, and check the routes of the leaf in the message"

    def judged(self, analysis: Analysis) -> Judged:
        spines = {name: len(sample(analysis, name)) for name in analysis.snapshot.views}
        return Judged(sum(spines[name] for name in spines if analysis.expected.forwards(name)), sum(spines.values()), "spine")

    def check(self, analysis: Analysis) -> Iterator[Finding]:
        for name in analysis.snapshot.views:
            if analysis.expected.forwards(name):
                for spine in sample(analysis, name):
                    yield from self._lost(analysis, name, spine)

    def _lost(self, analysis: Analysis, fabric: str, spine: str) -> Iterator[Finding]:
        places = [place for place in analysis.expected.places if place.fabric == fabric]
        views = analysis.snapshot.views[fabric]
        leaves = {node: view.loopback for node, view in views.items() if view.device.role == LEAF}
        start = f"/^({'|'.join(leaves)})$/[@connectedTo({merged(leaves.values())})]"
        start += f", {servers(places)}" if places else ""
        everything = merged([*leaves.values(), *(net for place in places for net in place.subnets)])
        rows = analysis.answers.differential(spine, start, everything, everything)
        owners = {net: node for node, net in leaves.items()}
        owners |= {net: place.device for place in places for net in place.subnets}
        owned = [(row, _owner(row["Flow"]["dstIp"], owners)) for row in rows]
        short = {blame.switch for blame in blamed(*shortfalls(analysis, fabric))} if rows else set()
        for cause, lost in causes(spine, owned, set(leaves.values()), short):
            without = "this spine" if cause == spine else analysis.snapshot.copies[spine].device
            yield from self.at_switch(analysis, cause, f"without {without}, {_example(lost)}", *analysis.process(cause))


def causes(spine: str, lost: list[tuple[Row, str]], loopbacks: set[str], short: set[str]) -> Iterator[tuple[str, Rows]]:
    """(switch, the packets that are lost by its fault); each packet with the leaf that its destination is at.

    A leaf that is an end of all lost packets does not use the other spines; of two such leaves the one with routes that are
    not as planned (`short`). Where none is and packets between loopbacks are lost, the other spines carry none. Where only
    packets of servers are lost, the leaves that these come from do not use the other spines.
    """
    rows = [row for row, _ in lost]
    ends = [{row["Flow"]["ingressNode"], owner} - {""} for row, owner in lost]
    common = set.intersection(*ends) if ends else set()
    common = common & short if len(common) > 1 else common
    if len(common) == 1:
        yield common.pop(), rows
    elif any(not row["Flow"].get("ingressInterface") and f"{row['Flow']['dstIp']}/32" in loopbacks for row in rows):
        yield spine, rows
    else:
        yield from sorted(grouped((row["Flow"]["ingressNode"], row) for row in rows).items())


def _owner(address: str, owners: Mapping[str, str]) -> str:
    """The leaf that an address is at, "" of an unknown one."""
    return next((node for net, node in owners.items() if ip_address(address) in ip_network(net)), "")


def _example(rows: Rows) -> str:
    flow = rows[0]["Flow"]
    places = {(row["Flow"]["ingressNode"], row["Flow"].get("ingressInterface")) for row in rows}
    where = f"{flow['ingressNode']} {flow.get('ingressInterface') or ''}".strip()
    more = f"; packets from {plural(len(places) - 1, 'other interface')} are lost too" if len(places) > 1 else ""
    return f"{flow['srcIp']} on {where} does not reach {flow['dstIp']}{more}"


def sample(analysis: Analysis, fabric: str) -> list[str]:
    """The spines that are taken down: all of them, or as many as `MOST_SPINES` spread over all."""
    spines = [node for node, view in analysis.snapshot.views[fabric].items() if view.device.role == SPINE]
    count = min(len(spines), MOST_SPINES)
    return [spines[place * len(spines) // count] for place in range(count)]


class Loops(BatfishCheck):
    """Searches for packets that return to a switch that they passed before.

    A looping packet circulates until its TTL expires, and loads every link on the loop.
    """

    id = "FAB309"
    title = "There are no forwarding loops"
    severity = ERROR
    example = "leaf001 → spine001 → leaf002 → spine002 → leaf001"
    remediation = "check the routes to the destination on the switches in the message"

    def judged(self, analysis: Analysis) -> Judged:
        forward = [analysis.expected.forwards(name) for name in analysis.snapshot.views]
        return Judged(sum(forward), len(forward), "fabric")

    def check(self, analysis: FileAnalysis) -> Iterator[Finding]:
        for row in analysis.answers.loops():
            flow, hops = row["Flow"], row["Traces"][0]["hops"]
            nodes = " → ".join(name_of(hop["node"]) for hop in hops)
            node, message = (
                flow["ingressNode"],
                f"forwarding loop for packets from {flow['srcIp']} to {flow['dstIp']}: {nodes}",
            )
            yield from self.at_switch(analysis, node, message, *analysis.process(node))
