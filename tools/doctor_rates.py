"""How often the doctor is right on measured tables: `python -m tools.doctor_rates tests/reference/collectives …`.

Each source is left out of a fit in turn, which takes most of an hour. The error on its tables is the noise: a table as it was
measured should be healthy, and a cause injected into it should be named. Prints the rates of docs/doctor.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fabric.base.text import aligned, percent
from fabric.solver.collectives import band
from fabric.solver.collectives.physics import Physics
from fabric.solver.collectives.score import job_of
from fabric.solver.collectives.validation import Predicted, left, predict
from fabric.solver.doctor.causes import Cause, Effect, causes
from fabric.solver.doctor.diagnosis import Curve, Setting, can_concern, diagnose
from fabric.solver.doctor.evidence import Evidence
from fabric.solver.estimate.platform import platform
from fabric.solver.measured.tables import read_all

MIN_SIZES = 3
MIN_TIME_FACTOR = 1.25  # of the time of one size, by an injected cause
NONE = Evidence()


@dataclass(frozen=True)
class Case:
    """A cause injected into a table, and whether the doctor names it."""

    cause: str
    named: bool  # any cause
    found: bool  # the right one, among the first three


Cluster = tuple[tuple[Curve, ...], Setting]


def clusters(predictions: Iterable[Predicted], parameters: Physics) -> list[Cluster]:
    """Tables of one source with the same servers, if they are of two collectives at least."""
    groups: dict[tuple[str, int, int], dict[str, tuple[Curve, Setting]]] = {}
    for table in predictions:
        for curve, setting in curves([table], parameters):
            ran = table.table.platform
            group = groups.setdefault((table.source, ran.nodes, ran.gpus_per_node), {})
            group.setdefault(table.table.collective, (curve, setting))
    several = [list(group.values()) for group in groups.values() if len(group) > 1]
    return [(tuple(curve for curve, _ in group), group[0][1]) for group in several]


def curves(predictions: Iterable[Predicted], parameters: Physics) -> Iterator[tuple[Curve, Setting]]:
    """Tables as they would be measured if the estimate erred as it does on a source that was left out."""
    for table in predictions:
        if len(table.bytes) < MIN_SIZES:
            continue
        ran = table.table.platform
        low, high, _ = band.shipped().factors(table.kind, table.bytes, ran.ranks, ran.domain_ranks, table.known)
        curve = Curve(
            name=table.table.id,
            job=job_of(table.table),
            measured_us=table.measured_us,
            low=low,
            high=high,
            algorithm=ran.algorithm,
            protocol=ran.protocol,
        )
        noise = table.measured_us / table.time_us
        yield replace(curve, measured_us=curve.estimate(parameters) * noise), Setting(planes=2, nics=ran.nics_per_node)


def one_number(cluster: Cluster, random: np.random.Generator) -> Cluster:
    """The first run with one of its sizes only, as a report with a single number."""
    (curve, *_), setting = cluster
    at = int(random.integers(len(curve.measured_us)))
    one = slice(at, at + 1)
    job = curve.job.of(np.asarray(curve.job.bytes)[one])
    return (replace(curve, job=job, measured_us=curve.measured_us[one], low=curve.low[one], high=curve.high[one]),), setting


def injected(cluster: Cluster, parameters: Physics, with_log: bool, random: np.random.Generator) -> Iterator[Case]:
    """Every cause that the runs can have and that changes one of them, with one of its effects."""
    tables, setting = cluster
    healthy = [curve.estimate(parameters) for curve in tables]
    for cause in causes():
        concerned = [can_concern(cause, curve, setting, stated=True) for curve in tables]
        if not any(concerned):
            continue
        effect, line = _effect(cause, setting, random)
        if effect is None:
            continue
        slower = [
            curve.estimate(parameters, effect) / time if touched else np.ones(len(time))
            for curve, time, touched in zip(tables, healthy, concerned, strict=True)
        ]
        if max(np.max(factor) for factor in slower) < MIN_TIME_FACTOR:
            continue
        evidence = Evidence(line) if with_log else NONE
        sick = [replace(curve, measured_us=curve.measured_us * factor) for curve, factor in zip(tables, slower, strict=True)]
        result = diagnose(sick, parameters, evidence, setting)
        names = [suspect.cause.name for suspect in result.suspects]
        yield Case(cause.name, bool(names), cause.name in names[:3])


def _effect(cause: Cause, setting: Setting, random: np.random.Generator) -> tuple[Effect | None, str]:
    """(what is injected, the line that NCCL would print); no effect where the design has one NIC only."""
    if cause.name == "few_nics":
        effect = Effect(net=1 / setting.nics) if setting.nics > 1 else None
        return effect, "NET/IB : Using [0]mlx5_0:1/IB [RO]"
    return cause.effects[int(random.integers(len(cause.effects)))], cause.example


def report(cases: Sequence[Case], title: str) -> list[str]:
    """Rates by cause and of all."""
    groups = {name: [case for case in cases if case.cause == name] for name in sorted({case.cause for case in cases})}
    rows = [
        (name, str(len(group)), percent(_share(group, "named")), percent(_share(group, "found")))
        for name, group in [*groups.items(), ("all", list(cases))]
    ]
    return ["", title, *aligned(rows, "<>>>", head=("cause", "cases", "named", "first three"))]


def _share(cases: Sequence[Case], field: str) -> float:
    return float(np.mean([getattr(case, field) for case in cases]))


def lines(predictions: Sequence[Predicted]) -> list[str]:
    """All rates."""
    parameters = platform(None)
    runs: list[Cluster] = [((curve,), setting) for curve, setting in curves(predictions, parameters)]
    sick = [tables[0].name for tables, setting in runs if diagnose(tables, parameters, NONE, setting).suspects]
    out = [f"healthy tables with a cause: {len(sick)} of {len(runs)}", *(f"  {name}" for name in sick)]
    for with_log, title in ((True, "injected, with the line of the log"), (False, "injected, without a log")):
        random = np.random.default_rng(1)
        cases = [case for run in runs for case in injected(run, parameters, with_log, random)]
        out += report(cases, title)
    random = np.random.default_rng(1)
    single = [one_number(run, random) for run in runs]
    wrong = sum(bool(diagnose(tables, parameters, NONE, setting).suspects) for tables, setting in single)
    out += ["", f"healthy single numbers with a cause: {wrong} of {len(single)}"]
    for with_log, title in ((True, "with the line of the log"), (False, "without a log")):
        cases = [case for run in single for case in injected(run, parameters, with_log, random)]
        out += report(cases, f"injected, one number, {title}")
    several = clusters(predictions, parameters)
    if not several:
        return out
    wrong = sum(bool(diagnose(tables, parameters, NONE, setting).suspects) for tables, setting in several)
    out += ["", f"healthy clusters of several collectives with a cause: {wrong} of {len(several)}"]
    random = np.random.default_rng(1)
    cases = [case for run in several for case in injected(run, parameters, False, random)]
    return out + report(cases, "injected into all collectives of a cluster, without a log")


def main(paths: Sequence[str]) -> None:
    tables = read_all([Path(path) for path in paths])
    predictions = [item for task in left(tables, [], "source") for item in predict(task)]
    print("\n".join(lines(predictions)))


if __name__ == "__main__":
    main(sys.argv[1:])
