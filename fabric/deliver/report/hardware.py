"""Hardware of a site: where devices stand, rack elevations, the floor from above, what to order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

import numpy as np

from fabric.base.diagnostics import Diagnostic
from fabric.base.formats import chart, element, end_that_fits, label, number
from fabric.base.grouping import grouped
from fabric.base.rounding import ceil_div
from fabric.base.text import listed, power as watts
from fabric.deliver.bom.bill import Bill
from fabric.deliver.bom.parts import Power
from fabric.deliver.bom.prices import Prices
from fabric.deliver.bom.text import kilowatts, origin as sources, over_limit, price
from fabric.deliver.cabling.runs import Runs, runs
from fabric.deliver.compare.designs import bill_of
from fabric.deliver.report.assets import Grid, grid
from fabric.deliver.report.charts import WIDE
from fabric.design.floor.floor import Floor, floor
from fabric.design.floor.layout import row_letters
from fabric.model.plan import ATTACHED, CORE, KINDS, LEAF, SERVER, SPINE, Device, FabricPlan, Plan
from fabric.model.plan.spec import Origin

# --- racks, media and lengths ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sites:
    """The floor and the cables of a site."""

    floor: Floor
    runs: Runs

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Errors and warnings of both."""
        return (*self.floor.warnings, *self.runs.errors, *self.runs.warnings)

    def spot(self, device: Device) -> tuple[str, int]:
        """(rack, lowest rack unit); ("", 0) where it is not known."""
        spot = self.floor.spots.get(device.name)
        return (self.floor.racks[spot.rack].name, spot.ru) if spot else ("", 0)

    def lengths(self, fabric: FabricPlan) -> list[Any]:
        """Metres of every link's cable as one buys it; whole ones as integers, 0 where nothing joins the ends."""
        metres = self.runs.order_length_m[self.runs.leg[fabric.name]]
        known = np.where(np.isfinite(metres), metres, 0.0).tolist()
        return [int(length) if length.is_integer() else length for length in known]

    def media(self, fabric: FabricPlan) -> list[str]:
        """What each link's cable is, "" where nothing joins the ends."""
        medium = self.runs.medium
        return [medium[leg] for leg in self.runs.leg[fabric.name].tolist()]

    def laid(self, fabric: FabricPlan) -> Mapping[str, tuple[float, float]]:
        """Shortest and longest route of the cables of each kind of link, in metres, slack included."""
        metres, kinds = self.runs.length_m[self.runs.leg[fabric.name]], fabric.links.kind
        return {
            KINDS[kind]: (float(metres[kinds == kind].min()), float(metres[kinds == kind].max()))
            for kind in np.unique(kinds).tolist()
        }


def sites(plan: Plan) -> Sites:
    """Raises InputError if the floor of the intent is impossible or the intent requests unknown media."""
    stands = floor(plan)
    return Sites(stands, runs(plan, stands))


# --- floor plan -----------------------------------------------------------------------------------------------
# The floor from above: every rack a square in its row, in the colour of the highest tier that stands in it.
#
# Rows stand in blocks side by side, as many as the page is wide. Of more than `MAX_NAMED_RACKS` racks none says its name
# under the pointer: the tables have it.

MAX_NAMED_RACKS = 1000
_LARGE, _SMALL, _MAX_LARGE_RACKS = (16.0, 3.0), (8.0, 2.0), 500  # cell and air; more racks than _MAX_LARGE_RACKS are small
_LABEL, _BETWEEN, _MIN_ROWS = 32.0, 28.0, 6
_ORDER = (CORE, SPINE, LEAF, ATTACHED, SERVER)


def from_above(floor: Floor, inside: Sequence[Sequence[Device]], fills: Mapping[str, str]) -> str:
    """The drawing; `inside` is what stands in each rack, `fills` the class of a role's colour."""
    cell, air = _SMALL if len(floor.racks) > _MAX_LARGE_RACKS else _LARGE
    step = cell + air
    order = sorted({rack.row for rack in floor.racks})
    places = 1 + max(rack.place for rack in floor.racks)
    wide = _LABEL + places * step + _BETWEEN
    blocks = max(1, min(int((WIDE + _BETWEEN) // wide), ceil_div(len(order), _MIN_ROWS)))
    deep = ceil_div(len(order), blocks)
    corner = {row: (at // deep * wide, at % deep * step + 2) for at, row in enumerate(order)}
    size = 12 if cell >= 12 else 8.5
    look = {"class_": "soft", "font_size": size, "text_anchor": "end"}
    parts = [
        element("text", escape(row_letters(row)), x=x + _LABEL - 6, y=y + cell / 2 + size * 0.36, **look)
        for row, (x, y) in corner.items()
    ]
    paths: dict[str, list[str]] = {}
    for rack, those in zip(floor.racks, inside, strict=True):
        role = min((device.role for device in those), key=_ORDER.index)
        x, y = corner[rack.row][0] + _LABEL + rack.place * step, corner[rack.row][1]
        if len(floor.racks) > MAX_NAMED_RACKS:
            side = number(cell)
            paths.setdefault(role, []).append(f"M{number(x)} {number(y)}h{side}v{side}h-{side}z")
        else:
            area = {"x": x, "y": y, "width": cell, "height": cell, "rx": 2}
            parts.append(element("rect", "", f"{rack.name}: {_counted(those)}", class_=fills[role], **area))
    parts += [element("path", class_=fills[role], d="".join(paths[role])) for role in _ORDER if role in paths]
    caption = f"{len(floor.racks)} racks in {len(order)} rows, from above"
    return chart("".join(parts), blocks * wide - _BETWEEN, deep * step + 4, caption, "chart floor")


def _counted(those: Sequence[Device]) -> str:
    """`2 core, 8 server`."""
    roles = [device.role for device in those]
    return ", ".join(f"{roles.count(role)} {role}" for role in reversed(_ORDER) if role in roles)


# --- elevations -----------------------------------------------------------------------------------------------

MAX_DRAWN_LAYOUTS = 16  # rack layouts, the most frequent first
MAX_NAMED_RANGES = 8  # ranges of racks that are filled alike
FILLS = {role: f"role-{role}" for role in (SERVER, LEAF, SPINE, CORE, ATTACHED)}
_UNIT, _WIDE, _LEFT = 12.0, 190.0, 26.0  # of a rack in the drawing

Filling = tuple[tuple[int, int, str, str], ...]  # (lowest unit, height, role, model) of every device, from the bottom


@dataclass(frozen=True)
class Elevation:
    """Racks that are filled alike; drawn is the first of them."""

    racks: str  # their names, ranges drawn together
    count: int
    svg: str


@dataclass(frozen=True)
class Racks:
    """The racks of a site."""

    sentence: str
    floor: str  # SVG, from above
    elevations: tuple[Elevation, ...]
    roles: tuple[str, ...]  # of devices that stand in them
    left_out: int  # rack layouts that are not drawn


def racks(plan: Plan, floor: Floor) -> Racks:
    """What stands where."""
    devices = {device.name: device for fabric in plan.fabrics.values() for device in fabric.devices}
    inside: list[list[Device]] = [[] for _ in floor.racks]
    for name, spot in floor.spots.items():
        inside[spot.rack].append(devices[name])
    by_layout = grouped((_filling(floor, those), number) for number, those in enumerate(inside))
    layouts = sorted(by_layout.items(), key=lambda item: (-len(item[1]), item[1]))
    drawn = tuple(
        Elevation(
            _some([floor.racks[number].name for number in those]), len(those), _elevation(floor, inside[those[0]], those[0])
        )
        for _, those in layouts[:MAX_DRAWN_LAYOUTS]
    )
    rows = len({rack.row for rack in floor.racks})
    layout = "as stated in the intent" if floor.stated else "proposed layout (no `floor:` in the intent)"
    sentence = (
        f"{len(floor.racks):,} racks of {floor.units} units in {rows:,} rows, {len(layouts):,} rack "
        f"{'layout' if len(layouts) == 1 else 'layouts'}: {layout}."
    )
    roles = {device.role for those in inside for device in those}
    shown = tuple(role for role in FILLS if role in roles)
    return Racks(sentence, from_above(floor, inside, FILLS), drawn, shown, len(layouts) - len(drawn))


def _filling(floor: Floor, those: Iterable[Device]) -> Filling:
    found = [(floor.spots[device.name].ru, floor.spots[device.name].height, device.role, device.model) for device in those]
    return tuple(sorted(found))


def ranges(names: list[str]) -> str:
    """`B01–B08, C03`: neighbors of a row drawn together."""
    numbered = [(name.rstrip("0123456789"), int(name[len(name.rstrip("0123456789")) :])) for name in names]
    parts = []
    for _, run in groupby(enumerate(numbered), key=lambda item: (item[1][0], item[1][1] - item[0])):
        those = [names[at] for at, _ in run]
        parts.append(those[0] if len(those) == 1 else f"{those[0]}–{those[-1]}")
    return ", ".join(parts)


def _some(names: list[str]) -> str:
    """The first of them where there are many."""
    parts = ranges(names).split(", ")
    return ", ".join(parts[:MAX_NAMED_RANGES]) + (f" … {parts[-1]}" if len(parts) > MAX_NAMED_RANGES else "")


def _elevation(floor: Floor, those: list[Device], rack: int) -> str:
    """One rack from the front, unit 1 at the bottom."""
    height, parts = floor.units * _UNIT, list[str]()
    parts.append(element("rect", class_="frame", x=_LEFT, y=2, width=_WIDE, height=height))
    for unit in (1, *range(5, floor.units + 1, 5)):
        y = 2 + (floor.units - unit + 0.75) * _UNIT
        parts.append(label(_LEFT - 5, y, str(unit), 9, kind="soft", anchor="end"))
    for device in sorted(those, key=lambda device: -floor.spots[device.name].ru):
        spot = floor.spots[device.name]
        top = 2 + (floor.units - spot.ru - spot.height + 1) * _UNIT
        hint = f"{device.name}, {device.model}, unit {spot.ru}"
        size = {"width": _WIDE - 6, "height": spot.height * _UNIT - 1, "rx": 2}
        parts.append(element("rect", "", hint, class_=f"box {FILLS[device.role]}", x=_LEFT + 3, y=top + 0.5, **size))
        middle = top + spot.height * _UNIT / 2 + 3.2
        parts.append(label(_LEFT + 8, middle, end_that_fits(device.name, _WIDE - 14, 9.5), 9.5, kind="label"))
    caption = f"Rack {floor.racks[rack].name}: {len(those)} devices"
    return chart("".join(parts), _LEFT + _WIDE + 4, height + 4, caption, "chart rack")


# --- bill of materials ----------------------------------------------------------------------------------------

MAX_NAMED_MODELS = 6  # models bounded by class


def bill(plan: Plan, prices: Prices | None = None) -> Bill:
    """The bill of the whole site, with the spares of the price file or the usual ones."""
    return bill_of(plan, prices)


def over(bill: Bill, origin: Origin | None) -> list[Diagnostic]:
    """Racks above the limit of the floor plan."""
    return [over_limit(bill, origin.path if origin else "floor")] if bill.hot else []


def order_grid(bill: Bill) -> Grid:
    """One row per part."""
    rows = [
        (
            *(line.part.kind, line.part.item, line.what, f"{line.part.length_m:g}" if line.part.length_m else ""),
            *(f"{line.in_use:,}", f"{line.spares:,}", f"{line.order:,}", price(bill, line)[1]),
        )
        for line in bill.lines
    ]
    currency = bill.prices.currency if bill.prices else ""
    titles = ("kind", "item", "description", "#length, m", "#in use", "#spare", "#order", f"#price, {currency}")
    return grid("Order", titles, rows)


def power_grid(found: Bill) -> Grid:
    """The network by fabric, the servers, and the meter."""
    several = len(found.shares) > 1
    rows = [(share.name, *kilowatts(share.power)) for share in found.shares] if several else []
    rows += [("network, optics included", *kilowatts(found.network)), ("servers", *kilowatts(found.server_power))]
    total = found.power
    rows.append((f"at the meter, PUE {found.pue:g}", *kilowatts(total.times(found.pue))))
    note = f"{_origin(total)} {_bounded(total)}".strip()
    return grid("Power", ("of", "#typical, kW", "#worst case, kW"), rows, note, total=True)


def _origin(power: Power) -> str:
    """How much of the typical power comes from where."""
    return f"Typical power {watts(power.typical_w)}: {sources(power)}."


def _bounded(power: Power) -> str:
    """The models whose power no data sheet gives, or only in part."""
    if not power.bounded:
        return ""
    named = listed([f"{model} ({count:,})" for model, count in power.bounded.items()], MAX_NAMED_MODELS)
    return f"Bounded by class, in part or whole: {named}."
