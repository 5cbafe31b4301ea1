"""What estimates are worth: tables predicted by parameters that never saw their source, their kind, or their scale.

source: each repository or report is left out in turn.
kind:   each GPU generation, transport and number of GPUs per server is left out in turn.
scale:  tables of more than SCALE_RANKS ranks are predicted from the smaller ones.
points: as source, then the platform is calibrated with three rows of the table; the other rows are predicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fabric.solver import Floats
from fabric.solver.collectives import band
from fabric.solver.collectives.band import SIZES, Band, features, percentile, within
from fabric.solver.collectives.coverage import FAMILIES, Coverage, Kind, coverage, origin
from fabric.solver.collectives.fitting import fit, table_weights
from fabric.solver.collectives.physics import Physics, first
from fabric.solver.collectives.sample import kinds_of, predicted
from fabric.solver.measured.tables import Row, Table

SPLITS = ("source", "kind", "scale", "points")
SCALE_RANKS = 128
MOST_WEIGHT = 0.1  # of all rows that one source may have in a total
POINTS = (8, 8 << 20, 1 << 30)  # bytes of the rows that stand for a quick measurement
SPLIT_WEIGHT = {"source": 1.0, "kind": 0.3, "scale": 0.5}  # of the errors of a split in the fit of the band
USUAL_ROWS = 20


class Left(NamedTuple):
    """One fit: what was left out of it, the tables that it saw, and those that it predicts."""

    split: str
    name: str
    train: tuple[Table, ...]
    test: tuple[Table, ...]


@dataclass(frozen=True)
class Predicted:
    """A table, predicted by parameters that did not see it."""

    split: str
    name: str  # of what was left out
    table: Table
    kind: Kind
    bytes: Floats
    time_us: Floats  # predicted
    measured_us: Floats
    known: Coverage  # of the tables that were seen

    @property
    def source(self) -> str:
        return origin(self.table.source)

    @property
    def error(self) -> Floats:
        """predicted / measured - 1, by row."""
        return self.time_us / self.measured_us - 1

    @property
    def is_known(self) -> bool:
        """Whether another source has this GPU generation, transport and family together."""
        return self.known.sources(self.kind) > 0

    @property
    def columns(self) -> dict[str, Floats]:
        """Features of the band."""
        return features(self.kind, self.bytes, self.table.platform.ranks, self.known)


def left(tables: Sequence[Table], beside: Sequence[Table] = (), split: str = "source") -> Iterator[Left]:
    """Every fit of a split; `beside` are tables that are seen, but never predicted."""
    scored = [table for table in tables if table.scored_rows]
    every = [*scored, *(table for table in beside if table.scored_rows)]
    if split == "scale":
        large = tuple(table for table in scored if table.platform.ranks > SCALE_RANKS)
        yield Left(split, f"above {SCALE_RANKS} GPUs", tuple(t for t in every if t.platform.ranks <= SCALE_RANKS), large)
        return
    groups: dict[str, list[Table]] = {}
    for table in scored:
        for name in _names(table, split):
            groups.setdefault(name, []).append(table)
    for name, test in sorted(groups.items()):
        yield Left(split, name, tuple(table for table in every if name not in _names(table, split)), tuple(test))


def _names(table: Table, split: str) -> tuple[str, ...]:
    """The groups of a split that a table belongs to."""
    if split != "kind":
        return (origin(table.source),)
    kind = kinds_of(table)
    network = () if kind.transport == "none" else (kind.transport,)
    return (kind.generation, *network, f"{table.platform.gpus_per_node} GPUs per server")


def predict(task: Left) -> list[Predicted]:
    """Fits the parameters and predicts the tables that were left out."""
    if not task.test or not task.train:
        return []
    weights = table_weights(task.train)
    parameters = fit(task.train, first(), weights=weights)
    if task.split == "points":
        return [item for table in task.test if (item := _with_points(table, parameters, task)) is not None]
    return [_predicted(table, parameters, task) for table in task.test]


def _predicted(table: Table, parameters: Physics, task: Left) -> Predicted:
    rows = table.scored_rows
    sizes = np.array([row.bytes for row in rows], dtype=np.float64)
    measured = np.array([row.time_us for row in rows])
    return Predicted(
        task.split, task.name, table, kinds_of(table), sizes, predicted(table, parameters), measured, parameters.coverage
    )


def _with_points(table: Table, parameters: Physics, task: Left) -> Predicted | None:
    """The rows of a table other than the three that the platform is calibrated with; None for no other rows."""
    from dataclasses import replace

    from fabric.solver.collectives.calibrate import calibrated

    points = three_points(table.scored_rows)
    rest = tuple(row for row in table.scored_rows if row not in points)
    if not rest:
        return None
    own = calibrated([replace(table, rows=points)], parameters)
    return _predicted(replace(table, rows=rest), own, task)


def three_points(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows nearest to POINTS."""
    found = {min(rows, key=lambda row: abs(np.log(row.bytes / size))) for size in POINTS}
    return tuple(sorted(found, key=lambda row: row.bytes))


# --- bands ------------------------------------------------------------------------------------------------------


def fitted_band(found: Sequence[Predicted]) -> Band:
    """The band of predictions of any splits."""
    columns = [item.columns for item in found]
    names = list(columns[0])
    rows: dict[str, int] = {}
    for item in found:
        rows[item.source] = rows.get(item.source, 0) + len(item.bytes)
    weight = np.concatenate(
        [np.full(len(item.bytes), (USUAL_ROWS / rows[item.source]) ** 0.5 * SPLIT_WEIGHT[item.split]) for item in found]
    )
    return band.fit(
        {name: np.concatenate([part[name] for part in columns]) for name in names},
        np.concatenate([item.bytes for item in found]),
        np.concatenate([np.log(item.measured_us / item.time_us) for item in found]),
        weight,
    )


@dataclass(frozen=True)
class Banded:
    """A prediction with the band of errors on all other sources."""

    item: Predicted
    low: Floats  # over the predicted time
    high: Floats

    @property
    def inside(self) -> Floats:
        """1 where the measured time lies inside of the band."""
        ratio = self.item.measured_us / self.item.time_us
        return ((ratio >= self.low) & (ratio <= self.high)).astype(np.float64)


def banded(found: Sequence[Predicted]) -> list[Banded]:
    """Each prediction of the split `source`, with a band that was fitted without its source."""
    out = []
    for name in sorted({item.source for item in found}):
        made = fitted_band([item for item in found if item.source != name])
        for item in found:
            if item.source == name and item.split == "source":
                out.append(Banded(item, *made.factors(item.kind, item.bytes, item.table.platform.ranks, item.known)))
    return out


# --- figures ----------------------------------------------------------------------------------------------------


def row_weights(found: Sequence[Predicted]) -> dict[str, float]:
    """Weight of a row by source: rows count alike, but no source has more than MOST_WEIGHT of the total."""
    rows: dict[str, float] = {}
    for item in found:
        rows[item.source] = rows.get(item.source, 0) + len(item.bytes)
    capped: set[str] = set()
    while True:
        free = sum(count for name, count in rows.items() if name not in capped)
        share = 1 - MOST_WEIGHT * len(capped)
        if share <= 0 or not free:
            return {name: 1 / count for name, count in rows.items()}  # too few sources for the limit
        new = {name for name in rows if name not in capped and rows[name] * share > MOST_WEIGHT * free * (1 + 1e-9)}
        if not new:
            return {name: (MOST_WEIGHT * free / share / count if name in capped else 1.0) for name, count in rows.items()}
        capped |= new


def figures(found: Sequence[Predicted]) -> dict[str, Any]:
    """Rows, sources, median and 90th percentile of the absolute error in percent, and the median of each size range."""
    if not found:
        return {"rows": 0, "sources": 0, "mdape": None, "p90": None, "bands": dict.fromkeys(SIZES)}
    weights = row_weights(found)
    error = np.concatenate([np.abs(item.error) for item in found])
    sizes = np.concatenate([item.bytes for item in found])
    weight = np.concatenate([np.full(len(item.bytes), weights[item.source]) for item in found])
    return {
        "rows": len(error),
        "sources": len({item.source for item in found}),
        "mdape": _percent(error, weight, 0.5),
        "p90": _percent(error, weight, 0.9),
        "bands": {
            name: _percent(error[mask], weight[mask], 0.5) if (mask := within(sizes, name)).any() else None for name in SIZES
        },
    }


def _percent(error: Floats, weight: Floats, share: float) -> float:
    return round(100 * percentile(error, weight, share), 1)


def by_source(found: Sequence[Predicted]) -> dict[tuple[str, str], float]:
    """(what was left out, source) → median absolute error in percent."""
    groups: dict[tuple[str, str], list[Floats]] = {}
    for item in found:
        groups.setdefault((item.name, item.source), []).append(np.abs(item.error))
    return {key: round(100 * float(np.median(np.concatenate(parts))), 1) for key, parts in sorted(groups.items())}


def band_figures(found: Sequence[Banded]) -> dict[str, Any]:
    """Share of measured times inside of the band, and the median of p90 / p10."""
    if not found:
        return {"rows": 0, "coverage": None, "ratio": None}
    weights = row_weights([item.item for item in found])
    weight = np.concatenate([np.full(len(part.item.bytes), weights[part.item.source]) for part in found])
    ratio = np.concatenate([part.high / part.low for part in found])
    inside = np.concatenate([part.inside for part in found])
    return {
        "rows": len(ratio),
        "coverage": round(100 * float(np.average(inside, weights=weight)), 1),
        "ratio": round(percentile(ratio, weight, 0.5), 2),
    }


def interval_scores(found: Sequence[Banded]) -> tuple[float, float]:
    """Mean interval score of the bands and of one constant band; less is better.

    Gneiting and Raftery 2007, equation 43, of the logarithms.
    """
    weights = row_weights([item.item for item in found])
    weight = np.concatenate([np.full(len(part.item.bytes), weights[part.item.source]) for part in found])
    ratio = np.concatenate([np.log(part.item.measured_us / part.item.time_us) for part in found])
    low, high = (np.log(np.concatenate([getattr(part, end) for part in found])) for end in ("low", "high"))
    constant = percentile(ratio, weight, band.LOW), percentile(ratio, weight, band.HIGH)

    def score(below: Any, above: Any) -> float:
        miss = np.maximum(below - ratio, 0) + np.maximum(ratio - above, 0)
        return float(np.average(above - below + 2 / (2 * band.LOW) * miss, weights=weight))

    return score(low, high), score(*constant)


def parts(found: Sequence[Banded]) -> Mapping[str, list[Banded]]:
    """Banded rows by size range, family and scale: the groups whose coverage is stated."""
    groups: dict[str, list[Banded]] = {"all": list(found)}
    for name in SIZES:
        groups[name] = [_some(part, within(part.item.bytes, name)) for part in found]
    for family in FAMILIES:
        groups[family] = [part for part in found if part.item.kind.family == family]
    groups[f"above {SCALE_RANKS} GPUs"] = [part for part in found if part.item.table.platform.ranks > SCALE_RANKS]
    groups["known kinds"] = [part for part in found if part.item.is_known]
    groups["other kinds"] = [part for part in found if not part.item.is_known]
    return groups


def _some(part: Banded, mask: Any) -> Banded:
    from dataclasses import replace

    item = replace(
        part.item, bytes=part.item.bytes[mask], time_us=part.item.time_us[mask], measured_us=part.item.measured_us[mask]
    )
    return Banded(item, part.low[mask], part.high[mask])


# --- printed ----------------------------------------------------------------------------------------------------


def total_line(title: str, found: Sequence[Predicted]) -> str:
    """Median and 90th percentile of the absolute error, and the median of each size range."""
    made = figures(found)
    bands = ", ".join(f"{name} {value:.1f} %" for name, value in made["bands"].items() if value is not None)
    return (
        f"{title}: {made['rows']:,} rows of {made['sources']} sources, median {made['mdape']:.1f} %, "
        f"90th percentile {made['p90']:.1f} %; {bands}"
    )


def coverage_of(tables: Sequence[Table]) -> Coverage:
    """The kinds of tables, for a platform file."""
    return coverage((kinds_of(table), table) for table in tables if table.scored_rows)
