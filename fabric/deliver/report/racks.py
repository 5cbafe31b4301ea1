"""Rack elevations: one drawing per rack layout, the racks that have it, and the floor from above."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from fabric.base.formats import chart, element, end_that_fits, label
from fabric.base.grouping import grouped
from fabric.deliver.report.floor_plan import from_above
from fabric.design.floor.floor import Floor
from fabric.model.plan import ATTACHED, CORE, LEAF, SERVER, SPINE, Device, Plan

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
