"""Tiers of fabrics side by side at one scale: squares for switches and servers, ribbons as wide as their bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from fabric.base.formats import chart, element, fit, number
from fabric.base.rounding import ceil_div
from fabric.base.text import counted, listed
from fabric.deliver.export.legend import totals
from fabric.deliver.report.charts import WIDE
from fabric.model.plan import CORE, LEAF, LEAF_LEAF, LEAF_SPINE, SERVER, SERVER_LEAF, SPINE, SPINE_CORE, FabricPlan

TIERS = (CORE, SPINE, LEAF, SERVER)
BELOW = {CORE: SPINE_CORE, SPINE: LEAF_SPINE, LEAF: SERVER_LEAF}  # links from a tier downwards
_NOUNS = {CORE: ("core", ""), SPINE: ("spine", ""), LEAF: ("leaf", "leaves"), SERVER: ("server", "")}
_STEP, _SQUARE, _HEAD, _BAND, _MAX_ROWS, _EDGE = 11.0, 9.0, 20.0, 50.0, 10, 8.0
_GAP, _MIN_WIDTH_PX = 16.0, 280.0  # between pictures, and the width below which they wrap
_ROUND = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class Scale:
    """What all pictures of a page share."""

    width: float
    each: int  # switches or servers of one square
    rows: dict[str, int]  # of squares, by tier: the most of any design; 0 where none has this tier
    most_gbps: int  # of the widest ribbon

    @staticmethod
    def of(fabrics: Sequence[FabricPlan], width: float) -> Scale:
        across = int((width - 2 * _EDGE) // _STEP)
        most = max(count for fabric in fabrics for count in _counts(fabric).values())
        each = next((n for n in _ROUND if ceil_div(most, n) <= across * _MAX_ROWS), _ROUND[-1])
        rows = {tier: max(ceil_div(ceil_div(_counts(fabric)[tier], each), across) for fabric in fabrics) for tier in TIERS}
        gbps = max(_gbps(fabric, kind) for fabric in fabrics for kind in BELOW.values())
        return Scale(width, each, rows, max(gbps, 1))

    @classmethod
    def beside(cls, fabrics: Sequence[FabricPlan], least: int = 1) -> Scale:
        """Of pictures that stand side by side on a page with room for `least` of them."""
        across = min(max(len(fabrics), least), int((WIDE + _GAP) // (_MIN_WIDTH_PX + _GAP)))
        return cls.of(fabrics, (WIDE + _GAP) / across - _GAP)

    @property
    def words(self) -> str:
        square = "One square is one switch or server" if self.each == 1 else f"One square is {self.each} switches or servers"
        return f"{square}; a ribbon is as wide as its bandwidth, at one scale in all pictures."

    @property
    def across(self) -> int:
        return int((self.width - 2 * _EDGE) // _STEP)


def picture(fabric: FabricPlan, scale: Scale) -> str:
    """One design, its tiers at the same heights as those of the others."""
    counts, y, parts = _counts(fabric), 4.0, list[str]()
    for tier in TIERS:
        if not scale.rows[tier]:
            continue
        if counts[tier]:
            parts += _tier(fabric, scale, tier, counts[tier], y)
        y += _HEAD + scale.rows[tier] * _STEP
        kind = BELOW.get(tier)
        if kind is not None:
            if counts[tier]:
                parts += _ribbon(fabric, scale, kind, y)
            y += _BAND
    words = ", ".join(counted(counts[tier], *_NOUNS[tier]) for tier in TIERS if counts[tier])
    return chart("".join(parts), scale.width, y + 4, f"{fabric.name}: {words}", "chart scaled")


def _tier(fabric: FabricPlan, scale: Scale, tier: str, count: int, y: float) -> list[str]:
    models = listed(list(dict.fromkeys(device.model for device in fabric.devices if device.role == tier)), 2)
    name = f"{counted(count, *_NOUNS[tier])} · {models}"
    shown = fit(name, scale.width - 2 * _EDGE, 12.5, bold=True)
    parts = [
        element("text", escape(shown), class_="label", x=scale.width / 2, y=y + 13, font_size=12.5, text_anchor="middle")
    ]
    squares = ceil_div(count, scale.each)
    rows = ceil_div(squares, scale.across)
    across = ceil_div(squares, rows)
    left = (scale.width - across * _STEP + _STEP - _SQUARE) / 2
    path = []
    for at in range(squares):
        row, column = divmod(at, across)
        x, top = left + column * _STEP, y + _HEAD + row * _STEP
        path.append(f"M{number(round(x, 1))} {number(round(top, 1))}h{number(_SQUARE)}v{number(_SQUARE)}h-{number(_SQUARE)}z")
    parts.append(element("path", class_=f"role-{tier}", d="".join(path)))
    return parts


def _ribbon(fabric: FabricPlan, scale: Scale, kind: int, y: float) -> list[str]:
    """A bundle of links, as wide as its bandwidth."""
    gbps = _gbps(fabric, kind)
    if not gbps:
        return []
    width = max(2.0, (scale.width - 2 * _EDGE) * gbps / scale.most_gbps)
    left = (scale.width - width) / 2
    text = totals(fabric, kind)
    area = {"x": round(left, 1), "y": y + 4, "width": round(width, 1), "height": _BAND - 8}
    return [
        element("rect", "", text, class_="ribbon", **area),
        element("text", escape(text), class_="backed", x=scale.width / 2, y=y + 29, font_size=12, text_anchor="middle"),
    ]


def _counts(fabric: FabricPlan) -> dict[str, int]:
    return {tier: sum(device.role == tier for device in fabric.devices) for tier in TIERS}


def _gbps(fabric: FabricPlan, kind: int) -> int:
    kinds = (kind, LEAF_LEAF) if kind == LEAF_SPINE else (kind,)
    return int(fabric.links.speed_gbps[np.isin(fabric.links.kind, kinds)].sum(dtype=np.int64))
