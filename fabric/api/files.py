"""A plan becomes files, and files are compared with the plan."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fabric.api.design import load, plan
from fabric.api.solve import calls

if TYPE_CHECKING:
    from fabric.audit.checks import Outcome, Scope
    from fabric.audit.diff.compare import Diff, DiffRequest
    from fabric.audit.drift.devices import SiteDrift
    from fabric.audit.verify.verify import SiteState
    from fabric.base.processes import Progress
    from fabric.configs import Renderer
    from fabric.configs.generate import Generation
    from fabric.design.intent.intent import Intent
    from fabric.lab.lab import Lab
    from fabric.model.plan import Plan


def render(site_plan: Plan, intent: Intent) -> Renderer:
    """Return the renderer of the files of every switch, with the overrides of the intent applied.

    Raises:
        InputError: an override that matches no device or cannot be applied.
    """
    from fabric.configs import Renderer

    return Renderer(site_plan, intent.path.absolute().parent)


def generate(
    intent: Intent, limit: str = "", jobs: int = 0, progress: Progress | None = None, renumber: bool = False
) -> Generation:
    """Plan a site: `.check()` and `.diff()` compare with the output folder, `.write()` writes all or nothing.

    Args:
        intent: the design.
        limit: glob of devices; "" for all.
        jobs: processes; 0 for one per core.
        progress: progress bar.
        renumber: ignore the lock file and assign every value again.

    Raises:
        InputError: the intent has no plan.
    """
    from fabric.configs.generate import Generation, numbers_of
    from fabric.model.plan.lock_file import Lock

    before = numbers_of(intent.home)  # as it is before planning: `write` finds out whether another run has changed it since
    site_plan = plan(intent, Lock() if renumber else None)
    return Generation(render(site_plan, intent), before, limit, jobs, progress)


def check(scope: Scope, fail_on: str = "error", progress: Progress | None = None) -> Outcome:
    """Run every check on the design and files of intents, or on any folder of configs.

    Args:
        scope: intents, or a folder of configs.
        fail_on: lowest severity that fails the run: `error`, `warning` or `note`.
        progress: progress bar.

    Returns:
        Findings with file, line and column.

    Raises:
        InputError: the folder has no config, or the scope holds no intent that can be read.
        OSError: the folder is missing.
    """
    from fabric.audit.checks import named_folder
    from fabric.audit.checks.run import run
    from fabric.base.diagnostics import tried
    from fabric.deliver.cabling.runs import without_cable
    from fabric.design.intent.intent import refuse_same_site

    folder = named_folder(scope, managers=True)
    intents: list[Intent] = []

    def read(path: Path) -> None:
        intent = load(path, scope.output)
        refuse_same_site([*intents, intent])
        intents.append(intent)

    _, mistakes = tried({os.path.realpath(path): path for path in scope.files}.values(), read)
    ready, more = tried(intents, lambda intent: render(plan(intent), intent))
    return run(scope, folder, ready, [*mistakes, *more], fail_on, cables=without_cable, progress=progress)


def drift(intent: Intent, configs: Path, jobs: int = 0, progress: Progress | None = None) -> SiteDrift:
    """Compare the running configs of a site with its plan.

    Args:
        intent: a loaded intent.
        configs: folder of running configs, one device per file or folder.
        jobs: processes; 0 for one per core.
        progress: progress bar.

    Returns:
        State, findings and the commands back to the plan of every switch.

    Raises:
        InputError: the intent cannot be planned, or the folder has no config.
        OSError: the folder is missing.
    """
    from fabric.audit.checks import Scope, named_folder
    from fabric.audit.drift.devices import site_drift
    from fabric.base.processes import silent

    folder = named_folder(Scope(files=(), configs=configs))
    assert folder is not None
    site_plan = plan(intent)
    _need_configs(site_plan)
    return site_drift(render(site_plan, intent), folder, jobs, progress or silent)


def _need_configs(site_plan: Plan) -> None:
    """Raises InputError for a plan without a switch that has a config: comparing nothing is no success."""
    from fabric.base.diagnostics import Diagnostic, InputError, Place

    if not any(device.nos for fabric in site_plan.fabrics.values() for device in fabric.switches):
        message = f"site '{site_plan.site}' has no switch with a network OS, so there is nothing to compare"
        hint = "a subnet manager configures InfiniBand switches; `fabric cabling verify` compares their cables"
        raise InputError([Diagnostic("FAB161", Place(str(site_plan.settings.home.path)), message, hint)])


def verify_state(site_plan: Plan, folder: Path, before: Path | None = None) -> SiteState:
    """Compare the state of the switches of a site with its plan.

    Args:
        site_plan: the plan.
        folder: output of show commands, as `docs/verify.md` collects it; one switch per file or folder.
        before: an earlier folder; counters count from there.

    Returns:
        Findings, and what could not be judged.

    Raises:
        InputError: a folder is missing or has no file.
    """
    from fabric.audit.verify.verify import verify

    _need_configs(site_plan)
    return verify(site_plan, folder, before)


def diff(old: str, new: str, request: DiffRequest) -> Diff:
    """Compare two intents: design, capacity and configs.

    Args:
        old: a file or `git:REV`.
        new: likewise.
        request: fabric, devices and sizes to compare.

    Raises:
        InputError: one of the two has no plan.
    """
    from fabric.audit.diff.compare import compare
    from fabric.design.intent.intent import planned, read_sides
    from fabric.solver.estimate.calls import measured
    from fabric.solver.estimate.request import EstimateRequest

    sides = read_sides(old, new)
    plans = planned(sides, plan)
    asked = EstimateRequest(sizes=request.sizes, routing="", queue_pairs=0, platform=request.platform)
    return compare(sides, plans, request, lambda fabric, cuts: measured(fabric, calls(fabric, asked), cuts))


def lab(intent: Intent) -> Lab:
    """Return the plan as network namespaces with FRR: `.up()`, `.status()`, `.test()`, `.down()`; all need root."""
    from fabric.lab.lab import Lab

    return Lab(intent, plan)
