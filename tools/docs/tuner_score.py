"""NCCL's own estimates in place of ours, on the rows of a cross-validation, for comparison in docs/accuracy.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fabric.solver import Floats
from fabric.solver.collective import COLLECTIVES
from fabric.solver.collectives.algorithms import estimates
from fabric.solver.collectives.costs import Key, costs
from fabric.solver.collectives.job import Job, measured_job
from fabric.solver.collectives.physics import first
from fabric.solver.collectives.validation import Predicted


def tuner_predictions(found: Sequence[Predicted]) -> list[Predicted]:
    """The predictions that NCCL's tuner has an estimate for: all but alltoall and sendrecv."""
    return [
        replace(item, time_us=_tuned(item)) for item in found if "p2p" not in COLLECTIVES[item.table.collective].algorithms
    ]


def _tuned(item: Predicted) -> Floats:
    platform = item.table.platform
    job = measured_job(item.table.collective, platform, item.bytes)
    expected = {key: time for key, time in estimates(job).items() if _runs(job, key)}
    forced = {
        key: time
        for key, time in expected.items()
        if platform.algorithm in ("auto", key[0]) and platform.protocol in ("auto", key[1])
    }
    times = np.stack([np.broadcast_to(time, item.bytes.shape) for time in (forced or expected).values()])
    best: Floats = times.min(axis=0)
    return best


def _runs(job: Job, key: Key) -> bool:
    """Whether the algorithm can run the collective here, as our model has it."""
    terms = first().columns(np.asarray(job.generation), np.asarray(job.transport))
    table = costs(job, terms)
    return key in table and bool(np.isfinite(table[key]).all())
