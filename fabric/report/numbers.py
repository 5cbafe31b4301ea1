"""Numbers of a fabric: pools, prefixes, AS numbers, loopbacks, tenants with their VRFs and VNIs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_address

import numpy as np

from fabric.plan.devices import CORE, LEAF, SPINE
from fabric.plan.links import SERVER_LEAF
from fabric.plan.plan import FabricPlan
from fabric.report.grid import Grid, grid


def pools_grid(fabric: FabricPlan) -> Grid:
    """What each pool is for, how large it is, and what is in use of it."""
    rows = [
        (kind, ", ".join(fabric.prefixes.get(pool, ())), *_used(values), _each(fabric, kind))
        for kind, pool, values in _in_use(fabric)
        if len(values)
    ]
    return grid("Address pools", ("for", "pool", "#in use", "first", "last", "each"), rows)


def _in_use(fabric: FabricPlan) -> Iterator[tuple[str, str, list[int]]]:
    """(what for, pool, addresses in use)"""
    switches = np.array([device.index for device in fabric.switches], dtype=np.int64)
    yield "loopbacks", "loopback", _there(fabric.loopback[switches])
    yield "loopbacks, IPv6", "loopback6", _there(fabric.loopback6[switches])
    yield "VTEPs", "vtep", sorted({*fabric.tenancy.vtep.values(), *fabric.tenancy.pair_vtep.values()})
    servers = fabric.links.kind == SERVER_LEAF
    yield "links of switches", "p2p", _there(fabric.subnet[~servers])
    yield "links of servers", "servers", _there(fabric.subnet[servers])
    yield "management", "management", _there(fabric.management)


def _there(values: Iterable[int]) -> list[int]:
    return [int(value) for value in values if value >= 0]


def _used(values: list[int]) -> tuple[str, str, str]:
    return f"{len(values):,}", str(ip_address(min(values))), str(ip_address(max(values)))


def _each(fabric: FabricPlan, kind: str) -> str:
    return f"/{fabric.subnet_length}" if kind.startswith("links") else "one address"


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
            gateway = f"{ip_address(network.gateway)}/{network.length}" if network.gateway is not None else "layer 2 alone"
            rows.append((tenant.name, network.name, "", f"{network.vni}", f"{network.vlan}", gateway, ""))
    titles = ("tenant", "network", "#server ports", "#VNI", "#VLAN", "gateway", "imports")
    return grid(f"Tenants, kept apart by {tenancy.kind}", titles, rows)


def ways_out_grid(fabric: FabricPlan) -> Grid:
    """Routers outside, and what is taken from them."""
    tenancy, devices = fabric.tenancy, fabric.devices
    rows = []
    for way in tenancy.ways_out:
        leaf = devices[int(fabric.links.b[way.link])].name
        vrf = tenancy.tenants[way.tenant].name if way.tenant >= 0 else "default table"
        rows.append((way.name, leaf, str(way.asn), vrf, ", ".join(way.accepts)))
    return grid("Ways out", ("router", "border leaf", "#its AS", "for", "accepts"), rows)
