"""A whole sweep, from the request to its result."""

from __future__ import annotations

from pathlib import Path

from fabric.explore.journal import Journal
from fabric.explore.measure import Stages
from fabric.explore.report import SweepResult
from fabric.explore.request import ExploreRequest, objectives, sweep
from fabric.explore.run import run
from fabric.intent.intent import Intent
from fabric.workers import Progress


def explore(
    intent: Intent, request: ExploreRequest, stages: Stages, jobs: int, dask: str, journal: Path | None, progress: Progress
) -> SweepResult:
    """Measures every design of the request. Raises InputError, and MissingError without the Dask cluster."""
    sweep_ = sweep(intent, request)
    known = Journal(journal, sweep_.base, sweep_.design) if journal else None
    with progress("designs", len(sweep_.choices)) as advance:
        outcomes = run(sweep_, stages, jobs, dask, known, advance)
    currency = request.design.prices.currency if request.design.prices else ""
    return SweepResult.of(sweep_, outcomes, objectives(request), currency)
