"""The run list of a plan: its cables on its floor, and the order in which to lay those that are asked for."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.base.diagnostics import Diagnostic, InputError, Place, Warnings, nearest, show
from fabric.deliver.cabling.laying_order import Walk, walk
from fabric.deliver.cabling.rows import Ints, selected
from fabric.deliver.cabling.runs import Runs, runs
from fabric.design.floor.floor import floor
from fabric.model.plan import Plan


@dataclass(frozen=True)
class RunList:
    """All cables, the rows of those that were asked for, and the walk that lays these."""

    runs: Runs
    chosen: Ints
    walk: Walk
    warnings: Warnings


def run_list(plan: Plan, fabric: str = "", limit: str = "") -> RunList:
    """The cables of a plan, of one fabric, or of the devices and racks of a pattern.

    Raises InputError where the floor cannot be laid out, for links that nothing joins, and for a pattern without a match.
    """
    stands = floor(plan)
    cables = runs(plan, stands)
    if cables.errors:
        raise InputError(cables.errors)
    chosen = selected(cables, fabric, limit)
    if limit and not len(chosen):
        names = [device.name for name, its in plan.fabrics.items() if fabric in ("", name) for device in its.devices]
        message = f"{show(limit)} matches no device or rack of a cable"
        raise InputError([Diagnostic("FAB162", Place("--limit"), message, nearest(limit, names))])
    return RunList(cables, chosen, walk(cables, chosen), (*stands.warnings, *cables.warnings))
