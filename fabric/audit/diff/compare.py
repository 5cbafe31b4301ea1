"""Two states of a site beside each other: planned, measured (bisection, throughput, collectives), rendered."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from fabric.audit.diff import configs, design, groups
from fabric.audit.diff.configs import DeviceChange
from fabric.audit.diff.design import Design, Names
from fabric.audit.diff.groups import HostChange
from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.base.processes import Progress, silent
from fabric.configs import Renderer
from fabric.design.intent.intent import IntentVersions
from fabric.model.plan import SERVER, SWITCH_ROLES, FabricPlan, Plan
from fabric.solver.estimate.calls import PACKED, SPREAD, Measured

# --- capacity -------------------------------------------------------------------------------------------------
# What a fabric carries before and after: bisection, throughput, and the times of an all-reduce and an alltoall.
#
# A packed all-reduce hardly crosses a spine, so it does not see oversubscription. Both collectives are therefore timed with
# the job spread over the units as well.

SIZES = (8 << 20, 256 << 20, 1 << 30, 8 << 30)  # bytes, as nccl-tests counts them
MIN_SHOWN_PERCENT = 0.05  # what is less reads +0.0 %
MAX_MEASURED_LINKS = 150_000  # of a fabric whose bisection and throughput are computed interactively
Measure = Callable[[FabricPlan, bool], Measured]  # a fabric's figures, those that take a while as well


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measure of one fabric; None on the side that has no such fabric, or no such figure."""

    fabric: str
    what: str
    unit: str  # "%", "GB/s", "ms"
    old: float | None
    new: float | None
    placement: str = ""  # of the job whose time it is

    @property
    def percent(self) -> float | None:
        """By how much the new one differs from the old."""
        if not self.old or self.new is None:
            return None
        return 100 * (self.new - self.old) / self.old

    @property
    def differs(self) -> bool:
        """Whether it is worth a line: by a twentieth of a percent at least."""
        return self.old != self.new and (self.percent is None or abs(self.percent) >= MIN_SHOWN_PERCENT)


@dataclass(frozen=True)
class Capacity:
    """Figures of the fabrics that change, and the fabrics that are too large to be measured at once."""

    figures: tuple[Figure, ...]
    left_out: tuple[str, ...] = ()
    routing: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # fabric → in words, before and after; "": not timed


def compare_capacity(old: Plan, new: Plan, fabrics: Sequence[str], measure: Measure) -> Capacity:
    """The figures of some fabrics."""
    figures: list[Figure] = []
    left_out: list[str] = []
    routing: dict[str, tuple[str, str]] = {}
    for name in fabrics:
        sides = [plan.fabrics.get(name) for plan in (old, new)]
        if any(side is not None and len(side.links) > MAX_MEASURED_LINKS for side in sides):
            left_out.append(name)
        before, after = (measure(side, name not in left_out) if side is not None else Measured({}) for side in sides)
        routing[name] = before.routing, after.routing
        pairs = {key: (before.figures.get(key), after.figures.get(key)) for key in {**before.figures, **after.figures}}
        for (figure, unit, placement), pair in pairs.items():
            # A job in one unit has one placement: its figures are listed once.
            if placement != SPREAD or pair != pairs.get((figure.removesuffix(f", {SPREAD}"), unit, PACKED)):
                ends = dict(zip(("old", "new"), pair, strict=True))
                figures.append(Figure(fabric=name, what=figure, unit=unit, **ends, placement=placement))
    return Capacity(tuple(figures), tuple(left_out), routing)


# --- comparison -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DiffRequest:
    """What is looked at."""

    fabric: str = ""  # this one only
    configs: bool = True
    limit: str = ""  # glob of the switches and servers whose files are compared
    sizes: tuple[int, ...] = SIZES  # bytes of the all-reduce and the alltoall
    jobs: int = 0  # processes; 0: every core
    progress: Progress = silent
    platform: Path | None = None  # parameters of collective times; None: the shipped ones


@dataclass(frozen=True, kw_only=True)
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
    names: frozenset[str] = field(default_factory=frozenset)  # of every device of either side, and every AS number
    state: str = "changed"  # | "added" | "removed": one side has no such file

    @property
    def same(self) -> bool:
        return self.state == "changed" and self.design.same and not self.devices and not self.hosts


def compare(sides: IntentVersions, plans: tuple[Plan, Plan], request: DiffRequest, measure: Measure) -> Diff:
    """The two sides, planned. Raises InputError."""
    old_plan, new_plan = plans
    names = design.renames(old_plan, new_plan)
    selected = _selected(request, old_plan, new_plan, names)
    _check(request, old_plan, new_plan, selected)
    changed = design.compare(old_plan, new_plan, sides.keys, request.fabric)
    moved = [fabric.name for fabric in changed.fabrics if fabric.state != "same" or changed.sets(fabric.name)]
    devices: tuple[DeviceChange, ...] = ()
    servers: tuple[HostChange, ...] = ()
    device_names = frozenset(_names(old_plan) | _names(new_plan))
    if request.configs:
        with tempfile.TemporaryDirectory() as scratch:
            left, right = (
                Renderer(plan, side.templates(name, Path(scratch, word))) if side else None
                for plan, side, name, word in zip(plans, sides.both, (sides.old, sides.new), ("old", "new"), strict=True)
            )
            devices = tuple(configs.changes(left, right, names, selected, request.jobs, request.progress))
        servers = groups.changes(old_plan, new_plan, names, device_names, selected)
    return Diff(
        old=sides.old,
        new=sides.new,
        site=new_plan.site,
        design=changed,
        capacity=compare_capacity(old_plan, new_plan, moved, measure),
        devices=devices,
        hosts=servers,
        with_configs=request.configs,
        limit=request.limit,
        names=device_names,
        state="added" if sides.before is None else "removed" if sides.after is None else "changed",
    )


def _check(request: DiffRequest, old: Plan, new: Plan, selected: Callable[[str], bool]) -> None:
    """A fabric or a switch that is named must be on one side at least."""
    report = Report()
    known = {*old.fabrics, *new.fabrics}
    if request.fabric and request.fabric not in known:
        report.error("FAB106", Place("--fabric"), f"unknown fabric {show(request.fabric)}", nearest(request.fabric, known))
    elif request.limit and not any(map(selected, _devices(old) | _devices(new))):
        report.error("FAB162", Place("--limit"), f"'{request.limit}' matches no switch or server of either side")
    report.raise_errors()


def _selected(request: DiffRequest, old: Plan, new: Plan, names: Names) -> Callable[[str], bool]:
    """Whether the files of a switch or server are looked at, by its new name or its old one."""
    was = {after: before for before, after in names.items()}
    plans = [plan.fabrics[request.fabric] for plan in (old, new) if request.fabric in plan.fabrics]
    inside = {device.name for plan in plans for device in plan.devices}

    def selected(name: str) -> bool:
        both_names = (name, was.get(name, name))
        return (not request.fabric or name in inside) and any(fnmatchcase(each, request.limit or "*") for each in both_names)

    return selected


def _devices(plan: Plan) -> set[str]:
    return {
        device.name
        for fabric in plan.fabrics.values()
        for device in fabric.devices
        if device.role == SERVER or device.role in SWITCH_ROLES
    }


def _names(plan: Plan) -> set[str]:
    """Texts that differ from switch to switch in equal changes: device names and AS numbers."""
    devices = [device for fabric in plan.fabrics.values() for device in fabric.devices]
    return {device.name for device in devices} | {str(device.asn) for device in devices if device.asn}
