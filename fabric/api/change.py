"""A change carried out in waves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabric.api.design import plan
from fabric.api.solve import spread_as_planned
from fabric.api.training import step

if TYPE_CHECKING:
    from fabric.base.processes import Progress
    from fabric.configs import Renderer
    from fabric.deliver.change.edits import Edit
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


def redesign(
    old: str,
    new: str,
    request: ChangeRequest,
    call: EstimateRequest,
    job: Path | None = None,
    *,
    files: bool = False,
    jobs: int = 0,
    progress: Progress | None = None,
) -> tuple[Change, Mapping[str, str]]:
    """Plan the change from one intent to another in waves.

    Args:
        old: a file or `git:REV`.
        new: likewise.
        request: the floor, and what is looked at.
        call: as of `change`.
        job: likewise.
        files: with the changes of the files of every switch, in both directions.
        jobs: processes; 0 for one per core.
        progress: progress bar.

    Returns:
        The waves; with `files` what `change_files` returns, path → text.

    Raises:
        InputError: one of the two has no plan.
    """
    import tempfile

    from fabric.base.processes import silent
    from fabric.configs import Renderer
    from fabric.deliver.change.redesign import Sides, redesign as from_old_to_new
    from fabric.design.intent.intent import planned, read_sides

    sides = read_sides(old, new)
    before, after = planned(sides, plan)
    with tempfile.TemporaryDirectory() as scratch:
        homes = [
            side.templates(name, Path(scratch, word)) if side else Path(scratch)
            for side, name, word in zip(sides.both, (old, new), ("old", "new"), strict=True)
        ]
        both = Sides(
            old=before,
            new=after,
            render=lambda state, is_old: Renderer(state, homes[0 if is_old else 1]),
            times=_times(call, job),
            files=files,
            jobs=jobs,
            progress=progress or silent,
        )
        found, edits = from_old_to_new(both, request, f"{old} → {new}")
        return found, change_files(found, edits, both.render(before, True)) if files else {}


def change_files(change: Change, edits: Sequence[Edit], before: Renderer | None = None) -> Mapping[str, str]:
    """Write the files of a change: a checklist, and per wave and switch what is typed, its confirmation and its inverse.

    Args:
        change: the waves.
        edits: changes of files, by the number of the wave.
        before: renderer of the files before the change, for drains; None without drains.

    Returns:
        Path → text.
    """
    from fabric.deliver.change.files import folder

    return folder(change, edits, before)


def _times(call: EstimateRequest, job: Path | None) -> Times:
    """How waves are timed: on the servers that are left, with the routing of the plan."""
    from fabric.base.diagnostics import InputError
    from fabric.deliver.change.meter import Timer, remaining

    timer = Timer()

    def times(fabric: FabricPlan, out: Sequence[str], absent: Sequence[str]) -> tuple[float | None, float | None]:
        if fabric.spec.purpose != "compute" or fabric.sizing.gpus < 2:
            return None, None
        placement = remaining(fabric, absent)
        request = spread_as_planned(fabric, replace(call, fail=(*out, *absent)))
        all_reduce = timer.all_reduce_ms(fabric, request, placement) if placement else None
        try:
            step_ms = step(fabric, replace(request, sizes=()), job, placement).step_ms if job and placement else None
        except InputError:
            if not out:
                raise  # a mistake of the file
            step_ms = None
        return all_reduce, step_ms

    return times
