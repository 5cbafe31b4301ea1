"""Numbers of a fabric: pools, prefixes, AS numbers, loopbacks, tenants with their VRFs and VNIs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import ip_address

import numpy as np

from fabric.configs.site_files import routed
from fabric.deliver.report.grid import Grid, grid
from fabric.model.plan import ATTACHMENT, CORE, LEAF, LEAF_LEAF, LEAF_SPINE, SERVER_LEAF, SPINE, SPINE_CORE, FabricPlan
from fabric.nos.target import target

_BETWEEN_SWITCHES = (LEAF_LEAF, LEAF_SPINE, SPINE_CORE)


def pools_grid(fabric: FabricPlan) -> Grid:
    """What each pool is for, how large it is, and what configs use of it."""
    rows = [(kind, ", ".join(pools), *_used(values), each) for kind, pools, values, each in _in_use(fabric) if len(values)]
    return grid("Address pools", ("for", "pool", "#in use", "first", "last", "each"), rows)


def _in_use(fabric: FabricPlan) -> Iterator[tuple[str, Sequence[str], list[int], str]]:
    """(what for, pools, first addresses in use, size of each)"""
    switches = np.array([device.index for device in fabric.switches], dtype=np.int64)
    subnet, kind = f"/{fabric.subnet_length}", np.where(routed(fabric), fabric.links.kind, -1)

    def pool(name: str) -> Sequence[str]:
        return fabric.prefixes.get(name, ())

    yield "loopbacks", pool("loopback"), _there(fabric.loopback[switches]), "one address"
    yield "loopbacks, IPv6", pool("loopback6"), _there(fabric.loopback6[switches]), "one address"
    yield "VTEPs", pool("vtep"), sorted({*fabric.tenancy.vtep.values(), *_shared_vteps(fabric)}), "one address"
    yield "links of switches", pool("p2p"), _there(fabric.subnet[np.isin(kind, _BETWEEN_SWITCHES)]), subnet
    yield "subinterfaces of tenants", pool("p2p"), sorted(_subinterfaces(fabric)), subnet
    yield "links of servers", pool("servers"), _there(fabric.subnet[kind == SERVER_LEAF]), subnet
    yield "links of attachments", pool("servers"), _there(fabric.subnet[kind == ATTACHMENT]), subnet
    for (tenant, place), hosts in sorted(fabric.tenancy.hosts.items()):
        network = fabric.tenancy.tenants[tenant].networks[place]
        name = f"servers in {fabric.tenancy.tenants[tenant].name}/{network.name}"
        yield name, (f"{ip_address(network.subnet)}/{network.length}",), sorted(set(hosts.values())), "one address"
    yield "management", pool("management"), _there(fabric.management), "one address"


def _subinterfaces(fabric: FabricPlan) -> set[int]:
    """Subnets of tenants on links between switches (VRF-lite) and to external routers."""
    inside = {int(first) for subnets in fabric.tenancy.slices.values() for first in subnets if first >= 0}
    return inside | {
        connection.address for connection in fabric.tenancy.external_connections if connection.address is not None
    }


def _shared_vteps(fabric: FabricPlan) -> set[int]:
    """Addresses that two leaves answer as one VTEP: those of vPC pairs with a bond. Others have Ethernet segments."""
    bonded = {int(leaf) for leaf in fabric.links.b[fabric.tenancy.lag > 0]}
    return {
        address
        for leaf, address in fabric.tenancy.pair_vtep.items()
        if leaf in bonded and (nos := fabric.devices[leaf].nos) and target(nos).capabilities.multihoming == "vpc"
    }


def _there(values: Iterable[int]) -> list[int]:
    return [int(value) for value in values if value >= 0]


def _used(values: list[int]) -> tuple[str, str, str]:
    return f"{len(values):,}", str(ip_address(min(values))), str(ip_address(max(values)))


def asn_grid(fabric: FabricPlan) -> Grid:
    """AS numbers by tier; who shares one."""
    rows = []
    for role in (CORE, SPINE, LEAF):
        asns = [device.asn for device in fabric.switches if device.role == role and device.asn]
        if asns:
            own = sorted(set(asns))
            share = "one each" if len(own) == len(asns) else f"{len(asns) / len(own):g} switches share one"
            rows.append((role, f"{len(asns):,}", f"{len(own):,}", str(own[0]), str(own[-1]), share))
    return grid("AS numbers", ("tier", "#switches", "#AS numbers", "#first", "#last", "shared"), rows)


def tenants_grid(fabric: FabricPlan) -> Grid:
    """A row for each tenant and each of its networks."""
    tenancy, rows = fabric.tenancy, []
    for at, tenant in enumerate(tenancy.tenants):
        ports = int((tenancy.owner == at).sum())
        vni = f"{tenant.vni}" if tenancy.kind == "evpn" else ""
        rows.append((tenant.name, "", f"{ports:,}", vni, f"{tenant.vlan}" if vni else "", "", ", ".join(tenant.imports)))
        for network in tenant.networks:
            gateway = f"{ip_address(network.gateway)}/{network.length}" if network.gateway is not None else "layer 2 only"
            rows.append((tenant.name, network.name, "", f"{network.vni}", f"{network.vlan}", gateway, ""))
    titles = ("tenant", "network", "#server ports", "#VNI", "#VLAN", "gateway", "imports")
    return grid(f"Tenants, isolated by {tenancy.kind}", titles, rows)


def external_connections_grid(fabric: FabricPlan) -> Grid:
    """Routers outside the site, and the prefixes accepted from them."""
    tenancy, devices = fabric.tenancy, fabric.devices
    rows = []
    for connection in tenancy.external_connections:
        leaf = devices[int(fabric.links.b[connection.link])].name
        vrf = tenancy.tenants[connection.tenant].name if connection.tenant >= 0 else "default table"
        rows.append((connection.name, leaf, str(connection.asn), vrf, ", ".join(connection.accepts)))
    return grid("External connections", ("router", "border leaf", "#its AS", "for", "accepts"), rows)
