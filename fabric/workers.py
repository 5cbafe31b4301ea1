"""One piece of work for each of many switches or designs, in this process or, where it pays, in forked ones."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

S = TypeVar("S")
T = TypeVar("T")

PARALLEL_FROM = 64  # switches; below that, starting processes costs more than it saves
CHUNK = 16

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]  # (what is done, steps) → tells of steps


@contextmanager
def silent(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A Progress that shows nothing."""
    yield lambda steps: None


_run: Callable[[Any], Any] | None = None  # what forked workers inherit; a plan is never pickled


def in_chunks(
    run: Callable[[S], T], todo: Sequence[S], jobs: int = 0, chunk: int = CHUNK, least: int = PARALLEL_FROM
) -> Iterator[list[T]]:
    """`run` of everything there is to do, in order, some results at a time.

    Args:
        run: is inherited by the workers with all that it holds; what it takes and gives is sent.
        jobs: processes; 0 takes every core.
        chunk: how many are done before their results are given.
        least: fewer than this are done in this process.
    """
    global _run
    chunks = [todo[at : at + chunk] for at in range(0, len(todo), chunk)]
    workers = min(jobs or os.cpu_count() or 1, len(chunks))
    if workers < 2 or len(todo) < least:
        yield from ([run(item) for item in part] for part in chunks)
        return
    _run = run
    try:
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork"), initializer=gc.freeze) as pool:
            yield from pool.map(_run_chunk, chunks)
    finally:
        _run = None


def _run_chunk(chunk: Sequence[Any]) -> list[Any]:
    assert _run is not None
    gc.disable()  # rendering and reading make many small records and few cycles; collecting takes a third of the time
    try:
        return [_run(item) for item in chunk]
    finally:
        gc.enable()
