"""A change carried out in waves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabric.api.solve import estimate
from fabric.api.training import step

if TYPE_CHECKING:
    from fabric.deliver.change.meter import Times
    from fabric.deliver.change.records import Change, ChangeRequest
    from fabric.model.plan import FabricPlan, Plan
    from fabric.solver.estimate.request import EstimateRequest


def change(
    site_plan: Plan, action: str, names: Sequence[str], request: ChangeRequest, call: EstimateRequest, job: Path | None = None
) -> Change:
    """Plan an operation on switches in waves: `drain`, `undrain`, `replace`, `upgrade` or `reboot`.

    Args:
        site_plan: the plan of the site.
        action: what is done to every switch.
        names: switches, globs of them, roles (`leaf`), or planes (`plane:3`).
        request: the floor, and what is looked at.
        call: size of the all-reduce that every wave is timed with, and platform file.
        job: the JOB file, for the time of a training step in every wave; None without.

    Returns:
        Waves with what each leaves, and the switches that the floor does not allow.

    Raises:
        InputError: a name that matches no switch.
    """
    from fabric.deliver.change.operation import operation

    return operation(site_plan, action, names, request, _times(call, job))


def _times(call: EstimateRequest, job: Path | None) -> Times:
    """How waves are timed."""
    from fabric.base.diagnostics import InputError

    def times(fabric: FabricPlan, out: Sequence[str], cut_off: Sequence[str]) -> tuple[float | None, float | None]:
        if fabric.spec.purpose != "compute" or fabric.sizing.gpus < 2:
            return None, None
        gone = set(cut_off)
        rest = [device.name for device in fabric.devices if device.role == "server" and device.name not in gone]
        placement = ",".join(rest) if gone else "packed"
        request = replace(call, fail=tuple(out))
        try:
            row = estimate(fabric, request, placement)[0].rows[-1] if rest else None
            all_reduce = row.time_us / 1e3 if row else None
        except InputError:
            all_reduce = None
        try:
            step_ms = step(fabric, replace(request, sizes=()), job, placement).step_ms if job and rest else None
        except InputError:
            if not out:
                raise  # a mistake of the file
            step_ms = None
        return all_reduce, step_ms

    return times
