"""Three tiers: how a spine is split, how units make pods, and how cores join the spines of all pods.

A reason why a size of pod does not fit is added to the misfits of the options, as in `sizing_rule`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce
from math import gcd

from fabric.base.rounding import ceil_div
from fabric.base.text import plural
from fabric.design.planner.hardware import advice, does
from fabric.design.planner.sizing_inputs import (
    KeyPath,
    Misfit,
    Options,
    Shape,
    checked_uplinks,
    divisors_of,
    larger_hint,
    leaf_switch_path,
    pick_spines,
    share_words,
    spine_switch_path,
)
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import FabricSpec, capacity, most_down

# --- the shape ------------------------------------------------------------------------------------------------


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
    heaviest = max(d.leaves_of_pod * u for d, u in zip(options.demands, uplinks, strict=True))
    best: tuple[int, int, Shape] | None = None
    most = divisors[-1] * down // heaviest  # units of a pod
    for units in _pod_sizes(options, option, most):
        pods = sum(demand.pods(units) for demand in options.demands)
        valid = [s for s in divisors if units * heaviest <= s * down]
        if not valid:
            most_spines = f"at most {divisors[-1]} spines of {plural(down, 'port')} down take {divisors[-1] * down}"
            reason = f"a pod of {plural(units, 'unit')} has {units * heaviest} uplinks, {most_spines}"
            path = ("topology", "pods") if spec.constraints.pods else spine_switch_path(spec)
            options.misfits.append(Misfit(option=option, reason=reason, path=path, hint=_pod_hint(spec, most)))
            continue
        spines = pick_spines(options, valid, divisors, minimum, by_default, option, pods=pods)
        if spines is None:
            continue
        up = spine_uplinks(spec, split[1], units * heaviest // spines, speed, core_gbps)
        join = _join(options, option, pods, spines, up, core_gbps)
        if join is None:
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
            spines_per_core=join.spines_per_core,
            cores=join.cores,
        )
        rank = (pods * spines + join.total, -units)
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
    if rule is None and options.wired.units:
        yield options.wired.units
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
        return sum(demand.pods(size) for demand in options.demands)

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


@dataclass(frozen=True)
class Join:
    """One way to join pods in one isolated network: core groups, each of equal cores and of as many spines of every pod."""

    spines_per_core: int  # of each pod
    cores: int  # of a group
    total: int  # cores of all groups
    most_pods: int  # that the ports of a core take


def joins(spines: int, up: int, core_ports: int) -> list[Join]:
    """Every way to join pods of so many spines with `up` uplinks each, the fewest cores first.

    Two cores at least, if there is a way. Of equal numbers a group per spine of a pod, else most cores per spine.
    """
    found = [
        Join(shared, cores, spines // shared * cores, core_ports // (shared * (up // cores)))
        for shared in divisors_of(spines)
        for cores in divisors_of(up)
    ]
    return sorted(found, key=lambda join: (join.total < 2, join.total, join.spines_per_core > 1, -join.cores))


def _join(options: Options, option: str, pods: int, spines: int, up: int, speed: int) -> Join | None:
    """How cores join the pods: as stated, as in service, else with the fewest cores."""
    path: KeyPath
    spec, stated = options.spec, options.spec.constraints.core_groups
    ports = capacity(spec.core.model, speed)
    fitting = [join for join in joins(spines, up, ports) if join.most_pods >= pods]
    if not fitting:
        most = f"at most {up} cores ({spec.core.switch}) of {plural(ports, 'port')} take {up * ports}"
        reason = f"{plural(pods, 'pod')} bring {pods * up} uplinks to a core group, {most}"
        path = ("topology", "core", "switch") if spec.stated("topology", "core", "switch") else ("topology",)
        options.misfits.append(Misfit(option=option, reason=reason, path=path, hint=larger_hint(spec)))
        return None
    if stated is not None:
        valid = {spines // join.spines_per_core for join in fitting}
        if stated not in valid:
            evenly = f"groups that the {plural(spines, 'spine')} of a pod share evenly, with ports for their uplinks"
            reason, path = f"core.groups: expected {evenly}, got {stated}", ("topology", "core", "groups")
            options.misfits.append(_uneven(option, reason, path, stated, valid))
        fitting = [join for join in fitting if join.spines_per_core * stated == spines]
    elif options.wired.spines_per_core:
        fitting = [join for join in fitting if join.spines_per_core == options.wired.spines_per_core]
    elif spec.constraints.cores is None and passes_on(spec):
        fitting = [join for join in fitting if join.spines_per_core == 1]
    if spec.reserve and spec.constraints.cores:  # those built now are a part of the finished ones
        fitting = [join for join in fitting if join.total * options.networks >= spec.constraints.cores] or fitting
    total = options.core_total
    totals = {join.total * options.networks: join for join in reversed(fitting)}
    if fitting and total is not None and total not in totals:
        evenly = f"the {up} uplinks of each of the {plural(spines, 'spine')} of {share_words(options, pods)} evenly"
        reason, path = f"core.count: expected cores that share {evenly}, got {total}", ("topology", "core", "count")
        options.misfits.append(_uneven(option, reason, path, total, set(totals)))
    return next(iter(fitting), None) if total is None else totals.get(total)


def passes_on(spec: FabricSpec) -> bool:
    """Whether a core passes routes on between spines of one pod, which no common AS number makes them drop.

    After a failure a spine then has paths down over the cores and another spine of its pod.
    """
    return spec.ethernet and spec.underlay.asn.scheme == "per-device"


def _uneven(option: str, reason: str, path: KeyPath, requested: int, valid: set[int]) -> Misfit:
    return Misfit(option=option, reason=reason, code="FAB133", path=path, requested=requested, valid=tuple(sorted(valid)))


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


def spine_uplinks(spec: FabricSpec, most: int, down: int, down_gbps: int, up_gbps: int) -> int:
    """Uplinks of a spine: `most` of its split, or with pods of stated rails as many as its `down` links from leaves need."""
    if spec.constraints.spine_uplinks.count or not (spec.constraints.pods and spec.constraints.pods.rails):
        return most
    return ceil_div(down * down_gbps * spec.spine_ratio.denominator, spec.spine_ratio.numerator * up_gbps)


def _spine_ratio_kept(spec: FabricSpec, down: int, up: int) -> bool:
    return down * spec.spine_ratio.denominator <= spec.spine_ratio.numerator * up


def core_speed(spec: FabricSpec) -> int:
    """Speed of a spine-core link: what the intent states, else the fastest that both ends do natively."""
    stated = spec.constraints.spine_uplinks.speed_gbps
    if stated is not None:
        return stated
    common = [speed for speed in spec.spine.model.uplink_speeds if speed in spec.core.model.uplink_speeds]
    return common[0] if common else spec.spine.model.native_gbps
