"""The sizing rule: how many tiers, spines, pods and cores. Integers only, no wiring.

The options are tried in the order of the rule, and the first that fits is taken; an option that does not fit leaves a
`Misfit` behind, so that the error of a design that cannot be built names the numbers that do not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial, reduce
from math import gcd

from fabric.base.rounding import ceil_div
from fabric.base.text import plural
from fabric.design.planner.hardware import advice, does
from fabric.design.planner.sizing_inputs import (
    Misfit,
    Options,
    Shape,
    checked_uplinks,
    common_speeds,
    divisors_of,
    larger_hint,
    leaf_switch_path,
    spine_switch_path,
    uplink_speeds,
)
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import FabricSpec, capacity, most_down

# --- spines of a plane or pod: what is stated, else the fewest that share the uplinks ------------------------


def _pick_spines(
    options: Options, valid: list[int], divisors: list[int], minimum: int, by_default: bool, option: str, *, pods: int
) -> int | None:
    """Spines of one pod: what is stated, else the fewest that fit and keep the minimum."""
    share = pods * options.networks
    if options.spine_total is None:
        enough = [s for s in valid if s >= minimum]
        if enough:
            return enough[0]
        if by_default:
            reason = f"at most {divisors[-1]} spine shares a leaf's uplinks evenly"
            options.misfits.append(Misfit(option=option, reason=reason, by_default=True))
        else:
            options.misfits.append(
                Misfit(
                    option=option,
                    reason=f"spine.min_count: expected at most {max(valid)}, which shares a leaf's uplinks evenly, "
                    f"got {minimum}",
                    code="FAB133",
                    path=("topology", "spine", "min_count"),
                    hint="more uplinks of a leaf, broken out ones for instance, reach more spines",
                )
            )
        return None
    stated = options.spine_total
    if stated % share == 0 and stated // share in valid:
        return stated // share
    each = plural(stated // share, "spine") + (f" of each of {_share(options, pods)}" if share > 1 else "")
    if stated % share:
        reason = f"spine.count: expected a multiple of {share} ({_share(options, pods)}), got {stated}"
    elif stated // share in divisors:
        reason = f"spine.count: expected enough ports for the uplinks, got {each}"
    else:
        expected = f"a divisor of the {divisors[-1]} uplinks of a leaf, so that all spines share them"
        reason = f"spine.count: expected {expected}, got {each}"
    options.misfits.append(
        Misfit(
            option=option,
            reason=reason,
            code="FAB133",
            path=("topology", "spine", "count"),
            requested=stated,
            valid=tuple(s * share for s in valid),
        )
    )
    return None


def _share(options: Options, pods: int) -> str:
    parts = [plural(pods, "pod")] if pods > 1 else []
    if options.networks > 1 or not parts:
        parts.append(plural(options.networks, "isolated network"))
    return " x ".join(parts)


# --- three tiers: how a spine is split, how units make pods, and how many cores join them ---------------------


def three_tiers(options: Options, speed: int, minimum: int, *, by_default: bool) -> Shape | None:
    """The three-tier shape with the fewest switches, None if none fits; the reasons are added to `options.misfits`.

    Args:
        speed: of the uplinks of leaves, Gb/s.
        minimum: number of spines of a plane or pod.
        by_default: `minimum` is a default, not stated in the intent.
    """
    spec = options.spec
    option = f"three tiers with {speed}G uplinks"
    uplinks = checked_uplinks(options, speed, option)
    if uplinks is None:
        return None
    core_gbps = core_speed(spec)
    if not _core_speed_known(options, speed, core_gbps, option):
        return None
    split = spine_split(spec, speed, core_gbps)
    if split is None:
        options.misfits.append(
            Misfit(
                option=option,
                reason=f"a spine ({spec.spine.switch}) cannot split its ports into {speed}G down and {core_gbps}G up at "
                f"{float(spec.spine_ratio):g}:1",
                code="FAB131",
                path=spine_switch_path(spec),
            )
        )
        return None
    down, up = split
    divisors = divisors_of(reduce(gcd, uplinks))
    heaviest = max(d.leaves * u for d, u in zip(options.demands, uplinks, strict=True))
    best: tuple[int, int, Shape] | None = None
    most = divisors[-1] * down // heaviest  # units of a pod
    for units in _pod_sizes(options, option, most):
        pods = sum(ceil_div(demand.units, units) for demand in options.demands)
        valid = [s for s in divisors if units * heaviest <= s * down]
        if not valid:
            most_spines = f"at most {divisors[-1]} spines of {plural(down, 'port')} down take {divisors[-1] * down}"
            reason = f"a pod of {plural(units, 'unit')} has {units * heaviest} uplinks, {most_spines}"
            path = ("topology", "pods") if spec.constraints.pods else spine_switch_path(spec)
            options.misfits.append(Misfit(option=option, reason=reason, path=path, hint=_pod_hint(spec, most)))
            continue
        spines = _pick_spines(options, valid, divisors, minimum, by_default, option, pods=pods)
        cores = _cores(options, option, pods, spines, up, core_gbps) if spines else None
        if spines is None or cores is None:
            continue
        shape = Shape(
            tiers=3,
            uplinks=uplinks,
            uplink_gbps=speed,
            units_per_pod=units,
            pods=pods,
            spines=spines,
            spine_uplinks=up,
            core_gbps=core_gbps,
            cores=cores,
        )
        rank = (pods * spines + spines * cores, -units)
        if best is None or rank < best[:2]:
            best = (*rank, shape)
    return best[2] if best else None


def _core_speed_known(options: Options, speed: int, core_gbps: int, option: str) -> bool:
    """Whether spines and cores have the speed of the links between them; where not, a misfit says which lacks it."""
    spec = options.spec
    stated, core_switch = ("topology", "spine", "uplinks", "speed_gbps"), ("topology", "core", "switch")
    for role, tier, path, other in (
        ("spine", spec.spine, spine_switch_path(spec), speed),
        ("core", spec.core, core_switch, core_gbps),
    ):
        if core_gbps not in tier.model.speeds:
            options.misfits.append(
                Misfit(
                    option=option,
                    reason=f"a {role} ({tier.switch}) needs ports of {core_gbps}G for the links of spines and cores, "
                    f"{does(tier, core_gbps)}",
                    code="FAB132",
                    path=stated if spec.stated(*stated) else path if spec.stated(*path) else leaf_switch_path(spec),
                    hint=advice(spec, tier, core_gbps, partial(_does_all, {other, core_gbps})),
                )
            )
            return False
    return True


def _does_all(speeds: set[int], model: SwitchModel) -> bool:
    return speeds <= set(model.speeds)


def _pod_hint(spec: FabricSpec, most: int) -> str:
    """Hint for a pod that has too many uplinks: the largest one that fits, where the intent states its size."""
    smaller = f"`pods: {{units: {most}}}` is the largest pod that fits; or " if spec.constraints.pods and most else ""
    return smaller + larger_hint(spec)


def _pod_sizes(options: Options, option: str, max_units: int) -> Iterator[int]:
    """Units of a pod that are tried: what the intent states, or every size that spines can carry."""
    rule = options.spec.constraints.pods
    units = max(demand.units for demand in options.demands)
    if rule is None and options.pod_units:
        yield options.pod_units
    elif rule is None:
        yield from range(1, max(1, min(units, max_units)) + 1)
    elif rule.units is not None:
        yield rule.units
    elif rule.racks is not None:
        yield from _racks(options, option, rule.racks)
    elif rule.count is not None:
        each, pods, more = _equal_pods(options, rule.count)
        if pods == rule.count:
            yield each
        else:
            options.misfits.append(
                Misfit(
                    option=option,
                    reason=f"pods.count: expected pods of equal size for {plural(units, 'unit')}, got {rule.count} pods",
                    code="FAB133",
                    path=("topology", "pods", "count"),
                    requested=rule.count,
                    valid=(pods, more) if more else (pods,),
                )
            )


def _equal_pods(options: Options, count: int) -> tuple[int, int, int]:
    """The smallest pod of which there are at most `count`, how many there are, and how many of the next smaller ones.

    Pods do not mix groups, so every group fills its own.
    """

    def pods(size: int) -> int:
        return sum(ceil_div(demand.units, size) for demand in options.demands)

    low, high = 1, max(demand.units for demand in options.demands)
    while low < high:
        middle = (low + high) // 2
        if pods(middle) <= count:
            high = middle
        else:
            low = middle + 1
    return low, pods(low), pods(low - 1) if low > 1 else 0


def _racks(options: Options, option: str, racks: int) -> Iterator[int]:
    spec, group, demand = options.spec, options.spec.groups[0], options.demands[0]
    if spec.kind == "rack":
        per_unit = demand.leaves * spec.networks // spec.leaves_per_nic(group)
    elif group.per_rack and demand.servers_per_leaf % group.per_rack == 0:
        per_unit = demand.servers_per_leaf // group.per_rack
    else:
        per_unit = 0
    if per_unit and racks % per_unit == 0:
        yield racks // per_unit
        return
    expected = f"a multiple of the {per_unit} racks of a unit" if per_unit else "units of whole racks (`per_rack`)"
    options.misfits.append(
        Misfit(
            option=option,
            reason=f"pods.racks: expected {expected}, got {racks}",
            code="FAB133",
            path=("topology", "pods", "racks"),
            hint="state `per_rack` of the servers, or count pods by `units`",
            requested=racks,
            valid=tuple(n * per_unit for n in (racks // per_unit, racks // per_unit + 1) if n) if per_unit else (),
        )
    )


def _cores(options: Options, option: str, pods: int, spines: int, up: int, speed: int) -> int | None:
    """Cores of one group: what is stated, else the smallest divisor of a spine's uplinks that fits."""
    spec = options.spec
    ports, links, divisors = capacity(spec.core.model, speed), pods * up, divisors_of(up)
    valid = [c for c in divisors if links <= c * ports]
    if not valid:
        most = f"at most {up} cores ({spec.core.switch}) of {plural(ports, 'port')} take {up * ports}"
        reason = f"{plural(pods, 'pod')} bring {links} uplinks to a core group, {most}"
        path = ("topology", "core", "switch") if spec.stated("topology", "core", "switch") else ("topology",)
        options.misfits.append(Misfit(option=option, reason=reason, path=path, hint=larger_hint(spec)))
        return None
    if options.core_total is None:
        return valid[0]
    groups = spines * options.networks
    if options.core_total % groups == 0 and options.core_total // groups in valid:
        return options.core_total // groups
    options.misfits.append(
        Misfit(
            option=option,
            reason=f"core.count: expected cores that share the {up} uplinks of every spine evenly in "
            f"{plural(groups, 'core group')}, got {options.core_total}",
            code="FAB133",
            path=("topology", "core", "count"),
            requested=options.core_total,
            valid=tuple(c * groups for c in valid),
        )
    )
    return None


def spine_split(spec: FabricSpec, down_gbps: int, up_gbps: int) -> tuple[int, int] | None:
    """Ports (down, up) of a spine of three tiers: as few uplinks as its oversubscription allows, or those stated."""
    stated = spec.constraints.spine_uplinks.count
    if stated is not None:
        down = most_down(spec, stated, down_gbps, up_gbps)
        strict = spec.stated("topology", "spine", "oversubscription")
        ratio_kept = _spine_ratio_kept(spec, down * down_gbps, stated * up_gbps)
        return (down, stated) if down and (ratio_kept or not strict) else None
    low, high = 1, capacity(spec.spine.model, up_gbps)
    while low < high:  # bisection: with more uplinks the ratio only falls
        up = (low + high) // 2
        if _spine_ratio_kept(spec, most_down(spec, up, down_gbps, up_gbps) * down_gbps, up * up_gbps):
            high = up
        else:
            low = up + 1
    down = most_down(spec, low, down_gbps, up_gbps)
    return (down, low) if down else None


def _spine_ratio_kept(spec: FabricSpec, down: int, up: int) -> bool:
    return down * spec.spine_ratio.denominator <= spec.spine_ratio.numerator * up


def core_speed(spec: FabricSpec) -> int:
    """Speed of a spine-core link: what the intent states, else the fastest that both ends do natively."""
    stated = spec.constraints.spine_uplinks.speed_gbps
    if stated is not None:
        return stated
    common = [speed for speed in spec.spine.model.uplink_speeds if speed in spec.core.model.uplink_speeds]
    return common[0] if common else spec.spine.model.native_gbps


# --- the rule -------------------------------------------------------------------------------------------------


def choose(options: Options) -> Shape | None:
    """The first shape of the rule's order that fits; None leaves the reasons in `options.misfits`."""
    spec = options.spec
    if spec.kind == "collapsed":
        return _collapsed(options)
    tiers = spec.constraints.tiers
    if tiers == 1 or (tiers == "auto" and spec.constraints.spineless and _needs_no_spines(options)):
        return _one_tier(options)
    stated_minimum = spec.constraints.min_spines
    minima = (stated_minimum,) if stated_minimum else (2, 1)
    if not common_speeds(options):
        return None
    for tier_count, build in ((2, _two_tiers), (3, three_tiers)):
        if tiers not in ("auto", tier_count) or (tier_count == 2 and _many_pods(spec) and tiers == "auto"):
            continue
        for speed in uplink_speeds(spec, options.demands, broken_out=tier_count == 2):
            for minimum in minima:
                shape = build(options, speed, minimum, by_default=stated_minimum is None and minimum > 1)
                if shape is not None:
                    return shape
    return None


def _needs_no_spines(options: Options) -> bool:
    """Whether every leaf of a network has a port of all servers: bonds need a path between their two leaves."""
    spec, (demand, *others) = options.spec, options.demands
    leaves = spec.leaves_per_nic(spec.groups[0]) // spec.planes
    return not others and demand.units == 1 and demand.leaves == leaves and (leaves == 1 or not spec.bonds)


def _one_tier(options: Options) -> Shape | None:
    """Leaves without spines: every server has a port on each leaf of a network."""
    spec = replace(options.spec, constraints=replace(options.spec.constraints, tiers=1))
    demand, option = options.demands[0], "one tier"
    uplinks = checked_uplinks(replace(options, spec=spec), spec.leaf.model.native_gbps, option)
    if uplinks is None:
        return None
    if _needs_no_spines(options):
        return Shape(tiers=1, uplinks=uplinks, uplink_gbps=spec.leaf.model.native_gbps, units_per_pod=0, pods=1, spines=0)
    if len(options.demands) > 1:
        reason = "several groups of servers have leaves of their own"
    elif demand.units > 1:
        carried = demand.servers_per_leaf
        reason = f"a leaf ({spec.leaf.switch}) carries {plural(carried, 'server')}, {spec.groups[0].planned} are asked for"
    elif spec.bonds:
        reason = "bonds of servers need a path between their two leaves"
    else:
        reason = f"the {demand.leaves} leaves of a network reach each other over spines alone"
    hint = "`kind: rail-only` needs no path between rails, `kind: collapsed` links two leaves; or `tiers: 2`"
    options.misfits.append(Misfit(option=option, reason=reason, code="FAB131", path=("topology", "tiers"), hint=hint))
    return None


def _many_pods(spec: FabricSpec) -> bool:
    """Whether the intent asks for pods, which only a third tier joins."""
    pods = spec.constraints.pods
    return pods is not None and pods.count != 1


def _two_tiers(options: Options, speed: int, minimum: int, *, by_default: bool) -> Shape | None:
    spec = options.spec
    option = f"two tiers with {speed}G uplinks"
    uplinks = checked_uplinks(options, speed, option)
    if uplinks is None:
        return None
    ports = capacity(spec.spine.model, speed)
    links = sum(d.units * d.leaves * u for d, u in zip(options.demands, uplinks, strict=True))
    divisors = divisors_of(reduce(gcd, uplinks))
    valid = [s for s in divisors if links <= s * ports]
    if not valid:
        options.misfits.append(
            Misfit(
                option=option,
                reason=f"{_in_network(options)}{links} uplinks on at most {divisors[-1]} spines ({spec.spine.switch}) of "
                f"{plural(ports, 'port')}: {links} > {divisors[-1] * ports}",
                path=spine_switch_path(spec),
                hint=larger_hint(spec),
            )
        )
        return None
    spines = _pick_spines(options, valid, divisors, minimum, by_default, option, pods=1)
    if spines is None:
        return None
    return Shape(tiers=2, uplinks=uplinks, uplink_gbps=speed, units_per_pod=0, pods=1, spines=spines)


def _in_network(options: Options) -> str:
    return "each isolated network has " if options.networks > 1 else ""


def _collapsed(options: Options) -> Shape | None:
    """A leaf pair: the uplink rule determines the links between the two."""
    spec, demand = options.spec, options.demands[0]
    stated = spec.constraints.leaf_uplinks.speed_gbps
    option = "a collapsed-spine pair"
    if demand.units > 1 and capacity(spec.leaf.model, demand.down_gbps):
        options.misfits.append(
            Misfit(
                option=option,
                reason=f"a pair carries {plural(demand.servers_per_leaf, 'server')}, {spec.groups[0].planned} are asked for",
                code="FAB131",
                path=("servers", 0, "count"),
                hint="a larger leaf, a larger `unit`, or another `kind`",
            )
        )
        return None
    speed = stated or spec.leaf.model.native_gbps
    uplinks = checked_uplinks(options, speed, option)
    return Shape(tiers=1, uplinks=uplinks, uplink_gbps=speed, units_per_pod=0, pods=1, spines=0) if uplinks else None
