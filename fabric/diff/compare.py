"""Two states of a site beside each other: planned, measured, rendered."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from fabric import pipeline, revision
from fabric.diagnostics import Diagnostic, InputError, Place, Report, nearest, show
from fabric.diff import capacity, configs, design, hosts
from fabric.diff.capacity import SIZES, Capacity
from fabric.diff.configs import DeviceChange
from fabric.diff.design import Design, Names
from fabric.diff.hosts import HostChange
from fabric.generate import Progress, silent
from fabric.intent.intent import Intent
from fabric.plan.devices import SERVER, SWITCH_ROLES
from fabric.plan.plan import Plan
from fabric.planner import lock as locks
from fabric.planner.lock import Lock


@dataclass(frozen=True)
class Wanted:
    """What is looked at."""

    fabric: str = ""  # this one only
    configs: bool = True
    limit: str = ""  # glob of the switches and servers whose files are compared
    sizes: tuple[int, ...] = SIZES  # bytes of the all-reduce and the alltoall
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
    hosts: tuple[HostChange, ...] = ()  # files of servers in service
    with_configs: bool = True
    limit: str = ""
    names: frozenset[str] = field(default_factory=frozenset)  # of every box on either side, and every AS number
    state: str = "changed"  # | "added" | "removed": one side has no such file

    @property
    def same(self) -> bool:
        return self.state == "changed" and self.design.same and not self.devices and not self.hosts


def compare(old: str, new: str, wanted: Wanted) -> Diff:
    """The two intents by their names, files or `git:REV[:FILE]`. Raises InputError with the mistakes of both.

    A file that one side does not have, where `git:REV` stands for the other's, is a site that comes or goes.
    """
    sides = _read(old, new)
    old_plan, new_plan = _plans(sides)
    names = design.renames(old_plan, new_plan)
    selected = _selected(wanted, old_plan, new_plan, names)
    _check(wanted, old_plan, new_plan, selected)
    found = design.compare(old_plan, new_plan, wanted.fabric)
    moved = [fabric.name for fabric in found.fabrics if fabric.state != "same" or found.said_of(fabric.name)]
    devices: tuple[DeviceChange, ...] = ()
    servers: tuple[HostChange, ...] = ()
    known = frozenset(_names(old_plan) | _names(new_plan))
    if wanted.configs:
        with tempfile.TemporaryDirectory() as scratch:
            left, right = (
                pipeline.render(plan, revision.check_out(side.intent, name, Path(scratch, word))) if side else None
                for plan, side, name, word in zip((old_plan, new_plan), sides, (old, new), ("old", "new"), strict=True)
            )
            devices = tuple(configs.changes(left, right, names, selected, wanted.jobs, wanted.progress))
        servers = hosts.changes(old_plan, new_plan, names, known, selected)
    return Diff(
        old,
        new,
        new_plan.site,
        found,
        capacity.compare(old_plan, new_plan, moved, wanted.sizes),
        devices,
        servers,
        wanted.configs,
        wanted.limit,
        known,
        "added" if sides[0] is None else "removed" if sides[1] is None else "changed",
    )


@dataclass(frozen=True)
class Side:
    """An intent, and the numbers of its commit where it comes from one."""

    intent: Intent
    numbers: Lock | None


Sides = tuple[Side | None, Side | None]


def _plans(sides: Sides) -> tuple[Plan, Plan]:
    """Both plans; the one of a side that is not there has no fabrics."""
    before, after = sides
    if before is None or after is None:
        there = before or after
        assert there is not None
        made = pipeline.plan(there.intent, there.numbers)
        empty = replace(made, fabrics={})
        return (made, empty) if after is None else (empty, made)
    old = pipeline.plan(before.intent, before.numbers)
    # The new plan stands on the numbers of the old one, as `generate` would make it; a commit brings its own.
    return old, pipeline.plan(after.intent, after.numbers or (old.lock if _same_site(before, after) else None))


def _read(old: str, new: str) -> Sides:
    """Both intents, each with the numbers of its commit; None for a site that comes or goes."""
    names, paths = (old, new), [_path(name) for name in (new, old)]
    absent = [revision.missing(name, other) for name, other in zip(names, paths, strict=True)]
    if sum(absent) != 1 or not any(map(revision.is_short, names)):
        absent = [False, False]
    found, mistakes = list[Side | None](), list[Diagnostic]()
    for name, other, gone in zip(names, paths, absent, strict=True):
        try:
            found.append(None if gone else Side(*revision.read(name, other)))
        except InputError as error:
            mistakes += error.diagnostics
    if mistakes:
        raise InputError(mistakes)
    before, after = found
    if before and after and _same_site(before, after) and before.numbers is None:
        intent = before.intent
        if not (intent.folder / locks.FILE).exists():
            # A file of another folder: the numbers in use lie beside the new one.
            before = Side(Intent(intent.path, intent.site, intent.source, after.intent.folder), None)
    return before, after


def _same_site(one: Side, other: Side) -> bool:
    return one.intent.site.site == other.intent.site.site


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
    elif wanted.limit and not any(map(selected, _devices(old) | _devices(new))):
        report.error("FAB162", Place("--limit"), f"'{wanted.limit}' matches no switch or server of either side")
    report.raise_errors()


def _selected(wanted: Wanted, old: Plan, new: Plan, names: Names) -> Callable[[str], bool]:
    """Whether the files of a switch or server are looked at, by its new name or its old one."""
    was = {after: before for before, after in names.items()}
    plans = [plan.fabrics[wanted.fabric] for plan in (old, new) if wanted.fabric in plan.fabrics]
    inside = {device.name for plan in plans for device in plan.devices}

    def selected(name: str) -> bool:
        own = (name, was.get(name, name))
        return (not wanted.fabric or name in inside) and any(fnmatchcase(each, wanted.limit or "*") for each in own)

    return selected


def _devices(plan: Plan) -> set[str]:
    return {
        device.name
        for fabric in plan.fabrics.values()
        for device in fabric.devices
        if device.role == SERVER or device.role in SWITCH_ROLES
    }


def _names(plan: Plan) -> set[str]:
    """What differs from switch to switch and means nothing: names of boxes, AS numbers."""
    devices = [device for fabric in plan.fabrics.values() for device in fabric.devices]
    return {device.name for device in devices} | {str(device.asn) for device in devices if device.asn}
