"""Measured tables as columns that the model is compared with, all tables of a kind at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabric.solver import Floats, Ints
from fabric.solver.collective import COLLECTIVES
from fabric.solver.collectives import physics
from fabric.solver.collectives.band import beyond
from fabric.solver.collectives.choice import ALIASES, NEVER, Runs, allowed as _allowed, capped, monotone
from fabric.solver.collectives.costs import Key, forms, others
from fabric.solver.collectives.coverage import Kind
from fabric.solver.collectives.environment import permitted
from fabric.solver.collectives.job import Job, measured_job, stack
from fabric.solver.collectives.physics import Physics
from fabric.solver.collectives.reach import BETWEEN_BRIDGES
from fabric.solver.measured.tables import Table


class _Group:
    """Rows of one collective and one configured algorithm and protocol: the time of each form, and the least of those that
    may run."""

    def __init__(self, algorithm: str, protocol: str, job: Job) -> None:
        self.job = job
        table = forms(job)
        special = {key: form for key, form in others(job).items() if key[0] == ALIASES.get(algorithm, algorithm)}
        allowed = [key for key in table if _allowed(key, algorithm, protocol)] or list(special) or list(table)
        self.forms = {**table, **special}
        self.keys = tuple(dict.fromkeys([*allowed, *table]))
        self.preferred = len(allowed)
        able = [np.broadcast_to(permitted(job.environment, key, algorithm, protocol), job.bytes.shape) for key in self.keys]
        self.able = np.stack(able)

    def __call__(self, parameters: Physics) -> tuple[Floats, Ints]:
        """(µs, place in `keys`) of every row."""
        terms = parameters.columns(np.asarray(self.job.generation), np.asarray(self.job.transport))
        times = np.stack([np.broadcast_to(capped(self.forms[key](terms)), self.job.bytes.shape) for key in self.keys])
        times = np.where(self.able, times, NEVER)
        best = np.argmin(times[: self.preferred], axis=0)
        rows = np.arange(len(best))
        best = np.where(times[best, rows] >= NEVER, np.argmin(times, axis=0), best)
        found: Floats = times[best, rows]
        return found, best

    def slopes(self, key: Key, rows: Ints, parameters: Physics, steps: Mapping[str, float]) -> dict[str, Floats]:
        """`Sample.slopes` of some rows where `key` runs, for the parameters that its form reads."""
        job = self.job.rows(rows)
        form = {**forms(job), **others(job)}[key]
        terms = _Noted(parameters.columns(np.asarray(job.generation), np.asarray(job.transport)))
        base = np.log(form(terms))
        names = [name for name in steps if name in terms.read]
        many: dict[str, Any] = dict(terms)
        for at, name in enumerate(names):
            factor = np.ones((len(names), 1))
            factor[at] = np.exp(steps[name])
            many[name] = many[name] * factor
        return dict(zip(names, np.log(form(many)) - base, strict=True)) if names else {}


class _Noted(dict[str, Any]):
    """Terms that note which of them are read."""

    def __init__(self, terms: Mapping[str, Any]) -> None:
        super().__init__(terms)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)


@dataclass(frozen=True)
class ScoredRows:
    """Scored rows of tables, grouped by collective and by the configured algorithm and protocol of NCCL."""

    tables: tuple[Table, ...]
    groups: tuple[tuple[str, str, Job], ...]  # forced algorithm and protocol of each group, and its rows
    table: Ints  # of every row, in the order of the groups
    bytes: Floats
    time_us: Floats

    def predict(self, parameters: Physics) -> Floats:
        """µs of every row; where a forced algorithm cannot run, of what NCCL would choose."""
        return np.concatenate([form(parameters)[0] for form in self._forms])

    def slopes(self, parameters: Physics, steps: Mapping[str, float]) -> dict[str, Floats]:
        """Parameter → change of the logarithm of every row's time where its own value grows by the factor exp(step).

        The algorithm of a row stays: beside the points where the choice changes, the slope of the least time is that of
        the time that is least.
        """
        changes: dict[str, Floats] = {name: np.zeros(len(self.table)) for name in steps}
        start = 0
        for form in self._forms:
            _, chosen = form(parameters)
            for at, key in enumerate(form.keys):
                rows = np.flatnonzero(chosen == at)
                if len(rows):
                    for name, change in form.slopes(key, rows, parameters, steps).items():
                        changes[name][start + rows] = change
            start += len(chosen)
        return changes

    @cached_property
    def _forms(self) -> list[_Group]:
        return [_Group(*group) for group in self.groups]

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


def sample(tables: Sequence[Table]) -> ScoredRows:
    """The scored rows of tables."""
    scored = tuple(table for table in tables if table.scored_rows)
    kinds: dict[tuple[str, str, str], list[int]] = {}
    for at, table in enumerate(scored):
        key = (table.collective, table.platform.algorithm, table.platform.protocol)
        kinds.setdefault(key, []).append(at)
    groups, owner, times = [], [], []
    for (_, algorithm, protocol), members in kinds.items():
        groups.append((algorithm, protocol, stack([job_of(scored[at]) for at in members])))
        for at in members:
            owner += [at] * len(scored[at].scored_rows)
            times += [row.time_us for row in scored[at].scored_rows]
    sizes = np.concatenate([job.bytes for _, _, job in groups]) if groups else np.empty(0)
    return ScoredRows(scored, tuple(groups), np.array(owner, np.int64), sizes, np.array(times))


def job_of(table: Table) -> Job:
    """The run of a table, a row for each of its scored sizes."""
    return measured_job(table.collective, table.platform, np.array([row.bytes for row in table.scored_rows], np.float64))


def predicted(table: Table, parameters: Physics) -> Floats:
    """µs of the scored rows of a table, [rows], as in `fabric estimate`: no size takes less time than a smaller one."""
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
    return Kind(generation, kind, COLLECTIVES[table.collective].family)


def stands_for(table: Table, parameters: Physics) -> list[str]:
    """What stands for an algorithm that cannot run, or for parameters that no table was fitted to."""
    notes, platform = [], table.platform
    runs, times = monotone(job_of(table), parameters, platform.algorithm, platform.protocol)
    if not _runs(runs, times):
        configured = "/".join(word for word in (platform.algorithm, platform.protocol) if word != "auto")
        notes.append(f"{configured} cannot run this {table.collective}: predicted as NCCL would choose")
    if parameters.measured:
        for kind, what in zip(kinds_of(table)[:2], ("GPU generation", "transport"), strict=True):
            if kind not in parameters.measured:
                notes.append(f"{what} {kind} was never measured: predicted from its relatives, the band is not to be trusted")
    notes += beyond(kinds_of(table), platform.ranks, platform.domain_ranks, parameters.coverage)
    if float(job_of(table).slots) > 1:
        notes.append(BETWEEN_BRIDGES)
    return notes


def relatives(table: Table) -> list[str]:
    """What of a table's platform is not known, and what stands for it."""
    found, gpu = [], physics.gpu(table.platform.gpu)
    if not gpu.known:
        found.append(f"GPU {table.platform.gpu} is not known: predicted as {gpu.name}, its nearest relative")
    if table.platform.crosses_network:
        word = table.platform.transport
        if not physics.transport_known(word):
            found.append(f"transport {word} is not known: predicted as {physics.transport(word, gpu.generation)}")
    return found


def _runs(runs: Runs, times: Floats | None) -> bool:
    return bool(runs.keys) and times is not None and not bool((times >= NEVER).any())
