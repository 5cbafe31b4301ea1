"""A unit of a slice: its few leaves as cards with names and ports, and below them the servers and their NICs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabric.base.formats import FRAMES, INK, PANEL, PAPER, RULE, SOFT, Box, Canvas, fit, text_width, wrap
from fabric.deliver.export.legend import SERVERS, Tone, names_span, plane_tone, ports_span, rail_colour, runs
from fabric.deliver.export.parts import UnitPart
from fabric.deliver.export.pictures.unit_rows import PAD, Landing, UnitStyle
from fabric.deliver.export.pictures.view import View, rails
from fabric.model.plan import LEAF_SPINE, SERVER, SERVER_LEAF, Device, GroupSpec, nic_name

_MIN_WIDTH_PX, _MAX_WIDTH_PX, _AIR, _LINE = 140.0, 300.0, 8.0, 15.0
_BAND, _SERVERS, _FOOT = 54.0, 62.0, 30.0
_NAME = 12.0  # size of a leaf's name
_TICK, _TICK_GAP = 9.0, 3.0


@dataclass(frozen=True)
class Ports:
    """Ports that the leaves of a card use, as spans; "" where its leaves differ."""

    down: str
    up: str
    above: str  # at each spine

    @property
    def lines(self) -> list[tuple[str, str]]:
        return [("up", self.up or "–"), ("at spine", self.above or "–"), ("down", self.down or "–")]


def _least(view: View, unit: UnitPart) -> float:
    cards = len(unit.planes)
    return cards * (_MIN_WIDTH_PX + _AIR) - _AIR + 2 * PAD


def _most(view: View, unit: UnitPart) -> float:
    return len(unit.planes) * _MAX_WIDTH_PX


def _height(view: View, units: Sequence[UnitPart], width: float) -> float:
    return 2 * PAD + _strip_height(view, units, width) + len(Ports("", "", "").lines) * _LINE + 8


def _strip_height(view: View, units: Sequence[UnitPart], width: float) -> float:
    """Room for the names of all cards, so that rows stay rows."""
    lines = [len(_names(leaves, _card_width(unit, width) - 12)) for unit in units for leaves in unit.planes]
    return max(lines) * _LINE + 8


def _draw(canvas: Canvas, view: View, unit: UnitPart, box: Box, servers: Box) -> list[Landing]:
    canvas.rect(box, PANEL, RULE, layer=FRAMES)
    width, landings = _card_width(unit, box.w), []
    for at, leaves in enumerate(unit.planes):
        area = Box(box.x + PAD + at * (width + _AIR), box.y + PAD, width, servers.y - _BAND - box.y - PAD)
        _card(canvas, view, leaves, area)
        _down(canvas, view, leaves, Box(area.x, area.bottom, area.w, _BAND))
        landings.append(Landing(area, leaves[0].plane if view.planes > 1 else -1))
    _servers(canvas, view, unit, servers)
    label = fit(unit.label, box.w - 16, 13, bold=True)
    canvas.text(box.x + PAD, box.bottom - 10, label, bold=True, size=13)
    _ticks(canvas, view, box, text_width(label, 13, True))
    return landings


def _card_width(unit: UnitPart, width: float) -> float:
    count = len(unit.planes)
    return (width - 2 * PAD - _AIR * (count - 1)) / count


def _ticks(canvas: Canvas, view: View, box: Box, taken: float) -> None:
    """A small square for every rail of the fabric, those that are shown filled."""
    every = rails(view.fabric)
    width = len(every) * (_TICK + _TICK_GAP) - _TICK_GAP
    if not every or width > box.w - taken - 3 * PAD:
        return
    for at, rail in enumerate(every):
        tick = Box(box.right - PAD - width + at * (_TICK + _TICK_GAP), box.bottom - 19, _TICK, _TICK)
        there = view.rail in (-1, rail)
        canvas.rect(tick, rail_colour(rail) if there else PAPER, rail_colour(rail) if there else RULE, radius=2)


def _tone(view: View, leaf: Device) -> Tone:
    return plane_tone(leaf.plane, view.planes) if view.planes > 1 else Tone(rail_colour(leaf.rail), PAPER)


def _card(canvas: Canvas, view: View, leaves: Sequence[Device], box: Box) -> None:
    """One leaf, or the alike leaves of one plane: names on top, then ports with how many links they carry."""
    tone, lines = _tone(view, leaves[0]), _ports(view, leaves).lines
    canvas.rect(box, PAPER, tone.line, hint=leaves[0].model)
    strip = Box(box.x, box.y, box.w, box.h - PAD - len(lines) * _LINE)
    canvas.rect(strip, tone.line)
    canvas.middle(strip, _names(leaves, box.w - 12), size=_NAME, fill=PAPER, bold=3)
    for at, (what, ports) in enumerate(lines):
        y = strip.bottom + _LINE * (at + 1) + 1
        canvas.text(box.x + 8, y, what, size=11, fill=SOFT)
        canvas.text(box.x + 60, y, ports, size=11, fill=INK, room=box.w - 66)


def _names(leaves: Sequence[Device], room: float) -> list[str]:
    if len(leaves) == 1:
        return wrap(leaves[0].name, room, _NAME * 1.06, 2)
    if len(leaves) == 2:
        return [leaf.name for leaf in leaves]
    return _span_lines([leaf.name for leaf in leaves], room, _NAME, bold=True)


def _span_lines(names: Sequence[str], room: float, size: float, *, bold: bool = False) -> list[str]:
    """First and last of some names on one line, or where there is no room on two."""
    first, rest = names_span(names)
    together = f"{first} {rest}".strip()
    return [together] if text_width(together, size, bold) <= room or not rest else [first, rest]


def _ports(view: View, leaves: Sequence[Device]) -> Ports:
    links = view.fabric.links
    downs, ups = set(), set()
    for leaf in leaves:
        downs.add(_span(view, "b", (links.kind == SERVER_LEAF) & (links.b == leaf.index)))
        ups.add(_span(view, "a", (links.kind == LEAF_SPINE) & (links.a == leaf.index)))
    above = (links.kind == LEAF_SPINE) & np.isin(links.a, [leaf.index for leaf in leaves])
    spines = {_span(view, "b", above & (links.b == spine)) for spine in np.unique(links.b[above]).tolist()}
    return Ports(*(found.pop() if len(found) == 1 else "" for found in (downs, ups, spines)))


def _span(view: View, end: str, here: NDArray[np.bool_]) -> str:
    columns = (getattr(view.fabric.links, f"{end}_{part}")[here].tolist() for part in ("cage", "sub", "split"))
    return ports_span(zip(*columns, strict=True))


def _down(canvas: Canvas, view: View, leaves: Sequence[Device], area: Box) -> None:
    """Links to the servers, with the NIC ports that they end at."""
    inner = Box(area.x + area.w * 0.15, area.y, area.w * 0.7, area.h)
    canvas.ribbon((inner.x, inner.right), area.y, (inner.x, inner.right), area.bottom, _tone(view, leaves[0]).line, 0.25)
    lines = [line for line in _nics(view, leaves) if line]
    canvas.middle(Box(area.x, area.y, area.w, area.h), lines, size=11)


def _nics(view: View, leaves: Sequence[Device]) -> list[str]:
    """Which NIC ports of a server, and how many links there are."""
    links = view.fabric.links
    here = (links.kind == SERVER_LEAF) & np.isin(links.b, [leaf.index for leaf in leaves])
    if not here.any():
        return []
    group = next(group for group in view.fabric.spec.groups if group.name == leaves[0].group)
    ends = set(zip(links.a_cage[here].tolist(), links.a_sub[here].tolist(), strict=True))
    return [_nic_names(group, ends), f"{int(here.sum()):,} × {int(links.speed_gbps[here].max())}G"]


def _nic_names(group: GroupSpec, ends: set[tuple[int, int]]) -> str:
    """`compute1p2`, `compute1–4`, `compute1–8 p1`."""
    if len(ends) == 1:
        return nic_name(group, *ends.pop())
    nics, ports = sorted({nic for nic, _ in ends}), sorted({port + 1 for _, port in ends})
    return f"{group.nics}{runs(nics)}" + (f" p{runs(ports)}" if group.nic.ports > 1 else "")


def _servers(canvas: Canvas, view: View, unit: UnitPart, box: Box) -> None:
    here = [d.name for d in view.fabric.devices if d.role == SERVER and (d.group, d.unit) == _key(unit)]
    canvas.rect(box, PAPER, SERVERS.line)
    names = [" ".join(names_span(here)).strip()] if here else []
    canvas.middle(box, [unit.servers_text(box.w - 6), unit.model, *names])


def _key(unit: UnitPart) -> tuple[str, int]:
    return unit.leaves[0].group, unit.leaves[0].unit


CARDS = UnitStyle(least=_least, most=_most, leaves=_height, band=_BAND, servers=_SERVERS, foot=_FOOT, draw=_draw)
