"""Useful time by the interval between two checkpoints, as SVG: a curve a job, its best interval marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from fabric.base.formats import chart, element, number
from fabric.base.text import duration, percent
from fabric.solver.goodput.goodput import Goodput

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
        parts.append(_text(place[0], place[1] + 22, f"best: {words}", "middle"))
        return parts
    at = HEIGHT - BOTTOM - 12 - 18 * (rows - 1 - row)
    x = axes.x(math.sqrt(axes.low * axes.high)) - 120
    parts.append(element("rect", class_=f"fill-{series}", x=_at(x), y=_at(at - 9), width=14, height=10))
    parts.append(_text(x + 20, at, words, "start"))
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
        parts += [_text(LEFT - 6, self.y(share) + 4, percent(share), "end") for share in shares]
        parts += [_text(self.x(step), HEIGHT - BOTTOM + 16, duration(step * 1e3), "middle") for step in ticks]
        parts.append(_text((LEFT + WIDTH) / 2, HEIGHT - 8, "interval between two checkpoints", "middle"))
        return parts


def _caption(jobs: Sequence[tuple[str, Goodput]]) -> str:
    best = ", ".join(f"{name + ' ' if name else ''}{duration(job.saving.best_s * 1e3)}" for name, job in jobs)
    return f"Useful time by checkpoint interval; best interval {best}"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return element("text", escape(text), class_="soft", x=_at(x), y=_at(y), font_size=12, text_anchor=anchor)


def _at(value: float) -> float:
    return round(value, 1)
