"""The left margin of a picture: what every tier and every bundle of links is, in words."""

from __future__ import annotations

from fabric.base.formats import INK, RULE, SOFT, Box, Canvas, text_width
from fabric.base.text import counted
from fabric.deliver.export.colours import BUSY, GOOD
from fabric.deliver.export.pictures.view import View
from fabric.deliver.export.words import bundle, span, totals
from fabric.model.plan import CORE, LEAF, SERVER, SPINE

LEFT, WIDTH = 24.0, 196.0
MAIN = LEFT + WIDTH + 16  # where the drawing itself begins
_TITLES = {CORE: "Cores", SPINE: "Spines", LEAF: "Leaves", SERVER: "Servers"}


def tier(canvas: Canvas, view: View, role: str, y: float) -> None:
    """Name, count, model, ports and oversubscription of a tier; `y` is the top of its row."""
    title, ratio = _TITLES[role], _ratio(view, role)
    canvas.text(LEFT, y + 14, title, size=15, bold=True)
    if ratio:
        _badge(canvas, LEFT + text_width(title, 15, True) + 8, y, ratio)
    for at, line in enumerate(_lines(view, role)):
        canvas.text(LEFT, y + 32 + at * 16, line, fill=INK if at == 0 else SOFT, room=WIDTH)


def links(canvas: Canvas, view: View, kind: int, y: float) -> None:
    """One bundle of links between two rows; `y` is the middle of the band."""
    canvas.rect(Box(LEFT, y - 17, 3, 34), RULE, radius=1)
    canvas.text(LEFT + 12, y - 3, bundle(view.fabric, kind), size=11.5, fill=SOFT, room=WIDTH - 12)
    canvas.text(LEFT + 12, y + 13, totals(view.fabric, kind), size=11.5, fill=SOFT, room=WIDTH - 12)


def _lines(view: View, role: str) -> list[str]:
    row, groups = view.row, view.fabric.spec.groups
    if role == SERVER:
        gpus = [counted(row["gpus"], "GPU")] if row["gpus"] else []
        if len(groups) <= 2:
            return [*(f"{group.count:,} × {group.model}" for group in groups), *gpus]
        return [f"{counted(row['servers'], 'server')}, {len(groups)} groups", *gpus]
    out = [f"{row['switches'][role]:,} × {row['models'][role]}"]
    ports = row["ports"][role]
    if role != LEAF or len(groups) == 1:
        out += [
            f"{ports[direction]} × {ports[f'{direction}_speed_gbps']}G {direction}"
            for direction in ("down", "up")
            if ports[direction]
        ]
    return out


def _ratio(view: View, role: str) -> str:
    """Oversubscription of a tier, as built."""
    sizing = view.fabric.sizing
    if role == SPINE and sizing.tiers == 3:
        return f"{view.row['oversubscription']['spine']:g}:1"
    if role != LEAF or sizing.tiers == 1:
        return ""
    if len(sizing.groups) == 1:
        return f"{view.row['oversubscription']['leaf']:g}:1"
    up = [sizing.links_per_spine(group) * sizing.spines_built * sizing.uplink_gbps for group in sizing.groups]
    return span(round(g.down * g.down_gbps / u, 2) for g, u in zip(sizing.groups, up, strict=True)) + ":1"


def _badge(canvas: Canvas, x: float, y: float, ratio: str) -> None:
    highest = float(ratio.removesuffix(":1").split("–")[-1])
    tone = GOOD if highest <= 1 else BUSY
    text = f"{ratio} non-blocking" if highest <= 1 else f"{ratio} oversub."
    width = text_width(text, 11, True) + 14
    canvas.rect(Box(x, y, width, 18), tone.ground, tone.line, radius=9)
    canvas.text(x + width / 2, y + 13, text, size=11, fill=tone.line, anchor="middle", bold=True)
