"""The time of one training step: what the network takes in each dimension of parallelism, how much of it the computing
hides, and the tokens per second that result. docs/training.md explains every term.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.schemas import models
from fabric.base.schemas.models import (
    Amount,
    Count,
    Document,
    Number,
    Positive,
    Share,
    Text,
    described,
    document,
    enum_of,
    extended,
    json_key,
)
from fabric.solver.collective import collective_names
from fabric.solver.routing import MODES
from fabric.solver.training.checks import check
from fabric.solver.training.job import BUCKET, CHUNK, CODE, Dimension, Ratio, TrainingJob
from fabric.solver.training.memory import Memory, MemoryDocument, memory, optimizer_ms
from fabric.solver.training.traffic import OLDEST_NCCL, Traffic, defects_fixed_in, traffic

FORWARD = 1 / 3  # of the computing of a micro-batch; backward is the rest
SPREAD, SPREAD_OTHER_GPU = 0.039, 0.065
"""Standard deviation of the logarithm of measured over predicted steps, from published ladders and contrasts, beyond what the
band of the collectives has: with the utilisation of the same GPU model, and of another one. `python -m tools.step_band`
measures them and leaves out one source at a time; the second is 0.045 there, from five rows of which some were known when the
scaling of the utilisation was chosen. A utilisation that was computed from measured kernels has the second
one as well: that of published steps over it."""
NORMAL_P90 = 1.2816


class CallTime(NamedTuple):
    """µs of one call, the 10th and 90th percentile of measured times, and what limits it."""

    us: float
    p10_us: float
    p90_us: float
    limit: str = ""


TimeOf = Callable[[TrainingJob, Traffic], CallTime]
"""The time of one call of a job while all groups of the dimension call. A sendrecv is every stage's send to the next one.
The groups of `expert_data` are the GPUs that hold the same experts: data / expert ranks each. Infinite: partitioned."""


@dataclass(frozen=True, kw_only=True)
class DimensionTime:
    """What one kind of calls costs a step."""

    dimension: Dimension
    collective: Annotated[str, enum_of(collective_names())]
    ranks: Count
    bytes: Annotated[Count, described("of one call, as nccl-tests counts them")]
    calls: Count
    call_us: Amount
    total_ms: Amount
    exposed_ms: Amount
    limit: Annotated[str, described("NVLink, latency, server NICs, or the link that decides")]


@dataclass(frozen=True)
class Assumption:
    """A key that the JOB file does not state, and what another value of it would do."""

    key: Annotated[str, described("not stated in the JOB file")]
    value: Annotated[str, described("taken")]
    other: Annotated[str, described("compared with")]
    change: Annotated[Number, described("of the step time with the other value, as a share")]


@dataclass(frozen=True, kw_only=True)
class StepTime:
    """A step with the network, beside the same step without one."""

    gpus: Count
    dimensions: tuple[DimensionTime, ...]
    compute_ms: Annotated[Amount, described("of the slowest GPU of the heaviest pipeline stage")]
    communication_ms: Amount
    exposed_ms: Annotated[Amount, described("not hidden by computing")]
    bubble_ms: Annotated[Amount, described("pipeline stages waiting for the first and the last micro-batch")]
    memory: Memory
    optimizer_ms: Annotated[Amount, described("its pass over the GPU's memory")]
    overhead_ms: Annotated[Amount, described("of the JOB file")]
    step_ms: Amount
    p10_ms: Annotated[Amount, described("by the network and the spread of published steps")]
    p90_ms: Annotated[Amount, described("by the network and the spread of published steps")]
    measured_on: Annotated[str, described("GPU model of the utilisation, if it is not that of the servers")]
    rates: Ratio
    utilisation: Annotated[Amount, described("share of the data sheet while it computes; 0 where `ms` states the computing")]
    computed_utilisation: Annotated[
        Amount, described("from the shapes of the model and measured kernels; 0 where none were measured")
    ]
    spread: Annotated[Amount, described("of published steps: standard deviation of the logarithm")]
    network_p10_ms: Annotated[Amount, described("every call at the 10th percentile of measured times, computing as stated")]
    network_p90_ms: Annotated[Amount, described("every call at the 90th percentile of measured times, computing as stated")]
    ideal_ms: Annotated[Amount, described("with an infinitely fast network")]
    tokens_per_second: Amount
    ideal_tokens_per_second: Amount
    lost_to_network: Annotated[Share, described("of the tokens per second")]
    assumptions: tuple[Assumption, ...] = ()
    placement: Text = ""
    units: Annotated[Positive, described("that the job's servers stand in")] = 0
    routing: Annotated[str, enum_of(MODES)] = ""
    queue_pairs: Annotated[Positive, described("of a connection")] = 0

    @property
    def deciding(self) -> DimensionTime | None:
        """The calls with the most exposed time."""
        return max(self.dimensions, key=lambda item: item.exposed_ms, default=None)

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return document(self, StepDocument)


class RatesDocument(Document):
    matmul: models.Ratio = json_key("matrix products, without experts")
    attention: models.Ratio = json_key("core of the attention")


RATES = "the utilisation was multiplied by: share of the data sheet that kernels reach here, over that on measured_on"
StepDocument = extended(
    StepTime,
    memory=(MemoryDocument, json_key("of a GPU of the fullest pipeline stage")),
    rates=(RatesDocument, json_key(RATES)),
    states_GB=(Amount, json_key("memory of a GPU for parameters, gradients, optimizer", "memory.states_GB")),
)


def step_time(job: TrainingJob, time_of: TimeOf, domain_gpus: int) -> StepTime:
    """The time of a step, without its assumptions, on NVLink domains of `domain_gpus` GPUs.

    Raises:
        InputError: what `check` reports, or a group that cannot communicate.
    """
    mistakes = check(job)
    if mistakes:
        raise InputError(Diagnostic(CODE, Place("job"), f"{key}: {message}", hint) for key, message, hint in mistakes)
    kinds = traffic(job, domain_gpus)
    calls = [time_of(job, kind) for kind in kinds]
    for kind, call in zip(kinds, calls, strict=True):
        if not math.isfinite(call.us) or call.us < 0:
            message = f"{kind.dimension}: groups of {kind.ranks} GPUs cannot reach each other"
            hint = "check whether the failed links partition the fabric"
            raise InputError([Diagnostic(CODE, Place("job"), message, hint)])
    totals = [kind.calls * call.us / 1e3 for kind, call in zip(kinds, calls, strict=True)]
    exposed = _exposed(job, kinds, totals)
    step, bubble = _whole(job, kinds, exposed)
    ideal, _ = _whole(job, (), ())
    spread = SPREAD_OTHER_GPU if job.is_transferred or job.is_computed else SPREAD
    low, high = (
        _whole(job, kinds, _exposed(job, kinds, [kind.calls * us / 1e3 for kind, us in zip(kinds, side, strict=True)]))
        for side in ([call.p10_us for call in calls], [call.p90_us for call in calls])
    )
    return StepTime(
        gpus=job.gpus,
        dimensions=tuple(
            DimensionTime(
                dimension=kind.dimension,
                collective=kind.collective,
                ranks=kind.ranks,
                bytes=kind.bytes,
                calls=kind.calls,
                call_us=call.us,
                total_ms=total,
                exposed_ms=share,
                limit=call.limit,
            )
            for kind, call, total, share in zip(kinds, calls, totals, exposed, strict=True)
        ),
        compute_ms=job.computing_ms * job.imbalance * job.slowest,
        communication_ms=sum(totals),
        exposed_ms=sum(exposed),
        bubble_ms=bubble,
        memory=memory(job),
        optimizer_ms=optimizer_ms(job),
        overhead_ms=job.compute.overhead_ms,
        step_ms=step,
        p10_ms=step / _apart(step / low[0], spread),
        p90_ms=step * _apart(high[0] / step, spread),
        measured_on=job.compute.measured_on if job.is_transferred else "",
        rates=job.rates,
        utilisation=0.0 if job.compute.ms else job.compute.utilisation,
        computed_utilisation=job.computed_utilisation,
        spread=spread,
        network_p10_ms=low[0],
        network_p90_ms=high[0],
        ideal_ms=ideal,
        tokens_per_second=job.tokens / step * 1e3,
        ideal_tokens_per_second=job.tokens / ideal * 1e3,
        lost_to_network=1 - ideal / step,
    )


def _apart(network: float, spread: float) -> float:
    """A percentile of the step over its middle: of independent causes the squares add up."""
    return math.exp(math.hypot(math.log(network), NORMAL_P90 * spread))


def _whole(job: TrainingJob, kinds: Sequence[Traffic], exposed: Sequence[float]) -> tuple[float, float]:
    """(ms of the step, of its bubble). Every micro-batch waits for `inside`, so that it is in the bubble as well."""
    inside = sum(share for kind, share in zip(kinds, exposed, strict=True) if _every_micro_batch(job, kind))
    computing = job.computing_ms * job.slowest
    bubble = (computing + inside) * job.bubble
    busy = computing * job.imbalance + inside
    return busy + bubble + sum(exposed) - inside + optimizer_ms(job) + job.compute.overhead_ms, bubble


def _every_micro_batch(job: TrainingJob, kind: Traffic) -> bool:
    return kind.dimension in ("tensor", "context", "expert", "pipeline") or job.parallel.sharding == "full"


def _exposed(job: TrainingJob, kinds: Sequence[Traffic], totals: Sequence[float]) -> list[float]:
    """What the step waits for of each total, ms. No more is hidden than there is computing to hide it."""
    hidden = [_hidden(job, kind, total) for kind, total in zip(kinds, totals, strict=True)]
    computing = job.computing_ms
    scale = min(1.0, computing / sum(hidden)) if sum(hidden) else 1.0
    return [total - scale * share for total, share in zip(totals, hidden, strict=True)]


def _hidden(job: TrainingJob, kind: Traffic, total: float) -> float:
    """ms of a total that computing hides.

    With `chunk` one chunk of each call is exposed, the first or the last: Wang et al., ASPLOS '23,
    doi:10.1145/3567955.3567959. With `bucket` the call of a layer runs beside the computing of other layers, so one call is
    always exposed: the first all-gather, the last reduction. Sharded parameters have the computing of the whole step for
    that; else the all-gathers have the forward pass of the first micro-batches and the reductions the backward pass of the
    last ones.
    """
    share = job.overlap.get(kind.dimension.removeprefix("expert_"), 0.0)
    if share == CHUNK:
        return min(job.computing_ms, total * (1 - 1 / kind.ranks))
    if share != BUCKET:
        return total * float(share)
    window = job.computing_ms
    if job.parallel.sharding != "full":
        window *= (FORWARD if kind.kind == "gather" else 1 - FORWARD) * _together(job) / job.batch.micro_batches
    return min(window, total * (1 - 1 / kind.calls))


def _together(job: TrainingJob) -> int:
    """Micro-batches beside which the calls of data run.

    With interleaving as many micro-batches as there are stages pass one chunk of the model before the next one (Narayanan et
    al., arXiv:2104.04473, 2.2). Published steps have the time of all of them with a CUDA graph of the whole iteration, and of
    one where the host launches each kernel.
    """
    if job.parallel.interleave == 1 or job.software.cuda_graph != "full_iteration":
        return 1
    return min(job.parallel.pipeline, job.batch.micro_batches)


def assumptions(job: TrainingJob, time_of: TimeOf, domain_gpus: int) -> tuple[Assumption, ...]:
    """The keys that are not stated and matter here, the largest change first."""
    base = step_time(job, time_of, domain_gpus)
    rows = []
    for key, value, other, changed in _alternatives(job, {item.dimension for item in base.dimensions}):
        if key not in job.stated and not check(changed):
            change = step_time(changed, time_of, domain_gpus).step_ms / base.step_ms - 1
            if change or not key.startswith("software."):
                rows.append(Assumption(key, value, other, change))
    return tuple(sorted(rows, key=lambda row: (-abs(row.change), row.key)))


def _alternatives(job: TrainingJob, used: set[Dimension]) -> list[tuple[str, str, str, TrainingJob]]:
    """(key, value, other value, the job with the other value)"""
    parallel, compute, sizes = job.parallel, job.compute, job.bytes
    rows = [
        (f"overlap.{dimension}", "0", shown, replace(job, overlap={**job.overlap, dimension: share}))
        for dimension, shown, share in (
            ("tensor", "1, all hidden", 1.0),
            ("context", "1, all hidden", 1.0),
            ("expert", "1, all hidden", 1.0),
            ("pipeline", "1, all hidden", 1.0),
            ("data", BUCKET, BUCKET),
        )
        if dimension in used
    ]
    if parallel.pipeline > 1:
        twice = replace(parallel, interleave=2 * parallel.interleave, stages=())
        rows.append(("parallel.interleave", str(parallel.interleave), str(twice.interleave), replace(job, parallel=twice)))
    if {"data", "expert_data"} & used:
        other = replace(sizes, gradient=4 if sizes.gradient == 2 else 2)
        rows.append(("bytes.gradient", f"{sizes.gradient:g}", f"{other.gradient:g}", replace(job, bytes=other)))
    if "expert" in used:
        once = replace(parallel, deduplicate=not parallel.deduplicate)
        words = {False: "false", True: "true"}
        rows.append(
            (
                "parallel.deduplicate",
                words[parallel.deduplicate],
                words[once.deduplicate],
                replace(job, parallel=once),
            )
        )
        half = replace(sizes, dispatch=1 if sizes.dispatch != 1 else 2)
        rows.append(("bytes.dispatch", f"{sizes.dispatch:g}", f"{half.dispatch:g}", replace(job, bytes=half)))
    if fixed_in := defects_fixed_in(job.gpu):
        older = replace(job, software=replace(job.software, nccl=OLDEST_NCCL))
        rows.append(("software.nccl", f"{fixed_in} or newer", "older", older))
    if job.overlap.get("data") == BUCKET and parallel.interleave > 1:
        graph = replace(job, software=replace(job.software, cuda_graph="full_iteration"))
        rows.append(("software.cuda_graph", "none", "full_iteration", graph))
    alike = replace(compute, variation=0.0)
    rows.append(("compute.variation", f"{compute.variation:g}", "0", replace(job, compute=alike)))
    if not compute.ms:
        higher = replace(compute, utilisation=min(1.0, round(compute.utilisation * 1.1, 4)))
        rows.append(
            ("compute.utilisation", f"{compute.utilisation:.3g}", f"{higher.utilisation:.3g}", replace(job, compute=higher))
        )
        full = replace(compute, recompute="full" if compute.recomputed == "none" else "none")
        rows.append(("compute.recompute", compute.recomputed, full.recomputed, replace(job, compute=full)))
    return rows


# --- utilisation ----------------------------------------------------------------------------------------------
# The utilisation of the GPUs from one measured step: the only value that no data sheet states.

MIN_UTILISATION = 1e-3  # as a JOB file may state it


@dataclass(frozen=True)
class Fitted:
    """The utilisation with which a step takes the measured time."""

    utilisation: float
    low: float  # with the network at the 10th percentile of measured times: less computing remains to explain
    high: float  # at the 90th
    gpu: str  # model of the GPUs

    def lines(self) -> list[str]:
        """What to write into the JOB file."""
        return [
            f"utilisation {self.utilisation:.3f}; {self.low:.3f} to {self.high:.3f} by the band of the collectives",
            "write it in the JOB file:",
            "compute:",
            f"  utilisation: {self.utilisation:.3f}",
            *([f"  measured_on: {self.gpu}"] if self.gpu else []),
        ]


def fitted(job: TrainingJob, time_of: TimeOf, domain_gpus: int, measured_ms: float) -> Fitted:
    """The utilisation that gives a measured step of the job.

    Raises:
        InputError: the job states the computing itself, or no utilisation from 0.001 to 1 gives the time.
    """
    if job.compute.ms:
        hint = "write `tflops_per_gpu` in place of `ms`"
        raise InputError([Diagnostic(CODE, Place("job"), "compute.ms: expected tflops_per_gpu, got ms", hint)])
    sides = ("step_ms", "network_p10_ms", "network_p90_ms")
    middle, low, high = (_solve(job, time_of, domain_gpus, measured_ms, side) for side in sides)
    return Fitted(middle, low, high, job.gpu)


def _solve(job: TrainingJob, time_of: TimeOf, domain_gpus: int, measured_ms: float, side: str) -> float:
    from scipy.optimize import brentq  # heavy: not for a step without a measured one

    def excess(utilisation: float) -> float:
        changed = replace(job, compute=replace(job.compute, utilisation=utilisation))
        return float(getattr(step_time(changed, time_of, domain_gpus), side)) - measured_ms

    fastest, slowest = excess(1.0), excess(MIN_UTILISATION)
    if fastest > 0 and side == "network_p90_ms":
        return 1.0  # the network at its slowest leaves no time for the computing
    if fastest > 0 or slowest < 0:
        limit = f"at least {(fastest + measured_ms) / 1e3:,.3g} s" if fastest > 0 else "a shorter step"
        message = f"expected {limit}, got {measured_ms / 1e3:,.3g} s"
        hint = "check `tflops_per_gpu`, `recompute` and `overlap` of the JOB file"
        raise InputError([Diagnostic(CODE, Place("measured step"), message, hint)])
    return float(brentq(excess, MIN_UTILISATION, 1.0, xtol=1e-9, rtol=1e-9))
