"""Pages of shapes and lines as draw.io (diagrams.net) reads them: uncompressed XML with ids, layers and data of each shape.

A page is a tree of cells: the root, layers below it, shapes in layers or in other shapes, lines in a layer with the ids of
their ends. Source: https://www.drawio.com/doc/faq/diagram-source-edit and the mxGraph user manual, "The Model and Cells".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from fabric.base.formats import Box, number

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
