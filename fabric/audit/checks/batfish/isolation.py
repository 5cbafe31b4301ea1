"""Has a tenant routes that it must not have?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_network

from fabric.audit.checks import ERROR, Finding
from fabric.audit.checks.batfish.checks import Asked, BatfishCheck, Judged, name_of
from fabric.audit.checks.batfish.expect import subnets
from fabric.audit.checks.batfish.visibility import sees, vrf_name
from fabric.base.grouping import grouped_sets
from fabric.base.text import listed
from fabric.model.plan import LEAF, SwitchView
from fabric.nos.batfish import VRF

NAMED = 3  # prefixes that a finding names


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

    def judged(self, asked: Asked) -> Judged:
        tables = [sees(view.device.nos, VRF) for view in _leaves(asked) for _ in view.vrfs]
        return Judged(sum(tables), len(tables), "routing table of a tenant", "routing tables of tenants")

    def check(self, asked: Asked) -> Iterator[Finding]:
        for name, views in asked.snapshot.views.items():
            leaves = {node: view for node, view in views.items() if view.device.role == LEAF}
            tables = [(view, vrf.name) for view in leaves.values() for vrf in view.vrfs]
            owners = grouped_sets((net, tenant) for view, tenant in tables for net in subnets(view, tenant))
            if owners and asked.expected.routed(name):
                imports = {one.name: {one.name, *one.imports} for one in asked.snapshot.plan.fabrics[name].tenancy.tenants}
                yield from self._tables(asked, leaves, owners, imports)

    def _tables(
        self, asked: Asked, leaves: Mapping[str, SwitchView], owners: Mapping[str, set[str]], imports: Mapping[str, set[str]]
    ) -> Iterator[Finding]:
        """`owners`: server subnet → its tenants; `imports`: tenant → those whose routes it may have."""
        lengths = sorted({int(net.rpartition("/")[2]) for net in owners})
        wrong: dict[tuple[str, str, str], list[str]] = {}
        for row in asked.routes(list(leaves)):
            node, network = name_of(row["Node"]), ip_network(row["Network"])
            tenant = _tenant(leaves[node], row["VRF"]) if node in leaves else None
            around = (str(network.supernet(new_prefix=length)) for length in lengths if length <= network.prefixlen)
            found = {owner for net in around for owner in owners.get(net, ())}
            if tenant is not None and found and not found & imports.get(tenant, set()):
                wrong.setdefault((node, tenant, min(found)), []).append(row["Network"])
        for (node, tenant, owner), networks in sorted(wrong.items()):
            shown = listed(list(dict.fromkeys(networks)), NAMED)
            message = f"{f'VRF {tenant}' if tenant else 'default table'}: routes to {shown} of '{owner}'"
            yield from self.at_line(asked, node, *asked.block(node, vrf_name(leaves[node].device.nos, tenant)), message)


def _leaves(asked: Asked) -> Iterator[SwitchView]:
    return (view for views in asked.snapshot.views.values() for view in views.values() if view.device.role == LEAF)


def _tenant(view: SwitchView, table: str) -> str | None:
    """The tenant of a table as Batfish names it, "" of the default one; None of a table that the plan does not have."""
    tables = {vrf_name(view.device.nos, vrf.name): vrf.name for vrf in view.vrfs}
    return "" if table == "default" else tables.get(table)
