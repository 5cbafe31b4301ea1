"""Where devices stand, when there is a floor plan."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fabric.plan import Plan

Places = Callable[[str], tuple[str, int]]  # device → name of its rack and its lowest height unit; "" and 0: unknown


def places(plan: Plan) -> Places:
    """Rack and height unit by device, from the floor of the plan."""
    if find_spec("fabric.floor") is None:
        return lambda device: ("", 0)
    floor: Any = import_module("fabric.floor.floor").floor(plan)

    def place(device: str) -> tuple[str, int]:
        spot = floor.spots.get(device)
        return ("", 0) if spot is None else (str(floor.racks[spot.rack].name), int(spot.ru))

    return place
