"""The rack space that a site needs, from the sizes of its fabrics: servers of a rack, and racks of a group.

A group of one name is the same servers in every fabric. The first fabric that has it defines the unit, the first that
states `per_rack` how many servers a rack holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from fabric.base.diagnostics import Place, Report
from fabric.base.grouping import grouped
from fabric.base.rounding import ceil_div
from fabric.base.text import plural
from fabric.hardware.catalog.models import ServerModel
from fabric.hardware.catalog.power import server_range
from fabric.model.plan import ATTACHED, Device, FabricSpec, GroupSize, GroupSpec, Ints, Plan, SiteSettings, Sizing
from fabric.model.plan.sizing import positions

# --- sizes of the fabrics: nothing has to be wired ------------------------------------------------------------


@dataclass(frozen=True)
class Outline:
    """One fabric as it is sized."""

    name: str
    spec: FabricSpec
    sizing: Sizing
    attachments: tuple[str, ...]  # names of attachments
    switches: tuple[Device, ...] = ()  # of known numbers; one above the planned count needs a place as well


@dataclass(frozen=True)
class SiteOutline:
    """A site as it is sized."""

    settings: SiteSettings
    fabrics: Mapping[str, Outline]  # sorted by name: the order in the file moves no rack

    @classmethod
    def of(cls, settings: SiteSettings, fabrics: Iterable[Outline]) -> SiteOutline:
        """The outline of fabrics that may come in any order."""
        return cls(settings, {its.name: its for its in sorted(fabrics, key=lambda its: its.name)})


def sized(spec: FabricSpec, sizing: Sizing) -> Outline:
    """The outline of a fabric that has no devices yet."""
    names = (attachment.name for attachment in spec.attachments if attachment.name not in spec.stand_ins)
    return Outline(spec.name, spec, sizing, tuple(names))


def outline(plan: Plan) -> SiteOutline:
    """The outline of a plan."""
    fabrics = (
        Outline(
            name,
            fabric.spec,
            fabric.sizing,
            tuple(its.name for its in fabric.devices if its.role == ATTACHED and its.name not in fabric.spec.stand_ins),
            fabric.switches,
        )
        for name, fabric in plan.fabrics.items()
    )
    return SiteOutline.of(plan.settings, fabrics)


# --- racks of servers -----------------------------------------------------------------------------------------

FOR_LEAVES_UNITS = 4  # rack units kept free above servers if servers per rack are not stated


@dataclass(frozen=True, kw_only=True)
class Machines:
    """The servers of one group. A chunk is servers whose racks are theirs alone: a stated rack, or a unit."""

    group: str
    server: ServerModel
    height: int  # rack units of a server
    per_rack: int  # at most
    chunk: int  # servers
    unit: int  # servers
    reserved: int  # places with reserved racks
    places: Ints  # of each server, in the order of their numbers

    @property
    def chunk_racks(self) -> int:
        return ceil_div(self.chunk, self.per_rack)

    @property
    def racks(self) -> int:
        return self.rack(self.reserved - 1) + 1

    def rack(self, place: int) -> int:
        """The group's rack, from 0, that a place is in."""
        chunk, rest = divmod(place, self.chunk)
        return chunk * self.chunk_racks + rest // self.per_rack

    def ru(self, place: int) -> int:
        """Lowest rack unit of a place: servers stand on each other from the bottom."""
        return 1 + place % self.chunk % self.per_rack * self.height

    def unit_of(self, rack: int) -> int:
        """The unit that a rack's first place belongs to."""
        chunk, rest = divmod(rack, self.chunk_racks)
        return (chunk * self.chunk + rest * self.per_rack) // self.unit


def machines(plan: SiteOutline, report: Report) -> dict[str, Machines]:
    """Every group of servers of the site, by name, in the order in which fabrics name them."""
    users = grouped(
        (group.name, (fabric, group, size))
        for fabric in plan.fabrics.values()
        for group, size in zip(fabric.spec.groups, fabric.sizing.groups, strict=True)
    )
    found = {name: _machines(plan, name, its, report) for name, its in users.items()}
    return {name: its for name, its in found.items() if its is not None}


def _machines(
    plan: SiteOutline, name: str, users: list[tuple[Outline, GroupSpec, GroupSize]], report: Report
) -> Machines | None:
    _, group, size = users[0]
    if group.bare:  # a rack for the leaves of each unit
        none = np.zeros(0, dtype=np.int64)
        return Machines(
            group=name, server=group.server, height=1, per_rack=1, chunk=1, unit=1, reserved=size.units, places=none
        )
    stated = next(((fabric, sizing) for fabric, sizing, _ in users if sizing.per_rack), None)
    stated_per_rack = stated[1].per_rack or 0 if stated else 0
    units, height = plan.settings.floor.rack_units, _height(group.server, stated_per_rack, plan.settings.floor.rack_units)
    if height > units:
        where = plan.settings.positions.at("floor", "rack_units")
        report.error(
            "FAB152", where, f"floor.rack_units: expected at least {height}, the height of a {group.model}, got {units}"
        )
        return None
    fits = units // height
    if stated and stated_per_rack > fits:
        position = [sizing.name for sizing in stated[0].spec.groups].index(name)
        _warn_full(
            stated[0].spec.at("servers", position, "per_rack"), name, stated_per_rack, fits, height, units, report=report
        )
    chunk = stated_per_rack or size.unit_servers
    per_rack = (
        ceil_div(stated_per_rack, ceil_div(stated_per_rack, fits)) if stated_per_rack else _usual(plan, group.server, height)
    )
    places = positions(max(sizing.count for _, sizing, _ in users), group.held)
    reserved = max(*(sizing.places(sizing.planned) for _, sizing, _ in users), int(places[-1]) + 1)
    whole = ceil_div(reserved, size.unit_servers)
    if group.unit_servers or whole > 1:  # a unit is cabled as a whole, so its racks are reserved as a whole
        reserved = whole * size.unit_servers
    return Machines(
        group=name,
        server=group.server,
        height=height,
        per_rack=per_rack,
        chunk=chunk,
        unit=size.unit_servers,
        reserved=reserved,
        places=np.asarray(places),
    )


def _warn_full(where: Place, name: str, per_rack: int, fits: int, height: int, units: int, *, report: Report) -> None:
    report.warn(
        "FAB191",
        where,
        f"per_rack: expected at most {fits} servers of {height} rack units in a rack of {units}, got {per_rack}; "
        f"the servers of group '{name}' take {plural(ceil_div(per_rack, fits), 'adjacent rack')}",
        "set `floor: {rack_units: …}` for the rack height, or `catalog: {servers: …}` for the server height",
    )


def _height(server: ServerModel, per_rack: int, units: int) -> int:
    """The height of the catalog, else the usual one, and lower where a stated number of servers must share a rack."""
    if server.rack_units:
        return server.rack_units
    if server.gpus:
        usual = 1 if server.fills_rack else 8 if server.gpus >= 8 else 4
    else:
        usual = 2 if "storage" in server.nics else 1
    return max(1, min(usual, units, units // per_rack if per_rack else units))


def _usual(plan: SiteOutline, server: ServerModel, height: int) -> int:
    """Servers in one rack unless stated: as many as its height and its power allow."""
    geometry = plan.settings.floor
    most = max(1, (geometry.rack_units - FOR_LEAVES_UNITS) // height)
    if server.fills_rack:
        return min(most, (server.nvlink_domain_gpus or 0) // server.gpus)
    return max(1, min(most, int(geometry.rack_power_max_w // server_range(server).max_w)))


def places_of(fabric: FabricSpec) -> Mapping[str, Ints]:
    """Place of every server of a fabric's groups, in the order of their numbers, over all units of the group."""
    return {group.name: np.asarray(positions(group.count, group.held)) for group in fabric.groups}
