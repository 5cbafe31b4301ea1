"""What estimates are worth: tables predicted by parameters that never saw their source, their kind, or their scale.

source: each repository or report is left out in turn.
kind:   each GPU generation, transport and number of GPUs per server is left out in turn.
scale:  tables of more than SCALE_RANKS ranks are predicted from the smaller ones.
points: as source, then the platform is calibrated with three rows of the table; the other rows are predicted.
pairs:  the sources are dealt into GROUPS, and every two groups are left out together. The band that is scored on a source of
        one group comes from the errors on the other, of fits that saw neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from fabric.solver import Floats
from fabric.solver.collectives.band import SIZES, features, percentile, within
from fabric.solver.collectives.calibrate import calibrated, fit, table_weights
from fabric.solver.collectives.physics import Coverage, Kind, Physics, first, origin
from fabric.solver.collectives.score import kinds_of, predicted
from fabric.solver.measured.tables import Row, Table

SPLITS = ("source", "kind", "scale", "points", "pairs")
GROUPS = 10
SCALE_RANKS = 128
MAX_SOURCE_WEIGHT = 0.1  # largest share of one source in a mean
POINTS = (8, 8 << 20, 1 << 30)  # bytes; the rows of a quick measurement


class HeldOutFit(NamedTuple):
    """One fit: what was left out of it, the tables that it saw, and those that it predicts."""

    split: str
    name: str
    train: tuple[Table, ...]
    test: tuple[Table, ...]

    @property
    def unseen(self) -> frozenset[str]:
        """Sources of which the fit saw no table."""
        seen = {origin(table.source) for table in self.train}
        return frozenset(source for table in self.test if (source := origin(table.source)) not in seen)


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """A table, predicted by parameters that did not see it."""

    split: str
    name: str  # of the source or group that is left out
    table: Table
    kind: Kind
    bytes: Floats
    time_us: Floats  # predicted
    measured_us: Floats
    known: Coverage  # of the tables that were seen
    unseen: frozenset[str] = frozenset()  # sources without a table in the fit

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
        return features(self.kind, self.bytes, self.table.platform.ranks, self.table.platform.domain_ranks, self.known)


def left(tables: Sequence[Table], beside: Sequence[Table] = (), split: str = "source") -> Iterator[HeldOutFit]:
    """Every fit of a split; `beside` are tables that are seen, but never predicted."""
    scored = [table for table in tables if table.scored_rows]
    every = [*scored, *(table for table in beside if table.scored_rows)]
    if split == "scale":
        large = tuple(table for table in scored if table.platform.ranks > SCALE_RANKS)
        yield HeldOutFit(
            split, f"above {SCALE_RANKS} GPUs", tuple(t for t in every if t.platform.ranks <= SCALE_RANKS), large
        )
        return
    if split == "pairs":
        yield from _pairs(scored, every)
        return
    groups: dict[str, list[Table]] = {}
    for table in scored:
        for name in _names(table, split):
            groups.setdefault(name, []).append(table)
    for name, test in sorted(groups.items()):
        yield HeldOutFit(split, name, tuple(table for table in every if name not in _names(table, split)), tuple(test))


def _pairs(scored: Sequence[Table], every: Sequence[Table]) -> Iterator[HeldOutFit]:
    sources = sorted({origin(table.source) for table in scored})
    group = {source: at % GROUPS for at, source in enumerate(sources)}
    for one, two in combinations(range(min(GROUPS, len(sources))), 2):
        out = {source for source in sources if group[source] in (one, two)}
        test = tuple(table for table in scored if origin(table.source) in out)
        yield HeldOutFit("pairs", f"groups {one} and {two}", tuple(t for t in every if origin(t.source) not in out), test)


def _names(table: Table, split: str) -> tuple[str, ...]:
    """The groups of a split that a table belongs to."""
    if split != "kind":
        return (origin(table.source),)
    kind = kinds_of(table)
    network = () if kind.transport == "none" else (kind.transport,)
    return (kind.generation, *network, f"{table.platform.gpus_per_node} GPUs per server")


def predict(task: HeldOutFit) -> list[Predicted]:
    """Fits the parameters and predicts the tables that were left out."""
    if not task.test or not task.train:
        return []
    weights = table_weights(task.train)
    parameters = fit(task.train, first(), weights=weights)
    if task.split == "points":
        return [item for table in task.test if (item := _with_points(table, parameters, task)) is not None]
    return [_predicted(table, parameters, task) for table in task.test]


def _predicted(table: Table, parameters: Physics, task: HeldOutFit) -> Predicted:
    rows = table.scored_rows
    sizes = np.array([row.bytes for row in rows], dtype=np.float64)
    measured = np.array([row.time_us for row in rows])
    return Predicted(
        split=task.split,
        name=task.name,
        table=table,
        kind=kinds_of(table),
        bytes=sizes,
        time_us=predicted(table, parameters),
        measured_us=measured,
        known=parameters.coverage,
        unseen=task.unseen,
    )


def _with_points(table: Table, parameters: Physics, task: HeldOutFit) -> Predicted | None:
    """The rows of a table other than the three that the platform is calibrated with; None for no other rows."""
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


# --- figures ----------------------------------------------------------------------------------------------------


def row_weights(predictions: Sequence[Predicted]) -> dict[str, float]:
    """Weight of a row by source: rows count alike, but no source has more than MAX_SOURCE_WEIGHT of the total."""
    rows: dict[str, float] = {}
    for item in predictions:
        rows[item.source] = rows.get(item.source, 0) + len(item.bytes)
    capped: set[str] = set()
    while True:
        free = sum(count for name, count in rows.items() if name not in capped)
        share = 1 - MAX_SOURCE_WEIGHT * len(capped)
        if share <= 0 or not free:
            return {name: 1 / count for name, count in rows.items()}  # too few sources for the limit
        new = {name for name in rows if name not in capped and rows[name] * share > MAX_SOURCE_WEIGHT * free * (1 + 1e-9)}
        if not new:
            return {
                name: (MAX_SOURCE_WEIGHT * free / share / count if name in capped else 1.0) for name, count in rows.items()
            }
        capped |= new


def weight_of_rows(found: Sequence[Predicted]) -> Floats:
    """`row_weights` for every row of the predictions."""
    weights = row_weights(found)
    return np.concatenate([np.full(len(item.bytes), weights[item.source]) for item in found])


def figures(predictions: Sequence[Predicted]) -> dict[str, Any]:
    """Rows, sources, median and 90th percentile of the absolute error in percent, and the median of each size range."""
    if not predictions:
        return {"rows": 0, "sources": 0, "mdape": None, "p90": None, "bands": dict.fromkeys(SIZES)}
    weight = weight_of_rows(predictions)
    error = np.concatenate([np.abs(item.error) for item in predictions])
    sizes = np.concatenate([item.bytes for item in predictions])
    return {
        "rows": len(error),
        "sources": len({item.source for item in predictions}),
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


def total_line(title: str, found: Sequence[Predicted]) -> str:
    """Median and 90th percentile of the absolute error, and the median of each size range."""
    made = figures(found)
    bands = ", ".join(f"{name} {value:.1f} %" for name, value in made["bands"].items() if value is not None)
    return (
        f"{title}: {made['rows']:,} rows of {made['sources']} sources, median {made['mdape']:.1f} %, "
        f"90th percentile {made['p90']:.1f} %; {bands}"
    )


# --- replicates -----------------------------------------------------------------------------------------------
# How far measured tables of the same kind differ: what no model that knows only the stated platform can be better than.
#
# Each row is predicted from the tables of other sources with the same GPU generation, transport, collective, ranks, NVLink
# domains, NICs and settings: their median, interpolated between sizes on logarithmic axes.


def twins(predictions: Sequence[Predicted]) -> tuple[list[Predicted], list[Predicted]]:
    """(rows that have a twin, predicted from their twins; the same rows as they were predicted)."""
    of_setting: dict[Any, list[Predicted]] = {}
    for item in predictions:
        of_setting.setdefault(_setting(item), []).append(item)
    by_twin, as_predicted = [], []
    for item in predictions:
        others = [other for other in of_setting[_setting(item)] if other.source != item.source]
        expected = _median(others, item.bytes)
        has_twin = ~np.isnan(expected)
        if has_twin.any():
            rows = replace(
                item, bytes=item.bytes[has_twin], time_us=item.time_us[has_twin], measured_us=item.measured_us[has_twin]
            )
            as_predicted.append(rows)
            by_twin.append(replace(rows, time_us=expected[has_twin]))
    return by_twin, as_predicted


def _setting(item: Predicted) -> Any:
    """What two tables must share to be twins."""
    stated = item.table.platform
    nics = stated.nics_per_node * stated.nic_gbps if stated.crosses_network else 0
    one_process = stated.processes.startswith("one for all")
    return item.kind, item.table.collective, stated.ranks, stated.domain_ranks, nics, stated.algorithm, one_process


def _median(others: Sequence[Predicted], sizes: Floats) -> Floats:
    """µs by the other sources, each counted once; not a number for sizes that none of them has measured."""
    by_source: dict[str, list[Floats]] = {}
    for other in others:
        at = np.interp(np.log(sizes), np.log(other.bytes), np.log(other.measured_us), left=np.nan, right=np.nan)
        by_source.setdefault(other.source, []).append(at)
    if not by_source:
        return np.full(len(sizes), np.nan)
    each = np.stack([_mean(np.stack(parts)) for parts in by_source.values()])
    some = ~np.isnan(each).all(axis=0)
    median_us = np.full(len(sizes), np.nan)
    median_us[some] = np.exp(np.nanmedian(each[:, some], axis=0))
    return median_us


def _mean(values: Floats) -> Floats:
    count = (~np.isnan(values)).sum(axis=0)
    mean: Floats = np.where(count > 0, np.nansum(values, axis=0) / np.maximum(count, 1), np.nan)
    return mean
