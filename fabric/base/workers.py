"""A function applied to many switches or designs: in this process or, for large inputs, in forked workers."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

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
    gc.disable()  # rendering and parsing create many small records and few cycles; collection would take a third of the time
    try:
        return [_run(item) for item in chunk]
    finally:
        gc.enable()
