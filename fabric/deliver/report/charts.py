"""Charts of the report as SVG: no colour of their own, the page's style sheet gives each class one.

A chart is as wide as the page. Labels that would touch are left out; every bar shows its value under the pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from fabric.base.formats import chart, element, end_that_fits, number, text_width
from fabric.deliver.report.spread import BIN, TierSpread
from fabric.solver import Floats

WIDE = 1200.0
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 580.0, 220.0, 62.0, 46.0, 12.0
_ROW, _BAR, _HEAD, _AIR, _VALUE = 26.0, 15.0, 48.0, 10.0, 62.0
_SIZE = 12.5


@dataclass(frozen=True)
class Panel:
    """Bars side by side with those of other panels: a title over its own axis."""

    title: str
    axis: str  # what is measured, with its unit
    fill: str  # class of its bars
    shares: Sequence[float]
    texts: Sequence[str]  # the value as it is written behind each bar


def histogram(tier: TierSpread) -> str:
    """Shares of a tier's links by load: hashed and sprayed side by side."""
    count = max(len(tier.hashed), round(1.5 / BIN))  # at least up to a bit more than full
    step = (_WIDTH - _LEFT - 8) / count
    floor, room = _HEIGHT - _BOTTOM, _HEIGHT - _BOTTOM - _TOP
    lines = "".join(
        f"M{number(_LEFT)} {number(floor - part * room)}H{number(_WIDTH - 8)}" for part in (0, 0.25, 0.5, 0.75, 1)
    )
    full = _LEFT + (round(1 / BIN) + 0.5) * step
    parts = [element("path", class_="grid", d=lines)]
    parts.append(element("path", class_="full", d=f"M{number(full)} {number(_TOP)}V{number(floor)}"))
    parts += [_text(_LEFT - 6, floor - part * room + 4, f"{100 * part:g} %", "end") for part in (0, 0.5, 1)]
    for row, (columns, name, how) in enumerate(((tier.hashed, "fill-1", "as routed"), (tier.sprayed, "fill-2", "spraying"))):
        for column, share in enumerate(columns.tolist()):
            if share:
                x, height = _LEFT + (column + 0.1 + 0.4 * row) * step, max(1.0, share * room)
                hint = f"{how}: {100 * share:.1f} % of the links are about {100 * BIN * column:.0f} % loaded"
                parts.append(_bar(name, x, floor - height, step * 0.4, height, hint))
    labels = [(_LEFT + (column + 0.5) * step, f"{100 * BIN * column:.0f} %") for column in range(count)]
    parts += [_text(x, floor + 16, text, "middle") for x, text in _clear(labels)]
    parts.append(_text((_LEFT + _WIDTH) / 2, floor + 36, "load, in percent of the link's capacity", "middle"))
    parts.append(_upright(14, (_TOP + floor) / 2, "share of links"))
    caption = f"{tier.name}: {_load_range(tier.hashed)} as routed, {_load_range(tier.sprayed)} by spraying"
    return chart("".join(parts), _WIDTH, _HEIGHT, caption)


def panels(names: Sequence[str], shown: Sequence[Panel], caption: str, most: float = 0.0) -> str:
    """A row of bars a name, one in each panel; every panel has a scale of its own, unless `most` is that of all."""
    words = min(400.0, max((text_width(name, _SIZE) for name in names), default=0.0) + 14)
    each = (WIDE - words) / len(shown) - _AIR
    height = _HEAD + _ROW * len(names) + 6
    parts = []
    for row, name in enumerate(names):
        y = _HEAD + row * _ROW + _BAR / 2 + 4
        parts.append(_text(words - 10, y, end_that_fits(name, words - 14, _SIZE), "end"))
    for at, panel in enumerate(shown):
        parts += _panel(panel, words + at * (each + _AIR), each, names, height, most)
    return chart("".join(parts), WIDE, height, caption)


def bars(rows: Sequence[tuple[str, float, str]], caption: str) -> str:
    """A bar for each (name, value, text behind it), the longest as wide as the chart."""
    words = min(400.0, max((text_width(name, _SIZE) for name, _, _ in rows), default=0.0) + 14)
    room = WIDE - words - max((text_width(text, _SIZE) for _, _, text in rows), default=0.0) - 14
    most = max((value for _, value, _ in rows), default=0.0) or 1.0
    parts: list[str] = []
    for row, (name, value, text) in enumerate(rows):
        y, length = 4 + row * _ROW, value / most * room
        parts.append(_text(words - 10, y + 12, end_that_fits(name, words - 14, _SIZE), "end"))
        parts.append(_bar("fill-1", words, y, max(1.0, length), _BAR, f"{name}: {text}"))
        parts.append(_text(words + length + 6, y + 12, text, "start"))
    return chart("".join(parts), WIDE, 8 + _ROW * len(rows), caption)


def _panel(panel: Panel, left: float, width: float, names: Sequence[str], height: float, most: float) -> list[str]:
    room, most = width - _VALUE, most or max(panel.shares, default=0.0) or 1.0
    parts = [_text(left, 15, panel.title, "start", "label"), _text(left, 33, panel.axis, "start")]
    parts.append(element("path", class_="grid", d=f"M{number(left)} {number(_HEAD - 6)}V{number(height - 4)}"))
    for row, (name, share, text) in enumerate(zip(names, panel.shares, panel.texts, strict=True)):
        y, length = _HEAD + row * _ROW, share / most * room
        if share > 0:
            parts.append(_bar(panel.fill, left, y, max(1.0, length), _BAR, f"{name}: {panel.title.lower()} {text}"))
        parts.append(_text(left + length + 6, y + 12, text, "start"))
    return parts


def _clear(labels: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Every n-th label, with the least n that keeps them apart."""
    widest = max(text_width(text, _SIZE) for _, text in labels) + 10
    step = (labels[1][0] - labels[0][0]) if len(labels) > 1 else widest
    every = next(n for n in (1, 2, 4, 8, 16, 32, 64) if n * step >= widest or n == 64)
    return list(labels[::every])


def _load_range(columns: Floats) -> str:
    """The range of loads as text."""
    used = [at for at, share in enumerate(columns.tolist()) if share]
    low, high = (100 * BIN * used[0], 100 * BIN * used[-1]) if used else (0.0, 0.0)
    return f"{low:.0f} %" if low == high else f"{low:.0f} to {high:.0f} %"


def _bar(name: str, x: float, y: float, width: float, height: float, hint: str) -> str:
    area = {"x": _at(x), "y": _at(y), "width": _at(width), "height": _at(height)}
    return element("rect", "", hint, class_=name, **area)


def _text(x: float, y: float, text: str, anchor: str, kind: str = "soft") -> str:
    place = {"text_anchor": anchor}  # also at the start
    return element("text", escape(text), class_=kind, x=_at(x), y=_at(y), font_size=_SIZE, **place)


def _upright(x: float, y: float, text: str) -> str:
    """The name of an axis, from bottom to top."""
    turn = f"rotate(-90 {number(x)} {number(y)})"
    return element("text", escape(text), class_="soft", x=x, y=y, font_size=_SIZE, text_anchor="middle", transform=turn)


def _at(value: float) -> float:
    return round(value, 1)
