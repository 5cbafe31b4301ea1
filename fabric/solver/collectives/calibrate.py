"""Fits a platform to a user's own tables, makes the shipped parameters, and leaves sources out to see what they are worth."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabric.solver.collectives.fitting import beside_weights, fit
from fabric.solver.collectives.physics import SCOPES, Parameter, Physics, first, parameters
from fabric.solver.collectives.sample import has_siblings
from fabric.solver.collectives.score import Score, TableScore, median, score, score_table
from fabric.solver.estimate.platform_file import platform
from fabric.solver.measured.tables import Table
from fabric.text import aligned

OWN_SPREAD, SHARED_SPREAD = 1.0, 0.4  # of a parameter's own spread: what a user's tables may move
OWN_WEIGHT = 5.0  # of a user's row over a published one: it is the very platform that is asked about


@dataclass(frozen=True)
class Calibration:
    """Parameters fitted to tables."""

    start: Physics
    found: Physics
    tables: tuple[Table, ...]  # that it was made for
    text: str  # the platform file

    def lines(self) -> list[str]:
        """Median errors before and after the fit, and the parameters that changed most."""
        scores = (score(self.tables, parameters).tables for parameters in (self.start, self.found))
        rows = [
            (after.id, f"{len(after.error):,}", f"{median(before.error):.1f} %", f"{median(after.error):.1f} %")
            for before, after in zip(*scores, strict=True)
        ]
        out = aligned(rows, "<>>>", head=("table", "rows", "median before", "median after"))
        lines = moved(self.found, self.start)
        return [*out, "", *(["largest changes", *(f"  {line}" for line in lines)] if lines else ["no parameter changed"])]


def calibrate(tables: Sequence[Table], beside: Sequence[Table], base: str) -> Calibration:
    """Fits the parameters to tables, and to others beside them that count less. Raises InputError.

    Args:
        base: what they start from: "shipped", "physics" for their first values with all of them free, or a platform file.
    """
    every = [*tables, *beside]
    if base == "physics":
        start, fitted = first(), from_physics(every, beside_weights(beside))
        about = (
            "Parameters of collective times, fitted from their first values.\nWritten by `fabric calibrate --base physics`."
        )
    else:
        start = platform(None if base == "shipped" else Path(base))
        fitted = calibrated(every, start)
        about = f"Parameters of collective times, calibrated from {base}.\nWritten by `fabric calibrate`."
    return Calibration(start, fitted, tuple(tables), document(fitted, every, about))


def cross_validate(tables: Sequence[Table], beside: Sequence[Table], tell: Callable[[str], None]) -> Score:
    """Every source scored by parameters that were fitted without it; `tell` is called with each source that is done."""
    found: list[TableScore] = []
    for source, scores in left_out(tables, beside, beside_weights(beside)):
        tell(source)
        found += scores
    order = {table.id: at for at, table in enumerate(tables)}
    found.sort(key=lambda item: order[item.id])
    return Score(tuple(found), {table.id: table.why_not for table in tables if not table.scored_rows})


def calibrated(tables: Sequence[Table], base: Physics) -> Physics:
    """The parameters of a user's own platform: those of its kinds move, those that all share hardly do."""

    def spread(item: Parameter) -> float:
        return item.spread * (SHARED_SPREAD if item.scope == "shared" else OWN_SPREAD)

    return fit(tables, base, spread, {table.id: OWN_WEIGHT for table in tables})


def from_physics(tables: Sequence[Table], weights: Mapping[str, float] | None = None) -> Physics:
    """All parameters from their first values: how the shipped ones were made."""
    return fit(tables, first(), weights=weights)


def left_out(
    tables: Sequence[Table], beside: Sequence[Table] = (), weights: Mapping[str, float] | None = None
) -> Iterator[tuple[str, list[TableScore]]]:
    """(source, scores of its tables with parameters fitted to all the others) for every source of `tables`.

    `beside` are further tables that the fits see, but for those of the same repository or report, whatever their cluster.
    A table has siblings where its generation, transport and family each appear in the rest of `tables`.
    """
    scored = [table for table in tables if table.scored_rows]
    for source in sorted({table.source for table in scored}):
        rest = [table for table in scored if table.source != source]
        others = [table for table in beside if origin(table.source) != origin(source)]
        found = from_physics([*rest, *others], weights)
        mine = [table for table in scored if table.source == source]
        yield source, [score_table(table, found, has_siblings(table, rest)) for table in mine]


def origin(source: str) -> str:
    """The repository or report of a source, its issue or path left off."""
    return re.split(r"[#:,(\s]", source, maxsplit=1)[0]


def document(fitted: Physics, tables: Sequence[Table], about: str) -> str:
    """A platform file: YAML, every parameter, by scope."""
    out = [f"# {line}" for line in about.splitlines()]
    out += [f"about: {_quoted(about.splitlines()[0])}", "fitted_to:"]
    out += [f"- {_quoted(name)}" for name in sorted({table.id for table in tables if table.scored_rows})]
    out.append("measured: {" + ", ".join(f"{kind}: {count}" for kind, count in fitted.measured.items()) + "}")
    for scope in SCOPES:
        out.append(f"{scope}:")
        names = list(dict.fromkeys(item.name for item in parameters() if item.scope == scope))
        for name in names:
            kinds = [item for item in parameters() if item.name == name]
            if scope == "shared":
                out.append(f"  {name}: {fitted.values[name]:g}")
            else:
                values = ", ".join(f"{item.kind}: {fitted.values[item.key]:g}" for item in kinds)
                out.append(f"  {name}: {{{values}}}")
    return "\n".join(out) + "\n"


def moved(found: Physics, base: Physics, most: int = 8) -> list[str]:
    """The parameters that moved the furthest from the base, by their own spreads."""
    shifts = [(abs(math.log(found.values[item.key] / base.values[item.key])) / item.spread, item) for item in parameters()]
    shifts.sort(key=lambda pair: (-pair[0], pair[1].key))
    return [
        f"{item.key:32}{base.values[item.key]:10.4g} -> {found.values[item.key]:<10.4g} {shift:.1f} spreads"
        for shift, item in shifts[:most]
        if shift > 0.05
    ]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
