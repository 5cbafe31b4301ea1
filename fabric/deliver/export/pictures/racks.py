"""The racks of a site: an elevation of every kind of rack, and below them the floor, with the place of each rack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fabric.base.formats import FRAMES, INK, PANEL, PAPER, RULE, SOFT, Box, Canvas, end_that_fits, text_width, wrap
from fabric.base.grouping import grouped
from fabric.base.rounding import ceil_div
from fabric.base.text import counted
from fabric.deliver.export.legend import ROLES, Tone, runs
from fabric.deliver.export.pictures.figure import EDGE, document
from fabric.design.floor.floor import Floor, Rack
from fabric.design.floor.layout import row_letters
from fabric.model.plan import ATTACHED, CORE, LEAF, SERVER, SPINE, Device, Plan

# --- racks that hold the same ---------------------------------------------------------------------------------

UNFOLDED = 6  # racks of a site that is drawn rack by rack
_NOUNS = {
    CORE: ("core", ""),
    SPINE: ("spine", ""),
    LEAF: ("leaf", "leaves"),
    SERVER: ("server", ""),
    ATTACHED: ("attachment", ""),
}


@dataclass(frozen=True)
class Mounted:
    """A device in its rack."""

    ru: int  # the lowest rack unit it takes, from 1
    height: int  # rack units
    device: Device
    gpus: int

    @property
    def look(self) -> tuple[int, int, str, str, int]:
        """What makes it equal to one of another rack; rails tell leaves apart."""
        device = self.device
        return self.ru, self.height, device.role, device.model, device.rail if device.role == LEAF else -1


@dataclass(frozen=True)
class Kind:
    """Racks that hold the same at the same height."""

    racks: tuple[Rack, ...]
    mounted: tuple[Mounted, ...]  # of the first of them, from the bottom

    @property
    def holds(self) -> list[str]:
        """`8 leaves`, `4 servers`, `32 GPUs` in each rack."""
        roles = Counter(item.device.role for item in self.mounted)
        gpus = sum(item.gpus for item in self.mounted)
        found = [counted(roles[role], *_NOUNS[role]) for role in _NOUNS if roles[role]]
        return found + ([counted(gpus, "GPU")] if gpus else [])

    @property
    def role(self) -> str:
        """Of what takes the most of it."""
        space: Counter[str] = Counter()
        for item in self.mounted:
            space[item.device.role] += item.height
        return max(_NOUNS, key=lambda role: space[role])

    @property
    def where(self) -> str:
        """`A03–14, B01–18`."""
        rows = grouped((rack.row, rack.place) for rack in self.racks)
        return ", ".join(_run(row, places) for row, places in sorted(rows.items()))


def _run(row: int, places: Sequence[int]) -> str:
    """`A03–14, 16`."""
    return row_letters(row) + runs([place + 1 for place in places], digits=2)


def kinds(plan: Plan, floor: Floor) -> list[Kind]:
    """The kinds of racks by their first rack; of a small site every rack is one of its own."""
    held = _held(plan, floor)
    found: dict[object, list[int]] = {}
    for at, mounted in enumerate(held):
        key = tuple(item.look for item in mounted) if len(floor.racks) > UNFOLDED else at
        found.setdefault(key, []).append(at)
    return [Kind(tuple(floor.racks[at] for at in racks), held[racks[0]]) for racks in found.values()]


def _held(plan: Plan, floor: Floor) -> list[tuple[Mounted, ...]]:
    """Of every rack what is in it; a server of several fabrics is there once."""
    held: list[list[Mounted]] = [[] for _ in floor.racks]
    seen: set[str] = set()
    for fabric in plan.fabrics.values():
        gpus = {group.name: group.server.gpus for group in fabric.spec.groups}
        for device in fabric.devices:
            if device.name in floor.spots and device.name not in seen:
                seen.add(device.name)
                spot = floor.spots[device.name]
                server_gpus = gpus.get(device.group, 0) if device.role == SERVER else 0
                held[spot.rack].append(Mounted(spot.ru, spot.height, device, server_gpus))
    return [tuple(sorted(mounted, key=lambda item: (item.ru, item.device.name))) for mounted in held]


@dataclass(frozen=True)
class RowsAlike:
    """Rows of a floor with the same kinds at the same places."""

    rows: tuple[int, ...]
    kinds: tuple[tuple[int, int], ...]  # place and kind of each rack, from 0

    @property
    def label(self) -> str:
        """`row C`, `32 rows C–AH`."""
        if len(self.rows) == 1:
            return f"row {row_letters(self.rows[0])}"
        whole = self.rows[-1] - self.rows[0] == len(self.rows) - 1
        return f"{len(self.rows)} rows {row_letters(self.rows[0])}{'–' if whole else ' … '}{row_letters(self.rows[-1])}"


def rows(found: Sequence[Kind]) -> list[RowsAlike]:
    """The rows of a floor, those that are alike put together."""
    racks: dict[int, list[tuple[int, int]]] = {}
    for at, kind in enumerate(found):
        for rack in kind.racks:
            racks.setdefault(rack.row, []).append((rack.place, at))
    alike = grouped((tuple(sorted(racks[row])), row) for row in sorted(racks))
    return [RowsAlike(tuple(numbers), pattern) for pattern, numbers in alike.items()]


# --- elevations and floor -------------------------------------------------------------------------------------

WIDTH = 1040.0
_RU, _SCALE, _GAP = 12.0, 22.0, 18.0  # of a rack: height of a unit, room for unit numbers beside it, air
_HEAD, _SHORT_HEAD = 62.0, 34.0  # words above racks, where some are folded and where none is
_ACROSS, _MAX_RACKS, _WIDE = 6, 18, 230.0  # racks side by side, racks drawn, width of one
_CELL, _LABEL = 18.0, 132.0  # of the plan: height of a rack, room for the rows' names
_TITLES = {CORE: "core", SPINE: "spine", LEAF: "leaf", SERVER: "server", ATTACHED: "attachment"}


def sheet(plan: Plan, floor: Floor) -> str:
    """Elevations and floor plan, as one SVG document."""
    found, canvas = kinds(plan, floor), Canvas()
    summary = sentence(floor, found)
    canvas.text(EDGE, EDGE + 20, f"{plan.site} · racks", size=22, bold=True, room=WIDTH - 2 * EDGE)
    canvas.text(EDGE, EDGE + 42, summary, size=13, fill=SOFT, room=WIDTH - 2 * EDGE)
    y = _elevations(canvas, found, floor.units, EDGE + 64)
    y = _floor_plan(canvas, found, y + 26)
    y = _legend(canvas, found, y + 16)
    return document(f"Racks of {plan.site}", f"{summary}.", canvas, WIDTH, y + EDGE)


def sentence(floor: Floor, found: Sequence[Kind]) -> str:
    """The floor in one line."""
    numbers = {rack.row for rack in floor.racks}
    alike = f"; {counted(len(found), 'kind')}, each drawn once" if len(found) < len(floor.racks) else ""
    return f"{counted(len(floor.racks), 'rack')} of {floor.units} units in {counted(len(numbers), 'row')}{alike}"


def _elevations(canvas: Canvas, rack_kinds: Sequence[Kind], units: int, y: float) -> float:
    """A rack of every kind, in lines; gives where they end."""
    shown = rack_kinds[:_MAX_RACKS]
    across = min(_ACROSS, len(shown))
    each = min(_WIDE, (WIDTH - 2 * EDGE + _GAP) / across - _GAP)
    head = _HEAD if any(len(kind.racks) > 1 for kind in shown) else _SHORT_HEAD
    for number, kind in enumerate(shown):
        line, column = divmod(number, across)
        top = y + line * (head + units * _RU + 44)
        x = EDGE + column * (each + _GAP) + _SCALE
        _title(canvas, kind, number, Box(x, top, each - _SCALE, head))
        _rack(canvas, kind, Box(x, top + head, each - _SCALE, units * _RU), units)
    y += ceil_div(len(shown), across) * (head + units * _RU + 44) - 14
    if len(rack_kinds) > len(shown):
        rest = counted(sum(len(kind.racks) for kind in rack_kinds[_MAX_RACKS:]), "rack")
        canvas.text(EDGE, y, f"{rest} of {counted(len(rack_kinds) - _MAX_RACKS, 'more kind')}", size=13, bold=True)
        y += 10
    return y


def _title(canvas: Canvas, kind: Kind, at: int, box: Box) -> None:
    """What stands above a rack: its number as a kind, its name, and which others are like it."""
    badge = Box(box.x, box.y, 24, 20)
    canvas.rect(badge, ROLES[kind.role].line, radius=4)
    canvas.text(badge.cx, badge.y + 14.5, str(at + 1), size=12, fill=PAPER, anchor="middle", bold=True)
    canvas.text(box.x + 32, box.y + 15, f"rack {kind.racks[0].name}", size=14, bold=True, room=box.w - 32)
    if len(kind.racks) > 1:
        last = f"{kind.racks[0].name} … {kind.racks[-1].name}"
        canvas.text(box.x, box.y + 37, f"{counted(len(kind.racks), 'rack')} like this", room=box.w)
        canvas.text(box.x, box.y + 52, kind.where if text_width(kind.where, 11) <= box.w else last, size=11, fill=SOFT)


def _rack(canvas: Canvas, kind: Kind, box: Box, units: int) -> None:
    """One rack; units count from the bottom."""
    canvas.rect(Box(box.x - 3, box.y - 3, box.w + 6, box.h + 6), PANEL, RULE, radius=4, layer=FRAMES)
    for item in kind.mounted:
        _device(canvas, item, box, units)
    canvas.text(box.cx, box.bottom + 19, ", ".join(kind.holds), fill=SOFT, anchor="middle", room=box.w + 6)


def _device(canvas: Canvas, item: Mounted, frame: Box, units: int) -> None:
    """A device at its height, its lowest unit beside it."""
    device, tone = item.device, ROLES[item.device.role]
    box = Box(frame.x, frame.y + (units - item.ru - item.height + 1) * _RU + 0.5, frame.w, item.height * _RU - 1)
    dash = "4 3" if device.role == ATTACHED else ""
    canvas.rect(box, tone.ground, tone.line, radius=2, dash=dash, hint=_hint(device))
    canvas.text(frame.x - 6, box.bottom - 1.5, str(item.ru), size=8.5, fill=SOFT, anchor="end")
    size = 9 if item.height == 1 else 11
    if item.height >= 4:
        lines = [*wrap(device.name, box.w - 12, 11, 2), device.model, *([counted(item.gpus, "GPU")] if item.gpus else [])]
        canvas.middle(box, lines, size=11)
        return
    room = box.w - 10
    right = f"rail {device.rail + 1}" if device.role == LEAF and device.rail >= 0 else ""
    if right and text_width(device.name, size, True) + 6 + text_width(right, size) > room:
        right = ""  # the name matters more: the rail is in the hint
    base = box.y + box.h / 2 + size * 0.36
    name = end_that_fits(device.name, room, size, bold=True)
    canvas.text(box.x + 5, base, name, size=size, fill=tone.line if device.role != SERVER else INK, bold=True)
    if right:
        canvas.text(box.right - 5, base, right, size=size, fill=tone.line, anchor="end")


def _hint(device: Device) -> str:
    """The whole name, also where the picture has no room for it."""
    about = [device.model, f"rail {device.rail + 1}" if device.role == LEAF and device.rail >= 0 else ""]
    known = ", ".join(filter(None, about))
    return f"{device.name} ({known})" if known else device.name


def _floor_plan(canvas: Canvas, kinds: Sequence[Kind], y: float) -> float:
    """Rows of racks from above, rows that are alike once; gives where it ends."""
    alike = rows(kinds)
    places = 1 + max(place for row in alike for place, _ in row.kinds)
    each = min(40.0, (WIDTH - 2 * EDGE - _LABEL) / places)
    canvas.text(EDGE, y + 14, "Floor", size=15, bold=True)
    for place in range(places):
        if each >= 17 or place % 5 == 4:
            x = EDGE + _LABEL + (place + 0.5) * each
            canvas.text(x, y + 14, f"{place + 1:02}", size=10, fill=SOFT, anchor="middle")
    y += 22
    for row in alike:
        _floor_row(canvas, row, kinds, Box(EDGE + _LABEL, y, each, _CELL))
        y += _CELL + 8
    return y - 8


def _floor_row(canvas: Canvas, row: RowsAlike, kinds: Sequence[Kind], cell: Box) -> None:
    """One row, or several that are alike; `cell` is its first place."""
    canvas.text(EDGE, cell.y + 13.5, row.label, bold=True, room=_LABEL - 10)
    air = min(2.0, cell.w / 8)
    for place, kind in row.kinds:
        tone = ROLES[kinds[kind].role]
        box = Box(cell.x + place * cell.w + air / 2, cell.y, cell.w - air, cell.h)
        canvas.rect(box, tone.ground, tone.line, radius=2)
        text = str(kind + 1)
        if text_width(text, 10, True) <= box.w - 2:
            canvas.text(box.cx, box.y + 13, text, size=10, fill=tone.line, anchor="middle", bold=True)


def _legend(canvas: Canvas, kinds: Sequence[Kind], y: float) -> float:
    roles = [role for role in _TITLES if any(item.device.role == role for kind in kinds for item in kind.mounted)]
    x = EDGE
    for role in roles:
        tone: Tone = ROLES[role]
        canvas.rect(Box(x, y + 2, 16, 12), tone.ground, tone.line, radius=2, dash="4 3" if role == ATTACHED else "")
        canvas.text(x + 22, y + 12, _TITLES[role], size=11.5, fill=SOFT)
        x += 22 + text_width(_TITLES[role], 11.5) + 20
    rest = "Numbers beside a rack are the lowest unit of a device; on the floor a number is the kind of rack."
    canvas.text(x, y + 12, rest, size=11.5, fill=SOFT, room=WIDTH - EDGE - x)
    return y + 16
