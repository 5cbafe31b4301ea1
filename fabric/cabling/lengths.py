"""Lengths of links: along the floor; or, where the intent says nothing of its floor, the lengths that it states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabric.diagnostics import Diagnostic, Report
from fabric.floor import route
from fabric.floor.floor import Floor
from fabric.plan.links import ATTACHMENT, KINDS, LEAF_LEAF, LEAF_SPINE, SERVER_LEAF, SPINE_CORE
from fabric.plan.plan import FabricPlan, Plan

Floats = NDArray[np.float64]

ENDS = {
    SERVER_LEAF: "a server and its leaf",
    LEAF_LEAF: "the two leaves",
    LEAF_SPINE: "a leaf and a spine",
    SPINE_CORE: "a spine and a core",
    ATTACHMENT: "a leaf and an attached box",
}


def lengths(fabric: FabricPlan, floor: Floor) -> Floats:
    """Metres of every link of a fabric, slack included."""
    links, stands = fabric.links, floor.stands(fabric)
    found = floor.with_slack(route.length_m(floor.geometry, stands[links.a], stands[links.b]))
    if not floor.stated:
        for kind, name in enumerate(KINDS):
            if fabric.spec.stated("topology", "cable_length_m", name):
                found[links.kind == kind] = _planned_m(fabric, kind)
    return found


def _planned_m(fabric: FabricPlan, kind: int) -> float:
    return float(fabric.spec.intent.topology.cable_length_m.model_dump(by_alias=True)[KINDS[kind]])


def longer_than_planned(plan: Plan, bought: dict[str, Floats]) -> tuple[Diagnostic, ...]:
    """Warnings where cables are longer than the lengths that the headroom of PFC was worked out for.

    Args:
        bought: by fabric, metres of the cable of every link as it is bought.
    """
    report = Report()
    for name, metres in bought.items():
        fabric = plan.fabrics[name]
        for kind in range(len(KINDS)) if fabric.lossless is not None else ():
            of_kind = metres[fabric.links.kind == kind]
            of_kind = of_kind[np.isfinite(of_kind)]
            longest, planned = float(of_kind.max(initial=0)), _planned_m(fabric, kind)
            if longest > planned:
                report.warn(
                    "FAB192",
                    fabric.spec.at("topology", "cable_length_m", KINDS[kind]),
                    f"fabric '{name}': expected cables of at most {planned:g} m between {ENDS[kind]}, as the headroom of PFC "
                    f"is reckoned, got {int((of_kind > planned).sum()):,} longer ones, the longest {longest:g} m",
                    f"state `cable_length_m: {{{KINDS[kind]}: {int(np.ceil(longest))}}}`: too little headroom drops packets",
                )
    return tuple(report.warnings)
