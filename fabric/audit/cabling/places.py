"""Where devices stand, when there is a floor plan."""

from __future__ import annotations

from collections.abc import Callable

from fabric.design.floor.floor import floor
from fabric.model.plan import Plan

Places = Callable[[str], tuple[str, int]]  # device → name of its rack and its lowest height unit; "" and 0: unknown


def places(plan: Plan) -> Places:
    """Rack and height unit by device, from the floor of the plan."""
    where = floor(plan)

    def place(device: str) -> tuple[str, int]:
        spot = where.spots.get(device)
        return ("", 0) if spot is None else (where.racks[spot.rack].name, spot.ru)

    return place
