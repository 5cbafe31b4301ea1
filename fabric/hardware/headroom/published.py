"""Headroom from the tables that SONiC ships: rounded up to a row, never between rows, never below."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fabric.hardware.catalog.asics import Asic, HeadroomTable
from fabric.hardware.headroom.link import LIGHT_M_S, round_up
from fabric.hardware.headroom.spectrum import Terms


@dataclass(frozen=True, slots=True)
class Row:
    """The row that a port takes, and its headroom in bytes."""

    table: HeadroomTable
    speed_gbps: int
    length_m: int
    xoff_bytes: int
    terms: Terms


def row_for(asic: Asic, speed_gbps: int, length_m: int, switch: str = "") -> Row | None:
    """The row of the switch's own table, else of its chip's; None where no table goes up to the speed."""
    table = _table(asic, speed_gbps, switch)
    if table is None:
        return None
    speed = min(listed for listed in table.rows if listed >= speed_gbps)
    row = table.rows[speed]
    longest = max(row)
    length = min((listed for listed in row if listed >= length_m), default=longest)
    terms: Terms = {"table": table.sku, "row_speed_gbps": speed, "row_length_m": length, "row_bytes": row[length]}
    xoff = row[length]
    if length_m > longest:
        slope = _slope(row, speed)
        terms |= {"extra_length_m": length_m - longest, "slope_bytes_per_m": round(slope, 2)}
        extra = round_up(xoff + slope * (length_m - longest), asic.cell_bytes or 1) - xoff
        terms["extrapolated_bytes"] = extra
        xoff += extra
    return Row(table.at(speed), speed, length, xoff, terms)


def _table(asic: Asic, speed_gbps: int, switch: str) -> HeadroomTable | None:
    """One table for a speed, whatever the length, so that a longer cable never takes less.

    Of a switch's SKUs the one with a row of this very speed, else of the next faster; with the most lengths among equals.
    """
    usable = [table for table in asic.tables if table.fastest_gbps >= speed_gbps]
    of_switch = [table for table in usable if switch and switch in table.switches]
    choice = of_switch or [table for table in usable if table.default]

    def fit(table: HeadroomTable) -> tuple[int, int]:
        speed = min(listed for listed in table.rows if listed >= speed_gbps)
        return speed, -len(table.rows[speed])

    return min(choice, key=fit, default=None)


def _slope(row: dict[int, int], speed_gbps: int) -> float:
    """Bytes a metre between the two longest rows; what the cable itself holds where there is but one."""
    if len(row) < 2:
        return 2 * speed_gbps * 1e9 / LIGHT_M_S / 8
    before, last = sorted(row)[-2:]
    return math.fsum((row[last], -row[before])) / (last - before)
