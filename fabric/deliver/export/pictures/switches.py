"""A small fabric: every switch with its name, every pair of switches that links join as a line."""

from __future__ import annotations

import numpy as np

from fabric.base.formats import FRAMES, PANEL, PAPER, RULE, Box, Canvas, text_width, wrap
from fabric.base.text import counted
from fabric.deliver.export.legend import NEUTRAL, SERVERS, bundle, plane_tone, rail_colour
from fabric.deliver.export.parts import UnitPart
from fabric.deliver.export.pictures import tiers
from fabric.deliver.export.pictures.view import View
from fabric.model.plan import CORE, LEAF, LEAF_LEAF, LEAF_SPINE, SERVER, SERVER_LEAF, SPINE, SPINE_CORE, Device

MAX_SWITCHES = 16  # switches of a fabric that is drawn like this
_HEIGHT, _BAND, _SERVER_BAND, _SERVER_HEIGHT = 64.0, 108.0, 62.0, 58.0
_HEAD, _FOOT, _PAD, _GAP, _WIDE = 12.0, 28.0, 10.0, 8.0, 150.0
_MIN_WIDTH_PX, _NARROW, _PAIR_GAP = 780.0, 64.0, 220.0


def width(view: View) -> float:
    """How wide the drawing is."""
    units = _all_units(view)
    leaves = sum(len(unit.leaves) for unit in units)
    return max(_MIN_WIDTH_PX, leaves * (_NARROW + _GAP) + len(units) * 2 * _PAD)


def draw(canvas: Canvas, view: View, y: float) -> float:
    """Draws the fabric from `y` down; gives where it ends."""
    places: dict[int, Box] = {}
    for role, kind in ((CORE, SPINE_CORE), (SPINE, LEAF_SPINE)):
        switches = [device for device in view.fabric.switches if device.role == role]
        if not switches:
            continue
        tiers.tier(canvas, view, role, y)
        for device, box in zip(switches, _spread(len(switches), y, width(view)), strict=True):
            _switch(canvas, view, device, box)
            places[device.index] = box
        tiers.links(canvas, view, kind, y + _HEIGHT + _BAND / 2)
        y += _HEIGHT + _BAND
    bottom = _units(canvas, view, y, places)
    for kind in (SPINE_CORE, LEAF_SPINE):
        _lines(canvas, view, kind, places)
    if view.tiers == 1:
        _pair(canvas, view, places)
    return bottom


def _all_units(view: View) -> tuple[UnitPart, ...]:
    return tuple(unit for group in view.pods for pod in group for unit in pod.all_units)


def _spread(count: int, y: float, room: float) -> list[Box]:
    """Rectangles of one row, evenly across the drawing."""
    step = (room - 2 * _PAD + _GAP) / count
    size = min(_WIDE, step - _GAP)
    left = tiers.MAIN + _PAD + (step - _GAP - size) / 2
    return [Box(left + step * at, y, size, _HEIGHT) for at in range(count)]


def _units(canvas: Canvas, view: View, y: float, places: dict[int, Box]) -> float:
    """Frames of units with their leaves and servers; gives where they end."""
    units, room = _all_units(view), width(view)
    leaves = sum(len(unit.leaves) for unit in units)
    each = (room - (len(units) - 1) * _GAP) / leaves
    x, top = tiers.MAIN, y + _HEAD
    server_top = top + _HEIGHT + _SERVER_BAND
    bottom = server_top + _SERVER_HEIGHT + _FOOT
    for unit in units:
        frame = Box(x, y, each * len(unit.leaves), bottom - y)
        canvas.rect(frame, PANEL, RULE, radius=8, layer=FRAMES)
        canvas.text(frame.cx, bottom - 9, unit.label, size=13, anchor="middle", bold=True, room=frame.w - 4)
        places |= _leaves(canvas, view, unit, Box(frame.x + _PAD, top, frame.w - 2 * _PAD, _HEIGHT))
        _servers(canvas, view, unit, Box(frame.x + _PAD, server_top, frame.w - 2 * _PAD, _SERVER_HEIGHT), places)
        x = frame.right + _GAP
    tiers.tier(canvas, view, LEAF, top)
    tiers.links(canvas, view, SERVER_LEAF, server_top - _SERVER_BAND / 2)
    tiers.tier(canvas, view, SERVER, server_top + 6)
    return bottom


def _leaves(canvas: Canvas, view: View, unit: UnitPart, area: Box) -> dict[int, Box]:
    places = {}
    air = _PAIR_GAP if view.tiers == 1 else _GAP
    step = (area.w + air) / len(unit.leaves)
    size = min(_WIDE, step - air)
    for at, leaf in enumerate(unit.leaves):
        box = Box(area.x + step * at + (step - air - size) / 2, area.y, size, _HEIGHT)
        _switch(canvas, view, leaf, box)
        places[leaf.index] = box
    return places


def _servers(canvas: Canvas, view: View, unit: UnitPart, box: Box, places: dict[int, Box]) -> None:
    """The servers of a unit in one box, with a bundle from every leaf."""
    canvas.rect(box, PAPER, SERVERS.line)
    about = [unit.model, *([counted(unit.gpus, "GPU")] if unit.gpus else [])]
    about = [", ".join(about)] if text_width(", ".join(about), 12) <= box.w - 6 else about
    canvas.middle(box, [unit.servers_text(box.w - 6), *about])
    for leaf in unit.leaves:
        above = places[leaf.index]
        span = (above.x + above.w * 0.2, above.right - above.w * 0.2)
        colour = rail_colour(leaf.rail) if view.planes == 1 else plane_tone(leaf.plane, view.planes).line
        canvas.ribbon(span, above.bottom, span, box.y, colour, 0.25)
        if above.w >= 110:
            text = _to_servers(view, leaf)
            canvas.text(above.cx, (above.bottom + box.y) / 2 + 4, text, size=11.5, anchor="middle", bold=True)


def _to_servers(view: View, leaf: Device) -> str:
    links = view.fabric.links
    mine = links.speed_gbps[(links.kind == SERVER_LEAF) & (links.b == leaf.index)]
    return f"{len(mine)} × {int(mine[0])}G" if len(mine) else ""


def _switch(canvas: Canvas, view: View, device: Device, box: Box) -> None:
    """A switch with its name; a strip says its rail or plane."""
    tone = plane_tone(device.plane, view.planes, device.role)
    canvas.rect(box, tone.ground, tone.line, hint=f"{device.name} ({device.model})")
    tag = _tag(view, device)
    if tag:
        colour = rail_colour(device.rail) if view.planes == 1 and device.rail >= 0 else tone.line
        canvas.rect(Box(box.x, box.y, box.w, 18), colour, radius=6)
        canvas.text(box.cx, box.y + 13, tag, size=11, fill=PAPER, anchor="middle", bold=True, room=box.w - 4)
    area = Box(box.x, box.y + 18, box.w, box.h - 18) if tag else box
    canvas.middle(area, wrap(device.name, box.w - 8, 11, 3 if not tag else 2), size=11, bold=3)


def _tag(view: View, device: Device) -> str:
    parts = [f"rail {device.rail + 1}"] if device.rail >= 0 else []
    parts += [f"plane {device.plane + 1}"] if view.planes > 1 else []
    if device.role == LEAF and device.rack >= 0:
        parts += [f"rack {device.rack + 1}"]
    if device.pod >= 0 and view.tiers == 3:
        parts += [f"pod {device.pod + 1}"]
    return ", ".join(parts)


def _lines(canvas: Canvas, view: View, kind: int, places: dict[int, Box]) -> None:
    """A line for every pair of switches with links between them."""
    joined = pairs(view, kind)
    if not joined:
        return
    devices = view.fabric.devices
    for low, high, count in joined:
        a, b, lower = places[low], places[high], devices[low]
        colour = rail_colour(lower.rail) if view.planes == 1 else plane_tone(lower.plane, view.planes).line
        canvas.lines([(a.cx, a.y, b.cx, b.bottom)], colour, 1.5 + min(count, 16) / 8, 0.75)
    top, low_y = places[joined[0][1]].bottom, places[joined[0][0]].y
    canvas.pill(tiers.MAIN + width(view) / 2, (top + low_y - _HEAD) / 2, bundle(view.fabric, kind), 400)


def pairs(view: View, kind: int) -> list[tuple[int, int, int]]:
    """(lower device, upper device, links) of every two that links of a kind join."""
    links = view.fabric.links
    here = links.kind == kind
    if not here.any():
        return []
    ends, count = np.unique(np.stack([links.a[here], links.b[here]]), axis=1, return_counts=True)
    return [(int(a), int(b), int(n)) for a, b, n in zip(*ends, count, strict=True)]


def _pair(canvas: Canvas, view: View, places: dict[int, Box]) -> None:
    """The links between the two leaves of a collapsed-spine pair."""
    for low, high, _ in pairs(view, LEAF_LEAF):
        a, b = places[low], places[high]
        rows = [a.y + a.h / 2 + offset for offset in (-9, -3, 3, 9)]
        canvas.lines([(a.right, y, b.x, y) for y in rows], NEUTRAL.line, 2, 1)
        text = bundle(view.fabric, LEAF_LEAF).removesuffix(" between the leaves")
        canvas.pill((a.right + b.x) / 2, a.y + a.h / 2, text, b.x - a.right - 8)
