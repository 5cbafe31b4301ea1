"""How far published steps are from those of measured kernels: `python -m tools.kernel_steps docs/ladders/*.yaml`.

Rows on GPUs with measured kernels, nothing fitted to any row but `IN_A_STEP`; beside it the error of the same row where the
utilisation is fitted at the first row of its ladder. `contrasts.yaml` has ratios of two rows, no seconds to compare with.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from fabric.api.training import training_job
from fabric.base.text import aligned, percent
from fabric.pipeline import score_steps
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.training import ladder
from fabric.solver.training.kernels import rates_of
from fabric.solver.training.step import StepTime
from tools.step_band import fabric_of


def computed(row: ladder.Row) -> StepTime | None:
    """The step of a row, with the utilisation of its kernels; None where they were not measured."""
    request = EstimateRequest(
        gpus=row.gpus, gpus_per_domain=row.gpus_per_domain, fail=row.fail, routing=row.routing, queue_pairs=row.queue_pairs
    )
    job = training_job(fabric_of(row.intent), request, row.job, row.placement, row.values)
    return job.time() if rates_of(job.gpu) and job.job().is_computed else None


def lines(paths: Sequence[Path]) -> list[str]:
    """A line for each row, and the middle and the worst error of both."""
    cells, errors, fitted_errors = [], [], []
    for path in paths:
        rows = [(its.name, row) for its in ladder.read(path) for row in its.rows]
        scores = score_steps(path, fabric_of).rows
        for (name, row), score in zip(rows, scores, strict=True):
            step = computed(row)
            if step is None:
                continue
            error = step.step_ms / 1e3 / row.seconds - 1
            errors.append(abs(error))
            fitted_errors += [] if score.first else [abs(score.error)]
            fitted = "fitted" if score.first else f"{score.error:+.1%}"
            cells.append((path.stem, name, score.name, f"{step.utilisation:.3f}", f"{error:+.1%}", fitted))
    table = aligned(cells, "<<<>>>", head=("source", "ladder", "row", "utilisation", "computed", "first row fitted"))
    of = {"computed": errors, "first row fitted": fitted_errors}
    return [*table, "", *(f"{name}: median {percent(median(its))}, worst {percent(max(its))}" for name, its in of.items())]


if __name__ == "__main__":
    given = [path for path in map(Path, sys.argv[1:]) if path.stem != "contrasts"]
    print(*lines([path for path in given if "ladders:" in path.read_text(encoding="utf-8")]), sep="\n")
