"""What a GPU of a training job holds: parameters, gradients, the states of Adam, and the activations of all micro-batches
that are in flight; and the time of the optimizer's pass over it.

  states       Rajbhandari et al., ZeRO, arXiv:1910.02054, section 3.1
  activations  Korthikanti et al., arXiv:2205.05198, sections 4 and 5; fused attention keeps no scores: Dao et
               al., FlashAttention, arXiv:2205.14135
  in flight    Narayanan et al., arXiv:2104.04473, 2.2 (1F1B, interleaved); DeepSeek-AI, arXiv:2412.19437, table 2 (DualPipe)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from fabric.base.formats import yaml
from fabric.base.schemas.models import Amount, Count, Positive, described, extended, json_key
from fabric.solver.training.job import TrainingJob

STATE_BYTES = 12  # of a parameter: FP32 master copy and two moments of Adam
VALUE_BYTES = 2  # of an activation that stays in memory
LOGIT_BYTES = 4
MIB_IN_GB = 2**20 / 1e9
DATA = Path(__file__).parent / "data" / "memory.yaml"
BUFFER_PASSES = 3  # of all gradients that a GPU holds: set to zero; divided by the number of ranks, read and written
SHARD_PASSES = 4  # of those whose parameters it updates: norm; clipping, read and written; Adam
# Passes of Megatron-LM with BF16: megatron/model/distributed.py and megatron/optimizer of NVIDIA/Megatron-LM.


@dataclass(frozen=True, kw_only=True)
class Memory:
    """GB of one GPU, of the pipeline stage that needs the most."""

    stage: Annotated[Count, described("from 0")]
    stages: Annotated[Positive, described("of the pipeline")]
    parameters_GB: Amount
    gradients_GB: Amount
    optimizer_GB: Amount
    activations_GB: Amount
    available_GB: Annotated[Amount, described("of the GPU, 0 where it is not known")]

    @property
    def states_GB(self) -> float:
        """Without activations."""
        return self.parameters_GB + self.gradients_GB + self.optimizer_GB

    @property
    def total_GB(self) -> float:
        return self.states_GB + self.activations_GB

    @property
    def fits(self) -> bool:
        """True as well where the GPU's memory is not known."""
        return not self.available_GB or self.total_GB <= self.available_GB


MemoryDocument = extended(
    Memory, total_GB=(Amount, ...), fits=(bool, json_key("true where the memory of the GPU is unknown"))
)


@dataclass(frozen=True)
class RankParameters:
    """Parameters of a GPU: of its tensor rank and pipeline stage."""

    dense: float
    experts: float

    @property
    def all(self) -> float:
        return self.dense + self.experts


def memory(job: TrainingJob) -> Memory:
    """What the GPUs of the fullest stage hold."""
    stages = [_stage(job, stage) for stage in range(job.parallel.pipeline)]
    return max(stages, key=lambda item: (item.total_GB, -item.stage))


def held(job: TrainingJob, stage: int) -> RankParameters:
    """Parameters of a GPU of a stage. With `vocabulary` the embedding is on the first stage, the output layer on the last."""
    model, parallel = job.model, job.parallel
    share = job.layers_of_stages[stage] / model.layers
    dense = (model.parameters - model.expert_parameters - model.embedding_parameters) * share / parallel.tensor
    ends = (stage == 0) + (stage == parallel.pipeline - 1)
    if parallel.pipeline == 1 and model.tied_embeddings:
        ends = 1
    table = model.vocabulary * model.hidden / parallel.tensor
    return RankParameters(dense + ends * table, model.expert_parameters * share / (parallel.expert_split * parallel.expert))


def heaviest(job: TrainingJob) -> RankParameters:
    """Parameters of a GPU of the stage with the most."""
    return max((held(job, stage) for stage in range(job.parallel.pipeline)), key=lambda item: item.all)


def optimizer_ms(job: TrainingJob) -> float:
    """Adam's passes over what a GPU holds, limited by its memory: states read and written, the master copy read for the new
    parameters, gradients as often as Megatron-LM touches them. 0 where `ms` states the computing, which includes it."""
    if job.compute.ms or not job.compute.memory_GBps:
        return 0.0
    mine, gradient = heaviest(job), job.bytes.gradient
    shard = mine.all if job.parallel.sharding == "none" else _sharded(job, mine)
    whole = shard if job.parallel.sharding == "full" else mine.all
    updated = 2 * STATE_BYTES + 4 + job.bytes.parameter + SHARD_PASSES * gradient
    return (shard * updated + whole * BUFFER_PASSES * gradient) / (job.compute.memory_GBps * 1e6)


def _sharded(job: TrainingJob, mine: RankParameters) -> float:
    """Parameters of a GPU's share among the ranks that hold the same ones."""
    replicas = job.parallel.data * job.parallel.context
    return mine.dense / replicas + mine.experts / job.parallel.expert_replicas


def _stage(job: TrainingJob, stage: int) -> Memory:
    parallel, mine = job.parallel, held(job, stage)
    shard = _sharded(job, mine)
    values = shard if parallel.sharding == "full" else mine.all
    gradients = values if parallel.sharding in ("none", "optimizer") else shard
    copies = 2 if parallel.schedule == "dualpipe" else 1
    layer = mine.all / max(1, job.layers_of_stages[stage])
    now = 2 * layer if parallel.sharding == "full" else 0.0  # parameters of this layer and the next
    reduced = layer if parallel.sharding in ("gradients", "full") else 0.0  # gradients that are not reduced yet
    return Memory(
        stage=stage,
        stages=parallel.pipeline,
        parameters_GB=(copies * values + now) * job.bytes.parameter / 1e9,
        gradients_GB=(gradients + reduced) * job.bytes.gradient / 1e9,
        optimizer_GB=(mine.all if parallel.sharding == "none" else shard) * STATE_BYTES / 1e9,
        activations_GB=_activations(job, stage) / 1e9,
        available_GB=job.compute.memory_GB,
    )


def _activations(job: TrainingJob, stage: int) -> float:
    """Bytes that wait for the backward pass on a GPU."""
    tokens = job.batch.micro_batch * job.model.sequence / job.parallel.context
    layer = tokens * layer_bytes(job)
    if job.compute.recomputed == "full":
        split = job.parallel.tensor if job.parallel.sequence_parallel else 1
        layer_input = tokens * VALUE_BYTES * job.model.hidden / split  # the layer's input; one layer at a time is made again
        return in_flight(job, stage) * layer_input + layer
    logits = 0.0
    if stage == job.parallel.pipeline - 1 and job.model.vocabulary:
        logits = tokens * (LOGIT_BYTES * job.model.vocabulary + 2 * VALUE_BYTES * job.model.hidden) / job.parallel.tensor
    return in_flight(job, stage) * layer + logits


def layer_bytes(job: TrainingJob) -> float:
    """Bytes of one token and layer, the mean of all layers.

    s b h (10 + 24 / t + 5 a s / h t), or s b h / t (34 + 5 a s / h) with sequence parallelism, where the feed-forward part
    is written by its parameters P: 2 P / h bytes between its input and its output, 16 h for P = 8 h². Without dropout there
    are no masks, 2 h of the 34 h. Linear layers keep their inputs in `bytes.saved`, the rest has 2 bytes. A token meets top_k
    experts, each with its own input.
    """
    model, parallel, saved, again = job.model, job.parallel, job.bytes.saved, job.compute.parts
    width, hidden = model.attention_width, model.hidden
    whole = 2 * VALUE_BYTES * hidden + (0 if "norm" in again else 2 * saved * hidden) + (2 * hidden if model.dropout else 0)
    attention = 0 if "up_projection" in again else VALUE_BYTES * (width + model.key_value_width)
    attention += max(VALUE_BYTES, saved) * width
    if saved < VALUE_BYTES:
        attention += saved * width  # the kernel of the attention keeps its output in 2 bytes as well
    product = 0 if "activation" in again else saved
    inner = (2 * VALUE_BYTES + product) / 3 * model.feed_forward_parameters / hidden  # of a gated layer; the same for others
    copies = saved * hidden * model.top_k * model.moe_layers / model.layers if model.experts else 0.0
    scores = 5 * (model.heads or hidden / 128) * model.sequence if job.keeps_scores else 0.0
    split = parallel.tensor
    return whole / (split if parallel.sequence_parallel else 1) + (attention + inner + copies + scores) / split


def device_GB(gpu: str, otherwise: float) -> float:
    """Memory of a GPU by its name, as its driver reports it; `otherwise` where that is not known."""
    MiB: float = _reported().get(gpu, 0)
    return MiB * MIB_IN_GB if MiB else otherwise


@cache
def _reported() -> dict[str, float]:
    found: dict[str, float] = yaml.read(DATA)
    return found


def in_flight(job: TrainingJob, stage: int) -> float:
    """Layers of a stage times the micro-batches whose backward pass is still to come, at most."""
    parallel, layers = job.parallel, job.layers_of_stages[stage]
    ranks, chunks = parallel.pipeline, parallel.interleave
    most = job.batch.micro_batches
    if parallel.schedule == "dualpipe":
        return float(layers * min(ranks + 1, most))
    if chunks == 1 or ranks == 1:
        return float(layers * min(ranks - stage, most))
    waiting = min(2 * (ranks - 1 - stage) + (chunks - 1) * ranks + 1, most * chunks)  # chunks of micro-batches
    return _of_chunks(_chunk_layers(job, stage), waiting, ranks, most)


def _chunk_layers(job: TrainingJob, stage: int) -> list[float]:
    """Layers of each chunk of a stage, in the order of the forward pass."""
    parallel = job.parallel
    if len(parallel.stages) == parallel.pipeline * parallel.interleave:
        return [float(layers) for layers in parallel.stages[stage :: parallel.pipeline]]
    return [job.layers_of_stages[stage] / parallel.interleave] * parallel.interleave


def _of_chunks(layers: list[float], waiting: int, ranks: int, most: int) -> float:
    """Layers in flight after `waiting` forward passes: rounds of `ranks` micro-batches go through chunk after chunk."""
    total, done = 0.0, 0
    while done < waiting:
        first = done // (ranks * len(layers)) * ranks  # micro-batches of earlier rounds
        for count in layers:
            passes = min(ranks, most - first, waiting - done)
            total, done = total + passes * count, done + passes
            if done >= waiting:
                break
    return total
