"""Bus bandwidth by size: what is estimated, what line rate would allow, and what was measured."""

from __future__ import annotations

import re

from fabric.base.text import size
from fabric.deliver.report.charts import WIDE
from fabric.deliver.report.grid import Grid, grid
from fabric.deliver.report.study import SIZES, Study
from fabric.solver.collective import COLLECTIVES
from fabric.solver.estimate.plot import picture

_SUCH = ", such as "
_SHEET = re.compile(r"<style>.*?</style>\n?", re.DOTALL)


def curve_svg(study: Study) -> str:
    """The chart of `fabric estimate --plot`; its colours come from the page."""
    return _SHEET.sub("", picture([study.curve], study.request.measured, WIDE), count=1).strip()


def curve_grid(study: Study) -> Grid:
    """Every second size of the chart and the one asked for, as `fabric estimate` prints them."""
    now, before = study.curve
    healthy = {row.bytes: row for row in before.rows} if before else {}
    factor = COLLECTIVES[study.request.collective].busbw(now.placement.gpus)
    shown = {*SIZES[::2], study.request.size_bytes}
    rows = [
        (
            size(row.bytes),
            f"{row.algorithm}/{row.protocol}",
            f"{row.time_us:,.1f}",
            f"{row.p10_us:,.1f} to {row.p90_us:,.1f}",
            f"{row.busbw_GBps:,.2f}",
            f"{healthy[row.bytes].busbw_GBps:,.2f}" if healthy else "",
            f"{row.bytes / row.ideal_time_us / 1e3 * factor:,.2f}",
            _limit(row.bottleneck),
        )
        for row in now.rows
        if row.bytes in shown
    ]
    titles = (
        "#size",
        "algorithm",
        "#time, µs",
        "#p10 to p90, µs",
        "#busbw, GB/s",
        "#healthy, GB/s",
        "#ideal, GB/s",
        "limited by",
    )
    example = next((row.bottleneck for row in now.rows if row.bytes in shown and _SUCH in row.bottleneck), "")
    notes = [*now.notes, *([example] if example else [])]
    caption = f"{study.request.collective} on {now.placement.gpus:,} GPUs, by size"
    return grid(caption, titles, rows, "; ".join(notes))


def _limit(bottleneck: str) -> str:
    """What limits a size, without its example: one example stands below the table."""
    return bottleneck.partition(_SUCH)[0]
