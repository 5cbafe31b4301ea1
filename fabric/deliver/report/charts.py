"""Charts of the report as SVG: no colour of their own, the page's style sheet gives each class one.

A chart is as wide as the page. Labels that would touch are left out; every bar shows its value under the pointer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from fabric.base.formats import chart, element, end_that_fits, number, text_width
from fabric.base.text import duration, percent
from fabric.deliver.report.loads import BIN, TierSpread
from fabric.solver import Floats
from fabric.solver.goodput.goodput import Goodput

WIDE = 1200.0
_SHEET = re.compile(r"<style>.*?</style>\n?", re.DOTALL)
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 580.0, 220.0, 62.0, 46.0, 12.0
_ROW, _BAR, _HEAD, _AIR, _VALUE = 26.0, 15.0, 48.0, 10.0, 62.0
_SIZE = 12.5


def without_sheet(svg: str) -> str:
    """A picture without its style sheet, for a page that has one."""
    return _SHEET.sub("", svg, count=1)


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


# --- useful time by the interval between two checkpoints ------------------------------------------------------

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900.0, 300.0, 56.0, 16.0, 14.0, 44.0
POINTS = 120
STEPS = (
    1,
    2,
    5,
    10,
    20,
    30,
    60,
    120,
    300,
    600,
    1200,
    1800,
    3600,
    7200,
    14400,
    28800,
    86400,
    172800,
    604800,
    2592000,
    31557600,
)
SERIES = 6


def intervals(jobs: Sequence[tuple[str, Goodput]]) -> str:
    """A chart; (name, job), the name empty for a single one."""
    spans = [(job.saving.curve[0][0], job.saving.curve[-1][0]) for _, job in jobs]
    low, high = min(span[0] for span in spans), max(max(span[1] for span in spans), 2 * min(span[0] for span in spans))
    curves = [_curve(job, *span) for (_, job), span in zip(jobs, spans, strict=True)]
    floor = max(0.0, math.floor(20 * min(share for curve in curves for _, share in curve)) / 20)
    axes = _Axes(low, high, min(floor, 0.95))
    parts = axes.grid()
    for at, (curve, (name, job)) in enumerate(zip(curves, jobs, strict=True)):
        number_ = at % SERIES + 1
        path = "".join(f"{'L' if row else 'M'}{number(axes.x(x))} {number(axes.y(y))}" for row, (x, y) in enumerate(curve))
        parts.append(element("path", class_=f"line line-{number_}", d=path))
        parts += _mark(axes, job, name, number_, at, len(jobs))
    return chart("".join(parts), WIDTH, HEIGHT, _caption(jobs))


def _curve(job: Goodput, low: float, high: float) -> list[tuple[float, float]]:
    found = np.geomspace(low, max(high, low * 1.001), POINTS).tolist()
    return [(interval, job.useful_at(interval)) for interval in found]


def _mark(axes: _Axes, job: Goodput, name: str, series: int, row: int, rows: int) -> list[str]:
    """The best interval, and its words beside each other where there are several."""
    best = min(max(job.saving.best_s, job.saving.curve[0][0]), job.saving.curve[-1][0])
    share = job.useful_at(best)
    words = f"{name + ': ' if name else ''}{percent(share)} at {duration(best * 1e3)}"
    place = (axes.x(best), axes.y(share))
    parts = [element("circle", "", words, class_=f"fill-{series} mark", cx=_at(place[0]), cy=_at(place[1]), r=5)]
    if rows == 1:
        parts.append(_mark_text(place[0], place[1] + 22, f"best: {words}", "middle"))
        return parts
    at = HEIGHT - BOTTOM - 12 - 18 * (rows - 1 - row)
    x = axes.x(math.sqrt(axes.low * axes.high)) - 120
    parts.append(element("rect", class_=f"fill-{series}", x=_at(x), y=_at(at - 9), width=14, height=10))
    parts.append(_mark_text(x + 20, at, words, "start"))
    return parts


class _Axes:
    """Intervals are logarithmic; shares run up to 1."""

    def __init__(self, low: float, high: float, floor: float) -> None:
        self.low, self.high, self.floor = low, high, floor

    def x(self, interval: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(interval / self.low) / math.log(self.high / self.low)

    def y(self, share: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share) / (1 - self.floor)

    def grid(self) -> list[str]:
        ticks = [step for step in STEPS if self.low <= step <= self.high]
        ticks = ticks[:: max(1, len(ticks) // 9 + (len(ticks) % 9 > 0))] if len(ticks) > 9 else ticks
        shares = [self.floor + (1 - self.floor) * part / 5 for part in range(6)]
        lines = "".join(f"M{number(LEFT)} {number(self.y(share))}H{number(WIDTH - RIGHT)}" for share in shares)
        lines += "".join(f"M{number(self.x(step))} {number(TOP)}V{number(HEIGHT - BOTTOM)}" for step in ticks)
        parts = [element("path", class_="grid", d=lines)]
        parts += [_mark_text(LEFT - 6, self.y(share) + 4, percent(share), "end") for share in shares]
        parts += [_mark_text(self.x(step), HEIGHT - BOTTOM + 16, duration(step * 1e3), "middle") for step in ticks]
        parts.append(_mark_text((LEFT + WIDTH) / 2, HEIGHT - 8, "interval between two checkpoints", "middle"))
        return parts


def _caption(jobs: Sequence[tuple[str, Goodput]]) -> str:
    best = ", ".join(f"{name + ' ' if name else ''}{duration(job.saving.best_s * 1e3)}" for name, job in jobs)
    return f"Useful time by checkpoint interval; best interval {best}"


def _mark_text(x: float, y: float, text: str, anchor: str) -> str:
    return element("text", escape(text), class_="soft", x=_at(x), y=_at(y), font_size=12, text_anchor=anchor)
