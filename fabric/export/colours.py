"""Colours of a picture: dark enough for white figures on them, and on white paper in a dark page."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.plan import ATTACHED, CORE, LEAF, SERVER, SPINE


@dataclass(frozen=True)
class Tone:
    """One colour: as a line or a filled square, and as the ground of a box."""

    line: str
    ground: str


NEUTRAL = Tone("#52627a", "#e6ebf2")
SERVERS = Tone("#7a8797", "#ffffff")
PLANES = (
    Tone("#1d5fc4", "#dbe8fd"),
    Tone("#b4500c", "#fde8d3"),
    Tone("#1e7a4a", "#d9f2e3"),
    Tone("#7c3aad", "#eedffa"),
)
RAILS = ("#1b6ca8", "#b4501a", "#2e7a35", "#8e3b9e", "#a8323e", "#00707a", "#6f5d00", "#4a4fb5")
RAIL_GROUND = "#eef1f5"
ROLES = {
    CORE: Tone("#7c3aad", "#eedffa"),
    SPINE: Tone("#b4500c", "#fde8d3"),
    LEAF: Tone("#1d5fc4", "#dbe8fd"),
    SERVER: SERVERS,
    ATTACHED: Tone("#52627a", "#ffffff"),
}
GOOD, BUSY = Tone("#1c6b3c", "#dcf3e4"), Tone("#8a4b00", "#fdebcf")


def rail_colour(rail: int) -> str:
    """Of a leaf or network of this rail; without a rail the neutral one."""
    return RAILS[rail % len(RAILS)] if rail >= 0 else NEUTRAL.line


def plane_tone(plane: int, planes: int) -> Tone:
    """Of a plane where there are several."""
    return PLANES[plane % len(PLANES)] if planes > 1 else NEUTRAL
