"""What changes in the config of every switch: both plans are rendered in memory, what differs becomes commands."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from fabric.configs import Job, Renderer
from fabric.diff import files
from fabric.diff.files import FileChange
from fabric.generate import CHUNK, PARALLEL_FROM, Progress


@dataclass(frozen=True)
class DeviceChange:
    """One switch whose config is another."""

    device: str
    was: str  # its old name
    fabric: str
    role: str
    nos: str
    state: str  # "changed" | "added" | "removed" | "replaced": by another box or network OS, so all of it is new
    files: tuple[FileChange, ...] = ()


@dataclass(frozen=True)
class _Work:
    old: Renderer
    new: Renderer


Pair = tuple[Job | None, Job | None]

_work: _Work | None = None  # what forked workers inherit; plans are never pickled


def changes(
    old: Renderer, new: Renderer, names: Mapping[str, str], wanted: Callable[[str], bool], jobs: int, progress: Progress
) -> list[DeviceChange]:
    """Every wanted switch that changes, in the order of the new plan. `names` are new ones by old."""
    global _work
    before = {
        names.get(job.device.name, job.device.name): job for job in old.jobs(lambda name: wanted(names.get(name, name)))
    }
    after = {job.device.name: job for job in new.jobs(wanted)}
    pairs: list[Pair] = [(before.get(name), job) for name, job in after.items()]
    pairs += [(job, None) for name, job in before.items() if name not in after]
    _work = _Work(old, new)
    try:
        with progress("configs", len(pairs)) as advance:
            return [change for part in _parts(pairs, jobs) for change in _counted(part, advance)]
    finally:
        _work = None


def _counted(part: tuple[int, list[DeviceChange]], advance: Callable[[int], None]) -> list[DeviceChange]:
    advance(part[0])
    return part[1]


def _parts(pairs: Sequence[Pair], jobs: int) -> Iterator[tuple[int, list[DeviceChange]]]:
    """(how many were looked at, those that differ), in this process or in several."""
    chunks = [pairs[at : at + CHUNK] for at in range(0, len(pairs), CHUNK)]
    workers = min(jobs or os.cpu_count() or 1, len(chunks))
    if workers < 2 or len(pairs) < PARALLEL_FROM:
        yield from map(_chunk, chunks)
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork")) as pool:
        yield from pool.map(_chunk, chunks)


def _chunk(chunk: Sequence[Pair]) -> tuple[int, list[DeviceChange]]:
    return len(chunk), [change for pair in chunk if (change := _change(*pair))]


def _change(old: Job | None, new: Job | None) -> DeviceChange | None:
    assert _work is not None
    job = new or old
    assert job is not None
    device, was = job.device, old.device if old else job.device
    state = "added" if old is None else "removed" if new is None else ""
    if not state and (was.nos, was.model) != (device.nos, device.model):
        state = "replaced"
    if state:
        return DeviceChange(device.name, was.name, job.fabric, device.role, device.nos, state)
    assert old is not None
    before, after = _files(_work.old, old), _files(_work.new, job)
    if before == after:
        return None
    found = files.changes(device.nos, before, after)
    return DeviceChange(device.name, was.name, job.fabric, device.role, device.nos, "changed", found)


def _files(renderer: Renderer, job: Job) -> dict[str, str]:
    """Text by the file's own name."""
    return {path.split("/", 2)[2]: data.decode() for path, data in renderer.files(job)}
