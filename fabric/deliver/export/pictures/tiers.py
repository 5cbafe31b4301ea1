"""Tiers of a picture: banks of switches, and in the left margin what every tier and bundle of links is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabric.base.formats import INK, PAPER, RULE, SOFT, Box, Canvas, text_width
from fabric.base.text import counted
from fabric.deliver.export.legend import BUSY, GOOD, Tone, bundle, span, totals
from fabric.deliver.export.parts import Gap, condense
from fabric.deliver.export.pictures.view import Network, View
from fabric.model.plan import CORE, LEAF, SERVER, SPINE

# --- margin ---------------------------------------------------------------------------------------------------

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
    groups = sizing.leaf_groups
    if len(groups) == 1:
        return f"{view.row['oversubscription']['leaf']:g}:1"
    up = [sizing.links_per_spine(group) * sizing.spines_built * sizing.uplink_gbps for group in groups]
    return span(round(g.leaf_gbps / u, 2) for g, u in zip(groups, up, strict=True)) + ":1"


def _badge(canvas: Canvas, x: float, y: float, ratio: str) -> None:
    highest = float(ratio.removesuffix(":1").split("–")[-1])
    tone = GOOD if highest <= 1 else BUSY
    text = f"{ratio} non-blocking" if highest <= 1 else f"{ratio} oversub."
    width = text_width(text, 11, True) + 14
    canvas.rect(Box(x, y, width, 18), tone.ground, tone.line, radius=9)
    canvas.text(x + width / 2, y + 13, text, size=11, fill=tone.line, anchor="middle", bold=True)


# --- banks ----------------------------------------------------------------------------------------------------

HEIGHT, GAP, MIN_WIDTH_PX = 62.0, 10.0, 92.0  # a bank is never narrower than MIN_WIDTH_PX
_MAX_BANKS = 8  # banks side by side
_MAX_CELLS = 16  # beyond, their lines would be a mat
_CELL, _CELL_GAP = 24.0, 4.0


@dataclass(frozen=True)
class Placed:
    """A bank that was drawn, and which of the shown networks it is."""

    box: Box
    at: int
    network: Network
    cells: tuple[float, ...]  # the middle of each cell


def shown(view: View) -> int:
    """How many banks stand side by side, a gap counted as one."""
    return len(condense(view.networks, _MAX_BANKS))


def row(
    canvas: Canvas,
    view: View,
    area: Box,
    labels: dict[Network, list[str]],
    what: dict[Network, str],
    tone: Tone | None = None,
) -> list[Placed]:
    """A bank for every network, side by side: `labels` are its cells, `what` names them; `tone` is the colour of
    all, each has that of its network without one."""
    slots = condense(view.networks, _MAX_BANKS)
    width = (area.w - GAP * (len(slots) - 1)) / len(slots)
    placed = []
    for at, network in enumerate(slots):
        box = Box(area.x + at * (width + GAP), area.y, width, HEIGHT)
        if isinstance(network, Gap):
            gap(canvas, box, network.count)
            continue
        coloured = replace(network, tone=tone) if tone else network
        middles = _bank(canvas, box, coloured, labels[network], what[network])
        placed.append(Placed(box, at, coloured, middles))
    return placed


def _bank(canvas: Canvas, box: Box, network: Network, labels: Sequence[str], what: str) -> tuple[float, ...]:
    canvas.rect(box, network.tone.ground, network.tone.line)
    title = f"{network.name}: {what}" if network.name else what
    room = box.w - 12
    if network.name and text_width(title, 12, True) > room:  # then there is none for cells either
        canvas.middle(box, [network.name, what], fill=network.tone.line, bold=2)
        return ()
    canvas.text(box.cx, box.y + 19, title, anchor="middle", bold=True, fill=network.tone.line, room=room)
    return _cells(canvas, Box(box.x + 6, box.y + 28, room, 24), labels, network.tone.line)


def _cells(canvas: Canvas, area: Box, labels: Sequence[str], colour: str) -> tuple[float, ...]:
    """Numbered cells in one line; where there are too many, the first two and the last."""
    width = max([_CELL, *(8 * len(label) + 6 for label in labels[-1:])])
    slots = condense(labels, min(_MAX_CELLS, int((area.w + _CELL_GAP) // (width + _CELL_GAP))))
    step = min(area.w / len(slots), 96.0)
    width = min(step - _CELL_GAP, 44.0)
    middles = []
    for position, slot in enumerate(slots):
        middle = area.cx + (position - (len(slots) - 1) / 2) * step
        box = Box(middle - width / 2, area.y, width, 22)
        if isinstance(slot, Gap):
            canvas.text(box.cx, box.y + 14, "…", size=15, fill=colour, anchor="middle", bold=True)
        else:
            canvas.rect(box, colour, radius=3)
            canvas.text(box.cx, box.y + 15.5, slot, size=11.5, fill=PAPER, anchor="middle", bold=True)
            middles.append(middle)
    return tuple(middles)


def fan(canvas: Canvas, bank: Placed, low: Box, at: int, count: int) -> None:
    """Links from a bank to one of `count` parts of a box's upper edge: one line per cell, or a ribbon without cells."""
    left, right = low.slice(at, count)
    colour = bank.network.tone.line
    if not bank.cells:
        canvas.ribbon((bank.box.x + 8, bank.box.right - 8), bank.box.bottom, (left, right), low.y, colour, 0.3)
        return
    step = (right - left) / len(bank.cells)
    ends = [(x, bank.box.bottom, left + (at + 0.5) * step, low.y) for at, x in enumerate(bank.cells)]
    canvas.lines(ends, colour, 1.25, 0.6) if step >= 5 else canvas.lines(ends, colour, 0.8, 0.4)


def gap(canvas: Canvas, box: Box, count: int) -> None:
    """What is left out: an ellipsis and how many."""
    canvas.text(box.cx, box.y + box.h / 2 - 2, "…", size=22, fill=SOFT, anchor="middle", bold=True)
    canvas.text(box.cx, box.y + box.h / 2 + 16, f"{count:,} more", fill=SOFT, anchor="middle", room=box.w)
