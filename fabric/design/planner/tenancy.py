"""Tenants on a wired fabric: owners of ports, bonds, VTEPs, EVPN neighbors, subnets, external connections, host addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.diagnostics import Report
from fabric.base.grouping import grouped
from fabric.base.text import listed
from fabric.design.planner import overlay, tenant_numbers
from fabric.design.planner.addresses import Addresses, FabricAllocator
from fabric.design.planner.host_addresses import WiredFabric, hosts, links_of, managed_in
from fabric.design.planner.numbers import Need, power_of_two
from fabric.model.plan import (
    BETWEEN_SWITCHES,
    CORE,
    LEAF,
    LEAF_LEAF,
    LEAF_SPINE,
    SERVER_LEAF,
    SPINE,
    SPINE_CORE,
    ExternalConnection,
    Ints,
    Tenancy,
    TenantNumber,
    TenantPlan,
    of_nics,
)
from fabric.model.plan.tenant_ports import networks_by_nics, owners, rails_of


def tenancy(
    wired: WiredFabric,
    numbers: Mapping[str, Sequence[TenantNumber]],
    addresses: Addresses,
    allocator: FabricAllocator,
    report: Report,
) -> Tenancy:
    """The tenants of a fabric. Mistakes go to the report."""
    spec, how = wired.spec, wired.spec.isolation
    tenants = tenant_numbers.number(spec, numbers, report)
    owner = owners(spec, wired.devices, wired.links, report)
    _check_router_asns(wired, report)
    lag, pair = _bonds(wired, tenants, owner)
    chosen = (
        _chosen(wired, tenants, owner)
        | networks_by_nics(spec, wired.devices, wired.links, owner, report)
        | _by_rail(wired, owner, lag, report)
        | _of_servers(wired, report)
    )
    leaves = [device for device in wired.devices if device.role == LEAF]
    vtep: dict[int, int] = {}
    shared: dict[int, int] = {}
    if how == "evpn" and addresses.vtep is not None:
        vtep = {leaf.index: addresses.vtep.number(leaf.number - 1) for leaf in leaves}
        shared = _shared_vteps(wired, pair, allocator)
    return Tenancy(
        kind=how,
        tenants=tenants,
        owner=owner,
        lag=lag,
        pair=pair,
        vtep=vtep,
        pair_vtep=shared,
        peers=_peers(wired) if how == "evpn" else {},
        slices=_slices(wired, tenants, owner, allocator) if how == "vrf-lite" else {},
        external_connections=_external_connections(wired, tenants, how, allocator),
        hosts=hosts(wired, tenants, owner, lag, allocator=allocator, chosen=chosen, report=report),
        chosen=chosen,
        fallback=_fallback(wired, lag),
    )


# --- bonds --------------------------------------------------------------------------------------------------


def _bonds(wired: WiredFabric, tenants: Sequence[TenantPlan], owner: Ints) -> tuple[Ints, dict[int, int]]:
    """The bond of every link of a server or an attachment, and which leaves share bonds.

    A bond joins the ports that have the same place on both leaves of a pair, and has that place as its number, which
    stays whatever else is cabled; of several places the first.
    """
    spec, links = wired.spec, wired.links
    lag = np.zeros(len(links), dtype=np.int64)
    for attachment in spec.attachments:
        if attachment.bond and len(attached := links_of(wired, attachment.name)):
            lag[attached] = links.column[attached].min() + 1
    if not spec.bonds:
        return lag, {}
    bridged = np.array([bool(tenant.networks) for tenant in tenants] + [False, False])  # owners -1 and -2 index from the end
    bonded = of_nics(spec, wired.devices, links, lambda _, use: use.bond and use.ports % 2 == 0) & bridged[owner]
    lag[bonded] = links.column[bonded] + 1
    return lag, _pairs(wired)


def _fallback(wired: WiredFabric, lag: Ints) -> frozenset[tuple[int, int]]:
    """(leaf, number) of the bonds whose ports carry traffic before the server speaks LACP."""
    spec, links = wired.spec, wired.links
    if not any(use.fallback for group in spec.groups for use in group.uses):
        return frozenset()
    mine = np.flatnonzero(of_nics(spec, wired.devices, links, lambda _, use: use.fallback) & (lag > 0))
    return frozenset(zip(links.b[mine].tolist(), lag[mine].tolist(), strict=True))


def _pairs(wired: WiredFabric) -> dict[int, int]:
    """Leaves whose servers have a port on both: the two of a collapsed plane, else those that the ports of a NIC go to."""
    if wired.spec.kind == "collapsed":
        leaves = iter([device.index for device in wired.devices if device.role == LEAF])
        return {a: b for leaf, other in zip(leaves, leaves, strict=True) for a, b in ((leaf, other), (other, leaf))}
    links = wired.links
    served = np.flatnonzero(links.kind == SERVER_LEAF)
    nic = np.stack([links.a[served], links.a_cage[served]], axis=1)
    _, first, of_nic = np.unique(nic, axis=0, return_index=True, return_inverse=True)
    pairs = np.unique(np.stack([links.b[served[first]][of_nic.ravel()], links.b[served]], axis=1), axis=0).tolist()
    bare = {group.name for group in wired.spec.groups if group.bare and wired.spec.dual_tor}
    units = grouped(((its.group, its.unit), its.index) for its in wired.devices if its.role == LEAF and its.group in bare)
    pairs += [leaves for leaves in units.values() if len(leaves) == 2]
    return {a: b for leaf, other in pairs if leaf != other for a, b in ((leaf, other), (other, leaf))}


def _shared_vteps(wired: WiredFabric, pair: Mapping[int, int], allocator: FabricAllocator) -> dict[int, int]:
    if not pair:
        return {}
    rows = max(wired.devices[leaf].number for leaf in pair)
    area = allocator.address(
        "vtep", "pair", Need(rows=rows, reserve=power_of_two(max(rows, wired.sizing.planned_by_role[LEAF])))
    )
    if not area.blocks:
        return {}
    return {
        leaf: area.number(min(wired.devices[leaf].number, wired.devices[other].number) - 1) for leaf, other in pair.items()
    }


def _chosen(wired: WiredFabric, tenants: Sequence[TenantPlan], owner: Ints) -> dict[int, tuple[int, ...]]:
    """The network of every link whose attachment states one of its tenant."""
    found: dict[int, tuple[int, ...]] = {}
    for attachment in wired.spec.attachments:
        for link in links_of(wired, attachment.name).tolist() if attachment.network else ():
            names = [network.name for network in tenants[owner[link]].networks] if owner[link] >= 0 else []
            if attachment.network in names:
                found[link] = (names.index(attachment.network),)
    return found


def _of_servers(wired: WiredFabric, report: Report) -> dict[int, tuple[int, ...]]:
    """The network of every server link of a fabric below another: the stated one, or that without management ports."""
    spec = wired.spec
    if spec.below is None or not spec.tenants:
        return {}
    networks = spec.tenants[0].networks
    names = [network.name for network in networks]
    others = [n for n in networks if n.gateway is None or not managed_in(n.gateway, wired.management)]
    left = [spec.below.network] if spec.below.network else [network.name for network in others] or names
    if len(left) != 1:
        report.error(
            "FAB144",
            spec.at("below"),
            f"below.network: expected the network of the server ports, one of {listed(left)}, got none",
            f"set `network: {left[0]}`",
        )
        return {}
    at = names.index(left[0]) if left[0] in names else 0
    return dict.fromkeys(np.flatnonzero(wired.links.kind == SERVER_LEAF).tolist(), (at,))


def _by_rail(wired: WiredFabric, owner: Ints, lag: Ints, report: Report) -> dict[int, tuple[int, ...]]:
    """The network of every server link whose tenant has a network for each rail or plane."""
    spec, links = wired.spec, wired.links
    found: dict[int, tuple[int, ...]] = {}
    if not any(network.parted for tenant in spec.tenants for network in tenant.networks):
        return found
    rail = rails_of(spec, wired.devices, links)
    plane = np.array([device.plane for device in wired.devices])[links.b] + 1
    for n, tenant in enumerate(spec.tenants):
        parted = any(network.parted for network in tenant.networks)
        mine: list[int] = np.flatnonzero((owner == n) & (links.kind == SERVER_LEAF)).tolist() if parted else []
        cells = {(int(rail[link]), int(plane[link])) for link in mine}
        place = {cell: at for cell in cells for at, network in enumerate(tenant.networks) if network.has(*cell)}
        missing = sorted(cells - place.keys())
        if missing:
            key = "rails" if any(network.rails for network in tenant.networks) else "planes"
            numbers = sorted({cell[key == "planes"] for cell in missing})
            report.error(
                "FAB147",
                spec.at("tenants", n, "networks"),
                f"tenant '{tenant.name}': expected a network for each of its {key}, got none for "
                f"{listed([*map(str, numbers)])}",
                f"add {numbers[0]} to `{key}` of a network; `nics` and `rails` of the tenant choose its ports",
            )
            continue
        found |= {link: (place[int(rail[link]), int(plane[link])],) for link in mine}
    bonds: dict[tuple[int, int], tuple[int, ...]] = {}
    for link, at in found.items():
        if lag[link] and bonds.setdefault((int(links.a[link]), int(lag[link])), at) != at:
            report.error(
                "FAB144",
                spec.at("tenants", int(owner[link]), "networks"),
                f"tenant '{spec.tenants[owner[link]].name}': the ports of a bond of {wired.devices[links.a[link]].name} are "
                "on different rails, in two networks",
                "state `homing: {…: single}` for these NICs of the servers",
            )
            break
    return found


# --- EVPN ---------------------------------------------------------------------------------------------------


def _peers(wired: WiredFabric) -> dict[int, tuple[int, ...]]:
    """EVPN sessions: neighbors in the underlay whose upper end is a route server.

    Of the spines of a pod and plane the first few serve, and of the cores that these meet the first few of each group,
    which are the same in every pod.
    """
    links, devices, route_servers = wired.links, wired.devices, wired.spec.overlay.route_servers
    between = np.isin(links.kind, BETWEEN_SWITCHES)
    pairs = set(zip(links.a[between].tolist(), links.b[between].tolist(), strict=True))  # np.unique imports numpy.ma
    ranked: dict[tuple[int, int, int], int] = {}
    serves: set[int] = set()
    for device in devices:
        if device.role == SPINE:
            place = (device.pod, device.plane, device.rail)
            ranked[place] = ranked.get(place, 0) + 1
            if ranked[place] <= route_servers:
                serves.add(device.index)
    neighbors: dict[int, list[int]] = {}
    cores: dict[int, int] = {}
    for lower, upper in sorted(pairs):
        if devices[upper].role == CORE:
            if lower not in serves or cores.get(lower, 0) >= route_servers:
                continue
            cores[lower] = cores.get(lower, 0) + 1
        elif devices[upper].role == SPINE and upper not in serves:
            continue
        neighbors.setdefault(lower, []).append(upper)
        neighbors.setdefault(upper, []).append(lower)
    return {device: tuple(sorted(peers)) for device, peers in sorted(neighbors.items())}


# --- slices of links ----------------------------------------------------------------------------------------


def _slices(
    wired: WiredFabric, tenants: Sequence[TenantPlan], owner: Ints, allocator: FabricAllocator
) -> dict[int, NDArray[Any]]:
    """VRF-lite: a subnet per tenant on every link between switches, as long as the leaf has the tenant."""
    links, sizing = wired.links, wired.sizing
    planned = sizing.planned_by_role
    slices = {}
    for n, tenant in enumerate(tenants):
        first = np.full(len(links), -1, dtype=object)
        has_tenant = np.zeros(len(wired.devices), dtype=bool)
        has_tenant[links.b[owner == n]] = True
        for attachment in wired.spec.attachments:
            if attachment.external and (not attachment.external.tenants or tenant.name in attachment.external.tenants):
                has_tenant[links.b[links_of(wired, attachment.name)]] = True
        for kind, name, role in (
            (LEAF_LEAF, "leaf-leaf", LEAF),
            (LEAF_SPINE, "leaf-spine", LEAF),
            (SPINE_CORE, "spine-core", SPINE),
        ):
            of_kind = links.kind == kind
            if not of_kind.any():
                continue
            rows, columns = int(links.row[of_kind].max()) + 1, int(links.column[of_kind].max()) + 1
            reserve = power_of_two(max(rows, planned[role])) if kind != LEAF_LEAF else rows
            step = wired.spec.underlay.link_step
            need = Need(rows=rows, columns=columns, reserve=reserve, step=step)
            area = allocator.address("p2p", f"{name}/{tenant.name}", need)
            carried = of_kind & (has_tenant[links.a] if kind != SPINE_CORE else True)
            if area.blocks:
                first[carried] = area.numbers(links.row[carried], links.column[carried]) + (step == 4)
        slices[n] = first
    return slices


def _check_router_asns(wired: WiredFabric, report: Report) -> None:
    """A router of the fabric's own AS number would get an iBGP session, or drop every route as a loop."""
    taken = {device.asn: device for device in reversed(wired.devices) if device.asn}
    for at, attachment in enumerate(wired.spec.attachments):
        if attachment.external is not None and attachment.external.asn in taken:
            report.error(
                "FAB137",
                wired.spec.at("topology", "attachments", at, "external", "asn"),
                f"attachment '{attachment.name}': expected a unique AS number, got {attachment.external.asn}, that of "
                f"{taken[attachment.external.asn].name}",
                "set `underlay.asn.ranges` to change the AS numbers of the fabric",
            )


def _external_connections(
    wired: WiredFabric, tenants: Sequence[TenantPlan], how: str, allocator: FabricAllocator
) -> tuple[ExternalConnection, ...]:
    connections = []
    for attachment in wired.spec.attachments:
        external = attachment.external
        if external is None or how == "acl":
            continue
        attached, accepts = links_of(wired, attachment.name), overlay.accepted(wired.spec, external)
        if how == "none" or not tenants:
            connections += [
                ExternalConnection(
                    link=int(link), tenant=-1, address=None, asn=external.asn, name=attachment.name, accepts=accepts
                )
                for link in attached
            ]
            continue
        served = [n for n, tenant in enumerate(tenants) if not external.tenants or tenant.name in external.tenants]
        if not served or not len(attached):
            continue
        columns = max(tenants[n].number for n in served)
        area = allocator.address("p2p", f"external/{attachment.name}", Need(rows=len(attached), columns=columns, step=2))
        for row, link in enumerate(attached.tolist() if area.blocks else ()):
            connections += [
                ExternalConnection(
                    link=link,
                    tenant=n,
                    address=area.number(row, tenants[n].number - 1),
                    asn=external.asn,
                    name=attachment.name,
                    accepts=accepts,
                )
                for n in served
            ]
    return tuple(sorted(connections, key=lambda connection: (connection.link, connection.tenant)))
