"""How far the estimate is from measured tables, in percent of the measured time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabric.base.text import aligned
from fabric.solver import Floats
from fabric.solver.collectives.band import SIZES as BANDS, within
from fabric.solver.collectives.physics import Physics
from fabric.solver.collectives.reach import band_of
from fabric.solver.collectives.sample import job_of, predicted, relatives, stands_for
from fabric.solver.measured.tables import Table


@dataclass(frozen=True, kw_only=True)
class TableScore:
    """One table: sizes, and estimated over measured time less 1."""

    id: str
    collective: str
    bytes: Floats
    error: Floats
    siblings: bool = True  # False: nothing like it was among the tables of the fit
    notes: tuple[str, ...] = ()
    inside: int = 0  # rows whose measured time lies in the band


@dataclass(frozen=True)
class Score:
    """Every scored table, and why the others are not."""

    tables: tuple[TableScore, ...]
    not_scored: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """The contract's document; all errors in percent."""
        size, error = _joined(self.tables)
        return {
            "rows": len(error),
            "mdape": median(error),
            "inside_band": sum(table.inside for table in self.tables),
            "p90": percentile(error, 90),
            "bands": {name: _of(error[within(size, name)]) for name in BANDS},
            "tables": {
                table.id: {
                    **_of(table.error),
                    "inside_band": table.inside,
                    "bias": round(float(np.median(table.error)) * 100, 2),
                    "bands": {name: _bias(table, name) for name in BANDS},
                    "siblings": table.siblings,
                    "notes": list(table.notes),
                }
                for table in self.tables
            },
            "not_scored": dict(self.not_scored),
        }

    def lines(self) -> list[str]:
        """A row per measured table: rows, median error, and signed median error by band of message sizes."""
        out = ["signed medians by message size: + is estimated too slow", ""]
        related = [table for table in self.tables if table.siblings]
        others = [table for table in self.tables if not table.siblings]
        out += table_lines(related)
        if others:
            out += ["", "without a similar table in the fit, predicted from the nearest ones", *table_lines(others)]
        out += [f"note: {table.id}: {text}" for table in self.tables for text in table.notes]
        if self.tables:
            out += ["", *_totals("tables with a similar one in the fit" if others else "all tables", related)]
            out += _totals("all tables", self.tables) if others else []
        return [*out, *(f"not scored: {name}: {reason}" for name, reason in sorted(self.not_scored.items()))]


def score(tables: Sequence[Table], parameters: Physics) -> Score:
    """Compares the estimate with measured tables."""
    return Score(
        tuple(score_table(table, parameters) for table in tables if table.scored_rows),
        {table.id: table.why_not or "no rows" for table in tables if not table.scored_rows},
    )


def score_table(table: Table, parameters: Physics, siblings: bool = True) -> TableScore:
    """One table."""
    measured = np.array([row.time_us for row in table.scored_rows])
    sizes = np.array([row.bytes for row in table.scored_rows], dtype=np.float64)
    estimated, ran = predicted(table, parameters), table.platform
    low, high = band_of(job_of(table), parameters, ran.algorithm, ran.protocol)
    inside = int(np.sum((measured >= low * estimated) & (measured <= high * estimated)))
    notes = (*relatives(table), *stands_for(table, parameters))
    error = estimated / measured - 1
    return TableScore(
        id=table.id, collective=table.collective, bytes=sizes, error=error, siblings=siblings, notes=notes, inside=inside
    )


def median(error: Floats) -> float:
    """Median absolute error in percent; `error`: [rows], (predicted - measured) / measured."""
    return percentile(error, 50)


def percentile(error: Floats, share: float) -> float:
    """Percentile (`share` from 0 to 100) of the absolute error, in percent; 0 without rows."""
    return round(float(np.percentile(np.abs(error), share)) * 100, 2) if len(error) else 0.0


def _joined(tables: Sequence[TableScore]) -> tuple[Floats, Floats]:
    empty = np.empty(0)
    return (
        np.concatenate([table.bytes for table in tables] or [empty]),
        np.concatenate([table.error for table in tables] or [empty]),
    )


def _of(error: Floats) -> dict[str, Any]:
    return {"rows": len(error), "mdape": median(error) if len(error) else None}


def _bias(table: TableScore, band: str) -> float | None:
    some = table.error[within(table.bytes, band)]
    return round(float(np.median(some)) * 100, 1) if len(some) else None


def table_lines(tables: Sequence[TableScore]) -> list[str]:
    """A row per table."""
    head = ("table", "collective", "rows", "median", *BANDS)
    rows = [
        (
            table.id,
            table.collective,
            f"{len(table.error):,}",
            f"{median(table.error):.1f} %",
            *(_signed(_bias(table, band)) for band in BANDS),
        )
        for table in tables
    ]
    return aligned(rows, "<<" + ">" * (2 + len(BANDS)), head=head) if rows else []


def _signed(value: float | None) -> str:
    return "." if value is None else f"{value:+.0f} %"


def _totals(title: str, tables: Sequence[TableScore]) -> list[str]:
    size, error = _joined(tables)
    bands = ", ".join(f"{name} {median(error[within(size, name)]):.1f} %" for name in BANDS)
    return [
        f"{title}: {len(error)} rows, median {median(error):.1f} %, 90th percentile {percentile(error, 90):.1f} %; {bands}"
    ]
