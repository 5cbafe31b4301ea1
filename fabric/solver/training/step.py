"""One training step of a transformer on a fabric: what crosses the network in each dimension of parallelism, how long that
takes, how much of it the computing hides, and what is left of the tokens per second.

Formulas are those of the papers that introduced the dimensions:
  tensor    Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3; Korthikanti et al., arXiv:2205.05198 (sequence parallel)
  pipeline  Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, arXiv:2104.04473, section 2.2
  data      Rajbhandari et al., ZeRO, arXiv:1910.02054, section 7
  expert    Lepikhin et al., GShard, arXiv:2006.16668
  compute   Chowdhery et al., PaLM, arXiv:2204.02311, appendix B
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from fabric.diagnostics import Diagnostic, InputError, Place
from fabric.text import aligned, duration, percent, size, time

CODE = "FAB173"
Dimension = Literal["tensor", "pipeline", "data", "expert", "expert_data"]
Sharding = Literal["none", "optimizer", "full"]
DIMENSIONS: tuple[Dimension, ...] = ("tensor", "expert", "pipeline", "data", "expert_data")
SHARDINGS: tuple[Sharding, ...] = ("none", "optimizer", "full")
OVERLAPS = ("tensor", "expert", "pipeline", "data")

TimeUs = Callable[[str, int, int, str], float]
"""(collective, ranks of a group, bytes as nccl-tests counts them, dimension) → µs of one call.

All groups of a dimension call at the same time. A sendrecv is every stage's send to the next one. The groups of
`expert_data` are the GPUs that hold the same experts: data / expert ranks each.
"""


@dataclass(frozen=True)
class Step:
    """A model, how it is cut over the GPUs, and what its computing takes. Counts unless a unit is named."""

    parameters: float  # of the whole model, experts included
    layers: int
    hidden: int
    sequence: int  # tokens
    micro_batch: int = 1  # sequences
    micro_batches: int = 1  # of one pipeline in a step
    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    expert: int = 1  # inside data: as Megatron-LM places it
    interleave: int = 1  # model chunks of a pipeline stage
    sequence_parallel: bool = False
    sharding: Sharding = "none"  # optimizer: ZeRO-1, ZeRO-2, distributed optimizer; full: ZeRO-3, FSDP
    expert_parameters: float = 0  # of all experts together
    experts: int = 0  # of a layer
    top_k: int = 1  # experts that a token goes to
    moe_layers: int = 0  # layers with experts
    gradient_bytes: float = 2
    parameter_bytes: float = 2
    activation_bytes: float = 2
    compute_ms: float = 0  # of one step on one GPU, without waiting; 0: from the two below
    tflops_per_gpu: float = 0
    utilisation: float = 0.5  # of the GPU's TFLOP/s while it computes
    overlap: Mapping[str, float] = field(default_factory=dict)  # dimension → share of its time that computing may hide

    @property
    def gpus(self) -> int:
        return self.data * self.tensor * self.pipeline

    @property
    def tokens(self) -> int:
        """Of one step of the whole job."""
        return self.micro_batch * self.sequence * self.micro_batches * self.data

    @property
    def bubble(self) -> float:
        """Idle share of a pipeline, of its busy time: (p - 1) / (v m). Narayanan et al., section 2.2.2."""
        return (self.pipeline - 1) / (self.interleave * self.micro_batches)

    @property
    def computing_ms(self) -> float:
        """Of one GPU. 6 FLOPs a token for every parameter it meets, 12 l h s for attention: PaLM, appendix B."""
        if self.compute_ms:
            return self.compute_ms
        idle = self.expert_parameters * (1 - self.top_k / self.experts) if self.experts else 0.0
        flops = self.tokens * (6 * (self.parameters - idle) + 12 * self.layers * self.hidden * self.sequence)
        return flops / (self.gpus * self.tflops_per_gpu * 1e12 * self.utilisation) * 1e3


@dataclass(frozen=True)
class Traffic:
    """The calls of one kind that a GPU takes part in during a step."""

    dimension: Dimension
    collective: str
    ranks: int
    bytes: int  # of one call, as nccl-tests counts them
    calls: int


@dataclass(frozen=True)
class DimensionTime:
    """What one kind of calls costs a step."""

    dimension: Dimension
    collective: str
    ranks: int
    bytes: int
    calls: int
    call_us: float
    total_ms: float
    exposed_ms: float


@dataclass(frozen=True)
class StepTime:
    """A step with the network, beside the same step without one."""

    gpus: int
    dimensions: tuple[DimensionTime, ...]
    compute_ms: float
    communication_ms: float
    exposed_ms: float
    bubble_ms: float  # pipeline stages waiting for the first and the last micro-batch
    step_ms: float
    ideal_ms: float  # were the network infinitely fast
    tokens_per_second: float
    ideal_tokens_per_second: float
    lost_to_network: float  # share of the tokens per second

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"dimensions": [asdict(item) for item in self.dimensions]}

    def lines(self) -> list[str]:
        """The step for a person."""
        head = ("dimension", "collective", "ranks", "size", "calls", "one call", "total", "exposed")
        rows = [
            (d.dimension, d.collective, f"{d.ranks:,}", size(d.bytes), f"{d.calls:,}", *_times(d)) for d in self.dimensions
        ]
        if not rows:
            return [*self._sums(), "no dimension crosses the network"]
        return [*aligned(rows, "<<>>>>>>", head=head), "", *self._sums()]

    def _sums(self) -> list[str]:
        return aligned(
            [
                ("compute", duration(self.compute_ms)),
                ("communication", f"{duration(self.communication_ms)}, of which {duration(self.exposed_ms)} exposed"),
                ("bubble", duration(self.bubble_ms)),
                ("step", f"{duration(self.step_ms)} on {self.gpus:,} GPUs; {duration(self.ideal_ms)} with an ideal network"),
                ("tokens/s", f"{self.tokens_per_second:,.0f}, {percent(self.lost_to_network)} lost to the network"),
            ]
        )


def _times(dimension: DimensionTime) -> tuple[str, str, str]:
    return time(dimension.call_us), duration(dimension.total_ms), duration(dimension.exposed_ms)


def step_time(step: Step, time_us: TimeUs) -> StepTime:
    """The step's time. Raises InputError where `check` does, or where a group cannot communicate (time_us is infinite)."""
    problems = check(step)
    if problems:
        raise InputError(Diagnostic(CODE, Place("step"), f"{key}: {message}", hint) for key, message, hint in problems)
    kinds = traffic(step)
    calls = [time_us(kind.collective, kind.ranks, kind.bytes, kind.dimension) for kind in kinds]
    for kind, call_us in zip(kinds, calls, strict=True):
        if not math.isfinite(call_us) or call_us < 0:
            message = f"{kind.dimension}: groups of {kind.ranks} GPUs cannot reach each other"
            raise InputError(
                [Diagnostic(CODE, Place("step"), message, "check whether the failed links partition the fabric")]
            )
    totals = [kind.calls * call_us / 1e3 for kind, call_us in zip(kinds, calls, strict=True)]
    compute = step.computing_ms
    exposed = _exposed(step, kinds, totals, compute)
    # what every micro-batch waits for is in the pipeline's slots, so the bubble grows with it
    inside = [share for kind, share in zip(kinds, exposed, strict=True) if _every_micro_batch(step, kind)]
    busy = compute + sum(inside)
    whole = busy * (1 + step.bubble) + sum(exposed) - sum(inside)
    ideal = compute * (1 + step.bubble)
    return StepTime(
        gpus=step.gpus,
        dimensions=tuple(
            DimensionTime(**asdict(kind), call_us=call_us, total_ms=total, exposed_ms=share)
            for kind, call_us, total, share in zip(kinds, calls, totals, exposed, strict=True)
        ),
        compute_ms=compute,
        communication_ms=sum(totals),
        exposed_ms=sum(exposed),
        bubble_ms=busy * step.bubble,
        step_ms=whole,
        ideal_ms=ideal,
        tokens_per_second=step.tokens / whole * 1e3,
        ideal_tokens_per_second=step.tokens / ideal * 1e3,
        lost_to_network=1 - ideal / whole,
    )


def traffic(step: Step) -> list[Traffic]:
    """The calls of a step, in the order of DIMENSIONS; groups of one GPU call nothing."""
    found = [*_tensor(step), *_expert(step), *_pipeline(step), *_data(step)]
    return [item for item in found if item.ranks > 1 and item.calls and item.bytes]


def _tensor(step: Step) -> list[Traffic]:
    """Four all-reduces of b s h a layer and micro-batch, two forward and two backward; with sequence parallelism each is a
    reduce-scatter and an all-gather of the same bytes."""
    size = math.ceil(_activation(step))
    calls = 4 * step.layers // step.pipeline * step.micro_batches
    kinds = ("all_gather", "reduce_scatter") if step.sequence_parallel else ("all_reduce",)
    return [Traffic("tensor", kind, step.tensor, size, calls) for kind in kinds]


def _expert(step: Step) -> list[Traffic]:
    """Four all-to-alls a layer with experts and micro-batch: to the experts and back, forward and backward; every token goes
    to top_k experts."""
    size = math.ceil(_activation(step) * step.top_k / (step.tensor if step.sequence_parallel else 1))
    calls = math.ceil(4 * step.moe_layers / step.pipeline) * step.micro_batches
    return [Traffic("expert", "alltoall", step.expert, size, calls)]


def _pipeline(step: Step) -> list[Traffic]:
    """Every stage sends b s h forward and backward, for each micro-batch and each of its chunks of the model; a tensor group
    whose members hold a part of the sequence each sends the parts."""
    size = math.ceil(_activation(step) / (step.tensor if step.sequence_parallel else 1))
    return [Traffic("pipeline", "sendrecv", step.pipeline, size, 2 * step.micro_batches * step.interleave)]


def _data(step: Step) -> list[Traffic]:
    """Gradients of what a GPU holds, a call a layer as the frameworks bucket them.

    ZeRO, section 7: 2 Ψ as all-reduce or as reduce-scatter and all-gather; with parameters sharded too 3 Ψ, an all-gather
    for each of forward and backward and a reduce-scatter, here in every micro-batch. Experts are replicated data / expert
    times only.
    """
    layers, held = step.layers // step.pipeline, step.tensor * step.pipeline
    groups: tuple[tuple[Dimension, int, float], ...] = (
        ("data", step.data, (step.parameters - step.expert_parameters) / held),
        ("expert_data", step.data // step.expert, step.expert_parameters / (held * step.expert)),
    )
    if step.expert == 1:  # every replica holds all experts: one group
        groups = (("data", step.data, step.parameters / held),)
    result = []
    for dimension, ranks, parameters in groups:
        gradients = math.ceil(parameters * step.gradient_bytes / layers)
        weights = math.ceil(parameters * step.parameter_bytes / layers)
        if step.sharding == "none":
            result.append(Traffic(dimension, "all_reduce", ranks, gradients, layers))
            continue
        often = step.micro_batches if step.sharding == "full" else 1
        gathers = 2 * often if step.sharding == "full" else 1
        result.extend(
            (
                Traffic(dimension, "all_gather", ranks, weights, layers * gathers),
                Traffic(dimension, "reduce_scatter", ranks, gradients, layers * often),
            )
        )
    return result


def _activation(step: Step) -> float:
    """Bytes of b s h, the activations between two layers."""
    return step.micro_batch * step.sequence * step.hidden * step.activation_bytes


def _every_micro_batch(step: Step, kind: Traffic) -> bool:
    return kind.dimension in ("tensor", "expert", "pipeline") or step.sharding == "full"


def _exposed(step: Step, kinds: Sequence[Traffic], totals: Sequence[float], compute: float) -> list[float]:
    """What of each total the step waits for, ms. No more is hidden than there is computing to hide it behind."""
    hidden = [
        total * step.overlap.get(kind.dimension.removeprefix("expert_"), 0.0)
        for kind, total in zip(kinds, totals, strict=True)
    ]
    scale = min(1.0, compute / sum(hidden)) if sum(hidden) else 1.0
    return [total - scale * share for total, share in zip(totals, hidden, strict=True)]


def check(step: Step, gpus: int | None = None) -> list[tuple[str, str, str]]:
    """(key, message, hint) for everything that does not fit together; `gpus` is what the job has."""
    counts = ("layers", "hidden", "sequence", "micro_batch", "micro_batches", "data", "tensor", "pipeline", "expert")
    mistakes = [
        (key, f"expected at least 1, got {getattr(step, key)}", "a dimension that is not used is 1")
        for key in (*counts, "interleave", "top_k")
        if getattr(step, key) < 1
    ]
    if step.parameters <= 0:
        mistakes.append(("parameters", f"expected more than 0, got {step.parameters:g}", "70e9 for 70 billion"))
    if mistakes:
        return mistakes
    chunks = step.pipeline * step.interleave
    for key, whole, part, of in (
        ("layers", step.layers, chunks, "pipeline x interleave"),
        ("hidden", step.hidden, step.tensor, "tensor"),
        ("data", step.data, step.expert, "expert"),
    ):
        if whole % part:
            hint = f"{of} divides {whole}: {_divisors(whole, part)}"
            mistakes.append((key, f"expected a multiple of {of}, {part}, got {whole}", hint))
    if step.experts and step.experts % step.expert:
        hint = f"expert divides {step.experts}: {_divisors(step.experts, step.expert)}"
        mistakes.append(("experts", f"expected a multiple of expert, {step.expert}, got {step.experts}", hint))
    if step.experts and step.top_k > step.experts:
        mistakes.append(("top_k", f"expected at most the {step.experts} experts, got {step.top_k}", ""))
    if step.expert > 1 and not step.moe_layers:
        mistakes.append(("expert", "expected layers with experts, got none", "say `experts` and `moe_layers` of the model"))
    if step.moe_layers > step.layers:
        mistakes.append(("moe_layers", f"expected at most the {step.layers} layers, got {step.moe_layers}", ""))
    if not 0 <= step.expert_parameters <= step.parameters:
        message = f"expected a part of the {step.parameters:g} parameters, got {step.expert_parameters:g}"
        mistakes.append(("expert_parameters", message, "they are counted in `parameters`"))
    if step.interleave > 1 and step.pipeline == 1:
        mistakes.append(("interleave", f"expected 1 without a pipeline, got {step.interleave}", ""))
    if step.compute_ms <= 0 and (step.tflops_per_gpu <= 0 or not 0 < step.utilisation <= 1):
        hint = "give `ms`, or `tflops_per_gpu` and `utilisation` (0 to 1)"
        mistakes.append(("compute", "expected a compute time above 0", hint))
    for key, share in step.overlap.items():
        if key not in OVERLAPS or not 0 <= share <= 1:
            mistakes.append(("overlap", f"expected shares from 0 to 1 of {', '.join(OVERLAPS)}, got {key}: {share}", ""))
    if gpus is not None and step.gpus != gpus:
        held = step.tensor * step.pipeline
        hint = f"data: {gpus // held} makes {gpus // held * held}" if gpus >= held else "smaller groups fit"
        message = f"data x tensor x pipeline = {step.gpus} GPUs, the job has {gpus}"
        mistakes.append(("data", message, hint))
    return mistakes


def _divisors(whole: int, near: int) -> str:
    """Divisors of a number, the three below and above `near`."""
    found = [at for at in range(1, min(whole, 100_000) + 1) if whole % at == 0]
    split = sum(at < near for at in found)
    return ", ".join(map(str, found[max(0, split - 3) : split + 3]))
