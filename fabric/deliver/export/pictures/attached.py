"""Attachments, in rows below a fabric."""

from __future__ import annotations

from fabric.base.formats import PAPER, Box, Canvas
from fabric.base.rounding import ceil_div
from fabric.base.text import counted
from fabric.deliver.export.colours import SERVERS
from fabric.deliver.export.pictures import gutter
from fabric.deliver.export.pictures.view import View
from fabric.model.plan import ATTACHED, ATTACHMENT

_WIDTH, _HEIGHT, _GAP = 150.0, 48.0, 10.0


def draw(canvas: Canvas, view: View, y: float, room: float) -> float:
    """Draws them from `y` down, in the width `room`; gives where they end."""
    links, devices = view.fabric.links, view.fabric.devices
    here = links.kind == ATTACHMENT
    ends = set(links.a[here].tolist())
    attachments = [device for device in devices if device.role == ATTACHED and device.index in ends]
    if not attachments:
        return y
    top, y = y, y + 18
    canvas.text(gutter.LEFT, y + 14, "Attached", size=15, bold=True)
    across = max(1, int((room + _GAP) // (_WIDTH + _GAP)))
    for number, device in enumerate(attachments):
        row, column = divmod(number, across)
        box = Box(gutter.MAIN + column * (_WIDTH + _GAP), y + row * (_HEIGHT + _GAP), _WIDTH, _HEIGHT)
        mine = here & (links.a == device.index)
        leaves = len(set(links.b[mine].tolist()))
        text = f"{int(mine.sum())} × {int(links.speed_gbps[mine].max())}G to {counted(leaves, 'leaf', 'leaves')}"
        if row == 0:
            canvas.lines([(box.cx, top, box.cx, box.y)], SERVERS.line, 1.5, 0.75)
        canvas.rect(box, PAPER, SERVERS.line, dash="4 3", hint=device.name)
        canvas.middle(box, [device.name, text])
    return y + ceil_div(len(attachments), across) * (_HEIGHT + _GAP) - _GAP
