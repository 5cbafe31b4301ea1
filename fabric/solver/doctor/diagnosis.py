"""Which cause explains measured times best: likelihood of the curve with each cause, times what the log says.

The logarithm of measured over estimated time has the mean and spread of the band at each size, and a heavy tail (Student's
t). The sizes of one run err alike: a run is as a whole faster or slower than estimated, and neighboring sizes more so.
A cause changes the estimate. Bayes' rule gives the share of each cause and of a healthy run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabric.diagnostics import Diagnostic
from fabric.solver import Floats
from fabric.solver.collectives import physics
from fabric.solver.collectives.choice import monotone
from fabric.solver.collectives.job import Job
from fabric.solver.collectives.physics import Physics
from fabric.solver.doctor.causes import Cause, Effect, causes
from fabric.solver.doctor.evidence import Evidence

HEALTHY = 0.8  # share of healthy runs before anything was measured
SUSPECT = 0.5  # share of a healthy run from which on causes are named
LEAST_SHARE = 0.03  # of a cause that is listed
MOST_LISTED = 5
# Shares of the variance of errors on sources that were left out of the fit (docs/doctor.md): of the whole run, of neighboring
# sizes, and of each size by itself.
WHOLE, NEAR, OWN = 0.42, 0.48, 0.1
REACH = 4.0  # doublings of the size over which the likeness of neighboring sizes falls to 1/e
FREEDOM = 5.0  # degrees of freedom of Student's t
NORMAL_P90 = 1.2816
MIB = 1 << 20


@dataclass(frozen=True, eq=False)
class Curve:
    """One measured table beside its estimate."""

    name: str
    job: Job  # with the measured sizes
    measured_us: Floats
    low: Floats  # 10th and 90th percentile of the time over the estimate
    high: Floats
    algorithm: str = "auto"
    protocol: str = "auto"
    beyond_leaf: bool = True  # some of its traffic leaves the sender's leaf, so that ECMP has a choice

    def estimate(self, parameters: Physics, effect: Effect | None = None) -> Floats:
        """µs of every size; what runs is chosen for the network without the cause."""
        if effect is None:
            return monotone(self.job, parameters, self.algorithm, self.protocol)[1]
        changed = effect.on(self.job)
        times = monotone(changed, parameters, self.algorithm, self.protocol, self.job.healthy())[1]
        large = np.asarray(self.job.bytes) >= effect.above_MiB * MIB
        return np.asarray(np.where(large, times * effect.time, times))


@dataclass(frozen=True)
class Setting:
    """What the design has that a cause needs."""

    planes: int = 1
    rails: bool = True
    ecmp: bool = True
    nics: int = 0  # of a server


@dataclass(frozen=True)
class Span:
    """Neighboring sizes at which a curve is slower than its band."""

    curve: str
    first_bytes: int
    last_bytes: int
    slower: float  # median of measured over estimated time


@dataclass(frozen=True)
class Suspect:
    """A cause and its share among all explanations."""

    cause: Cause
    share: float
    evidence: str = ""  # line or variable that points to it


@dataclass(frozen=True)
class Diagnosis:
    """What was measured against what was estimated."""

    spans: tuple[Span, ...]
    suspects: tuple[Suspect, ...]  # the most likely first, () for a healthy run
    healthy: float  # share of a healthy run
    warnings: tuple[Diagnostic, ...] = ()  # of the tables, such as GPUs that are not those of the design


def diagnose(curves: Sequence[Curve], parameters: Physics, evidence: Evidence, setting: Setting) -> Diagnosis:
    """The causes of slow curves of one cluster, which has one cause at a time."""
    healthy = sum(_likelihood(curve, curve.estimate(parameters)) for curve in curves)
    found = [item for cause in causes() if (item := _suspect(cause, curves, parameters, evidence, setting))]
    prior = sum(cause.prior for cause, _, _ in found)
    logs = np.array(
        [math.log(HEALTHY) + healthy, *(math.log((1 - HEALTHY) * cause.prior / prior) + log for cause, log, _ in found)]
    )
    share, *shares = map(float, np.exp(logs - np.logaddexp.reduce(logs)))
    suspects = [Suspect(cause, of_cause, line) for (cause, _, line), of_cause in zip(found, shares, strict=True)]
    listed = sorted((item for item in suspects if item.share >= LEAST_SHARE), key=lambda item: (-item.share, item.cause.name))
    return Diagnosis(
        tuple(span for curve in curves for span in spans(curve, parameters)),
        tuple(listed[:MOST_LISTED]) if share < SUSPECT else (),
        share,
    )


def _suspect(
    cause: Cause, curves: Sequence[Curve], parameters: Physics, evidence: Evidence, setting: Setting
) -> tuple[Cause, float, str] | None:
    """(cause, log of its likelihood with the log's evidence, line that points to it); None where it cannot be."""
    line = evidence.points_to(cause)
    effects: Sequence[Effect] = cause.effects
    if cause.name == "few_nics" and evidence.nics and setting.nics:
        if evidence.nics >= setting.nics:
            return None
        line, effects = f"{evidence.nics} of {setting.nics} NICs", (Effect(net=evidence.nics / setting.nics),)
    if cause.name == "nccl_defect":
        known = next((item for curve in curves if (item := evidence.defect(curve.job.collective))), None)
        line = f"NCCL {evidence.release}: {known.text} ({known.source})" if known else ""
    weight = math.log(cause.weight) * (bool(line) - evidence.excludes(cause))
    touched = [curve for curve in curves if can_concern(cause, curve, setting, bool(line))]
    if not touched:
        return None
    each = [
        sum(_likelihood(curve, curve.estimate(parameters, effect if curve in touched else None)) for curve in curves)
        for effect in effects
    ]
    return cause, weight + float(np.logaddexp.reduce(each)) - math.log(len(each)), line


def can_concern(cause: Cause, curve: Curve, setting: Setting, stated: bool) -> bool:
    """Whether a cause can slow a curve on this design; `stated`: the log says that it does."""
    job = curve.job
    has = {
        "network": bool(job.crosses),
        "planes": bool(job.crosses) and (setting.planes > 1 or stated),
        "rails": bool(job.crosses) and setting.rails,
        "ecmp": bool(job.crosses) and setting.ecmp and curve.beyond_leaf,
        "inside": float(job.domain) > 1,
        "roce": bool(job.crosses) and physics.transports()[int(job.transport)] == "roce",
        "nvls": bool(job.nvls) and float(job.domain) > 1,
    }
    return (not cause.collectives or job.collective in cause.collectives) and all(has[need] for need in cause.needs)


def _likelihood(curve: Curve, estimated: Floats) -> float:
    """Log of the density of the measured times, less a constant that is the same for all causes."""
    low, high = np.log(curve.low), np.log(curve.high)
    spread = (high - low) / (2 * NORMAL_P90)
    error = (np.log(curve.measured_us / estimated) - (high + low) / 2) / spread
    doublings = np.log2(np.asarray(curve.job.bytes, dtype=np.float64))
    alike = WHOLE + NEAR * np.exp(-np.abs(doublings[:, None] - doublings[None, :]) / REACH) + OWN * np.eye(len(error))
    distance = float(error @ np.linalg.solve(alike, error))
    return -0.5 * (FREEDOM + len(error)) * math.log1p(distance / FREEDOM)


def spans(curve: Curve, parameters: Physics) -> list[Span]:
    """Where the measured time is above the 90th percentile, at two neighboring sizes at least."""
    ratio = curve.measured_us / curve.estimate(parameters)
    out, run = [], list[int]()
    for at, slow in enumerate([*(ratio > curve.high), False]):
        if slow:
            run.append(at)
            continue
        if len(run) > 1:
            sizes = curve.job.bytes
            out.append(Span(curve.name, int(sizes[run[0]]), int(sizes[run[-1]]), float(np.median(ratio[run]))))
        run = []
    return out


def document(diagnosis: Diagnosis) -> dict[str, Any]:
    """The content of `fabric doctor --json`."""
    return {
        "healthy": not diagnosis.suspects,
        "healthy_share": diagnosis.healthy,
        "spans": [
            {"table": s.curve, "first_bytes": s.first_bytes, "last_bytes": s.last_bytes, "slower": s.slower}
            for s in diagnosis.spans
        ],
        "causes": [
            {
                "cause": s.cause.name,
                "text": s.cause.title,
                "share": s.share,
                "evidence": s.evidence,
                "confirm": s.cause.confirm,
                "source": s.cause.source,
            }
            for s in diagnosis.suspects
        ],
    }
