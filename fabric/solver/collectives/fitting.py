"""Fits the parameters to measured tables: the most likely values given the rows and where the parameters come from.

Residuals are logarithms of estimated by measured time under a loss that outliers do not rule; a parameter's logarithm is
normal around its base with its own spread. Rows of one source are not independent, so n of them count as the root of 20 n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fabric.solver import Floats, Ints
from fabric.solver.collectives.coverage import coverage, joined
from fabric.solver.collectives.physics import Parameter, Physics, generations, parameters, transports
from fabric.solver.collectives.sample import ScoredRows, kinds_of, sample
from fabric.solver.measured.tables import Table

SCALE = 0.06  # error, as a logarithm, from which on a row counts less
ROUNDS = 60
MIN_RELATIVE_GAIN = 1e-5  # relative gain of a round that is the last one
USUAL_ROWS = 20
STEP = 1e-4  # of the numerical derivative, in spreads
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
