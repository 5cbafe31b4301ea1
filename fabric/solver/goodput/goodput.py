"""What a design is worth to a job over a year: interruptions, checkpoints, useful time, GPU-hours lost by cause."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabric.plan import FabricPlan
from fabric.solver import Bools, Floats, PortNamer, unnamed
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.estimate.training import placed
from fabric.solver.goodput import renewal, sections
from fabric.solver.goodput.parts import Part, parts
from fabric.solver.goodput.rates import DAYS_PER_YEAR, HOURS_PER_YEAR, Rate, rates, stated
from fabric.solver.goodput.sections import Failures, Sections
from fabric.solver.goodput.spares import waiting_odds
from fabric.solver.training.job import TrainingJob
from fabric.solver.training.memory import STATE_BYTES
from fabric.solver.training.step import StepTime

SECONDS_PER_YEAR = HOURS_PER_YEAR * 3600
DRAWS = 4000
IN_SERVERS = frozenset({"gpu", "server", "nic"})
CURVE = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # of the best interval


@dataclass(frozen=True)
class Interruption:
    """One kind of part in the job's design."""

    part: Part
    rate: Rate

    @property
    def per_year(self) -> float:
        """Failures of all of them."""
        return self.part.count * self.rate.typical


@dataclass(frozen=True)
class Span:
    """A value with the range that the failure rates leave: 10th and 90th percentile."""

    value: float
    p10: float
    p90: float

    def as_dict(self) -> dict[str, float | None]:
        """Without infinities, which JSON does not have."""
        return {key: value if math.isfinite(value) else None for key, value in asdict(self).items()}


@dataclass(frozen=True)
class Saving:
    """A checkpoint, in seconds and GB."""

    size_GB: float
    write_s: float
    stall_s: float  # of the job
    restart_s: float  # from the failure to the first new step
    interval_s: float  # of useful time
    best_s: float
    young_s: float
    daly_s: float
    curve: tuple[tuple[float, float], ...]  # (interval, useful share)


@dataclass(frozen=True)
class Goodput:
    """A job on a design. Shares are of the wall time."""

    fabric: str
    gpus: int
    interruptions: tuple[Interruption, ...]  # those that stop the job first, the most frequent first
    mtti_hours: Span
    saving: Saving
    useful: Span
    first_order: float  # the published approximation of `useful`
    degraded: float  # mean step time over that of a whole network
    step: StepTime
    tokens_per_day: Span
    lost_gpu_hours: tuple[tuple[str, float], ...]  # of a year, by cause

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        rows = [
            {
                "kind": row.part.kind,
                "place": row.part.place,
                "count": row.part.count,
                "effect": "stops" if row.part.stops else "slows",
                "slowdown": None if row.part.stops else row.part.slowdown,
                "example": row.part.example,
                "per_part_and_year": {"low": row.rate.low, "typical": row.rate.typical, "high": row.rate.high},
                "per_year": row.per_year,
                "source": row.rate.source,
            }
            for row in self.interruptions
        ]
        curve = [{"interval_s": interval, "useful": share} for interval, share in self.saving.curve]
        lost = [{"cause": cause, "gpu_hours": hours} for cause, hours in self.lost_gpu_hours]
        return {
            "fabric": self.fabric,
            "gpus": self.gpus,
            "parts": rows,
            "mtti_hours": self.mtti_hours.as_dict(),
            "checkpoint": asdict(self.saving) | {"curve": curve},
            "useful": self.useful.as_dict(),
            "useful_first_order": self.first_order,
            "degraded": self.degraded,
            "step_ms": self.step.step_ms,
            "tokens_per_day": self.tokens_per_day.as_dict(),
            "lost_gpu_hours_per_year": lost,
        }


def goodput(
    fabric: FabricPlan,
    request: EstimateRequest,
    path: Path,
    placement: str,
    optical: Bools,
    port_name: PortNamer = unnamed,
) -> Goodput:
    """The job of a file on a fabric.

    Args:
        optical: of every link of the plan, whether its cable has optics.

    Raises:
        InputError: mistakes of the file, or a job that does not fit the fabric.
    """
    whole = placed(fabric, request, path, placement, port_name)
    asked, job, step = sections.read(whole.root, whole.name), whole.job(), whole.time()

    def step_of(fail: tuple[str, ...]) -> float:
        if not fail:
            return step.step_ms
        broken = replace(request, fail=(*request.fail, *fail))
        return placed(fabric, broken, path, placement, port_name).time().step_ms

    placing = whole.groups.supply.placement
    used = parts(whole.groups.supply.net, placing.servers, placing.gpus, optical, step_of if placing.domains > 1 else None)
    return evaluate(fabric.name, job, step, asked, used, request.seed)


def evaluate(name: str, job: TrainingJob, step: StepTime, asked: Sections, used: Sequence[Part], seed: int = 0) -> Goodput:
    """The same from the parts of the job and its step."""
    rows = _interruptions(used, asked.failures)
    per_year = _per_year(rows, seed)
    per_s = sum((value for part, value in per_year if part.stops), np.zeros(1 + DRAWS)) / SECONDS_PER_YEAR
    ready, slow = _ready(per_year, asked.failures), _degraded(per_year, asked.failures)
    saving = _saving(job, asked, float(per_s[0]), float(ready[0]))
    timing = (saving.restart_s, saving.interval_s, saving.stall_s)
    share = renewal.useful(per_s, *timing) * ready
    with np.errstate(divide="ignore"):
        between_hours = 1 / (per_s * 3600)
    return Goodput(
        fabric=name,
        gpus=job.gpus,
        interruptions=rows,
        mtti_hours=_span(between_hours),
        saving=saving,
        useful=_span(share),
        first_order=float(renewal.first_order(per_s[0], *timing)),
        degraded=float(slow[0]),
        step=step,
        tokens_per_day=_span(step.tokens_per_second * 86400 * share / slow),
        lost_gpu_hours=_lost(job.gpus, float(per_s[0]), saving, float(ready[0]), float(slow[0]), step),
    )


def _interruptions(used: Sequence[Part], failures: Failures) -> tuple[Interruption, ...]:
    """Every kind of part with its rate. A stated rate of whole servers takes the place of those of their parts."""
    shipped, rows = rates(), []
    for part in used:
        rate = shipped[part.kind]
        if part.kind in failures.per_year:
            rate = stated(rate.title, failures.per_year[part.kind])
        if failures.per_1000_node_days and part.kind in IN_SERVERS:
            if part.kind != "server":
                continue
            rate = stated("server with GPUs and NICs", failures.per_1000_node_days / 1000 * DAYS_PER_YEAR)
        rows.append(Interruption(part, rate))
    return tuple(sorted(rows, key=lambda row: (not row.part.stops, -row.per_year)))


def _saving(job: TrainingJob, asked: Sections, per_s: float, ready: float) -> Saving:
    """Sizes and times of a checkpoint of a job that has its servers for the share `ready` of the time.

    One that is written while the job runs protects only when it is whole: a failure loses the time to write it as well.
    """
    checkpoint, failures = asked.checkpoint, asked.failures
    size_GB = job.model.parameters * (checkpoint.bytes_per_parameter or job.bytes.parameter + STATE_BYTES) / 1e9
    write_s = size_GB / checkpoint.write_GBps
    stall_s = size_GB / (checkpoint.copy_GBps_per_gpu * job.gpus) if checkpoint.asynchronous else write_s
    restart_s = failures.detection_s + failures.restart_s + size_GB / checkpoint.read_GBps
    restart_s += write_s if checkpoint.asynchronous else 0.0
    best_s = float(renewal.best_interval_s(per_s, stall_s)) if per_s else SECONDS_PER_YEAR
    least_s = max(write_s - stall_s, 0.0) if checkpoint.asynchronous else 0.0  # one is written before the next begins
    interval_s = checkpoint.interval_s or max(best_s, least_s)
    curve = [max(factor * interval_s, least_s) for factor in CURVE]
    return Saving(
        size_GB=size_GB,
        write_s=write_s,
        stall_s=stall_s,
        restart_s=restart_s,
        interval_s=interval_s,
        best_s=best_s,
        young_s=float(renewal.young_s(per_s, stall_s)) if per_s else SECONDS_PER_YEAR,
        daly_s=float(renewal.daly_s(per_s, stall_s)) if per_s else SECONDS_PER_YEAR,
        curve=tuple((at, ready * float(renewal.useful(per_s, restart_s, at, stall_s))) for at in sorted({*curve})),
    )


def _per_year(rows: Sequence[Interruption], seed: int) -> list[tuple[Part, Floats]]:
    """Failures of each kind of part in a year: typical, then at DRAWS random quantiles of the rates; one draw per kind."""
    dice = np.random.default_rng(seed)
    drawn = {kind: np.append(0.5, dice.random(DRAWS)) for kind in sorted(rates())}
    return [(row.part, row.part.count * row.rate.at(drawn[row.part.kind])) for row in rows]


def _ready(per_year: Sequence[tuple[Part, Floats]], failures: Failures) -> Floats:
    """Share of the time in which the job has its servers. A failed cable that stops the job takes its server out of use; for
    a switch that stops it the job waits, as it takes several."""
    odds = np.zeros_like(per_year[0][1])
    if failures.spare_servers is None:
        return odds + 1
    load = np.zeros_like(odds)
    for part, value in per_year:
        hours = failures.server_repair_hours if part.kind in IN_SERVERS else failures.repair_hours
        if part.stops and part.kind == "switch":
            odds += value * hours / HOURS_PER_YEAR
        elif part.stops:
            load += value * hours / HOURS_PER_YEAR
    return 1 / (1 + odds + waiting_odds(load, failures.spare_servers))


def _degraded(per_year: Sequence[tuple[Part, Floats]], failures: Failures) -> Floats:
    """Mean step time over that of a whole network. Failed parts of a kind are down for the repair, Poisson in number; the
    slowest kind decides; two failures of one kind slow as one does."""
    mean, up = np.zeros_like(per_year[0][1]), np.ones_like(per_year[0][1])
    slowing = [(part, value) for part, value in per_year if not part.stops]
    for part, value in sorted(slowing, key=lambda item: -item[0].slowdown):
        all_up = np.exp(-value * failures.repair_hours / HOURS_PER_YEAR)
        mean += up * (1 - all_up) * part.slowdown
        up *= all_up
    return mean + up


def _lost(
    gpus: int, per_s: float, saving: Saving, ready: float, slow: float, step: StepTime
) -> tuple[tuple[str, float], ...]:
    """GPU-hours of a year that do not compute, the most first."""
    wall_s = float(renewal.wall_s(per_s, saving.restart_s, saving.interval_s, saving.stall_s))
    share = ready * saving.interval_s / wall_s
    restarts = ready * float(-np.expm1(-per_s * saving.restart_s))
    stalls = ready * saving.stall_s / wall_s
    waiting = {"waiting for repair": 1 - ready} if ready < 1 else {}
    causes = waiting | {
        "restarts": restarts,
        "checkpoints": stalls,
        "repeated steps": max(0.0, ready - share - restarts - stalls),
        "failed links and switches": share * (1 - 1 / slow),
        "exposed communication": share / slow * step.exposed_ms / step.step_ms,
    }
    return tuple(sorted(((cause, part * gpus * HOURS_PER_YEAR) for cause, part in causes.items()), key=lambda row: -row[1]))


def _span(values: Floats) -> Span:
    """Of the typical value and the random ones after it."""
    low, high = np.quantile(values[1:], [0.1, 0.9], method="nearest")  # no mean of infinities
    return Span(float(values[0]), float(low), float(high))
