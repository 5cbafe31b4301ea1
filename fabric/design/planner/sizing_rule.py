"""The sizing rule: how many tiers, and the spines of two. Integers only, no wiring.

The options are tried in the order of the rule, and the first that fits is taken; an option that does not fit leaves a
`Misfit` behind, so that the error of a design that cannot be built names the numbers that do not fit.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import gcd

from fabric.base.text import listed, plural
from fabric.design.planner.sizing_inputs import (
    Demand,
    Misfit,
    Options,
    Shape,
    checked_uplinks,
    common_speeds,
    divisors_of,
    larger_hint,
    pick_spines,
    spine_switch_path,
    uplink_speeds,
)
from fabric.design.planner.three_tiers import three_tiers
from fabric.model.plan import FabricSpec, GroupSpec, capacity

# --- the rule -------------------------------------------------------------------------------------------------


def choose(options: Options) -> Shape | None:
    """The first shape of the rule's order that fits; None leaves the reasons in `options.misfits`."""
    spec = options.spec
    if spec.kind == "collapsed":
        return _collapsed(options)
    if spec.below is not None:
        return _below(options)
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
    """Whether every leaf of a network has a port of all servers. Bonds, and NICs on one of two leaves, need a path."""
    spec, (demand, *others) = options.spec, options.demands
    leaves = spec.leaves_per_nic(spec.groups[0]) // spec.planes
    alone = leaves == 1 or not (spec.bonds or spec.converged)
    return alone and demand.units == 1 and demand.leaves == leaves and not any(other.leaves for other in others)


def _one_tier(options: Options) -> Shape | None:
    """Leaves without spines: every server has a port on each leaf of a network."""
    spec = replace(options.spec, constraints=replace(options.spec.constraints, tiers=1))
    demand, option = options.demands[0], "one tier"
    uplinks = checked_uplinks(replace(options, spec=spec), spec.leaf.model.native_gbps, option)
    if uplinks is None:
        return None
    if _needs_no_spines(options):
        return Shape(tiers=1, uplinks=uplinks, uplink_gbps=spec.leaf.model.native_gbps, units_per_pod=0, pods=1, spines=0)
    if any(other.leaves for other in options.demands[1:]):
        reason = "several groups of servers have leaves of their own"
    elif demand.units > 1 and spec.groups[0].planned:
        reason = _too_many(f"a leaf ({spec.leaf.switch})", spec.groups[0], demand)
    elif spec.bonds or spec.converged:
        reason = f"{'bonds of servers' if spec.bonds else 'NICs of several purposes'} need a path between their two leaves"
    else:
        reason = f"the {demand.units * demand.leaves} leaves of a network reach each other over spines alone"
    hint = "`kind: rail-only` needs no path between rails, `kind: collapsed` links two leaves; or `tiers: 2`"
    options.misfits.append(Misfit(option=option, reason=reason, code="FAB131", path=("topology", "tiers"), hint=hint))
    return None


def _too_many(what: str, group: GroupSpec, demand: Demand) -> str:
    """How many servers the leaves of one unit carry; attachments keep the ports that they have in the lock."""
    held = sum(place < demand.servers_per_leaf for place in group.held)
    beside = " beside its attachments" if held else ""
    return f"{what} carries {plural(demand.servers_per_leaf - held, 'server')}{beside}, {group.planned} are asked for"


def _below(options: Options) -> Shape | None:
    """Leaves that hang below another fabric: one, or one for each stated rack."""
    spec = replace(options.spec, constraints=replace(options.spec.constraints, tiers=1))
    speed = spec.leaf.model.native_gbps
    uplinks = checked_uplinks(replace(options, spec=spec), speed, "leaves below another fabric")
    for at, (group, demand) in enumerate(zip(spec.groups, options.demands, strict=True)):
        if demand.units > 1 and not group.per_rack and not group.bare:
            options.misfits.append(
                Misfit(
                    option="leaves below another fabric",
                    reason=_too_many(f"a leaf ({spec.leaf.switch})", group, demand),
                    code="FAB131",
                    path=("servers", at, "count"),
                    hint="state `per_rack`, the servers of one leaf; or choose a larger switch",
                )
            )
            return None
    return Shape(tiers=1, uplinks=uplinks, uplink_gbps=speed, units_per_pod=0, pods=1, spines=0) if uplinks else None


def _many_pods(spec: FabricSpec) -> bool:
    """Whether the intent asks for pods, which only a third tier joins."""
    pods = spec.constraints.pods
    return pods is not None and (pods.count != 1 or pods.rails is not None)


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
    spines = pick_spines(options, valid, divisors, minimum, by_default, option, pods=1)
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
    group = spec.groups[0]
    held = [place for place in group.held if place < demand.servers_per_leaf]
    if demand.units > 1 and capacity(spec.leaf.model, demand.down_gbps):
        options.misfits.append(
            Misfit(
                option=option,
                reason=_too_many("a pair", group, demand) + _holders(spec, len(held)),
                code="FAB131",
                path=("servers", 0, "count"),
                hint=f"`unit: {{servers: {group.places(group.planned)}}}` or more, or another `kind`"
                if held
                else "a larger leaf, a larger `unit`, or another `kind`",
            )
        )
        return None
    speed = stated or spec.leaf.model.native_gbps
    uplinks = checked_uplinks(options, speed, option)
    return Shape(tiers=1, uplinks=uplinks, uplink_gbps=speed, units_per_pod=0, pods=1, spines=0) if uplinks else None


def _holders(spec: FabricSpec, places: int) -> str:
    """What has ports of the places of servers, in words; "" where nothing has."""
    if not places:
        return ""
    nics = [f"{use.nics} NICs of {group.name}" for group in spec.groups for use in group.on_free_ports]
    others = listed([*nics, *(attachment.name for attachment in spec.attachments)], 3) or "removed attachments"
    return f"; ports of {plural(places, 'more place')} are in use by {others}"
