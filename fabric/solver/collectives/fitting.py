"""Fits the parameters to measured tables: the most likely values given the rows and where the parameters come from.

Residuals are logarithms of estimated by measured time under a loss that outliers do not rule; a parameter's logarithm is
normal around its base with its own spread. Rows of one source are not independent, so n of them count as the root of 20 n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fabric.solver import Bools, Floats
from fabric.solver.collectives.coverage import coverage, joined
from fabric.solver.collectives.physics import Parameter, Physics, generations, parameters, transports
from fabric.solver.collectives.sample import Sample, kinds_of, sample
from fabric.solver.measured.tables import Table

SCALE = 0.06  # error, as a logarithm, from which on a row counts less
ROUNDS = 30
USUAL_ROWS = 20
STEP = 1e-4  # of the numerical derivative
DIGITS = 4
BESIDE, SLINGSHOT = 0.1, 0.15


def fit(
    tables: Sequence[Table],
    base: Physics,
    spread: Callable[[Parameter], float] = lambda item: item.spread,
    weights: Mapping[str, float] | None = None,
) -> Physics:
    """The parameters that fit the tables best, from those of `base`. `weights` by table id, 1 where there is none."""
    from scipy.optimize import least_squares

    rows = sample(tables)
    moved = _moved(rows.tables)
    start = np.log([base.values[item.key] for item in moved])
    spreads = np.array([spread(item) for item in moved])
    strength = np.sqrt(_weights(rows.tables, weights or {})[rows.table])

    def physics(point: Floats) -> Physics:
        fitted = dict(zip((item.key for item in moved), np.exp(start + point * spreads).tolist(), strict=True))
        return Physics({**base.values, **fitted}, {})

    def residuals(point: Floats) -> Floats:
        error = np.log(rows.predict(physics(point)) / rows.time_us)
        soft = np.sign(error) * np.sqrt(2 * (np.sqrt(1 + (error / SCALE) ** 2) - 1))
        return np.concatenate([soft * strength, point])

    groups = _independent(moved, rows)

    def slopes(point: Floats) -> Floats:
        """Jacobian of the residuals. Parameters of one name act on rows of their own kind: one evaluation serves them all."""
        base_line, matrix = residuals(point), np.zeros((len(rows.table) + len(moved), len(moved)))
        for columns in groups:
            nudged = point.copy()
            nudged[list(columns)] += STEP
            change = (residuals(nudged) - base_line)[: len(rows.table)] / STEP
            for column, mask in columns.items():
                matrix[: len(rows.table), column] = np.where(mask, change, 0.0)
        matrix[len(rows.table) + np.arange(len(moved)), np.arange(len(moved))] = 1.0
        return matrix

    best = least_squares(residuals, np.zeros(len(moved)), jac=slopes, max_nfev=ROUNDS)
    rounded = {key: float(f"{value:.{DIGITS}g}") for key, value in physics(best.x).values.items()}
    covered = coverage((kinds_of(table), table) for table in rows.tables)
    return Physics(rounded, _measured(rows.tables, base), coverage=joined(base.coverage, covered))


def table_weights(tables: Sequence[Table]) -> dict[str, float]:
    """Weights by table id. Slingshot counts for little: its rendezvous protocol makes steps between 4 KiB and 2 MiB that no
    other transport has, and they would bend what all transports share."""
    return {table.id: SLINGSHOT if table.platform.transport == "slingshot" else 1.0 for table in tables}


def beside_weights(tables: Sequence[Table]) -> dict[str, float]:
    """Weights of tables that stand beside a user's own ones."""
    return {name: BESIDE * weight for name, weight in table_weights(tables).items()}


def _moved(tables: Sequence[Table]) -> list[Parameter]:
    """Parameters that these tables say something about."""
    kinds = {kind for table in tables for kind in kinds_of(table)[:2]}
    return [item for item in parameters() if item.scope == "shared" or item.kind in kinds]


def _independent(moved: Sequence[Parameter], rows: Sample) -> list[dict[int, Bools]]:
    """Columns that change different rows, with the rows of each: one name's kinds together."""
    kinds = {"generation": generations(), "transport": transports()}
    groups: dict[str, dict[int, Bools]] = {}
    for column, item in enumerate(moved):
        mask = np.ones(len(rows.table), dtype=bool)
        if item.scope != "shared":
            mask = rows.kind[item.scope] == kinds[item.scope].index(item.kind)
        groups.setdefault(item.name, {})[column] = mask
    return list(groups.values())


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
