"""Sizes a fabric: every count of it, from the intent alone. Needs no wiring, so a million GPUs take milliseconds.

`sizing_rule` has the rule; this file turns an intent into demands and inputs, and the shape into counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from math import gcd
from typing import NoReturn

from fabric.base.diagnostics import InputError, Report
from fabric.base.rounding import ceil_div
from fabric.design.planner.sizing_inputs import (
    Demand,
    FreePorts,
    Misfit,
    Options,
    Shape,
    divisors_of,
    leaf_fits,
    leaf_uplinks,
    most_servers,
    ratio_kept,
    uplink_speeds,
)
from fabric.design.planner.sizing_rule import choose
from fabric.design.planner.three_tiers import core_speed, joins, spine_split
from fabric.model.plan import (
    FabricSpec,
    GroupSize,
    GroupSpec,
    NicUse,
    NoFit,
    Sizing,
    capacity,
    leaf_layout,
    leaf_ports,
    leaf_set,
    spare,
)
from fabric.model.plan.lock import NOT_WIRED, WiredPods

# --- the largest size: servers that the same intent carries before it needs another tier ----------------------


def most_units(spec: FabricSpec, demands: tuple[Demand, ...], shape: Shape, speeds: list[int]) -> int:
    """Most units of the first group at the shape's number of tiers, the other groups staying as they are.

    What the intent states (uplinks, counts, pods) stays as stated. `speeds` are the uplink speeds that may be used.
    """
    if shape.tiers == 1:
        return demands[0].units if spec.below is not None else 1
    reach = _most_of_two_tiers if shape.tiers == 2 else _most_of_three_tiers
    return max([demands[0].units, *(reach(spec, demands, shape, speed, speeds[0]) for speed in speeds)])


def _uplinks(spec: FabricSpec, demands: tuple[Demand, ...], speed: int, native: int) -> list[int] | None:
    """Uplinks of each group's leaf at a speed, None when a leaf does not have the ports."""
    counts = [leaf_uplinks(spec, demand, speed) for demand in demands]
    if speed != native and not all(ratio_kept(spec, d, u, speed) for d, u in zip(demands, counts, strict=True)):
        return None
    try:
        for demand, uplinks in zip(demands, counts, strict=True):
            leaf_ports(spec, demand.down, demand.down_gbps, uplinks, speed, beside=demand.beside)
    except NoFit:
        return None
    return counts


def _most_of_two_tiers(spec: FabricSpec, demands: tuple[Demand, ...], shape: Shape, speed: int, native: int) -> int:
    uplinks = _uplinks(spec, demands, speed, native)
    if uplinks is None:
        return 0
    spines = reduce(gcd, uplinks)
    if spec.stated("topology", "spine", "count") and not spec.reserve:
        spines = shape.spines
    ports = spines * capacity(spec.spine.model, speed)
    ports -= sum(d.units * d.leaves * u for d, u in zip(demands[1:], uplinks[1:], strict=True))
    return max(0, ports) // (demands[0].leaves * uplinks[0])


def _most_of_three_tiers(spec: FabricSpec, demands: tuple[Demand, ...], shape: Shape, speed: int, native: int) -> int:
    split = spine_split(spec, speed, core_speed(spec))
    uplinks = _uplinks(spec, demands, speed, native)
    if split is None or uplinks is None:
        return 0
    down, up = split
    rule = spec.constraints.pods
    fixed_spines = spec.stated("topology", "spine", "count") and not spec.reserve
    if spec.constraints.pods and spec.constraints.pods.rails:
        up = shape.spine_uplinks
    heaviest = max(d.leaves_of_pod * u for d, u in zip(demands, uplinks, strict=True))
    most = 0
    for spines in [shape.spines] if fixed_spines else divisors_of(reduce(gcd, uplinks)):
        per_pod = spines * down // heaviest
        if rule is not None and rule.count is None:
            per_pod = shape.units_per_pod
        pods = shape.pods if fixed_spines else _most_pods(spec, spines, up)
        if rule is not None and rule.count is not None:
            pods = min(pods, rule.count)
        others = sum(demand.pods(per_pod) for demand in demands[1:]) if per_pod else 0
        most = max(most, per_pod * (max(0, pods - others) // demands[0].pods_per_unit))
    return most


def _most_pods(spec: FabricSpec, spines: int, up: int) -> int:
    """Most pods of so many spines that cores join, as many cores as spines have uplinks unless their number is stated."""
    total = None if spec.reserve else spec.constraints.cores
    groups = spec.constraints.core_groups
    fitting = joins(spines, up, capacity(spec.core.model, core_speed(spec)))
    return max(
        (
            join.most_pods
            for join in fitting
            if total in (None, join.total * spec.networks) and groups in (None, spines // join.spines_per_core)
        ),
        default=0,
    )


# --- counts of a fabric ---------------------------------------------------------------------------------------


def size(spec: FabricSpec, wired: WiredPods = NOT_WIRED) -> Sizing:
    """Sizes a fabric by the rule. Raises InputError with the numbers that do not fit.

    `wired` are the pods of a fabric in service: as long as they fit, growth adds pods, does not regroup them, and keeps the
    spines that share a core.
    """
    report = Report()
    options, shape = decide(spec, wired)
    if shape is None:
        _explain_misfits(spec, options.misfits, report)
    built = tuple(_demand(spec, group, group.count) for group in spec.groups)
    spines_built, cores_built = _built(spec, shape, built, report)
    sizing = _sizing(spec, shape, built, options.demands, spines_built, cores_built)
    _check_attachments(spec, sizing, report)
    report.raise_errors()
    return sizing


def decide(spec: FabricSpec, wired: WiredPods = NOT_WIRED) -> tuple[Options, Shape | None]:
    """The shape that the rule gives, and what was tried before it."""
    stated = spec.constraints
    options = Options(
        spec=spec,
        demands=tuple(_demand(spec, group, group.planned if spec.reserve else group.count) for group in spec.groups),
        spine_total=None if spec.reserve else stated.spines,
        core_total=None if spec.reserve else stated.cores,
    )
    for kept in dict.fromkeys((wired, WiredPods(wired.units))) if wired.units else ():
        as_wired = replace(options, wired=kept, misfits=[])
        shape = choose(as_wired)
        if shape is not None and shape.tiers == 3:
            return as_wired, shape
    return options, choose(options)


def _demand(spec: FabricSpec, group: GroupSpec, servers: int) -> Demand:
    """The demand of `servers` servers of a group; none where they share the leaves of another."""
    ports, per_leaf, unit = leaf_shape(spec, group)
    if group.shared:
        return Demand(units=0, leaves=0, servers_per_leaf=per_leaf, down=0, down_gbps=group.nic.speed_gbps)
    leaves = spec.rails(group) * spec.leaves_per_nic(group) * (unit // per_leaf)
    further, shared = beside(spec, group)
    return Demand(
        units=group.bare // leaves or ceil_div(group.places(servers), unit),
        leaves=leaves // spec.networks,
        servers_per_leaf=per_leaf,
        down=per_leaf * ports,
        down_gbps=group.nic.speed_gbps,
        further=further,
        shared=shared,
        pods_per_unit=spec.pods_per_unit(group),
    )


def beside(
    spec: FabricSpec, group: GroupSpec, *, lossless: bool = False
) -> tuple[tuple[FreePorts, ...], tuple[tuple[int, int], ...]]:
    """What a leaf of a group has on free ports: further NICs of its servers, and (Gb/s, ports) of groups that share it.

    With `lossless` only those of NICs that RoCE runs on.
    """

    def taken(its: GroupSpec, uses: Sequence[NicUse], leaf_sets: int) -> Iterator[FreePorts]:
        wanted = (use for use in uses if not lossless or not spec.lossy(its, use))
        return (FreePorts(use.nic.speed_gbps, use.ports, leaf_set(spec), leaf_sets) for use in wanted)

    shared: Counter[int] = Counter()
    for other in spec.groups if group.name == spec.groups[0].name else ():
        for its in taken(other, other.uses if other.shared else (), 1):
            shared[its.speed_gbps] += its.of(servers_on_set(spec, other))
    further = taken(group, group.further, spec.rails(group) if spec.kind == "rail-optimized" else 1)
    return tuple(further), tuple(sorted(shared.items()))


def room_ports(spec: FabricSpec, group: GroupSpec) -> tuple[tuple[int, int], ...]:
    """(Gb/s, ports) of a leaf of a group that its default unit leaves for attachments, spread over the leaves of a unit."""
    leaves = spec.rails(group) * spec.leaves_per_nic(group)
    ports: Counter[int] = Counter()
    for its in spec.constraints.room:
        ports[its.speed_gbps or group.nic.speed_gbps] += ceil_div(its.links, len(its.leaves) or leaves)
    return tuple(sorted(ports.items()))


def servers_on_set(spec: FabricSpec, group: GroupSpec) -> int:
    """Servers of a group without own leaves on one leaf, or one pair, of the first group: as stated, else they take turns."""
    first = spec.groups[0]
    if group.per_rack or spec.kind == "collapsed" or spec.constraints.tiers == 1:
        return group.per_rack or group.planned
    known = tuple(other for other in spec.groups if not other.shared or other.per_rack)
    _, per_leaf, unit = leaf_shape(replace(spec, groups=known), first)
    of_unit = {"rack": unit // per_leaf, "rail-optimized": spec.rails(first)}.get(spec.kind, 1)
    pairs = ((group.count, first.count), (group.planned, first.planned))
    return max(group.on_set, *(ceil_div(its, ceil_div(first.places(own), unit) * of_unit) for its, own in pairs))


def leaf_shape(spec: FabricSpec, group: GroupSpec) -> tuple[int, int, int]:
    """Ports of a server on one of its leaves, servers per leaf, servers per unit."""
    if group.bare and not spec.groups[0].bare:  # as those with servers, so that they have as many uplinks
        ports, per_leaf, _ = leaf_shape(spec, spec.groups[0])
        return 1, ports * per_leaf, ports * per_leaf
    ports = max(1, group.nic.count * group.nic.ports // (spec.rails(group) * spec.leaves_per_nic(group)))
    return ports, *_unit(spec, group, ports)


def _unit(spec: FabricSpec, group: GroupSpec, ports: int) -> tuple[int, int]:
    """Servers per leaf and servers per unit; unless stated, as many as half the leaf's bandwidth carries."""
    if group.shared:
        return servers_on_set(spec, group), group.planned
    if spec.kind == "rack":
        if group.per_rack:
            return group.per_rack, group.unit_servers or group.per_rack
        if group.unit_servers:
            return group.unit_servers, group.unit_servers
    elif group.unit_servers:
        return group.unit_servers, group.unit_servers
    speed, spare = group.nic.speed_gbps, spec.constraints.spare_server_ports
    half = spec.leaf.model.bandwidth_gbps // 2
    carried = min(half // speed, capacity(spec.leaf.model, speed)) - spare
    further, shared = beside(spec, group)
    shared = (*shared, *room_ports(spec, group))
    if further or shared:
        per_server = ports * speed + sum(its.speed_gbps * its.ports // (its.leaves * its.leaf_sets) for its in further)
        left = half - sum(gbps * count for gbps, count in shared)
        carried = min(carried, max(0, left) // per_server * ports)
    servers = max(1, carried // ports)
    demand = Demand(
        units=1,
        leaves=2,
        servers_per_leaf=servers,
        down=servers * ports,
        down_gbps=speed,
        further=further,
        shared=shared,
    )
    servers = _fitting(spec, demand)
    return servers, servers


def _fitting(spec: FabricSpec, demand: Demand) -> int:
    """Servers that a leaf has ports and uplinks for, up to so many, at the first speed that is tried; all where none fit."""
    servers = demand.servers_per_leaf
    speeds = uplink_speeds(spec, (demand,), broken_out=True)
    if spec.kind == "collapsed":  # no spines, so no other speed is tried
        speeds = [spec.constraints.leaf_uplinks.speed_gbps or spec.leaf.model.native_gbps]
    if any(leaf_fits(spec, demand, servers, speed) for speed in speeds):
        return servers
    return next((most for speed in speeds if (most := most_servers(spec, demand, speed))), servers)


def _built(spec: FabricSpec, shape: Shape, built: tuple[Demand, ...], report: Report) -> tuple[int, int]:
    """Spines of a pod and cores of a group that are built now, where the finished fabric has more."""
    stated = spec.constraints
    spines, cores = shape.spines, shape.cores
    if not spec.reserve:
        return spines, cores
    pods = sum(d.pods(shape.units_per_pod) if shape.units_per_pod else 0 for d in built) or 1
    share = pods * spec.networks
    if stated.spines is not None:
        spines = stated.spines // share
        if stated.spines % share or not 1 <= spines <= shape.spines:
            report.error(
                "FAB133",
                spec.at("topology", "spine", "count"),
                f"spine.count: expected {_steps(share, shape.spines)} of the finished fabric, got {stated.spines}",
                f"nearest valid: {min(max(round(stated.spines / share), 1), shape.spines) * share}",
            )
            spines = shape.spines
    if stated.cores is not None and shape.tiers == 3:
        groups = ceil_div(spines, shape.spines_per_core) * spec.networks
        cores = stated.cores // groups
        if stated.cores % groups or not 1 <= cores <= shape.cores:
            report.error(
                "FAB133",
                spec.at("topology", "core", "count"),
                f"core.count: expected {_steps(groups, shape.cores)} of the finished fabric, got {stated.cores}",
                f"nearest valid: {min(max(round(stated.cores / groups), 1), shape.cores) * groups}",
            )
            cores = shape.cores
    return spines, cores


def _steps(step: int, most: int) -> str:
    return f"1 to {most}" if step == 1 else f"a multiple of {step} up to the {step * most}"


def _sizing(
    spec: FabricSpec, shape: Shape, built: tuple[Demand, ...], final: tuple[Demand, ...], spines: int, cores: int
) -> Sizing:
    networks = spec.networks
    groups = tuple(
        _group_size(spec, shape, group, now, later, uplinks)
        for group, now, later, uplinks in zip(spec.groups, built, final, shape.uplinks, strict=True)
    )
    units = most_units(spec, final, shape, uplink_speeds(spec, final, broken_out=shape.tiers == 2))
    first, others = spec.groups[0], spec.groups[1:]
    servers = units * groups[0].unit_servers
    return Sizing(
        kind=spec.kind,
        tiers=shape.tiers,
        planes=spec.planes,
        networks=networks,
        groups=groups,
        uplink_gbps=shape.uplink_gbps,
        core_gbps=shape.core_gbps,
        units_per_pod=shape.units_per_pod,
        spines=shape.spines,
        spines_built=spines,
        spine_uplinks=shape.spine_uplinks,
        cores=shape.cores,
        cores_built=cores,
        spines_per_core=shape.spines_per_core,
        attachments=sum(attachment.links for attachment in spec.attachments),
        limit_servers=servers + sum(group.planned for group in others),
        limit_gpus=servers * first.server.gpus + sum(group.planned * group.server.gpus for group in others),
        bgp=spec.ethernet,
    )


def _group_size(spec: FabricSpec, shape: Shape, group: GroupSpec, now: Demand, later: Demand, uplinks: int) -> GroupSize:
    ports = now.down // now.servers_per_leaf
    unit_leaves = now.leaves * spec.networks
    unit = leaf_shape(spec, group)[2]
    per_pod = shape.units_per_pod or max(now.units, later.units, 1)
    return GroupSize(
        name=group.name,
        servers=group.count,
        gpus=group.count * group.server.gpus,
        unit_servers=unit,
        unit_leaves=unit_leaves,
        pods_per_unit=now.pods_per_unit,
        units=now.units,
        units_planned=later.units,
        pods=now.pods(per_pod),
        pods_planned=later.pods(per_pod),
        servers_per_leaf=now.servers_per_leaf,
        leaf_ports_per_server=ports,
        down=now.down,
        down_gbps=now.down_gbps,
        beside=now.beside,
        uplinks=0 if group.shared else uplinks,
        held=group.held,
        last_unit=()
        if group.full or group.shared or not shape.spines
        else _last_unit(spec, shape, group, now, unit, uplinks),
    )


def _last_unit(spec: FabricSpec, shape: Shape, group: GroupSpec, demand: Demand, unit: int, uplinks: int) -> tuple[int, ...]:
    """Links per spine of each leaf of the last unit when only the servers that are there get uplinks."""
    present = group.places(group.count) - (demand.units - 1) * unit
    per_rack = spec.leaves_per_nic(group)
    links = []
    for leaf in range(demand.leaves * spec.networks):
        before = leaf // per_rack * demand.servers_per_leaf if spec.kind == "rack" else 0
        servers = min(demand.servers_per_leaf, max(0, present - before))
        needed = ceil_div(uplinks * servers, demand.servers_per_leaf)
        links.append(max(1, ceil_div(needed, shape.spines)))
    return tuple(links)


def _check_attachments(spec: FabricSpec, sizing: Sizing, report: Report) -> None:
    """Attachments take ports that no planned server needs; a first count, the wiring checks each port."""
    for index, free in _short(spec, sizing):
        attachment = spec.attachments[index]
        report.error(
            "FAB140",
            spec.at("topology", "attachments", index, "links"),
            f"attachment '{attachment.name}': expected at most {free} links (free leaf ports), got {attachment.links}",
            f"use {_with_spare_ports(spec)}fewer servers per unit, `unit: {{servers: …}}`, or a leaf with more ports",
        )


def _short(spec: FabricSpec, sizing: Sizing) -> Iterator[tuple[int, int]]:
    """Attachments with more links than free ports: (index, free ports)."""
    taken: Counter[int] = Counter()  # Gb/s → links of the attachments before
    for index, attachment in enumerate(spec.attachments):
        speed_gbps = attachment.speed_gbps or sizing.groups[0].down_gbps
        free = sum(
            _free_ports(spec, sizing, size, group, speed_gbps) for size, group in zip(sizing.groups, spec.groups, strict=True)
        )
        free = max(0, free - taken[speed_gbps])
        taken[speed_gbps] += attachment.links
        if attachment.links > free:
            yield index, free


def _with_spare_ports(spec: FabricSpec) -> str:
    """The spare ports of a leaf that make room for all attachments, for a hint; "" where a few of them do not."""
    for more in (1, 2, 4, 8):
        ports = spec.constraints.spare_server_ports + more
        other = replace(spec, constraints=replace(spec.constraints, spare_server_ports=ports), attachments=())
        try:
            sizing = size(other)
        except InputError:
            break
        if not any(_short(replace(other, attachments=spec.attachments), sizing)):
            return f"`leaf: {{spare_server_ports: {ports}}}`, "
    return ""


def _free_ports(spec: FabricSpec, sizing: Sizing, size: GroupSize, group: GroupSpec, speed_gbps: int) -> int:
    """Ports of a speed on the leaves of a group that no planned server needs: places of servers, and free cages."""
    layout = leaf_layout(spec, sizing, size)
    free = size.leaves * spare(spec.leaf.model, layout, speed_gbps, size.beside)
    if speed_gbps == size.down_gbps:
        places = size.units * size.unit_servers
        per_server = size.unit_leaves // max(1, size.unit_servers // size.servers_per_leaf)
        free += (places - min(group.planned, places)) * per_server * size.leaf_ports_per_server
    return free


def _explain_misfits(spec: FabricSpec, misfits: list[Misfit], report: Report) -> NoReturn:
    """Turns the reasons into diagnostics: a stated number that breaks uniformity first, else why every option failed."""
    by_intent = [misfit for misfit in misfits if not misfit.by_default]
    stated = {misfit.path: misfit for misfit in reversed(by_intent) if misfit.code == "FAB133"}
    for path, misfit in sorted(stated.items()):
        valid = {n for other in by_intent if other.path == path for n in other.valid}
        hint = f"nearest valid: {nearest_numbers(valid, misfit.requested)}" if valid else misfit.hint
        report.error(misfit.code, spec.at(*path), misfit.reason, hint)
    report.raise_errors()
    codes = {misfit.code for misfit in by_intent}
    if len(codes) == 1 and len({misfit.path for misfit in by_intent}) == 1 and codes != {"FAB134"}:
        first = by_intent[0]
        report.fail(first.code, spec.at(*first.path), f"{first.option} cannot be built: {first.reason}", first.hint)
    lines = dict.fromkeys(f"{misfit.option}: {misfit.reason}" for misfit in by_intent)
    text = "".join(f"\n    - {line}" for line in list(lines)[:8])
    last = by_intent[-1] if by_intent else Misfit(option="", reason="", path=("topology",))
    report.fail("FAB134", spec.at(*last.path), f"fabric '{spec.name}' cannot be built:{text}", last.hint)


def nearest_numbers(valid: set[int], requested: int) -> str:
    """The valid numbers next to the requested one, below and above."""
    below = sorted(number for number in valid if number < requested)[-1:]
    above = sorted(number for number in valid if number >= requested)[:1]
    return " or ".join(map(str, below + above))
