"""The largest size of a design: the most servers that the same intent carries before it needs another tier."""

from __future__ import annotations

from functools import reduce
from math import gcd

from fabric.base.rounding import ceil_div
from fabric.design.planner.pods import core_speed, spine_split
from fabric.design.planner.sizing_inputs import Demand, Shape, leaf_uplinks, ratio_kept
from fabric.model.plan import FabricSpec, NoFit, capacity, leaf_ports


def most_units(spec: FabricSpec, demands: tuple[Demand, ...], shape: Shape, speeds: list[int]) -> int:
    """Most units of the first group at the shape's number of tiers, the other groups staying as they are.

    What the intent states (uplinks, counts, pods) stays as stated. `speeds` are the uplink speeds that may be used.
    """
    if shape.tiers == 1:
        return 1
    reach = _two_tiers if shape.tiers == 2 else _three_tiers
    return max([demands[0].units, *(reach(spec, demands, shape, speed, speeds[0]) for speed in speeds)])


def _uplinks(spec: FabricSpec, demands: tuple[Demand, ...], speed: int, native: int) -> list[int] | None:
    """Uplinks of each group's leaf at a speed, None when a leaf does not have the ports."""
    counts = [leaf_uplinks(spec, demand, speed) for demand in demands]
    if speed != native and not all(ratio_kept(spec, d, u, speed) for d, u in zip(demands, counts, strict=True)):
        return None
    try:
        for demand, uplinks in zip(demands, counts, strict=True):
            leaf_ports(spec, demand.down, demand.down_gbps, uplinks, speed)
    except NoFit:
        return None
    return counts


def _two_tiers(spec: FabricSpec, demands: tuple[Demand, ...], shape: Shape, speed: int, native: int) -> int:
    uplinks = _uplinks(spec, demands, speed, native)
    if uplinks is None:
        return 0
    spines = reduce(gcd, uplinks)
    if spec.stated("topology", "spine", "count") and not spec.reserve:
        spines = shape.spines
    ports = spines * capacity(spec.spine.model, speed)
    ports -= sum(d.units * d.leaves * u for d, u in zip(demands[1:], uplinks[1:], strict=True))
    return max(0, ports) // (demands[0].leaves * uplinks[0])


def _three_tiers(spec: FabricSpec, demands: tuple[Demand, ...], shape: Shape, speed: int, native: int) -> int:
    split = spine_split(spec, speed, core_speed(spec))
    uplinks = _uplinks(spec, demands, speed, native)
    if split is None or uplinks is None:
        return 0
    down, up = split
    rule = spec.constraints.pods
    fixed_spines = spec.stated("topology", "spine", "count") and not spec.reserve
    fixed_cores = spec.stated("topology", "core", "count") and not spec.reserve
    spines = shape.spines if fixed_spines else reduce(gcd, uplinks)
    heaviest = max(d.leaves * u for d, u in zip(demands, uplinks, strict=True))
    per_pod = spines * down // heaviest
    if rule is not None and rule.count is None:
        per_pod = shape.units_per_pod
    cores = shape.cores if fixed_cores else up
    pods = shape.pods if fixed_spines else cores * capacity(spec.core.model, core_speed(spec)) // up
    if rule is not None and rule.count is not None:
        pods = min(pods, rule.count)
    others = sum(ceil_div(demand.units, per_pod) for demand in demands[1:]) if per_pod else 0
    return per_pod * max(0, pods - others)
