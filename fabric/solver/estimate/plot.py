"""The plot of an estimate as one SVG: busbw by size with its band, the ideal beside it, and what was measured as dots.

Colours follow the reader's light or dark scheme; every rule of the style sheet is under the picture's own id, so that
several pictures can stand in one page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import Literal

from fabric.base.formats import FONT, document, element, fit, label, number, text_width
from fabric.base.formats.palette import BASE, SERIES
from fabric.base.text import plural, printable, size as size_words
from fabric.solver.collective import COLLECTIVES
from fabric.solver.estimate.estimate import Estimate
from fabric.solver.measured.tables import Table

Style = Literal["line", "dashed", "dots"]
Point = tuple[float, float]

WIDTH, HEIGHT = 900.0, 470.0
_LEFT, _TOP, _BOTTOM, _EDGE = 64.0, 72.0, 58.0, 20.0
_LABEL_ROOM, _LABEL_SIZE, _LABEL_STEP, _LEADER = 230.0, 12.5, 17.0, 42.0
_TICK_ROOM = 56.0  # between two ticks of the x axis
_MARKED = 12  # a line of no more points than this shows each of them


@dataclass(frozen=True, slots=True)
class Series:
    """One line or cloud of dots: (bytes, GB/s) points. `colour` counts from 0; series of one colour belong together."""

    label: str
    points: tuple[Point, ...]
    style: Style = "line"  # predicted; dashed: ideal; dots: measured
    colour: int | None = None  # default: its position among the series
    band: tuple[tuple[float, float, float], ...] = ()  # (bytes, lowest, highest GB/s): an area behind the line


def busbw_svg(title: str, series: Sequence[Series], x_label: str = "message size", width: float = WIDTH) -> str:
    """The picture, a whole SVG document. Points without a size or that are not finite are left out."""
    drawn = [_clean(item, position) for position, item in enumerate(series)]
    drawn = [item for item in drawn if item.points]
    frame = _Frame.around(drawn, width)
    areas = [_area(item, frame) for item in drawn]
    parts = [_grid(frame, x_label), *areas, *(_shape(item, frame) for item in drawn), _labels(drawn, frame)]
    if not drawn:
        parts.append(_text((frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2, "no rows", 14, "soft", "middle"))
    # The name is a digest of what is shown: numbers are rounded, so that it does not depend on the last digit.
    about = _described(drawn)
    name = "busbw-" + sha256("\n".join([title, x_label, about, *parts]).encode()).hexdigest()[:8]
    head = [
        element("title", escape(printable(title, " ")), id=f"{name}-title"),
        element("desc", escape(about), id=f"{name}-desc"),
        element("style", _sheet(name, drawn)),
        element("rect", class_="paper", width=width, height=frame.height, rx=12),
        _text(_EDGE, 32, fit(printable(title, " "), width - 2 * _EDGE, 17, True), 17, "ink", bold=True),
    ]
    body = "\n".join([*head, *filter(None, parts)])
    return document(body, width, frame.height, name, escape(FONT), aria_labelledby=f"{name}-title {name}-desc")


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """The axes: where they are, and what they span."""

    height: float
    right: float
    low: float  # log2 of the smallest size
    high: float
    most: float  # GB/s at the top
    step: float  # GB/s between grid lines
    label_room: float  # for the longest name of a line
    left: float = _LEFT
    top: float = _TOP

    @classmethod
    def around(cls, series: Sequence[Series], width: float) -> _Frame:
        points = [point for item in series for point in item.points]
        points += [(size, high) for item in series for size, _, high in item.band]
        logs = [math.log2(size) for size, _ in points] or [10.0, 20.0]
        low, high = min(logs), max(logs)
        if high - low < 1:  # one size, or nearly
            low, high = math.floor(low) - 1, math.ceil(high) + 1
        step = _nice(max((rate for _, rate in points), default=1.0) * 1.02 / 5)
        top = step * math.ceil(max((rate for _, rate in points), default=1.0) * 1.02 / step)
        most = _LABEL_ROOM * width / WIDTH
        room = max((text_width(_label(item, most), _LABEL_SIZE) for item in series), default=0.0)
        height = max(HEIGHT, _TOP + _BOTTOM + _LABEL_STEP * len(series))
        right = width - _EDGE - _LEADER - min(room, most)
        return cls(height=height, right=right, low=low, high=high, most=top or 1.0, step=step, label_room=most)

    @property
    def bottom(self) -> float:
        return self.height - _BOTTOM

    def x(self, size: float) -> float:
        return self.left + 8 + (math.log2(size) - self.low) / (self.high - self.low) * (self.right - self.left - 16)

    def y(self, rate: float) -> float:
        return self.bottom - rate / self.most * (self.bottom - self.top)


def _nice(rough: float) -> float:
    """1, 2 or 5 times a power of ten, not below `rough`."""
    if rough <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= rough * 0.999)


def _clean(item: Series, at: int) -> Series:
    points = sorted({p for p in item.points if p[0] >= 1 and all(map(math.isfinite, p)) and p[1] >= 0})
    band = sorted({p for p in item.band if p[0] >= 1 and all(map(math.isfinite, p)) and p[1] >= 0})
    colour = at if item.colour is None else item.colour
    return Series(printable(item.label, " "), tuple(points), item.style, colour % len(SERIES), tuple(band))


def _label(item: Series, room: float) -> str:
    return fit(item.label, room, _LABEL_SIZE)


def _grid(frame: _Frame, x_label: str) -> str:
    """Grid lines with their figures, and what the axes are."""
    lines, parts = [], []
    count = round(frame.most / frame.step)
    for tick in range(count + 1):
        y = frame.y(tick * frame.step)
        lines.append(f"M{_at(frame.left)} {_at(y)}H{_at(frame.right)}")
        parts.append(_text(frame.left - 8, y + 4, f"{tick * frame.step:g}", 12, "soft", "end"))
    spacing = (frame.right - frame.left) / max(1.0, frame.high - frame.low)
    every = next(step for step in (1, 2, 5, 10, 20, 40, 80) if step * spacing >= _TICK_ROOM or step == 80)
    for power in range(math.ceil(frame.low / every - 1e-9) * every, math.floor(frame.high + 1e-9) + 1, every):
        x = frame.x(2.0**power)
        lines.append(f"M{_at(x)} {_at(frame.top)}V{_at(frame.bottom + 5)}")
        parts.append(_text(x, frame.bottom + 20, size_words(2.0**power), 12, "soft", "middle"))
    middle = (frame.left + frame.right) / 2
    parts.extend(
        (
            _text(middle, frame.bottom + 42, fit(printable(x_label, " "), frame.right, 12.5), 12.5, "soft", "middle"),
            _text(_EDGE, 53, "bus bandwidth, GB/s", 12.5, "soft"),
        )
    )
    return "\n".join([element("path", class_="grid", d="".join(lines)), *parts])


def _area(item: Series, frame: _Frame) -> str:
    """The band of a line, from its lowest to its highest values."""
    if len(item.band) < 2:
        return ""
    high = [f"{_at(frame.x(size))} {_at(frame.y(most))}" for size, _, most in item.band]
    low = [f"{_at(frame.x(size))} {_at(frame.y(least))}" for size, least, _ in reversed(item.band)]
    return element("polygon", class_=f"area f{item.colour}", points=" ".join([*high, *low]))


def _shape(item: Series, frame: _Frame) -> str:
    """A line, or dots that name their figures when the pointer rests on them."""
    places = [(frame.x(size), frame.y(rate)) for size, rate in item.points]
    line = ""
    if item.style != "dots" and len(places) > 1:
        path = "L".join(f"{_at(x)} {_at(y)}" for x, y in places)
        line = element("path", class_=f"{item.style} c{item.colour}", d=f"M{path}")
    if line and item.style == "dashed":
        return line
    radius = 3.6 if item.style == "dots" else 2.6
    draw = _spot if line and len(places) > _MARKED else _dot
    dots = (
        draw(item, x, y, radius, f"{item.label}, {size_words(size)}: {rate:.4g} GB/s")
        for (x, y), (size, rate) in zip(places, item.points, strict=True)
    )
    return "\n".join([*filter(None, [line]), *dots])


def _labels(series: Sequence[Series], frame: _Frame) -> str:
    """Every series' name beside its last point, pushed apart where ends are close, with a thin line to the end."""
    ends = sorted(
        ((frame.y(item.points[-1][1]), colour) for colour, item in enumerate(series)),
        key=lambda end: (end[0], series[end[1]].style == "dots", end[1]),
    )
    heights = _apart([y for y, _ in ends], frame.top + 4, frame.bottom)
    parts: list[str] = []
    for (end, colour), y in zip(ends, heights, strict=True):
        item = series[colour]
        from_x = frame.x(item.points[-1][0]) + 5
        elbow = frame.right + 4
        path = f"M{_at(from_x)} {_at(end)}H{_at(elbow)}L{_at(elbow + 10)} {_at(y)}"
        parts.extend(
            (
                element("path", class_=f"leader c{item.colour}", d=path),
                _sample(item, elbow + 12, y),
                _text(elbow + 34, y + 4, _label(item, frame.label_room), _LABEL_SIZE, f"f{item.colour}"),
            )
        )
    return "\n".join(parts)


def _sample(item: Series, x: float, y: float) -> str:
    """How the series is drawn, in front of its name."""
    if item.style == "dots":
        return _dot(item, x + 9, y, 3.6)
    return element("path", class_=f"{item.style} c{item.colour}", d=f"M{_at(x)} {_at(y)}h18")


def _dot(item: Series, x: float, y: float, radius: float, hint: str = "") -> str:
    return element("circle", "", hint, class_=f"dot f{item.colour}", cx=_at(x), cy=_at(y), r=radius)


def _spot(item: Series, x: float, y: float, radius: float, hint: str) -> str:
    """A dot that is not seen and says its figures when the pointer rests on it."""
    return element("circle", "", hint, class_="spot", cx=_at(x), cy=_at(y), r=3 * radius)


def _apart(wanted: Sequence[float], low: float, high: float) -> list[float]:
    """Heights in the order of `wanted`, each at least a line from the next and as near to what is wanted as one
    pass down and one up bring them."""
    placed: list[float] = []
    for y in wanted:
        placed.append(max(y, placed[-1] + _LABEL_STEP) if placed else max(y, low))
    limit = high
    for at in range(len(placed) - 1, -1, -1):
        placed[at] = min(placed[at], limit)
        limit = placed[at] - _LABEL_STEP
    return placed


def _text(x: float, y: float, text: str, size: float, kind: str, anchor: str = "start", *, bold: bool = False) -> str:
    return label(round(x, 1), round(y, 1), text, size, kind=kind, anchor=anchor, bold=bold)


def _at(value: float) -> str:
    return number(round(value, 1))


def _described(series: Sequence[Series]) -> str:
    """The picture in words."""
    sentences = []
    for item in series:
        first, last, best = item.points[0], item.points[-1], max(item.points, key=lambda point: point[1])
        sizes = size_words(first[0]) if len(item.points) == 1 else f"{size_words(first[0])} to {size_words(last[0])}"
        sentences.append(
            f"{item.label}: {plural(len(item.points), 'size')}, {sizes}, at most {best[1]:.4g} GB/s at {size_words(best[0])}."
        )
    return " ".join(sentences) or "No rows."


def _sheet(name: str, series: Sequence[Series]) -> str:
    """Rules for the light scheme and the dark one, of the colours in use."""
    used = sorted({item.colour or 0 for item in series})

    def colours(dark: bool) -> str:
        names = ("paper", "ink", "soft", "rule")
        paper, ink, soft, grid = (BASE[kind].dark if dark else BASE[kind].light for kind in names)
        tones = [colour.dark if dark else colour.light for colour in SERIES]
        rules = [(".paper", f"fill:{paper}"), (".ink", f"fill:{ink}"), (".soft", f"fill:{soft}"), (".grid", f"stroke:{grid}")]
        rules += [(f".c{colour}", f"stroke:{tones[colour]}") for colour in used] + [
            (f".f{colour}", f"fill:{tones[colour]}") for colour in used
        ]
        rules += [(".dot", f"stroke:{paper}")]
        return "".join(f"#{name} {selector}{{{rule}}}" for selector, rule in rules)

    shapes = (
        f"#{name} path{{fill:none}}#{name} .grid{{stroke-width:1}}#{name} .line{{stroke-width:2.2;stroke-linejoin:round}}"
        f"#{name} .dashed{{stroke-width:1.6;stroke-dasharray:6 4}}#{name} .leader{{stroke-width:.8;stroke-opacity:.6}}"
        f"#{name} .area{{fill-opacity:.15;stroke:none}}#{name} .spot{{fill-opacity:0}}"
    )
    return f"{shapes}{colours(False)}@media (prefers-color-scheme:dark){{{colours(True)}}}"


# --- the plot of an estimate ----------------------------------------------------------------------------------


def picture(estimates: Sequence[tuple[Estimate, Estimate | None]], tables: Sequence[Table] = (), width: float = WIDTH) -> str:
    """A whole SVG document: each placement, the same before its failures, one ideal line, and measured tables."""
    first = estimates[0][0]
    several = len(estimates) > 1
    series = []
    for index, (now, before) in enumerate(estimates):
        name = now.placement.name if several else "estimated"
        band = _band(now) if not several else ()
        series.append(Series(name + (", failed" if before else ""), _points(now), colour=index, band=band))
        if before is not None:
            series.append(
                Series(f"{name}, healthy" if several else "healthy", _points(before), colour=len(estimates) + index)
            )
    factor = COLLECTIVES[first.job.collective].busbw(first.placement.gpus)
    ideal = tuple((float(row.bytes), row.bytes / row.ideal_time_us / 1e3 * factor) for row in first.rows)
    series.append(Series("ideal: line rate", ideal, style="dashed", colour=7))
    for index, table in enumerate(tables):
        dots = tuple((float(row.bytes), row.busbw_GBps) for row in table.rows)
        series.append(Series(f"measured: {table.id}", dots, style="dots", colour=4 + index))
    title = f"{first.job.collective} on {first.placement.gpus:,} GPUs of {first.supply.net.fabric.name}"
    return busbw_svg(title, series, width=width)


def _points(found: Estimate) -> tuple[tuple[float, float], ...]:
    return tuple((float(row.bytes), row.busbw_GBps) for row in found.rows)


def _band(found: Estimate) -> tuple[tuple[float, float, float], ...]:
    """(bytes, busbw at p90, busbw at p10) of every size."""
    return tuple(
        (float(row.bytes), row.busbw_GBps * row.time_us / row.p90_us, row.busbw_GBps * row.time_us / row.p10_us)
        for row in found.rows
    )
