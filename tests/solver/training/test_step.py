"""The model of a training step: what is called, how the time adds up, and files that say it wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, strategies as st

from fabric.diagnostics import InputError
from fabric.solver.measured.tables import busbw_factor
from fabric.solver.training import file as training_file
from fabric.solver.training.step import SHARDINGS, Step, StepTime, Traffic, check, step_time, traffic
from tests import ROOT

PAGE = (ROOT / "docs" / "training.md").read_text()
EXAMPLE = PAGE.partition("```yaml\n")[2].partition("```")[0]

DENSE = Step(parameters=32e9, layers=32, hidden=4096, sequence=2048, compute_ms=1000.0)


def simple(collective: str, ranks: int, size: int, dimension: str) -> float:
    """300 GB/s inside a server, 45 GB/s between them, 20 µs a call."""
    return 20 + size * busbw_factor(collective, ranks) / (300 if dimension == "tensor" else 45) / 1e3


def constant(us: float) -> Callable[[str, int, int, str], float]:
    return lambda *_: us


def error_text(action: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        action()
    return str(caught.value)


A = 2048 * 4096 * 2  # bytes of the activations between two layers


@pytest.mark.parametrize(
    ("changes", "calls"),
    [
        ({}, []),
        ({"tensor": 8}, [("tensor", "all_reduce", 8, A, 128)]),
        ({"tensor": 8, "pipeline": 4, "micro_batches": 6, "micro_batch": 2}, [
            ("tensor", "all_reduce", 8, 2 * A, 4 * 8 * 6), ("pipeline", "sendrecv", 4, 2 * A, 12)]),
        ({"tensor": 8, "pipeline": 4, "sequence_parallel": True, "interleave": 2}, [
            ("tensor", "all_gather", 8, A, 32), ("tensor", "reduce_scatter", 8, A, 32),
            ("pipeline", "sendrecv", 4, A // 8, 4)]),
        ({"data": 16, "tensor": 2}, [
            ("tensor", "all_reduce", 2, A, 128), ("data", "all_reduce", 16, 10**9, 32)]),
        ({"data": 16, "sharding": "optimizer", "gradient_bytes": 4}, [
            ("data", "all_gather", 16, 2 * 10**9, 32), ("data", "reduce_scatter", 16, 4 * 10**9, 32)]),
        ({"data": 16, "sharding": "full", "micro_batches": 3}, [
            ("data", "all_gather", 16, 2 * 10**9, 192), ("data", "reduce_scatter", 16, 2 * 10**9, 96)]),
        ({"data": 16, "expert": 8, "experts": 64, "top_k": 2, "moe_layers": 16, "expert_parameters": 24e9}, [
            ("expert", "alltoall", 8, 2 * A, 64), ("data", "all_reduce", 16, 5 * 10**8, 32),
            ("expert_data", "all_reduce", 2, 187_500_000, 32)]),
        ({"data": 16, "expert": 16, "experts": 64, "moe_layers": 32, "expert_parameters": 24e9}, [
            ("expert", "alltoall", 16, A, 128), ("data", "all_reduce", 16, 5 * 10**8, 32)]),
        ({"data": 16, "experts": 64, "moe_layers": 32, "expert_parameters": 24e9}, [
            ("data", "all_reduce", 16, 2 * 10**9, 32)]),
    ],
)  # fmt: skip
def test_what_a_job_calls(changes: dict[str, object], calls: list[tuple[str, str, int, int, int]]) -> None:
    assert traffic(replace(DENSE, **changes)) == [Traffic(*call) for call in calls]  # type: ignore[arg-type]


def test_zero_moves_what_an_all_reduce_does_and_sharded_parameters_half_again() -> None:
    """ZeRO, section 7: 2 Ψ, 2 Ψ and 3 Ψ."""
    moved = {
        kind: sum(
            call.calls * call.bytes * busbw_factor(call.collective, 64)
            for call in traffic(replace(DENSE, data=64, sharding=kind))
        )
        for kind in SHARDINGS
    }
    assert moved["optimizer"] == pytest.approx(moved["none"])
    assert moved["full"] == pytest.approx(1.5 * moved["none"])


def test_tensor_parallelism_moves_8bsh_a_layer_and_micro_batch() -> None:
    """Narayanan et al., section 3.2: 8 b s h (t - 1) / t values a layer and device."""
    for together in (False, True):
        calls = traffic(replace(DENSE, tensor=8, sequence_parallel=together))
        moved = sum(call.calls * call.bytes * busbw_factor(call.collective, 8) for call in calls)
        assert moved == pytest.approx(DENSE.layers * 8 * 2048 * 4096 * 7 / 8 * 2)


def test_a_step_without_a_network_is_computing_and_bubble() -> None:
    time = step_time(replace(DENSE, pipeline=4, micro_batches=6), constant(0))
    assert (time.step_ms, time.ideal_ms, time.bubble_ms, time.lost_to_network) == (1500, 1500, 500, 0)
    assert time.tokens_per_second == pytest.approx(2048 * 6 / 1.5)


def test_what_every_micro_batch_waits_for_lengthens_the_bubble_too() -> None:
    step = replace(DENSE, pipeline=2, micro_batches=2, data=2)
    time = step_time(step, constant(1000))  # 4 sends and 16 all-reduces of 1 ms
    assert [(d.dimension, d.total_ms, d.exposed_ms) for d in time.dimensions] == [("pipeline", 4, 4), ("data", 16, 16)]
    assert time.step_ms == pytest.approx(1004 * 1.5 + 16)
    assert time.bubble_ms == pytest.approx(502)
    assert time.lost_to_network == pytest.approx(1 - 1500 / 1522)


def test_overlap_hides_no_more_than_there_is_computing() -> None:
    half = step_time(replace(DENSE, data=2, overlap={"data": 0.5}), constant(10_000))
    assert (half.dimensions[0].total_ms, half.exposed_ms, half.step_ms) == (320, 160, 1160)
    much = step_time(replace(DENSE, data=2, overlap={"data": 1.0}), constant(100_000))
    assert (much.communication_ms, much.exposed_ms, much.step_ms) == (3200, 2200, 3200)


def test_computing_from_the_flops() -> None:
    step = replace(DENSE, compute_ms=0, tflops_per_gpu=100, utilisation=0.5, data=4, tensor=2)
    flops = 4 * 2048 * (6 * 32e9 + 12 * 32 * 4096 * 2048)
    assert step.computing_ms == pytest.approx(flops / (8 * 50e12) * 1e3)
    sparse = replace(step, experts=8, top_k=2, moe_layers=32, expert_parameters=24e9)
    assert step.computing_ms - sparse.computing_ms == pytest.approx(4 * 2048 * 6 * 18e9 / (8 * 50e12) * 1e3)


STEPS = st.builds(
    lambda data, tensor, pipeline, expert, more: replace(
        DENSE, data=data * expert, tensor=tensor, pipeline=pipeline, expert=expert, experts=16, moe_layers=8, **more
    ),
    st.sampled_from([1, 2, 3, 8, 100]),
    st.sampled_from([1, 2, 8]),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([1, 2, 4, 16]),
    st.fixed_dictionaries(
        {
            "micro_batches": st.integers(1, 64),
            "sharding": st.sampled_from(SHARDINGS),
            "sequence_parallel": st.booleans(),
            "top_k": st.integers(1, 16),
            "expert_parameters": st.floats(0, 32e9),
            "overlap": st.fixed_dictionaries({key: st.floats(0, 1) for key in ("tensor", "expert", "pipeline", "data")}),
        }
    ),
)


@given(STEPS, st.floats(0.1, 10))
def test_a_slower_network_never_makes_a_step_faster(step: Step, factor: float) -> None:
    assume(not check(step))
    times: list[StepTime] = [
        step_time(step, lambda *call, slower=slower: slower * simple(*call)) for slower in (1.0, 1.0 + factor)
    ]
    fast, slow = times
    assert slow.step_ms >= fast.step_ms * (1 - 1e-12)
    assert fast.step_ms >= fast.ideal_ms * (1 - 1e-12)
    for time in times:
        assert 0 <= time.lost_to_network + 1e-12 < 1 + 1e-12
        assert time.communication_ms - time.exposed_ms <= time.compute_ms * (1 + 1e-9)
        assert all(0 <= d.exposed_ms <= d.total_ms * (1 + 1e-9) + 1e-12 for d in time.dimensions)
        assert time.tokens_per_second == pytest.approx(step.tokens / time.step_ms * 1e3)


def test_the_page_shows_what_its_example_gives() -> None:
    step = training_file.read_yaml(EXAMPLE, "model.yaml", 1024)
    time = step_time(step, simple)
    assert PAGE.partition("```console\n")[2].partition("\n```")[0].splitlines() == time.lines()
    assert time.as_dict()["dimensions"][2]["collective"] == "sendrecv"
    assert math.isclose(time.as_dict()["step_ms"], time.step_ms)


def test_data_may_be_what_remains_of_the_gpus() -> None:
    text = re.sub(r"  data: 32 .*\n", "", EXAMPLE)
    assert training_file.read_yaml(text, "m.yaml", 2048).data == 64
    assert "m.yaml:11:3: error[FAB173]: parallel.data: missing key" in error_text(
        lambda: training_file.read_yaml(text, "m.yaml")
    )


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        (
            "layers: 80",
            "layers: 82",
            "m.yaml:4:11: error[FAB173]: layers: expected a multiple of pipeline x ",
            "1, 2, 41, 82",
        ),
        ("hidden: 8192", "hidden: 8190", "hidden: expected a multiple of tensor, 8, got 8190", "5, 6, 7, 9, 10, 13"),
        (
            "data: 32",
            "data: 33",
            "m.yaml:13:9: error[FAB173]: data: data x tensor x pipeline = 1056 GPUs",
            "data: 32 makes 1024",
        ),
        ("tensor: 8 ", "tensor: 0 ", "m.yaml:11:11: error[FAB173]: parallel.tensor: expected 1 to 1000000, got 0", ""),
        ("pipeline: 4", "pipelines: 4", "m.yaml:12:3: error[FAB173]: unknown key 'pipelines' under parallel", "'pipeline'?"),
        ("sharding: optimizer", "sharding: zero3", "parallel.sharding: expected none, optimizer, full, got 'zero3'", ""),
        ("  utilisation", "  ms: 3\n  utilisation", "compute.ms: expected one of ms and tflops_per_gpu, got both", ""),
        ("  parameters: 70.6e9\n", "", "m.yaml:3:3: error[FAB173]: model.parameters: missing key", ""),
        ("data: 0.8", "data: 1.8", "overlap.data: expected 0 to 1, got 1.8", ""),
        ("model:", "modle:", "m.yaml:2:1: error[FAB173]: unknown key 'modle'", "did you mean 'model'?"),
        ("parameters: 70.6e9", "parameters: 70B", "model.parameters: expected a number, got '70B'", ""),
        ("  sequence_parallel: true", "  expert: 5", "data: expected a multiple of expert, 5, got 32", "2, 4, 8, 16"),
        ("  sequence_parallel: true", "  expert: 4", "expert: expected layers with experts, got none", "moe_layers"),
        ("  layers: 80", "  experts: 6\n  top_k: 8\n  layers: 80", "top_k: expected at most the 6 experts, got 8", ""),
        ("  layers: 80", "  expert_parameters: 8e10\n  layers: 80", "expected a part of the 7.06e+10 parameters", ""),
        ("parallel:", "parallel: 7\nx:", "parallel: expected a mapping, got 7", ""),
    ],
)
def test_a_wrong_file_is_reported_with_its_place(old: str, new: str, message: str, hint: str) -> None:
    assert old in EXAMPLE
    found = error_text(lambda: training_file.read_yaml(EXAMPLE.replace(old, new, 1), "m.yaml", 1024))
    assert message in found
    assert hint in found


def test_files_that_are_no_step(tmp_path: Path) -> None:
    assert "FAB001" in error_text(lambda: training_file.read(tmp_path / "none.yaml"))
    (tmp_path / "m.yaml").write_text("- 1\n")
    assert "m.yaml:1:1: error[FAB007]: expected a mapping" in error_text(lambda: training_file.read(tmp_path / "m.yaml"))


def test_a_step_that_does_not_fit_and_groups_that_cannot_meet() -> None:
    assert "step: error[FAB173]: layers: expected a multiple" in error_text(
        lambda: step_time(replace(DENSE, pipeline=3), constant(1))
    )
    assert "data: groups of 4 GPUs cannot reach each other" in error_text(
        lambda: step_time(replace(DENSE, data=4), constant(math.inf))
    )
    assert check(replace(DENSE, micro_batches=0))[0][:2] == ("micro_batches", "expected at least 1, got 0")
