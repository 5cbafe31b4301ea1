"""A training job: a model, how it is cut over the GPUs, and what its computing takes. The content of a JOB file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal

from fabric.rounding import ceil_div

CODE = "FAB173"
Dimension = Literal["tensor", "context", "expert", "pipeline", "data", "expert_data", "embedding"]
Sharding = Literal["none", "optimizer", "full"]
Schedule = Literal["1f1b", "zero_bubble", "dualpipe"]
Recompute = Literal["none", "selective", "full"]
DIMENSIONS: tuple[Dimension, ...] = ("tensor", "context", "expert", "pipeline", "data", "expert_data", "embedding")
SHARDINGS: tuple[Sharding, ...] = ("none", "optimizer", "full")
SCHEDULES: tuple[Schedule, ...] = ("1f1b", "zero_bubble", "dualpipe")
RECOMPUTES: tuple[Recompute, ...] = ("none", "selective", "full")
OVERLAPS = ("tensor", "context", "expert", "pipeline", "data")
VARIATION = 0.015
"""Share. GPUs of one model differ by 8 %, outliers left out: Sinha et al., SC22, arXiv:2208.11035. Taken as the range of a
normal distribution without what Tukey calls outliers: 5.4 standard deviations."""
STATE_BYTES = 12  # of a parameter: FP32 master copy and two moments of Adam (arXiv:1910.02054, 3.1)
BUCKET = "bucket"  # of overlap.data: each layer's call runs beside the computing of other layers


@dataclass(frozen=True)
class Model:
    """A transformer. Counts unless a unit is named."""

    parameters: float  # experts and embeddings included
    layers: int
    hidden: int
    sequence: int  # tokens
    heads: int = 0  # of the attention; 0: as wide as `hidden`
    kv_heads: int = 0  # 0: as `heads`
    head_dim: float = 0  # 0: hidden / heads; mean of query-key and value where they differ
    vocabulary: int = 0  # 0: the output layer counts as part of the layers
    tied_embeddings: bool = False  # the output layer has the weights of the embedding
    expert_parameters: float = 0  # of all experts together
    experts: int = 0  # of a layer
    top_k: int = 1  # experts that a token goes to
    moe_layers: int = 0  # layers with experts
    expert_domains: int = 0  # NVLink domains that the experts of a token may lie in; 0: no limit

    @property
    def attention_width(self) -> float:
        """Heads x their dimension."""
        return self.heads * (self.head_dim or self.hidden / self.heads) if self.heads else self.hidden

    @property
    def key_value_width(self) -> float:
        """Values of keys and values of one token and layer."""
        share = self.kv_heads / self.heads if self.heads and self.kv_heads else 1.0
        return 2 * self.attention_width * share

    @property
    def active_parameters(self) -> float:
        """Parameters that one token meets."""
        idle = self.expert_parameters * (1 - self.top_k / self.experts) if self.experts else 0.0
        return self.parameters - idle


@dataclass(frozen=True)
class Batch:
    """Sequences of a step."""

    micro_batch: int = 1  # sequences
    micro_batches: int = 1  # of one pipeline in a step


@dataclass(frozen=True)
class Parallel:
    """Ranks of each dimension, laid out as Megatron-LM does: tensor, context, data with expert inside, pipeline outermost."""

    data: int = 1
    tensor: int = 1
    context: int = 1
    pipeline: int = 1
    expert: int = 1  # inside data
    interleave: int = 1  # model chunks of a pipeline stage
    stages: tuple[int, ...] = ()  # layers of each stage; (): as even as possible
    schedule: Schedule = "1f1b"
    sequence_parallel: bool = False
    sharding: Sharding = "none"  # optimizer: ZeRO-1, ZeRO-2, distributed optimizer; full: ZeRO-3, FSDP
    deduplicate: bool = False  # a token crosses to an NVLink domain once, however many of its experts lie there
    gpus_per_domain: int | None = None  # GPUs of each NVLink domain that the job uses; None: all

    @property
    def gpus(self) -> int:
        return self.data * self.tensor * self.context * self.pipeline

    @property
    def strides(self) -> dict[Dimension, int]:
        """Distance between two ranks of a group, in ranks of the job."""
        replica = self.tensor * self.context
        return {
            "tensor": 1,
            "context": self.tensor,
            "data": self.tensor,  # parameters are alike in all ranks of context and data
            "expert": replica,
            "expert_data": replica * self.expert,
            "pipeline": replica * self.data,
            "embedding": replica * self.data * max(1, self.pipeline - 1),
        }


@dataclass(frozen=True)
class Bytes:
    """Bytes of one value that crosses the network."""

    gradient: float = 2
    parameter: float = 2
    activation: float = 2
    dispatch: float = 2  # to the experts
    combine: float = 2  # back from them


@dataclass(frozen=True)
class Compute:
    """What computing takes: `ms`, or TFLOP/s and utilisation."""

    ms: float = 0  # of one step on one GPU, without waiting
    tflops_per_gpu: float = 0
    utilisation: float = 0.5  # of the GPU's TFLOP/s while it computes
    recompute: Recompute = "none"  # selective: the core of the attention; full: every layer's forward pass
    variation: float = VARIATION  # standard deviation of the speed of GPUs of one model, as a share
    memory_GBps: float = 0  # of a GPU's memory, for the optimizer; 0: the optimizer takes no time
    memory_GB: float = 0  # of a GPU; 0: not checked
    overhead_ms: float = 0  # of a step beside computing, optimizer and communication: input pipeline, logging


@dataclass(frozen=True)
class TrainingJob:
    """One training step of a job. `stated`: dotted keys that the JOB file has."""

    model: Model
    batch: Batch = Batch()
    parallel: Parallel = Parallel()
    bytes: Bytes = Bytes()
    compute: Compute = Compute()
    overlap: Mapping[str, float | str] = field(default_factory=dict)
    stated: frozenset[str] = frozenset()

    @property
    def gpus(self) -> int:
        return self.parallel.gpus

    @property
    def tokens(self) -> int:
        """Of one step of the whole job."""
        return self.batch.micro_batch * self.model.sequence * self.batch.micro_batches * self.parallel.data

    @property
    def bubble(self) -> float:
        """Idle share of a pipeline, of its busy time.

        (p - 1) / (v m): Narayanan et al., arXiv:2104.04473, 2.2.2. Zero bubble (ZB-H1) leaves a third of it: Qi et al.,
        arXiv:2401.10241, table 1; DualPipe (p / 2 - 1) x (F&B + B - 3W) of m x 3F: DeepSeek-AI, arXiv:2412.19437, table 2,
        both with B = 2F, W = F.
        """
        ranks, steps = self.parallel.pipeline, self.parallel.interleave * self.batch.micro_batches
        if self.parallel.schedule == "dualpipe":
            return 2 / 3 * max(ranks / 2 - 1, 0) / steps
        return (ranks - 1) / steps * (1 / 3 if self.parallel.schedule == "zero_bubble" else 1)

    @property
    def computing_ms(self) -> float:
        """Of one GPU, the mean of all stages.

        6 FLOPs a token for every parameter it meets, 12 l w s for attention: Chowdhery et al., arXiv:2204.02311, appendix B.
        Recomputation adds a forward pass, a third of that, of everything or of the core of the attention: Korthikanti et
        al., arXiv:2205.05198, section 5.
        """
        if self.compute.ms:
            return self.compute.ms
        attention = 12 * self.model.layers * self.model.attention_width * self.model.sequence
        weights = 6 * self.model.active_parameters
        again = {"none": 0.0, "selective": attention / 3, "full": (attention + weights) / 3}[self.compute.recompute]
        flops = self.tokens * (weights + attention + again)
        return flops / (self.gpus * self.compute.tflops_per_gpu * 1e12 * self.compute.utilisation) * 1e3

    @property
    def slowest(self) -> float:
        """Computing of the slowest GPU over the mean, for which all others wait: the largest of n normal values, by Blom's
        approximation of its mean."""
        ranks = self.gpus
        return 1 + self.compute.variation * NormalDist().inv_cdf((ranks - 0.375) / (ranks + 0.25)) if ranks > 1 else 1.0

    @property
    def optimizer_ms(self) -> float:
        """Adam's pass over what a GPU holds, limited by its memory: gradients read twice (norm, update), states, parameters.
        0 where `ms` states the computing, which includes it."""
        if self.compute.ms or not self.compute.memory_GBps:
            return 0.0
        each = 2 * STATE_BYTES + 2 * self.bytes.gradient + self.bytes.parameter
        return self._held_parameters(self.parallel.sharding != "none") * each / (self.compute.memory_GBps * 1e6)

    @property
    def states_GB(self) -> float:
        """Memory of a GPU for parameters, gradients and the states of Adam, without activations (arXiv:1910.02054, 3.1)."""
        sharding = self.parallel.sharding
        values = self._held_parameters(sharding == "full") * (self.bytes.parameter + self.bytes.gradient)
        return (values + self._held_parameters(sharding != "none") * STATE_BYTES) / 1e9

    def _held_parameters(self, sharded: bool) -> float:
        """Parameters of a GPU: of its tensor rank and pipeline stage, and of its share among the ranks of data if sharded."""
        parallel, model = self.parallel, self.model
        ranks = parallel.tensor * parallel.pipeline
        if sharded:
            return model.parameters / (ranks * parallel.data * parallel.context)
        return (model.parameters - model.expert_parameters * (1 - 1 / parallel.expert)) / ranks

    @property
    def layers_of_stages(self) -> tuple[int, ...]:
        """Layers of each pipeline stage; where they do not divide, the last stages have one less."""
        if self.parallel.stages:
            chunks = self.parallel.stages
            return tuple(sum(chunks[stage :: self.parallel.pipeline]) for stage in range(self.parallel.pipeline))
        each, rest = divmod(self.model.layers, self.parallel.pipeline)
        return tuple(each + (stage < rest) for stage in range(self.parallel.pipeline))

    @property
    def most_layers(self) -> int:
        """Layers of the stage with the most."""
        return max(self.layers_of_stages)

    @property
    def imbalance(self) -> float:
        """Computing of the heaviest stage over the mean; the output layer, 6 h V FLOPs a token, is on the last one."""
        if self.compute.ms or self.parallel.pipeline == 1:
            return 1.0
        model = self.model
        head = 6.0 * model.hidden * model.vocabulary
        whole = 6 * model.active_parameters + 12 * model.layers * model.attention_width * model.sequence
        layer = max(whole - 2 * head, whole / 2) / model.layers  # the embedding has the output layer's size and no FLOPs
        loads = [count * layer for count in self.layers_of_stages]
        loads[-1] += head
        return max(loads) * self.parallel.pipeline / sum(loads)


def check(job: TrainingJob, gpus: int | None = None) -> list[tuple[str, str, str]]:
    """(dotted key, message, hint) of everything that does not fit together; `gpus` are those of the job."""
    mistakes = _below_one(job)
    if not mistakes:
        mistakes = [*_model(job.model), *_cut(job), *_computing(job)]
        if gpus is not None and job.gpus != gpus:
            held = job.gpus // job.parallel.data
            hint = f"data: {gpus // held} makes {gpus // held * held}" if gpus >= held else "use smaller groups"
            message = f"data x tensor x context x pipeline = {job.gpus} GPUs, the job has {gpus}"
            mistakes.append(("parallel.data", message, hint))
    return mistakes


def _below_one(job: TrainingJob) -> list[tuple[str, str, str]]:
    counts = {
        "model": ("layers", "hidden", "sequence", "top_k"),
        "batch": ("micro_batch", "micro_batches"),
        "parallel": ("data", "tensor", "context", "pipeline", "expert", "interleave"),
    }
    return [
        (f"{section}.{key}", f"expected at least 1, got {value}", "1: the dimension is not used")
        for section, keys in counts.items()
        for key in keys
        if (value := getattr(getattr(job, section), key)) < 1
    ]


def _model(model: Model) -> list[tuple[str, str, str]]:
    mistakes = []
    if model.parameters <= 0:
        mistakes.append(("model.parameters", f"expected more than 0, got {model.parameters:g}", "70e9 for 70 billion"))
    if model.heads and model.kv_heads and model.heads % model.kv_heads:
        message = f"expected a divisor of the {model.heads} heads, got {model.kv_heads}"
        mistakes.append(("model.kv_heads", message, ""))
    if model.experts and model.top_k > model.experts:
        mistakes.append(("model.top_k", f"expected at most the {model.experts} experts, got {model.top_k}", ""))
    if model.moe_layers > model.layers:
        mistakes.append(("model.moe_layers", f"expected at most the {model.layers} layers, got {model.moe_layers}", ""))
    if not 0 <= model.expert_parameters <= model.parameters:
        message = f"expected a part of the {model.parameters:g} parameters, got {model.expert_parameters:g}"
        mistakes.append(("model.expert_parameters", message, "`parameters` includes those of the experts"))
    return mistakes


def _cut(job: TrainingJob) -> list[tuple[str, str, str]]:
    """What the ranks of a dimension must divide."""
    model, parallel = job.model, job.parallel
    mistakes = []
    for key, whole, part, of in (
        ("model.hidden", model.hidden, parallel.tensor, "tensor"),
        ("model.sequence", model.sequence, parallel.context, "context"),
        ("parallel.data", parallel.data, parallel.expert, "expert"),
        ("model.experts", model.experts, parallel.expert, "expert"),
    ):
        if whole % part:
            hint = f"{of} divides {whole}: {divisors(whole, part)}"
            mistakes.append((key, f"expected a multiple of {of}, {part}, got {whole}", hint))
    chunks = parallel.pipeline * parallel.interleave
    if parallel.stages:
        if len(parallel.stages) not in (parallel.pipeline, chunks):
            either = f"{parallel.pipeline} (stages)" + (f" or {chunks} (chunks)" if parallel.interleave > 1 else "")
            mistakes.append(("parallel.stages", f"expected {either} numbers of layers, got {len(parallel.stages)}", ""))
        elif sum(parallel.stages) != model.layers:
            message = f"expected {model.layers} layers in all, got {sum(parallel.stages)}"
            mistakes.append(("parallel.stages", message, "change `layers` or `stages`"))
    elif model.layers < chunks:
        message = f"expected at least pipeline x interleave = {chunks}, got {model.layers}"
        mistakes.append(("model.layers", message, "use fewer stages or chunks"))
    if parallel.expert > 1 and not model.moe_layers:
        hint = "set `experts` and `moe_layers` of the model"
        mistakes.append(("parallel.expert", "expected layers with experts, got none", hint))
    if parallel.interleave > 1 and parallel.pipeline == 1:
        message = f"expected 1 without a pipeline, got {parallel.interleave}"
        mistakes.append(("parallel.interleave", message, ""))
    if parallel.schedule != "1f1b" and parallel.interleave > 1:
        message = f"expected 1 with schedule {parallel.schedule}, got {parallel.interleave}"
        mistakes.append(("parallel.interleave", message, "chunks belong to schedule 1f1b"))
    return mistakes


def _computing(job: TrainingJob) -> list[tuple[str, str, str]]:
    compute, mistakes = job.compute, []
    if compute.ms <= 0 and (compute.tflops_per_gpu <= 0 or not 0 < compute.utilisation <= 1):
        hint = "give `ms`, or `tflops_per_gpu` and `utilisation` (0 to 1)"
        mistakes.append(("compute", "expected a compute time above 0", hint))
    if compute.memory_GB and job.states_GB > compute.memory_GB:
        most = f"expected at most {compute.memory_GB:g} GB of parameters, gradients and optimizer a GPU"
        message = f"{most}, got {job.states_GB:,.0f}"
        mistakes.append(("compute.memory_GB", message, "increase tensor or pipeline, or set `sharding`"))
    for key, share in job.overlap.items():
        bucket = share == BUCKET and key == "data"
        if key not in OVERLAPS or not (bucket or (not isinstance(share, str) and 0 <= share <= 1)):
            message = f"expected shares from 0 to 1 of {', '.join(OVERLAPS)}, got {key}: {share}"
            mistakes.append(("overlap", message, "`data: bucket` is valid as well"))
    return mistakes


def divisors(whole: int, near: int) -> str:
    """Divisors of a number, the three below and above `near`."""
    every = [number for number in range(1, min(whole, 100_000) + 1) if whole % number == 0]
    split = sum(number < near for number in every)
    return ", ".join(map(str, every[max(0, split - 3) : split + 3]))


def micro_batches_of(sequences: int, job_data: int, micro_batch: int) -> int:
    """Micro-batches of one pipeline for the sequences of a whole step; the last one may be smaller."""
    return ceil_div(sequences, job_data * micro_batch)
