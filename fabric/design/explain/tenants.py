"""The tenant of a port or an address, and the numbers of a tenant."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

import numpy as np

from fabric.model.plan import CLOSED, Device, ExternalConnection, FabricPlan, NetworkPlan


def tenant(fabric: FabricPlan, name: str) -> list[str]:
    """A tenant: its numbers, and where they come from."""
    tenancy, overlay = fabric.tenancy, fabric.spec.overlay
    index = next((index for index, tenant_plan in enumerate(tenancy.tenants) if tenant_plan.name == name), None)
    if index is None:
        return []
    tenant_plan = tenancy.tenants[index]
    count = int((tenancy.owner == index).sum())
    ports = f"{count:,} {'port' if count == 1 else 'ports'}"
    out = [f"tenant {name} of fabric {fabric.name}: number {tenant_plan.number}, the lowest free number; {ports}"]
    if tenancy.kind == "evpn":
        out.extend(
            (
                f"  VNI {tenant_plan.vni}: {_vni(tenant_plan.vni, overlay.l3vni_base, tenant_plan.number, 'l3vni_base')}",
                f"  route target {overlay.rt_asn}:{tenant_plan.vni}: overlay.rt_asn and the VNI",
            )
        )
    for network in tenant_plan.networks:
        out += _network(fabric, network)
    out += [f"  imports all routes of tenant {source}" for source in tenant_plan.imports]
    out += [f"  imports {', '.join(leak.prefixes)} of tenant {leak.source}" for leak in tenant_plan.leaks]
    routers = dict.fromkeys(connection.name for connection in tenancy.external_connections if connection.tenant == index)
    if routers or tenancy.kind == "vrf-lite":
        out.append(f"  tag {tenant_plan.tag} of subinterfaces: 10 + number")
    return out + [f"  external connection: {router}" for router in routers]


def _network(fabric: FabricPlan, network: NetworkPlan) -> list[str]:
    base = fabric.spec.overlay.l2vni_base
    subnet = f", subnet {ip_address(network.subnet)}/{network.length}" if network.gateway is not None else ""
    vni = _vni(network.vni, base, network.number, "l2vni_base")
    return [f"  network {network.name}: number {network.number}, VLAN {network.vlan}, VNI {network.vni} ({vni}){subnet}"]


def _vni(vni: int, base: int, number: int, key: str) -> str:
    return f"overlay.{key} {base} + {number}" if vni == base + number else "stated"


def port(fabric: FabricPlan, link: int, end: int) -> list[str]:
    """Tenants of a port, from that end of its link; no lines if there are none."""
    tenancy, owner = fabric.tenancy, int(fabric.tenancy.owner[link])
    sliced = [(tenancy.tenants[index], int(first[link])) for index, first in tenancy.slices.items() if first[link] >= 0]
    if sliced:
        return [f"tenant {of.name} on subinterface {of.tag}: {_both(fabric, low, end == 0)}" for of, low in sliced]
    connections = [connection for connection in tenancy.external_connections if connection.link == link]
    if connections:
        return [_connection(fabric, connection, end) for connection in connections]
    if owner == CLOSED:
        return ["unassigned: shut"]
    if owner < 0:
        return []
    tenant_plan, bond = tenancy.tenants[owner], int(tenancy.lag[link])
    vlans = _vlans(tenancy.networks(link))
    given = [
        f"{fabric.devices[int(fabric.links.a[link])].name} has {ip_address(tenancy.hosts[owner, n][link])}/{network.length}"
        f" in {network.name}"
        for n, network in enumerate(tenant_plan.networks)
        if link in tenancy.hosts.get((owner, n), ())
    ]
    return [f"tenant {tenant_plan.name}{vlans}" + (f", bond {bond}" if bond else ""), *given]


def _connection(fabric: FabricPlan, connection: ExternalConnection, end: int) -> str:
    text = f"external connection to AS {connection.asn}"
    if connection.tenant >= 0:
        of = fabric.tenancy.tenants[connection.tenant]
        text += f", tenant {of.name} on subinterface {of.tag}"
    low = int(fabric.subnet[connection.link]) if connection.address is None else connection.address
    return f"{text}: {_both(fabric, low, end == 1)}" if low >= 0 else text


def _both(fabric: FabricPlan, low: int, first: bool) -> str:
    """Both addresses of a point-to-point subnet, the local one first."""
    own, far = (low, low + 1) if first else (low + 1, low)
    return f"{ip_address(own)}/{fabric.subnet_length}, far end {ip_address(far)}"


def number(fabric: FabricPlan, vni: int) -> list[str]:
    """The tenant or network of a VNI."""
    if fabric.tenancy.kind != "evpn":
        return []
    base, out = fabric.spec.overlay, list[str]()
    for of in fabric.tenancy.tenants:
        if of.vni == vni:
            why = _vni(of.vni, base.l3vni_base, of.number, "l3vni_base")
            out.append(f"VNI {vni}: L3 VNI of tenant {of.name} of fabric {fabric.name}: {why}")
        for network in of.networks:
            if network.vni == vni:
                why = _vni(network.vni, base.l2vni_base, network.number, "l2vni_base")
                out.append(f"VNI {vni}: network {network.name} of tenant {of.name} of fabric {fabric.name}: {why}")
    return out


def router(fabric: FabricPlan, asn: int) -> list[str]:
    """External routers with an AS number, and the leaves they are connected to."""
    leaves_of: dict[str, dict[str, None]] = {}
    for connection in fabric.tenancy.external_connections:
        if connection.asn == asn:
            leaves_of.setdefault(connection.name, {})[fabric.devices[int(fabric.links.b[connection.link])].name] = None
    return [
        f"{name}: AS number {asn}: external router, stated; connected to {', '.join(leaves)}"
        for name, leaves in leaves_of.items()
    ]


def _vlans(networks: Sequence[NetworkPlan]) -> str:
    names = ", ".join(f"{network.name} (VLAN {network.vlan})" for network in networks)
    return f", {'networks tagged:' if len(networks) > 1 else 'network'} {names}" if names else ""


def routed(fabric: FabricPlan, link: int) -> bool:
    """Whether the port has the subnet of the link: not in layer-2 networks, nor with subinterfaces."""
    tenancy = fabric.tenancy
    bridged = bool(tenancy.networks(link))
    sliced = any(connection.link == link and connection.address is not None for connection in tenancy.external_connections)
    return fabric.spec.ethernet and not bridged and not sliced


def address(fabric: FabricPlan, wanted: IPv4Address | IPv6Address) -> list[str]:
    """Owners of a tenant address: several where tenants reuse a subnet."""
    return [*_vtep(fabric, int(wanted)), *_in_networks(fabric, int(wanted)), *_on_links(fabric, wanted)]


def _vtep(fabric: FabricPlan, number: int) -> list[str]:
    found = [
        *(("VTEP of", leaf) for leaf, value in fabric.tenancy.vtep.items() if value == number),
        *(("VTEP of a pair:", leaf) for leaf, value in fabric.tenancy.pair_vtep.items() if value == number),
    ]
    return [f"{ip_address(number)}: {what} {fabric.devices[leaf].name}" for what, leaf in found]


def _in_networks(fabric: FabricPlan, number: int) -> list[str]:
    out = []
    for index, tenant_plan in enumerate(fabric.tenancy.tenants):
        for n, network in enumerate(tenant_plan.networks):
            of = f"network {network.name} of tenant {tenant_plan.name}"
            if network.gateway == number:
                out.append(f"{ip_address(number)}: anycast gateway of {of}, on every leaf with this network")
            out += [
                f"{ip_address(number)}: reserved for {leaf.name} in {of}: some network OSes need an address per leaf "
                "beside the gateway"
                for leaf in _leaves(fabric, index)
                if network.gateway is not None and network.own_address(leaf.number) == number
            ]
            given = fabric.tenancy.hosts.get((index, n), {})
            servers = dict.fromkeys(fabric.devices[int(fabric.links.a[k])].name for k, v in given.items() if v == number)
            out += [f"{ip_address(number)}: {server} in {of}" for server in servers]
    return out


def _leaves(fabric: FabricPlan, tenant: int) -> list[Device]:
    """Leaves with ports of a tenant."""
    mine = fabric.tenancy.owner == tenant
    return [fabric.devices[index] for index in np.unique(fabric.links.b[mine]).tolist()]


def _on_links(fabric: FabricPlan, searched: IPv4Address | IPv6Address) -> list[str]:
    """Subinterfaces of links between switches and of external connections."""
    if (searched.version == 6) != (fabric.subnet_length == 127):
        return []
    number, tenants = int(searched), fabric.tenancy.tenants
    ends = (number - number % 2, number)
    uses = [
        (link, tenants[index])
        for index, first in fabric.tenancy.slices.items()
        for link, low in enumerate(first.tolist())
        if low in ends and low >= 0
    ]
    uses += [
        (connection.link, tenants[connection.tenant])
        for connection in fabric.tenancy.external_connections
        if connection.address in ends
    ]
    return [
        f"{searched}: one end of subinterface {of.tag}, tenant {of.name}, between "
        f"{fabric.devices[int(fabric.links.a[link])].name} and {fabric.devices[int(fabric.links.b[link])].name}"
        for link, of in uses
    ]
