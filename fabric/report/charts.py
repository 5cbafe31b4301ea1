"""Charts of the report as SVG: no colour of their own, the page's style sheet gives each class one."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from fabric.formats import chart, element, fit, number
from fabric.report.spread import BIN, TierSpread
from fabric.rounding import ceil_div
from fabric.solver import Floats

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 420.0, 170.0, 44.0, 40.0, 12.0
_ROW, _BAR, _NAME = 24.0, 14.0, 320.0


def histogram(tier: TierSpread) -> str:
    """Shares of a tier's links by load: hashed and sprayed side by side."""
    count = max(len(tier.hashed), round(1.5 / BIN))  # at least up to a bit more than full
    step = (_WIDTH - _LEFT - 8) / count
    floor, room = _HEIGHT - _BOTTOM, _HEIGHT - _BOTTOM - _TOP
    lines = "".join(
        f"M{number(_LEFT)} {number(floor - part * room)}H{number(_WIDTH - 8)}" for part in (0, 0.25, 0.5, 0.75, 1)
    )
    parts = [element("path", class_="grid", d=lines)]
    parts += [_text(_LEFT - 6, floor - part * room + 4, f"{100 * part:g} %", "end") for part in (0, 0.5, 1)]
    for row, (columns, name) in enumerate(((tier.hashed, "fill-1"), (tier.sprayed, "fill-2"))):
        for column, share in enumerate(columns.tolist()):
            if share:
                x, height = _LEFT + (column + 0.1 + 0.4 * row) * step, max(1.0, share * room)
                hint = f"{100 * share:.1f} % of the links are about {100 * BIN * column:.0f} % loaded"
                parts.append(_bar(name, x, floor - height, step * 0.4, height, hint))
    every = 2 if count <= 16 else 4 * ceil_div(count, 32)
    for column in range(0, count, every):
        parts.append(_text(_LEFT + (column + 0.5) * step, floor + 15, f"{100 * BIN * column:.0f} %", "middle"))
    parts.append(_text((_LEFT + _WIDTH) / 2, floor + 32, "load by capacity", "middle"))
    caption = f"{tier.name}: {_load_range(tier.hashed)} as routed, {_load_range(tier.sprayed)} by spraying"
    return chart("".join(parts), _WIDTH, _HEIGHT, caption)


def bars(rows: Sequence[tuple[str, float, str]], caption: str) -> str:
    """A bar for each (name, share, what is written behind it), longest 1."""
    room = 900 - _NAME - 210
    most = max((share for _, share, _ in rows), default=0.0) or 1.0
    parts: list[str] = []
    for at, (name, share, text) in enumerate(rows):
        y = 4 + at * _ROW
        parts.extend(
            (
                _text(_NAME - 8, y + 12, fit(name, _NAME - 12, 12), "end"),
                _bar("fill-1", _NAME, y, max(1.0, share / most * room), _BAR, ""),
                _text(_NAME + share / most * room + 8, y + 12, text, "start"),
            )
        )
    return chart("".join(parts), 900, 8 + _ROW * len(rows), caption)


def _load_range(columns: Floats) -> str:
    """The range of loads as text."""
    used = [at for at, share in enumerate(columns.tolist()) if share]
    low, high = (100 * BIN * used[0], 100 * BIN * used[-1]) if used else (0.0, 0.0)
    return f"{low:.0f} %" if low == high else f"{low:.0f} to {high:.0f} %"


def _bar(name: str, x: float, y: float, width: float, height: float, hint: str) -> str:
    area = {"x": _at(x), "y": _at(y), "width": _at(width), "height": _at(height)}
    return element("rect", "", hint, class_=name, **area)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    place = {"text_anchor": anchor}  # also at the start
    return element("text", escape(text), class_="soft", x=_at(x), y=_at(y), font_size=12, **place)


def _at(value: float) -> float:
    return round(value, 1)
