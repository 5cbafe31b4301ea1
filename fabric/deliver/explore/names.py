"""Names beside the dots of a picture: each where it covers no other name, no dot on the front and no border."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabric.base.formats import Box, text_width

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
