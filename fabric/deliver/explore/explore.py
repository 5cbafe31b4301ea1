"""A whole sweep, from the request to its result."""

from __future__ import annotations

from pathlib import Path

from fabric.base.processes import Progress
from fabric.deliver.explore.journal import Journal
from fabric.deliver.explore.measure import Stages
from fabric.deliver.explore.report import SweepResult
from fabric.deliver.explore.request import ExploreRequest, objectives, sweep
from fabric.deliver.explore.run import run
from fabric.design.intent.intent import Intent


def explore(
    intent: Intent, request: ExploreRequest, stages: Stages, jobs: int, dask: str, journal: Path | None, *, progress: Progress
) -> SweepResult:
    """Measures every design of the request. Raises InputError, and MissingError without the Dask cluster."""
    sweep_ = sweep(intent, request)
    known = Journal(journal, sweep_.base, sweep_.design) if journal else None
    with progress("designs", len(sweep_.choices)) as advance:
        outcomes = run(sweep_, stages, jobs, dask, known, advance)
    currency = request.design.prices.currency if request.design.prices else ""
    return SweepResult.of(sweep_, outcomes, objectives(request), currency)
