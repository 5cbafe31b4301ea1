"""The result of a cross-validation as lines and as one JSON document, and how well the band that is fitted covers it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from fabric.base.text import aligned
from fabric.solver import Floats
from fabric.solver.collective import FAMILIES
from fabric.solver.collectives import band
from fabric.solver.collectives.band import SIZES, Band, percentile, within
from fabric.solver.collectives.calibrate import USUAL_ROWS
from fabric.solver.collectives.score import Score, TableScore, table_lines
from fabric.solver.collectives.validation import SCALE_RANKS, Predicted, by_source, figures, total_line, weight_of_rows

# --- the band, fitted to predictions of tables that the parameters had not seen -------------------------------


def fitted_band(predictions: Sequence[Predicted], slow: Mapping[str, float] = band.SLOW) -> Band:
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
        slow,
    )


@dataclass(frozen=True)
class Banded:
    """A prediction with the band of errors on other sources, by fits that did not see its own."""

    item: Predicted
    low: Floats  # over the predicted time
    high: Floats
    slow: Floats

    @property
    def inside(self) -> Floats:
        """1 where the measured time lies inside of the band."""
        ratio = self.item.measured_us / self.item.time_us
        return ((ratio >= self.low) & (ratio <= self.high)).astype(np.float64)


def banded(
    predictions: Sequence[Predicted], errors: Sequence[Predicted], slow: Mapping[str, float] = band.SLOW
) -> list[Banded]:
    """Each prediction, with a band that never saw its source: from the errors on other sources of fits without it.

    Args:
        found: predictions, each by a fit without its source.
        errors: predictions of the split `pairs`.
        slow: percentiles of the most that a healthy run takes.
    """
    out = []
    for name in sorted({item.source for item in predictions}):
        others = [item for item in errors if name in item.unseen and item.source != name]
        if others:
            made = fitted_band(others, slow)
            out += [_banded(item, made) for item in predictions if item.source == name]
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
    return Banded(item, part.low[mask], part.high[mask], part.slow[mask])


# --- lines and document ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Validation:
    """Tables predicted by parameters that did not see them.

    Attributes:
        split: what was left out, one of `validation.SPLITS`.
        found: predictions.
        not_scored: table → reason.
        errors: predictions of the split `pairs`, which the bands of the split `source` are fitted to.
    """

    split: str
    found: tuple[Predicted, ...]
    not_scored: Mapping[str, str]
    errors: tuple[Predicted, ...] = ()

    @property
    def banded(self) -> list[Banded]:
        """Predictions with their bands."""
        return banded(self.found, self.errors)

    def lines(self) -> list[str]:
        """A row per table or per source left out, totals, and for sources the coverage of the bands."""
        if self.split in ("kind", "scale"):
            out = left_out_lines(self.found)
        else:
            scores = [_score(item) for item in self.found if item.is_known]
            other = [_score(item) for item in self.found if not item.is_known]
            out = ["signed medians by message size: + is estimated too slow", "", *table_lines(scores)]
            if other:
                out += ["", "no other source has this GPU generation, transport and collective together", *table_lines(other)]
            out += ["", *totals(self.found)]
        if self.split == "source" and (bands := self.banded):
            out += ["", *band_lines(bands)]
        return [*out, *(f"not scored: {name}: {reason}" for name, reason in sorted(self.not_scored.items()))]

    def as_dict(self) -> dict[str, Any]:
        """The document of `fabric model score --json`, with totals whose sources are limited to a tenth of the weight."""
        document = Score(tuple(_score(item) for item in self.found), self.not_scored).as_dict()
        document["split"] = self.split
        document["known_kinds"] = figures([item for item in self.found if item.is_known])
        document["all_kinds"] = figures(self.found)
        medians = by_source(self.found)
        document["left_out"] = [
            {"left_out": name, "source": source, "mdape": value} for (name, source), value in medians.items()
        ]
        if self.split == "source":
            document["coverage"] = {name: band_figures(part) for name, part in parts(self.banded).items()}
        return document


def _score(item: Predicted) -> TableScore:
    return TableScore(
        id=item.table.id, collective=item.table.collective, bytes=item.bytes, error=item.error, siblings=item.is_known
    )


def totals(found: Sequence[Predicted]) -> list[str]:
    """Totals of known kinds and of all."""
    known = [item for item in found if item.is_known]
    out = [total_line("known kinds", known)] if known else []
    return [*out, total_line("all kinds", found), "no source has more than a tenth of the weight of a total"]


def left_out_lines(predictions: Sequence[Predicted]) -> list[str]:
    """The median error of each source in each fit, and the median of these."""
    medians = by_source(predictions)
    rows = [(name, source, f"{value:.1f} %") for (name, source), value in medians.items()]
    out = aligned(rows, "<<>", head=("left out", "source", "median"))
    if not rows:
        return ["no table is above the scale that is left out"]
    out += ["", f"median of the medians of {len(rows)} sources: {median(medians.values()):.1f} %"]
    plain = by_source([item for item in predictions if item.kind.transport != "slingshot"])
    if plain and len(plain) < len(medians):
        out.append(f"without Slingshot, {len(plain)} sources: {median(plain.values()):.1f} %")
    return out


def band_lines(rows_with_band: Sequence[Banded]) -> list[str]:
    """Coverage of the bands, each fitted without the source that it is applied to."""
    rows = []
    for name, part in parts(rows_with_band).items():
        part_figures = band_figures(part)
        if part_figures["rows"]:
            rows.append(
                (name, f"{part_figures['rows']:,}", f"{part_figures['coverage']:.1f} %", f"{part_figures['ratio']:.2f}")
            )
    banded_score, constant = interval_scores(rows_with_band)
    return [
        "band from the 10th to the 90th percentile, from the errors of fits that did not see the source",
        *aligned(rows, "<>>>", head=("rows of", "rows", "inside the band", "p90 / p10")),
        f"interval score {banded_score:.2f}, of a band of constant width {constant:.2f} (less is better)",
    ]
