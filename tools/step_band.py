"""How far published training steps are from their prediction: `python -m tools.step_band docs/ladders/*.yaml`.

The spread of the logarithm of measured over predicted steps, beyond what the band of the collectives has, and how many rows
lie inside the band with the spread of all other sources. Rows with the utilisation of another GPU model have a spread of
their own. Files whose name contains `contrast` are scored as ratios.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from fabric.base.text import aligned, percent
from fabric.model.plan import FabricPlan
from fabric.pipeline import load, plan, score_steps
from fabric.solver.training.ladder import RowScore
from fabric.solver.training.step import NORMAL_P90

KINDS = {False: "same GPU", True: "other GPU"}


@cache
def fabric_of(path: Path) -> FabricPlan:
    return next(iter(plan(load(path)).fabrics.values()))


def rows_of(paths: Sequence[Path]) -> dict[str, list[RowScore]]:
    """Source (the file) → its predicted rows."""
    return {path.stem: list(score_steps(path, fabric_of, "contrast" in path.stem).predictions) for path in paths}


def of_kind(groups: Mapping[str, Sequence[RowScore]], transferred: bool) -> dict[str, list[RowScore]]:
    """The rows of one kind; sources without any are left out."""
    found = {source: [row for row in rows if row.transferred == transferred] for source, rows in groups.items()}
    return {source: rows for source, rows in found.items() if rows}


def network(row: RowScore, side: float) -> float:
    """Logarithm of a percentile over the middle without the spread that is in the band now."""
    return math.sqrt(max(0.0, math.log(side / row.predicted) ** 2 - (NORMAL_P90 * row.spread) ** 2))


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
    """One row per kind and source: the spread of the others, and how many rows of it are inside."""
    cells, sums = [], []
    for transferred, kind in KINDS.items():
        sources, count = of_kind(groups, transferred), 0
        for source, rows in sources.items():
            sigma = spread({name: other for name, other in sources.items() if name != source})
            found = sum(inside(row, sigma) for row in rows)
            worst = max((row.error for row in rows), key=abs)
            cells.append((kind, source, str(len(rows)), f"{worst:+.1%}", f"{sigma:.3f}", f"{found} of {len(rows)}"))
            count += found
        total = sum(map(len, sources.values()))
        sums.append(f"{kind}: spread {spread(sources):.3f}; {count} of {total} rows inside ({percent(count / total)})")
    head = ("utilisation of", "source", "rows", "worst", "spread of others", "inside")
    return [*aligned(cells, "<<>>>>", head=head), "", *sums]


def main(paths: Sequence[str]) -> None:
    files = [Path(path) for path in paths if "ladders:" in Path(path).read_text(encoding="utf-8")]
    print("\n".join(lines(rows_of(files))))


if __name__ == "__main__":
    main(sys.argv[1:])
