"""The result of a cross-validation as lines and as one JSON document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from fabric.base.text import aligned
from fabric.solver.collectives.band_validation import Banded, band_figures, banded, interval_scores, parts
from fabric.solver.collectives.score import Score, TableScore, table_lines
from fabric.solver.collectives.validation import Predicted, by_source, figures, total_line


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
        """The document of `fabric score --json`, with totals whose sources are limited to a tenth of the weight."""
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
