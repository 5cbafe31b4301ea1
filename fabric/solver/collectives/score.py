"""How far the estimate is from measured tables, in percent of the measured time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabric.solver import Floats
from fabric.solver.collectives.physics import Physics
from fabric.solver.collectives.sample import predicted, relatives, stands_for
from fabric.solver.measured.tables import Table

BANDS: Mapping[str, tuple[float, float]] = {  # above, up to and including, bytes
    "<=64K": (0, 1 << 16),
    "64K-8M": (1 << 16, 1 << 23),
    "8M-256M": (1 << 23, 1 << 28),
    ">256M": (1 << 28, np.inf),
}


@dataclass(frozen=True)
class TableScore:
    """One table: sizes, and estimated over measured time less 1."""

    id: str
    collective: str
    bytes: Floats
    error: Floats
    siblings: bool = True  # False: nothing like it was among the tables of the fit
    notes: tuple[str, ...] = ()


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
            "p90": percentile(error, 90),
            "bands": {name: _of(error[within(size, name)]) for name in BANDS},
            "tables": {
                table.id: {
                    **_of(table.error),
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
        """A line a table: rows, median error, and by band of sizes the median with its sign."""
        out = [f"{'table':46}{'collective':16}{'rows':>5}{'median':>9}" + "".join(f"{name:>9}" for name in BANDS)]
        out[0] += "   signed medians: + is estimated too slow"
        for siblings in (True, False):
            some = [table for table in self.tables if table.siblings is siblings]
            if some and not siblings:
                out += ["", "without a like in the fit, predicted from the nearest relatives"]
            for table in some:
                signed = "".join(f"{_signed(_bias(table, name)):>9}" for name in BANDS)
                out.append(f"{table.id[:45]:46}{table.collective:16}{len(table.error):5}{median(table.error):8.1f}%{signed}")
                out += [f"  note: {text}" for text in table.notes]
        with_like = [table for table in self.tables if table.siblings]
        if self.tables:
            out += ["", *_totals("all tables" if len(with_like) == len(self.tables) else "tables with a like", with_like)]
            if len(with_like) < len(self.tables):
                out += _totals("all tables", self.tables)
        return [*out, *(f"not scored: {name}: {reason}" for name, reason in sorted(self.not_scored.items()))]


def score(tables: Sequence[Table], parameters: Physics) -> Score:
    """Holds parameters against tables."""
    return Score(
        tuple(score_table(table, parameters) for table in tables if table.scored_rows),
        {table.id: table.why_not or "no rows" for table in tables if not table.scored_rows},
    )


def score_table(table: Table, parameters: Physics, siblings: bool = True) -> TableScore:
    """One table."""
    measured = np.array([row.time_us for row in table.scored_rows])
    sizes = np.array([row.bytes for row in table.scored_rows], dtype=np.float64)
    error = predicted(table, parameters) / measured - 1
    return TableScore(table.id, table.collective, sizes, error, siblings, (*relatives(table), *stands_for(table, parameters)))


def within(size: Floats, band: str) -> Any:
    low, high = BANDS[band]
    return (size > low) & (size <= high)


def median(error: Floats) -> float:
    """Median absolute error in percent."""
    return percentile(error, 50)


def percentile(error: Floats, share: float) -> float:
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


def _signed(value: float | None) -> str:
    return "." if value is None else f"{value:+.0f}%"


def _totals(title: str, tables: Sequence[TableScore]) -> list[str]:
    size, error = _joined(tables)
    bands = ", ".join(f"{name} {median(error[within(size, name)]):.1f} %" for name in BANDS)
    return [
        f"{title}: {len(error)} rows, median {median(error):.1f} %, 90th percentile {percentile(error, 90):.1f} %; {bands}"
    ]
