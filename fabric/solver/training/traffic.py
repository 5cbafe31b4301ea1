"""What a training step sends over the network: the calls of each dimension of parallelism.

Formulas are those of the papers that introduced the dimensions:
  tensor    Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3; Korthikanti et al., arXiv:2205.05198 (sequence parallel)
  context   Llama Team, The Llama 3 Herd of Models, arXiv:2407.21783, section 3.3.2 (all-gather of keys and values)
  pipeline  Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, arXiv:2104.04473, section 2.2
  data      Rajbhandari et al., ZeRO, arXiv:1910.02054, section 7
  expert    Lepikhin et al., GShard, arXiv:2006.16668; DeepSeek-AI, DeepSeek-V3, arXiv:2412.19437, section 3.2.2
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fabric.base.formats import yaml
from fabric.base.rounding import ceil_div
from fabric.solver.collective import ALL_GATHER, ALL_REDUCE, ALLTOALL, REDUCE_SCATTER, SENDRECV
from fabric.solver.training.job import Dimension, Levels, TrainingJob
from fabric.solver.training.memory import heaviest


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """The calls of one kind that a GPU takes part in during a step."""

    dimension: Dimension
    collective: str
    ranks: int
    bytes: int  # of one call, as nccl-tests counts them
    calls: int
    cross_bytes: int | None = None  # of an alltoall whose tokens cross to a domain once; None: `bytes`
    kind: str = ""  # gather: before the computing that needs it; reduce: after it; "": in between


def traffic(job: TrainingJob, domain_gpus: int = 1) -> list[Traffic]:
    """The calls of a step on its heaviest stage, in the order of DIMENSIONS; groups of one GPU call nothing.

    `domain_gpus`: GPUs of an NVLink domain, which decide how often a deduplicated token crosses the network.
    """
    calls = [*_tensor(job), *_context(job), *_expert(job, domain_gpus), *_pipeline(job), *_data(job), *_embedding(job)]
    return [call for call in calls if call.ranks > 1 and call.calls and call.bytes]


def split(levels: Levels, domain_gpus: int) -> tuple[int, int]:
    """(ranks of a group in one NVLink domain, NVLink domains of the group)"""
    inside = math.prod(max(1, min(ranks, domain_gpus // stride)) for ranks, stride in levels)
    return inside, ceil_div(math.prod(ranks for ranks, _ in levels), inside)


def _tensor(job: TrainingJob) -> list[Traffic]:
    """Four all-reduces of b s h a layer and micro-batch, two forward and two backward; with sequence parallelism each is a
    reduce-scatter and an all-gather of the same bytes. Full recomputation repeats the two of the forward pass."""
    size = math.ceil(_values(job) * job.bytes.activation)
    each = 6 if job.compute.recomputed == "full" else 4
    calls = each * job.most_layers * job.batch.micro_batches
    kinds = (ALL_GATHER, REDUCE_SCATTER) if job.parallel.sequence_parallel else (ALL_REDUCE,)
    return [
        Traffic(dimension="tensor", collective=kind, ranks=job.parallel.tensor, bytes=size, calls=calls) for kind in kinds
    ]


def _context(job: TrainingJob) -> list[Traffic]:
    """All-gathers of keys and values forward and backward, a reduce-scatter of their gradients; the heads are cut by the
    tensor ranks."""
    model, parallel = job.model, job.parallel
    values = job.batch.micro_batch * model.sequence * model.key_value_width / parallel.tensor
    size, calls = math.ceil(values * job.bytes.activation), job.most_layers * job.batch.micro_batches
    return [
        Traffic(dimension="context", collective=ALL_GATHER, ranks=parallel.context, bytes=size, calls=2 * calls),
        Traffic(dimension="context", collective=REDUCE_SCATTER, ranks=parallel.context, bytes=size, calls=calls),
    ]


def _expert(job: TrainingJob, domain_gpus: int) -> list[Traffic]:
    """Two dispatches and two combines a layer with experts and micro-batch, forward and backward; a token goes to top_k
    experts."""
    model, parallel = job.model, job.parallel
    values = _values(job) / (parallel.tensor if parallel.sequence_parallel else 1)
    calls = 2 * ceil_div(model.moe_layers * job.most_layers, model.layers) * job.batch.micro_batches
    _, domains = split(parallel.levels("expert"), domain_gpus)
    copies = domains_of_a_token(model.experts, model.top_k, domains, model.expert_domains) if parallel.deduplicate else None
    widths = {job.bytes.dispatch: 0, job.bytes.combine: 0}
    for width in (job.bytes.dispatch, job.bytes.combine):
        widths[width] += calls
    return [
        Traffic(
            dimension="expert",
            collective=ALLTOALL,
            ranks=parallel.expert,
            bytes=math.ceil(values * width * model.top_k),
            calls=count,
            cross_bytes=None if copies is None or domains == 1 else math.ceil(values * width * copies),
        )
        for width, count in widths.items()
    ]


def domains_of_a_token(experts: int, top_k: int, domains: int, limit: int = 0) -> float:
    """Mean number of NVLink domains that hold one of the experts of a token, experts drawn without replacement.

    With node-limited routing the experts are those of `limit` domains.
    """
    usable = min(limit, domains) if limit else domains
    each = experts // domains if domains else 0
    if not each or usable <= 1:
        return float(max(1, usable))
    pool = each * usable
    if pool - each < top_k:
        return float(usable)
    none = math.exp(_log_choose(pool - each, top_k) - _log_choose(pool, top_k))
    return usable * (1 - none)


def _log_choose(whole: int, part: int) -> float:
    return math.lgamma(whole + 1) - math.lgamma(part + 1) - math.lgamma(whole - part + 1)


def _pipeline(job: TrainingJob) -> list[Traffic]:
    """Every stage sends b s h forward and backward, for each micro-batch and each of its chunks of the model; a tensor group
    whose members hold a part of the sequence each sends the parts."""
    parallel = job.parallel
    size = math.ceil(_values(job) * job.bytes.activation / (parallel.tensor if parallel.sequence_parallel else 1))
    return [
        Traffic(
            dimension="pipeline",
            collective=SENDRECV,
            ranks=parallel.pipeline,
            bytes=size,
            calls=2 * job.batch.micro_batches * parallel.interleave,
        )
    ]


def _data(job: TrainingJob) -> list[Traffic]:
    """Gradients of what a GPU holds, a call a layer as the frameworks bucket them.

    ZeRO, section 7: 2 Ψ as all-reduce or as reduce-scatter and all-gather; with parameters sharded too 3 Ψ, an all-gather
    for each of forward and backward and a reduce-scatter, here in every micro-batch. Experts are replicated data / expert
    times only. Ranks of context hold the same parameters.
    """
    parallel, layers, mine = job.parallel, job.most_layers, heaviest(job)
    replicas = parallel.data * parallel.context
    groups: tuple[tuple[Dimension, int, float], ...] = (
        ("data", replicas, mine.dense),
        ("expert_data", math.prod(ranks for ranks, _ in parallel.levels("expert_data")), mine.experts),
    )
    if parallel.expert == 1:  # every replica holds all experts: one group
        groups = (("data", replicas, mine.all),)
    calls: list[Traffic] = []
    for dimension, ranks, parameters in groups:
        gradients = math.ceil(parameters * job.bytes.gradient / layers)
        weights = math.ceil(parameters * job.bytes.parameter / layers)
        if parallel.sharding == "none":
            calls.append(
                Traffic(dimension=dimension, collective=ALL_REDUCE, ranks=ranks, bytes=gradients, calls=layers, kind="reduce")
            )
            continue
        often = job.batch.micro_batches if parallel.sharding == "full" else 1
        gathers = 2 * often if parallel.sharding == "full" else 1
        calls += [
            Traffic(
                dimension=dimension, collective=ALL_GATHER, ranks=ranks, bytes=weights, calls=layers * gathers, kind="gather"
            ),
            Traffic(
                dimension=dimension,
                collective=REDUCE_SCATTER,
                ranks=ranks,
                bytes=gradients,
                calls=layers * often,
                kind="reduce",
            ),
        ]
    return calls


def _embedding(job: TrainingJob) -> list[Traffic]:
    """Gradients of an embedding that the first and the last stage share: one all-reduce of V h / t between the two."""
    model, parallel = job.model, job.parallel
    if not model.tied_embeddings or parallel.pipeline == 1:
        return []
    size = math.ceil(model.vocabulary * model.hidden / parallel.tensor * job.bytes.gradient)
    return [Traffic(dimension="embedding", collective=ALL_REDUCE, ranks=2, bytes=size, calls=1, kind="reduce")]


def _values(job: TrainingJob) -> float:
    """Values of b s h, the activations of a context rank between two layers."""
    return job.batch.micro_batch * job.model.sequence / job.parallel.context * job.model.hidden


# --- nccl -----------------------------------------------------------------------------------------------------
# What older releases of NCCL do to the groups of a training job; data/nccl.yaml has the sources.

DATA = Path(__file__).parent / "data" / "nccl.yaml"
OLDEST_NCCL = "2.0.0"
BOTH = 0.5  # share of a NIC for each of two GPUs


def nic_share(release: str, gpu: str, gpus: int, nics: int) -> float:
    """Share of its NIC that a group with one GPU a server has while all groups call.

    Args:
        release: of NCCL; "" for one without known defects.
        gpu: name of the GPUs.
        gpus: of a server.
        nics: of a server.
    """
    defect = _defects()["shares_nic"]
    held = release and _number(release) < _number(defect["fixed_in"]) and gpu in defect["gpus"]
    return BOTH if held and gpus > 1 and nics >= gpus else 1.0


def defects_fixed_in(gpu: str) -> str:
    """The first release without a defect on these GPUs; "" where none is known."""
    return max((item["fixed_in"] for item in _defects().values() if gpu in item["gpus"]), key=_number, default="")


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


@cache
def _defects() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.read(DATA)
    return found
