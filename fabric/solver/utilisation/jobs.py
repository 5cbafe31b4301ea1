"""A mix of jobs: a list of sizes in YAML, or Slurm's accounting as `sacct --json` prints it.

Of a job of Slurm these keys are read, in the forms of its data parsers up to v0.0.43 (github.com/SchedMD/slurm, in
src/plugins/data_parser and src/plugins/openapi/dbv0.0.38): `tres.allocated` (entries with `type`, `name` and `count`; GPUs
are `gres` of the name `gpu`, and once more by model as `gpu:a100`), `time.submission`, `time.start` and `time.elapsed` in
seconds. A number may be an object with `set`, `infinite` and `number`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from fabric.base.diagnostics import Diagnostic, InputError, Place, nearest, show
from fabric.base.inputs import InputFile, Section, Within

CODE = "FAB172"
_MAX_COUNT = 10_000_000
_MAX_SECONDS = 1e11  # over 3,000 years; a time of Slurm is seconds since 1970


@dataclass(frozen=True)
class Job:
    """A job that runs once."""

    gpus: int
    seconds: float
    submit_s: float = 0.0  # after the first one


@dataclass(frozen=True)
class Size(Section):
    """Jobs of one size in a list: their duration is exponential with the mean of `hours`."""

    gpus: Annotated[int, Within(1, _MAX_COUNT, "GPUs of a job")]
    hours: Annotated[float, Field(ge=1e-3, le=1e6, description="mean duration of a job")]
    count: Annotated[int, Within(1, _MAX_COUNT, "number of these jobs among all submissions")] = 1


@dataclass(frozen=True)
class _Sizes(Section):
    jobs: Annotated[tuple[Size, ...], Field(min_length=1)]


FILE = InputFile(
    _Sizes,
    "a list of jobs",
    "write `jobs: [{gpus: 64, hours: 12, count: 3}]`, or use the output of `sacct --json`",
    CODE,
)


@dataclass(frozen=True)
class Mix:
    """Either sizes, or jobs with their times."""

    sizes: tuple[Size, ...] = ()
    jobs: tuple[Job, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()  # reason, number of jobs of the file

    def gpu_hours(self) -> dict[int, tuple[int, float]]:
        """Size in GPUs → (jobs, GPU-hours), the smallest first."""
        found: dict[int, tuple[int, float]] = {}
        rows = [(size.gpus, size.count, size.hours * size.count) for size in self.sizes]
        rows += [(job.gpus, 1, job.seconds / 3600) for job in self.jobs]
        for gpus, count, hours in rows:
            before = found.get(gpus, (0, 0.0))
            found[gpus] = (before[0] + count, before[1] + gpus * hours)
        return dict(sorted(found.items()))


def read(path: Path, partition: str = "") -> Mix:
    """The jobs of a file; of Slurm's those of one partition, "" for all. Raises InputError with every mistake."""
    name, text = str(path), FILE.read_text(path)
    if text.lstrip()[:1] == "{" and (data := _json(text, name)) is not None:
        return _slurm(data, name, partition)
    reading = FILE.parse(text, name)
    if partition:
        message = f"expected the output of `sacct --json`, as only it has partitions, got {name}"
        hint = "remove --partition: a list of sizes is all jobs"
        reading.report.error(CODE, Place("--partition"), message, hint)
    return Mix(sizes=reading.checked(reading.model()).jobs)


def _json(text: str, name: str) -> dict[str, Any] | None:
    """The document where it is JSON; None for YAML in braces. Raises InputError for JSON that is cut short."""
    try:
        data = json.loads(text)
    except RecursionError:
        raise InputError([_mistake(Place(name, 1, 1), "the file is nested too deeply")]) from None
    except json.JSONDecodeError as error:
        if '"jobs"' not in text:
            return None
        raise InputError([_mistake(Place(name, error.lineno, error.colno), f"no JSON: {error.msg.lower()}")]) from None
    except ValueError:  # a number of more digits than Python converts
        raise InputError([_mistake(Place(name, 1, 1), "a number has too many digits")]) from None
    return data if isinstance(data, dict) and _from_slurm(data) else None


def _from_slurm(data: dict[str, Any]) -> bool:
    jobs = data.get("jobs")
    return any(key in data for key in ("meta", "metadata")) or (
        isinstance(jobs, list) and any(isinstance(job, dict) and {"tres", "time"} & {*job} for job in jobs)
    )


def _slurm(data: dict[str, Any], name: str, partition: str) -> Mix:
    listed = data.get("jobs")
    if not isinstance(listed, list):
        raise InputError([_mistake(Place(name, 1, 1), f"jobs: expected a list, got {show(listed)}")])
    skipped: Counter[str] = Counter()
    jobs = []
    for job in listed:
        read_job = _job(job, partition)
        if isinstance(read_job, str):
            skipped[read_job] += 1
        else:
            jobs.append(read_job)
    if not jobs and partition:
        partitions = {str(job.get("partition")) for job in listed if isinstance(job, dict)}
        if partition not in partitions:
            message = f"no job of {name} ran in partition {show(partition)}"
            raise InputError([Diagnostic(CODE, Place("--partition"), message, nearest(partition, partitions))])
    if not jobs:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items())) or "the list is empty"
        raise InputError([_mistake(Place(name, 1, 1), f"expected jobs that ran on GPUs, got none: {reasons}")])
    first = min(job.submit_s for job in jobs)
    moved = sorted((Job(job.gpus, job.seconds, job.submit_s - first) for job in jobs), key=lambda job: job.submit_s)
    return Mix(jobs=tuple(moved), left_out=tuple(sorted(skipped.items())))


def _mistake(place: Place, message: str) -> Diagnostic:
    return Diagnostic(CODE, place, message, "use the output of `sacct --allusers --starttime=… --json`")


def _job(job: Any, partition: str) -> Job | str:
    """One job, or why it is left out."""
    if not isinstance(job, dict):
        return "that are no job"
    if partition and job.get("partition") != partition:
        return "of other partitions"
    gpus = _gpus(job)
    if not gpus:
        return "without GPUs"
    times = job.get("time")
    times = times if isinstance(times, dict) else {}
    elapsed, submit = _number(times.get("elapsed")), _number(times.get("submission"))
    if not elapsed or elapsed < 0:
        return "that did not run"
    start = _number(times.get("start"))
    submit = start if submit is None else submit
    return "without a time" if submit is None else Job(gpus, float(elapsed), float(submit))


def _gpus(job: dict[str, Any]) -> int:
    """`gpu` counts all models; without it the models are added."""
    counts = dict(_tres(job))
    return counts.get("gpu", 0) or sum(count for name, count in counts.items() if name.startswith("gpu:"))


def _tres(job: dict[str, Any]) -> Iterator[tuple[str, int]]:
    tres = job.get("tres")
    listed = tres.get("allocated") if isinstance(tres, dict) else None
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, dict) and entry.get("type") == "gres" and isinstance(entry.get("name"), str):
            count = _number(entry.get("count"))
            if count and 0 < count <= _MAX_COUNT:
                yield entry["name"], int(count)


def _number(value: Any) -> float | None:
    """A number, also in the form {set, infinite, number}; None for NaN, Infinity and what no time or count can be."""
    if isinstance(value, dict):
        value = None if value.get("infinite") or value.get("set") is False else value.get("number")
    known = isinstance(value, int | float) and not isinstance(value, bool) and -_MAX_SECONDS < value < _MAX_SECONDS
    return float(value) if known else None
