"""The route of a cable: up to the tray, along the row, across the rows, and down again; within a rack along its side.

A rack unit is 44.45 mm (EIA-310). Every end is in the middle of its device and takes half a rack's width to the side where
cables run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.model.settings.site import Floor as Geometry

RACK_UNIT_M = 0.04445

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TrayPoint:
    """Devices on the floor, as columns: row and place from 0, and the middle in rack units above the rack's bottom."""

    row: Floats
    place: Floats
    middle: Floats

    def __getitem__(self, at: NDArray[Any]) -> TrayPoint:
        return TrayPoint(self.row[at], self.place[at], self.middle[at])


def length_m(geometry: Geometry, one: TrayPoint, other: TrayPoint) -> Floats:
    """Metres from each device of one column to that of the other, without slack."""
    width = geometry.rack_pitch_m
    inside = width + np.abs(one.middle - other.middle) * RACK_UNIT_M
    rise = (2 * geometry.rack_units - one.middle - other.middle) * RACK_UNIT_M + 2 * geometry.tray_above_m
    along = _along(geometry, one, other) * width
    across = np.abs(one.row - other.row) * geometry.row_pitch_m
    same_rack = (one.row == other.row) & (one.place == other.place)
    result: Floats = np.where(same_rack, inside, width + rise + along + across)
    return result


def with_slack(geometry: Geometry, route_m: Floats) -> Floats:
    """Lengths of cables along routes, slack included, rounded up to whole centimetres."""
    metres = route_m * (1 + geometry.slack_percent / 100) + geometry.slack_m
    result: Floats = np.ceil(np.round(metres * 100, 6)) / 100
    return result


def _along(geometry: Geometry, one: TrayPoint, other: TrayPoint) -> Floats:
    """Racks along the rows. Between two rows the route leads over the cross tray that makes it shortest."""
    direct = np.abs(one.place - other.place)
    if not len(direct) or bool((one.row == other.row).all()):
        return direct
    step, last = geometry.cross_tray_racks, geometry.racks_per_row
    best = np.full(len(direct), np.inf)
    for tray in (*range(0, last, step), last - 1):
        best = np.minimum(best, np.abs(one.place - tray) + np.abs(other.place - tray))
    return np.where(one.row == other.row, direct, best)
