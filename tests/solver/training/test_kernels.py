"""The utilisation that measured kernels reach, against measured layers and published steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fabric.base.formats import yaml
from fabric.solver.training.job import Batch, Compute, Model, Parallel, TrainingJob
from fabric.solver.training.kernels import DATA, IN_A_STEP, KernelRates, computed_utilisation, layer, rates_of
from tools import kernel_rates

ROWS = Path("tests/reference/kernels")
LAYERS = [row for row in kernel_rates.rows(ROWS / "layers.csv") if row["kernels"] == "fused"]
SHAPES = {  # hidden, heads, heads of keys and values, parameters of the feed-forward part
    "llama3-8b": (4096, 32, 8, 3 * 4096 * 14336),
    "gpt3-175b": (12288, 96, 96, 2 * 12288 * 49152),
}


def one_layer(row: kernel_rates.Row) -> TrainingJob:
    hidden, heads, kv_heads, feed_forward = SHAPES[row["model"]]
    model = Model(
        parameters=2 * hidden * hidden * (1 + kv_heads / heads) + feed_forward,
        layers=1,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        sequence=int(row["sequence"]),
    )
    batch = Batch(micro_batch=int(row["batch"]))
    compute = Compute(tflops_per_gpu=989)
    return TrainingJob(model=model, batch=batch, parallel=Parallel(tensor=int(row["tensor"])), compute=compute, gpu="h100")


def test_the_file_is_made_of_the_rows() -> None:
    assert DATA.read_text(encoding="utf-8") == kernel_rates.text(kernel_rates.table(ROWS))


@pytest.mark.parametrize("row", LAYERS, ids=lambda row: f"{row['model']} {row['tensor']} {row['sequence']}")
def test_a_layer_is_near_the_measured_one(row: kernel_rates.Row) -> None:
    """Nothing is fitted to layers, and the products of the same model are left out."""
    without = kernel_rates.table(ROWS, leave_out=row["model"].split("-")[0])
    rates = KernelRates(**yaml.load(kernel_rates.text(without))["h100"])
    assert layer(one_layer(row), rates, "bf16").ms == pytest.approx(float(row["ms"]), rel=0.03)


LLAMA = TrainingJob(
    model=Model(parameters=70.55e9, layers=80, hidden=8192, sequence=8192, heads=64, kv_heads=8, vocabulary=128256),
    batch=Batch(micro_batches=32),
    parallel=Parallel(tensor=4, pipeline=4, sequence_parallel=True),
    compute=Compute(tflops_per_gpu=989),
    gpu="h100",
)


def changed(**compute: object) -> TrainingJob:
    return replace(LLAMA, compute=replace(LLAMA.compute, **compute))


@pytest.mark.parametrize(
    ("job", "low", "high"),
    [
        (LLAMA, 0.58, 0.65),
        (replace(LLAMA, gpu="h200"), 0.58, 0.65),
        (changed(recompute="full"), 0.58, 0.65),  # of more FLOPs
        (changed(tflops_per_gpu=1979, attention_tflops_per_gpu=989), 0.50, 0.58),  # FP8, of twice the rate
        (replace(LLAMA, model=replace(LLAMA.model, hidden=512, sequence=512, parameters=4e8)), 0.01, 0.1),  # launches
        (replace(LLAMA, gpu="b200"), 0, 0),
        (replace(LLAMA, gpu=""), 0, 0),
        (changed(ms=100.0), 0, 0),
        (changed(tflops_per_gpu=494.0), 0, 0),  # TF32
        (changed(fused_attention=False), 0, 0),
    ],
)
def test_the_utilisation_follows_the_shapes(job: TrainingJob, low: float, high: float) -> None:
    assert low <= computed_utilisation(job) <= high


def test_a_step_is_the_sum_of_its_kernels() -> None:
    """80 layers on 4 stages and 32 micro-batches; the output layer is on the last stage."""
    job = replace(LLAMA, model=replace(LLAMA.model, vocabulary=0))
    rates = rates_of("h100")
    assert rates is not None
    ms = 20 * 32 * layer(job, rates, "bf16").ms
    assert job.flop_ms / computed_utilisation(job) == pytest.approx(ms / IN_A_STEP)


def test_experts_need_the_time_of_their_tokens() -> None:
    """Eight of 64 experts of an eighth of the width are the FLOPs of one dense layer in smaller products."""
    feed_forward = 3 * 8192 * 28672
    attention = 2 * 8192 * 8192 * (1 + 8 / 64)
    dense = replace(LLAMA, model=replace(LLAMA.model, parameters=80 * (attention + feed_forward), vocabulary=0))
    experts = 80.0 * 8 * feed_forward
    routed = replace(
        dense,
        model=replace(
            dense.model,
            parameters=80 * attention + experts,
            expert_parameters=experts,
            experts=64,
            top_k=8,
            moe_layers=80,
        ),
    )
    rates = rates_of("h100")
    assert rates is not None
    assert routed.flop_ms == pytest.approx(dense.flop_ms, rel=1e-3)
    assert 1.02 < layer(routed, rates, "bf16").ms / layer(dense, rates, "bf16").ms < 1.35
