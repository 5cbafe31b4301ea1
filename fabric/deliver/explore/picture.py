"""The designs of a sweep as a picture: two objectives as axes, the third as the size of a dot, the front named."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabric.base.formats import INK, PAPER, RULE, SOFT, Box, Canvas, document, element, label, number, text_width
from fabric.base.formats.palette import SERIES
from fabric.deliver.explore.measure import Figures
from fabric.deliver.explore.report import SweepResult, design_name, title
from fabric.deliver.explore.request import OF_JOB, PRICED, Objective

# --- names beside the dots ------------------------------------------------------------------------------------

SIZE = 11.5
_HIGH, _AWAY, _NEAR = 15.0, 5.0, 12.0  # of a line; from a dot to its name; dots that are nearer share a name


@dataclass(frozen=True)
class Dot:
    """A dot that wants a name: the long form where there is room for it, else its number."""

    x: float
    y: float
    radius: float
    number: str
    name: str


@dataclass(frozen=True)
class Name:
    """A name at its place; `y` is the baseline."""

    x: float
    y: float
    text: str
    anchor: str


def names(dots: Sequence[Dot], room: Box) -> list[Name]:
    """A name for every dot, the first before the others. Dots on one another get one name of all their numbers."""
    taken = [Box(dot.x - dot.radius, dot.y - dot.radius, 2 * dot.radius, 2 * dot.radius) for dot in dots]
    placed = []
    for group in _together(dots):
        first, numbers = group[0], ", ".join(dot.number for dot in group)
        forms = [f"{numbers} {first.name}" if first.name else numbers, numbers]
        name, box = next(
            ((name, box) for form in forms for name, box in _places(first, form) if _free(box, taken, room)),
            next(_places(first, numbers)),
        )
        taken.append(box)
        placed.append(name)
    return placed


def _together(dots: Sequence[Dot]) -> list[list[Dot]]:
    groups: list[list[Dot]] = []
    for dot in dots:
        near = next((group for group in groups if math.dist((group[0].x, group[0].y), (dot.x, dot.y)) < _NEAR), None)
        if near is None:
            groups.append([dot])
        else:
            near.append(dot)
    return groups


def _places(dot: Dot, text: str) -> Iterator[tuple[Name, Box]]:
    """Beside, above and below a dot, nearest first; with the rectangle that the text covers."""
    wide, away = text_width(text, SIZE, True), dot.radius + _AWAY
    spots = [(away * 0.7, -away * 0.7 - 4, "start"), (away, 4.0, "start"), (away * 0.7, away * 0.7 + 10, "start")]
    spots += [(-across, down, "end") for across, down, _ in spots]
    spots += [(0.0, -away - 3, "middle"), (0.0, away + 11, "middle")]
    spots += [(across, down + step, anchor) for step in (-18, 20, -36, 38) for across, down, anchor in spots[:6]]
    for across, down, anchor in spots:
        x, y = dot.x + across, dot.y + down
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        yield Name(round(x, 1), round(y, 1), text, anchor), Box(left - 2, y - SIZE, wide + 4, _HIGH)


def _free(box: Box, taken: Sequence[Box], room: Box) -> bool:
    inside = box.x >= room.x and box.right <= room.right and box.y >= room.y and box.bottom <= room.bottom
    return inside and not any(
        box.x < other.right and other.x < box.right and box.y < other.bottom and other.y < box.bottom for other in taken
    )


# --- picture --------------------------------------------------------------------------------------------------

WIDTH, HEIGHT = 900.0, 560.0
PLOT = Box(84, 64, 780, 420)
FRONT, REST = SERIES[0].light, RULE
ROOM = Box(PLOT.x, PLOT.y - 8, WIDTH - PLOT.x - 8, PLOT.h + 4)  # for names of dots
_SMALL, _LARGE = 3.5, 13.0  # radius of the dot of the least and the most of the third objective


def picture(result: SweepResult) -> str:
    """A whole SVG document. Designs with an unknown figure on an axis are left out, and counted."""
    axes = _axes(result.objectives)
    canvas = Canvas()
    canvas.rect(Box(0, 0, WIDTH, HEIGHT), PAPER, radius=0)
    canvas.text(20, 34, title(result), size=17, bold=True, room=WIDTH - 40)
    body = [canvas.body()]
    if axes is None:
        body.append(_text(WIDTH / 2, HEIGHT / 2, "no design has values for two objectives", "middle"))
        return _document(body, "no designs")
    shown = _Scales.of(result, axes)
    body += [*shown.grid(result.currency), *shown.dots(result), _legend(result, axes, shown.left_out)]
    return _document(body, f"{axes[1].name} against {axes[0].name}")


def _axes(objectives: Sequence[Objective]) -> tuple[Objective, Objective, Objective | None] | None:
    """What is across, up, and the size of dots: the time that differs the most from design to design goes up."""
    if len(objectives) < 2:
        return None
    by_name = {item.name: item for item in objectives}
    up = by_name.get("goodput") or by_name.get("alltoall") or by_name.get("time") or objectives[-1]
    others = [item for item in objectives if item is not up]
    return others[0], up, others[1] if len(others) > 1 else None


class _Scales:
    """Where figures lie on the paper."""

    def __init__(
        self, axes: tuple[Objective, Objective, Objective | None], points: list[tuple[int, Figures]], all_: int
    ) -> None:
        self.x, self.y, self.third = axes
        self.points = points
        self.left_out = all_ - len(points)
        self.left, self.right = self._ends(self.x)
        self.bottom, self.top = self._ends(self.y)
        thirds = [self._of(self.third, f) for _, f in points if self.third and self.third.of(f) is not None]
        self.most = max(thirds, default=0.0)

    @classmethod
    def of(cls, found: SweepResult, axes: tuple[Objective, Objective, Objective | None]) -> _Scales:
        built = [(at, item.figures) for at, item in enumerate(found.outcomes) if item.figures is not None]
        points = [(at, f) for at, f in built if axes[0].of(f) is not None and axes[1].of(f) is not None]
        return cls(axes, points, len(built))

    def _ends(self, objective: Objective) -> tuple[float, float]:
        """Round numbers; axes of a training job begin near the best design, as all others are within a few percent."""
        values = [self._of(objective, figures) for _, figures in self.points] or [1.0]
        low, high = min(values), max(values)
        if objective.name not in OF_JOB or low < high / 2:
            return 0.0, _nice(high * 1.04)
        span = max(high - low, 0.02 * high)
        step = _nice(span * 1.1 / 4)
        first = math.floor((low - 0.02 * span) / step) * step
        return first, first + 5 * step

    @staticmethod
    def _of(objective: Objective, figures: Figures) -> float:
        return float(objective.of(figures) or 0.0)

    def place(self, figures: Figures) -> tuple[float, float]:
        across = (self._of(self.x, figures) - self.left) / (self.right - self.left)
        up = (self._of(self.y, figures) - self.bottom) / (self.top - self.bottom)
        return PLOT.x + across * PLOT.w, PLOT.bottom - up * PLOT.h

    def radius(self, figures: Figures) -> float:
        """Areas are in the ratio of the figures."""
        if self.third is None or not self.most or self.hollow(figures):
            return 5.0
        return _SMALL + (_LARGE - _SMALL) * math.sqrt(self._of(self.third, figures) / self.most)

    def hollow(self, figures: Figures) -> bool:
        """Whether its size says nothing, because the figure is not known."""
        return self.third is not None and self.third.of(figures) is None

    def grid(self, currency: str) -> list[str]:
        parts: list[str] = []
        for step in range(6):
            x, y = PLOT.x + PLOT.w * step / 5, PLOT.bottom - PLOT.h * step / 5
            parts.extend(
                (
                    _line(x, PLOT.y, x, PLOT.bottom),
                    _line(PLOT.x, y, PLOT.right, y),
                    _text(x, PLOT.bottom + 18, _tick(self.left + (self.right - self.left) * step / 5), "middle"),
                    _text(PLOT.x - 8, y + 4, _tick(self.bottom + (self.top - self.bottom) * step / 5), "end"),
                )
            )
        parts.extend(
            (
                _text(PLOT.cx, PLOT.bottom + 40, _title(self.x, currency), "middle", bold=True),
                _text(20, PLOT.y - 10, _title(self.y, currency), "start", bold=True),
            )
        )
        return parts

    def dots(self, result: SweepResult) -> list[str]:
        """The rest pale, then the front with its line of steps and its names; each says its figures under the pointer."""
        parts, front = [], {at: str(rank) for rank, at in enumerate(result.front, 1)}
        for at, figures in self.points:
            if at not in front:
                parts.append(self._dot(result, at, figures, REST, 0.35))
        placed = {at: self.place(figures) for at, figures in self.points if at in front}
        parts.append(_steps(sorted(placed.values())))
        shown = [(at, figures) for at, figures in self.points if at in front]
        parts += [self._dot(result, at, figures, FRONT, 0.85) for at, figures in shown]
        ranked = sorted(shown, key=lambda item: int(front[item[0]]))
        dots = [Dot(*placed[at], self.radius(figures), front[at], design_name(result, at)) for at, figures in ranked]
        named = [
            label(name.x, name.y, name.text, SIZE, fill=INK, anchor=name.anchor, bold=True) for name in names(dots, ROOM)
        ]
        return [*parts, *named]

    def _dot(self, found: SweepResult, at: int, figures: Figures, colour: str, opacity: float) -> str:
        known = ((item, item.of(figures)) for item in found.objectives)
        values = [f"{item.name} {value:,.4g} {item.unit}".rstrip() for item, value in known if value is not None]
        hint = ": ".join(filter(None, (design_name(found, at), ", ".join(values))))
        return _dot(*self.place(figures), self.radius(figures), colour, opacity, self.hollow(figures), hint=hint)


def _steps(points: Sequence[tuple[float, float]]) -> str:
    """The border of what can be had with the two axes alone: down in steps from left to right."""
    path: list[str] = []
    best = float("-inf")
    for x, y in points:
        if y > best:  # further down the page is less
            path.append(f"M{number(x)} {number(y)}" if not path else f"H{number(x)}V{number(y)}")
            best = y
    look = {"fill": "none", "stroke": FRONT, "stroke_width": 1.5, "stroke_dasharray": "4 3"}
    return element("path", d="".join(path), **look) if path else ""


def _legend(result: SweepResult, axes: tuple[Objective, Objective, Objective | None], left_out: int) -> str:
    words = ["named: Pareto-optimal, numbered as in the table"]
    if cannot := len(result.outcomes) - len(result.built):
        words.append(f"{cannot:,} cannot be built")
    if axes[2] is not None:
        words.append(f"size of a dot: {axes[2].name}, hollow if unknown")
    if further := [item.name for item in result.objectives if item not in axes]:
        words.append(f"other objectives: {', '.join(further)}")
    if left_out:
        words.append(f"{left_out:,} omitted, {axes[0].name} or {axes[1].name} unknown")
    return _text(20, HEIGHT - 14, " · ".join(words), "start")


def _title(objective: Objective, currency: str) -> str:
    unit = f"{currency} {objective.unit}".strip() if objective.name in PRICED else objective.unit
    return f"{objective.name}, {unit}" if unit else objective.name


def _nice(rough: float) -> float:
    """A round number not below `rough`, that five steps divide into round numbers."""
    if rough <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10) if times * power >= rough * 0.999)


def _tick(value: float) -> str:
    for unit, sign in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= unit:
            return f"{value / (1e3 if sign == 'k' else unit):,.4g}{sign}"
    return f"{value:,.4g}"


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    path = f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}"
    return element("path", d=path, stroke=RULE, stroke_opacity=0.35)


def _dot(x: float, y: float, radius: float, colour: str, opacity: float, hollow: bool, *, hint: str) -> str:
    look: dict[str, object] = {"fill": colour, "fill_opacity": opacity, "stroke": PAPER}
    if hollow:
        look = {"fill": PAPER, "fill_opacity": 0.6, "stroke": colour, "stroke_width": 1.5}
    return element("circle", "", hint, cx=round(x, 1), cy=round(y, 1), r=round(radius, 1), **look)


def _text(x: float, y: float, text: str, anchor: str, bold: bool = False) -> str:
    return label(round(x, 1), round(y, 1), text, fill=INK if bold else SOFT, anchor=anchor, bold=bold)


def _document(body: Sequence[str], name: str) -> str:
    return document("\n".join([element("title", name), *filter(None, body)]), WIDTH, HEIGHT, "designs")
