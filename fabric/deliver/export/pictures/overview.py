"""Overview of a fabric: tiers as rows, groups of devices instead of devices, ribbons instead of links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabric.base.formats import FRAMES, PANEL, PAPER, RULE, Box, Canvas
from fabric.base.text import counted
from fabric.deliver.export.legend import NEUTRAL, ROLES, SERVERS, Tone, bundle
from fabric.deliver.export.parts import Gap, PodPart, condense
from fabric.deliver.export.pictures import tiers, unit_rows
from fabric.deliver.export.pictures.tiers import Placed
from fabric.deliver.export.pictures.unit_rows import Landing, Row, UnitStyle
from fabric.deliver.export.pictures.view import Network, View
from fabric.model.plan import CORE, LEAF, LEAF_SPINE, SERVER, SERVER_LEAF, SPINE, SPINE_CORE

BAND, FRAME_HEAD, FRAME_PAD = 92.0, 30.0, 12.0
CLOSED, POD_GAP = 116.0, 12.0  # a pod that is not opened
_MIN_WIDTH_PX, _OPENED = 780.0, 290.0  # of the drawing, of the opened pod


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What is shown, and how wide."""

    view: View
    opened: PodPart
    closed: Sequence[PodPart | Gap]
    units: Row
    width: float  # of the drawing beside the gutter
    pod: float  # of the opened pod

    @property
    def framed(self) -> bool:
        return self.view.tiers == 3

    @property
    def pad(self) -> float:
        return FRAME_PAD if self.framed else 0


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Tops of the rows."""

    core: float
    frame: float
    spine: float
    unit: float
    leaves: float  # height of the leaves' part of a unit
    server: float
    servers: float  # height of the servers' box
    bottom: float


def width(view: View, style: UnitStyle) -> float:
    """How wide the drawing is."""
    return _scene(view, style).width


def draw(canvas: Canvas, view: View, y: float, style: UnitStyle) -> float:
    """Draws the fabric from `y` down; gives where it ends."""
    scene = _scene(view, style)
    rows = _rows(scene, y)
    inner = Box(tiers.MAIN + scene.pad, rows.spine, scene.pod - 2 * scene.pad, 0)
    if scene.framed:
        _frames(canvas, scene, rows)
    spines = _spines(canvas, scene, inner)
    drawn = scene.units.draw(canvas, Box(inner.x, rows.unit, inner.w, 0), rows.leaves)
    _fans(canvas, view, spines, drawn)
    canvas.pill(inner.cx, rows.spine + tiers.HEIGHT + BAND / 2, bundle(view.fabric, LEAF_SPINE), inner.w)
    _margin(canvas, view, rows)
    return rows.bottom + scene.pad


def _scene(view: View, style: UnitStyle) -> Scene:
    opened = view.pods[0][0]
    closed = [slot for group in view.pods for slot in condense(group, 3)][1:]
    side = sum((unit_rows.GAP_WIDTH if isinstance(slot, Gap) else CLOSED) + POD_GAP for slot in closed)
    pad = 2 * FRAME_PAD if view.tiers == 3 else 0
    units = unit_rows.row(view, style, opened.units, _MIN_WIDTH_PX - side - pad)
    need = max(units.least_width, tiers.shown(view) * (tiers.MIN_WIDTH_PX + tiers.GAP) - tiers.GAP) + pad
    pod = max(_MIN_WIDTH_PX - side, need, _OPENED)
    return Scene(view=view, opened=opened, closed=closed, units=units, width=pod + side, pod=pod)


def _rows(scene: Scene, y: float) -> Rows:
    leaves = scene.units.leaves(scene.pod - 2 * scene.pad)
    frame = y + tiers.HEIGHT + BAND if scene.framed else y
    spine = frame + FRAME_HEAD if scene.framed else y
    unit = spine + tiers.HEIGHT + BAND
    server, bottom = unit + scene.units.server_top(leaves), unit + scene.units.height(leaves)
    servers = scene.units.style.servers
    return Rows(core=y, frame=frame, spine=spine, unit=unit, leaves=leaves, server=server, servers=servers, bottom=bottom)


def _spines(canvas: Canvas, scene: Scene, area: Box) -> list[Placed]:
    labels = {
        network: [
            str(spine.number) for spine in scene.opened.spines if spine.plane == network.plane and spine.rail == network.rail
        ]
        for network in scene.view.networks
    }
    what = {network: counted(len(found), "spine") for network, found in labels.items()}
    return tiers.row(canvas, scene.view, area, labels, what, _bank_tone(scene.view.networks, SPINE))


def _bank_tone(networks: Sequence[Network], role: str) -> Tone | None:
    """The colour of a tier where it is one network; None where each network, or the rail that is shown, has its own."""
    return ROLES[role] if len(networks) == 1 and networks[0].tone == NEUTRAL else None


def _frames(canvas: Canvas, scene: Scene, rows: Rows) -> None:
    """Cores on top, a frame around the opened pod, the other pods beside it."""
    view, sizing = scene.view, scene.view.fabric.sizing
    networks = view.networks
    labels = {network: [str(n + 1) for n in range(sizing.spines_built)] for network in networks}
    caption = f"{counted(sizing.spines_built, 'group')} of {counted(sizing.cores_built, 'core')}"
    area = Box(tiers.MAIN, rows.core, scene.width, 0)
    cores = tiers.row(canvas, view, area, labels, dict.fromkeys(networks, caption), _bank_tone(networks, CORE))
    bottom = rows.bottom + FRAME_PAD
    frame = Box(tiers.MAIN, rows.frame, scene.pod, bottom - rows.frame)
    canvas.rect(frame, PAPER, RULE, radius=8, layer=FRAMES)
    head = f"{scene.opened.label}: {_pod_words(scene.opened)}"
    canvas.text(frame.x + FRAME_PAD, frame.y + 20, head, size=13, bold=True, room=frame.w - 2 * FRAME_PAD)
    below = [Landing(frame)]
    x = frame.right + POD_GAP
    for slot in scene.closed:
        box = Box(x, frame.y, unit_rows.GAP_WIDTH if isinstance(slot, Gap) else CLOSED, frame.h)
        if isinstance(slot, Gap):
            tiers.gap(canvas, box, slot.count)
        else:
            _closed(canvas, slot, box, rows, networks)
            below.append(Landing(box))
        x = box.right + POD_GAP
    _fans(canvas, view, cores, below)
    middle = rows.core + tiers.HEIGHT + BAND / 2
    canvas.pill(tiers.MAIN + scene.width / 2, middle, bundle(view.fabric, SPINE_CORE), scene.width)


def _fans(canvas: Canvas, view: View, uppers: Sequence[Placed], lowers: Sequence[Landing]) -> None:
    """Every box below meets every bank above, or where it is of one plane, that plane's."""
    for low in lowers:
        if low.plane < 0:
            for bank in uppers:
                tiers.fan(canvas, bank, low.box, bank.at, tiers.shown(view))
        else:
            mine = [bank for bank in uppers if bank.network.plane == low.plane]
            for at, bank in enumerate(mine):
                tiers.fan(canvas, bank, low.box, at, len(mine))


def _closed(canvas: Canvas, pod: PodPart, box: Box, rows: Rows, networks: Sequence[Network]) -> None:
    """A pod in brief: a box a tier, in the rows of the opened one."""
    canvas.rect(box, PAPER, RULE, radius=8, layer=FRAMES)
    canvas.text(box.cx, box.y + 20, pod.label, size=13, anchor="middle", bold=True, room=box.w - 8)
    inner = Box(box.x + 8, rows.spine, box.w - 16, tiers.HEIGHT)
    leaves = Box(inner.x, rows.unit, inner.w, rows.leaves)
    servers = Box(inner.x, rows.server, inner.w, rows.servers)
    units_of_pod = pod.all_units
    gpus = sum(unit.gpus for unit in units_of_pod)
    plain = _bank_tone(networks, SPINE) or (networks[0].tone if len(networks) == 1 else NEUTRAL)
    texts = (
        (inner, [counted(len(pod.spines), "spine")], plain),
        (leaves, [counted(len(units_of_pod), "unit"), _leaves(pod)], Tone(RULE, PANEL)),
        (
            servers,
            [counted(sum(u.servers for u in units_of_pod), "server"), units_of_pod[0].model, *_gpus(gpus)],
            Tone(SERVERS.line, PAPER),
        ),
    )
    for part, lines, tone in texts:
        canvas.rect(part, tone.ground, tone.line)
        canvas.middle(part, lines)
    band = Box(inner.x + 6, inner.y, inner.w - 12, inner.h)
    for position, network in enumerate(networks):
        ends, colour = band.slice(position, len(networks)), network.tone.line
        canvas.ribbon(ends, inner.bottom, ends, leaves.y, colour, 0.3)
        canvas.ribbon(ends, leaves.bottom, ends, servers.y, colour, 0.3)
        if len(networks) > 1:
            canvas.rect(Box(ends[0], inner.bottom - 9, ends[1] - ends[0], 5), colour, radius=2)


def _pod_words(pod: PodPart) -> str:
    servers = sum(unit.servers for unit in pod.all_units)
    return f"{counted(len(pod.all_units), 'unit')}, {_leaves(pod)}, {counted(servers, 'server')}"


def _leaves(pod: PodPart) -> str:
    return counted(sum(len(unit.leaves) for unit in pod.all_units), "leaf", "leaves")


def _gpus(gpus: int) -> list[str]:
    return [counted(gpus, "GPU")] if gpus else []


def _margin(canvas: Canvas, view: View, rows: Rows) -> None:
    """The words beside the rows."""
    if view.tiers == 3:
        tiers.tier(canvas, view, CORE, rows.core)
        tiers.links(canvas, view, SPINE_CORE, rows.core + tiers.HEIGHT + BAND / 2)
    tiers.tier(canvas, view, SPINE, rows.spine)
    tiers.links(canvas, view, LEAF_SPINE, rows.spine + tiers.HEIGHT + BAND / 2)
    tiers.tier(canvas, view, LEAF, rows.unit + 4)
    tiers.links(canvas, view, SERVER_LEAF, (rows.unit + rows.leaves + rows.server) / 2)
    tiers.tier(canvas, view, SERVER, rows.server + 8)
