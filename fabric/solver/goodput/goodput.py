"""What a design is worth to a job over a year: interruptions, checkpoints, useful time, GPU-hours lost by cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, SkipValidation

from fabric.base.rounding import ceil_div
from fabric.base.schemas.models import (
    Amount,
    Document,
    Factor,
    Number,
    Positive,
    Share,
    Text,
    Unlimited,
    document,
    enum_of,
    extended,
    json_key,
)
from fabric.model.plan import FabricPlan
from fabric.solver import Bools, Floats, PortNamer, unnamed
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.estimate.training import placed
from fabric.solver.goodput import sections
from fabric.solver.goodput.failures import (
    STOPS,
    Part,
    Restart,
    Saving,
    Sizes,
    best_interval_s,
    daly_s,
    effective_s,
    first_order_share,
    parts,
    restarting,
    sizes,
    standby_share,
    useful_share,
    waiting_odds,
    writers,
    young_s,
)
from fabric.solver.goodput.sections import DAYS_PER_YEAR, HOURS_PER_YEAR, Checkpoint, Failures, Rate, Sections, rates, stated
from fabric.solver.goodput.storage import StorageRates, storage_rates
from fabric.solver.routing import MODES
from fabric.solver.training.file import JobText
from fabric.solver.training.job import TrainingJob
from fabric.solver.training.step import StepTime

SECONDS_PER_YEAR = HOURS_PER_YEAR * 3600
DRAWS = 4000
IN_SERVERS = frozenset({"gpu", "server", "nic"})
KINDS = ("gpu", "server", "nic", "copper", "optical", "switch", "power", "cooling")  # of parts that fail
OF_SITE = frozenset({"power", "cooling"})  # they take many servers at once: the job waits for them
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
    """10th and 90th percentile by the ranges of the failure rates; null: unlimited."""

    value: Unlimited
    p10: Unlimited
    p90: Unlimited


@dataclass(frozen=True, kw_only=True)
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
    ready: float = 1.0  # share of the time in which the job has its servers and switches
    effective_restart_s: float = 0.0  # u of the renewal form
    spare_gpus: int = 0  # of spare and hot-standby servers, which do no work of the job
    spare_servers: int | None = None  # that take the place of failed ones, hot standby included; None: one is always left
    other_models: tuple[str, ...] = ()  # servers with GPUs that the job does not use
    storage: StorageRates | None = None  # where the plan gives the rates of checkpoints

    def useful_at(self, interval_s: float) -> float:
        """Useful share of the time with another interval."""
        per_s = 1 / (self.mtti_hours.value * 3600)
        return self.ready * float(useful_share(per_s, self.effective_restart_s, interval_s, self.saving.stall_s))

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return document(self, GoodputDocument)


class YearlyRate(Document):
    low: Amount
    typical: Amount
    high: Amount


class PartDocument(Document):
    kind: Annotated[str, enum_of(KINDS)] = json_key(of="part.kind")
    place: str = json_key("role of a switch or kind of a link, empty for parts of servers", "part.place")
    count: Positive = json_key(of="part.count")
    effect: Annotated[str, enum_of(("stops", "slows"))] = json_key(of=lambda row: "stops" if row.part.stops else "slows")
    slowdown: Factor | None = json_key(
        "step time with one of them failed over that without; null: the job stops",
        lambda row: None if row.part.stops else row.part.slowdown,
    )
    example: str = json_key("the one that failed", "part.example")
    per_part_and_year: YearlyRate = json_key(of="rate")
    per_year: Amount = json_key("failures of all of them")
    source: str = json_key(of="rate.source")


class CurveDocument(Document):
    interval_s: Number = json_key(of=0)
    useful: Share = json_key(of=1)


class LostDocument(Document):
    cause: str = json_key(of=0)
    gpu_hours: Amount = json_key(of=1)


SavingDocument = extended(Saving, curve=(list[CurveDocument], ...))


class GoodputDocument(Document):
    fabric: str
    gpus: Positive
    parts: list[PartDocument] = json_key("those whose failure stops the job first, the most frequent first", "interruptions")
    mtti_hours: Span
    checkpoint: SavingDocument = json_key(of="saving")  # type: ignore[valid-type]  # made at run time
    useful: Span
    useful_first_order: Annotated[float, Field(le=1), SkipValidation] = json_key(
        "published approximation; below 0 where failures are frequent", "first_order"
    )
    degraded: Factor = json_key("mean step time over that of a network without failures")
    step_ms: Amount = json_key(of="step.step_ms")
    placement: Text = json_key(of="step.placement")
    routing: Annotated[str, enum_of(MODES)] = json_key(of="step.routing")
    queue_pairs: Positive = json_key(of="step.queue_pairs")
    tokens_per_day: Span
    lost_gpu_hours_per_year: list[LostDocument] = json_key(of="lost_gpu_hours")
    other_models: list[str] = json_key("servers with GPUs that the job does not use")
    ready: Share = json_key("share of the time in which the job does not wait for a repair")
    spare_gpu_hours_per_year: Amount = json_key(
        "of spare and hot-standby servers, which do no work of the job",
        lambda goodput: goodput.spare_gpus * HOURS_PER_YEAR,
    )
    storage: StorageRates | None = json_key("rates of checkpoints by the plan; null where JOB states them")


def goodput(
    fabric: FabricPlan,
    request: EstimateRequest,
    source: Path | JobText,
    placement: str,
    optical: Bools,
    port_name: PortNamer = unnamed,
    *,
    fabrics: Mapping[str, FabricPlan] | None = None,
) -> Goodput:
    """The job of a file on a fabric.

    Args:
        optical: of every link of the plan, whether its cable has optics.
        fabrics: those of the site, for the storage; default: the fabric of the job.

    Raises:
        InputError: mistakes of the file, or a job that does not fit the fabric.
    """
    whole = placed(fabric, request, source, placement, port_name)
    asked, job, step = sections.read(whole.root, whole.name), whole.job(), whole.time()

    def step_of(fail: tuple[str, ...]) -> float:
        if not fail:
            return step.step_ms
        broken = replace(request, fail=(*request.fail, *fail))
        return placed(fabric, broken, source, placement, port_name).time().step_ms

    placing = whole.groups.supply.placement
    used = parts(whole.groups.supply.net, placing.servers, placing.gpus, optical, step_of if placing.domains > 1 else None)
    storage = None
    if not asked.checkpoint.write_GBps:
        names = [fabric.devices[at].name for at in placing.servers.tolist()]
        writing = [names[at] for at in writers(job, asked.checkpoint.writers, placing.gpus_per_server)]
        sites = fabrics or {fabric.name: fabric}
        storage = storage_rates(sites, fabric.name, names, writing, asked.checkpoint, asked.place)
        checkpoint = replace(asked.checkpoint, write_GBps=storage.write_GBps, read_GBps=storage.read_GBps)
        asked = replace(asked, checkpoint=checkpoint)
    result = evaluate(fabric.name, job, step, asked, used, request.seed, server_gpus=placing.gpus_per_server)
    return replace(result, storage=storage, other_models=placing.others)


def evaluate(
    name: str,
    job: TrainingJob,
    step: StepTime,
    settings: Sections,
    used: Sequence[Part],
    seed: int = 0,
    *,
    server_gpus: int = 8,
) -> Goodput:
    """The same from the parts of the job and its step. The rates of the storage are known."""
    failures = settings.failures
    rows = _interruptions((*used, *_of_site(used, failures)), failures)
    per_year = _per_year(rows, seed)
    per_s = sum((value for part, value in per_year if part.stops), np.zeros(1 + DRAWS)) / SECONDS_PER_YEAR
    ready, slow = _ready(per_year, failures), _degraded(per_year, failures)
    size = sizes(job, settings.checkpoint, server_gpus)
    back = _restarts(per_year, settings, size)
    effective = effective_s(per_s, back)
    saving = _saving(settings.checkpoint, size, back, float(per_s[0]), float(ready[0]), float(effective[0]))
    share = useful_share(per_s, effective, saving.interval_s, saving.stall_s) * ready
    with np.errstate(divide="ignore"):
        between_hours = 1 / (per_s * 3600)
    return Goodput(
        fabric=name,
        gpus=job.gpus,
        interruptions=rows,
        mtti_hours=_span(between_hours),
        saving=saving,
        useful=_span(share),
        first_order=float(first_order_share(per_s[0], saving.restart_s, saving.interval_s, saving.stall_s)),
        degraded=float(slow[0]),
        step=step,
        tokens_per_day=_span(step.tokens_per_second * 86400 * share / slow),
        lost_gpu_hours=_lost(
            job.gpus, float(per_s[0]), saving, back, float(ready[0]), float(slow[0]), share=float(share[0]), step=step
        ),
        ready=float(ready[0]),
        effective_restart_s=float(effective[0]),
        spare_gpus=(failures.spares or 0) * server_gpus,
        spare_servers=failures.spares,
    )


def _of_site(used: Sequence[Part], failures: Failures) -> list[Part]:
    """Power distribution units and cooling zones of the job, where their servers are stated."""
    servers = next((part.count for part in used if part.kind == "server"), 0)
    sizes_ = {"power": failures.power_domain_servers, "cooling": failures.cooling_domain_servers}
    return [Part(kind, "", ceil_div(servers, size), STOPS, "") for kind, size in sizes_.items() if size and servers]


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


def _saving(
    checkpoint: Checkpoint, size: Sizes, back: Sequence[Restart], per_s: float, ready: float, effective_s_: float
) -> Saving:
    """Interval and curve of a job that has its servers for the share `ready` of the time."""
    stall_s, least_s = size.stall_s, size.least_interval_s if checkpoint.background else 0.0
    best_s = float(best_interval_s(per_s, stall_s)) if per_s else SECONDS_PER_YEAR
    interval_s = checkpoint.interval_s or max(best_s, least_s)
    curve = sorted({max(factor * interval_s, least_s) for factor in CURVE})

    def mean(name: str) -> float:
        return sum(float(item.share[0]) * float(getattr(item, name)) for item in back)

    return Saving(
        size_GB=size.size_GB,
        write_s=size.write_s,
        stall_s=stall_s,
        restart_s=mean("seconds"),
        detection_s=mean("detection_s"),
        start_s=mean("start_s"),
        load_s=mean("load_s"),
        repeated_s=mean("repeated_s"),
        interval_s=interval_s,
        best_s=best_s,
        young_s=float(young_s(per_s, stall_s)) if per_s else SECONDS_PER_YEAR,
        daly_s=float(daly_s(per_s, stall_s)) if per_s else SECONDS_PER_YEAR,
        curve=tuple((at, ready * float(useful_share(per_s, effective_s_, at, stall_s))) for at in curve),
    )


def _restarts(per_year: Sequence[tuple[Part, Floats]], settings: Sections, size: Sizes) -> tuple[Restart, ...]:
    """The kinds of restart with their shares of the failures."""
    failures, checkpoint = settings.failures, settings.checkpoint
    load, together = _demand(per_year, failures)
    stops = sum((value for part, value in per_year if part.stops), np.zeros_like(load))
    waiting = sum(together.values(), np.zeros_like(load))
    waits = np.divide(waiting, stops, out=np.zeros_like(load), where=stops > 0)
    hot = (1 - waits) * (standby_share(load, failures.spares or 0) if failures.hot_standby_servers else 0.0)
    unsaved_s = size.write_s if checkpoint.background else 0.0
    local = checkpoint.local_GBps_per_server > 0
    of_switch = (size.local_read_s, 0.0) if local else (size.read_s, unsaved_s)
    kinds = (
        (1 - waits - hot, failures.restart_s, size.read_s, unsaved_s),
        (hot, failures.standby_restart_s, size.read_s, unsaved_s),
        (waits, failures.restart_s, *of_switch),
    )
    return tuple(Restart(share, failures.detection_s, *seconds) for share, *seconds in kinds if share.any())


def _demand(per_year: Sequence[tuple[Part, Floats]], failures: Failures) -> tuple[Floats, dict[str, Floats]]:
    """(servers in repair in the mean while the job runs; failures a year, by kind, that no spare server helps against). A
    failed cable that stops the job takes its server out of use."""
    load, together = np.zeros_like(per_year[0][1]), dict[str, Floats]()
    for part, value in per_year:
        hours = failures.server_repair_hours if part.kind in IN_SERVERS else failures.repair_hours
        if part.stops and (part.kind == "switch" or part.kind in OF_SITE):
            together[part.kind] = together.get(part.kind, 0.0) + value
        elif part.stops:
            load = load + value * hours / HOURS_PER_YEAR
    return load, together


def _per_year(rows: Sequence[Interruption], seed: int) -> list[tuple[Part, Floats]]:
    """Failures of each kind of part in a year: typical, then at DRAWS random quantiles of the rates; one draw per kind."""
    dice = np.random.default_rng(seed)
    drawn = {kind: np.append(0.5, dice.random(DRAWS)) for kind in sorted(rates(), key=lambda kind: (kind in OF_SITE, kind))}
    return [(row.part, row.part.count * row.rate.at(drawn[row.part.kind])) for row in rows]


def _ready(per_year: Sequence[tuple[Part, Floats]], failures: Failures) -> Floats:
    """Share of the time in which the job has its servers; for a switch that stops it the job waits, as it takes several, and
    so for power and cooling."""
    load, together = _demand(per_year, failures)
    hours = {"switch": failures.repair_hours, "power": failures.power_hours, "cooling": failures.cooling_hours}
    odds = np.zeros_like(load) if failures.spares is None else waiting_odds(load, failures.spares)
    for kind, value in together.items():
        if failures.spares is not None or kind in OF_SITE:
            odds = odds + value * hours[kind] / HOURS_PER_YEAR
    return 1 / (1 + odds)


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
    gpus: int,
    per_s: float,
    saving: Saving,
    back: Sequence[Restart],
    ready: float,
    slow: float,
    *,
    share: float,
    step: StepTime,
) -> tuple[tuple[str, float], ...]:
    """GPU-hours of a year that do not compute, the most first; `share` of the time is useful."""
    restarts = ready * restarting(per_s, back)
    stalls = share * saving.stall_s / saving.interval_s
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
