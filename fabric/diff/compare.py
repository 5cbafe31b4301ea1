"""Two states of a site beside each other: planned, measured, rendered."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from fabric import pipeline, revision
from fabric.diagnostics import Diagnostic, InputError, Place, Report, nearest, show
from fabric.diff import capacity, configs, design
from fabric.diff.capacity import SIZES, Capacity
from fabric.diff.configs import DeviceChange
from fabric.diff.design import Design, Names
from fabric.generate import Progress, silent
from fabric.pipeline import Intent
from fabric.plan.plan import Plan
from fabric.planner import lock as locks
from fabric.planner.lock import Lock


@dataclass(frozen=True)
class Wanted:
    """What is looked at."""

    fabric: str = ""  # this one only
    configs: bool = True
    limit: str = ""  # glob of the switches whose configs are compared
    sizes: tuple[int, ...] = SIZES  # bytes of the all-reduce
    jobs: int = 0  # processes; 0: every core
    progress: Progress = silent


@dataclass(frozen=True)
class Diff:
    """Everything that changes."""

    old: str  # as the person called it
    new: str
    site: str
    design: Design
    capacity: Capacity
    devices: tuple[DeviceChange, ...] = ()
    with_configs: bool = True
    limit: str = ""
    names: frozenset[str] = field(default_factory=frozenset)  # of every box on either side, and every AS number

    @property
    def same(self) -> bool:
        return self.design.same and not self.devices


def compare(old: str, new: str, wanted: Wanted) -> Diff:
    """The two intents by their names, files or `git:REV[:FILE]`. Raises InputError with the mistakes of both."""
    (before, known), (after, own) = _read(old, new)
    same_site = before.site.site == after.site.site
    old_plan = pipeline.plan(before, known)
    # The new plan stands on the numbers of the old one, as `generate` would make it; a commit brings its own.
    new_plan = pipeline.plan(after, own or (old_plan.lock if same_site else None))
    names = design.renames(old_plan, new_plan)
    selected = _selected(wanted, old_plan, new_plan, names)
    _check(wanted, old_plan, new_plan, selected)
    found = design.compare(old_plan, new_plan, wanted.fabric)
    moved = [fabric.name for fabric in found.fabrics if fabric.state != "same" or found.said_of(fabric.name)]
    devices: tuple[DeviceChange, ...] = ()
    if wanted.configs:
        with tempfile.TemporaryDirectory() as scratch:
            left = pipeline.render(old_plan, revision.check_out(before, old, Path(scratch, "old")))
            right = pipeline.render(new_plan, revision.check_out(after, new, Path(scratch, "new")))
            devices = tuple(configs.changes(left, right, names, selected, wanted.jobs, wanted.progress))
    return Diff(
        old,
        new,
        after.site.site,
        found,
        capacity.compare(old_plan, new_plan, moved, wanted.sizes),
        devices,
        wanted.configs,
        wanted.limit,
        frozenset(_names(old_plan) | _names(new_plan)),
    )


def _read(old: str, new: str) -> tuple[tuple[Intent, Lock | None], tuple[Intent, Lock | None]]:
    """Both intents, each with the numbers of its commit."""
    paths = [_path(name) for name in (old, new)]
    found, mistakes = [], list[Diagnostic]()
    for name, other in zip((old, new), reversed(paths), strict=True):
        try:
            found.append(revision.read(name, other))
        except InputError as error:
            mistakes += error.diagnostics
    if mistakes:
        raise InputError(mistakes)
    (before, known), (after, own) = found
    if before.site.site == after.site.site and known is None and not (before.folder / locks.FILE).exists():
        # A file of another folder: the numbers in use lie beside the new one.
        before = Intent(before.path, before.site, before.source, after.folder)
    return (before, known), (after, own)


def _path(name: str) -> Path | None:
    """The file that a name speaks of, for the other side to take."""
    if not name.startswith(revision.GIT):
        return Path(name)
    file = name.removeprefix(revision.GIT).partition(":")[2]
    return Path(file) if file else None


def _check(wanted: Wanted, old: Plan, new: Plan, selected: Callable[[str], bool]) -> None:
    """A fabric or a switch that is named must be on one side at least."""
    report = Report()
    known = {*old.fabrics, *new.fabrics}
    if wanted.fabric and wanted.fabric not in known:
        report.error("FAB106", Place("--fabric"), f"unknown fabric {show(wanted.fabric)}", nearest(wanted.fabric, known))
    elif wanted.limit and not any(map(selected, _switches(old) | _switches(new))):
        report.error("FAB162", Place("--limit"), f"'{wanted.limit}' matches no switch of either side")
    report.raise_errors()


def _selected(wanted: Wanted, old: Plan, new: Plan, names: Names) -> Callable[[str], bool]:
    """Whether the config of a switch is looked at, by its new name or its old one."""
    was = {after: before for before, after in names.items()}
    plans = [plan.fabrics[wanted.fabric] for plan in (old, new) if wanted.fabric in plan.fabrics]
    inside = {device.name for plan in plans for device in plan.switches}

    def selected(name: str) -> bool:
        own = (name, was.get(name, name))
        return (not wanted.fabric or name in inside) and any(fnmatchcase(each, wanted.limit or "*") for each in own)

    return selected


def _switches(plan: Plan) -> set[str]:
    return {device.name for fabric in plan.fabrics.values() for device in fabric.switches}


def _names(plan: Plan) -> set[str]:
    """What differs from switch to switch and means nothing: names of boxes, AS numbers."""
    devices = [device for fabric in plan.fabrics.values() for device in fabric.devices]
    return {device.name for device in devices} | {str(device.asn) for device in devices if device.asn}
