"""A training job: a model, how it is cut over the GPUs, and what its computing takes. The content of a JOB file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_args

from pydantic import AfterValidator, Discriminator, Field, Tag

from fabric.base.diagnostics import nearest
from fabric.base.formats import yaml
from fabric.base.inputs import LOWER, TEXT, Mistake, Section, Within, means
from fabric.base.rounding import ceil_div
from fabric.solver.collectives.physics import gpu_names

# --- rates ----------------------------------------------------------------------------------------------------
# How fast kernels are on one GPU model, as shares of its data sheet, against another one; data/rates.yaml has the sources.
#
# A utilisation is a share of the data sheet. Newer GPUs reach less of theirs, so one that was measured on another GPU model
# is multiplied by the ratio of the two shares: of matrix products in the precision of the job, and of the core of the
# attention.

DATA = Path(__file__).parent / "data" / "rates.yaml"
APART = math.log(1.3)  # precisions are a factor of 2 apart; some data sheets differ by their power limit


class Ratio(NamedTuple):
    """Share of the data sheet that kernels reach on a GPU model, over that on another one."""

    matmul: float = 1.0
    attention: float = 1.0


def ratio(gpu: str, measured_on: str, tflops_per_gpu: float) -> Ratio:
    """1 where the two are of one generation, or where a figure is missing.

    Args:
        gpu: model of the GPUs.
        measured_on: model that a utilisation was measured on; "" for the same.
        tflops_per_gpu: of `gpu` by its data sheet, dense, in the precision of the job.
    """
    here, there = _generations().get(gpu), _generations().get(measured_on)
    if here is None or there is None:
        return Ratio()
    precision = precision_of(gpu, tflops_per_gpu)
    if precision not in here["share"] or precision not in there["share"]:
        return Ratio()
    return Ratio(here["share"][precision] / there["share"][precision], here["attention"] / there["attention"])


def precision_of(gpu: str, tflops: float) -> str:
    """The precision with the nearest data-sheet rate of a GPU model; "" where none is near."""
    peaks: dict[str, float] = _generations().get(gpu, {}).get("peak", {}).get(gpu, {})
    if not peaks:
        return ""
    name = min(peaks, key=lambda precision: abs(math.log(tflops / peaks[precision])))
    return name if abs(math.log(tflops / peaks[name])) <= APART else ""


@cache
def _generations() -> dict[str, dict[str, Any]]:
    """Each GPU model with a figure, and its generation."""
    found: dict[str, dict[str, Any]] = yaml.read(DATA)
    return {gpu: generation for generation in found.values() for gpu in generation["peak"]}


# --- the job --------------------------------------------------------------------------------------------------

CODE = "FAB173"
Dimension = Literal["tensor", "context", "expert", "pipeline", "data", "expert_data", "embedding"]
Sharding = Literal["none", "optimizer", "gradients", "full"]
Schedule = Literal["1f1b", "zero_bubble", "dualpipe"]
Recompute = Literal["none", "selective", "full"]
Order = Literal["tp-cp-dp-pp", "tp-cp-pp-dp"]
CudaGraph = Literal["none", "full_iteration"]
Parts = tuple[Literal["attention", "norm", "up_projection", "activation"], ...]  # of a layer
Levels: TypeAlias = tuple[tuple[int, int], ...]
"""A group of ranks: (how many, distance between two of them), from the inside."""
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
SHARDINGS: tuple[Sharding, ...] = get_args(Sharding)
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
ORDERS: tuple[Order, ...] = get_args(Order)
RECOMPUTES: tuple[Recompute, ...] = get_args(Recompute)
OVERLAPS = ("tensor", "context", "expert", "pipeline", "data")
VARIATION = 0.015
"""Share. GPUs of one model differ by 8 %, outliers left out: Sinha et al., SC22, arXiv:2208.11035. Taken as the range of a
normal distribution without what Tukey calls outliers: 5.4 standard deviations."""
BUCKET = "bucket"  # of overlap.data: each layer's call runs beside the computing of other layers
CHUNK = "chunk"  # of overlap.tensor: a call and the matrix product beside it are cut into one chunk a rank
OVERLAP_WORDS = {"data": BUCKET, "tensor": CHUNK}  # in place of a share
RELEASE = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){2}")  # as NCCL prints it: 2.18.5

Share = Annotated[float, Within(0, 1)]
_OR_WORD = Discriminator(lambda value: "[word]" if value in OVERLAP_WORDS.values() else "[number]")
Chunked = Annotated[Annotated[Share, Tag("[number]")] | Annotated[Literal["chunk"], Tag("[word]")], _OR_WORD]
Bucketed = Annotated[Annotated[Share, Tag("[number]")] | Annotated[Literal["bucket"], Tag("[word]")], _OR_WORD]
_HIDDEN = "share of the time that compute hides"


def _release(text: str) -> str:
    """A release of three numbers; YAML takes one of two for a number, and 2.20 for 2.2."""
    if text and not RELEASE.fullmatch(text):
        raise Mistake("expected a release of three numbers", "such as 2.18.5")
    return text


def _gpu(name: str) -> str:
    if name and name not in gpu_names():
        raise Mistake("expected the model of a GPU", nearest(name, gpu_names()))
    return name


@dataclass(frozen=True, kw_only=True)
class Model(Section):
    """A transformer."""

    parameters: Annotated[float, Within(1, 1e18, "parameters of the whole model, experts included")]
    layers: Annotated[int, Within(1, 100_000, "number of layers")]
    hidden: Annotated[int, Within(1, 10_000_000, "hidden dimension")]
    sequence: Annotated[int, Within(1, 1_000_000_000, "tokens of a sequence")]
    heads: Annotated[int, Within(1, 1_000_000, "attention heads; default: hidden size instead of heads x head dimension")] = 0
    kv_heads: Annotated[int, Within(1, 1_000_000, "heads of keys and values; default: all heads")] = 0
    head_dim: Annotated[
        float, Within(1, 1_000_000, "dimension of a head, the mean of keys and values; default: hidden / heads")
    ] = 0
    vocabulary: Annotated[int, Within(1, 1_000_000_000, "vocabulary size, for the output layer")] = 0
    tied_embeddings: Annotated[bool, means("the output layer shares the weights of the embedding")] = False
    expert_parameters: Annotated[float, Within(0, 1e18, "parameters of all experts together")] = 0
    experts: Annotated[int, Within(0, 100_000, "experts per layer")] = 0
    top_k: Annotated[int, Within(1, 100_000, "experts per token")] = 1
    moe_layers: Annotated[int, Within(0, 100_000, "layers with experts; default: all")] = 0
    expert_domains: Annotated[
        int, Within(1, 1_000_000, "most NVLink domains over which the experts of a token are spread (node-limited routing)")
    ] = 0  # no limit
    dropout: Annotated[bool, means("dropout: its masks are kept in memory")] = False

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
        return self.parameters - self.expert_parameters + self.active_expert_parameters

    @property
    def active_expert_parameters(self) -> float:
        """Those of them in experts."""
        return self.expert_parameters * self.top_k / self.experts if self.experts else self.expert_parameters

    @property
    def embedding_parameters(self) -> float:
        """Of the embedding and the output layer; 0 without a vocabulary."""
        tables = 1 if self.tied_embeddings else 2
        return min(float(tables * self.vocabulary * self.hidden), self.parameters - self.expert_parameters)

    @property
    def feed_forward_parameters(self) -> float:
        """Of a layer, the mean of all, that one token meets; queries, keys, values and output are the rest of it."""
        attention = self.hidden * (2 * self.attention_width + self.key_value_width)
        return max(0.0, (self.active_parameters - self.embedding_parameters) / self.layers - attention)


@dataclass(frozen=True, kw_only=True)
class Batch(Section):
    """Sequences of a step."""

    micro_batch: Annotated[int, Within(1, 1_000_000, "sequences of a micro-batch")] = 1
    micro_batches: Annotated[int, Within(1, 1_000_000, "micro-batches of one pipeline per step")] = 1
    sequences: Annotated[int, Within(1, 1_000_000_000, "sequences of a whole step, in place of micro_batches")] = 0


@dataclass(frozen=True, kw_only=True)
class Parallel(Section):
    """Ranks of each dimension, laid out as Megatron-LM does."""

    data: Annotated[int, Within(1, 1_000_000, "replicas of the model; default: GPUs / (tensor x context x pipeline)")] = 1
    tensor: Annotated[int, Within(1, 1_000_000, "ranks of tensor parallelism")] = 1
    context: Annotated[int, Within(1, 1_000_000, "ranks of context parallelism")] = 1
    pipeline: Annotated[int, Within(1, 1_000_000, "pipeline stages")] = 1
    expert: Annotated[int, Within(1, 1_000_000, "ranks of expert parallelism, inside data")] = 1
    expert_tensor: Annotated[
        int,
        Within(
            1,
            1_000_000,
            "tensor ranks that an expert is split over; expert groups then lie over tensor, context and data; default: "
            "experts are split as all layers, and their groups lie over data",
        ),
    ] = 0
    interleave: Annotated[int, Within(1, 1000, "chunks of the model per pipeline stage")] = 1
    stages: Annotated[
        tuple[Annotated[int, Within(0, 100_000)], ...],
        means("layers of each stage, or of each chunk, such as `[7, 8, 8, 7]`; default: as even as possible"),
    ] = ()
    schedule: Annotated[Schedule, LOWER, means("schedule of the pipeline")] = "1f1b"
    order: Annotated[Order, LOWER, means("order of the ranks, from the inside; experts lie inside data")] = "tp-cp-dp-pp"
    sequence_parallel: Annotated[bool, means("activations between layers are split over the tensor ranks")] = False
    sharding: Annotated[Sharding, LOWER, means("optimizer: ZeRO-1; gradients: ZeRO-2; full: ZeRO-3, FSDP")] = "none"
    deduplicate: Annotated[bool, means("a token is sent to an NVLink domain once, for all of its experts there")] = False
    gpus_per_domain: Annotated[int | None, Within(1, 1_000_000, "GPUs used of each NVLink domain; default: all")] = None

    @property
    def gpus(self) -> int:
        return self.data * self.tensor * self.context * self.pipeline

    @property
    def expert_split(self) -> int:
        """Ranks that the weights of an expert are split over."""
        return self.expert_tensor or self.tensor

    @property
    def expert_replicas(self) -> int:
        """GPUs of a pipeline stage that hold the same part of the same experts."""
        return self.data * self.context * self.tensor // (self.expert_split * self.expert)

    def levels(self, dimension: Dimension) -> Levels:
        """The ranks of a group, as ranks of the job. Parameters are alike in all ranks of context and data."""
        replica = self.tensor * self.context
        outside = self.order == "tp-cp-pp-dp"  # data is outside of pipeline
        data, pipeline = (replica * self.pipeline, replica) if outside else (replica, replica * self.data)
        groups: dict[Dimension, Levels] = {
            "tensor": ((self.tensor, 1),),
            "context": ((self.context, self.tensor),),
            "data": ((self.context, self.tensor), (self.data, data)),
            "expert": ((self.expert, self.expert_tensor or data),),
            "expert_data": (
                ((self.expert_replicas, self.expert_tensor * self.expert),)
                if self.expert_tensor
                else ((self.data // self.expert, data * self.expert),)
            ),
            "pipeline": ((self.pipeline, pipeline),),
            "embedding": ((2, pipeline * max(1, self.pipeline - 1)),),
        }
        return groups[dimension]


@dataclass(frozen=True, kw_only=True)
class Bytes(Section):
    """Bytes of one value that crosses the network, or that waits in memory (`saved`)."""

    gradient: Annotated[float, Within(0.125, 16, "bytes of one gradient value")] = 2
    parameter: Annotated[float, Within(0.125, 16, "bytes of one parameter value")] = 2
    activation: Annotated[float, Within(0.125, 16, "bytes of one activation value")] = 2
    dispatch: Annotated[float, Within(0.125, 16, "bytes of one value sent to the experts; default: as activation")] = 2
    combine: Annotated[float, Within(0.125, 16, "bytes of one value sent back; default: as activation")] = 2
    saved: Annotated[
        float, Within(0.125, 16, "bytes of an input value that a layer keeps for the backward pass; 1 with FP8")
    ] = 2


@dataclass(frozen=True, kw_only=True)
class Compute(Section):
    """What computing takes: `ms`, or TFLOP/s and utilisation."""

    ms: Annotated[float, Within(1e-6, 1e9, "compute time of one step on one GPU, without waiting")] = 0
    tflops_per_gpu: Annotated[float, Within(1e-3, 1e6, "FLOP rate of the data sheet, without sparsity")] = 0
    attention_tflops_per_gpu: Annotated[
        float, Within(1e-3, 1e6, "FLOP rate of the attention core, if of other precision")
    ] = 0
    utilisation: Annotated[
        float,
        Within(
            1e-3,
            1,
            "share of tflops_per_gpu that is reached during compute; default: computed for H100, H200, H800, else 0.5",
        ),
    ] = 0.5
    measured_on: Annotated[
        str,
        LOWER,
        AfterValidator(_gpu),
        means("GPU model that the utilisation was measured on, such as h100; default: that of the servers"),
    ] = ""
    recompute: Annotated[
        Annotated[Recompute, LOWER, Tag("[value]")] | Annotated[Parts, Field(min_length=1), Tag("[list]")],
        Discriminator(lambda value: "[list]" if isinstance(value, list | tuple) else "[value]"),
        means("activations that are computed again in the backward pass: a word, or a list of parts of a layer"),
    ] = "none"
    fused_attention: Annotated[bool, means("fused attention: no scores are kept for the backward pass")] = True
    variation: Annotated[float, Within(0, 0.5, "standard deviation of the speed of GPUs, as a share")] = VARIATION
    memory_GBps: Annotated[float, Within(0, 1e6, "memory bandwidth of a GPU; default: data sheet")] = 0
    memory_GB: Annotated[float, Within(0, 1e6, "memory of a GPU; default: data sheet")] = 0
    overhead_ms: Annotated[float, Within(0, 1e9, "other time of a step, besides compute, optimizer and communication")] = 0

    @property
    def recomputed(self) -> Recompute:
        """selective: the core of the attention; full: the forward pass of every layer."""
        if isinstance(self.recompute, str):
            return self.recompute
        return "selective" if "attention" in self.recompute else "none"

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts of a layer that are computed again besides the core of the attention."""
        return () if isinstance(self.recompute, str) else tuple(part for part in self.recompute if part != "attention")


@dataclass(frozen=True, kw_only=True)
class Software(Section):
    """What of the software matters for the time of a step."""

    nccl: Annotated[
        str,
        TEXT,
        AfterValidator(_release),
        means(
            "release of NCCL, such as 2.18.5; one without known defects unless stated",
            json_schema_extra={"pattern": f"^{RELEASE.pattern}$"},
        ),
    ] = ""
    dispatch_GBps: Annotated[
        float,
        Within(
            1e-3,
            1e6,
            "bandwidth of a GPU for tokens of experts, of another dispatcher than NCCL's alltoall, such as DeepEP: bytes "
            "that it sends over the time of the call",
        ),
    ] = 0
    cuda_graph: Annotated[
        CudaGraph,
        LOWER,
        means(
            "CUDA graph of the forward and backward passes of all micro-batches: calls of data then overlap with as many "
            "micro-batches as there are pipeline stages, if chunks are interleaved"
        ),
    ] = "none"


@dataclass(frozen=True, kw_only=True)
class Overlap(Section):
    """Shares of communication that compute hides, by dimension."""

    tensor: Annotated[Chunked | None, means(f"{_HIDDEN}; chunk: call and matrix product are cut into a chunk per rank")] = (
        None
    )
    context: Annotated[Share | None, means(_HIDDEN)] = None
    expert: Annotated[Share | None, means(_HIDDEN)] = None
    pipeline: Annotated[Share | None, means(_HIDDEN)] = None
    data: Annotated[Bucketed | None, means(f"{_HIDDEN}; bucket: the call of a layer overlaps with other layers")] = None


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """One training step of a job. `stated`: dotted keys that the JOB file has."""

    model: Model
    batch: Batch = Batch()
    parallel: Parallel = Parallel()
    bytes: Bytes = Bytes()
    compute: Compute = Compute()
    software: Software = Software()
    overlap: Mapping[str, float | str] = field(default_factory=dict)
    stated: frozenset[str] = frozenset()
    gpu: str = ""  # model of the servers' GPUs, which is not in the file
    computed_utilisation: float = 0.0  # by their measured kernels; 0: not known

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
        al., arXiv:2205.05198, section 5. So does that of queries, keys and values (`up_projection`).
        """
        return self.compute.ms or self.flop_ms / self.compute.utilisation

    @property
    def flop_ms(self) -> float:
        """As `computing_ms`, at the rate of the data sheet."""
        attention = 12 * self.model.layers * self.model.attention_width * self.model.sequence
        weights = 6 * self.model.active_parameters
        if "up_projection" in self.compute.parts:
            width = self.model.attention_width + self.model.key_value_width
            weights += 2 * self.model.layers * self.model.hidden * width
        rate, reached = self.compute.tflops_per_gpu, self.rates
        attention *= {"none": 1, "selective": 4 / 3, "full": 4 / 3}[self.compute.recomputed]
        attention *= rate / (self.compute.attention_tflops_per_gpu or rate) / reached.attention
        weights *= (4 / 3 if self.compute.recomputed == "full" else 1) / reached.matmul
        tflop = weights + attention
        return self.tokens * tflop / (self.gpus * rate * 1e12) * 1e3

    @property
    def rates(self) -> Ratio:
        """What a utilisation that was measured on another GPU model is multiplied by: for experts, nothing is published."""
        if not self.is_transferred or self.model.experts:
            return Ratio()
        return ratio(self.gpu, self.compute.measured_on, self.compute.tflops_per_gpu)

    @property
    def is_transferred(self) -> bool:
        """Whether the utilisation was measured on GPUs of another model."""
        return self.compute.measured_on not in ("", self.gpu)

    @property
    def is_computed(self) -> bool:
        """Whether the utilisation is that of measured kernels, not a stated one."""
        return bool(self.computed_utilisation) and "compute.utilisation" not in self.stated

    @property
    def slowest(self) -> float:
        """Computing of the slowest GPU over the mean, for which all others wait: the largest of n normal values, by Blom's
        approximation of its mean."""
        ranks = self.gpus
        return 1 + self.compute.variation * NormalDist().inv_cdf((ranks - 0.375) / (ranks + 0.25)) if ranks > 1 else 1.0

    @property
    def apart_us(self) -> float:
        """How far apart replicas come that wait for each other once a micro-batch: the standard deviation of the computing of
        one. Megatron-LM averages the loss over the replicas there (loss_func of pretrain_gpt.py)."""
        return self.compute.variation * self.computing_ms * 1e3 / self.batch.micro_batches

    @property
    def keeps_scores(self) -> bool:
        """Whether the scores of the attention wait in memory for the backward pass."""
        return not self.compute.fused_attention and self.compute.recomputed == "none"

    @cached_property
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


def micro_batches_of(sequences: int, job_data: int, micro_batch: int) -> int:
    """Micro-batches of one pipeline for the sequences of a whole step; the last one may be smaller."""
    return ceil_div(sequences, job_data * micro_batch)
