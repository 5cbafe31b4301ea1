"""Cable lengths where devices stand: with the intent's own places, and against the lengths that it states."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fabric.base.diagnostics import Report
from fabric.design.floor.layout import Key, RackPosition, keys, lay_out, uppers
from fabric.design.floor.longest import longest_m
from fabric.design.floor.outline import outline
from fabric.design.floor.reserve import machines
from fabric.design.planner import lengths
from fabric.model.plan import STATED, FabricPlan, Longer, Plan
from fabric.model.plan.lock_file import FabricLock, Lock

if TYPE_CHECKING:
    from fabric.design.floor.floor import Floor


def with_lengths(plan: Plan, lock: Lock, report: Report) -> dict[str, FabricPlan]:
    """The fabrics with their cable lengths, now that devices have names and numbers.

    Places of the intent that cannot be are reported.
    """
    site = outline(plan)
    planned = {name: replace(fabric_outline, switches=()) for name, fabric_outline in site.fabrics.items()}
    fixed = _fixed(plan, report) if plan.settings.floor.places else {}
    if not fixed and all(uppers(fabric_outline) == uppers(planned[name]) for name, fabric_outline in site.fabrics.items()):
        return dict(plan.fabrics)  # they stand where the sizes alone have put them
    longest = longest_m(site, fixed)
    fabrics = {}
    for name, fabric in plan.fabrics.items():
        spec = lengths.assumed(fabric.spec, longest[name], lock.fabrics.get(name, FabricLock()))
        fabrics[name] = replace(fabric, spec=spec)
    return fabrics


def _fixed(made: Plan, report: Report) -> dict[Key, RackPosition]:
    """Devices with a place stated in the intent, as far as it is allowed."""
    from fabric.design.floor.fixed import fix

    places = lay_out(made, machines(outline(made), report), report)
    own = keys(made)
    return {own[name]: place for name, place in fix(made, places, report).items() if place != places[name]}


def with_longer(plan: Plan, report: Report) -> dict[str, FabricPlan]:
    """The fabrics with the cables that are longer on a stated floor than the length that is stated for them, with a warning.

    Only fabrics with a lossless class count: it is PFC headroom that such a cable is too long for. Without `floor:` in the
    intent the floor is a proposal, and the stated lengths are what is cabled.
    """
    fabrics = dict(plan.fabrics)
    if not plan.settings.positions.stated("floor"):
        return fabrics
    suspects = [
        fabric
        for fabric in fabrics.values()
        if fabric.lossless is not None and any(length.source == STATED for length in fabric.spec.lengths)
    ]
    if not suspects:
        return fabrics
    from fabric.design.floor.floor import floor

    ground = floor(plan)
    for fabric in suspects:
        longer = _longer(fabric, ground)
        lengths.report_longer(fabric.spec, longer, report)
        fabrics[fabric.name] = replace(fabric, longer=longer)
    return fabrics


def _longer(fabric: FabricPlan, ground: Floor) -> tuple[Longer, ...]:
    found = []
    metres = ground.lengths_m(fabric)
    for kind, length in enumerate(fabric.spec.lengths):
        of_kind = metres[fabric.links.kind == kind]
        beyond = of_kind > length.metres
        if length.source == STATED and beyond.any():
            found.append(Longer(kind, length.metres, int(beyond.sum()), float(of_kind.max())))
    return tuple(found)
