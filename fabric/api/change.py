"""A change carried out in waves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabric.api.design import load, plan
from fabric.api.solve import spread_as_planned
from fabric.api.training import step

if TYPE_CHECKING:
    from fabric.base.processes import Progress
    from fabric.configs import Renderer
    from fabric.deliver.change.apply.connection import Network
    from fabric.deliver.change.apply.folder import Work
    from fabric.deliver.change.apply.moments import Stage
    from fabric.deliver.change.apply.records import Options, Outcome, Tell
    from fabric.deliver.change.edits import Edit
    from fabric.deliver.change.meter import Times
    from fabric.deliver.change.records import Asked, Change, ChangeRequest
    from fabric.deliver.change.redesign import Redesign, Sides
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
    from fabric.base.processes import silent
    from fabric.deliver.change.records import Asked

    with _sides(old, new, _times(call, job)) as sides:
        both = replace(sides, files=files, jobs=jobs, progress=progress or silent)
        found = _from_old_to_new(both, old, new, request)
        asked = Asked(old=old, new=new, request=request)
        return found.change, change_files(found.change, found.edits, found.old, asked, found.new) if files else {}


@contextmanager
def _sides(old: str, new: str, times: Times) -> Iterator[Sides]:
    """Both plans of a change; the templates of a commit are there meanwhile."""
    import tempfile

    from fabric.configs import Renderer
    from fabric.deliver.change.redesign import Sides
    from fabric.design.intent.intent import planned, read_sides

    versions = read_sides(old, new)
    before, after = planned(versions, plan)
    with tempfile.TemporaryDirectory() as scratch:
        homes = [
            side.templates(name, Path(scratch, word)) if side else Path(scratch)
            for side, name, word in zip(versions.both, (old, new), ("old", "new"), strict=True)
        ]
        yield Sides(
            old=before, new=after, render=lambda state, is_old: Renderer(state, homes[0 if is_old else 1]), times=times
        )


def _from_old_to_new(sides: Sides, old: str, new: str, request: ChangeRequest) -> Redesign:
    from fabric.deliver.change.redesign import redesign as from_old_to_new

    return from_old_to_new(sides, request, f"{old} → {new}")


def change_files(
    change: Change,
    edits: Sequence[Edit],
    before: Renderer | None = None,
    asked: Asked | None = None,
    after: Renderer | None = None,
) -> Mapping[str, str]:
    """Write the files of a change: a checklist, and per wave and switch what is typed, its confirmation and its inverse.

    Args:
        change: the waves.
        edits: changes of files, by the number of the wave.
        before: renderer of the files before the change, for drains; None without drains.
        asked: what the change was planned from, for `change_apply`; None where it is not carried out by it.
        after: renderer of the files after the change, for drains of switches that it brings.

    Returns:
        Path → text.
    """
    from fabric.deliver.change.files import folder

    return folder(change, edits, before, asked, after)


# --- carried out ----------------------------------------------------------------------------------------------


def change_apply(work: Work, network: Network, options: Options | None = None, tell: Tell | None = None) -> Outcome:
    """Carry out a change, wave after wave, and verify each.

    Args:
        work: the change, as `change_work` has it; the journal is written into its folder.
        network: its switches: `change_hosts` over SSH and NETCONF, or anything that does the same.
        options: which waves, and how; None: all.
        tell: is called with each step; None: silent.

    Returns:
        What came of each wave.

    Raises:
        InputError: an earlier run has to be gone on with, or another process is at it.
    """
    from fabric.deliver.change.apply.records import Options
    from fabric.deliver.change.apply.run import carry_out

    return carry_out(work, network, options or Options(), tell or (lambda text: None))


def change_hosts(inventory: Path, work: Work) -> AbstractContextManager[Network]:
    """Return the switches of a change as an inventory has them, reached over SSH and NETCONF.

    Args:
        inventory: hosts of Nornir, or what `fabric export ansible` writes.
        work: the change.

    Raises:
        InputError: the inventory cannot be read, or lacks a switch.
        MissingError: a library of `fabricwright[apply]` is not installed.
    """
    from fabric.deliver.change.apply.hosts.network import hosts

    return hosts(inventory, work)


def change_in_lab(work: Work, options: Options | None = None, tell: Tell | None = None) -> Outcome:
    """Carry out a change on the lab that is up: it becomes one of the new design, cables and switches too.

    A probe of 32 flows between servers runs meanwhile; `tell` gets what it lost in each wave.

    Args:
        work: the change, as `change_work` has it.
        options: which waves, and how; None: all.
        tell: is called with each step; None: silent.

    Returns:
        What came of each wave.

    Raises:
        InputError: an earlier run has to be gone on with.
        MissingError: no lab of the site is up, or the machine lacks something.
    """
    from fabric.deliver.change.apply.folder import asked_of
    from fabric.deliver.change.apply.records import Options
    from fabric.lab.change import carry_out, drawn, opened

    def carried(old: Renderer, new: Renderer) -> Outcome:
        network = opened(drawn(old), drawn(new))
        return carry_out(work, network, options or Options(), tell or (lambda text: None)).outcome

    asked = asked_of(work.folder)
    if asked.action:
        from fabric.api.files import render

        intent = load(Path(asked.old))
        renderer = render(plan(intent), intent)
        return carried(renderer, renderer)
    with _sides(asked.old, asked.new, _untimed) as sides:
        return carried(sides.render(sides.old, True), sides.render(sides.new, False))


@contextmanager
def change_work(folder: Path, secrets: Mapping[str, str] | None = None, jobs: int = 0) -> Iterator[Work]:
    """Plan the change of a folder again, and compare; the stages are those of the waves.

    Args:
        folder: of the files.
        secrets: name → value of the references in the files; None: the environment.
        jobs: processes; 0 for one per core.

    Raises:
        InputError: the files are not those of the change as it is planned now.
    """
    import os

    from fabric.deliver.change.apply import folder as files
    from fabric.deliver.change.apply.moments import of_operation, of_redesign

    def work(found: Change, texts: Mapping[str, str], stages: Iterable[Stage]) -> Work:
        own = files.texts_of(folder, texts, asked, found)
        made = list(stages)
        files.refuse_unsupported(made, folder)
        known = files.secrets_of(own, os.environ if secrets is None else secrets)
        return files.Work(
            folder=folder,
            site=found.site,
            title=found.title,
            stages=made,
            texts=own,
            secrets=known,
            change=files.change_of(own, asked),
        )

    asked = files.asked_of(folder)
    if asked.action:
        from fabric.api.files import render

        intent = load(Path(asked.old))
        renderer = render(plan(intent), intent)
        from fabric.deliver.change.operation import operation

        found = operation(renderer.plan, asked.action, asked.names, asked.request, _untimed)
        yield work(found, change_files(found, (), renderer, asked), of_operation(found, renderer))
        return
    with _sides(asked.old, asked.new, _untimed) as sides:
        both = replace(sides, files=True, jobs=jobs)
        redesigned = _from_old_to_new(both, asked.old, asked.new, asked.request)
        switches = {device.name for fabric in sides.old.fabrics.values() for device in fabric.switches}
        files.refuse_renamed({old: new for old, new in redesigned.names.items() if old in switches}, folder)
        texts = change_files(redesigned.change, redesigned.edits, redesigned.old, asked, redesigned.new)
        yield work(redesigned.change, texts, of_redesign(both, redesigned))


def _untimed(fabric: FabricPlan, out: Sequence[str], absent: Sequence[str]) -> tuple[float | None, float | None]:
    """Waves do not depend on the time of a job."""
    return None, None


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
