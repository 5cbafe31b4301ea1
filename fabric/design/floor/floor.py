"""The floor of a site: racks in rows, a spot for every device, and the length of the route between two of them.

    reserve.py   how many servers share a rack, and how many racks a group keeps free for its growth
    layout.py    racks in rows: a row of spines and cores, then units with their network racks among them
    fixed.py     devices that the intent puts somewhere else
    route.py     metres along racks, trays and rows

The layout is made for the planned fabric, not for what is built, so growth up to `planned` moves nothing. Beyond it a site of
one group still keeps its servers, and the leaves of its whole units, where they are: row A holds the spines, units follow in
their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabric.base.diagnostics import Diagnostic, Report
from fabric.design.floor import route
from fabric.design.floor.names import rack_name
from fabric.design.floor.route import TrayPoint
from fabric.model.plan import FabricPlan, Plan
from fabric.model.settings.site import Floor as Geometry


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
    spots: Mapping[str, RackPlace]  # by device name; a server of several fabrics is one machine on one spot
    geometry: Geometry
    stated: bool  # whether the intent has `floor:`
    warnings: tuple[Diagnostic, ...] = ()

    def rack_of(self, name: str) -> Rack:
        """The rack that a device stands in."""
        return self.racks[self.spots[name].rack]

    def distance_m(self, one: str, other: str) -> float:
        """Metres of the route from one device to the other along racks, trays and rows, without slack."""
        return float(route.length_m(self.geometry, self._stand([one]), self._stand([other]))[0])

    def length_m(self, one: str, other: str) -> float:
        """Length of a cable between two devices: its route, and slack."""
        return float(self.with_slack(np.array([self.distance_m(one, other)]))[0])

    def with_slack(self, route_m: route.Floats) -> route.Floats:
        """Lengths of cables along routes, slack included, rounded up to whole centimetres."""
        return route.with_slack(self.geometry, route_m)

    def stands(self, fabric: FabricPlan) -> TrayPoint:
        """Row, place and height of every device of a fabric, as columns."""
        return self._stand([device.name for device in fabric.devices])

    def lengths_m(self, fabric: FabricPlan) -> route.Floats:
        """Metres of every link of a fabric along the floor, slack included."""
        links, stands = fabric.links, self.stands(fabric)
        metres = self.with_slack(route.length_m(self.geometry, stands[links.a], stands[links.b]))
        for link, switch in fabric.management_ports.items():
            metres[link] = self.length_m(switch.name, fabric.devices[int(links.b[link])].name)
        return metres

    def _stand(self, names: list[str]) -> TrayPoint:
        spots = [self.spots[name] for name in names]
        where = self._columns[[spot.rack for spot in spots]] if spots else np.zeros((0, 2))
        middle = np.array([spot.ru - 1 + spot.height / 2 for spot in spots], dtype=float)
        return TrayPoint(where[:, 0], where[:, 1], middle)

    @cached_property
    def _columns(self) -> route.Floats:
        return np.array([(rack.row, rack.place) for rack in self.racks], dtype=float).reshape(-1, 2)


def floor(plan: Plan) -> Floor:
    """Stands every device of a site in a rack. Raises InputError where the intent's own places or sizes cannot be."""
    from fabric.design.floor.fixed import fix
    from fabric.design.floor.layout import lay_out
    from fabric.design.floor.outline import outline
    from fabric.design.floor.reserve import machines

    geometry, report = plan.settings.floor, Report()
    reserved = machines(outline(plan), report)
    report.raise_errors()
    places = fix(plan, lay_out(plan, reserved, report), report)
    report.raise_errors()
    racks = sorted({place.rack for place in places.values()})
    index = {rack: position for position, rack in enumerate(racks)}
    spots = {name: RackPlace(index[place.rack], place.ru, place.height) for name, place in places.items()}
    rows = tuple(Rack(rack_name(*rack), *rack) for rack in racks)
    stated = plan.settings.positions.stated("floor")
    return Floor(
        site=plan.site,
        racks=rows,
        units=geometry.rack_units,
        spots=spots,
        geometry=geometry,
        stated=stated,
        warnings=tuple(w for w in report.warnings if w not in (*plan.warnings, *plan.silenced)),
    )
