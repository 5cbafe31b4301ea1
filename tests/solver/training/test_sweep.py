"""Variants of a job, the utilisation behind a measured step, and the terms that grow with the number of GPUs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.solver.training import file as training_file
from fabric.solver.training.job import Compute
from fabric.solver.training.step import fitted, step_time
from fabric.solver.training.sweep import StepSweep, choices, sweep
from tests.solver.training.test_step import DENSE, EXAMPLE, changed, error_text, scaled, simple


def swept(*options: str) -> StepSweep:
    root = training_file.tree(EXAMPLE, "job.yaml")
    return sweep(root, choices(options), lambda tree: step_time(training_file.of_node(tree, "job.yaml", 1024), simple, 8))


def test_variants_are_all_combinations_the_fastest_first() -> None:
    found = swept("parallel.pipeline=2,4", "parallel.data=64,32", "parallel.sequence_parallel=true,false")
    assert found.keys == ("parallel.pipeline", "parallel.data", "parallel.sequence_parallel")
    fit = [item.step.tokens_per_second for item in found.variants if item.step]
    assert len(fit) == 4
    assert fit == sorted(fit, reverse=True)
    misfits = [item for item in found.variants if not item.step]
    assert {item.values[:2] for item in misfits} == {(2, 32), (4, 64)}
    assert "data x tensor x context x pipeline = 512 GPUs, the job has 1024" in misfits[0].why_not


def test_a_variant_is_what_the_file_with_that_value_gives() -> None:
    (variant,) = swept("compute.recompute=full").variants
    text = EXAMPLE.replace("compute:\n", "compute:\n  recompute: full\n")
    assert variant.step == step_time(training_file.read_yaml(text, "job.yaml", 1024), simple, 8)


def test_no_possible_variant_is_an_error() -> None:
    assert "--vary: error[FAB173]: no variant is possible: model.layers: expected a whole number, got 'abc'" in error_text(
        lambda: swept("model.layers=abc")
    )


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (("parallel.tensor=8,4",), "hint: remove `parallel.data` from JOB: each variant then has as many"),
        (("parallel.tensor=8,4", "parallel.data=32"), "hint: leave out `--vary parallel.data`: each variant then has"),
        (("parallel.interleave=1,64",), ""),
    ],
)
def test_a_stated_number_of_data_ranks_that_does_not_fit(options: tuple[str, ...], hint: str) -> None:
    lines = swept(*options).lines()
    assert "1 variant not possible" in " ".join(lines)
    assert [line.strip() for line in lines if "hint" in line and hint in line] if hint else "hint" not in " ".join(lines)


def test_no_possible_variant_has_the_same_hint() -> None:
    assert "hint: remove `parallel.data` from JOB" in error_text(lambda: swept("parallel.tensor=4"))


def test_keys_of_one_name_keep_their_section() -> None:
    head = swept("parallel.tensor=8", "overlap.tensor=0,1", "parallel.pipeline=4").lines()[0]
    assert head.split()[-3:] == ["parallel.tensor", "overlap.tensor", "pipeline"]


def test_sequences_take_the_place_of_micro_batches() -> None:
    (variant,) = swept("batch.sequences=1024").variants
    assert variant.step == step_time(training_file.read_yaml(EXAMPLE, "job.yaml", 1024), simple, 8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("parallel.tensor",), "--vary: error[FAB102]: expected KEY=VALUE,VALUE, got 'parallel.tensor'"),
        (("parallel.tensr=4",), "did you mean 'parallel.tensor'?"),
        (("parallel.tensor=4", "parallel.tensor=8"), "expected each key once, got parallel.tensor twice"),
        (("parallel.stages=4",), "expected a key of the JOB file, got 'parallel.stages'"),
        (
            tuple(f"model.{key}=" + ",".join("123456789") for key in ("layers", "hidden", "sequence", "heads", "top_k")),
            "59,049",
        ),
    ],
)
def test_wrong_options(options: tuple[str, ...], message: str) -> None:
    assert message in error_text(lambda: choices(options))


@settings(deadline=None)  # the first example imports scipy
@given(st.floats(0.05, 0.95), st.sampled_from([1.0, 3.0]))
def test_the_utilisation_of_a_measured_step_is_found_again(utilisation: float, network: float) -> None:
    job = changed(DENSE, {"data": 4, "tensor": 8})
    job = replace(job, compute=Compute(tflops_per_gpu=989, utilisation=utilisation))
    measured = step_time(job, scaled(network), 8)
    found = fitted(job, scaled(network), 8, measured.step_ms)
    assert found.utilisation == pytest.approx(utilisation, rel=1e-5)
    assert found.low <= found.utilisation <= found.high


def test_a_step_that_no_utilisation_gives() -> None:
    job = replace(changed(DENSE, {"data": 4}), compute=Compute(tflops_per_gpu=989))
    with pytest.raises(InputError, match=r"expected at least .* s, got 0.001 s"):
        fitted(job, simple, 8, 1)
    assert "expected tflops_per_gpu, got ms" in error_text(lambda: fitted(DENSE, simple, 8, 1000))


def test_all_wait_for_the_slowest_gpu() -> None:
    """The mean of the largest of 100 and 10,000 standard normal values is 2.508 and 3.852 (Harter, 1961)."""
    for gpus, largest in ((1, 0.0), (100, 2.508), (10_000, 3.852)):
        job = replace(changed(DENSE, {"data": gpus}), compute=Compute(ms=1000, variation=0.01))
        assert step_time(job, simple, 8).compute_ms == pytest.approx(1000 + 10 * largest, abs=0.2)
