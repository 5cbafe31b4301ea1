"""Devices that the intent puts into a rack of its choice."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.base.diagnostics import Report, nearest
from fabric.design.floor.layout import RackPosition
from fabric.design.floor.names import rack_name, rack_place
from fabric.model.plan import SERVER, Plan
from fabric.model.settings.site import Fixed

CODE = "FAB152"


def fix(plan: Plan, positions: Mapping[str, RackPosition], report: Report) -> dict[str, RackPosition]:
    """The layout with the intent's own places in it. A place that is none, or not free, is reported."""
    geometry = plan.settings.floor
    machine_names = _machines(plan)
    moved = dict(positions)
    for name, stated in geometry.places.items():
        if name not in positions:
            where = plan.settings.positions.at("floor", "places", name, key=True)
            report.error(CODE, where, f"floor.places: unknown device '{name}'", nearest(name, positions))
        elif (place := _checked(plan, name, stated, positions[name].height, report)) is not None:
            for other in machine_names.get(name, (name,)):
                moved[other] = place
    _refuse_shared(plan, moved, machine_names, report)
    return moved


def _machines(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Server → every name that its machine has, where fabrics name it differently."""
    names: dict[tuple[str, int], dict[str, None]] = {}
    for fabric in plan.fabrics.values():
        for device in fabric.devices:
            if device.role == SERVER:
                names.setdefault((device.group, device.number), {})[device.name] = None
    return {name: tuple(its) for its in names.values() for name in its}


def _checked(plan: Plan, name: str, stated: Fixed, height: int, report: Report) -> RackPosition | None:
    """The requested place, None where the floor has no such place."""
    geometry = plan.settings.floor
    row, place = rack_place(stated.rack)
    if not 0 <= place < geometry.racks_per_row:
        last = rack_name(row, geometry.racks_per_row - 1)
        message = f"floor.places.{name}.rack: expected a rack of row {rack_name(row, 0)} to {last}, got {stated.rack}"
        report.error(CODE, plan.settings.positions.at("floor", "places", name, "rack"), message)
        return None
    if stated.ru + height - 1 > geometry.rack_units:
        most = geometry.rack_units - height + 1
        message = f"floor.places.{name}.ru: expected at most {most} (height {height}), got {stated.ru}"
        report.error(CODE, plan.settings.positions.at("floor", "places", name, "ru"), message)
        return None
    return RackPosition((row, place), stated.ru, height)


def _refuse_shared(
    plan: Plan, moved: Mapping[str, RackPosition], machine_names: Mapping[str, tuple[str, ...]], report: Report
) -> None:
    """No two machines share a rack unit; only a place of the intent can make them."""
    fixed = plan.settings.floor.places
    taken: dict[tuple[tuple[int, int], int], str] = {}
    crowded = {moved[name].rack for name in fixed if name in moved}
    order = sorted((name for name in moved if moved[name].rack in crowded), key=lambda name: name in fixed)
    for name in order:
        position = moved[name]
        for ru in range(position.ru, position.ru + position.height):
            other = taken.setdefault((position.rack, ru), name)
            if other != name and other not in machine_names.get(name, ()):
                where = plan.settings.positions.at("floor", "places", name)
                message = f"floor.places.{name}: expected free rack units, got unit {ru} of {rack_name(*position.rack)}, "
                report.error(CODE, where, f"{message}used by '{other}'", _free(moved, position))
                break


def _free(moved: Mapping[str, RackPosition], position: RackPosition) -> str:
    """A hint at the highest free units of that rack."""
    taken = {
        ru for p in moved.values() if p.rack == position.rack and p is not position for ru in range(p.ru, p.ru + p.height)
    }
    top = max((p.ru + p.height for p in moved.values() if p.rack == position.rack), default=1)
    for ru in range(max(top, position.ru), 0, -1):
        if not taken & set(range(ru, ru + position.height)) and ru + position.height - 1 <= top:
            return f"use `ru: {ru}`, which is free in that rack"
    return "choose another rack: this rack has no room for the device"
