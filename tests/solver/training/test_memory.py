"""What a GPU holds in a training job: published formulas, published settings that ran, and jobs that do not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, strategies as st

from fabric.base.source import Node
from fabric.solver.training import file as training_file
from fabric.solver.training.checks import check
from fabric.solver.training.job import Compute, Model, TrainingJob
from fabric.solver.training.memory import device_GB, in_flight, layer_bytes, memory, optimizer_ms
from fabric.solver.training.step import step_time
from tests import ROOT
from tests.solver.training.test_step import DENSE, changed, error_text, simple

GPT_175B = replace(
    DENSE,
    model=Model(parameters=96 * 12 * 12288**2, layers=96, hidden=12288, sequence=2048, heads=96, dropout=True),
    compute=Compute(ms=1000, fused_attention=False),
)
SBH, SCORES = 12288, 5 * 96 * 2048  # a token's s b h, and 5 a s


@pytest.mark.parametrize(
    ("changes", "bytes_of_a_token"),
    [
        ({}, 34 * SBH + SCORES),  # Korthikanti et al., section 4.1
        ({"tensor": 8}, 10 * SBH + (24 * SBH + SCORES) / 8),  # section 4.2.1
        ({"tensor": 8, "sequence_parallel": True}, (34 * SBH + SCORES) / 8),  # section 4.2.2
        ({"tensor": 8, "recompute": "selective"}, (10 + 24 / 8) * SBH),  # table 2
        ({"tensor": 8, "sequence_parallel": True, "recompute": "selective"}, 34 * SBH / 8),
        ({"fused_attention": True}, 34 * SBH),
        ({"fused_attention": True, "dropout": False}, 32 * SBH),
    ],
)
def test_activations_of_a_layer_are_those_of_the_paper(changes: dict[str, object], bytes_of_a_token: float) -> None:
    assert layer_bytes(changed(GPT_175B, changes)) == pytest.approx(bytes_of_a_token)


@pytest.mark.parametrize(
    ("changes", "layers"),
    [
        (
            {"pipeline": 8, "micro_batches": 64},
            [96 / 8 * (8 - stage) for stage in range(8)],
        ),  # L layers on the first
        ({"pipeline": 8, "micro_batches": 4}, [48, 48, 48, 48, 48, 36, 24, 12]),  # no more than there are
        (
            {"pipeline": 8, "micro_batches": 64, "interleave": 6},
            [96 * (1 + 7 / 48)],
        ),  # L (1 + (p - 1) / (p m)), section 4.2.3
        ({"pipeline": 8, "micro_batches": 64, "schedule": "dualpipe"}, [12 * 9] * 8),  # DeepSeek-V3, table 2: p + 1
        ({"micro_batches": 64}, [96]),
    ],
)
def test_layers_in_flight(changes: dict[str, object], layers: list[float]) -> None:
    job = changed(GPT_175B, changes)
    assert [in_flight(job, stage) for stage in range(len(layers))] == pytest.approx(layers)


RAN = [  # (JOB, GPUs, GB of a GPU, other values, GB that it takes): settings that were trained with
    ("step-llama3-405b.yaml", 16384, device_GB("h100", 0), {}, 77),
    ("step-deepseek-v3.yaml", 2048, device_GB("h800", 0), {}, 60),
    ("ladders/gpt-175b.yaml", 256, device_GB("a100", 0), {}, 62),
    ("ladders/gpt-175b.yaml", 12288, device_GB("a100", 0), {"batch.sequences": 6144}, 62),
    ("ladders/llama-405b.yaml", 512, 186, {}, 134),
    ("ladders/llama-405b-fp8.yaml", 128, device_GB("b200", 0), {}, 169),
    ("ladders/llama-405b-fp8.yaml", 1024, device_GB("h100", 0), {"batch.sequences": 512, "parallel.tensor": 8}, 69),
    ("ladders/llama-70b-fp8.yaml", 64, device_GB("h100", 0), {}, 70),
]


@pytest.mark.parametrize(("name", "gpus", "available", "values", "taken"), RAN)
def test_published_settings_fit(name: str, gpus: int, available: float, values: dict[str, object], taken: float) -> None:
    root = training_file.tree((ROOT / "docs" / name).read_text(encoding="utf-8"), name)
    root = training_file.with_values(root, {key: Node(line=1, column=1, value=value) for key, value in values.items()})
    job = training_file.of_node(root, name, gpus)
    held = memory(replace(job, compute=replace(job.compute, memory_GB=available)))
    assert held.fits
    assert held.total_GB == pytest.approx(taken, abs=1)


def test_the_175b_model_does_not_fit_with_its_scores() -> None:
    """The reason for recomputation in Korthikanti et al., with their settings (table 3): an A100 holds one only."""
    cut = {"tensor": 8, "pipeline": 8, "interleave": 3, "micro_batches": 64, "sequence_parallel": True, "gradient_bytes": 4}
    job = changed(GPT_175B, cut | {"memory_GB": device_GB("a100", 0)})
    held = {word: memory(changed(job, {"recompute": word})) for word in ("none", "selective", "full")}
    assert [item.fits for item in held.values()] == [False, True, True]


@given(
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["none", "optimizer", "gradients", "full"]),
    st.booleans(),
)
def test_more_ranks_never_need_more_memory(tensor: int, pipeline: int, data: int, sharding: str, parallel: bool) -> None:
    cut = {"tensor": tensor, "pipeline": pipeline, "data": data, "sharding": sharding, "sequence_parallel": parallel}
    job = changed(GPT_175B, cut | {"micro_batches": 16})
    assume(not check(job))
    base = memory(job).total_GB
    for key in ("tensor", "data"):
        assert memory(changed(job, {key: 2 * cut[key]})).total_GB <= base * (1 + 1e-9)
    order = [memory(changed(job, {"recompute": word})).total_GB for word in ("none", "selective", "full")]
    assert order == sorted(order, reverse=True)


def test_an_embedding_lies_on_the_first_stage_and_the_output_layer_on_the_last() -> None:
    job = changed(DENSE, {"pipeline": 4, "vocabulary": 100_000, "tied_embeddings": True})
    table = 100_000 * 4096
    body = (32e9 - table) / 4
    assert memory(job).states_GB == pytest.approx((body + table) * 16 / 1e9)
    alone = changed(job, {"pipeline": 1})
    assert memory(alone).states_GB == pytest.approx(32e9 * 16 / 1e9)


@pytest.mark.parametrize(
    ("changes", "gigabytes"),
    [
        ({}, 32 * 44),  # 24 of states, 4 of the master copy, 2 of the parameter, 7 x 2 of gradients
        ({"tensor": 8, "pipeline": 2}, 2 * 44),
        ({"data": 4, "sharding": "optimizer", "gradient_bytes": 4}, 8 * 46 + 32 * 12),  # 3 x 4 of all gradients
    ],
)
def test_the_optimizer_passes_over_what_a_gpu_holds(changes: dict[str, object], gigabytes: float) -> None:
    job = changed(replace(DENSE, compute=Compute(tflops_per_gpu=989, memory_GBps=2000)), changes)
    assert optimizer_ms(job) == pytest.approx(gigabytes / 2)


@pytest.mark.parametrize(
    ("changes", "gigabytes"),
    [
        ({}, 32 * 16),  # 2 of the parameter, 2 of the gradient, 12 of Adam's states
        ({"tensor": 8, "pipeline": 2}, 32),
        ({"data": 4, "sharding": "optimizer"}, 32 * 4 + 32 * 12 / 4),
        ({"data": 4, "sharding": "gradients"}, 32 * 2 + 32 * 14 / 4 + 2),  # and a layer's gradients
        ({"data": 4, "sharding": "full", "gradient_bytes": 4}, 8 * 18 + 2 * 2 + 4),  # two layers' parameters
    ],
)
def test_states_that_exceed_the_memory_are_refused(changes: dict[str, object], gigabytes: float) -> None:
    job = changed(DENSE, changes)
    assert memory(job).states_GB == pytest.approx(gigabytes)
    roomy, small = (replace(job, compute=replace(job.compute, memory_GB=gigabytes * share)) for share in (1.01, 0.99))
    step_time(roomy, simple, 8)
    assert "of parameters, gradients and optimizer states per GPU, got" in error_text(lambda: step_time(small, simple, 8))


def test_recomputed_parts_take_less_memory() -> None:
    job: TrainingJob = changed(GPT_175B, {"tensor": 8, "fused_attention": True})
    choices = ("none", ("norm",), ("norm", "up_projection", "activation"))
    order = [memory(changed(job, {"recompute": parts})).total_GB for parts in choices]
    assert order == sorted(order, reverse=True)
    assert order[0] > order[1] > order[2]
