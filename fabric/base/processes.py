"""Forked workers, for large inputs, and signals: raised as an exception, or deferred until a step is complete."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any, TypeVar

# --- Workers --------------------------------------------------------------------------------------------------

S = TypeVar("S")
T = TypeVar("T")

PARALLEL_FROM = 64  # switches; below that, starting processes takes longer than it saves
CHUNK = 16

# (title, number of steps) → context whose function counts finished steps
Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


@contextmanager
def silent(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A Progress without output."""
    yield lambda steps: None


_run: Callable[[Any], Any] | None = None  # inherited by forked workers, so a plan is never pickled


def in_chunks(
    run: Callable[[S], T], todo: Sequence[S], jobs: int = 0, chunk: int = CHUNK, least: int = PARALLEL_FROM
) -> Iterator[list[T]]:
    """Applies `run` to every item, in order, and yields the results in chunks.

    Args:
        run: the function; forked workers inherit it with its closure, while items and results are pickled.
        todo: the items.
        jobs: number of processes; 0 uses all cores.
        chunk: items per chunk.
        least: below this number of items, all run in this process.
    """
    global _run
    chunks = [todo[start : start + chunk] for start in range(0, len(todo), chunk)]
    workers = min(jobs or os.cpu_count() or 1, len(chunks))
    if workers < 2 or len(todo) < least:
        yield from ([run(item) for item in part] for part in chunks)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    _run = run
    try:
        with ProcessPoolExecutor(workers, mp_context=get_context("fork"), initializer=gc.freeze) as pool:
            yield from pool.map(_run_chunk, chunks)
    finally:
        _run = None


def _run_chunk(chunk: Sequence[Any]) -> list[Any]:
    assert _run is not None
    with uncollected():
        return [_run(item) for item in chunk]


@contextmanager
def uncollected() -> Iterator[None]:
    """Work that makes many small records and few cycles, as rendering and parsing: to search them for cycles takes up to a
    third of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


# --- Signals --------------------------------------------------------------------------------------------------

TERMINATING = (
    signal.SIGTERM,
    signal.SIGHUP,
)  # of `kill`, `timeout`, CI systems, terminals; Python handles SIGINT itself

Handler = Callable[[int, FrameType | None], Any]


@contextmanager
def exit_on_signal() -> Iterator[None]:
    """SIGTERM and SIGHUP raise SystemExit with 128 + the signal number, as Ctrl-C raises KeyboardInterrupt.

    An ignored signal, for example under nohup, stays ignored.
    """

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    with _handled(TERMINATING, leave):
        yield


@contextmanager
def held_back() -> Iterator[None]:
    """Defers SIGINT, SIGTERM and SIGHUP to the end of the block; several take effect once."""
    caught: list[int] = []
    try:
        with _handled((signal.SIGINT, *TERMINATING), lambda number, frame: caught.append(number)):
            yield
    finally:
        if caught:
            signal.raise_signal(caught[0])


@contextmanager
def _handled(signals: Iterable[signal.Signals], handler: Handler) -> Iterator[None]:
    """Installs a handler; does nothing outside the main thread, because only that thread runs handlers."""
    main = threading.current_thread() is threading.main_thread()
    previous = {number: signal.getsignal(number) for number in signals if main}
    changed = {number: before for number, before in previous.items() if before not in (signal.SIG_IGN, None)}
    try:
        for number in changed:
            signal.signal(number, handler)
        yield
    finally:
        for number, before in changed.items():
            signal.signal(number, before)
