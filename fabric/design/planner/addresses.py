"""Addresses and AS numbers: one area per kind, rows and columns from the stable numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabric.base.diagnostics import Place, Report
from fabric.design.planner.numbers import AreaAllocator, Exhausted, Need, Numbers, NumberSpace, power_of_two
from fabric.design.planner.pools import PoolSet
from fabric.design.planner.splits import server_block
from fabric.model.plan import CORE, LEAF, SPINE, Area, FabricSpec, GroupSize, GroupSpec, Ints, Sizing

ROLES = (CORE, SPINE, LEAF)


@dataclass(frozen=True, kw_only=True)
class Addresses:
    """The address areas of a fabric; a kind that the fabric does not have is missing."""

    loopback: Mapping[str, Area]  # by role
    loopback6: Mapping[str, Area]
    vtep: Area | None
    management: Mapping[str, Area]
    leaf_leaf: Area | None
    leaf_spine: Area | None
    spine_core: Area | None
    added: Area | None  # of links that the intent adds, a row each
    servers: Mapping[tuple[str, str], tuple[Area, int]]  # by group and server key: the area, addresses of one leaf


def address_spaces(name: str, pools: PoolSet, used: list[tuple[int, int]]) -> dict[str, NumberSpace]:
    """Number spaces of a fabric's addresses by kind; all fabrics of the site share the record of used numbers."""
    return {f"{name}:address/{kind}": pools.space(kind, used) for kind in pools.prefixes}


class FabricAllocator:
    """Allocates one fabric's areas; a pool that is too small becomes a diagnostic, and all of them come at once."""

    def __init__(
        self,
        spec: FabricSpec,
        area_allocator: AreaAllocator,
        spaces: Mapping[str, NumberSpace],
        pools: PoolSet,
        report: Report,
    ) -> None:
        self.short: set[str] = set()  # pools that are too small
        self.spec, self.area_allocator, self.spaces, self.pools, self.report = spec, area_allocator, spaces, pools, report

    def address(self, kind: str, name: str, need: Need, at: tuple[int, int] | None = None) -> Area:
        """The area of addresses of a kind; an empty one when the pool is too small, which is reported.

        Args:
            at: where in the pool it has to be, [first, end).
        """
        key = f"{self.spec.name}:address/{kind}"
        space = self.spaces[key] if at is None else NumberSpace([at], self.spaces[key].used)
        try:
            return self.area_allocator.area(f"{key}/{name}" if name else key, space, need)
        except Exhausted as error:
            if kind in self.short:  # already reported
                return Area(())
            self.short.add(kind)
            place = self.pools.stated.get(kind) or self.spec.at()
            prefixes = ", ".join(self.pools.prefixes[kind])
            held = "; devices that were removed keep theirs until their lines in `lock.yaml` are deleted"
            self.report.error(
                "FAB135",
                place,
                f"pool '{kind}' ({prefixes}) is too small for fabric '{self.spec.name}': {error.requested} addresses are "
                f"needed for {name or kind} in one run, {error.left} are left in all",
                f"use a shorter prefix, or add one: `pools: {{{kind}: [{self.pools.prefixes[kind][0]}, …]}}`"
                + held * bool(self.strides(kind)),
            )
            return Area(())

    def strides(self, kind: str) -> dict[str, int]:
        """The areas of a kind that are in the lock: addresses per row, by name of the area."""
        prefix = f"{self.spec.name}:address/{kind}/"
        known = {key: blocks for key, blocks in self.area_allocator.known.items() if blocks and key.startswith(prefix)}
        return {key.removeprefix(prefix): blocks[0].stride for key, blocks in known.items()}

    def asn(self, name: str, need: Need) -> Area:
        """The area of AS numbers of a role."""
        key = f"{self.spec.name}:asn"
        try:
            return self.area_allocator.area(f"{key}/{name}", self.spaces[key], need)
        except Exhausted as error:
            scheme = self.spec.underlay.asn
            path = ("underlay", "asn", "ranges" if scheme.ranges else "width")
            place: Place = self.spec.at(*path) if self.spec.stated(*path) else self.spec.at()
            self.report.error(
                "FAB137",
                place,
                f"AS numbers: {error.requested} are needed for the {name} switches, {error.left} are free",
                "`underlay: {asn: {width: 4}}` has 94,967,295 private numbers" if scheme.width == 2 else "widen the range",
            )
            return Area(())


def allocate(spec: FabricSpec, sizing: Sizing, numbers: Numbers, allocator: FabricAllocator) -> Addresses:
    """All address areas of a fabric."""
    v6, unnumbered = spec.underlay.addressing == "ipv6", spec.underlay.addressing == "unnumbered"
    rows = rows_by_role(numbers, sizing)
    loopback, loopback6, management = {}, {}, {}
    for role, count in rows.items():
        reserve = power_of_two(max(count, sizing.planned_by_role[role]))
        loopback[role] = allocator.address("loopback", role, Need(rows=count, reserve=reserve))
        management[role] = allocator.address("management", role, Need(rows=count, reserve=reserve))
        if v6:
            loopback6[role] = allocator.address("loopback6", role, Need(rows=count, reserve=reserve))
    overlay = spec.overlay.kind != "none"
    vtep = allocator.address("vtep", LEAF, Need(rows=rows[LEAF], reserve=power_of_two(rows[LEAF]))) if overlay else None

    def links(name: str, role: str, columns: int) -> Area | None:
        if unnumbered or not columns or role not in rows:
            return None
        count = sizing.planes if name == "leaf-leaf" else rows[role]
        reserve = count if name == "leaf-leaf" else power_of_two(max(count, sizing.planned_by_role[role]))
        step = spec.underlay.link_step
        return allocator.address("p2p", name, Need(rows=count, columns=columns, reserve=reserve, step=step))

    uplinks = max(group.uplinks for group in sizing.groups)
    collapsed = sizing.kind == "collapsed"
    return Addresses(
        loopback=loopback,
        loopback6=loopback6,
        vtep=vtep,
        management=management,
        leaf_leaf=links("leaf-leaf", LEAF, uplinks if collapsed else 0),
        leaf_spine=links("leaf-spine", LEAF, uplinks if sizing.spines else 0),
        spine_core=links("spine-core", SPINE, sizing.spine_uplinks if sizing.cores else 0),
        added=None if unnumbered else _added(spec, allocator),
        servers=_server_areas(spec, sizing, numbers, allocator),
    )


def _added(spec: FabricSpec, allocator: FabricAllocator) -> Area | None:
    """Subnets of added links by their place in the list; of all of them, as one may be stated and later not be."""
    count = len(spec.links.add)
    if not count:
        return None
    step = spec.underlay.link_step
    return allocator.address("p2p", "added", Need(rows=count, reserve=power_of_two(count), step=step, stride=step))


def _server_areas(
    spec: FabricSpec, sizing: Sizing, numbers: Numbers, allocator: FabricAllocator
) -> dict[tuple[str, str], tuple[Area, int]]:
    """Server subnets: per rail and leaf of the rail an area with one row per unit; racks have one area, one row per leaf.

    Groups share an area, with rows as wide as the widest needs. A group that comes later and needs wider rows gets an
    area of its own, so that no address that is in use moves.
    """
    if spec.underlay.server_first:
        return _computed_areas(spec, sizing, numbers, allocator)
    strides = allocator.strides("servers")
    rows: dict[str, int] = {}
    width: dict[str, int] = {}
    users: dict[tuple[str, str], str] = {}  # (group, server key) → the area's name
    for size, group in zip(sizing.groups, spec.groups, strict=True):
        if group.shared:
            continue
        block = server_block(spec.leaf.model, size.down_gbps)
        wide = max(block, with_free_ports(spec, size)) if group is spec.groups[0] else block
        units = max(int(numbers.unit[size.name].max()) + 1, size.units_planned)
        if spec.kind not in ("rail-optimized", "rail-only"):
            units = int(numbers.leaf[size.name].max()) + 1
        for leaf in range(size.unit_leaves):
            key = server_key(spec, leaf, group)
            new = not any(name == key or name.startswith(key + "/") for name in strides)
            needed = wide if new else block  # addresses in use do not move for further NICs
            name = users[size.name, key] = _wide_enough(key, needed, strides)
            rows[name] = max(rows.get(name, 0), units)
            width[name] = max(width.get(name, 0), needed, strides.get(name, 0))
    areas = {}
    for name, count in rows.items():
        need = Need(rows=count, columns=1, reserve=power_of_two(count), step=width[name], stride=width[name], align=True)
        areas[name] = allocator.address("servers", name, need)
    return {user: (areas[name], width[name]) for user, name in users.items()}


def with_free_ports(spec: FabricSpec, size: GroupSize) -> int:
    """Addresses of a leaf whose free ports have routed NICs that are broken out finer than those of its own group, else 0.

    Free ports are numbered behind those of servers, subport by subport of every cage, up to the finest breakout.
    """
    if all(tenant.networks for tenant in spec.tenants) and spec.tenants:
        return 0
    model, down = spec.leaf.model, size.down_gbps
    speeds = {use.nic.speed_gbps for group in spec.groups for use in group.on_free_ports}
    if not any(its.splits.get(speed, 0) > its.splits.get(down, 0) for its in model.ports for speed in speeds):
        return 0
    return power_of_two(2 * sum(its.count * max(its.splits.values()) for its in model.ports))


def _wide_enough(key: str, block: int, known: Mapping[str, int]) -> str:
    """The area of a rail (or of all racks) whose rows take `block` addresses: a known one, else one to be made."""
    there = {name: stride for name, stride in known.items() if name == key or name.startswith(key + "/")}
    wide = [(stride, name) for name, stride in there.items() if stride >= block]
    return min(wide)[1] if wide else f"{key}/{block}" if there else key


def server_key(spec: FabricSpec, leaf: int, group: GroupSpec) -> str:
    """Name of the server area of a leaf of a unit: its rail, and which of the rail's leaves.

    A NIC that joins its planes has one address for all of them, so that they share the area of the first.
    """
    if spec.kind not in ("rail-optimized", "rail-only"):
        return "leaf"
    per_nic = spec.leaves_per_nic(group)
    rail, part = divmod(leaf, per_nic)
    part *= not group.joins_planes
    return f"rail{rail + 1}" + (f"-{part + 1}" if per_nic > 1 else "")


def _computed_areas(
    spec: FabricSpec, sizing: Sizing, numbers: Numbers, allocator: FabricAllocator
) -> dict[tuple[str, str], tuple[Area, int]]:
    """Server subnets by the scheme of Spectrum-X: the place of an area follows from its rail and plane alone."""
    from fabric.design.planner import spectrum_x  # few fabrics have this scheme

    pool, wide = allocator.pools.prefixes["servers"][0], spectrum_x.LEAF_ADDRESSES
    highest = max(server_row(spec, sizing, numbers, size, unit) for size in sizing.groups for unit in range(size.units))
    its = spectrum_x.layout(sizing.tiers, sizing.planes)
    if not spectrum_x.check(spec, sizing, highest, pool, allocator.report):
        return {}
    starts: dict[str, int] = {}
    users: list[tuple[str, str]] = []
    for size, group in zip(sizing.groups, spec.groups, strict=True):
        for leaf in range(size.unit_leaves):
            rail, part = divmod(leaf, spec.leaves_per_nic(group))
            key = server_key(spec, leaf, group)
            starts[key] = its.first(spectrum_x.base(pool), part * (not group.joins_planes), rail)
            users.append((size.name, key))
    need = Need(rows=(1 << its.rail) // wide, step=wide, stride=wide, align=True)
    areas = {}
    for key, first in starts.items():
        areas[key] = allocator.address("servers", key, need, at=(first, first + (1 << its.rail)))
        if any(block.base != first for block in areas[key].blocks):
            message = f"server_subnets: the lock has other addresses of servers ({key}), kept until its lines are deleted"
            allocator.report.error("FAB109", spec.at("underlay", "server_subnets"), message, spectrum_x.HINT)
            break
    return {user: (areas[user[1]], wide) for user in users if user[1] in areas}


def server_row(spec: FabricSpec, sizing: Sizing, numbers: Numbers, size: GroupSize, unit: int) -> int:
    """Row of a unit in the areas of its rails."""
    number = int(numbers.unit[size.name][unit])
    if not spec.underlay.server_first or sizing.tiers < 3:
        return number
    from fabric.design.planner import spectrum_x

    pod, place = divmod(unit, sizing.units_per_pod)
    return spectrum_x.row(sizing, int(numbers.pod[size.name][pod]), place)


def rows_by_role(numbers: Numbers, sizing: Sizing) -> dict[str, int]:
    """Rows that the tables of each role need: the highest number in use, plus one."""
    rows = {}
    if sizing.cores:
        rows[CORE] = int(numbers.core.max()) + 1
    if sizing.spines:
        rows[SPINE] = int(numbers.spine.max()) + 1
    rows[LEAF] = max(int(leaf.max(initial=-1)) for leaf in numbers.leaf.values()) + 1
    return rows


def asn_areas(spec: FabricSpec, sizing: Sizing, numbers: Numbers, allocator: FabricAllocator) -> dict[str, Area]:
    """AS numbers by role: by RFC 7938 a row for all cores, one per pod's spines, one per leaf; else one per switch."""
    rows, planned = rows_by_role(numbers, sizing), sizing.planned_by_role
    areas = {}
    for role in ROLES:
        if role not in rows:
            continue
        count, reserve = rows[role], power_of_two(max(rows[role], planned[role]))
        if spec.underlay.asn.scheme == "rfc7938" and role != LEAF:
            count = 1 if role == CORE else int(numbers.pods.max()) + 1
            reserve = power_of_two(max(count, sum(g.pods_planned for g in sizing.groups))) if role == SPINE else 1
        areas[role] = allocator.asn(role, Need(rows=count, reserve=reserve))
    return areas


def pinned(natural: Ints, pins: Mapping[int, int]) -> Ints:
    """[devices] numbers with pins (device → number) applied.

    A device whose number is pinned elsewhere gets the number that becomes free.
    """
    result = natural.copy()
    owner = {int(value): device for device, value in enumerate(natural)}
    pinner = {value: device for device, value in pins.items()}
    for device, number in pins.items():
        result[device] = number
        holder = owner.get(number)
        if holder is None or holder in pins:
            continue
        given = int(natural[device])
        while given in pinner:  # that number is pinned as well, by a device whose number is free in turn
            given = int(natural[pinner[given]])
        result[holder] = given
    return result
