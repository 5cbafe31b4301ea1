"""Servers that are cabled to each other: two back to back, a few in a full mesh or in a ring, and no switch.

Every server has the same cables to each of its neighbors, as many as its ports permit. A link has a subnet of its own, and a
server an address that all others reach, over the other servers where no cable leads to them. The intent states such a fabric;
the sizing rule never chooses one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.diagnostics import Diagnostic, Report
from fabric.base.rounding import ceil_div
from fabric.base.text import plural
from fabric.design.planner import inventory
from fabric.design.planner.addresses import FabricAllocator
from fabric.design.planner.numbers import Need, Numbers
from fabric.hardware.catalog.models import PortGroup, SwitchModel
from fabric.model.plan import (
    NO_TENANT,
    SERVER,
    SERVER_SERVER,
    Device,
    FabricPlan,
    FabricSpec,
    GroupSize,
    GroupSpec,
    Links,
    Sizing,
    Tenancy,
    TierSpec,
    blocks_of,
)
from fabric.model.plan.lock_file import FabricLock
from fabric.model.plan.spec import BACK_TO_BACK, RING

if TYPE_CHECKING:
    from fabric.design.planner.assemble import Context

MAX_RING = 8  # servers; with more of them most traffic passes servers that do not receive it
RELAYED = "FAB401"
_PLANES = ("planes", "planes_active", "dual_tor")
_TOPOLOGY = ("switch", "rails", "unit", "tiers", "pods", *_PLANES, "leaf", "spine", "core", "attachments")
_FABRIC = ("nos", "pins", "overlay", "tenants", "qos", "planned", "releases", "management")

# --- the intent -----------------------------------------------------------------------------------------------


# What stands for the switch of each tier: no name, no network OS, and one port, as a model has at least one.
NO_SWITCH = TierSpec("", SwitchModel(ports=(PortGroup(count=1, speed_gbps=1),), breakouts_complete=True), None)


def check(spec: FabricSpec, report: Report) -> None:
    """Reports what only switches have, and numbers of servers that the ports of the NICs do not permit."""
    stated = [("topology", key) for key in _TOPOLOGY] + [(key,) for key in _FABRIC] + [("servers", 0, "unit")]
    for path in stated:
        if spec.stated(*path):
            message = f"{path[-1]}: expected none with `kind: {spec.kind}`, which has no switches"
            report.error("FAB109", spec.at(*path), message, "remove it, or state a `kind` with switches")
    if len(spec.groups) > 1:
        report.error("FAB109", spec.at("servers"), f"expected one group of servers with `kind: {spec.kind}`")
        return
    (group,) = spec.groups
    if group.on_free_ports:
        message = f"nics: expected NICs of one purpose with `kind: {spec.kind}`"
        report.error("FAB109", spec.at("servers", 0, "nics"), message, "state a fabric for each purpose")
    ports = group.nic.count * group.nic.ports
    low, high = (2, ports + 1) if spec.kind == BACK_TO_BACK else (3, MAX_RING)
    if spec.kind == RING and ports < 2:
        message = f"kind: a ring needs two NIC ports of a server, got one on {group.model}"
        report.error("FAB109", spec.at("topology", "kind"), message, "`kind: back-to-back` cables two servers to each other")
    elif not low <= group.count <= high:
        of_ports = f", with {plural(ports, 'port')} of a server" if spec.kind == BACK_TO_BACK else ""
        expected = f"{low}" if low == high else f"{low} to {high}"
        message = f"count: expected {expected} servers with `kind: {spec.kind}`{of_ports}, got {group.count}"
        small = "`kind: back-to-back` cables two servers" if group.count == 2 else "state a switch for more servers"
        report.error("FAB109", spec.at("servers", 0, "count"), message, small)


def size(spec: FabricSpec) -> Sizing:
    """The counts of a fabric without switches: no tiers, one unit without leaves."""
    (group,) = spec.groups
    ports = group.nic.count * group.nic.ports
    limit = ports + 1 if spec.kind == BACK_TO_BACK else MAX_RING
    servers = GroupSize(
        name=group.name,
        servers=group.count,
        gpus=group.count * group.server.gpus,
        unit_servers=group.count,
        unit_leaves=0,
        units=1,
        units_planned=1,
        pods=1,
        pods_planned=1,
        pods_per_unit=1,
        servers_per_leaf=group.count,
        leaf_ports_per_server=0,
        down=0,
        down_gbps=group.nic.speed_gbps,
        uplinks=0,
        held=(),
        last_unit=(),
    )
    return Sizing(
        kind=spec.kind,
        tiers=0,
        planes=1,
        networks=1,
        groups=(servers,),
        uplink_gbps=group.nic.speed_gbps,
        core_gbps=0,
        units_per_pod=0,
        spines=0,
        spines_built=0,
        spine_uplinks=0,
        cores=0,
        cores_built=0,
        spines_per_core=1,
        attachments=0,
        limit_servers=limit,
        limit_gpus=limit * group.server.gpus,
        bgp=False,
        direct_links=len(list(cables(spec))),
    )


def note(spec: FabricSpec) -> Diagnostic | None:
    """What a ring of more than three servers means for RDMA; None where every server is cabled to every other."""
    group = spec.groups[0]
    if spec.kind != RING or group.count == 3:
        return None
    message = (
        f"fabric '{spec.name}': in a ring of {group.count} servers TCP passes servers that are in between, RDMA does not"
    )
    hint = "run collectives as a ring in the order of the servers (`NCCL_ALGO=Ring`), or use a switch"
    return Diagnostic(RELAYED, spec.at("topology", "kind"), message, hint, "note")


# --- cables ---------------------------------------------------------------------------------------------------


def cables(spec: FabricSpec) -> Iterator[tuple[int, int, int, int]]:
    """(server, its port, other server, its port) of every cable, all from 0, ports NIC by NIC; the first server is lower.

    Ports of a server are dealt to its neighbors in turn, so that the cables to each neighbor are spread over its NICs. In a
    ring the first of two leads to the next server and the second to the one before.
    """
    (group,) = spec.groups
    servers, ports = group.count, group.nic.count * group.nic.ports
    if spec.kind == RING:
        for server in range(servers):
            for turn in range(ports // 2):
                ends = sorted(((server, 2 * turn), ((server + 1) % servers, 2 * turn + 1)))
                yield (*ends[0], *ends[1])
        return
    each = ports // (servers - 1)
    for low in range(servers):
        for high in range(low + 1, servers):
            # The neighbors of a server are counted without itself.
            for turn in range(each):
                yield low, turn * (servers - 1) + high - 1, high, turn * (servers - 1) + low


def _wire(spec: FabricSpec, servers: Sequence[Device]) -> Links:
    (group,) = spec.groups
    table = np.array(sorted(cables(spec)), dtype=np.int64)
    first = np.array([device.index for device in servers])
    a, a_port, b, b_port = table.T
    of_nic = group.nic.ports

    def full(values: NDArray[np.int64] | int) -> NDArray[np.int32]:
        return np.broadcast_to(np.asarray(values), a.shape).astype(np.int32)

    return Links(
        kind=full(SERVER_SERVER),
        speed_gbps=full(group.nic.speed_gbps),
        a=full(first[a]),
        a_cage=full(a_port // of_nic + 1),
        a_sub=full(a_port % of_nic),
        a_split=full(1),
        b=full(first[b]),
        b_cage=full(b_port // of_nic + 1),
        b_sub=full(b_port % of_nic),
        b_split=full(1),
        row=full(a),
        column=full(a_port),
    )


# --- the plan -------------------------------------------------------------------------------------------------


def plan(spec: FabricSpec, sizing: Sizing, context: Context) -> tuple[FabricPlan, FabricLock]:
    """Plans one fabric: servers, cables, a subnet for each cable and an address for each server."""
    (group,), report = spec.groups, context.report
    allocator = FabricAllocator(spec, context.area_allocator, context.spaces, context.pools, report)
    devices, _ = inventory.devices(spec, sizing, _numbers(group), context.site, {}, report)
    links = _wire(spec, devices)
    v6, per_link = spec.underlay.addressing == "ipv6", 2 * group.nic.functions
    ports = group.nic.count * group.nic.ports
    need = Need(rows=group.count, columns=ports, step=per_link, stride=per_link * ports)
    subnets = allocator.address("servers", "direct", need)
    own = allocator.address("loopback6" if v6 else "loopback", SERVER, Need(rows=group.count))
    addresses = np.full(len(devices), -1, dtype=object)
    if own.blocks:
        addresses[:] = [own.number(at) for at in range(len(devices))]
    none = np.full(len(devices), -1, dtype=object)
    at = [column.astype(np.int64) for column in (links.row, links.column)]
    subnet = subnets.numbers(*at) if subnets.blocks else np.full(len(links), -1)
    fabric = FabricPlan(
        name=spec.name,
        spec=spec,
        sizing=sizing,
        devices=tuple(devices),
        links=links,
        subnet=subnet,
        subnet_length=127 if v6 else 31,
        loopback=none if v6 else addresses,
        loopback6=addresses if v6 else none,
        management=none,
        aggregate={},
        prefixes=context.pools.prefixes,
        tenancy=_no_tenants(spec, len(links)),
        asn_ranges=(),
        lossless=None,
        blocks=blocks_of(context.area_allocator.areas, f"{spec.name}:"),
    )
    return fabric, FabricLock(blocks=fabric.blocks)


def _numbers(group: GroupSpec) -> Numbers:
    """Servers count from 1, and so do their racks where they have some: a few of them need no lock."""
    zero, racks = np.zeros(1, dtype=np.int64), ceil_div(group.count, group.per_rack or group.count)
    return Numbers(
        unit={group.name: zero},
        rack={group.name: np.arange(racks)},
        pod={group.name: zero},
        pods=zero,
        leaf={group.name: np.zeros((1, 0), dtype=np.int64)},
        spine=np.zeros((1, 1, 0), dtype=np.int64),
        core=np.zeros((1, 0, 0), dtype=np.int64),
        arrivals=[],
    )


def _no_tenants(spec: FabricSpec, links: int) -> Tenancy:
    """A fabric without tenants has no owner of any link."""
    owner: NDArray[Any] = np.full(links, NO_TENANT, dtype=np.int64)
    return Tenancy(kind=spec.isolation, tenants=(), owner=owner, lag=np.zeros(links, dtype=np.int64))
