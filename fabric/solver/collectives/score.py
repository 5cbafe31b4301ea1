"""Measured tables as columns, all of a kind at once, and the error of the estimate in percent of the measured time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from fabric.base.schemas.models import Amount, Count, Document, Number, Text, document, each_of, json_key
from fabric.base.text import aligned
from fabric.solver import Floats, Ints
from fabric.solver.collective import COLLECTIVES
from fabric.solver.collectives import physics
from fabric.solver.collectives.algorithms import ALIASES, NEVER, Runs, allowed as _allowed, capped, monotone
from fabric.solver.collectives.band import BETWEEN_BRIDGES, SIZES as BANDS, band_of, beyond, within
from fabric.solver.collectives.costs import Key, forms, others
from fabric.solver.collectives.job import Job, measured_job, permitted, stack
from fabric.solver.collectives.physics import Kind, Physics
from fabric.solver.measured.tables import Table

# --- sample ---------------------------------------------------------------------------------------------------
# Measured tables as columns that the model is compared with, all tables of a kind at once.


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
    groups: tuple[tuple[str, str, Job], ...]  # (forced algorithm, forced protocol, rows) of each group
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
        for kind, title in zip(kinds_of(table)[:2], ("GPU generation", "transport"), strict=True):
            if kind not in parameters.measured:
                notes.append(
                    f"{title} {kind} was never measured: predicted from its relatives, the band is not to be trusted"
                )
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


# --- error of the estimate ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TableScore:
    """One table: sizes, and estimated over measured time less 1."""

    id: str
    collective: str
    bytes: Floats
    error: Floats
    siblings: bool = True  # False: the fit had no table of this kind
    notes: tuple[str, ...] = ()
    inside: int = 0  # rows whose measured time lies in the band


@dataclass(frozen=True)
class Score:
    """Every scored table, and why the others are not."""

    tables: tuple[TableScore, ...]
    not_scored: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return document(self, ScoreDocument)

    def lines(self) -> list[str]:
        """A row per measured table: rows, median error, and signed median error by band of message sizes."""
        out = ["signed medians by message size: + is estimated too slow", ""]
        related = [table for table in self.tables if table.siblings]
        others = [table for table in self.tables if not table.siblings]
        out += table_lines(related)
        if others:
            out += ["", "without a similar table in the fit, predicted from the nearest ones", *table_lines(others)]
        out += [f"note: {table.id}: {text}" for table in self.tables for text in table.notes]
        if self.tables:
            out += ["", *_totals("tables with a similar one in the fit" if others else "all tables", related)]
            out += _totals("all tables", self.tables) if others else []
        return [*out, *(f"not scored: {name}: {reason}" for name, reason in sorted(self.not_scored.items()))]


def score(tables: Sequence[Table], parameters: Physics) -> Score:
    """Compares the estimate with measured tables."""
    return Score(
        tuple(score_table(table, parameters) for table in tables if table.scored_rows),
        {table.id: table.why_not or "no rows" for table in tables if not table.scored_rows},
    )


def score_table(table: Table, parameters: Physics, siblings: bool = True) -> TableScore:
    """One table."""
    measured = np.array([row.time_us for row in table.scored_rows])
    sizes = np.array([row.bytes for row in table.scored_rows], dtype=np.float64)
    estimated, ran = predicted(table, parameters), table.platform
    low, high = band_of(job_of(table), parameters, ran.algorithm, ran.protocol)
    inside = int(np.sum((measured >= low * estimated) & (measured <= high * estimated)))
    notes = (*relatives(table), *stands_for(table, parameters))
    error = estimated / measured - 1
    return TableScore(
        id=table.id, collective=table.collective, bytes=sizes, error=error, siblings=siblings, notes=notes, inside=inside
    )


def median(error: Floats) -> float:
    """Median absolute error in percent; `error`: [rows], (predicted - measured) / measured."""
    return percentile(error, 50)


def percentile(error: Floats, share: float) -> float:
    """Percentile (`share` from 0 to 100) of the absolute error, in percent; 0 without rows."""
    return round(float(np.percentile(np.abs(error), share)) * 100, 2) if len(error) else 0.0


def _joined(tables: Sequence[TableScore]) -> tuple[Floats, Floats]:
    empty = np.empty(0)
    return (
        np.concatenate([table.bytes for table in tables] or [empty]),
        np.concatenate([table.error for table in tables] or [empty]),
    )


def _bias(table: TableScore, band: str) -> float | None:
    some = table.error[within(table.bytes, band)]
    return round(float(np.median(some)) * 100, 1) if len(some) else None


class ErrorDocument(Document):
    """Of errors, [rows]."""

    rows: Count = json_key(of=len)
    mdape: Amount | None = json_key(of=lambda error: median(error) if len(error) else None)


class TableDocument(Document):
    rows: Count = json_key(of=lambda table: len(table.error))
    mdape: Amount | None = json_key(of=lambda table: median(table.error) if len(table.error) else None)
    inside_band: Count = json_key(of="inside")
    bias: Number = json_key(
        "median error with its sign: + is estimated too slow",
        lambda table: round(float(np.median(table.error)) * 100, 2),
    )
    bands: Annotated[dict[str, Number | None], each_of(BANDS)] = json_key(
        "medians with their sign", lambda table: {name: _bias(table, name) for name in BANDS}
    )
    siblings: bool = json_key("whether the fit knows a table like it")
    notes: list[str]


class ScoreDocument(Document):
    """All errors in percent."""

    rows: Count = json_key(of=lambda score: len(_joined(score.tables)[1]))
    mdape: Amount = json_key("median absolute error", lambda score: median(_joined(score.tables)[1]))
    inside_band: Count = json_key(
        "rows whose measured time lies in the band", lambda score: sum(table.inside for table in score.tables)
    )
    p90: Amount = json_key("90th percentile", lambda score: percentile(_joined(score.tables)[1], 90))
    bands: Annotated[dict[str, ErrorDocument], each_of(BANDS)] = json_key(of=lambda score: _by_band(*_joined(score.tables)))
    tables: dict[str, TableDocument] = json_key(of=lambda score: {table.id: table for table in score.tables})
    not_scored: dict[str, Text] = json_key("table: reason")


def _by_band(sizes: Floats, error: Floats) -> dict[str, Floats]:
    return {name: error[within(sizes, name)] for name in BANDS}


def table_lines(tables: Sequence[TableScore]) -> list[str]:
    """A row per table."""
    head = ("table", "collective", "rows", "median", *BANDS)
    rows = [
        (
            table.id,
            table.collective,
            f"{len(table.error):,}",
            f"{median(table.error):.1f} %",
            *(_signed(_bias(table, band)) for band in BANDS),
        )
        for table in tables
    ]
    return aligned(rows, "<<" + ">" * (2 + len(BANDS)), head=head) if rows else []


def _signed(value: float | None) -> str:
    return "." if value is None else f"{value:+.0f} %"


def _totals(title: str, tables: Sequence[TableScore]) -> list[str]:
    size, error = _joined(tables)
    bands = ", ".join(f"{name} {median(error[within(size, name)]):.1f} %" for name in BANDS)
    return [
        f"{title}: {len(error)} rows, median {median(error):.1f} %, 90th percentile {percentile(error, 90):.1f} %; {bands}"
    ]
