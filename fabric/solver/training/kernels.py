"""What a step computes, from the shapes of its layers: the utilisation of GPUs whose kernels were measured.

A layer is its matrix products (forward, and two backward), the core of the attention, and passes over memory for what lies
between them: normalization and residuals, rotary positions, activations, and the layout of queries, keys and values. The sum
of the three is its time; with a GPU's products at their power limit, which short measurements do not reach. data/kernels.yaml
has the rates, docs/training.md the comparison with measured layers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fabric.base.formats import yaml
from fabric.solver.training.job import TrainingJob, precision_of

DATA = Path(__file__).parent / "data" / "kernels.yaml"
SAME_KERNELS = {"h800": "h100"}  # the same GPU but for NVLink
VALUE_BYTES = 2  # of an activation between kernels
CAUSAL = 0.5  # of the square of the attention
FORWARD_FLOP, BACKWARD_FLOP = 2, 5  # of the core of the attention, of each half of a multiplication: 2 and 5 products

# Values read and written of each value, forward and backward, where neighbors are fused (torch.compile, Transformer Engine).
NORM_PASSES = (8, 9)  # of hidden: twice the normalization with the residual
ROTARY_PASSES = (2, 2)  # of queries and keys
LAYOUT_PASSES = (0, 2)  # of queries, keys and values: their gradients side by side
ACTIVATION_PASSES = (3, 5)  # of the feed-forward width: gate and up read, product written; backward both gradients
PERMUTE_PASSES = (4, 4)  # of hidden, for each expert of a token: sent and brought back
LOGIT_BYTES = 14  # of a logit: written; read twice for the loss in FP32; gradient written, and read
FP8_PASSES = (1, 2)  # of the inputs and outputs of products, in bytes: written once more as FP8, and transposed backward
LAUNCHES = 34  # kernels of a fused layer, forward and backward
IN_A_STEP = 0.90
"""Share that whole steps reach of it, in published ones of 2024 and later on H100 (0.81 to 0.98 by source, docs/training.md):
gaps between kernels, scaling factors, what runs beside calls of NCCL. Software of 2023 reaches 0.75 to 0.84."""


class Product(NamedTuple):
    """A matrix product of one GPU: tokens x k by k x n, so many of them."""

    tokens: float
    k: float
    n: float
    products: float = 1.0


@dataclass(frozen=True, kw_only=True)
class KernelRates:
    """Measured rates of a GPU model. TFLOP/s by log2 of the work: products by precision, cores of the attention by the
    dimension of a head."""

    memory_GBps: float
    launch_us: float
    graph_us: float
    sustained: float
    products: Mapping[str, Mapping[float, Sequence[float]]]
    attention: Mapping[int, Mapping[float, Sequence[float]]]

    def product_ms(self, product: Product, precision: str) -> tuple[float, float]:
        """Forward, and the two products backward, at the power limit."""
        work = product.tokens * product.k * product.n
        if not work or not product.products:
            return 0.0, 0.0
        forward, data, weights = (2 * work / rate / 1e9 for rate in _at(self.products[precision], work))
        return forward * product.products / self.sustained, (data + weights) * product.products / self.sustained

    def attention_ms(self, work: float, head_dim: float) -> tuple[float, float]:
        """Forward and backward of causal cores. `work`: scores of the whole square times the head dimension."""
        table = self.attention[min(self.attention, key=lambda measured: abs(measured - head_dim))]
        forward, backward = _at(table, work)
        return FORWARD_FLOP * work / forward / 1e9, BACKWARD_FLOP * work / backward / 1e9

    def passes_ms(self, values: float, passes: float, value_bytes: float = VALUE_BYTES) -> float:
        """Passes over so many values in memory."""
        return values * passes * value_bytes / self.memory_GBps / 1e6


def _at(table: Mapping[float, Sequence[float]], work: float) -> list[float]:
    """The rates at a size, between measured ones by its logarithm; those of the nearest one outside."""
    sizes = list(table)
    return [float(np.interp(math.log2(work), sizes, column)) for column in zip(*table.values(), strict=True)]


@cache
def _measured() -> dict[str, KernelRates]:
    found: dict[str, dict[str, Any]] = yaml.read(DATA)
    return {gpu: KernelRates(**rates) for gpu, rates in found.items()}


def rates_of(gpu: str) -> KernelRates | None:
    """The measured rates of a GPU model, if there are any."""
    return _measured().get(SAME_KERNELS.get(gpu, gpu))


@dataclass(frozen=True)
class KernelTime:
    """ms of a layer or of more on one GPU: forward and backward of each part."""

    products: tuple[float, float] = (0.0, 0.0)
    attention: tuple[float, float] = (0.0, 0.0)
    memory: tuple[float, float] = (0.0, 0.0)

    @property
    def forward_ms(self) -> float:
        return self.products[0] + self.attention[0] + self.memory[0]

    @property
    def ms(self) -> float:
        return self.forward_ms + self.products[1] + self.attention[1] + self.memory[1]


def layer(job: TrainingJob, rates: KernelRates, precision: str) -> KernelTime:
    """A mean layer of one micro-batch on one GPU, experts included."""
    model, tensor = job.model, job.parallel.tensor
    tokens = job.batch.micro_batch * model.sequence / job.parallel.context
    rotated = (model.attention_width + model.key_value_width / 2) / tensor
    heads = (model.attention_width + model.key_value_width) / tensor
    wide = _dense_width(job) / tensor
    dense = (
        Product(tokens, model.hidden, heads),
        Product(tokens, model.attention_width / tensor, model.hidden),
        *((Product(tokens, model.hidden, 2 * wide), Product(tokens, wide, model.hidden)) if wide else ()),
    )
    routed, experts = _experts(job, tokens)
    products = [rates.product_ms(product, precision) for product in (*dense, *experts)]
    scores = job.batch.micro_batch * model.sequence**2 / job.parallel.context
    head_dim = model.head_dim or model.hidden / (model.heads or model.hidden / 128)
    norm = model.hidden / (tensor if job.parallel.sequence_parallel else 1)
    activated = tokens * wide + sum(product.tokens * product.k * product.products for product in experts[1:])
    memory = tuple(
        rates.passes_ms(tokens * norm, NORM_PASSES[way])
        + rates.passes_ms(tokens * rotated, ROTARY_PASSES[way])
        + rates.passes_ms(tokens * heads, LAYOUT_PASSES[way])
        + rates.passes_ms(activated, ACTIVATION_PASSES[way])
        + rates.passes_ms(routed * model.hidden, PERMUTE_PASSES[way])
        + (_cast_ms(rates, (*dense, *experts), FP8_PASSES[way]) if precision == "fp8" else 0.0)
        for way in (0, 1)
    )
    return KernelTime(
        (sum(forward for forward, _ in products), sum(backward for _, backward in products)),
        rates.attention_ms(scores * model.attention_width / tensor, head_dim),
        (memory[0], memory[1]),
    )


def _cast_ms(rates: KernelRates, products: Sequence[Product], passes: float) -> float:
    """Operands of products written in FP8: their inputs, and backward the gradients of their outputs."""
    return rates.passes_ms(sum(p.tokens * (p.k + p.n) / 2 * p.products for p in products), passes, 1)


def _dense_width(job: TrainingJob) -> float:
    """Width of the feed-forward part that every token meets, shared experts included: three matrices of hidden x width."""
    model = job.model
    routed = model.active_expert_parameters / model.layers if model.experts else 0.0
    return max(0.0, model.feed_forward_parameters - routed) / (3 * model.hidden)


def _experts(job: TrainingJob, tokens: float) -> tuple[float, tuple[Product, ...]]:
    """(tokens that experts of a GPU get, products of its experts), of a mean layer: equally many for each of them."""
    model, parallel = job.model, job.parallel
    if not model.experts or not model.moe_layers:
        return 0.0, ()
    share = model.moe_layers / model.layers
    width = model.expert_parameters / (model.experts * model.moe_layers) / (3 * model.hidden) / parallel.expert_split
    held = model.experts / parallel.expert
    routed = tokens * model.top_k * parallel.expert_split / parallel.tensor
    each = routed / held
    return routed * share, (
        Product(each, model.hidden, 2 * width, held * share),
        Product(each, width, model.hidden, held * share),
    )


def output_layer(job: TrainingJob, rates: KernelRates) -> KernelTime:
    """The output layer with the loss, of one micro-batch, split over the tensor ranks; in BF16."""
    if not job.model.vocabulary:
        return KernelTime()
    tokens = job.batch.micro_batch * job.model.sequence / job.parallel.context
    logits = job.model.vocabulary / job.parallel.tensor
    product = rates.product_ms(Product(tokens, job.model.hidden, logits), "bf16")
    return KernelTime(product, memory=(0.0, rates.passes_ms(tokens * logits, 1, LOGIT_BYTES)))


def computed_utilisation(job: TrainingJob) -> float:
    """Share of `tflops_per_gpu` that the kernels of a job reach, as its JOB file would state it; 0 where they were not
    measured: another GPU model or precision, attention that is not fused, or `ms` in place of a rate."""
    compute = job.compute
    rates = rates_of(job.gpu)
    if rates is None or compute.ms or not compute.fused_attention:
        return 0.0
    precision = precision_of(job.gpu, compute.tflops_per_gpu)
    if precision not in rates.products:
        return 0.0
    its = layer(job, rates, precision)
    again = {"none": 0.0, "selective": its.attention[0], "full": its.forward_ms}[compute.recomputed]
    launches = LAUNCHES * (rates.graph_us if job.software.cuda_graph == "full_iteration" else rates.launch_us) / 1e3
    whole = job.model.layers * max(its.ms + again, launches) + output_layer(job, rates).ms
    return min(1.0, IN_A_STEP * job.flop_ms / (whole / job.parallel.pipeline * job.batch.micro_batches))
