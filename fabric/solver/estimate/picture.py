"""The plot of an estimate: busbw by size with its band, the ideal beside it, and what was measured as dots."""

from __future__ import annotations

from collections.abc import Sequence

from fabric.solver import Series, busbw_svg
from fabric.solver.collective import COLLECTIVES
from fabric.solver.estimate.estimate import Estimate
from fabric.solver.measured.tables import Table
from fabric.solver.plot import WIDTH


def picture(estimates: Sequence[tuple[Estimate, Estimate | None]], tables: Sequence[Table] = (), width: float = WIDTH) -> str:
    """A whole SVG document: each placement, the same before its failures, one ideal line, and measured tables."""
    first = estimates[0][0]
    several = len(estimates) > 1
    series = []
    for number, (now, before) in enumerate(estimates):
        name = now.placement.name if several else "estimated"
        band = _band(now) if not several else ()
        series.append(Series(name + (", failed" if before else ""), _points(now), colour=number, band=band))
        if before is not None:
            series.append(
                Series(f"{name}, healthy" if several else "healthy", _points(before), colour=len(estimates) + number)
            )
    factor = COLLECTIVES[first.job.collective].busbw(first.placement.gpus)
    ideal = tuple((float(row.bytes), row.bytes / row.ideal_time_us / 1e3 * factor) for row in first.rows)
    series.append(Series("ideal: line rate", ideal, style="dashed", colour=7))
    for number, table in enumerate(tables):
        dots = tuple((float(row.bytes), row.busbw_GBps) for row in table.rows)
        series.append(Series(f"measured: {table.id}", dots, style="dots", colour=4 + number))
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
