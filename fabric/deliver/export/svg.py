"""Static pictures of a plan as SVG: the design at first glance, for a README, a slide, a ticket or the wall.

svg        the tiers of every fabric
svg_rail   one rail through a fabric: its leaf in every unit, with the ports
svg_plane  one plane likewise
svg_racks  the racks of the site, and where they stand
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.deliver.export.pictures import view
from fabric.deliver.export.pictures.figure import part, sheet, whole
from fabric.deliver.export.pictures.view import View
from fabric.model.plan import FabricPlan, Plan


def svg(plan: Plan) -> str:
    """The tiers of every fabric, the fabrics below each other."""
    figures = [whole(View.of(fabric)) for fabric in plan.fabrics.values()]
    return sheet(plan.site, figures, f"Network of {plan.site}: {', '.join(plan.fabrics)}")


def svg_rail(plan: Plan, rail: int = 1) -> str:
    """One rail, from 1, of every fabric that has it; a site without rails whole. Raises InputError."""
    return _slices(plan, "rail", rail, view.rails, view.rail)


def svg_plane(plan: Plan, plane: int = 1) -> str:
    """One plane, from 1, of every fabric that has it; a site without planes whole. Raises InputError."""
    return _slices(plan, "plane", plane, view.planes, view.plane)


def _slices(
    plan: Plan,
    dimension: str,
    number: int,
    present: Callable[[FabricPlan], Sequence[int]],
    cut: Callable[[FabricPlan, int], View],
) -> str:
    title = f"Network of {plan.site}, {dimension} {number}: "
    largest = max(len(present(fabric)) for fabric in plan.fabrics.values())
    if not 1 <= number <= max(largest, 1):
        message = f"expected a number from 1 to {max(largest, 1)}, got {number}"
        raise InputError(
            [Diagnostic("FAB163", Place(f"--{dimension}"), message, "`fabric plan` lists the devices of a fabric")]
        )
    if not largest:
        note = f"This fabric has no {dimension}s: the whole fabric is drawn."
        return sheet(plan.site, [whole(View.of(f), note) for f in plan.fabrics.values()], title + ", ".join(plan.fabrics))
    having = {name: fabric for name, fabric in plan.fabrics.items() if number - 1 in present(fabric)}
    without = [name for name in plan.fabrics if name not in having]
    footnote = f"Without a {dimension} {number}: {', '.join(without)}" if without else ""
    return sheet(
        plan.site, [part(cut(fabric, number - 1)) for fabric in having.values()], title + ", ".join(having), footnote
    )


def svg_racks(plan: Plan) -> str:
    """An elevation of every kind of rack, and the floor. Raises InputError where the intent's floor cannot be."""
    from fabric.deliver.export.pictures import racks
    from fabric.design.floor.floor import floor

    return racks.sheet(plan, floor(plan))
