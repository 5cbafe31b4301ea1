"""Reachability of packets: between tenants, with a spine down; forwarding loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address, ip_network

from fabric.audit.checks import ERROR, Finding
from fabric.audit.checks.batfish.checks import Asked, BatfishCheck, Judged, name_of
from fabric.audit.checks.batfish.client import Row, Rows
from fabric.audit.checks.batfish.expect import Place, merged
from fabric.audit.checks.batfish.places import isolated, servers
from fabric.audit.checks.batfish.routes import blamed, shortfalls
from fabric.base.grouping import grouped
from fabric.base.text import plural
from fabric.model.plan import LEAF, SPINE

MOST_SPINES = 8  # that are taken down one after another, each for a data plane of its own


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

    def judged(self, asked: Asked) -> Judged:
        pairs = [judged for name in asked.snapshot.views for _, _, judged in isolated(asked, name)]
        return Judged(
            sum(pairs),
            len(pairs),
            "pair of leaves with servers of two tenants",
            "pairs of leaves with servers of two tenants",
        )

    def check(self, asked: Asked) -> Iterator[Finding]:
        for name in asked.snapshot.views:
            pairs = grouped((one.tenant, (one, other)) for one, other, judged in isolated(asked, name) if judged)
            for tenant in sorted(pairs):
                yield from self._from(asked, tenant, pairs[tenant])

    def _from(self, asked: Asked, tenant: str, pairs: list[tuple[Place, Place]]) -> Iterator[Finding]:
        members = list(dict.fromkeys(one for one, _ in pairs))
        mine = {net for place in members for net in place.subnets}
        others = {net: place.tenant for _, place in pairs for net in place.subnets if net not in mine}
        if not others:
            return
        rows = asked.answers.reachability(servers(members), merged(mine), merged(others))
        seen = set()
        for flow in (row["Flow"] for row in rows):
            node, target = flow["ingressNode"], _tenant_of(flow["dstIp"], others)
            if (node, target) not in seen:
                seen.add((node, target))
                message = f"a server of '{tenant}' on {flow['ingressInterface']} reaches {flow['dstIp']} of '{target}'"
                yield from self.at_switch(asked, node, message, flow["ingressInterface"])


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

    def judged(self, asked: Asked) -> Judged:
        spines = {name: len(sample(asked, name)) for name in asked.snapshot.views}
        return Judged(sum(spines[name] for name in spines if asked.expected.forwards(name)), sum(spines.values()), "spine")

    def check(self, asked: Asked) -> Iterator[Finding]:
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
        owners = {net: node for node, net in leaves.items()}
        owners |= {net: place.device for place in places for net in place.subnets}
        found = [(row, _owner(row["Flow"]["dstIp"], owners)) for row in rows]
        short = {blame.switch for blame in blamed(*shortfalls(asked, fabric))} if rows else set()
        for cause, lost in causes(spine, found, set(leaves.values()), short):
            without = "this spine" if cause == spine else asked.snapshot.copies[spine].device
            yield from self.at_switch(asked, cause, f"without {without}, {_example(lost)}", *asked.process(cause))


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


def sample(asked: Asked, fabric: str) -> list[str]:
    """The spines that are taken down: all of them, or as many as `MOST_SPINES` spread over all."""
    spines = [node for node, view in asked.snapshot.views[fabric].items() if view.device.role == SPINE]
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

    def judged(self, asked: Asked) -> Judged:
        forward = [asked.expected.forwards(name) for name in asked.snapshot.views]
        return Judged(sum(forward), len(forward), "fabric")

    def check(self, asked: Asked) -> Iterator[Finding]:
        for row in asked.answers.loops():
            flow, hops = row["Flow"], row["Traces"][0]["hops"]
            nodes = " → ".join(name_of(hop["node"]) for hop in hops)
            node, message = (
                flow["ingressNode"],
                f"forwarding loop for packets from {flow['srcIp']} to {flow['dstIp']}: {nodes}",
            )
            yield from self.at_switch(asked, node, message, *asked.process(node))
