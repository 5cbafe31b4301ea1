"""Fits a platform to a user's own tables, and makes the shipped parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabric.base.diagnostics import Diagnostic, Place
from fabric.base.text import aligned
from fabric.solver.collectives.fitting import beside_weights, fit, table_weights
from fabric.solver.collectives.physics import SCOPES, Parameter, Physics, first, parameters, transports
from fabric.solver.collectives.sample import kinds_of
from fabric.solver.collectives.score import median, score, score_table
from fabric.solver.estimate.platform_file import platform
from fabric.solver.measured.tables import Table

SUSPICIOUS = 3.0  # spreads that a parameter of a rightly labeled table hardly moves
LARGE_PERCENT = 20.0  # median error of a table from which on its platform is doubted
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

    def warnings(self) -> list[Diagnostic]:
        """Tables whose platform is likely stated wrongly: another one fits better, or parameters had to move far."""
        out = []
        for table in self.tables:
            if table.scored_rows and (better := better_platform(table, self.start)):
                message = f"table {table.id} fits {better} better than the platform that it states"
                hint = "correct the platform of the table and calibrate again"
                out.append(Diagnostic("FAB172", Place(table.id), message, hint, "warning"))
        far = [" ".join(line.split()) for line in moved(self.found, self.start, least=SUSPICIOUS)]
        if far:
            message = (
                f"parameters differ from the start values by more than {SUSPICIOUS:g} standard deviations: {'; '.join(far)}"
            )
            hint = "check transport, NICs, GPU and processes per server of the tables"
            out.append(Diagnostic("FAB172", Place(self.tables[0].id), message, hint, "warning"))
        return out


def better_platform(table: Table, parameters: Physics) -> str:
    """Another transport, number of NICs or process layout that predicts a table much better, "" for none."""
    stated = table.platform
    changes: dict[str, dict[str, Any]] = {"one process for all GPUs": {"processes": "one for all GPUs"}}
    if stated.crosses_network:
        others = [name for name in transports() if name not in ("none", stated.transport)]
        changes |= {f"transport {name}": {"transport": name} for name in others}
        counts = [count for count in (stated.nics_per_node * 2, stated.nics_per_node // 2) if count]
        changes |= {f"{count} NICs per server": {"nics_per_node": count} for count in counts}
    own_error, errors = _error(table, parameters), {}
    for name, change in changes.items():
        errors[name] = _error(replace(table, platform=replace(stated, **change)), parameters)
    best = min(errors, key=lambda name: (errors[name], name))
    if own_error < LARGE_PERCENT or errors[best] > own_error / 2:
        return ""
    return f"{best} (median error {errors[best]:.0f} % instead of {own_error:.0f} %)"


def _error(table: Table, parameters: Physics) -> float:
    return median(score_table(table, parameters).error)


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


def calibrated(tables: Sequence[Table], base: Physics) -> Physics:
    """The parameters of a user's own platform: those of its kinds move, those that all share hardly do."""

    def spread(item: Parameter) -> float:
        return item.spread * (SHARED_SPREAD if item.scope == "shared" else OWN_SPREAD)

    fitted = fit(tables, base, spread, {table.id: OWN_WEIGHT for table in tables})
    own_ranks = dict(base.own)
    for table in tables:
        if table.scored_rows:
            key = kinds_of(table)[:2]
            own_ranks[key] = max(own_ranks.get(key, 0), table.platform.ranks)
    return replace(fitted, coverage=base.coverage, own=own_ranks)


def from_physics(tables: Sequence[Table], weights: Mapping[str, float] | None = None) -> Physics:
    """All parameters from their first values: how the shipped ones were made."""
    return fit(tables, first(), weights=table_weights(tables) | dict(weights or {}))


def document(fitted: Physics, tables: Sequence[Table], about: str) -> str:
    """A platform file: YAML, every parameter, by scope."""
    out = [f"# {line}" for line in about.splitlines()]
    out += [f"about: {_quoted(about.splitlines()[0])}", "fitted_to:"]
    out += [f"- {_quoted(name)}" for name in sorted({table.id for table in tables if table.scored_rows})]
    out.append("measured: {" + ", ".join(f"{kind}: {count}" for kind, count in fitted.measured.items()) + "}")
    if fitted.own:
        out += [
            "own:",
            *(_entry(generation=one, transport=two, ranks=ranks) for (one, two), ranks in sorted(fitted.own.items())),
        ]
    out += ["coverage:", *(_entry(**entry) for entry in fitted.coverage.document())]
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


def moved(found: Physics, base: Physics, most: int = 8, least: float = 0.05) -> list[str]:
    """The parameters that moved the furthest from the base, by their own spreads."""
    shifts = [(abs(math.log(found.values[item.key] / base.values[item.key])) / item.spread, item) for item in parameters()]
    shifts.sort(key=lambda pair: (-pair[0], pair[1].key))
    return [
        f"{item.key:32}{base.values[item.key]:10.4g} -> {found.values[item.key]:<10.4g} {shift:.1f} standard deviations"
        for shift, item in shifts[:most]
        if shift > least
    ]


def _entry(**values: Any) -> str:
    return f"- {{{', '.join(f'{key}: {value}' for key, value in values.items())}}}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
