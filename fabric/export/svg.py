"""A static picture of a plan: the design at first glance, for a README, a slide or a ticket.

switches.py  up to 16 switches: each with its name, each pair a line
overview.py  more: tiers as rows, pods and units as boxes, ribbons instead of links
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from fabric.export import gutter, overview, switches
from fabric.export.canvas import FONT, PAPER, RULE, SOFT, Box, Canvas, number
from fabric.export.colours import SERVERS
from fabric.export.gutter import View
from fabric.export.words import TIERS, counted
from fabric.plan.devices import ATTACHED
from fabric.plan.links import ATTACHMENT
from fabric.plan.plan import Plan

_EDGE, _HEAD, _BETWEEN, _BOX, _BOX_GAP = 24.0, 64.0, 36.0, 150.0, 10.0


def svg(plan: Plan) -> str:
    """The fabrics of a plan below each other, as one SVG document."""
    canvas = Canvas()
    views = [View.of(fabric) for fabric in plan.fabrics.values()]
    main = max(_style(view).width(view) for view in views)
    width, y = gutter.MAIN + main + _EDGE, _EDGE
    for at, view in enumerate(views):
        if at:
            canvas.rect(Box(_EDGE, y + _BETWEEN / 2, width - 2 * _EDGE, 1), RULE, radius=0)
            y += _BETWEEN + 8
        y = _fabric(canvas, plan.site, view, y, width)
    return _document(plan, views, canvas, width, y + _EDGE)


@dataclass(frozen=True)
class _Style:
    """A way to draw a fabric."""

    width: Callable[[View], float]
    draw: Callable[[Canvas, View, float], float]  # from this height down; gives where it ends


_SWITCHES, _OVERVIEW = _Style(switches.width, switches.draw), _Style(overview.width, overview.draw)


def _style(view: View) -> _Style:
    return _SWITCHES if len(view.fabric.switches) <= switches.MOST else _OVERVIEW


def _fabric(canvas: Canvas, site: str, view: View, y: float, width: float) -> float:
    """One fabric under its heading; gives where it ends."""
    room = width - 2 * _EDGE
    canvas.text(_EDGE, y + 20, f"{site} · {view.fabric.name}", size=22, bold=True, room=room)
    canvas.text(_EDGE, y + 42, sentence(view), size=13, fill=SOFT, room=room)
    y = _style(view).draw(canvas, view, y + _HEAD)
    y = _attached(canvas, view, y, width)
    if _style(view) is _OVERVIEW:
        y += 22
        canvas.text(gutter.MAIN, y, _legend(view), size=11.5, fill=SOFT, room=width - gutter.MAIN - _EDGE)
    return y


def sentence(view: View) -> str:
    """The fabric in one line."""
    row = view.row
    shape = [row["purpose"], row["kind"], TIERS[row["tiers"]]]
    shape += [counted(row["planes"], "plane")] if row["planes"] > 1 else []
    counts = [counted(row["servers"], "server")]
    counts += [counted(row["gpus"], "GPU")] if row["gpus"] else []
    counts += [counted(sum(row["switches"].values()), "switch", "switches")]
    counts += [counted(sum(row["links"].values()), "link")]
    planned = f"; room for {counted(row['planned']['servers'], 'server')}" if "planned" in row else ""
    return f"{', '.join(shape)}: {', '.join(counts)}{planned}"


def _legend(view: View) -> str:
    kind = view.fabric.spec.kind
    number = "rail" if kind != "rack" else "rack"
    return f"Squares in a unit are its leaves, numbered by {number}; a line or ribbon is a bundle of links."


def _attached(canvas: Canvas, view: View, y: float, width: float) -> float:
    """Boxes that take leaf ports, in rows below the fabric."""
    links, devices = view.fabric.links, view.fabric.devices
    boxes = [device for device in devices if device.role == ATTACHED]
    if not boxes:
        return y
    y += 18
    canvas.text(gutter.LEFT, y + 14, "Attached", size=15, bold=True)
    across = max(1, int((width - gutter.MAIN - _EDGE + _BOX_GAP) // (_BOX + _BOX_GAP)))
    for at, device in enumerate(boxes):
        row, column = divmod(at, across)
        box = Box(gutter.MAIN + column * (_BOX + _BOX_GAP), y + row * 58, _BOX, 48)
        mine = (links.kind == ATTACHMENT) & (links.a == device.index)
        leaves = len(set(links.b[mine].tolist()))
        text = f"{int(mine.sum())} × {int(links.speed_gbps[mine].max())}G to {counted(leaves, 'leaf', 'leaves')}"
        canvas.rect(box, PAPER, SERVERS.line, dash="4 3", hint=device.name)
        canvas.middle(box, [device.name, text])
    return y + -(-len(boxes) // across) * 58 - 10


def _document(plan: Plan, views: list[View], canvas: Canvas, width: float, height: float) -> str:
    title = f"Network of {plan.site}: {', '.join(plan.fabrics)}"
    said = " ".join(f"Fabric {view.fabric.name}: {sentence(view)}." for view in views)
    size = f'width="{number(width)}" height="{number(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {number(width)} {number(height)}" '
        f'role="img" aria-labelledby="fabric-title fabric-desc" font-family="{FONT}">\n'
        f'<title id="fabric-title">{escape(title)}</title>\n<desc id="fabric-desc">{escape(said)}</desc>\n'
        f'<rect width="{number(width)}" height="{number(height)}" rx="14" fill="{PAPER}"/>\n{canvas.body()}\n</svg>\n'
    )
