"""Fabrics without spines: one switch, or one leaf of every isolated network, where it has ports for all servers.

A leaf that every server has a port on carries their traffic alone: a small cluster on one switch, each plane or rail of one
leaf, or the leaves that the ports of a NIC are spread over. Spines would add cost and no path. What an intent states stays:
rails, unit and kind keep their leaves, `tiers: 2`, `spine`, `core`, `pods` and uplinks keep spines. A fabric in service keeps
its spines too.
"""

from __future__ import annotations

from dataclasses import replace

from fabric.base.diagnostics import Diagnostic, InputError
from fabric.base.rounding import ceil_div
from fabric.base.text import plural
from fabric.design.planner.free_ports import key
from fabric.design.planner.sizing import beside, leaf_shape, room_ports, size
from fabric.design.planner.sizing_inputs import Demand, most_servers
from fabric.model.plan import FabricSpec, GroupSpec, Sizing, capacity
from fabric.model.plan.cages import leaf_layout, spare
from fabric.model.plan.lock import FabricLock

NO_SPINES = "FAB400"
_OF_SPINES = (("spine",), ("core",), ("pods",), ("leaf", "uplinks"))  # keys of the topology that ask for spines


def fewest(spec: FabricSpec, lock: FabricLock) -> FabricSpec:
    """The fabric with the choices of one tier, where its leaves carry every server without spines; else as it is."""
    if spec.kind == "collapsed":
        return _with_room(spec, lock, spec)
    spec = _in_service(spec, lock)
    stated = spec.constraints.tiers == 1
    if not stated and (lock.wiring or any(spec.stated("topology", *path) for path in _OF_SPINES)):
        return _with_spines(spec)
    choice = _choice(spec, stated=stated)
    roomy = _with_room(spec, lock, choice if stated else spec)
    if stated:
        return choice if roomy is spec else _choice(roomy, stated=True)
    for fabric in (spec, roomy):
        choice = _choice(fabric, stated=False)
        if choice is fabric:
            continue
        try:
            size(choice)
        except InputError:
            continue
        return choice
    return spec  # with spines a unit that follows attachments would re-cable every uplink when one is removed


def _in_service(spec: FabricSpec, lock: FabricLock) -> FabricSpec:
    """The fabric with the groups that share the leaves of the first one in the lock, unless the intent says otherwise."""
    first, *others = spec.groups
    shared = {
        other.name
        for at, other in enumerate(others, 1)
        if other.uses and key(other, other.uses[0]) in lock.attachments and not spec.stated("servers", at, "leaves")
    }
    if not shared:
        return spec
    return replace(spec, groups=(first, *(replace(it, shared=it.shared or it.name in shared) for it in others)))


def _with_room(spec: FabricSpec, lock: FabricLock, tried: FabricSpec) -> FabricSpec:
    """The fabric whose default unit has room for its attachments; itself where full leaves of `tried` have ports for each.

    That depends on a leaf and on the attachments alone, so growth keeps the unit. In a site in service only the attachments
    that its lock knows count: another one would take servers off their leaves.
    """
    group = spec.groups[0]
    new = f"id/leaf/{group.name}" not in lock.blocks
    asked = tuple(its for its in spec.attachments if new or its.name in lock.attachments)
    slots = tuple(its for its in asked if its.speed_gbps not in (None, *(other.nic.speed_gbps for other in spec.groups)))
    if not slots or group.unit_servers:
        return spec
    try:
        sizing = size(replace(tried, attachments=()))
    except InputError:
        return spec
    beside = [(leaf_layout(tried, sizing, its), its.beside) for its in sizing.leaf_groups]
    for its in slots:
        if not any(spare(spec.leaf.model, layout, its.speed_gbps or 0, taken) for layout, taken in beside):
            return replace(spec, constraints=replace(spec.constraints, room=asked))
    return spec


def _with_spines(spec: FabricSpec) -> FabricSpec:
    return replace(spec, constraints=replace(spec.constraints, spineless=False))


def _choice(spec: FabricSpec, *, stated: bool) -> FabricSpec:
    """One leaf of every network, as large as the switch: all rails of a server on it, unless the intent has rails."""
    by_rails = spec.kind == "rail-optimized"
    free = not spec.stated("topology", "rails") and (stated or not spec.stated("topology", "kind"))
    whole = _unstated_unit(spec)
    if spec.constraints.tiers not in ("auto", 1) or not whole or (by_rails and not free):
        return spec
    constraints = replace(spec.constraints, tiers=1, rails=1 if by_rails else spec.constraints.rails)
    group, *others = spec.groups
    one = replace(spec, constraints=constraints, groups=(group, *(replace(other, shared=True) for other in others)))
    servers = _servers(one, group)
    if servers < group.places(group.planned if spec.reserve else group.count) and not stated:
        return spec
    return replace(one, groups=(replace(group, unit_servers=max(1, servers)), *one.groups[1:]))


def _unstated_unit(spec: FabricSpec) -> bool:
    """Whether the size of a unit is free: no `unit`, no leaf per rack, no group with leaves of its own or without servers."""
    group, *others = spec.groups
    if any(other.bare for other in others):
        return False
    apart = (at for at, other in enumerate(others, 1) if not other.shared)
    if any(spec.groups[at].unit_servers or spec.stated("servers", at, "leaves") for at in apart):
        return False
    return not group.unit_servers and not (spec.kind == "rack" and group.per_rack)


def _servers(spec: FabricSpec, group: GroupSpec) -> int:
    """Servers that a leaf has ports for, beside spare ports and attachments."""
    ports, _, _ = leaf_shape(spec, group)
    speed, model = group.nic.speed_gbps, spec.leaf.model
    taken = spec.constraints.spare_server_ports
    for attachment in spec.attachments:
        of_cage = max((other.splits.get(attachment.speed_gbps or speed, 0) for other in model.ports), default=0) or 1
        taken += ceil_div(attachment.links, of_cage) * max((other.splits.get(speed, 0) for other in model.ports), default=0)
    most = (capacity(model, speed) - taken) // ports
    further, shared = beside(spec, group)
    shared = (*shared, *room_ports(spec, group))
    if not further and not shared:
        return most
    demand = Demand(
        units=1,
        leaves=1,
        servers_per_leaf=most + 1,
        down=(most + 1) * ports,
        down_gbps=speed,
        further=further,
        shared=shared,
    )
    return most_servers(spec, demand, model.native_gbps)


# --- what the choice means --------------------------------------------------------------------------------------


def note(spec: FabricSpec, sizing: Sizing) -> Diagnostic | None:
    """What the loss of a switch costs, and what the next step of growth cables again; None for a fabric with spines."""
    if not sizing.spineless or spec.below is not None:
        return None
    leaves = sizing.leaves
    lost = "the fabric stops with it" if leaves == 1 else f"without one of them a server keeps {leaves - 1}"
    chosen = "one switch carries" if leaves == 1 else f"{leaves} leaves without spines carry"
    message = f"fabric '{spec.name}': {chosen} all {plural(sizing.servers, 'server')}; {lost}"
    return Diagnostic(NO_SPINES, spec.at("topology"), message, _next_step(spec, sizing), "note")


def _next_step(spec: FabricSpec, sizing: Sizing) -> str:
    (group, *others) = spec.groups
    if others:  # their ports are behind those of the first group: more of them can move the ports of a cage
        count = sizing.limit_servers - sum(other.count for other in others)
        return (
            f"up to {plural(count, 'server')} of group '{group.name}', with the other groups as they are, nothing is cabled "
            "again; `plan --against` lists what else would move"
        )
    limit = f"up to {plural(sizing.limit_servers, 'server')} nothing is cabled again"
    rails = spec.constraints.rails if spec.stated("topology", "rails") else None
    unit = group.unit_servers if spec.stated("topology", "unit") else None
    larger = sizing.limit_servers + 1
    grown = replace(group, count=larger, planned=larger, unit_servers=unit, held=())
    constraints = replace(spec.constraints, tiers="auto", rails=rails, spineless=False)
    try:
        then = size(replace(spec, groups=(grown,), constraints=constraints))
    except InputError:
        return f"{limit}; more need another switch"
    counts = [plural(then.leaves, "leaf", "leaves"), plural(then.spine_count, "spine")]
    counts += [plural(then.core_count, "core")] if then.core_count else []
    return (
        f"{limit}; {plural(larger, 'server')} take {', '.join(counts)}, with every server cabled again: `planned` or "
        "`tiers: 2` builds them now"
    )
