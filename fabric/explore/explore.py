"""The whole of a sweep, from a wish to what was found."""

from __future__ import annotations

from pathlib import Path

from fabric.explore.ask import Request, objectives, sweep
from fabric.explore.journal import Journal
from fabric.explore.measure import Stages
from fabric.explore.report import Found
from fabric.explore.run import run
from fabric.intent.intent import Intent
from fabric.workers import Progress


def explore(
    intent: Intent, request: Request, stages: Stages, jobs: int, dask: str, journal: Path | None, progress: Progress
) -> Found:
    """Measures every design that the wish spans. Raises InputError, and MissingError without the Dask cluster."""
    asked = sweep(intent, request)
    known = Journal(journal, asked.base, asked.ask) if journal else None
    with progress("designs", len(asked.choices)) as advance:
        outcomes = run(asked, stages, jobs, dask, known, advance)
    currency = request.ask.prices.currency if request.ask.prices else ""
    return Found.of(asked, outcomes, objectives(request), currency)
