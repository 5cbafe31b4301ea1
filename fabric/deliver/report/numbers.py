"""Numbers of a fabric: pools, AS numbers, tenants; headroom, ECN thresholds, and what they leave of the buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

import numpy as np

from fabric.base.grouping import grouped
from fabric.configs.site_files import routed
from fabric.deliver.report.assets import Grid, grid
from fabric.hardware.headroom import explain
from fabric.model.plan import (
    ATTACHMENT,
    BETWEEN_SWITCHES,
    CORE,
    LEAF,
    SERVER_LEAF,
    SPINE,
    FabricLossless,
    FabricPlan,
    TenantPlan,
)
from fabric.model.settings.services import ECN_RULES
from fabric.nos.target import target


def pools_grid(fabric: FabricPlan) -> Grid:
    """What each pool is for, how large it is, and what configs use of it."""
    rows = [(kind, ", ".join(pools), *_used(values), each) for kind, pools, values, each in _in_use(fabric) if len(values)]
    return grid("Address pools", ("for", "pool", "#in use", "first", "last", "each"), rows)


def _in_use(fabric: FabricPlan) -> Iterator[tuple[str, Sequence[str], list[int], str]]:
    """(what for, pools, first addresses in use, size of each)"""
    switches = np.array([device.index for device in fabric.switches], dtype=np.int64)
    subnet, kind = f"/{fabric.subnet_length}", np.where(routed(fabric), fabric.links.kind, -1)
    between = f"/{fabric.spec.underlay.link_length}"

    def pool(name: str) -> Sequence[str]:
        return fabric.prefixes.get(name, ())

    yield "loopbacks", pool("loopback"), _there(fabric.loopback[switches]), "one address"
    yield "loopbacks, IPv6", pool("loopback6"), _there(fabric.loopback6[switches]), "one address"
    yield "VTEPs", pool("vtep"), sorted({*fabric.tenancy.vtep.values(), *_shared_vteps(fabric)}), "one address"
    yield "links of switches", pool("p2p"), _there(fabric.subnet[np.isin(kind, BETWEEN_SWITCHES)]), between
    yield "subinterfaces of tenants", pool("p2p"), sorted(_subinterfaces(fabric)), between
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


def _imports(tenant: TenantPlan) -> str:
    """Tenants of which it has routes, and the prefixes where they are stated."""
    return ", ".join([*tenant.imports, *(f"{leak.source} ({', '.join(leak.prefixes)})" for leak in tenant.leaks)])


def tenants_grid(fabric: FabricPlan) -> Grid:
    """A row for each tenant and each of its networks."""
    tenancy, rows = fabric.tenancy, []
    for at, tenant in enumerate(tenancy.tenants):
        ports = int((tenancy.owner == at).sum())
        vni = f"{tenant.vni}" if tenancy.kind == "evpn" else ""
        rows.append((tenant.name, "", f"{ports:,}", vni, f"{tenant.vlan}" if vni else "", "", _imports(tenant)))
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


# --- qoS arithmetic -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sum:
    """One headroom added up, for those who open it."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Arithmetic:
    """The lossless class of one fabric."""

    sentence: str
    ports: Grid
    buffers: Grid
    sums: tuple[Sum, ...]


def arithmetic(fabric: FabricPlan) -> Arithmetic | None:
    """None where the fabric has no lossless class."""
    lossless = fabric.lossless
    if lossless is None or not lossless.roles:
        return None
    qos, settings = next(iter(lossless.roles.values())).qos, fabric.spec.qos
    watchdog = f"a queue paused for {qos.watchdog.detect_ms} ms is emptied" if qos.watchdog else "no PFC watchdog"
    sentence = (
        f"RoCE: DSCP {qos.dscp}, priority {qos.priority}, lossless (PFC), guaranteed {qos.lossless_percent} %. "
        f"Congestion notifications: DSCP {qos.cnp_dscp}, priority {qos.cnp_priority}. "
        f"Frames of up to {qos.lossless_mtu:,} bytes; {watchdog}. "
        f"ECN by rule {settings.ecn.rule} ({ECN_RULES[settings.ecn.rule].source})."
    )
    return Arithmetic(sentence, _ports(fabric, lossless), _buffers(fabric, lossless), tuple(_sums(fabric, lossless)))


def _name(fabric: FabricPlan, role: str, group: str) -> str:
    several = len(fabric.spec.groups) > 1 and group
    return f"{role} of {group}" if several else role


def _ports(fabric: FabricPlan, lossless: FabricLossless) -> Grid:
    rows = []
    for (role, group), entry in lossless.roles.items():
        for (speed, length), count in sorted(entry.counts.items()):
            port, room = entry.ports[speed, length], entry.headroom[speed, length]
            sizes = (port.xoff_bytes, port.xon_bytes, port.size_bytes, port.marking.kmin_bytes, port.marking.kmax_bytes)
            who = (_name(fabric, role, group), getattr(fabric.spec, role).switch)
            ends = (f"{speed}", f"{length}", f"{count}")
            rows.append((*who, *ends, *(f"{size:,}" for size in sizes), f"{port.marking.pmax_percent}", room.method))
    titles = (
        *("tier", "switch", "#Gb/s", "#cable, m", "#ports", "#xoff, bytes", "#xon, bytes", "#reserved, bytes"),
        *("#Kmin, bytes", "#Kmax, bytes", "#Pmax, %", "method"),
    )
    return grid("Lossless ports of one switch: PFC headroom and ECN thresholds", titles, rows)


def _buffers(fabric: FabricPlan, settings: FabricLossless) -> Grid:
    rows = []
    for (role, group), entry in settings.roles.items():
        buffer = entry.qos.buffer
        cells = [
            "not known" if size is None else f"{size:,}"
            for size in (buffer.total_bytes, buffer.reserved_bytes, buffer.shared_bytes, buffer.trigger_bytes)
        ]
        pool = f"{buffer.headroom_pool_bytes:,}" if buffer.headroom_pool_bytes else ""
        model = getattr(fabric.spec, role).model
        asic = model.asic or "chip not known"
        rows.append(
            (_name(fabric, role, group), asic, *cells[:2], pool, cells[2], f"{2.0**buffer.alpha_exponent:g}", cells[3])
        )
    titles = (
        *("tier", "chip", "#buffer, bytes", "#reserved, bytes", "#of which shared headroom, bytes", "#shared, bytes"),
        *("#alpha", "#PAUSE from, bytes"),
    )
    return grid("Buffer of one switch", titles, rows)


def _sums(fabric: FabricPlan, found: FabricLossless) -> Iterator[Sum]:
    """Each headroom once, however many tiers have such a port."""
    seen = grouped(
        (tuple(explain(room)), f"{_name(fabric, role, group)}, {speed}G at {length} m")
        for (role, group), entry in found.roles.items()
        for (speed, length), room in sorted(entry.headroom.items())
    )
    for lines, titles in seen.items():
        yield Sum("; ".join(titles), lines)
