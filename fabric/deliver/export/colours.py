"""Colours of a picture by what they tell: role, plane, rail. The values are those of the palette."""

from __future__ import annotations

from fabric.base.formats import palette
from fabric.base.formats.palette import Tone
from fabric.model.plan import ATTACHED, CORE, LEAF, SERVER, SPINE

__all__ = [
    "BUSY",
    "GOOD",
    "NEUTRAL",
    "PLANES",
    "RAILS",
    "RAIL_GROUND",
    "ROLES",
    "SERVERS",
    "Tone",
    "plane_tone",
    "rail_colour",
]

NEUTRAL = Tone(*(colour.light for colour in palette.NEUTRAL))
PLANES = tuple(Tone(line.light, ground.light) for line, ground in palette.PLANES)
RAILS = tuple(colour.light for colour in palette.RAILS)
RAIL_GROUND = palette.RAIL_GROUND.light
ROLES = {role: palette.role(role) for role in (CORE, SPINE, LEAF, SERVER, ATTACHED)}
SERVERS = ROLES[SERVER]
GOOD, BUSY = (Tone(palette.BASE[name].light, palette.BASE[f"{name}-ground"].light) for name in ("good", "warn"))


def rail_colour(rail: int) -> str:
    """Of a leaf or network of this rail; without a rail the neutral one."""
    return RAILS[rail % len(RAILS)] if rail >= 0 else NEUTRAL.line


def plane_tone(plane: int, planes: int, role: str = "") -> Tone:
    """Of a plane where there are several; else that of the role, or the neutral one."""
    if planes > 1:
        return PLANES[plane % len(PLANES)]
    return ROLES[role] if role else NEUTRAL
