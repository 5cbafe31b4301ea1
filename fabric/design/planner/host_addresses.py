"""Addresses of servers and attachments in the layer-2 networks of tenants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

import numpy as np
from netaddr import IPNetwork

from fabric.base.diagnostics import Report
from fabric.base.text import plural
from fabric.design.planner import lock_repair
from fabric.design.planner.addresses import FabricAllocator
from fabric.design.planner.lock_repair import MOVED_POOL
from fabric.design.planner.numbers import Exhausted, Need, NumberSpace
from fabric.model.plan import (
    ATTACHMENT,
    LEAF,
    SERVER,
    SERVER_LEAF,
    Device,
    FabricSpec,
    GroupSpec,
    Ints,
    Links,
    NetworkPlan,
    NicUse,
    Sizing,
    TenantPlan,
    nic_uses,
    server_ports,
    spread_ports,
)


@dataclass(frozen=True)
class WiredFabric:
    """A fabric with its devices and links."""

    spec: FabricSpec
    sizing: Sizing
    devices: Sequence[Device]
    links: Links
    management: Collection[str] = ()  # management subnets of all fabrics of the site


def links_of(wired: WiredFabric, attachment: str) -> Ints:
    """The links of an attachment."""
    index = next((device.index for device in wired.devices if device.name == attachment), -1)
    return np.flatnonzero((wired.links.kind == ATTACHMENT) & (wired.links.a == index))


def managed_in(subnet: str, management: Collection[str]) -> list[IPNetwork]:
    """The management subnets that lie in a subnet."""
    return [net for net in map(IPNetwork, sorted(management)) if net in IPNetwork(subnet)]


def hosts(
    wired: WiredFabric,
    tenants: Sequence[TenantPlan],
    owner: Ints,
    lag: Ints,
    *,
    allocator: FabricAllocator,
    chosen: Mapping[int, tuple[int, ...]],
    report: Report,
) -> dict[tuple[int, int], dict[int, int]]:
    """Per network the address of every port of servers and attachments in it; the links of a bond have one together.

    In a management network the ports are those of switches, which have their addresses from the pool.
    """
    found = {}
    bridges = {int(link) for name in wired.spec.added for link in links_of(wired, name)}  # switches without an address there
    for n, tenant in enumerate(tenants):
        if not any(network.gateway is not None for network in tenant.networks):
            continue
        ends = {
            link: end for link, end in _ends(wired, np.flatnonzero(owner == n).tolist(), lag).items() if link not in bridges
        }
        for place, network in enumerate(tenant.networks):
            if network.gateway is None:
                continue
            members = {link: end for link, end in ends.items() if place in chosen.get(link, (place,))}
            bridged = tenant.name in wired.spec.bridged_tenants
            if bridged and managed_in(network.prefix, wired.management):  # its attachments are the ports of switches
                members = {link: end for link, end in members.items() if wired.links.kind[link] == SERVER_LEAF}
            if network.prefix in wired.management:
                _check_management(wired, (n, place), network, members, report)
            else:
                found[n, place] = _network_hosts(wired, (n, place), network, members, allocator, report)
    return found


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
    managed = managed_in(network.prefix, wired.management) if tenant in spec.bridged_tenants else []
    space = _network_space(network, leaves, managed)
    home, of_fabric = (spec.below.fabric, f"{spec.name}/") if spec.below else (spec.name, "")  # whose numbers they are
    keys = [name for name in sorted(allocator.area_allocator.known) if name.startswith(f"{home}:{key}/")]
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
    new = [area for name, area in allocator.area_allocator.areas.items() if name.startswith(f"{home}:{key}/")]
    for block in (block for area in new for block in area.blocks if space.is_free(block.base, block.end)):
        space.take(block.base, block.end)
    result: dict[int, int] = {}
    for group in sorted({end[0] for end in ends.values()}):
        ends_of_group = {link: end for link, end in ends.items() if end[0] == group}
        try:
            area = allocator.area_allocator.area(
                f"{home}:{key}/{of_fabric}{group}", space, _need([end[1:] for end in ends_of_group.values()])
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
    home = wired.spec.below.fabric if wired.spec.below else wired.spec.name  # whose leaves have the gateway
    prefix = f"{home}:id/leaf/"
    ends = [
        block.end for key, area in allocator.area_allocator.areas.items() if key.startswith(prefix) for block in area.blocks
    ]
    return max([0 if wired.spec.below else wired.sizing.planned_by_role[LEAF], *ends])


def _network_space(network: NetworkPlan, leaves: int, management: Sequence[IPNetwork]) -> NumberSpace:
    """Addresses available to servers: the first is the gateway, every leaf has one at the end; a management pool has its own.

    Tenants may reuse each other's subnets, so every network has a space of its own.
    """
    net = IPNetwork(f"{ip_address(network.subnet)}/{network.length}")
    end = net.last - (net.version == 4) + 1 - leaves
    taken = [(pool.first, pool.last + 1) for pool in management]
    return NumberSpace([(net.first + 2, end)] if end > net.first + 2 else [], sorted(taken))
