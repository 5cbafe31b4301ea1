"""Colours of cables and their labels: by rail, by plane, else by what they join. The words name the tones of the pictures."""

from __future__ import annotations

from fabric.deliver.export.colours import NEUTRAL, PLANES, RAILS
from fabric.model.plan import ATTACHMENT, LEAF_LEAF, LEAF_SPINE, SERVER_LEAF, SPINE_CORE, Device

RAIL_NAMES = ("blue", "orange", "green", "violet", "red", "teal", "olive", "indigo")
PLANE_NAMES = ("blue", "orange", "green", "violet")
KIND_NAMES = {SERVER_LEAF: "grey", LEAF_LEAF: "green", LEAF_SPINE: "blue", SPINE_CORE: "violet", ATTACHMENT: "orange"}

TONES = {"grey": NEUTRAL.line, **dict(zip(PLANE_NAMES, (tone.line for tone in PLANES), strict=True))}
TONES |= dict(zip(RAIL_NAMES, RAILS, strict=True))


def cable_colour(kind: int, lower: Device, upper: Device, planes: int) -> str:
    """The colour name of a cable between two devices: by the rail of its leaf, else by its plane, else by its kind."""
    leaf = upper if kind in (SERVER_LEAF, ATTACHMENT) else lower
    if leaf.rail >= 0:
        return RAIL_NAMES[leaf.rail % len(RAIL_NAMES)]
    if planes > 1 and leaf.plane >= 0:
        return PLANE_NAMES[leaf.plane % len(PLANE_NAMES)]
    return KIND_NAMES[kind]
