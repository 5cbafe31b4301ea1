"""Ports for attachments: ports that no planned server needs, spread over the leaves; and those of management networks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_network

import numpy as np

from fabric.base.diagnostics import Diagnostic, Report
from fabric.base.text import listed, plural
from fabric.design.planner.lock_repair import leaf_ports
from fabric.design.planner.sizing import leaf_shape
from fabric.design.planner.wiring import GroupSites, attachment_links
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import (
    ATTACHMENT,
    LEAF,
    Device,
    FabricPlan,
    FabricSpec,
    GroupSpec,
    Links,
    NetworkPlan,
    Sizing,
    Slot,
    splits_left,
)
from fabric.model.plan.lock import FabricLock, PortSpot
from fabric.model.plan.sizing import positions
from fabric.model.settings.site import Attachment

# --- places of servers in their units: the k-th server takes the k-th place that no attachment holds ----------


def hold(spec: FabricSpec, lock: FabricLock) -> FabricSpec:
    """The fabric with the places that its attachments hold, or held, according to the lock."""
    attached_links = {attachment.name: attachment.links for attachment in spec.attachments}
    leaf_columns = list(leaf_ports(lock.attachments, attached_links))
    if not leaf_columns:
        return spec
    present = set(
        leaf_ports({attachment: lock.attachments.get(attachment, ()) for attachment in attached_links}, attached_links)
    )
    groups = tuple(_with_held(spec, group, lock, leaf_columns, present) for group in spec.groups)
    return replace(spec, groups=groups)


def holds(spec: FabricSpec, lock: FabricLock, spots: Sequence[tuple[int, int]]) -> bool:
    """Whether any of these leaf ports keeps a place from servers, in a fabric that `hold` has seen."""
    return any(set(_held(spec, group, lock, spots)) & set(group.held) for group in spec.groups)


def _with_held(
    spec: FabricSpec, group: GroupSpec, lock: FabricLock, spots: list[tuple[int, int]], present: set[tuple[int, int]]
) -> GroupSpec:
    """A group with its held places. A removed attachment holds its place only while later places have servers."""
    held = _held(spec, group, lock, spots)
    now = _held(spec, group, lock, sorted(present))
    behind = replace(group, held=held).places(group.count)
    return replace(group, held=tuple(place for place in held if place in now or place < behind))


def _held(spec: FabricSpec, group: GroupSpec, lock: FabricLock, spots: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Places of a group, counted over all its units, whose leaf ports attachments have."""
    ports, per_leaf, unit_servers = leaf_shape(spec, group)
    places = set()
    for leaf, slot in spots:
        for block in lock.blocks.get(f"id/leaf/{group.name}", ()):
            row, column = divmod(leaf - 1 - block.base, block.stride)
            if block.base <= leaf - 1 < block.end and slot < per_leaf * ports:
                rack = column // spec.leaves_per_nic(group) if spec.kind == "rack" else 0
                places.add((block.row + row) * unit_servers + rack * per_leaf + slot // ports)
    return tuple(sorted(places))


# --- ports of attachments -------------------------------------------------------------------------------------

LeafColumn = tuple[int, int]  # leaf number from 1, and column of the leaf's server block
Free = dict[int, dict[int, dict[int, Slot]]]  # leaf number → column → speed → slot


@dataclass
class Ports:
    """The leaf ports that attachments may take, and the taken ones."""

    free: Free
    model: SwitchModel
    used: set[LeafColumn] = field(default_factory=set)
    split_for: dict[tuple[int, int], int] = field(default_factory=dict)  # (leaf, cage) → speed of its breakout, 0: disabled

    def take(self, spot: LeafColumn, speed_gbps: int) -> Slot | None:
        """Takes a port at a speed; None when it is not free, or its cage is broken out for another speed."""
        leaf, column = spot
        slot = self.free.get(leaf, {}).get(column, {}).get(speed_gbps)
        if slot is None or spot in self.used:
            return None
        cage, following = (leaf, slot.cage), (leaf, slot.cage + 1)
        disabling = self.model.is_wide(slot.split)
        if disabling and cage not in self.split_for and following in self.split_for:
            return None
        if self.split_for.setdefault(cage, speed_gbps) != speed_gbps:
            return None
        if disabling:
            self.split_for[following] = 0
        self.used.add(spot)
        return slot

    def spread(self, missing: int, speed_gbps: int) -> list[tuple[LeafColumn, Slot]]:
        """Takes `missing` ports, or all free ones: one per leaf in each round, from the last port of each leaf downwards."""
        spots: list[tuple[LeafColumn, Slot]] = []
        left = {leaf: sorted(columns) for leaf, columns in self.free.items()}
        while left and len(spots) < missing:
            for leaf in sorted(left):
                slot = None
                while left[leaf] and slot is None:
                    spot = (leaf, left[leaf].pop())
                    slot = self.take(spot, speed_gbps)
                if slot is None:
                    del left[leaf]
                    continue
                spots.append((spot, slot))
                if len(spots) == missing:
                    break
        return spots


def place(
    spec: FabricSpec, sizing: Sizing, sites: Sequence[GroupSites], first_attachment: int, lock: FabricLock, report: Report
) -> tuple[Links | None, dict[str, tuple[PortSpot, ...]]]:
    """Links of all attachments, and their leaf ports for the lock: known ports that are still free are kept."""
    attachments, spots_by_attachment = spec.attachments, lock.attachments
    ports = Ports(_free_slots(spec, sites) if attachments else {}, spec.leaf.model)
    speeds = {attachment.name: attachment.speed_gbps or sizing.groups[0].down_gbps for attachment in attachments}
    held = {
        attachment.name: _keep(ports, attachment, spots_by_attachment.get(attachment.name, ()), speeds[attachment.name])
        for attachment in attachments
    }
    placed: list[tuple[int, LeafColumn, Slot]] = []
    places: dict[str, tuple[PortSpot, ...]] = {}
    for index, attachment in enumerate(attachments):
        fresh = iter(ports.spread(held[attachment.name].count(None), speeds[attachment.name]))
        spots = [spot for spot in (old or next(fresh, None) for old in held[attachment.name]) if spot is not None]
        if len(spots) < attachment.links:
            _report_short(spec, index, attachment, speeds[attachment.name], len(spots), report)
        placed += [(first_attachment + index, spot, slot) for spot, slot in spots]
        places[attachment.name] = tuple(PortSpot(port, *spot) for port, (spot, _) in enumerate(spots, 1))
    retired = _retired(spec, {name: spots for name, spots in spots_by_attachment.items() if name not in speeds}, ports, lock)
    return _links(sites, placed), dict(sorted({**places, **retired}.items()))


def _retired(
    spec: FabricSpec, known: Mapping[str, Sequence[PortSpot]], ports: Ports, lock: FabricLock
) -> dict[str, tuple[PortSpot, ...]]:
    """Ports that removed attachments keep from servers, less those in use by others."""
    left = {name: tuple(s for s in spots if (s.leaf, s.slot) not in ports.used) for name, spots in known.items()}
    return {name: spots for name, spots in left.items() if holds(spec, lock, [(s.leaf, s.slot) for s in spots])}


def _keep(
    ports: Ports, attachment: Attachment, known: Sequence[PortSpot], speed_gbps: int
) -> list[tuple[LeafColumn, Slot] | None]:
    """The leaf ports of the attachment in order, None where one is still to be chosen."""
    kept: list[tuple[LeafColumn, Slot] | None] = [None] * attachment.links
    for known_port in known:
        spot = (known_port.leaf, known_port.slot)
        if known_port.port <= attachment.links and (slot := ports.take(spot, speed_gbps)) is not None:
            kept[known_port.port - 1] = (spot, slot)
    return kept


def _report_short(spec: FabricSpec, at: int, attachment: Attachment, speed_gbps: int, got: int, report: Report) -> None:
    report.error(
        "FAB140",
        spec.at("topology", "attachments", at),
        f"attachment '{attachment.name}': expected at most {plural(got, 'link')}, the free leaf ports of {speed_gbps}G, "
        f"got {attachment.links}",
        "use fewer servers per unit, or a leaf with more ports",
    )


def _links(sites: Sequence[GroupSites], placed: Sequence[tuple[int, LeafColumn, Slot]]) -> Links | None:
    """The links of attachments; the ports of each are numbered from 1 in their order."""
    if not placed:
        return None
    index = {int(n) + 1: int(i) for site in sites for n, i in zip(site.number.flat, site.leaf.flat, strict=True)}
    links = attachment_links(
        [index[leaf] for _, (leaf, _), _ in placed],
        [leaf - 1 for _, (leaf, _), _ in placed],
        [slot for *_, slot in placed],
        [column for _, (_, column), _ in placed],
        [attachment for attachment, *_ in placed],
    )
    port = np.zeros(len(links), dtype=np.int32)
    for attachment in np.unique(links.a):
        port[links.a == attachment] = np.arange(1, int((links.a == attachment).sum()) + 1)
    return replace(links, a_cage=port)


def _free_slots(spec: FabricSpec, sites: Sequence[GroupSites]) -> Free:
    """Places of servers that are not planned, then free cages."""
    result: Free = {}
    for site, group in zip(sites, spec.groups, strict=True):
        size, layout = site.size, site.layout
        # Subports of server speed come first: the block of the leaf has addresses for them, and may have none for others.
        left = {cage: splits_left(spec.leaf.model, layout, cage) for cage in layout.free}
        subs = [(cage, sub, splits) for cage, splits in left.items() for sub in range(8)]
        coarse = [entry for entry in subs if entry[1] < entry[2].get(size.down_gbps, 0)]
        fine = [entry for entry in subs if entry[2].get(size.down_gbps, 0) <= entry[1] < max(entry[2].values(), default=0)]
        cages = {
            len(layout.down) + index: {speed: Slot(cage, sub, n, speed) for speed, n in splits.items() if sub < n}
            for index, (cage, sub, splits) in enumerate(coarse + fine)
        }
        planned = min(group.planned, size.units * size.unit_servers)  # later servers are in other units
        occupied = set(positions(planned, group.held).tolist())
        per_rack = size.unit_leaves // max(1, size.unit_servers // size.servers_per_leaf)
        for unit in range(size.units):
            for leaf in range(size.unit_leaves):
                before = unit * size.unit_servers
                if spec.kind == "rack":
                    before += leaf // per_rack * size.servers_per_leaf
                seats = {
                    seat: {size.down_gbps: layout.down[seat]}
                    for seat in range(size.down)
                    if before + seat // size.leaf_ports_per_server not in occupied
                }
                result[int(site.number[unit, leaf]) + 1] = {**seats, **cages}
    return result


# --- management ports -----------------------------------------------------------------------------------------
# Management ports of the site's switches: which leaf port of an out-of-band network each is cabled to.
#
# A network whose subnet is a management pool is a management network. Ports of attachments in it are those of switches: the
# k-th port of an attachment keeps its switch in the lock, so that switches which come later move no cable.

SHOWN = 3
RECIPE = (
    "add `attachments: [{name: switch-management, links: …, tenant: …}]` with a link per switch, in a tenant network whose "
    "`gateway` is the prefix of `pools.management`"
)


@dataclass(frozen=True)
class _ManagedPort:
    """A leaf port in a management network."""

    fabric: str
    link: int
    attachment: str
    port: int  # of the attachment, from 1


def assign(
    plans: Mapping[str, FabricPlan], locks: Mapping[str, FabricLock], earlier: Mapping[str, FabricLock], report: Report
) -> tuple[dict[str, FabricPlan], dict[str, FabricLock]]:
    """Plans and locks with a switch for every port of a management network.

    Args:
        plans: every fabric, in the order of the intent.
        locks: what the lock will hold of them.
        earlier: what it held, with the switch of each port.
    """
    managed = {prefix for plan in plans.values() for prefix in plan.prefixes["management"]}
    spots: dict[str, list[_ManagedPort]] = {}
    for name, plan in plans.items():
        for link, network in _ports(plan, managed):
            device = plan.devices[int(plan.links.a[link])]
            spots.setdefault(network.prefix, []).append(_ManagedPort(name, link, device.name, int(plan.links.a_cage[link])))
            _check_gateway(plan, network, plans, report)
    chosen = {
        (known_fabric, name, spot.port): spot.switch
        for known_fabric, entry in earlier.items()
        for name, leaf_spots in entry.attachments.items()
        for spot in leaf_spots
        if spot.switch
    }
    served: dict[str, dict[int, Device]] = {}
    for prefix, ports in spots.items():
        out_of_band = {spot.fabric for spot in ports}
        for spot, device in _dealt(ports, _switches(plans, prefix, out_of_band), chosen).items():
            served.setdefault(spot.fabric, {})[spot.link] = device
    _report_rest(plans, spots, served, report)
    return (
        {name: replace(plan, management_ports=served.get(name, {})) for name, plan in plans.items()},
        {name: _kept(lock, plans[name], served.get(name, {})) for name, lock in locks.items()},
    )


def _ports(plan: FabricPlan, managed: Collection[str]) -> Iterator[tuple[int, NetworkPlan]]:
    """The links of attachments that are untagged in a management network, by port of the attachment."""
    links = plan.links
    found = np.flatnonzero(links.kind == ATTACHMENT)
    for link in found[np.lexsort((links.a_cage[found], links.a[found]))].tolist():
        networks = plan.tenancy.networks(link)
        if len(networks) == 1 and networks[0].prefix in managed:
            yield link, networks[0]


def _switches(plans: Mapping[str, FabricPlan], prefix: str, own: Collection[str]) -> list[Device]:
    """Switches with an address of the prefix; those of the out-of-band fabric itself, which has them elsewhere, last."""
    net = ip_network(prefix)
    first, last = int(net.network_address), int(net.broadcast_address)
    ordered = sorted(plans.values(), key=lambda plan: plan.name in own)
    return [device for plan in ordered for device in plan.switches if first <= int(plan.management[device.index]) <= last]


def _dealt(
    ports: list[_ManagedPort], switches: list[Device], chosen: Mapping[tuple[str, str, int], str]
) -> dict[_ManagedPort, Device]:
    """A switch for every port: the one of the lock, else the first that has none."""
    by_name = {device.name: device for device in switches}
    switch_of: dict[_ManagedPort, Device] = {}
    for spot in ports:
        name = chosen.get((spot.fabric, spot.attachment, spot.port), "")
        if name in by_name:
            switch_of[spot] = by_name.pop(name)
    left = iter(by_name.values())
    fresh = {spot: next(left, None) for spot in ports if spot not in switch_of}
    return switch_of | {spot: device for spot, device in fresh.items() if device is not None}


def _kept(lock: FabricLock, plan: FabricPlan, served: Mapping[int, Device]) -> FabricLock:
    """The lock with the switch of every port."""
    names = {(plan.devices[int(plan.links.a[k])].name, int(plan.links.a_cage[k])): d.name for k, d in served.items()}
    attachments = {
        name: tuple(spot._replace(switch=names.get((name, spot.port), "")) for spot in spots)
        for name, spots in lock.attachments.items()
    }
    return replace(lock, attachments=attachments)


def _check_gateway(plan: FabricPlan, network: NetworkPlan, plans: Mapping[str, FabricPlan], report: Report) -> None:
    """Switches send to `management.gateway`, which the network must have; and no address is both a switch's and a leaf's."""
    tenant, place = next(
        (t, n) for t, tenant in enumerate(plan.tenancy.tenants) for n, other in enumerate(tenant.networks) if other is network
    )
    where = plan.spec.at("tenants", tenant, "networks", place, "gateway")
    shown = f"network '{network.name}' of the management ports"
    for other in plans.values():
        stated = other.spec.management.gateway
        if stated and network.prefix in other.prefixes["management"] and int(ip_address(stated)) != network.gateway:
            report.error(
                "FAB136",
                where,
                f"{shown}: its gateway is {ip_address(network.gateway or 0)}, and the switches of fabric '{other.name}' have "
                f"`management.gateway` {stated}",
                "remove `management.gateway`: the first address of the pool is the default",
            )
    leaves = {network.own_address(device.number): device.name for device in plan.switches if device.role == LEAF}
    for other in plans.values():
        for device in other.switches:
            number = int(other.management[device.index])
            if number in leaves or number == network.gateway:
                report.error(
                    "FAB136",
                    where,
                    f"{shown}: {ip_address(number)} of {device.name} is also the address of "
                    f"{leaves.get(number, 'the gateway')} in it",
                    "set a larger `pools: {management: …}`, and `gateway` to the same prefix",
                )


def _report_rest(
    plans: Mapping[str, FabricPlan],
    spots: Mapping[str, list[_ManagedPort]],
    served: Mapping[str, Mapping[int, Device]],
    report: Report,
) -> None:
    """Switches whose management port has no leaf port, in a site with an out-of-band fabric."""
    oob = {name for name, plan in plans.items() if plan.spec.purpose == "oob" and plan.spec.ethernet}
    out_of_band = {spot.fabric for ports in spots.values() for spot in ports} or oob
    if not out_of_band:
        return
    done = {device.name for devices in served.values() for device in devices.values()}
    switches = [device.name for name, plan in plans.items() if name not in out_of_band for device in plan.switches]
    bare = [name for name in switches if name not in done]
    if not bare:
        return
    name = min(out_of_band)
    message = (
        f"fabric '{name}': no leaf port is planned for the management port of {plural(len(bare), 'switch', 'switches')}: "
        f"{listed(bare, SHOWN)}"
    )
    place = plans[name].spec.at("topology", "attachments") if spots else plans[name].spec.at()
    missing = f"add {len(bare)} to `links` of the attachment" if spots else RECIPE
    report.warnings.append(Diagnostic("FAB194", place, message, missing, "warning" if spots else "note"))
