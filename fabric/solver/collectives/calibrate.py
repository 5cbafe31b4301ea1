"""Fits the parameters to measured tables: a platform to a user's own, and the shipped ones to all.

The most likely values given the rows and where the parameters come from. Residuals are logarithms of estimated by measured
time under a loss that outliers do not rule; a parameter's logarithm is normal around its base with its own spread. Rows of
one source are not independent, so n of them count as the root of 20 n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fabric.base.diagnostics import Diagnostic, Place
from fabric.base.text import aligned
from fabric.solver import Floats, Ints
from fabric.solver.collectives.physics import (
    SCOPES,
    Parameter,
    Physics,
    coverage,
    first,
    generations,
    joined,
    parameters,
    transports,
)
from fabric.solver.collectives.score import ScoredRows, kinds_of, median, sample, score, score_table
from fabric.solver.estimate.platform import platform
from fabric.solver.measured.tables import Table

# --- fitting --------------------------------------------------------------------------------------------------
# Fits the parameters to measured tables: the most likely values given the rows and where the parameters come from.
#
# Residuals are logarithms of estimated by measured time under a loss that outliers do not rule; a parameter's logarithm is
# normal around its base with its own spread. Rows of one source are not independent, so n of them count as the root of 20 n.

SCALE = 0.06  # log error above which a row loses weight
ROUNDS = 60
MIN_RELATIVE_GAIN = 1e-5  # a round with a smaller gain is the last
USUAL_ROWS = 20
STEP = 1e-4  # of the numerical derivative, in spreads of the parameter
DIGITS = 4
BESIDE, SLINGSHOT = 0.1, 0.15


def fit(
    tables: Sequence[Table],
    base: Physics,
    spread: Callable[[Parameter], float] = lambda item: item.spread,
    weights: Mapping[str, float] | None = None,
) -> Physics:
    """The parameters that fit the tables best, from those of `base`. `weights` by table id, 1 where there is none."""
    problem = Problem(tuple(tables), base, spread, weights or {})
    return problem.result(problem.solve(problem.strength))


@dataclass(frozen=True)
class Problem:
    """The likelihood of points: logarithms of the parameters over those of `base`, in spreads."""

    every: tuple[Table, ...]
    base: Physics
    spread: Callable[[Parameter], float] = lambda item: item.spread
    weights: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def rows(self) -> ScoredRows:
        return sample(self.every)

    @cached_property
    def moved(self) -> list[Parameter]:
        """Parameters that these tables say something about."""
        kinds = {kind for table in self.rows.tables for kind in kinds_of(table)[:2]}
        return [item for item in parameters() if item.scope == "shared" or item.kind in kinds]

    @cached_property
    def strength(self) -> Floats:
        """Weight of every row."""
        return _weights(self.rows.tables, self.weights)[self.rows.table]

    @cached_property
    def spreads(self) -> Floats:
        return np.array([self.spread(item) for item in self.moved])

    @cached_property
    def origin(self) -> Floats:
        return np.zeros(len(self.moved))

    def physics(self, point: Floats) -> Physics:
        start = np.log([self.base.values[item.key] for item in self.moved])
        fitted = dict(zip((item.key for item in self.moved), np.exp(start + point * self.spreads).tolist(), strict=True))
        return Physics({**self.base.values, **fitted}, {})

    def errors(self, point: Floats) -> Floats:
        """Logarithm of estimated by measured time of every row."""
        return np.asarray(np.log(self.rows.predict(self.physics(point)) / self.rows.time_us))

    def slopes(self, point: Floats) -> Floats:
        """Derivatives of `errors`, [rows, parameters]. Parameters of one name act on rows of their own kind."""
        steps = {item.name: STEP * spread for item, spread in zip(self.moved, self.spreads, strict=True)}
        changes = self.rows.slopes(self.physics(point), steps)
        matrix = np.zeros((len(self.rows.table), len(self.moved)))
        for column, item in enumerate(self.moved):
            change = changes[item.name] / STEP
            matrix[:, column] = change if item.scope == "shared" else np.where(self._of_kind(item), change, 0.0)
        return matrix

    def _of_kind(self, item: Parameter) -> Ints:
        kinds = generations() if item.scope == "generation" else transports()
        return np.asarray(self.rows.kind[item.scope] == kinds.index(item.kind))

    def solve(self, strength: Floats, start: Floats | None = None, rounds: int = ROUNDS) -> Floats:
        """The most likely point, by Levenberg's and Marquardt's method with reweighted rows."""
        point = self.origin if start is None else start
        errors = self.errors(point)
        loss, damping = _loss(errors, strength, point), 1.0
        for _ in range(rounds):
            matrix = self.slopes(point)
            weight = strength / np.sqrt(1 + (errors / SCALE) ** 2) / SCALE**2
            normal = (matrix.T * weight) @ matrix + np.eye(len(point))
            gradient = matrix.T @ (weight * errors) + point
            before, unit = loss, np.eye(len(point)) * np.median(np.diag(normal))
            while damping < 1e6:
                trial = point - np.linalg.solve(normal + damping * unit, gradient)
                errors_there = self.errors(trial)
                loss_there = _loss(errors_there, strength, trial)
                if loss_there < loss:
                    point, errors, loss, damping = trial, errors_there, loss_there, max(damping / 5, 1e-4)
                    break
                damping *= 4
            if before - loss < MIN_RELATIVE_GAIN * before:
                break
        return point

    def result(self, point: Floats, tables: Sequence[Table] | None = None) -> Physics:
        """The parameters of a point, and what they were fitted to: `tables`, or all."""
        seen = self.rows.tables if tables is None else [table for table in tables if table.scored_rows]
        rounded = {key: float(f"{value:.{DIGITS}g}") for key, value in self.physics(point).values.items()}
        covered = coverage((kinds_of(table), table) for table in seen)
        return Physics(rounded, _measured(seen, self.base), coverage=joined(self.base.coverage, covered))


def _loss(errors: Floats, strength: Floats, point: Floats) -> float:
    """Minus the logarithm of the likelihood: a square near 0, linear for large errors (pseudo-Huber)."""
    return float(strength @ (np.sqrt(1 + (errors / SCALE) ** 2) - 1) + point @ point / 2)


def table_weights(tables: Sequence[Table]) -> dict[str, float]:
    """Weights by table id. Slingshot counts for little: its rendezvous protocol makes steps between 4 KiB and 2 MiB that no
    other transport has, and they would bend what all transports share."""
    return {table.id: SLINGSHOT if table.platform.transport == "slingshot" else 1.0 for table in tables}


def beside_weights(tables: Sequence[Table]) -> dict[str, float]:
    """Weights of tables that stand beside a user's own ones."""
    return {name: BESIDE * weight for name, weight in table_weights(tables).items()}


def _weights(tables: Sequence[Table], weights: Mapping[str, float]) -> Floats:
    """Weight of one row of each table."""
    rows: dict[str, int] = {}
    for table in tables:
        rows[table.source] = rows.get(table.source, 0) + len(table.scored_rows)
    return np.array([weights.get(table.id, 1.0) * (USUAL_ROWS / rows[table.source]) ** 0.5 for table in tables])


def _measured(tables: Sequence[Table], base: Physics) -> dict[str, int]:
    """Generation or transport → tables, with those that the base was fitted to."""
    found = dict(base.measured)
    for table in tables:
        for kind in kinds_of(table)[:2]:
            found[kind] = found.get(kind, 0) + 1
    return dict(sorted(found.items()))


# --- a platform of a user, and the shipped parameters ---------------------------------------------------------

SUSPICIOUS = 3.0  # spreads; a larger move of a parameter suggests a wrong label
LARGE_PERCENT = 20.0  # median error of a table above which its platform is questioned
OWN_SPREAD, SHARED_SPREAD = 1.0, 0.4  # part of a parameter's spread that a user's tables may move it by
OWN_WEIGHT = 5.0  # weight of a user's row over a published one, as it is of the platform in question


@dataclass(frozen=True)
class Calibration:
    """Parameters fitted to tables."""

    start: Physics
    found: Physics
    tables: tuple[Table, ...]  # of the calibration
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
            "Parameters of collective times, fitted from their first values.\n"
            "Written by `fabric model calibrate --base physics`."
        )
    else:
        start = platform(None if base == "shipped" else Path(base))
        fitted = calibrated(every, start)
        about = f"Parameters of collective times, calibrated from {base}.\nWritten by `fabric model calibrate`."
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
            *(
                _entry(generation=generation, transport=transport, ranks=ranks)
                for (generation, transport), ranks in sorted(fitted.own.items())
            ),
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
