"""Subnets of InfiniBand fabrics: routing engines, credit loops, tenants."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.checks import ERROR, NOTE, WARNING, Design, Finding
from fabric.audit.checks.design.base import FabricCheck
from fabric.base.text import listed
from fabric.model.plan.subnets import Subnet, of_fabric, usual_engines
from fabric.solver.infiniband.engines import routed
from fabric.solver.infiniband.fat_tree import why_no_tree
from fabric.solver.infiniband.subnet_graph import SubnetGraph, graph_of

# Up/down, its reverse and fat-tree routing never turn from down to up; the others below break cycles by lanes (opensm(8)).
LOOP_FREE = ("ftree", "updn", "dnup", "dfsssp", "nue", "lash")


class SubnetCheck(FabricCheck):
    """A check of InfiniBand fabrics."""

    infiniband = True

    def applies(self, design: Design) -> bool:
        spec = design.fabric.spec
        return not spec.ethernet and not spec.switchless


class NoCreditLoops(SubnetCheck):
    """Looks for cycles of links in which each waits for the credits of the next, under the routing engine of the fabric.

    InfiniBand is lossless: a packet keeps its buffer until the next switch has room. A cycle of full buffers never empties,
    and the fabric stands still until the subnet manager or a timeout drops packets.
    """

    id = "FAB245"
    title = "The routing engine of a subnet has no credit loops"
    severity = ERROR
    example = "`routing: dor` on leaves that are cabled in a ring"
    remediation = "set `infiniband: {routing: [ftree, updn]}`"

    def check(self, design: Design) -> Iterator[Finding]:
        for subnet in of_fabric(design.fabric):
            engine = _engine(subnet)
            if engine in LOOP_FREE:
                continue
            its = routed(_graph(subnet), [engine], _compute(subnet))
            if its is None:
                text = f"subnet '{subnet.name}': credit loops of `{engine}` are not computed: it suits meshes and tori alone"
                yield self.finding(design, ("infiniband", "routing"), text, severity=WARNING)
            elif loop := its.forwarding.credit_loop():
                links = listed([its.forwarding.link_name(link) for link in loop[:-1]], 4)
                text = f"subnet '{subnet.name}': expected no credit loop under `{engine}`, got {links}"
                yield self.finding(design, ("infiniband", "routing"), text)


class EngineFits(SubnetCheck):
    """Compares the routing engines of a subnet with its shape.

    A subnet manager whose engine cannot route the fabric takes the next one of its list, in the end `minhop`, and reports it
    in its log alone. With three tiers the static tables of `updn` and `minhop` put many routes of a shift on one link.
    """

    id = "FAB246"
    title = "The first routing engine of a subnet can route it"
    severity = WARNING
    else_severity = "note for a static engine on three tiers"
    example = "`routing: ftree` with one switch"
    remediation = "set `infiniband: {routing: […]}` to engines that suit the fabric, or leave it out"

    def check(self, design: Design) -> Iterator[Finding]:
        for subnet in of_fabric(design.fabric):
            engines = design.fabric.spec.infiniband.routing or usual_engines(subnet)
            if engines[0] == "ftree" and (why := why_no_tree(_graph(subnet), _compute(subnet))):
                rest = " and ".join([*engines[1:], "minhop"])
                text = f"subnet '{subnet.name}': expected a fat tree for `ftree`, got {why}: {rest} would be tried next"
                yield self.finding(design, ("infiniband", "routing"), text)
            if engines[0] in ("updn", "minhop") and subnet.tiers == 3:
                text = (
                    f"subnet '{subnet.name}': `{engines[0]}` spreads three tiers unevenly without adaptive routing: "
                    "`fabric capacity` has the loads"
                )
                yield self.finding(
                    design, ("infiniband", "routing"), text, hint="set `routing: [ftree, updn]`", severity=NOTE
                )


class TenantsApart(SubnetCheck):
    """Looks for tenants that serve others and are served themselves.

    Ports reach each other over any P_Key that they have in common. Two tenants that serve each other are one tenant; a tenant
    that serves others and is served itself can pass data from one to the other.
    """

    id = "FAB247"
    title = "A tenant that serves others is served by none"
    severity = WARNING
    example = "`store` serves `red`, and is served by `blue`"
    remediation = "give the shared servers a tenant of their own, without `served_by`"

    def check(self, design: Design) -> Iterator[Finding]:
        tenants = design.fabric.spec.tenants
        serves = {name: tenant.name for tenant in tenants for name in tenant.partition.served_by}
        for at, tenant in enumerate(tenants):
            if tenant.name in serves and tenant.partition.served_by:
                text = (
                    f"tenant '{tenant.name}': expected to serve others or to be served, got both: it serves "
                    f"'{serves[tenant.name]}', and '{tenant.partition.served_by[0]}' serves it"
                )
                yield self.finding(design, ("tenants", at, "partition", "served_by"), text)


def _engine(subnet: Subnet) -> str:
    """The engine that is used."""
    for engine in subnet.fabric.spec.infiniband.routing or usual_engines(subnet):
        if engine != "ftree" or not why_no_tree(_graph(subnet), _compute(subnet)):
            return engine
    return "minhop"


def _graph(subnet: Subnet) -> SubnetGraph:
    """With the switches and ports in the order of the plan: shapes do not depend on it."""
    return graph_of(subnet, range(1, len(subnet.nodes) + 1))


def _compute(subnet: Subnet) -> set[int]:
    return set(subnet.compute)
