"""Servers that are cabled to each other: each as a box on a circle, a line for the cables of each two."""

from __future__ import annotations

from math import cos, pi, sin

from fabric.base.formats import PAPER, Box, Canvas, wrap
from fabric.deliver.export.legend import NEUTRAL, SERVERS, bandwidth
from fabric.deliver.export.pictures import tiers
from fabric.deliver.export.pictures.switches import pairs
from fabric.deliver.export.pictures.view import View
from fabric.model.plan import SERVER, SERVER_SERVER

_WIDTH, _HEIGHT, _LABEL = 150.0, 56.0, 120.0
_ROOM = 780.0  # of the drawing beside the margin


def width(view: View) -> float:
    """How wide the drawing is."""
    return _ROOM


def draw(canvas: Canvas, view: View, y: float) -> float:
    """Draws the fabric from `y` down; gives where it ends."""
    servers = [device for device in view.fabric.devices if device.role == SERVER]
    two = len(servers) == 2
    across, down = (_ROOM - _WIDTH) / 2, 0.0 if two else 60.0 + 28.0 * len(servers)
    middle = (tiers.MAIN + _ROOM / 2, y + down + _HEIGHT / 2)
    turn = pi if two else -pi / 2  # the first stands left of the other, or above all
    places = {}
    for at, server in enumerate(servers):
        angle = turn + 2 * pi * at / len(servers)
        x, top = middle[0] + across * cos(angle), middle[1] + down * sin(angle)
        places[server.index] = Box(x - _WIDTH / 2, top - _HEIGHT / 2, _WIDTH, _HEIGHT)
    labels = []
    for low, high, count in pairs(view, SERVER_SERVER):
        a, b = places[low], places[high]
        ends = (a.cx, a.y + _HEIGHT / 2, b.cx, b.y + _HEIGHT / 2)
        canvas.lines([ends], NEUTRAL.line, 1.5 + min(count, 16) / 8, 0.75)
        gbps = int(view.fabric.links.speed_gbps[0])
        text = f"{count} × {bandwidth(gbps)}"
        labels.append((ends[0] + (ends[2] - ends[0]) * 0.4, ends[1] + (ends[3] - ends[1]) * 0.4, text))
    for server in servers:
        box = places[server.index]
        canvas.rect(box, PAPER, SERVERS.line, hint=f"{server.name} ({server.model})")
        canvas.middle(box, [*wrap(server.name, box.w - 8, 12, 2), server.model], size=12)
    for x, top, text in labels:
        canvas.pill(x, top, text, _LABEL)
    tiers.tier(canvas, view, SERVER, y)
    tiers.links(canvas, view, SERVER_SERVER, y + _HEIGHT + 40)
    return y + max(2 * down + _HEIGHT, _HEIGHT + 80)
