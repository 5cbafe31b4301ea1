"""The boards' controllers (BMCs) on an out-of-band fabric: the address, gateway and VLAN that each must be given.

The host's own operating system has no say over that port, so no file of the host can carry them.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabric.export.port_names import PortNames
from fabric.hosts.facts import Vlan, server_links
from fabric.hosts.view import BMC
from fabric.plan.plan import Plan

CONTROLLER_COLUMNS = ("server", "port", "fabric", "switch", "switch_port", "address", "gateway", "vlan", "tenant", "shut")


def controllers(plan: Plan) -> Iterator[tuple[object, ...]]:
    """Every port of a controller, by fabric and server. `vlan` is what the port itself must tag."""
    for fabric in plan.fabrics.values():
        groups = {group.name for group in fabric.spec.groups if group.nics == BMC}
        if not groups or not fabric.spec.ethernet:
            continue
        names, links, tenancy = PortNames(fabric), fabric.links, fabric.tenancy
        place = dict(
            zip(
                zip(links.a.tolist(), links.a_cage.tolist(), links.a_sub.tolist(), strict=True),
                range(len(links)),
                strict=True,
            )
        )
        for port in server_links(fabric):
            server, leaf = fabric.devices[port.server], fabric.devices[port.leaf]
            if server.group not in groups:
                continue
            link = place[port.server, port.nic, port.port]
            label = names.label(server, names.ref(link, "a"))
            switch_port = names.own(leaf, names.ref(link, "b"))
            owner = int(tenancy.owner[link])
            tenant = tenancy.tenants[owner].name if owner >= 0 else ""
            for vlan in port.tagged or (Vlan(0, port.address, port.gateway),):
                yield (
                    *(server.name, label, fabric.name, leaf.name, switch_port, vlan.address or "", vlan.gateway or ""),
                    *(vlan.tag or "", tenant, "yes" if port.closed else ""),
                )
