"""The Pareto front: the designs that no other is as good as in everything and better than in something."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabric.deliver.explore.measure import Figures, Outcome


@dataclass(frozen=True)
class Objective:
    """A figure of which less is better."""

    name: str
    unit: str
    of: Callable[[Figures], float | None]
    hashed: bool = False  # by the draw of queue pair numbers, which changes it from run to run


HASHED = 0.02  # of a time: by so much it differs between draws of queue pair numbers
OF_JOB = ("goodput", "token-cost")  # that need a training job
PRICED = ("cost", "token-cost")
OBJECTIVES: Mapping[str, Objective] = {
    item.name: item
    for item in (
        Objective("cost", "", lambda f: f.capex),
        Objective("power", "kW", lambda f: f.power_typical_w / 1e3 if f.power_typical_w is not None else None),
        Objective("time", "ms", lambda f: f.time_us / 1e3 if f.time_us is not None else None, hashed=True),
        Objective(
            "alltoall", "ms", lambda f: f.alltoall_time_us / 1e3 if f.alltoall_time_us is not None else None, hashed=True
        ),
        Objective("switches", "", lambda f: f.switches),
        Objective("oversubscription", "to 1", lambda f: max(1.0, f.oversubscription)),
        Objective("goodput", "GPU-hours per billion useful tokens", lambda f: f.gpu_hours),
        Objective("token-cost", "per billion useful tokens", lambda f: f.token_cost),
    )
}


def known(outcomes: Sequence[Outcome], wanted: Sequence[str]) -> tuple[Objective, ...]:
    """Those of the wanted objectives that at least one design has a figure for."""
    built = [item.figures for item in outcomes if item.figures is not None]
    return tuple(OBJECTIVES[name] for name in wanted if any(OBJECTIVES[name].of(item) is not None for item in built))


def front(outcomes: Sequence[Outcome], objectives: Sequence[Objective]) -> dict[int, int]:
    """Rows of `outcomes` on the front, best of the first objective first → how many other designs come to the same.

    Of equal designs the first stands for all. An unknown figure counts as the worst: a design must not win by an unknown
    figure.
    """
    built = [(row, item.figures) for row, item in enumerate(outcomes) if item.figures is not None]
    if not built or not objectives:
        return {}
    scores = np.array([_scores(figures, objectives) for _, figures in built])
    distinct, first, count = np.unique(scores, axis=0, return_index=True, return_counts=True)
    best: list[int] = []
    for row, score in enumerate(distinct):  # sorted by the objectives in their order: what beats a design comes before it
        if not (distinct[best] <= score).all(axis=1).any():
            best.append(row)
    return {built[int(first[row])][0]: int(count[row]) - 1 for row in best}


def _scores(figures: Figures, objectives: Sequence[Objective]) -> tuple[float, ...]:
    return tuple(_score(objective, objective.of(figures)) for objective in objectives)


def _score(objective: Objective, value: float | None) -> float:
    """To three digits, times in steps of HASHED: smaller differences are within the error of estimates and quotations."""
    if value is None:
        return math.inf
    if objective.hashed and value > 0:
        return float(round(math.log(value) / HASHED))
    return float(f"{value:.3g}")
