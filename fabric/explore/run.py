"""A sweep: every design measured once, in local processes or on a Dask cluster; the results are the same either way."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from fabric.diagnostics import MissingError
from fabric.explore.journal import Journal
from fabric.explore.measure import Ask, Outcome, measure
from fabric.explore.space import Base, Choice

Batch = Sequence[Choice]
PATIENCE = "10s"  # for a scheduler to answer
CHUNK, LEAST = 4, 8  # designs that one process measures before it tells; fewer in all are measured by one process
BATCH = 8  # designs of one task: a second of work, so that sending it costs nothing beside it


@dataclass(frozen=True)
class Sweep:
    """The question, and every design it is asked of."""

    base: Base
    ask: Ask
    choices: Sequence[Choice]


def run(
    sweep: Sweep,
    jobs: int = 0,
    dask: str = "",
    journal: Journal | None = None,
    advance: Callable[[int], None] = lambda steps: None,
) -> list[Outcome]:
    """The outcome of every choice, in their order.

    Args:
        jobs: local processes; 0 takes every core.
        dask: address of a Dask scheduler that does the work instead.
        journal: what is known already, and where more is written as it is found.
        advance: is told how many designs have been measured.

    Raises MissingError where the cluster cannot be reached.
    """
    found: dict[Choice, Outcome] = dict(journal.known) if journal else {}
    todo = [choice for choice in sweep.choices if choice not in found]
    advance(len(sweep.choices) - len(todo))
    one = partial(measure, sweep.base, sweep.ask)
    for outcomes in _on_dask(one, todo, dask) if dask else _here(one, todo, jobs):
        if journal:
            journal.add(outcomes)
        found.update({item.choice: item for item in outcomes})
        advance(len(outcomes))
    return [found[choice] for choice in sweep.choices]


def _here(one: Callable[[Choice], Outcome], todo: Sequence[Choice], jobs: int) -> Iterator[list[Outcome]]:
    from fabric.workers import in_chunks

    yield from in_chunks(one, todo, jobs, chunk=CHUNK, least=LEAST)


def _on_dask(one: Callable[[Choice], Outcome], todo: Sequence[Choice], address: str) -> Iterator[list[Outcome]]:
    try:
        dask: Any = import_module("distributed")
    except ImportError:
        raise MissingError("--dask needs the Dask client: pip install 'fabricwright[dask]'") from None
    try:
        client = dask.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise MissingError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise MissingError(f"the Dask scheduler at {address} has no workers")
        batches = [todo[at : at + BATCH] for at in range(0, len(todo), BATCH)]
        tasks = client.map(partial(_batch, one), batches, pure=False)
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # it logs a traceback when a scheduler is lost
        try:
            for done in dask.as_completed(tasks, loop=client.loop):
                yield done.result()
        except (dask.CancelledError, dask.KilledWorker, dask.comm.CommClosedError) as error:
            what = f"the Dask cluster at {address} was lost ({type(error).__name__})"
            raise MissingError(f"{what}; with --resume FILE a sweep goes on where it stopped") from None


def _batch(one: Callable[[Choice], Outcome], batch: Batch) -> list[Outcome]:
    return [one(choice) for choice in batch]


def reasons(outcomes: Sequence[Outcome]) -> Mapping[str, int]:
    """Why designs cannot be, and how many share it; the most frequent first. Of several attempts at one the last is told."""
    count = Counter(item.why.rpartition("\n")[2].strip(" -") for item in outcomes if item.figures is None)
    return dict(sorted(count.items(), key=lambda entry: (-entry[1], entry[0])))
