"""Racks in rows. Row A holds spines, cores and attachments; from the next row on stand the units, one after the other,
each with its network racks among its servers.

Everything is counted for the planned fabric: a switch or server that is not built yet keeps its place free.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabric.base.diagnostics import Report
from fabric.base.grouping import grouped
from fabric.base.rounding import ceil_div
from fabric.design.floor.rack_space import Machines, Outline, SiteOutline, outline, places_of
from fabric.hardware.catalog.models import SwitchModel
from fabric.hardware.catalog.power import switch_range
from fabric.hardware.catalog.power_class import MAX, TYPICAL, full_set_w
from fabric.model.plan import ATTACHED, CORE, LEAF, SERVER, SPINE, FabricPlan, GroupSize, GroupSpec, Plan

# --- names of racks: the row in letters, the place in two digits: A01, Z20, AA01 ------------------------------


def row_letters(row: int) -> str:
    """A, B, …, Z, AA, AB, …; rows count from 0."""
    letters, row = "", row + 1
    while row:
        row, last = divmod(row - 1, 26)
        letters = chr(ord("A") + last) + letters
    return letters


def rack_name(row: int, place: int) -> str:
    """The name of the rack at a place, both from 0."""
    return f"{row_letters(row)}{place + 1:02}"


def rack_place(name: str) -> tuple[int, int]:
    """Row and place from 0; the place is -1 where the name ends in 00."""
    letters, digits = re.match(r"([A-Z]+)([0-9]+)", name).groups()  # type: ignore[union-attr]
    row = 0
    for letter in letters:
        row = row * 26 + ord(letter) - ord("A") + 1
    return row - 1, int(digits) - 1


# --- power of a switch: its worst case with an optic in every cage --------------------------------------------


def switch_power_w(model: SwitchModel) -> float:
    """Watts: of the data sheet, else the upper end of the bounds of its class."""
    its, optics_w = switch_range(model), full_set_w(model)
    typical_w = its.typical_high_w + (0.0 if TYPICAL in its.holds else optics_w)
    return max(typical_w, its.max_w + (0.0 if MAX in its.holds else optics_w))


# --- the layout -----------------------------------------------------------------------------------------------

ATTACHED_UNITS = 1  # height of an attachment, which has no model
ROOMY_CAGES = 32  # a switch with more cages has two rack units, unless the catalog states its height

Key = tuple[str | int, ...]  # a device: ("server", group, number), ("leaf", fabric, group, unit, leaf), …
Block = tuple[str, int]  # (group, unit), in consecutive places of a row


class RackPosition(NamedTuple):
    """Where something stands: rack as (row, place), both from 0, lowest rack unit from 1, height in rack units."""

    rack: tuple[int, int]
    ru: int
    height: int


class Request(NamedTuple):
    """A switch that needs rack units and power."""

    key: Key
    height: int
    power_w: float = 0.0


def switch_units(model: SwitchModel) -> int:
    """Height of a switch."""
    return model.rack_units or (1 if model.cages <= ROOMY_CAGES else 2)


def lay_out(plan: Plan, reserved: Mapping[str, Machines], report: Report) -> dict[str, RackPosition]:
    """The place of every device by name, before the intent's own places. Raises InputError for a rack that is too low.

    Devices of an earlier design that is larger, in a plan of the time between two designs, have none.
    """
    found = Layout(outline(plan), reserved, report).fill()
    return {name: found[key] for name, key in keys(plan).items() if key in found}


class Layout:
    """Collects what stands in each unit, then gives out rows and racks. Raises InputError for a rack that is too low."""

    def __init__(self, plan: SiteOutline, reserved: Mapping[str, Machines], report: Report) -> None:
        self.plan, self.reserved = plan, reserved
        self.geometry = plan.settings.floor
        self.units = self.geometry.rack_units
        self.on_top: dict[tuple[str, int], list[Request]] = defaultdict(list)  # (group, its rack) → leaves above the servers
        self.beside: dict[Block, list[Request]] = defaultdict(list)  # unit → devices in its network racks
        self.upper: list[Request] = []
        for fabric in plan.fabrics.values():
            for group, size in zip(fabric.spec.groups, fabric.sizing.groups, strict=True):
                self._leaves(fabric, group, size)
            self.upper += _uppers(fabric)
        attached = [Request((ATTACHED, name), ATTACHED_UNITS) for name in _attached(plan)]
        if self.upper or not reserved:
            self.upper += attached
        else:
            self.beside[next(iter(reserved)), 0] += attached
        tallest = max((request.height for request in self.requests()), default=1)
        if tallest > self.units:
            message = f"floor.rack_units: expected at least {tallest}, the height of a switch, got {self.units}"
            report.fail("FAB152", plan.settings.positions.at("floor", "rack_units"), message)

    def requests(self) -> Iterator[Request]:
        yield from self.upper
        for requests in (*self.on_top.values(), *self.beside.values()):
            yield from requests

    def _leaves(self, fabric: Outline, group: GroupSpec, size: GroupSize) -> None:
        """Leaves of every planned unit: above their servers where these share a rack, else in the middle of them."""
        machines, model = self.reserved[group.name], fabric.spec.leaf.model
        height, power_w = switch_units(model), switch_power_w(model)
        per_nic = fabric.spec.leaves_per_nic(group)
        for unit in range(size.units_planned):
            for leaf in range(size.unit_leaves):
                first, count = unit * size.unit_servers, size.unit_servers
                if fabric.spec.kind == "rack":
                    first, count = first + leaf // per_nic * size.servers_per_leaf, size.servers_per_leaf
                last = min(first + count, machines.reserved) - 1
                low, high = machines.rack(min(first, machines.reserved - 1)), machines.rack(max(last, 0))
                request = Request((LEAF, fabric.name, group.name, unit, leaf), height, power_w)
                if low == high and self.geometry.leaves == "auto" and height <= self._free((group.name, low)):
                    self.on_top[group.name, low].append(request)
                else:
                    self.beside[group.name, machines.unit_of((low + high) // 2)].append(request)

    def _free(self, rack: tuple[str, int]) -> int:
        its = self.reserved[rack[0]]
        return self.units - its.height * its.per_rack - sum(request.height for request in self.on_top[rack])

    def fill(self) -> dict[Key, RackPosition]:
        """The place of every request and of every planned server."""
        found, racks = self.stand()
        for name, its in self.reserved.items():
            for number, place in enumerate(its.places.tolist()):
                found[SERVER, name, number + 1] = RackPosition(racks[name][its.rack(place)], its.ru(place), its.height)
        return found

    def stand(self) -> tuple[dict[Key, RackPosition], dict[str, list[tuple[int, int]]]]:
        """The place of every request, and the racks of each group of servers in their order."""
        found: dict[Key, RackPosition] = {}
        rows = _Rows(self.geometry.racks_per_row)
        upper = self._packed(self.upper)
        for requests, rack in zip(upper, rows.take(len(upper)), strict=True):
            _stack(found, requests, rack, self.units)
        if upper:
            rows.new_row()
        return found, {name: self._group(name, its, rows, found) for name, its in self.reserved.items()}

    def _group(self, name: str, machines: Machines, rows: _Rows, places: dict[Key, RackPosition]) -> list[tuple[int, int]]:
        """Racks of a group's servers, unit by unit, with the network racks of each unit filled beside them."""
        units: dict[int, int] = defaultdict(int)  # unit → its racks
        for rack in range(machines.racks):
            units[machines.unit_of(rack)] += 1
        racks: list[tuple[int, int]] = []
        for unit, count in units.items():
            beside = self._packed(self.beside.get((name, unit), []))
            taken = rows.take(count + len(beside))
            before = ceil_div(count, 2) if self.geometry.network_racks == "middle" else count
            for requests, where in zip(beside, taken[before : before + len(beside)], strict=True):
                _stack(places, requests, where, self.units)
            racks += taken[:before] + taken[before + len(beside) :]
        for position, where in enumerate(racks):
            _stack(places, self.on_top.get((name, position), []), where, self.units)
        return racks

    def _packed(self, requests: list[Request]) -> list[list[Request]]:
        """Requests in their order, as many to a rack as its height and its power allow."""
        racks: list[list[Request]] = []
        left, left_w = 0, 0.0
        for request in requests:
            if request.height > left or request.power_w > left_w:
                racks.append([])
                left, left_w = self.units, float(self.geometry.rack_power_max_w)
            racks[-1].append(request)
            left, left_w = left - request.height, left_w - request.power_w
        return racks


class _Rows:
    """Racks given out one after the other; what fits in one row is not parted over two."""

    def __init__(self, length: int) -> None:
        self.length, self.row, self.place = length, 0, 0

    def new_row(self) -> None:
        if self.place:
            self.row, self.place = self.row + 1, 0

    def take(self, count: int) -> list[tuple[int, int]]:
        """The next `count` racks."""
        if count <= self.length < self.place + count:
            self.new_row()
        racks = []
        for _ in range(count):
            if self.place == self.length:
                self.new_row()
            racks.append((self.row, self.place))
            self.place += 1
        return racks


def _stack(found: dict[Key, RackPosition], requests: list[Request], rack: tuple[int, int], units: int) -> None:
    """Fills a rack from the top down."""
    top = units
    for request in requests:
        found[request.key] = RackPosition(rack, top - request.height + 1, request.height)
        top -= request.height


def uppers(fabric: Outline) -> dict[str, int]:
    """How many spines and cores the floor has places for: those of the planned fabric, and every number in use."""
    sizing, counts = fabric.sizing, {SPINE: 0, CORE: 0}
    if sizing.spines:
        counts = {role: sizing.planned_by_role[role] for role in (SPINE, CORE)}
    for device in fabric.switches:
        if device.role in counts:
            counts[device.role] = max(counts[device.role], device.number)
    return counts


def _uppers(fabric: Outline) -> list[Request]:
    """Spines and cores by number."""
    counts = uppers(fabric)
    models = {SPINE: fabric.spec.spine.model, CORE: fabric.spec.core.model}
    return [
        Request((role, fabric.name, number + 1), switch_units(models[role]), switch_power_w(models[role]))
        for role in counts
        for number in range(counts[role])
    ]


def _attached(plan: SiteOutline) -> list[str]:
    """Names of attachments without repetition: the same name in two fabrics is one device."""
    attached = (name for its in plan.fabrics.values() for name in its.attachments)
    return list(dict.fromkeys(attached))


def keys(plan: Plan) -> dict[str, Key]:
    """Device name → what it is in the layout."""
    key_of: dict[str, Key] = {}
    for fabric in plan.fabrics.values():
        leaves = _leaf_keys(fabric)
        for device in fabric.devices:
            if device.name in fabric.spec.stand_ins:
                continue  # the place is that of the switch
            if device.role == SERVER:
                key_of[device.name] = (SERVER, device.group, device.number)
            elif device.role == LEAF:
                key_of[device.name] = leaves[device.index]
            elif device.role == ATTACHED:
                key_of[device.name] = (ATTACHED, device.name)
            else:
                key_of[device.name] = (device.role, fabric.name, device.number)
    return key_of


def _leaf_keys(fabric: FabricPlan) -> dict[int, Key]:
    """Leaves by their unit's place in the group and their own place in the unit, which are not their numbers."""
    size = {group.name: group for group in fabric.sizing.groups}
    places, rows = places_of(fabric.spec), {}
    for device in fabric.devices:
        if device.role == SERVER and device.number <= len(places[device.group]):
            rows[device.group, device.unit] = int(places[device.group][device.number - 1]) // size[device.group].unit_servers
    units = grouped(((device.group, device.unit), device) for device in fabric.switches if device.role == LEAF)
    for group, its in grouped(unit for unit in units if not size[unit[0]].servers).items():  # leaves without servers
        rows |= {(group, unit): row for row, unit in enumerate(sorted(its))}
    key_of: dict[int, Key] = {}
    for (group, unit), leaves in units.items():
        for at, leaf in enumerate(sorted(leaves, key=lambda device: device.number)):
            key_of[leaf.index] = (LEAF, fabric.name, group, rows.get((group, unit), unit), at)
    return key_of
