"""What kernels reach on two GPU models, and the utilisation that goes from one to the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.base.formats import yaml
from fabric.solver.collectives.physics import gpu_names
from fabric.solver.training.job import DATA, Compute, Ratio, ratio
from fabric.solver.training.lines import lines
from fabric.solver.training.step import step_time
from tests.solver.training.test_step import DENSE, simple

DENSE_ON_GB200 = replace(DENSE, gpu="gb200", compute=Compute(tflops_per_gpu=5000, attention_tflops_per_gpu=2500))


@pytest.mark.parametrize(
    ("gpu", "measured_on", "tflops", "matmul"),
    [
        ("gb200", "h100", 5000, 0.625 / 0.683),  # FP8
        ("b200", "h200", 2250, 0.650 / 0.718),  # BF16
        ("h100", "gb200", 989, 0.718 / 0.650),
        ("b200", "h100", 4000, 0.625 / 0.683),  # of a lower power limit
        ("gb300", "gb200", 15000, 0.340 / 0.434),  # FP4
        ("gb200", "b200", 5000, 1.0),  # one generation
        ("gb200", "h100", 10000, 1.0),  # FP4, which H100 does not have
        ("gb200", "a100", 2500, 1.0),  # no figure of A100
        ("mi300x", "h100", 1307, 1.0),
        ("gb200", "h100", 1250, 1.0),  # TF32, of which there is no figure
        ("gb200", "", 5000, 1.0),
    ],
)
def test_the_precision_is_that_of_the_data_sheet(gpu: str, measured_on: str, tflops: float, matmul: float) -> None:
    assert ratio(gpu, measured_on, tflops).matmul == pytest.approx(matmul)


def test_there_and_back_is_the_same() -> None:
    there, back = ratio("b200", "h100", 4500), ratio("h100", "b200", 1979)
    assert (there.matmul * back.matmul, there.attention * back.attention) == pytest.approx((1, 1))


def test_a_utilisation_of_the_same_gpu_is_left_alone() -> None:
    for measured_on in ("", "gb200", "b200"):
        job = replace(DENSE_ON_GB200, compute=replace(DENSE_ON_GB200.compute, measured_on=measured_on))
        assert job.rates == Ratio()
        assert job.computing_ms == DENSE_ON_GB200.computing_ms


def test_matrix_products_and_attention_have_ratios_of_their_own() -> None:
    """By hand: 6 N for the weights, 12 l w s for the attention at half the rate."""
    job = replace(DENSE_ON_GB200, compute=replace(DENSE_ON_GB200.compute, measured_on="h100"))
    model = job.model
    weights = 6 * model.parameters / (0.625 / 0.683)
    attention = 12 * model.layers * model.hidden * model.sequence * 2 / (0.37 / 0.45)
    seconds = job.tokens * (weights + attention) / (job.gpus * 5000e12 * job.compute.utilisation)
    assert job.computing_ms == pytest.approx(seconds * 1e3)


def test_the_answer_shows_the_factors() -> None:
    job = replace(DENSE_ON_GB200, compute=replace(DENSE_ON_GB200.compute, measured_on="h100"))
    shown = "measured on h100, x 0.92, attention x 0.82; p10 to p90 is wider"
    assert shown in "\n".join(lines(step_time(job, simple, 8)))
    unknown = replace(job, compute=replace(job.compute, measured_on="a100"))
    assert "measured on a100; p10 to p90 is wider" in "\n".join(lines(step_time(unknown, simple, 8)))


def test_a_model_with_experts_keeps_its_utilisation() -> None:
    model = replace(DENSE.model, parameters=90e9, expert_parameters=80e9, experts=8, top_k=1, moe_layers=DENSE.model.layers)
    plain = replace(DENSE_ON_GB200, model=model)
    other = replace(plain, compute=replace(plain.compute, measured_on="h100"))
    assert other.computing_ms == plain.computing_ms
    assert other.rates == Ratio()


def test_every_gpu_is_known_and_no_share_is_above_one() -> None:
    for generation in yaml.read(DATA).values():
        assert set(generation["peak"]) <= set(gpu_names())
        assert 0 < generation["attention"] < 1
        for peaks in generation["peak"].values():
            assert set(peaks) == set(generation["share"])
            assert all(0 < share < 1 for share in generation["share"].values())
