"""The whole of a sweep, from a wish to what was found."""

from __future__ import annotations

from pathlib import Path

from fabric.explore.ask import Wish, objectives, sweep
from fabric.explore.journal import Journal
from fabric.explore.measure import Stages
from fabric.explore.report import Found
from fabric.explore.run import run
from fabric.intent.intent import Intent
from fabric.workers import Progress


def explore(
    intent: Intent, wish: Wish, stages: Stages, jobs: int, dask: str, journal: Path | None, progress: Progress
) -> Found:
    """Measures every design that the wish spans. Raises InputError, and MissingError without the Dask cluster."""
    asked = sweep(intent, wish)
    known = Journal(journal, asked.base, asked.ask) if journal else None
    with progress("designs", len(asked.choices)) as advance:
        outcomes = run(asked, stages, jobs, dask, known, advance)
    currency = wish.ask.prices.currency if wish.ask.prices else ""
    return Found.of(asked, outcomes, objectives(wish), currency)
