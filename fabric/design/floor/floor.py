"""The floor of a site: racks in rows, a spot for every device, and the length of the route between two of them.

`rack_space` says how many racks groups take, `layout` puts them in rows; here devices that the intent puts somewhere else
are taken out, and metres are counted along racks, trays and rows.

The layout is made for the planned fabric, not for what is built, so growth up to `planned` moves nothing. Beyond it a site of
one group still keeps its servers, and the leaves of its whole units, where they are: row A holds the spines, units follow in
their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.diagnostics import Diagnostic, Report, nearest
from fabric.design.floor.layout import RackPosition, rack_name, rack_place
from fabric.model.plan import SERVER, FabricPlan, Plan
from fabric.model.plan.patching import DIRECT
from fabric.model.settings.site import Fixed, Floor as Geometry

# --- route ----------------------------------------------------------------------------------------------------
# The route of a cable: up to the tray, along the row, across the rows, and down again; within a rack along its side.
#
# A rack unit is 44.45 mm (EIA-310). Every end is in the middle of its device and takes half a rack's width to the side where
# cables run.

RACK_UNIT_M = 0.04445
JUMPER_M = 2.0  # between two ports of one patch panel

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TrayPoint:
    """Devices on the floor, as columns: row and place from 0, and the middle in rack units above the rack's bottom."""

    row: Floats
    place: Floats
    middle: Floats

    def __getitem__(self, at: NDArray[Any]) -> TrayPoint:
        return TrayPoint(self.row[at], self.place[at], self.middle[at])


def length_m(geometry: Geometry, one: TrayPoint, other: TrayPoint) -> Floats:
    """Metres from each device of one column to that of the other, without slack."""
    width = geometry.rack_pitch_m
    inside = width + np.abs(one.middle - other.middle) * RACK_UNIT_M
    rise = (2 * geometry.rack_units - one.middle - other.middle) * RACK_UNIT_M + 2 * geometry.tray_above_m
    along = _along(geometry, one, other) * width
    across = np.abs(one.row - other.row) * geometry.row_pitch_m
    same_rack = (one.row == other.row) & (one.place == other.place)
    result: Floats = np.where(same_rack, inside, width + rise + along + across)
    return result


def with_slack(geometry: Geometry, route_m: Floats) -> Floats:
    """Lengths of cables along routes, slack included, rounded up to whole centimetres."""
    metres = route_m * (1 + geometry.slack_percent / 100) + geometry.slack_m
    result: Floats = np.ceil(np.round(metres * 100, 6)) / 100
    return result


def _along(geometry: Geometry, one: TrayPoint, other: TrayPoint) -> Floats:
    """Racks along the rows. Between two rows the route leads over the cross tray that makes it shortest."""
    direct = np.abs(one.place - other.place)
    if not len(direct) or bool((one.row == other.row).all()):
        return direct
    step, last = geometry.cross_tray_racks, geometry.racks_per_row
    best = np.full(len(direct), np.inf)
    for tray in (*range(0, last, step), last - 1):
        best = np.minimum(best, np.abs(one.place - tray) + np.abs(other.place - tray))
    return np.where(one.row == other.row, direct, best)


# --- Devices that the intent puts into a rack of its choice ---------------------------------------------------

CODE = "FAB152"


def fix(plan: Plan, positions: Mapping[str, RackPosition], report: Report) -> dict[str, RackPosition]:
    """The layout with the intent's own places in it. A place that is none, or not free, is reported."""
    geometry = plan.settings.floor
    machine_names = _stated_machines(plan)
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


def _stated_machines(plan: Plan) -> dict[str, tuple[str, ...]]:
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


# --- the floor ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RackPlace:
    """Where a device stands."""

    rack: int  # index into Floor.racks
    ru: int  # the lowest rack unit it takes, from 1
    height: int  # rack units


@dataclass(frozen=True, slots=True)
class Rack:
    """One rack that holds something."""

    name: str  # row and place, "A01"
    row: int  # from 0
    place: int  # in its row, from 0


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The racks of a site, and every server, switch and attachment in them."""

    site: str
    racks: tuple[Rack, ...]  # by row and place
    units: int  # of one rack
    spots: Mapping[str, RackPlace]  # by device name; a server of several fabrics has one place
    geometry: Geometry
    stated: bool  # whether the intent has `floor:`
    panels: Mapping[str, RackPlace] = field(default_factory=dict)  # patch panels by name, above racks: at the tray
    warnings: tuple[Diagnostic, ...] = ()

    def rack_of(self, name: str) -> Rack:
        """The rack that a device stands in."""
        return self.racks[self.place(name).rack]

    def place(self, name: str) -> RackPlace:
        """Where a device or a patch panel is."""
        return self.spots.get(name) or self.panels[name]

    def distance_m(self, one: str, other: str) -> float:
        """Metres of the route from one device to the other along racks, trays and rows, without slack."""
        return float(length_m(self.geometry, self._stand([one]), self._stand([other]))[0])

    def length_m(self, one: str, other: str) -> float:
        """Length of a cable between two devices: its route, and slack."""
        return float(self.with_slack(np.array([self.distance_m(one, other)]))[0])

    def with_slack(self, route_m: Floats) -> Floats:
        """Lengths of cables along routes, slack included, rounded up to whole centimetres."""
        return with_slack(self.geometry, route_m)

    def stands(self, fabric: FabricPlan) -> TrayPoint:
        """Row, place and height of every device of a fabric, as columns."""
        return self._stand([device.name for device in fabric.devices])

    def lengths_m(self, fabric: FabricPlan) -> Floats:
        """Metres of every link of a fabric along the floor, slack included; over a patch panel of its three parts."""
        links, stands = fabric.links, self.stands(fabric)
        metres = self.with_slack(length_m(self.geometry, stands[links.a], stands[links.b]))
        if fabric.patching is not None:
            over = fabric.patching.panel != DIRECT
            lower, upper = self.trunks_m(fabric)
            metres[over] = (lower + upper)[over] + JUMPER_M
        for link, switch in fabric.management_ports.items():
            metres[link] = self.length_m(switch.name, fabric.devices[int(links.b[link])].name)
        return metres

    def trunks_m(self, fabric: FabricPlan) -> tuple[Floats, Floats]:
        """Metres of the lower and the upper trunk of every link of a fabric with patch panels; 0 where it passes none."""
        patched, stands = fabric.patching, self.stands(fabric)
        assert patched is not None
        over = patched.panel != DIRECT
        panels = self._stand([panel.name for panel in patched.panels])[np.where(over, patched.panel, 0)]
        ends = (stands[fabric.links.a], stands[fabric.links.b])
        lower, upper = (np.where(over, self.with_slack(length_m(self.geometry, end, panels)), 0.0) for end in ends)
        return lower, upper

    def _stand(self, names: list[str]) -> TrayPoint:
        spots = [self.place(name) for name in names]
        where = self._columns[[spot.rack for spot in spots]] if spots else np.zeros((0, 2))
        middle = np.array([spot.ru - 1 + spot.height / 2 for spot in spots], dtype=float)
        return TrayPoint(where[:, 0], where[:, 1], middle)

    @cached_property
    def _columns(self) -> Floats:
        return np.array([(rack.row, rack.place) for rack in self.racks], dtype=float).reshape(-1, 2)


def floor(plan: Plan) -> Floor:
    """Stands every device of a site in a rack. Raises InputError where the intent's own places or sizes cannot be."""
    from fabric.design.floor.layout import lay_out
    from fabric.design.floor.rack_space import machines, outline

    geometry, report = plan.settings.floor, Report()
    reserved = machines(outline(plan), report)
    report.raise_errors()
    places = fix(plan, lay_out(plan, reserved, report), report)
    report.raise_errors()
    racks = sorted({place.rack for place in places.values()})
    index = {rack: position for position, rack in enumerate(racks)}
    spots = {name: RackPlace(index[place.rack], place.ru, place.height) for name, place in places.items()}
    panels = {
        panel.name: RackPlace(spots[fabric.devices[panel.first].name].rack, geometry.rack_units + 1, 0)
        for fabric in plan.fabrics.values()
        for panel in (fabric.patching.panels if fabric.patching else ())
    }
    rows = tuple(Rack(rack_name(*rack), *rack) for rack in racks)
    stated = plan.settings.positions.stated("floor")
    return Floor(
        site=plan.site,
        racks=rows,
        units=geometry.rack_units,
        spots=spots,
        geometry=geometry,
        stated=stated,
        panels=panels,
        warnings=tuple(w for w in report.warnings if w not in (*plan.warnings, *plan.silenced)),
    )
