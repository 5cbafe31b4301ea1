"""A sweep: every design measured once, in local processes or on a Dask cluster; the results are the same."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from fabric.base.diagnostics import MissingError, Place, Report
from fabric.base.formats import json_line
from fabric.base.processes import in_chunks
from fabric.base.version import __version__
from fabric.deliver.explore.dimensions import Base, Choice, Value
from fabric.deliver.explore.measure import DesignRequest, Figures, Outcome, Stages, measure

# --- journal of an interrupted sweep --------------------------------------------------------------------------


def fingerprint(base: Base, design: DesignRequest) -> str:
    """Of all that outcomes depend on but the choice: designs may be added to a sweep, its question may not change.

    Where the intent, the prices and the job lie is left out: the same sweep goes on from another folder.
    """
    prices = replace(design.prices, places={}) if design.prices else None
    job = replace(design.job, name="") if design.job else None
    platform = design.platform.read_bytes() if design.platform else b""
    question = replace(design, prices=prices, job=job, platform=None), platform
    return hashlib.sha256(repr((__version__, base.text, base.fabric, question)).encode()).hexdigest()


class Journal:
    """JSON lines: what was asked, then an outcome a line, as they come. Raises InputError for a file of another sweep."""

    def __init__(self, path: Path, base: Base, design: DesignRequest) -> None:
        self.path = path
        self.mark = fingerprint(base, design)
        self.known: dict[Choice, Outcome] = {}
        if path.exists() and path.stat().st_size:
            self._read()
        else:
            self._append([{"sweep": self.mark}])

    def _read(self) -> None:
        report, shown = Report(), str(self.path)
        data = self.path.read_bytes()
        head, _, rest = data.partition(b"\n")
        if _object(head).get("sweep") != self.mark:
            message = "the journal belongs to another sweep"
            hint = "options, intent or version differ: use another file, or remove this one"
            report.fail("FAB102", Place(shown, 1, 1), message, hint)
        whole = rest[: rest.rfind(b"\n") + 1]  # the last line of a sweep that was killed may be cut short
        for number, line in enumerate(whole.splitlines(), 2):
            outcome = _outcome(_object(line))
            if outcome is None:
                report.fail(
                    "FAB102",
                    Place(shown, number, 1),
                    "this line is not a result of this sweep",
                    "remove the line, or the file",
                )
            self.known[outcome.choice] = outcome
        if len(whole) < len(rest):
            with self.path.open("r+b") as stream:
                stream.truncate(len(head) + 1 + len(whole))

    def add(self, outcomes: Iterable[Outcome]) -> None:
        self._append([item.as_row() for item in outcomes])

    def _append(self, rows: Iterable[dict[str, Any]]) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.writelines(json_line(row) + "\n" for row in rows)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:  # of a full disk it does not say which file
            raise OSError(error.errno, error.strerror, str(self.path)) from error


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _outcome(row: dict[str, Any]) -> Outcome | None:
    """The outcome that a line holds; None where it holds none."""
    try:
        choice = tuple(_CHOICE.validate_python(row.get("choice"), strict=True).items())
        if "why" in row:
            return Outcome(choice, why=str(row["why"]))
        return Outcome(choice, _FIGURES.validate_python(row["figures"]))
    except (KeyError, ValidationError):
        return None


_CHOICE, _FIGURES = TypeAdapter(dict[str, Value]), TypeAdapter(Figures)


# --- run ------------------------------------------------------------------------------------------------------

Batch = Sequence[Choice]
PATIENCE = "10s"  # for a scheduler to answer
WORKERS_PATIENCE_S = 60.0  # without any worker, until a sweep gives up
LOOK_S = 1.0  # between two looks at the workers
POLL_S = 0.02  # between two looks for results
RESULT_S = 5.0  # for a worker to hand over a result
CHUNK, MIN_DESIGNS = 4, 8  # designs that one process measures before it tells; fewer in all are measured by one process
BATCH = 8  # designs of one task: a second of work, so that sending it costs nothing beside it


RESUME = "use --resume FILE to continue a sweep after an interruption"


class NoWorkersError(Exception):
    """A cluster has a scheduler, and for too long nothing that works."""


@dataclass(frozen=True)
class Sweep:
    """The question, and every design it is asked of."""

    base: Base
    design: DesignRequest
    choices: Sequence[Choice]


def run(
    sweep: Sweep,
    stages: Stages,
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
        advance: called with the number of measured designs.

    Raises MissingError where the cluster cannot be reached or is lost; what was measured before that is in the journal.
    """
    outcomes_by_choice: dict[Choice, Outcome] = dict(journal.known) if journal else {}
    todo = [choice for choice in sweep.choices if choice not in outcomes_by_choice]
    advance(len(sweep.choices) - len(todo))
    measure_one = partial(measure, sweep.base, sweep.design, stages)
    again = f"results are in {journal.path}; repeat the command to continue" if journal else RESUME
    for outcomes in _on_dask(measure_one, todo, dask, again) if dask else _here(measure_one, todo, jobs):
        if journal:
            journal.add(outcomes)
        outcomes_by_choice.update({item.choice: item for item in outcomes})
        advance(len(outcomes))
    return [outcomes_by_choice[choice] for choice in sweep.choices]


def _here(one: Callable[[Choice], Outcome], todo: Sequence[Choice], jobs: int) -> Iterator[list[Outcome]]:
    yield from in_chunks(one, todo, jobs, chunk=CHUNK, least=MIN_DESIGNS)


def _on_dask(
    measure_one: Callable[[Choice], Outcome], todo: Sequence[Choice], address: str, again: str
) -> Iterator[list[Outcome]]:
    try:
        dask: Any = import_module("distributed")
    except ImportError:
        raise MissingError("--dask needs the Dask client: pip install 'fabricwright[dask]'") from None
    try:
        client = dask.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise MissingError(f"no answer from a Dask scheduler at {address}: {error}") from None
    with client:
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # it logs a traceback when a scheduler is lost
        batches = [todo[start : start + BATCH] for start in range(0, len(todo), BATCH)]
        tasks = client.map(partial(_batch, measure_one), batches, pure=False)
        try:
            yield from _as_completed(dask, client, tasks)
        except NoWorkersError as error:
            raise MissingError(f"the Dask cluster at {address} has had no workers for {error}; {again}") from None
        except (dask.CancelledError, dask.KilledWorker, dask.comm.CommClosedError) as error:
            raise MissingError(f"the Dask cluster at {address} was lost ({type(error).__name__}); {again}") from None


def _as_completed(dask: Any, client: Any, tasks: Sequence[Any]) -> Iterator[list[Outcome]]:
    """Results as they come. Raises NoWorkersError, since a scheduler without workers keeps its tasks for ever."""
    coming, watch = dask.as_completed(tasks, loop=client.loop), _Watch(dask, client)
    while not coming.is_empty():
        if not coming.has_ready():
            time.sleep(POLL_S)
            watch.look()
            continue
        done = next(coming)
        while True:
            try:
                outcomes = done.result(timeout=RESULT_S)
                break
            except TimeoutError:  # its worker has gone with it: another has to do the task again
                watch.look()
        yield outcomes


class _Watch:
    """Workers of a cluster: they may come late, as those of an adaptive cluster do, and be replaced by others."""

    def __init__(self, dask: Any, client: Any) -> None:
        self.dask, self.client = dask, client
        self.seen = self.looked = time.monotonic()

    def look(self) -> None:
        """Raises NoWorkersError where there have been none for too long, CommClosedError where the scheduler has gone."""
        now = time.monotonic()
        if now - self.looked < LOOK_S:
            return
        self.looked = now
        try:
            workers = self.client.scheduler_info()["workers"]
        except OSError as error:
            raise self.dask.comm.CommClosedError(str(error)) from error
        if workers:
            self.seen = now
        elif now - self.seen > WORKERS_PATIENCE_S:
            raise NoWorkersError(f"{WORKERS_PATIENCE_S:g} s")


def _batch(one: Callable[[Choice], Outcome], batch: Batch) -> list[Outcome]:
    return [one(choice) for choice in batch]


def reasons(outcomes: Sequence[Outcome]) -> Mapping[str, int]:
    """Reason → number of designs that cannot be built for it, most frequent first; of several attempts the last counts."""
    count = Counter(item.why.rpartition("\n")[2].strip(" -") for item in outcomes if item.figures is None)
    return dict(sorted(count.items(), key=lambda entry: (-entry[1], entry[0])))
