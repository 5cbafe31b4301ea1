"""Lengths of links: along the floor; or, without `floor:` in the intent, the lengths that it states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabric.base.diagnostics import Diagnostic, Report
from fabric.design.floor.floor import Floor
from fabric.model.plan import ENDS, KINDS, STATED, FabricPlan, Plan

Floats = NDArray[np.float64]


def lengths(fabric: FabricPlan, floor: Floor) -> Floats:
    """Metres of every link of a fabric, slack included."""
    found = floor.lengths_m(fabric)
    if not floor.stated:
        for kind, length in enumerate(fabric.spec.lengths):
            if length.source == STATED:
                found[fabric.links.kind == kind] = length.metres
    return found


def bought_longer(plan: Plan, needed: dict[str, Floats], bought: dict[str, Floats]) -> tuple[Diagnostic, ...]:
    """Warnings where cables fit the length that PFC headroom is computed for, but are sold longer only.

    A class that the planner chose is a length that every medium is sold in, so this is about lengths that are stated.
    Cables that are longer on the floor already are the planner's warning.

    Args:
        needed: by fabric, metres of every link.
        bought: by fabric, metres of the cable of every link as it is bought.
    """
    report = Report()
    for name, metres in bought.items():
        fabric = plan.fabrics[name]
        for kind, length in enumerate(fabric.spec.lengths) if fabric.lossless is not None else ():
            mine = (fabric.links.kind == kind) & np.isfinite(metres) & (needed[name] <= length.metres)
            of_kind = metres[mine]
            longest = float(of_kind.max(initial=0))
            if longest > length.metres:
                report.warn(
                    "FAB196",
                    fabric.spec.at("topology", "cable_length_m", KINDS[kind]),
                    f"fabric '{name}': expected cables of at most {length.metres} m {ENDS[kind]}, as PFC headroom assumes, "
                    f"got {int((of_kind > length.metres).sum()):,} that are sold only in longer lengths, up to {longest:g} m",
                    f"set `cable_length_m: {{{KINDS[kind]}: {int(np.ceil(longest))}}}`: too little headroom drops packets",
                )
    return tuple(report.warnings)
