"""The band of estimates, fitted to predictions of tables that the parameters had not seen, and how well it covers them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabric.solver import Floats
from fabric.solver.collective import FAMILIES
from fabric.solver.collectives import band
from fabric.solver.collectives.band import SIZES, Band, percentile, within
from fabric.solver.collectives.fitting import USUAL_ROWS
from fabric.solver.collectives.validation import SCALE_RANKS, Predicted, weight_of_rows


def fitted_band(predictions: Sequence[Predicted]) -> Band:
    """The band of predictions. A table may be predicted by several fits; its rows then share their weight."""
    columns = [item.columns for item in predictions]
    names = list(columns[0])
    rows: dict[str, int] = {}
    fits = Counter((item.source, item.table.id) for item in predictions)
    for item in {(item.source, item.table.id): item for item in predictions}.values():
        rows[item.source] = rows.get(item.source, 0) + len(item.bytes)
    weight = np.concatenate(
        [
            np.full(len(item.bytes), (USUAL_ROWS / rows[item.source]) ** 0.5 / fits[item.source, item.table.id])
            for item in predictions
        ]
    )
    return band.fit(
        {name: np.concatenate([part[name] for part in columns]) for name in names},
        np.concatenate([item.bytes for item in predictions]),
        np.concatenate([np.log(item.measured_us / item.time_us) for item in predictions]),
        weight,
    )


@dataclass(frozen=True)
class Banded:
    """A prediction with the band of errors on other sources, by fits that did not see its own."""

    item: Predicted
    low: Floats  # over the predicted time
    high: Floats

    @property
    def inside(self) -> Floats:
        """1 where the measured time lies inside of the band."""
        ratio = self.item.measured_us / self.item.time_us
        return ((ratio >= self.low) & (ratio <= self.high)).astype(np.float64)


def banded(predictions: Sequence[Predicted], errors: Sequence[Predicted]) -> list[Banded]:
    """Each prediction, with a band that never saw its source: from the errors on other sources of fits without it.

    Args:
        found: predictions, each by a fit without its source.
        errors: predictions of the split `pairs`.
    """
    out = []
    for name in sorted({item.source for item in predictions}):
        others = [item for item in errors if name in item.unseen and item.source != name]
        if others:
            band = fitted_band(others)
            out += [_banded(item, band) for item in predictions if item.source == name]
    return out


def _banded(item: Predicted, made: Band) -> Banded:
    stated = item.table.platform
    return Banded(item, *made.factors(item.kind, item.bytes, stated.ranks, stated.domain_ranks, item.known))


def band_figures(rows: Sequence[Banded]) -> dict[str, Any]:
    """Share of measured times inside of the band, and the median of p90 / p10."""
    if not rows:
        return {"rows": 0, "coverage": None, "ratio": None}
    weight = weight_of_rows([part.item for part in rows])
    ratio = np.concatenate([part.high / part.low for part in rows])
    inside = np.concatenate([part.inside for part in rows])
    return {
        "rows": len(ratio),
        "coverage": round(100 * float(np.average(inside, weights=weight)), 1),
        "ratio": round(percentile(ratio, weight, 0.5), 2),
    }


def interval_scores(rows: Sequence[Banded]) -> tuple[float, float]:
    """Mean interval score of the bands and of one constant band; less is better.

    Gneiting and Raftery 2007, equation 43, of the logarithms.
    """
    weight = weight_of_rows([part.item for part in rows])
    ratio = np.concatenate([np.log(part.item.measured_us / part.item.time_us) for part in rows])
    low, high = (np.log(np.concatenate([getattr(part, end) for part in rows])) for end in ("low", "high"))
    constant = percentile(ratio, weight, band.LOW), percentile(ratio, weight, band.HIGH)

    def score(below: Any, above: Any) -> float:
        miss = np.maximum(below - ratio, 0) + np.maximum(ratio - above, 0)
        return float(np.average(above - below + 2 / (2 * band.LOW) * miss, weights=weight))

    return score(low, high), score(*constant)


def parts(rows: Sequence[Banded]) -> Mapping[str, list[Banded]]:
    """Banded rows by size range, family and scale: the groups whose coverage is stated."""
    groups: dict[str, list[Banded]] = {"all": list(rows)}
    for name in SIZES:
        groups[name] = [_some(part, within(part.item.bytes, name)) for part in rows]
    for family in FAMILIES:
        groups[family] = [part for part in rows if part.item.kind.family == family]
    groups[f"above {SCALE_RANKS} GPUs"] = [part for part in rows if part.item.table.platform.ranks > SCALE_RANKS]
    groups["known kinds"] = [part for part in rows if part.item.is_known]
    groups["other kinds"] = [part for part in rows if not part.item.is_known]
    return groups


def _some(part: Banded, mask: Any) -> Banded:
    item = replace(
        part.item, bytes=part.item.bytes[mask], time_us=part.item.time_us[mask], measured_us=part.item.measured_us[mask]
    )
    return Banded(item, part.low[mask], part.high[mask])
