"""Measured tables as columns that the model is compared with, all tables of a kind at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabric.solver import Floats, Ints
from fabric.solver.collectives import physics
from fabric.solver.collectives.choice import NEVER, Runs, monotone, run
from fabric.solver.collectives.costs import Key
from fabric.solver.collectives.coverage import FAMILY, Kind
from fabric.solver.collectives.job import Job, measured_job, stack
from fabric.solver.collectives.physics import Physics
from fabric.solver.collectives.tuner import estimates
from fabric.solver.measured.tables import Table


@dataclass(frozen=True)
class Sample:
    """Scored rows of tables, grouped by collective and by the configured algorithm and protocol of NCCL."""

    tables: tuple[Table, ...]
    groups: tuple[tuple[str, str, Job], ...]  # forced algorithm and protocol of each group, and its rows
    table: Ints  # of every row, in the order of the groups
    bytes: Floats
    time_us: Floats

    def predict(self, parameters: Physics) -> Floats:
        """µs of every row; where a forced algorithm cannot run, of what NCCL would choose."""
        return np.concatenate(
            [
                _times(job, parameters, algorithm, protocol, theirs)
                for (algorithm, protocol, job), theirs in zip(self.groups, self._theirs, strict=True)
            ]
        )

    @cached_property
    def _theirs(self) -> list[dict[Key, Floats]]:
        """NCCL's own estimates of each group: they have no parameters."""
        return [estimates(job) for _, _, job in self.groups]

    @cached_property
    def kind(self) -> dict[str, Ints]:
        """Scope → index of every row's generation or transport."""
        jobs = [job for _, _, job in self.groups]
        return {
            "generation": np.concatenate([np.asarray(job.generation) for job in jobs]),
            "transport": np.concatenate([np.asarray(job.transport) for job in jobs]),
        }

    @cached_property
    def count(self) -> Ints:
        """Rows of each table."""
        return np.bincount(self.table, minlength=len(self.tables))


def sample(tables: Sequence[Table]) -> Sample:
    """The scored rows of tables."""
    kept = tuple(table for table in tables if table.scored_rows)
    kinds: dict[tuple[str, str, str], list[int]] = {}
    for at, table in enumerate(kept):
        key = (table.collective, table.platform.algorithm, table.platform.protocol)
        kinds.setdefault(key, []).append(at)
    groups, owner, times = [], [], []
    for (_, algorithm, protocol), members in kinds.items():
        groups.append((algorithm, protocol, stack([job_of(kept[at]) for at in members])))
        for at in members:
            owner += [at] * len(kept[at].scored_rows)
            times += [row.time_us for row in kept[at].scored_rows]
    sizes = np.concatenate([job.bytes for _, _, job in groups]) if groups else np.empty(0)
    return Sample(kept, tuple(groups), np.array(owner, np.int64), sizes, np.array(times))


def job_of(table: Table) -> Job:
    """The run of a table, a row for each of its scored sizes."""
    return measured_job(table.collective, table.platform, np.array([row.bytes for row in table.scored_rows], np.float64))


def predicted(table: Table, parameters: Physics) -> Floats:
    """µs of a table's scored rows as `fabric estimate` would say them: no size takes less than a smaller one."""
    job, platform = job_of(table), table.platform
    runs, times = monotone(job, parameters, platform.algorithm, platform.protocol)
    if not _runs(runs, times):
        _, times = monotone(job, parameters)
    return times


def kinds_of(table: Table) -> Kind:
    """(GPU generation, transport, family of the collective); the transport of one NVLink domain is `none`."""
    generation = physics.gpu(table.platform.gpu).generation
    crosses = table.platform.crosses_network
    kind = physics.transport(table.platform.transport, generation) if crosses else "none"
    return Kind(generation, kind, FAMILY[table.collective])


def stands_for(table: Table, parameters: Physics) -> list[str]:
    """What stands for an algorithm that cannot run, or for parameters that no table was fitted to."""
    found, platform = [], table.platform
    runs, times = monotone(job_of(table), parameters, platform.algorithm, platform.protocol)
    if not _runs(runs, times):
        configured = "/".join(word for word in (platform.algorithm, platform.protocol) if word != "auto")
        found.append(f"{configured} cannot run this {table.collective}: predicted as NCCL would choose")
    if parameters.measured:
        for kind, what in zip(kinds_of(table)[:2], ("GPU generation", "transport"), strict=True):
            if kind not in parameters.measured:
                found.append(f"{what} {kind} was never measured: predicted from its relatives")
    return found


def relatives(table: Table) -> list[str]:
    """What of a table's platform is not known, and what stands for it."""
    found, gpu = [], physics.gpu(table.platform.gpu)
    if not gpu.known:
        found.append(f"GPU {table.platform.gpu} is not known: predicted as {gpu.name}, its nearest relative")
    if table.platform.crosses_network:
        word = table.platform.transport
        kind = physics.transport(word, gpu.generation)
        if not word.startswith(kind) and kind not in ("efa1",):
            found.append(f"transport {word} is not known: predicted as {kind}")
    return found


def _times(job: Job, parameters: Physics, algorithm: str, protocol: str, theirs: dict[Key, Floats]) -> Floats:
    runs = run(job, parameters, algorithm, protocol, theirs)
    if _runs(runs, runs.time_us if runs.keys else None):
        return runs.time_us
    free = run(job, parameters, theirs=theirs).time_us
    return free if not runs.keys else np.where(runs.time_us >= NEVER, free, runs.time_us)


def _runs(runs: Runs, times: Floats | None) -> bool:
    return bool(runs.keys) and times is not None and not bool((times >= NEVER).any())
