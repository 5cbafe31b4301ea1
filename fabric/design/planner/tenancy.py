"""Tenants on a wired fabric: owners of ports, bonds, VTEPs, EVPN neighbors, subnets, external connections, host addresses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import numpy as np
from netaddr import IPNetwork
from numpy.typing import NDArray

from fabric.base.diagnostics import Report
from fabric.base.text import listed, plural
from fabric.design.planner import lock_repair, overlay, tenant_numbers
from fabric.design.planner.addresses import Addresses, FabricAllocator
from fabric.design.planner.lock_repair import MOVED_POOL
from fabric.design.planner.numbers import Exhausted, Need, NumberSpace, power_of_two
from fabric.model.plan import (
    ATTACHMENT,
    BETWEEN_SWITCHES,
    CORE,
    LEAF,
    LEAF_LEAF,
    LEAF_SPINE,
    SERVER,
    SERVER_LEAF,
    SPINE,
    SPINE_CORE,
    Device,
    ExternalConnection,
    FabricSpec,
    GroupSpec,
    Ints,
    Links,
    NetworkPlan,
    NicUse,
    Sizing,
    Tenancy,
    TenantNumber,
    TenantPlan,
    nic_uses,
    of_nics,
    server_ports,
    spread_ports,
)
from fabric.model.plan.tenant_ports import owners, rails_of


@dataclass(frozen=True)
class WiredFabric:
    """A fabric with its devices and links."""

    spec: FabricSpec
    sizing: Sizing
    devices: Sequence[Device]
    links: Links
    management: Collection[str] = ()  # management subnets of all fabrics of the site


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
    chosen = _chosen(wired, tenants, owner) | _by_rail(wired, owner, lag, report)
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
        hosts=_hosts(wired, tenants, owner, lag, allocator=allocator, chosen=chosen, report=report),
        chosen=chosen,
    )


# --- bonds --------------------------------------------------------------------------------------------------


def _bonds(wired: WiredFabric, tenants: Sequence[TenantPlan], owner: Ints) -> tuple[Ints, dict[int, int]]:
    """The bond of every link of a server or an attachment, and which leaves share bonds.

    A bond joins the ports that have the same place on both leaves of a pair, and has that place as its number, which
    stays whatever else is cabled; of several places the first.
    """
    spec, links = wired.spec, wired.links
    lag = np.zeros(len(links), dtype=np.int64)
    if not spec.bonds:
        return lag, {}
    bridged = np.array([bool(tenant.networks) for tenant in tenants] + [False, False])  # owners -1 and -2 index from the end
    bonded = of_nics(spec, wired.devices, links, lambda _, use: use.bond and use.ports % 2 == 0) & bridged[owner]
    lag[bonded] = links.column[bonded] + 1
    for attachment in spec.attachments:
        if attachment.bond and len(attached := _links_of(wired, attachment.name)):
            lag[attached] = links.column[attached].min() + 1
    return lag, _pairs(wired)


def _pairs(wired: WiredFabric) -> dict[int, int]:
    """Leaves whose servers have a port on both: the two of a collapsed plane, else those that the ports of a NIC go to."""
    if wired.spec.kind == "collapsed":
        leaves = iter([device.index for device in wired.devices if device.role == LEAF])
        return {a: b for leaf, other in zip(leaves, leaves, strict=True) for a, b in ((leaf, other), (other, leaf))}
    links = wired.links
    served = np.flatnonzero(links.kind == SERVER_LEAF)
    nic = np.stack([links.a[served], links.a_cage[served]], axis=1)
    _, first, of_nic = np.unique(nic, axis=0, return_index=True, return_inverse=True)
    pairs = np.unique(np.stack([links.b[served[first]][of_nic.ravel()], links.b[served]], axis=1), axis=0)
    return {a: b for leaf, other in pairs.tolist() if leaf != other for a, b in ((leaf, other), (other, leaf))}


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


def _chosen(wired: WiredFabric, tenants: Sequence[TenantPlan], owner: Ints) -> dict[int, int]:
    """The network of every link whose attachment states one of its tenant."""
    found = {}
    for attachment in wired.spec.attachments:
        for link in _links_of(wired, attachment.name).tolist() if attachment.network else ():
            names = [network.name for network in tenants[owner[link]].networks] if owner[link] >= 0 else []
            if attachment.network in names:
                found[link] = names.index(attachment.network)
    return found


def _by_rail(wired: WiredFabric, owner: Ints, lag: Ints, report: Report) -> dict[int, int]:
    """The network of every server link whose tenant has a network for each rail."""
    spec, links = wired.spec, wired.links
    found: dict[int, int] = {}
    if not any(network.rails for tenant in spec.tenants for network in tenant.networks):
        return found
    rail = rails_of(spec, wired.devices, links)
    for n, tenant in enumerate(spec.tenants):
        place = {number: at for at, network in enumerate(tenant.networks) for number in network.rails}
        mine: list[int] = np.flatnonzero((owner == n) & (links.kind == SERVER_LEAF)).tolist() if place else []
        missing = sorted({int(rail[link]) for link in mine} - place.keys())
        if missing:
            report.error(
                "FAB147",
                spec.at("tenants", n, "networks"),
                f"tenant '{tenant.name}': expected a network for each of its rails, got none for "
                f"{listed([*map(str, missing)])}",
                f"add {missing[0]} to `rails` of a network; `nics` and `rails` of the tenant choose its ports",
            )
            continue
        found |= {link: place[int(rail[link])] for link in mine}
    bonds: dict[tuple[int, int], int] = {}
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
                has_tenant[links.b[_links_of(wired, attachment.name)]] = True
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
            area = allocator.address(
                "p2p", f"{name}/{tenant.name}", Need(rows=rows, columns=columns, reserve=reserve, step=2)
            )
            carried = of_kind & (has_tenant[links.a] if kind != SPINE_CORE else True)
            if area.blocks:
                first[carried] = area.numbers(links.row[carried], links.column[carried])
        slices[n] = first
    return slices


def _links_of(wired: WiredFabric, attachment: str) -> Ints:
    """The links of an attachment."""
    index = next((device.index for device in wired.devices if device.name == attachment), -1)
    return np.flatnonzero((wired.links.kind == ATTACHMENT) & (wired.links.a == index))


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
        attached, accepts = _links_of(wired, attachment.name), overlay.accepted(wired.spec, external)
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


# --- addresses of servers in networks -----------------------------------------------------------------------


def _hosts(
    wired: WiredFabric,
    tenants: Sequence[TenantPlan],
    owner: Ints,
    lag: Ints,
    *,
    allocator: FabricAllocator,
    chosen: Mapping[int, int],
    report: Report,
) -> dict[tuple[int, int], dict[int, int]]:
    """Per network the address of every port of servers and attachments in it; the links of a bond have one together.

    In a management network the ports are those of switches, which have their addresses from the pool.
    """
    hosts = {}
    for n, tenant in enumerate(tenants):
        if not any(network.gateway is not None for network in tenant.networks):
            continue
        ends = _ends(wired, np.flatnonzero(owner == n).tolist(), lag)
        for place, network in enumerate(tenant.networks):
            if network.gateway is None:
                continue
            members = {link: end for link, end in ends.items() if chosen.get(link, place) == place}
            if network.prefix in wired.management:
                _check_management(wired, (n, place), network, members, report)
            else:
                hosts[n, place] = _network_hosts(wired, (n, place), network, members, allocator, report)
    return hosts


def _check_management(
    wired: WiredFabric, which: tuple[int, int], network: NetworkPlan, ends: Iterable[int], report: Report
) -> None:
    """The pool gives every address of its subnet to switches, so servers have none in it."""
    servers = {int(wired.links.a[link]) for link in ends if wired.links.kind[link] == SERVER_LEAF}
    if servers:
        spec = wired.spec
        report.error(
            "FAB136",
            spec.at("tenants", which[0], "networks", which[1], "gateway"),
            f"network '{network.name}' is the pool 'management' {network.prefix}: expected switches alone in it, "
            f"got {plural(len(servers), 'server')}",
            "name the servers in another tenant, as one that names none takes all others; or set another `pools.management`",
        )


def _ends(wired: WiredFabric, links: Sequence[int], lag: Ints) -> dict[int, tuple[str, int, int]]:
    """Link → (server group, server from 0, which of all its ports or bonds): what an address belongs to.

    An attachment is a group of one; so are NICs of a further purpose, of all servers of a group.
    """
    columns, devices = wired.links, wired.devices
    uses, use_of = nic_uses(wired.spec, devices, columns)
    in_bond = [_place_in_bond(wired.spec, group, use).tolist() for group, use in uses]
    ends: dict[int, tuple[str, int, int]] = {}
    for link in links:
        end = devices[int(columns.a[link])]
        if end.role != SERVER:
            ends[link] = (f"attachment/{end.name}", 0, 0 if lag[link] else int(columns.a_cage[link]) - 1)
            continue
        at = int(use_of[link])
        group, use = uses[at]
        port = (int(columns.a_cage[link]) - group.first_nic(use.nics)) * use.nic.ports + int(columns.a_sub[link])
        name = group.name if use.nics == group.nics else f"{group.name}/{use.nics}"
        ends[link] = (name, end.number - 1, in_bond[at][port] if lag[link] else port)
    return ends


def _place_in_bond(spec: FabricSpec, group: GroupSpec, use: NicUse) -> Ints:
    """Which of a server's bonds each port of its NICs is in, from 0."""
    if use in group.on_free_ports:
        return spread_ports(spec, use.nic).local
    return server_ports(spec, group).local


def _network_hosts(
    wired: WiredFabric,
    which: tuple[int, int],
    network: NetworkPlan,
    ends: Mapping[int, tuple[str, int, int]],
    allocator: FabricAllocator,
    report: Report,
) -> dict[int, int]:
    spec = wired.spec
    tenant = spec.tenants[which[0]].name
    where = spec.at("tenants", which[0], "networks", which[1], "gateway")
    key = f"address/network/{tenant}/{network.name}"
    leaves = _leaf_numbers(wired, allocator)
    space = _network_space(network, leaves)
    keys = [name for name in sorted(allocator.area_allocator.known) if name.startswith(f"{spec.name}:{key}/")]
    lost = allocator.area_allocator.keep((name, space) for name in keys)
    for moved in dict.fromkeys(item.key.partition(":")[2] for item in lost if item.reason == MOVED_POOL):
        report.warn(
            "FAB183",
            where,
            f"fabric '{spec.name}': numbers in use change ({moved} of the lock file): {MOVED_POOL}",
            "see the files of the servers for the new numbers",
        )
    texts = sorted({lock_repair.in_words(item).partition(":")[2] for item in lost if item.reason != MOVED_POOL})
    if texts:
        report.warn("FAB193", where, lock_repair.message(spec.name, texts), lock_repair.HINT)
    result: dict[int, int] = {}
    for group in sorted({end[0] for end in ends.values()}):
        ends_of_group = {link: end for link, end in ends.items() if end[0] == group}
        try:
            area = allocator.area_allocator.area(
                f"{spec.name}:{key}/{group}", space, _need([end[1:] for end in ends_of_group.values()])
            )
        except Exhausted as error:
            report.error(
                "FAB149",
                where,
                f"network '{network.name}' of '{tenant}': expected a subnet with room for the gateway, "
                f"{plural(leaves, 'leaf', 'leaves')} and {error.requested} addresses of {_in_words(group)}, "
                f"got a /{network.length}",
                "use a larger subnet, or divide the tenant's servers over several networks",
            )
            continue
        result |= {link: area.number(end[1], end[2]) for link, end in ends_of_group.items()}
    return result


def _in_words(group: str) -> str:
    kind, slash, name = group.partition("/")
    return f"{kind} {name}" if slash else f"{group} servers"


def _need(cells: Sequence[tuple[int, int]]) -> Need:
    """The rectangle around the cells: servers of a tenant are contiguous, and its addresses are used by no other tenant."""
    rows, columns = zip(*cells, strict=True)
    return Need(rows=1 + max(rows), columns=1 + max(columns), row=min(rows), column=min(columns))


def _leaf_numbers(wired: WiredFabric, allocator: FabricAllocator) -> int:
    """The highest number that a leaf has, or will have in the finished fabric; numbers of removed leaves count."""
    prefix = f"{wired.spec.name}:id/leaf/"
    ends = [
        block.end for key, area in allocator.area_allocator.areas.items() if key.startswith(prefix) for block in area.blocks
    ]
    return max([wired.sizing.planned_by_role[LEAF], *ends])


def _network_space(network: NetworkPlan, leaves: int) -> NumberSpace:
    """Addresses available to servers: the first is the gateway, every leaf has one at the end.

    Tenants may reuse each other's subnets, so every network has a space of its own.
    """
    net = IPNetwork(f"{ip_address(network.subnet)}/{network.length}")
    end = net.last - (net.version == 4) + 1 - leaves
    return NumberSpace([(net.first + 2, end)] if end > net.first + 2 else [])
