"""What is legal and still worth a word: unused leaf ports and others. Any of it can be silenced with a reason."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report
from fabric.base.text import listed, plural
from fabric.configs.targets import fabric_links, unbalanced
from fabric.design.planner import hardware, one_tier, switchless
from fabric.design.planner.sizing import leaf_shape, size
from fabric.design.planner.three_tiers import joins, passes_on
from fabric.model.plan import CORE, SPINE, FabricPlan, FabricSpec, GroupSize, GroupSpec, Sizing, capacity, in_file

# --- unused ports ---------------------------------------------------------------------------------------------
# Designs that leave most of their leaf ports free, and what would fill them: other units tried with the same sizing.
#
# The default unit uses half of a leaf's bandwidth for servers, and a rack with `per_rack` servers has a leaf. Both are
# documented defaults; a note names another unit if it saves many switches.

MIN_LEAVES = 16  # of the finished fabric; a smaller one is a lab or a first row of racks
MAX_USED_BANDWIDTH = Fraction(1, 2)  # of a leaf; with more in use there is no note
MIN_SAVED_SWITCHES = Fraction(1, 4)  # of all switches, for a note about free ports
MIN_SAVED_SWITCHES_BY_UNIT = Fraction(1, 20)  # of all switches, where the default unit is that of a 1:1 leaf
SPINES = 4  # minimum of an alternative: with fewer spines a failure costs more
ROUND = (8, 4, 2)  # preferred divisors of the servers of a unit
FREE_PORTS, UNIT_OF_RACKS, SPARE_CORES = "FAB197", "FAB198", "FAB405"


@dataclass(frozen=True)
class Alternative:
    """Another design of the same servers on the same switches."""

    words: str  # keys for the intent
    sizing: Sizing
    unit: int


def notes(spec: FabricSpec, sizing: Sizing) -> Iterator[Diagnostic]:
    """The notes; none for small fabrics, and for those that no other unit makes cheaper."""
    yield from _units_of_racks(spec)
    for index, (group, sized) in enumerate(zip(spec.groups, sizing.groups, strict=True)):
        used, ratio = used_share(spec, sizing, sized), built_ratio(sized, sizing)
        by_default = spec.kind != "collapsed" and not group.unit_servers and not (spec.kind == "rack" and group.per_rack)
        wide = by_default and ratio > 1
        if leaves(sizing) < MIN_LEAVES or (used >= MAX_USED_BANDWIDTH and not wide):
            continue
        least = MIN_SAVED_SWITCHES if used < MAX_USED_BANDWIDTH else MIN_SAVED_SWITCHES_BY_UNIT
        now = switches(sizing)
        better = [option for option in _alternatives(spec, sizing, index) if (now - switches(option.sizing)) >= least * now]
        if not better:
            continue
        model = f"the {leaves(sizing)} leaves ({spec.leaf.switch})"
        if used < MAX_USED_BANDWIDTH:
            message = f"{model} use {float(used):.0%} of their bandwidth; most of their ports stay free"
        else:
            message = (
                f"the unit is not stated, so it is that of 1:1; at {float(ratio):.3g}:1 a leaf has ports for more servers"
            )
        hints = [f"{option.words}: {_counts(option.sizing)} in place of {_counts(sizing)}" for option in better]
        yield Diagnostic(FREE_PORTS, _place(spec, index), f"fabric '{spec.name}': {message}", "; or ".join(hints), "note")


def leaves(sizing: Sizing) -> int:
    """Leaves of the finished fabric."""
    return sum(group.units_planned * group.unit_leaves for group in sizing.groups)


def switches(sizing: Sizing) -> int:
    """Switches of the finished fabric."""
    return sum(sizing.planned_by_role.values())


def used_share(spec: FabricSpec, sizing: Sizing, group: GroupSize) -> Fraction:
    """Share of a leaf's bandwidth that servers and uplinks of the finished fabric use."""
    gbps = group.down * group.down_gbps + group.uplinks * sizing.uplink_gbps
    return Fraction(gbps, spec.leaf.model.bandwidth_gbps)


def built_ratio(group: GroupSize, sizing: Sizing) -> Fraction:
    """Server bandwidth of a leaf by that of its uplinks."""
    up = group.uplinks * sizing.uplink_gbps
    return Fraction(group.down * group.down_gbps, up) if up else Fraction(1)


def _counts(sizing: Sizing) -> str:
    parts = [plural(leaves(sizing), "leaf", "leaves")]
    planned = sizing.planned_by_role
    parts += [plural(planned[role], role) for role in (SPINE, CORE) if planned[role]]
    return ", ".join(parts)


def _place(spec: FabricSpec, at: int) -> Place:
    """The key that decides the unit: a rack's servers, a stated unit, else the topology."""
    for path in (("servers", at, "per_rack"), ("servers", "per_rack")) if spec.kind == "rack" else ():
        if spec.stated(*path):
            return spec.at(*path)
    return spec.at("topology", "unit") if spec.stated("topology", "unit") else spec.at("topology")


def _alternatives(spec: FabricSpec, sizing: Sizing, at: int) -> Iterator[Alternative]:
    """The best unit of the same kind; of racks also with leaves that several racks share, and by rails."""
    group = spec.groups[at]
    if spec.kind == "rack" and group.per_rack:
        rails = replace(spec, kind="rail-optimized")
        yield from _best(rails, sizing, at, "`kind: rail-optimized` and `unit: {{servers: {unit}}}`, `per_rack` stays")
        yield from _best(
            spec, sizing, at, "`unit: {{servers: {unit}}}` without `per_rack`, a leaf for several racks", shared=True
        )
    else:
        yield from _best(spec, sizing, at, "`unit: {{servers: {unit}}}`")


def _best(spec: FabricSpec, sizing: Sizing, at: int, words: str, *, shared: bool = False) -> Iterator[Alternative]:
    """The unit with the fewest switches; of several, a round number of servers."""
    group = replace(spec.groups[at], held=())
    if shared:  # a leaf for several racks
        group = replace(group, per_rack=None)
    found = [one for unit in _units(spec, group) if (one := _sized(spec, sizing, at, group, unit, words)) is not None]
    if found:
        yield min(found, key=lambda one: (switches(one.sizing), -_roundness(one.unit), -one.unit))


def _roundness(unit: int) -> int:
    return next((number for number in ROUND if unit % number == 0), 1)


def _units(spec: FabricSpec, group: GroupSpec) -> list[int]:
    """Sizes to try: as many servers as the leaf's bandwidth carries with their uplinks, and a few fewer."""
    ports, _, _ = leaf_shape(spec, group)
    most = spec.leaf.model.bandwidth_gbps * spec.leaf_ratio / ((spec.leaf_ratio + 1) * ports * group.nic.speed_gbps)
    top = min(int(most), group.planned)
    rounded = (top // number * number for number in (*ROUND, 16, 32))
    return sorted(unit for unit in {*range(top, top - 4, -1), *rounded} if unit > 0)


def _sized(spec: FabricSpec, sizing: Sizing, at: int, group: GroupSpec, unit: int, words: str) -> Alternative | None:
    """The design with units of `unit` servers; None where it cannot be built, or gives up bandwidth, tiers or spines."""
    groups = (*spec.groups[:at], replace(group, unit_servers=unit), *spec.groups[at + 1 :])
    try:
        sized = size(replace(spec, groups=groups))
    except InputError:
        return None
    ratio = max(built_ratio(sizing.groups[at], sizing), spec.leaf_ratio)
    keeps = sized.tiers <= sizing.tiers and sized.planned_by_role[SPINE] >= min(SPINES, sizing.planned_by_role[SPINE])
    if not keeps or built_ratio(sized.groups[at], sized) > ratio:
        return None
    return Alternative(words.format(unit=unit), sized, unit)


def _spare_cores(spec: FabricSpec, sizing: Sizing) -> Iterator[Diagnostic]:
    """Cores of which half of the ports stay free in the finished fabric, where fewer cores carry it."""
    if not sizing.cores:
        return
    ports = capacity(spec.core.model, sizing.core_gbps)
    used = sizing.pods_planned * sizing.spines_per_core * sizing.links_per_core
    fewest = next(j for j in joins(sizing.spines, sizing.spine_uplinks, ports) if j.most_pods >= sizing.pods_planned)
    if 2 * used > ports or fewest.total >= sizing.core_groups * sizing.cores:
        return
    keys = [key for key in ("count", "groups") if spec.stated("topology", "core", key)]
    hint = (
        f"the lock file keeps the groups of cores in service; `core: {{groups: {sizing.spines // fewest.spines_per_core}}}` "
    )
    hint += "cables them again"
    if keys:
        hint = f"remove {listed([f'`core.{key}`' for key in keys])}"
    elif passes_on(spec):
        hint = "`asn: {scheme: rfc7938}` lets spines of a pod share cores"
    yield Diagnostic(
        SPARE_CORES,
        spec.at("topology", "core", *keys[:1]),
        f"fabric '{spec.name}': {ports - used} of {ports} ports of every core stay free; {fewest.total * sizing.networks} of "
        f"the {sizing.planned_by_role[CORE]} cores would carry the finished fabric",
        hint,
        "note",
    )


def _shared_cores(plan: FabricPlan, report: Report) -> None:
    """Spines of a pod that share cores must drop each other's routes, as those of one AS number do."""
    if plan.sizing.spines_per_core > 1 and passes_on(plan.spec):
        report.warn(
            "FAB406",
            plan.spec.at("underlay", "asn", "scheme"),
            f"fabric '{plan.name}': {plan.sizing.spines_per_core} spines of every pod share cores and have an AS number "
            "each: after a failure cores pass routes on from one to the other, and traffic goes up again",
            "set `asn: {scheme: rfc7938}`, by which the spines of a pod have one AS number, or remove `core.groups` and "
            "`core.count`",
        )


def _units_of_racks(spec: FabricSpec) -> Iterator[Diagnostic]:
    """A stated unit that changes no count of switches: every rack has its own leaf."""
    if spec.kind != "rack":
        return
    for index, group in enumerate(spec.groups):
        if not group.per_rack or not group.unit_servers or group.unit_servers <= group.per_rack:
            continue
        if group.shared or group.count < group.unit_servers:  # no leaves of its own; or racks that are built ahead
            continue
        path = ("servers", index, "unit") if spec.stated("servers", index, "unit") else ("topology", "unit")
        yield Diagnostic(
            UNIT_OF_RACKS,
            spec.at(*path),
            f"fabric '{spec.name}': a unit of {group.unit_servers} servers has no effect on the number of leaves: with "
            f"`per_rack: {group.per_rack}` every rack has {plural(spec.leaves_per_nic(group), 'leaf', 'leaves')} of its own",
            "remove `per_rack`, or set `kind: rail-optimized`: racks of a unit then share leaves",
            "note",
        )


# --- all warnings ---------------------------------------------------------------------------------------------


def collect(plans: Mapping[str, FabricPlan], warnings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Every warning, those that the intent silences included, in file order."""
    report = Report()
    report.warnings += warnings
    for plan in plans.values():
        _few_spines(plan, report)
        _shared_cores(plan, report)
        _without_effect(plan, report)
        _not_by_load(plan, report)
        _two_default_routes(plan, report)
        report.warnings += notes(plan.spec, plan.sizing)
        report.warnings += _spare_cores(plan.spec, plan.sizing)
        report.warnings += filter(None, [one_tier.note(plan.spec, plan.sizing), switchless.note(plan.spec)])
    _same_nics(plans, report)
    hardware.warn(plans, report)
    return tuple(sorted(set(report.warnings), key=in_file))


def _same_nics(plans: Mapping[str, FabricPlan], report: Report) -> None:
    """Servers of one name are the same machines, and a NIC has one cable."""
    users: dict[tuple[str, str], str] = {}
    for name, plan in plans.items():
        for at, group in enumerate(plan.spec.groups):
            other = users.setdefault((group.name, group.nics), name)
            if other != name:
                report.warn(
                    "FAB186",
                    plan.spec.at("servers", at),
                    f"the {group.nics} NICs of '{group.name}' are already cabled in fabric '{other}'",
                    "groups of the same name are the same servers: set a different `name:` for other servers",
                )


def _few_spines(plan: FabricPlan, report: Report) -> None:
    sizing = plan.sizing
    if sizing.spines and sizing.spines_built < 2:
        report.warn(
            "FAB182",
            plan.spec.at("topology"),
            f"fabric '{plan.name}': {plural(sizing.spines_built, 'spine')} per plane and pod, a failure partitions it",
            _more_spines(sizing),
        )


def _more_spines(sizing: Sizing) -> str:
    """Every leaf has equally many links to each spine, so the uplinks of all of them share the number of spines."""
    uplinks = [group.uplinks for group in sizing.leaf_groups]
    if math.gcd(*uplinks) == 1:
        even = max(uplinks) + max(uplinks) % 2
        return f"increase the uplinks of the leaves (`leaf: {{uplinks: {{count: {even}}}}}`) so that two spines divide them"
    fewest = next(count for count in range(2, min(uplinks) + 1) if math.gcd(*uplinks) % count == 0)
    return f"set `spine: {{count: {fewest * sizing.networks * sizing.spine_pods}}}`, which divides the uplinks of the leaves"


def _two_default_routes(plan: FabricPlan, report: Report) -> None:
    """Without a VRF of its own the management gateway is a static default route, which is preferred to the external one."""
    manage = plan.spec.management
    taken = {text for connection in plan.tenancy.external_connections if connection.tenant < 0 for text in connection.accepts}
    if not manage.vrf and taken & {"0.0.0.0/0", "::/0"}:
        report.warn(
            "FAB190",
            plan.spec.at("topology", "attachments"),
            f"fabric '{plan.name}': border leaves have the management default route and an external one in the same VRF",
            "set `management: {vrf: true}`; otherwise these leaves use the management route",
        )


def _without_effect(plan: FabricPlan, report: Report) -> None:
    """Keys of tiers that a fabric does not have."""
    dead = [("core", "count"), ("core", "groups"), ("core", "switch"), ("spine", "oversubscription"), ("spine", "uplinks")]
    if plan.sizing.tiers == 1:
        dead += [("spine", "count"), ("spine", "min_count"), ("spine", "switch")]
    for path in dead if plan.sizing.tiers < 3 else ():
        if plan.spec.stated("topology", *path):
            report.warn(
                "FAB184",
                plan.spec.at("topology", *path),
                f"fabric '{plan.name}': {'.'.join(path)} has no effect, the fabric has {plural(plan.sizing.tiers, 'tier')}",
                "remove it, or increase `tiers`",
            )


def _not_by_load(plan: FabricPlan, report: Report) -> None:
    """Links that keep a static hash although the intent requests `dynamic`."""
    if plan.spec.underlay.load_balancing.mode != "dynamic":
        return
    reasons: dict[str, list[str]] = {}
    for role, nos in {device.role: device.nos for device in reversed(plan.switches) if device.nos}.items():
        for kind, gbps in fabric_links(plan, role).items():
            reasons.setdefault(kind, []).append(unbalanced(plan, nos, gbps))
    for kind, kind_reasons in reasons.items():
        if reason := next(filter(None, kind_reasons), ""):
            tier = kind.split("-")[0]
            report.warn(
                "FAB184",
                plan.spec.at("underlay", "load_balancing", "mode"),
                f"fabric '{plan.name}': mode: dynamic has no effect on {kind} links: {reason}",
                f"they keep a static hash: change the speed (`{tier}: {{uplinks: {{speed_gbps: …}}}}`) or the isolation",
            )
