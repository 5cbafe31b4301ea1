"""How far published training steps are from their prediction: `python -m tools.step_band docs/ladders/*.yaml`.

The spread of the logarithm of measured over predicted steps, beyond what the band of the collectives has, and how many rows
lie inside the band with the spread of all other sources. Files whose name contains `contrast` are scored as ratios.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from fabric.pipeline import load, plan, score_steps
from fabric.plan import FabricPlan
from fabric.solver.training.ladder import RowScore
from fabric.solver.training.step import NORMAL_P90, SPREAD
from fabric.text import aligned, percent


@cache
def fabric_of(path: Path) -> FabricPlan:
    return next(iter(plan(load(path)).fabrics.values()))


def rows_of(paths: Sequence[Path]) -> dict[str, list[RowScore]]:
    """Source (the file) → its predicted rows."""
    return {path.stem: list(score_steps(path, fabric_of, "contrast" in path.stem).predictions) for path in paths}


def network(row: RowScore, side: float) -> float:
    """Logarithm of a percentile over the middle without the spread that is in the band now."""
    return math.sqrt(max(0.0, math.log(side / row.predicted) ** 2 - (NORMAL_P90 * SPREAD) ** 2))


def excess(row: RowScore) -> float:
    """Squared logarithm of measured over predicted, less the variance of the network's band on that side."""
    error = math.log(row.measured / row.predicted)
    return error**2 - (network(row, row.high if error > 0 else row.low) / NORMAL_P90) ** 2


def spread(groups: Mapping[str, Sequence[RowScore]]) -> float:
    """Root of the mean over sources, so that one with many rows counts once."""
    means = [sum(map(excess, rows)) / len(rows) for rows in groups.values()]
    return math.sqrt(max(0.0, sum(means) / len(means)))


def inside(row: RowScore, sigma: float) -> bool:
    """Whether a row lies between the 10th and the 90th percentile with that spread."""
    error = math.log(row.measured / row.predicted)
    return abs(error) <= math.hypot(network(row, row.high if error > 0 else row.low), NORMAL_P90 * sigma)


def lines(groups: Mapping[str, Sequence[RowScore]]) -> list[str]:
    """One row per source: the spread of the others, and how many rows of it are inside."""
    cells, count, total = [], 0, 0
    for source, rows in groups.items():
        sigma = spread({name: other for name, other in groups.items() if name != source})
        found = sum(inside(row, sigma) for row in rows)
        worst = max((row.error for row in rows), key=abs)
        cells.append((source, str(len(rows)), f"{worst:+.1%}", f"{sigma:.3f}", f"{found} of {len(rows)}"))
        count, total = count + found, total + len(rows)
    out = aligned(cells, "<>>>>", head=("source", "rows", "worst", "spread of others", "inside"))
    return [*out, "", f"spread of all {spread(groups):.3f}; {count} of {total} rows inside ({percent(count / total)})"]


def main(paths: Sequence[str]) -> None:
    files = [Path(path) for path in paths if "ladders:" in Path(path).read_text(encoding="utf-8")]
    print("\n".join(lines(rows_of(files))))


if __name__ == "__main__":
    main(sys.argv[1:])
