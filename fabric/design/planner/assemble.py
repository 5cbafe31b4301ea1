"""Puts the stages together: from a sized fabric to its devices, links and addresses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.diagnostics import Report
from fabric.base.text import plural
from fabric.design.planner import attachments, inventory, patching, pins, stated_links, switchless, wiring
from fabric.design.planner.addresses import Addresses, FabricAllocator, allocate, asn_areas, pinned, server_key
from fabric.design.planner.host_addresses import WiredFabric
from fabric.design.planner.numbers import AreaAllocator, Numbers, NumberSpace, number
from fabric.design.planner.pools import PoolSet
from fabric.design.planner.tenancy import tenancy
from fabric.design.planner.tenant_numbers import check_pools, numbers_of
from fabric.design.planner.wiring import continued, epochs, joined, records
from fabric.model.plan import (
    ATTACHMENT,
    LEAF,
    LEAF_LEAF,
    LEAF_SPINE,
    SERVER_LEAF,
    SPINE_CORE,
    SWITCH_ROLES,
    Area,
    Device,
    Epoch,
    FabricPlan,
    FabricSpec,
    Ints,
    Layout,
    Links,
    Record,
    Shape,
    Sizing,
    Tenancy,
    Uplink,
    asn_rows,
    blocks_of,
    capacity,
    concatenate,
    core_downlinks,
    leaf_layout,
    nic_uses,
    server_ports,
    spine_downlinks,
    spine_layout,
    unit_plan,
)
from fabric.model.plan.lock_file import FabricLock, PortSpot
from fabric.model.plan.patching import Patching


@dataclass(frozen=True, kw_only=True)
class Context:
    """State that the fabrics of a site share during planning."""

    site: str
    area_allocator: AreaAllocator
    spaces: Mapping[str, NumberSpace]
    pools: PoolSet
    lock: FabricLock
    report: Report
    nos: Mapping[str, str]  # network OS by role
    management: Collection[str]  # management subnets of all fabrics


def plan_fabric(spec: FabricSpec, sizing: Sizing, context: Context) -> tuple[FabricPlan, FabricLock] | None:
    """Plans one fabric. Mistakes go to the report; None when one of them leaves nothing to plan."""
    if spec.switchless:
        return switchless.plan(spec, sizing, context)
    report = context.report
    errors = len(report.errors)
    _check_max_prefix(spec, sizing, report)
    layouts = {size.name: leaf_layout(spec, sizing, size) for size in sizing.groups}
    numbers = number(spec, sizing, context.area_allocator, context.spaces)
    allocator = FabricAllocator(spec, context.area_allocator, context.spaces, context.pools, report)
    addresses = allocate(spec, sizing, numbers, allocator)
    asns = asn_areas(spec, sizing, numbers, allocator)
    if len(report.errors) > errors:
        return None
    devices, index = inventory.devices(spec, sizing, numbers, context.site, context.nos, report)
    history, by_rule, uplinks, attached_ports, patched = _wire(spec, sizing, numbers, layouts, index, context)
    devices = pins.rename(spec, _with_asns(spec, devices, asns, report), report)
    links, added = stated_links.apply(spec, devices, pins.move_ports(spec, devices, by_rule, report), report)
    if spec.tenants and len(report.errors) == errors:  # tenants refer to servers by name
        inventory.check_unique(((spec.name, device) for device in devices), inventory.places(spec), report)
        if len(report.errors) > errors:
            return None
    tenants = tenancy(
        WiredFabric(spec, sizing, devices, links, context.management), context.lock.tenants, addresses, allocator, report
    )
    check_pools(spec, context.pools.prefixes, tenants.routed, report)
    plan = _addressed(spec, sizing, devices, links, addresses, tenants, numbers=numbers, added=added, context=context)
    plan = replace(plan, uplinks=uplinks, patching=patching.after(by_rule, patched, links))
    lock = FabricLock(
        blocks=plan.blocks, wiring=history, attachments=attached_ports, tenants=numbers_of(spec, tenants.tenants)
    )
    return plan, lock


def _check_max_prefix(spec: FabricSpec, sizing: Sizing, report: Report) -> None:
    """Refuses a stated limit below the routes of the fabric, which would end every session."""
    stated, routes = spec.underlay.max_prefix, sizing.planned_routes
    if stated is not None and stated < routes:
        report.error(
            "FAB104",
            spec.at("underlay", "max_prefix"),
            f"underlay.max_prefix: expected at least the {routes} routes of the finished fabric, got {stated}",
            "remove it: the default is twice that number, and at least 12000",
        )


def _with_asns(spec: FabricSpec, devices: list[Device], asns: Mapping[str, Area], report: Report) -> list[Device]:
    """Devices with their AS numbers, pins included."""
    if not spec.ethernet:
        return devices
    switches = [device for device in devices if device.role in SWITCH_ROLES]
    per_device = spec.underlay.asn.scheme == "per-device"
    rows = asn_rows(spec.underlay.asn.scheme, switches)
    natural = np.array([asns[d.role].number(rows[d.index]) for d in switches], dtype=np.int64)
    pinned_asns = pins.values(spec, switches, "asn")
    for role in SWITCH_ROLES:
        positions = np.array([member for member, device in enumerate(switches) if device.role == role], dtype=np.int64)
        place = {int(member): n for n, member in enumerate(positions)}
        pinned_here = {place[member]: asn for member, asn in pinned_asns.items() if member in place}
        if (role == LEAF and spec.underlay.asn.scheme != "per-pair") or per_device:
            natural[positions] = pinned(natural[positions], pinned_here)
        else:  # a shared number: a pin changes a single switch
            natural[positions[list(pinned_here)]] = list(pinned_here.values())
    pins.check_asns(spec, switches, natural, report)
    result = [replace(d, asn=int(asn)) for d, asn in zip(switches, natural, strict=True)]
    return [*result, *devices[len(result) :]]


def _shapes(sizing: Sizing) -> dict[str, Shape]:
    """The shape of each wiring: what it is begun again for."""
    shape = Shape(sizing.tiers, sizing.networks, sizing.uplink_gbps, sizing.units_per_pod)
    return {"leaf-spine": shape, "spine-core": replace(shape, spines_per_core=sizing.spines_per_core)}


def _wire(
    spec: FabricSpec,
    sizing: Sizing,
    numbers: Numbers,
    layouts: Mapping[str, Layout],
    index: inventory.Index,
    context: Context,
) -> tuple[dict[str, tuple[Record, ...]], Links, tuple[Uplink, ...], dict[str, tuple[PortSpot, ...]], Patching | None]:
    """All links, those to a fabric above apart, their records for the lock, and their patch panels."""
    shapes, recorded = _shapes(sizing), context.lock.wiring
    chains = {kind: joined(recorded.get(kind, ()), shape) for kind, shape in shapes.items()}
    histories = {kind: epochs(chain) for kind, chain in chains.items()}
    sites = [
        wiring.GroupSites(
            size=size,
            unit=unit_plan(spec, size.unit_leaves, spec.leaves_per_nic(group)),
            ports=server_ports(spec, group),
            leaf=index.leaf[size.name],
            number=numbers.leaf[size.name],
            first_server=index.server[size.name],
            layout=layouts[size.name],
        )
        for size, group in zip(sizing.groups, spec.groups, strict=True)
        if not group.shared
    ]
    parts = [wiring.server_links(site, spec.kind == "rack") for site in sites]
    history: dict[str, tuple[Epoch, ...]] = {}
    wired: list[patching.Wired] = []
    if spec.kind == "collapsed":
        parts.append(wiring.pair_links(sites[0], sizing))
    if sizing.spines:
        history["leaf-spine"], links, lowers = _leaf_spine(spec, sizing, numbers, sites, index, histories["leaf-spine"])
        parts.append(links)
        wired += patching.of_leaves(spec, sizing, history["leaf-spine"], lowers, index.spine)
    if sizing.cores:
        down = core_downlinks(spec, sizing)
        places, room = numbers.pods, len(down) // sizing.links_per_core  # spines that a core has ports for
        if (int(places.max()) + 1) * sizing.spines_per_core > room:  # removed pods occupy no ports
            places = np.arange(len(places))
        spines = (int(places.max()) + 1) * sizing.spines_per_core
        held = max((epoch.lowers for epoch in histories["spine-core"]), default=0)
        if spines < held <= room:  # removed pods that may return keep their ports
            spines = held
        current = Epoch(sizing.cores, ((wiring.SPINES, sizing.links_per_core),), spines)
        history["spine-core"] = continued(
            histories["spine-core"], current, [wiring.SPINES] * spines, {wiring.SPINES: sizing.spine_uplinks}, len(down)
        )
        parts.append(
            wiring.spine_core_links(
                sizing,
                history["spine-core"],
                index.spine,
                numbers.spine,
                index.core,
                wiring.slot_table(spine_layout(spec, sizing).up),
                core_down=wiring.slot_table(down),
                pod_places=places,
            )
        )
        wired += patching.of_spines(spec, sizing, history["spine-core"], index.spine, index.core, places)
    further_links, uplinks, taken_ports = attachments.place(spec, sizing, sites, index, context.lock, context.report)
    parts += further_links
    entries = {
        kind: records(epochs_now, chains[kind], recorded.get(kind, ()), shapes[kind]) for kind, epochs_now in history.items()
    }
    links = concatenate(parts)
    return entries, links, uplinks, taken_ports, patching.patching(spec.name, links, wired)


def _leaf_spine(
    spec: FabricSpec,
    sizing: Sizing,
    numbers: Numbers,
    sites: Sequence[wiring.GroupSites],
    index: inventory.Index,
    earlier: Sequence[Epoch],
) -> tuple[tuple[Epoch, ...], Links, list[patching.Lowers]]:
    """Leaf-spine links: in two tiers from every spine to all leaves of its network, else to those of its pod."""
    links = tuple(sorted((size.name, sizing.links_per_spine(size)) for size in sizing.leaf_groups))
    uplinks = {size.name: size.uplinks for size in sizing.leaf_groups}
    down = wiring.slot_table(spine_downlinks(spec, sizing))
    if sizing.tiers == 2:
        arrivals, first = _arrivals(spec, sizing, numbers)
        places = [first[site.size.name][:, None] + site.unit.rank[None, :] for site in sites]
        history = continued(earlier, Epoch(sizing.spines, links, len(arrivals)), arrivals, uplinks, len(down))
        pods = [np.zeros_like(site.leaf) for site in sites]
        made = wiring.leaf_spine_links(sites, sizing, history, arrivals, places, index.spine, pods=pods, spine_down=down)
        return (
            history,
            made,
            [patching.Lowers(arrivals, {site.size.name: its for site, its in zip(sites, places, strict=True)}, sites)],
        )
    leaves = {size.name: size.leaves_of_pod(sizing.units_per_pod, sizing.networks) for size in sizing.groups}
    current = Epoch(sizing.spines, links, max(leaves.values()))
    tried = [continued(earlier, current, [name] * count, uplinks, len(down)) for name, count in leaves.items()]
    history = min(tried, key=len)  # pods do not mix groups: all groups keep the same part of the history
    parts, lowers = [], []
    for site in sites:
        size, per_unit = site.size, site.size.leaves_of_pod(1, sizing.networks)
        unit = np.arange(size.units)
        place = (unit % sizing.units_per_pod)[:, None] * per_unit + site.unit.rank[None, :]
        row = (unit // sizing.units_per_pod * size.pods_per_unit)[:, None] + site.unit.pod[None, :]
        pods = [numbers.pod_places(size.name)[row]]
        arrivals = [size.name] * leaves[size.name]
        parts.append(
            wiring.leaf_spine_links([site], sizing, history, arrivals, [place], index.spine, pods=pods, spine_down=down)
        )
        lowers.append(patching.Lowers(arrivals, {size.name: place}, [site]))
    return history, concatenate(parts), lowers


def _arrivals(spec: FabricSpec, sizing: Sizing, numbers: Numbers) -> tuple[list[str], dict[str, Ints]]:
    """Leaves of one network in order of arrival, as group names, and each unit's first place among them.

    Numbers that are kept for units which are not built hold their place, as long as the spine has the ports.
    """
    sizes = {size.name: size for size in sizing.groups}
    ports = capacity(spec.spine.model, sizing.uplink_gbps)
    order = numbers.arrivals
    needed = sum(sizes[n].unit_leaves // sizing.networks * sizing.links_per_spine(sizes[n]) for n, *_ in order if n in sizes)
    if needed > ports:
        order = [(n, unit, leaves) for n, unit, leaves in order if n not in sizes or unit < sizes[n].units]
    arrivals: list[str] = []
    first = {name: np.zeros(size.units, dtype=np.int64) for name, size in sizes.items()}
    for name, unit, leaves in order:
        if name in sizes and unit < sizes[name].units:
            first[name][unit] = len(arrivals)
        arrivals += [name] * (leaves // sizing.networks)
    return arrivals, first


def _addressed(
    spec: FabricSpec,
    sizing: Sizing,
    devices: list[Device],
    links: Links,
    addresses: Addresses,
    tenants: Tenancy,
    *,
    numbers: Numbers,
    added: Ints,
    context: Context,
) -> FabricPlan:
    """The plan, with an address for everything that has one."""
    switches = [device for device in devices if device.role in SWITCH_ROLES]
    v6 = spec.underlay.addressing == "ipv6"

    def per_device(areas: Mapping[str, Area], pin: str) -> NDArray[Any]:
        natural = np.array([areas[d.role].number(d.number - 1) for d in switches], dtype=object)
        pinned_addresses = {position: int(ip_address(text)) for position, text in pins.values(spec, switches, pin).items()}
        full = np.full(len(devices), -1, dtype=object)
        full[: len(switches)] = pinned(natural, pinned_addresses)
        return full

    by_rule = ~np.isin(np.arange(len(links)), added)
    subnet, aggregate = _subnets(spec, sizing, links, addresses, numbers, devices, by_rule=by_rule)
    if len(added):
        stated_links.address(spec, devices, links, added, addresses.added, subnet, report=context.report)
    _check_external_connections(spec, tenants, subnet, context.report)
    if spec.converged and spec.ethernet:
        _check_routed_nics(spec, devices, links, tenants, subnet, context.report)
    return FabricPlan(
        name=spec.name,
        spec=spec,
        sizing=sizing,
        devices=tuple(devices),
        links=links,
        subnet=subnet,
        subnet_length=127 if v6 else 31,
        loopback=per_device(addresses.loopback, "loopback"),
        loopback6=per_device(addresses.loopback6, "") if v6 else np.full(len(devices), -1),
        management=per_device(addresses.management, "management"),
        aggregate=aggregate,
        prefixes=context.pools.prefixes,
        tenancy=tenants,
        asn_ranges=context.spaces[f"{spec.name}:asn"].intervals,
        lossless=None,  # set when the floor of the whole site is known
        blocks=blocks_of(context.area_allocator.areas, f"{spec.name}:"),
    )


def _check_external_connections(spec: FabricSpec, tenants: Tenancy, subnet: NDArray[Any], report: Report) -> None:
    """A router of the default VRF needs the subnet of the port, which ports beyond the leaf's server block do not have."""
    attached_ports = [attachment.name for attachment in spec.attachments]
    bare = dict.fromkeys(
        connection.name
        for connection in tenants.external_connections
        if connection.address is None and subnet[connection.link] < 0
    )
    for name in bare:
        report.error(
            "FAB140",
            spec.at("topology", "attachments", attached_ports.index(name)),
            f"attachment '{name}': expected a port whose subnet the leaf's server block holds, got one that is broken out "
            "finer than the servers' ports",
            "set `speed_gbps` to that of the servers' ports, or reduce `links`",
        )


def _check_routed_nics(
    spec: FabricSpec,
    devices: Sequence[Device],
    links: Links,
    tenants: Tenancy,
    subnet: NDArray[Any],
    report: Report,
) -> None:
    """A routed NIC needs the subnet of its port, which ports beyond the leaf's server block do not have."""
    bridged = np.array([bool(tenant.networks) for tenant in tenants.tenants] + [True, False])[tenants.owner]  # CLOSED is -2
    uses, use_of = nic_uses(spec, devices, links)
    bare = use_of[(use_of >= 0) & ~bridged & (subnet < 0)]
    for at in sorted(set(bare.tolist())):
        group, use = uses[at]
        count = int((bare == at).sum())
        report.error(
            "FAB140",
            spec.at("servers", spec.groups.index(group)),
            f"servers '{group.name}', NICs '{use.nics}': expected routed ports whose subnets the leaf's server block holds, "
            f"got {plural(count, 'port')} broken out finer than those of the first NICs",
            f"a tenant with `nics: {use.nics}` and a network with a `gateway` gives them addresses; or state them first",
        )


def _subnets(
    spec: FabricSpec,
    sizing: Sizing,
    links: Links,
    addresses: Addresses,
    numbers: Numbers,
    devices: Sequence[Device],
    *,
    by_rule: NDArray[np.bool_],
) -> tuple[NDArray[Any], dict[int, tuple[int, int]]]:
    """First address of every link `by_rule` (of others -1), and the server prefix of every leaf."""
    subnet = np.full(len(links), -1, dtype=object)
    for kind, area in (
        (LEAF_LEAF, addresses.leaf_leaf),
        (LEAF_SPINE, addresses.leaf_spine),
        (SPINE_CORE, addresses.spine_core),
    ):
        if area is not None:
            of_kind = (links.kind == kind) & by_rule
            subnet[of_kind] = area.numbers(links.row[of_kind], links.column[of_kind]) + (spec.underlay.link_step == 4)
    aggregate: dict[int, tuple[int, int]] = {}
    bits = 128 if spec.underlay.addressing == "ipv6" else 32
    first = np.full(len(devices), -1, dtype=object)
    last = np.zeros(len(devices), dtype=np.int64)  # columns that the leaf's block has addresses for
    for leaf, (area, block), row in _server_rows(spec, sizing, addresses, numbers, devices):
        first[leaf], last[leaf] = area.number(row), block // 2
        aggregate[leaf] = (int(first[leaf]), bits - (block.bit_length() - 1))
    # An attachment on a subport beyond the server ports has no address of the block.
    served = ((links.kind == SERVER_LEAF) | (links.kind == ATTACHMENT)) & (links.column < last[links.b])
    subnet[served] = first[links.b[served]] + links.column[served].astype(object) * 2
    return subnet, aggregate


def _server_rows(
    spec: FabricSpec, sizing: Sizing, addresses: Addresses, numbers: Numbers, devices: Sequence[Device]
) -> Iterator[tuple[int, tuple[Area, int], int]]:
    """(leaf, its server area and the addresses of a row, its row there) of every leaf."""
    leaf_first = numbers.core.size + (numbers.spine.size if sizing.spines else 0)
    by_number = {d.number: d.index for d in devices[leaf_first:] if d.role == LEAF}
    for size, group in zip(sizing.groups, spec.groups, strict=True):
        for unit, place in np.ndindex(numbers.leaf[size.name].shape):
            key = server_key(spec, place, spec.leaves_per_nic(group))
            n = int(numbers.leaf[size.name][unit, place])
            row = n if key == "leaf" else int(numbers.unit[size.name][unit])
            yield by_number[n + 1], addresses.servers[size.name, key], row
