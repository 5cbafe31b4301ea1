"""The floor from above: every rack a square in its row, in the colour of the highest tier that stands in it.

Rows stand in blocks side by side, as many as the page is wide. Of more than `MAX_NAMED_RACKS` racks none says its name
under the pointer: the tables have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from fabric.base.formats import chart, element, number
from fabric.base.rounding import ceil_div
from fabric.deliver.report.charts import WIDE
from fabric.design.floor.floor import Floor
from fabric.design.floor.layout import row_letters
from fabric.model.plan import ATTACHED, CORE, LEAF, SERVER, SPINE, Device

MAX_NAMED_RACKS = 1000
_LARGE, _SMALL, _MAX_LARGE_RACKS = (16.0, 3.0), (8.0, 2.0), 500  # cell and air; more racks than _MAX_LARGE_RACKS are small
_LABEL, _BETWEEN, _MIN_ROWS = 32.0, 28.0, 6
_ORDER = (CORE, SPINE, LEAF, ATTACHED, SERVER)


def from_above(floor: Floor, inside: Sequence[Sequence[Device]], fills: Mapping[str, str]) -> str:
    """The drawing; `inside` is what stands in each rack, `fills` the class of a role's colour."""
    cell, air = _SMALL if len(floor.racks) > _MAX_LARGE_RACKS else _LARGE
    step = cell + air
    order = sorted({rack.row for rack in floor.racks})
    places = 1 + max(rack.place for rack in floor.racks)
    wide = _LABEL + places * step + _BETWEEN
    blocks = max(1, min(int((WIDE + _BETWEEN) // wide), ceil_div(len(order), _MIN_ROWS)))
    deep = ceil_div(len(order), blocks)
    corner = {row: (at // deep * wide, at % deep * step + 2) for at, row in enumerate(order)}
    size = 12 if cell >= 12 else 8.5
    look = {"class_": "soft", "font_size": size, "text_anchor": "end"}
    parts = [
        element("text", escape(row_letters(row)), x=x + _LABEL - 6, y=y + cell / 2 + size * 0.36, **look)
        for row, (x, y) in corner.items()
    ]
    paths: dict[str, list[str]] = {}
    for rack, those in zip(floor.racks, inside, strict=True):
        role = min((device.role for device in those), key=_ORDER.index)
        x, y = corner[rack.row][0] + _LABEL + rack.place * step, corner[rack.row][1]
        if len(floor.racks) > MAX_NAMED_RACKS:
            side = number(cell)
            paths.setdefault(role, []).append(f"M{number(x)} {number(y)}h{side}v{side}h-{side}z")
        else:
            area = {"x": x, "y": y, "width": cell, "height": cell, "rx": 2}
            parts.append(element("rect", "", f"{rack.name}: {_counted(those)}", class_=fills[role], **area))
    parts += [element("path", class_=fills[role], d="".join(paths[role])) for role in _ORDER if role in paths]
    caption = f"{len(floor.racks)} racks in {len(order)} rows, from above"
    return chart("".join(parts), blocks * wide - _BETWEEN, deep * step + 4, caption, "chart floor")


def _counted(those: Sequence[Device]) -> str:
    """`2 core, 8 server`."""
    roles = [device.role for device in those]
    return ", ".join(f"{roles.count(role)} {role}" for role in reversed(_ORDER) if role in roles)
