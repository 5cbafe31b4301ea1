"""The plan as a draw.io file that people go on drawing in: for every fabric pages of its overview, its switches, one rail and
one plane, and a page of the site's racks.

Shapes carry what the plan knows of them (Edit > Edit Data): model, AS number, addresses. Labels are plain text, never HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from ipaddress import ip_address
from math import log10

from fabric.base.formats import INK, PANEL, PAPER, RULE, SOFT, Box, fit, number, wrap
from fabric.base.rounding import ceil_div
from fabric.base.text import counted
from fabric.deliver.export.bundles import Bundle, Column, Graph, Node, Pod, overview, switches
from fabric.deliver.export.legend import ROLES, bundle
from fabric.deliver.export.pictures import view as views
from fabric.deliver.export.pictures.racks import Kind, kinds
from fabric.deliver.export.pictures.view import View
from fabric.design.floor.floor import floor
from fabric.model.plan import ATTACHED, KINDS, LEAF, SWITCH_ROLES, Device, FabricPlan, Plan

# --- mxgraph --------------------------------------------------------------------------------------------------
# Pages of shapes and lines as draw.io (diagrams.net) reads them: uncompressed XML with ids, layers and data of each shape.
#
# A page is a tree of cells: the root, layers below it, shapes in layers or in other shapes, lines in a layer with the ids of
# their ends. Source: https://www.drawio.com/doc/faq/diagram-source-edit and the mxGraph user manual, "The Model and Cells".

LINKS, SHAPES = "links", "shapes"  # layers, from the back
_LAYERS = {LINKS: "Links", SHAPES: "Devices"}


class Page:
    """Collects the cells of one page. Ids are unique over all pages, since they begin with that of the page."""

    def __init__(self, key: str, name: str) -> None:
        self.key, self.name = key, name
        self._cells: dict[str, list[str]] = {layer: [] for layer in _LAYERS}
        self._right = self._bottom = 0.0

    def shape(
        self,
        key: str,
        lines: Sequence[str],
        box: Box,
        style: Mapping[str, object],
        *,
        inside: str = SHAPES,
        data: Mapping[str, object] | None = None,
    ) -> None:
        """A shape of this key; in a shape that contains it, `box` counts from that one's corner."""
        if inside == SHAPES:
            self._right, self._bottom = max(self._right, box.right), max(self._bottom, box.bottom)
        place = f'x="{number(box.x)}" y="{number(box.y)}" width="{number(box.w)}" height="{number(box.h)}"'
        cell = f'vertex="1" parent="{self._id(inside)}"><mxGeometry {place} as="geometry"/></mxCell>'
        self._add(SHAPES, key, "\n".join(lines), style, cell, data)

    def line(
        self,
        key: str,
        label: str,
        ends: tuple[str, str],
        style: Mapping[str, object],
        data: Mapping[str, object],
        aside: float = 0.0,
    ) -> None:
        """A line from one shape to another that follows them when they are moved, its label so far aside."""
        source, target = (self._id(end) for end in ends)
        cell = f'edge="1" parent="{self._id(LINKS)}" source="{source}" target="{target}">'
        offset = f' y="{number(aside)}"' if aside else ""
        self._add(LINKS, key, label, style, f'{cell}<mxGeometry relative="1"{offset} as="geometry"/></mxCell>', data)

    def _add(
        self, layer: str, key: str, label: str, style: Mapping[str, object], cell: str, data: Mapping[str, object] | None
    ) -> None:
        known = "".join(f' {name}="{_text(value)}"' for name, value in (data or {}).items() if value not in ("", None))
        look = "".join(f"{name}={value};" for name, value in style.items())
        self._cells[layer].append(
            f'<object id="{self._id(key)}" label="{_text(label)}"{known}><mxCell style="{_text(look)}" {cell}</object>'
        )

    def xml(self) -> str:
        """The page as a `diagram`, a cell a line."""
        root = self._id("0")
        layers = [f'<mxCell id="{self._id(layer)}" value="{name}" parent="{root}"/>' for layer, name in _LAYERS.items()]
        cells = [f'<mxCell id="{root}"/>', *layers, *(cell for layer in self._cells.values() for cell in layer)]
        size = f'pageWidth="{number(self._right + 40)}" pageHeight="{number(self._bottom + 40)}"'
        body = "\n".join(cells)
        return (
            f'<diagram id="{self.key}" name="{_text(self.name)}">\n<mxGraphModel grid="1" gridSize="10" guides="1" '
            f'tooltips="1" connect="1" arrows="1" page="1" {size}><root>\n{body}\n</root></mxGraphModel>\n</diagram>'
        )

    def _id(self, key: str) -> str:
        return f"{self.key}-{key}"


def file(pages: Iterable[Page]) -> str:
    """Pages as one draw.io file."""
    return '<mxfile host="fabric" compressed="false">\n' + "\n".join(page.xml() for page in pages) + "\n</mxfile>\n"


def _text(value: object) -> str:
    """Text of an attribute; lines of a label stay lines."""
    return escape(str(value)).replace("\n", "&#10;")


_W, _H, _GAP, _PAD, _HEAD, _BAND = 140.0, 54.0, 12.0, 14.0, 30.0, 120.0
_TOP, _LEFT, _WIDE = 100.0, 40.0, 420.0  # where the drawing begins, how wide a box becomes
_LEAVES = 4  # leaves side by side in a unit
_NETWORKS = 4  # isolated networks whose switches fit one page; of more a page shows a single one
_LABELS = 40  # bundles of a kind that are labeled; of more the first word is beside them
_UNIT, _RACK = 14.0, 200.0  # a rack unit's height, a rack's width
_FRAME = {
    "rounded": 1,
    "absoluteArcSize": 1,
    "arcSize": 12,
    "fillColor": "none",
    "container": 1,
    "collapsible": 0,
    "verticalAlign": "top",
    "fontStyle": 1,
    "html": 0,
}
_TEXT = {"text": 1, "html": 0, "align": "left", "verticalAlign": "middle", "strokeColor": "none", "fillColor": "none"}


def drawio(plan: Plan) -> str:
    """All pages. Raises InputError where the intent's floor cannot be."""
    pages: list[Page] = []
    for fabric in plan.fabrics.values():
        for name, view, graph in _views(fabric):
            page = Page(f"p{len(pages) + 1}", f"{fabric.name}{name}")
            _draw(page, f"{plan.site} · {fabric.name}{name}", view, graph)
            pages.append(page)
    pages.append(_racks(Page(f"p{len(pages) + 1}", "racks"), plan))
    return file(pages)


def _views(fabric: FabricPlan) -> Iterator[tuple[str, View, Graph]]:
    """What there are pages of."""
    whole = View.of(fabric)
    graph = overview(whole)
    yield "", whole, graph
    folded = any(len(node.devices) > 1 for node in graph.nodes if node.role in SWITCH_ROLES and not node.members)
    if folded and len(whole.networks) <= _NETWORKS:
        yield ", pod 1" if whole.tiers == 3 else ", switches", whole, switches(whole)
    for there, cut in ((views.rails, views.rail), (views.planes, views.plane)):
        if there(fabric):
            part = cut(fabric, 0)
            yield f", {part.slice}", part, switches(part)


def _draw(page: Page, title: str, view: View, graph: Graph) -> None:
    """A graph in rows: cores, the spines of each pod, the leaves and servers of each unit; attachments beside them."""
    _words(page, "title", title, Box(_LEFT, 20, 1200, 30), 20, INK)
    _words(page, "sentence", view.sentence, Box(_LEFT, 50, 1200, 24), 13, SOFT)
    total = sum(_pod_width(pod) + _GAP for pod in graph.pods) - _GAP
    y = _row(page, view.fabric, graph.cores, _LEFT, _TOP, total, inside=SHAPES)
    y += _BAND if graph.cores else 0
    x, bottom = _LEFT, y
    for pod in graph.pods:
        bottom = max(bottom, _pod(page, view.fabric, pod, x, y))
        x += _pod_width(pod) + _GAP
    for at, node in enumerate(graph.attached):
        _node(page, view.fabric, node, Box(x + 60, bottom - (at + 1) * (_H + _GAP), _W, _H), SHAPES)
    _lines(page, view.fabric, graph)


def _size(node: Node) -> tuple[float, float]:
    if not node.members:
        return _W, _H
    across = min(len(node.members), _across(node))
    rows = ceil_div(len(node.members), across)
    return across * (_W + _GAP) - _GAP + 2 * _PAD, _HEAD + rows * (_H + _GAP) - _GAP + _PAD


def _across(node: Node) -> int:
    """Members side by side: units are many, rows of spines few; four make a square."""
    return 2 if node.role == LEAF or len(node.members) == 4 else 8


def _column_size(column: Column) -> tuple[float, float]:
    """Width of a unit, and height of its leaves."""
    if not column.leaves:  # a server without switches
        return _W + 2 * _PAD, 0.0
    lines = [column.leaves[at : at + _LEAVES] for at in range(0, len(column.leaves), _LEAVES)]
    width = max(sum(_size(node)[0] + _GAP for node in line) for line in lines) - _GAP + 2 * _PAD
    return width, sum(max(_size(node)[1] for node in line) + _GAP for line in lines) - _GAP


def _pod_width(pod: Pod) -> float:
    units = sum(_column_size(column)[0] + _GAP for column in pod.columns) - _GAP
    spines = sum(_size(node)[0] + _GAP for node in pod.spines) - _GAP
    return max(units, spines) + 2 * _PAD


def _pod(page: Page, fabric: FabricPlan, pod: Pod, x: float, y: float) -> float:
    """A pod in a frame; gives where it ends."""
    leaves = max(_column_size(column)[1] for column in pod.columns)
    spines = max((_size(node)[1] for node in pod.spines), default=0.0)
    unit_top = _HEAD + (spines + _BAND if pod.spines else 0)
    unit_height = _HEAD + leaves + 60 + _H + _PAD
    frame = Box(x, y, _pod_width(pod), unit_top + unit_height + _PAD)
    look = _FRAME | {"strokeColor": RULE if pod.label else "none", "fontSize": 14, "fontColor": INK}
    page.shape(pod.key, [pod.label], frame, look)
    _row(page, fabric, pod.spines, _PAD, _HEAD, frame.w - 2 * _PAD, inside=pod.key)
    room = sum(_column_size(column)[0] + _GAP for column in pod.columns) - _GAP
    left = (frame.w - room) / 2
    for column in pod.columns:
        width = _column_size(column)[0]
        look = _FRAME | {"strokeColor": RULE, "fontSize": 12, "fontColor": INK}
        page.shape(column.key, [column.label], Box(left, unit_top, width, unit_height), look, inside=pod.key)
        top = _HEAD
        for start in range(0, len(column.leaves), _LEAVES):
            line = column.leaves[start : start + _LEAVES]
            top = _row(page, fabric, line, _PAD, top, width - 2 * _PAD, inside=column.key) + _GAP
        servers = Box(_PAD, _HEAD + leaves + 60, width - 2 * _PAD, _H)
        _node(page, fabric, column.servers, servers, column.key)
        left += width + _GAP
    return frame.bottom


def _row(page: Page, fabric: FabricPlan, nodes: Sequence[Node], x: float, y: float, room: float, *, inside: str) -> float:
    """Nodes side by side, centered in the width; returns the y below them."""
    if not nodes:
        return y
    taken = sum(_size(node)[0] + _GAP for node in nodes) - _GAP
    more = max(0.0, min((room - taken) / len(nodes), _WIDE - _W)) if not nodes[0].members else 0.0
    x += max(0.0, (room - taken - more * len(nodes)) / 2)
    for node in nodes:
        width, height = _size(node)
        _node(page, fabric, node, Box(x, y, width + more, height), inside)
        x += width + more + _GAP
    return y + max(_size(node)[1] for node in nodes)


def _node(page: Page, fabric: FabricPlan, node: Node, box: Box, inside: str) -> None:
    """A box with its text and data, and its members in it."""
    tone = ROLES[node.role]
    look: dict[str, object] = {"rounded": 1, "arcSize": 8, "html": 0, "fontSize": 11, "fontColor": INK}
    look |= {"fillColor": tone.ground, "strokeColor": tone.line} | ({"dashed": 1} if node.role == ATTACHED else {})
    if node.members:
        look |= _FRAME | {"fontSize": 12}
    lines = [": ".join(node.lines)] if node.members else list(node.lines)
    if len(node.devices) == 1:
        lines = [*wrap(node.lines[0], box.w - 10, 11, 2), *node.lines[1:]]
    page.shape(node.key, [fit(line, box.w - 8, 11) for line in lines], box, look, inside=inside, data=_data(fabric, node))
    for at, member in enumerate(node.members):
        row, place = divmod(at, _across(node))
        _node(page, fabric, member, Box(_PAD + place * (_W + _GAP), _HEAD + row * (_H + _GAP), _W, _H), node.key)


def _data(fabric: FabricPlan, node: Node) -> dict[str, object]:
    if len(node.devices) == 1:
        return _facts(fabric, node.devices[0])
    names = [device.name for device in node.devices]
    models = ", ".join(sorted({device.model for device in node.devices}))
    return {"role": node.role, "count": len(names), "first": names[0], "last": names[-1], "model": models}


def _facts(fabric: FabricPlan, device: Device) -> dict[str, object]:
    """What the plan knows of one device; coordinates count from 1."""
    facts: dict[str, object] = {"name": device.name, "role": device.role, "model": device.model, "nos": device.nos}
    facts["asn"] = device.asn or ""
    for key, column in (("loopback", fabric.loopback), ("management", fabric.management)):
        address = int(column[device.index])
        facts[key] = str(ip_address(address)) if address >= 0 else ""
    places = {key: getattr(device, key) for key in ("pod", "unit", "rack", "plane", "rail")}
    return facts | {key: value + 1 for key, value in places.items() if value >= 0}


def _lines(page: Page, fabric: FabricPlan, graph: Graph) -> None:
    """A line for every bundle, labeled where there is room for labels."""
    kinds_ = [bundle.kind for bundle in graph.bundles]
    for at, links_between in enumerate(graph.bundles):
        label = links_between.label if kinds_.count(links_between.kind) <= _LABELS else ""
        data = {"kind": links_between.kind, "links": links_between.label}
        aside = -_H / 2 - 14 if links_between.kind == "leaf-leaf" else 0.0  # there is no room between two leaves
        page.line(
            f"link{at + 1}", label, (links_between.low, links_between.high), _line_look(links_between, label), data, aside
        )
    many = [kind for kind in KINDS if kinds_.count(kind) > _LABELS]
    text = "; ".join(f"{kind}: {bundle(fabric, KINDS.index(kind))}" for kind in many)
    if text:
        _words(page, "links-note", text, Box(_LEFT, 74, 1200, 20), 12, SOFT)


def _line_look(found: Bundle, label: str) -> Mapping[str, object]:
    width = round(1 + min(log10(found.links), 4) / 2, 1)
    look: dict[str, object] = {"endArrow": "none", "html": 0, "strokeColor": SOFT, "strokeWidth": width, "opacity": 60}
    return look | ({"fontSize": 10, "fontColor": INK, "labelBackgroundColor": PAPER} if label else {})


def _words(page: Page, key: str, text: str, box: Box, size: int, colour: str) -> None:
    page.shape(key, [text], box, _TEXT | {"fontSize": size, "fontColor": colour, "fontStyle": int(size >= 20)})


def _racks(page: Page, plan: Plan) -> Page:
    """A rack of every kind, with what is in it."""
    made = floor(plan)
    found = kinds(plan, made)
    _words(page, "title", f"{plan.site} · racks", Box(_LEFT, 20, 1200, 30), 20, INK)
    for at, kind in enumerate(found):
        row, place = divmod(at, 8)
        corner = Box(_LEFT + place * (_RACK + 30), _TOP + row * (made.units * _UNIT + 110), _RACK, 0)
        _rack(page, plan, f"kind{at + 1}", kind, corner, made.units)
    return page


def _rack(page: Page, plan: Plan, key: str, kind: Kind, corner: Box, units: int) -> None:
    many = f"{counted(len(kind.racks), 'rack')} like this" if len(kind.racks) > 1 else ", ".join(kind.holds)
    frame = Box(corner.x, corner.y, _RACK, 50 + units * _UNIT)
    look = _FRAME | {"fillColor": PANEL, "strokeColor": RULE, "fontSize": 12, "fontColor": INK}
    data = {"racks": kind.where, "holds": ", ".join(kind.holds)}
    page.shape(key, [f"rack {kind.racks[0].name}", fit(many, _RACK - 10, 12)], frame, look, data=data)
    fabrics = {device.name: fabric for fabric in reversed(list(plan.fabrics.values())) for device in fabric.devices}
    for at, item in enumerate(kind.mounted):
        tone = ROLES[item.device.role]
        box = Box(4, 46 + (units - item.ru - item.height + 1) * _UNIT, _RACK - 8, item.height * _UNIT)
        look = {"html": 0, "fontSize": 10, "fontColor": INK, "fillColor": tone.ground, "strokeColor": tone.line}
        facts = _facts(fabrics[item.device.name], item.device) | {"ru": item.ru, "height_ru": item.height}
        page.shape(f"{key}-{at + 1}", [fit(item.device.name, _RACK - 16, 10)], box, look, inside=key, data=facts)
