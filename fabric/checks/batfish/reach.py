"""Where packets get to: between tenants, with a spine down, and round in circles."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from fabric.checks import ERROR, Finding
from fabric.checks.batfish.ask import Rows
from fabric.checks.batfish.checks import Asked, BatfishCheck, name_of
from fabric.checks.batfish.expect import Place, merged
from fabric.checks.batfish.places import isolates, servers
from fabric.plan import LEAF, SPINE
from fabric.text import plural

MOST_SPINES = 8  # that are taken down one after another, each for a data plane of its own


class Isolation(BatfishCheck):
    """Tenants that share switches must not reach each other unless the intent lets them. Batfish looks at every packet that a
    server of one may send to a server of another, through tables and filters, not only at a few."""

    id = "FAB307"
    title = "No tenant reaches another one"
    severity = ERROR
    remediation = "look at the VRF of the ports, the imported route targets and the filters on the way"

    def judge(self, asked: Asked) -> Iterator[Finding]:
        for name in asked.snapshot.views:
            places = [place for place in asked.expected.places if place.fabric == name and place.tenant]
            if isolates(asked, name):
                for tenant in sorted({place.tenant for place in places}):
                    yield from self._from(asked, name, tenant, places)

    def _from(self, asked: Asked, fabric: str, tenant: str, places: list[Place]) -> Iterator[Finding]:
        own = [place for place in places if place.tenant == tenant]
        mine = {net for place in own for net in place.subnets}
        open_to = _let_in(asked, fabric, tenant)
        others = {
            net: place.tenant for place in places if place.tenant not in open_to for net in place.subnets if net not in mine
        }
        if not others:
            return
        rows = asked.answers.reachability(servers(own), merged(mine), merged(others))
        seen = set()
        for flow in (row["Flow"] for row in rows):
            node, target = flow["ingressNode"], _tenant_of(flow["dstIp"], others)
            if (node, target) not in seen:
                seen.add((node, target))
                message = f"a server of '{tenant}' on {flow['ingressInterface']} reaches {flow['dstIp']} of '{target}'"
                yield from self.at_switch(asked, node, message, flow["ingressInterface"])


def _let_in(asked: Asked, fabric: str, tenant: str) -> set[str]:
    """Tenants that the intent joins with this one, in either direction, and itself."""
    tenants = asked.snapshot.plan.fabrics[fabric].tenancy.tenants
    imports = {one.name: set(one.imports) for one in tenants}
    return {tenant, *imports.get(tenant, ())} | {name for name, wanted in imports.items() if tenant in wanted}


def _tenant_of(address: str, nets: dict[str, str]) -> str:
    return next((tenant for net, tenant in nets.items() if ip_address(address) in ip_network(net)), "another")


class WithoutSpine(BatfishCheck):
    """A Clos fabric is bought so that a spine may fail. Each is taken down in turn, and every packet that got through before
    must still get through: between servers, and between the loopbacks of the leaves that carry the tunnels."""

    id = "FAB308"
    title = "Nothing is cut off when any one spine is down"
    severity = ERROR
    remediation = "give every leaf links to two spines, and look at the routes of the leaf that is named"

    def judge(self, asked: Asked) -> Iterator[Finding]:
        for name in asked.snapshot.views:
            if asked.expected.forwards(name):
                for spine in sample(asked, name):
                    yield from self._lost(asked, name, spine)

    def _lost(self, asked: Asked, fabric: str, spine: str) -> Iterator[Finding]:
        places = [place for place in asked.expected.places if place.fabric == fabric]
        views = asked.snapshot.views[fabric]
        leaves = {node: view.loopback for node, view in views.items() if view.device.role == LEAF}
        start = f"/^({'|'.join(leaves)})$/[@connectedTo({merged(leaves.values())})]"
        start += f", {servers(places)}" if places else ""
        everything = merged([*leaves.values(), *(net for place in places for net in place.subnets)])
        rows = asked.answers.differential(spine, start, everything, everything)
        if rows:
            yield from self.at_switch(asked, spine, f"without it {_example(rows)}", *asked.process(spine))


def _example(rows: Rows) -> str:
    flow = rows[0]["Flow"]
    places = {(row["Flow"]["ingressNode"], row["Flow"].get("ingressInterface")) for row in rows}
    where = f"{flow['ingressNode']} {flow.get('ingressInterface') or ''}".strip()
    more = f"; packets from {plural(len(places) - 1, 'other place')} are lost as well" if len(places) > 1 else ""
    return f"{flow['srcIp']} at {where} does not reach {flow['dstIp']}{more}"


def sample(asked: Asked, fabric: str) -> list[str]:
    """The spines that are taken down: all of them, or as many as `MOST_SPINES` spread over all."""
    spines = [node for node, view in asked.snapshot.views[fabric].items() if view.device.role == SPINE]
    count = min(len(spines), MOST_SPINES)
    return [spines[place * len(spines) // count] for place in range(count)]


class Loops(BatfishCheck):
    """A packet that comes back to where it was stays in the fabric until its hop count is used up, at the cost of every link
    that it circles over."""

    id = "FAB309"
    title = "No forwarding loops"
    severity = ERROR
    remediation = "look at the routes of the switches that are named"

    def judge(self, asked: Asked) -> Iterator[Finding]:
        for row in asked.answers.loops():
            flow, hops = row["Flow"], row["Traces"][0]["hops"]
            nodes = " → ".join(name_of(hop["node"]) for hop in hops)
            node, message = flow["ingressNode"], f"{flow['srcIp']} to {flow['dstIp']} goes round: {nodes}"
            yield from self.at_switch(asked, node, message, *asked.process(node))
