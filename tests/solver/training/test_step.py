"""The model of a training step: what is called, how the time adds up, and files that say it wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from fabric.base.diagnostics import InputError
from fabric.solver.collective import COLLECTIVES
from fabric.solver.estimate.training import group_domains
from fabric.solver.training import file as training_file
from fabric.solver.training.checks import check
from fabric.solver.training.job import (
    RECOMPUTES,
    SCHEDULES,
    SHARDINGS,
    Compute,
    Dimension,
    Model,
    Order,
    Parallel,
    Software,
    TrainingJob,
)
from fabric.solver.training.lines import lines
from fabric.solver.training.step import NORMAL_P90, SPREAD, CallTime, StepTime, TimeOf, assumptions, step_time
from fabric.solver.training.traffic import Traffic, domains_of_a_token, split, traffic
from tests import ROOT

PAGE = (ROOT / "docs" / "training.md").read_text()
EXAMPLE = PAGE.partition("```yaml\n")[2].partition("```")[0]

DENSE = TrainingJob(
    model=Model(parameters=32e9, layers=32, hidden=4096, sequence=2048), compute=Compute(ms=1000.0, variation=0)
)
SECTIONS = ("model", "batch", "parallel", "compute", "bytes")


def changed(job: TrainingJob, changes: Mapping[str, Any]) -> TrainingJob:
    """The job with other values of keys, of whatever section; `gradient_bytes` is `bytes.gradient`."""
    for key, value in changes.items():
        if key == "overlap":
            job = replace(job, overlap=value)
            continue
        name = key.removesuffix("_bytes")
        home = next(s for s in SECTIONS if name in {item.name for item in fields(getattr(job, s))})
        job = replace(job, **{home: replace(getattr(job, home), **{name: value})})
    return job


def simple(_job: TrainingJob, call: Traffic) -> CallTime:
    """300 GB/s inside a server, 45 GB/s between them, 20 µs a call; a tenth less or more."""
    GBps = 300 if call.dimension == "tensor" else 45
    us = 20 + call.bytes * COLLECTIVES[call.collective].busbw(call.ranks) / GBps / 1e3
    return CallTime(us, 0.9 * us, 1.1 * us, "NVLink" if call.dimension == "tensor" else "server NICs")


def constant(us: float) -> TimeOf:
    return lambda *_: CallTime(us, us, us)


def scaled(factor: float) -> TimeOf:
    """`simple` on a slower network."""

    def time_of(job: TrainingJob, call: Traffic) -> CallTime:
        once = simple(job, call)
        return CallTime(factor * once.us, factor * once.p10_us, factor * once.p90_us)

    return time_of


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
    assert [(c.dimension, c.collective, c.ranks, c.bytes, c.calls) for c in traffic(changed(DENSE, changes), 8)] == calls


def test_zero_moves_what_an_all_reduce_does_and_sharded_parameters_half_again() -> None:
    """ZeRO, section 7: 2 Ψ, 2 Ψ and 3 Ψ."""
    moved = {
        kind: sum(
            call.calls * call.bytes * COLLECTIVES[call.collective].busbw(64)
            for call in traffic(changed(DENSE, {"data": 64, "sharding": kind}))
        )
        for kind in SHARDINGS
    }
    assert moved["optimizer"] == pytest.approx(moved["none"])
    assert moved["full"] == pytest.approx(1.5 * moved["none"])


def test_tensor_parallelism_moves_8bsh_a_layer_and_micro_batch() -> None:
    """Narayanan et al., section 3.2: 8 b s h (t - 1) / t values a layer and device."""
    for together in (False, True):
        calls = traffic(changed(DENSE, {"tensor": 8, "sequence_parallel": together}))
        moved = sum(call.calls * call.bytes * COLLECTIVES[call.collective].busbw(8) for call in calls)
        assert moved == pytest.approx(DENSE.model.layers * 8 * 2048 * 4096 * 7 / 8 * 2)


def test_a_step_without_a_network_is_computing_and_bubble() -> None:
    time = step_time(changed(DENSE, {"pipeline": 4, "micro_batches": 6}), constant(0), 8)
    assert (time.step_ms, time.ideal_ms, time.bubble_ms, time.lost_to_network) == (1500, 1500, 500, 0)
    assert time.tokens_per_second == pytest.approx(2048 * 6 / 1.5)


def test_what_every_micro_batch_waits_for_lengthens_the_bubble_too() -> None:
    step = changed(DENSE, {"pipeline": 2, "micro_batches": 2, "data": 2})
    time = step_time(step, constant(1000), 8)  # 4 sends and 16 all-reduces of 1 ms
    assert [(d.dimension, d.total_ms, d.exposed_ms) for d in time.dimensions] == [("pipeline", 4, 4), ("data", 16, 16)]
    assert time.step_ms == pytest.approx(1004 * 1.5 + 16)
    assert time.bubble_ms == pytest.approx(502)
    assert time.lost_to_network == pytest.approx(1 - 1500 / 1522)


def test_overlap_hides_no_more_than_there_is_computing() -> None:
    half = step_time(changed(DENSE, {"data": 2, "overlap": {"data": 0.5}}), constant(10_000), 8)
    assert (half.dimensions[0].total_ms, half.exposed_ms, half.step_ms) == (320, 160, 1160)
    much = step_time(changed(DENSE, {"data": 2, "overlap": {"data": 1.0}}), constant(100_000), 8)
    assert (much.communication_ms, much.exposed_ms, much.step_ms) == (3200, 2200, 3200)


def test_computing_from_the_flops() -> None:
    step = changed(DENSE, {"ms": 0, "tflops_per_gpu": 100, "utilisation": 0.5, "data": 4, "tensor": 2})
    flops = 4 * 2048 * (6 * 32e9 + 12 * 32 * 4096 * 2048)
    assert step.computing_ms == pytest.approx(flops / (8 * 50e12) * 1e3)
    sparse = changed(step, {"experts": 8, "top_k": 2, "moe_layers": 32, "expert_parameters": 24e9})
    assert step.computing_ms - sparse.computing_ms == pytest.approx(4 * 2048 * 6 * 18e9 / (8 * 50e12) * 1e3)


STEPS = st.builds(
    lambda data, tensor, context, pipeline, expert, more: changed(
        DENSE,
        {
            "data": data * expert,
            "tensor": tensor,
            "context": context,
            "pipeline": pipeline,
            "expert": expert,
            "experts": 16,
            "moe_layers": 8,
            **more,
        },
    ),
    st.sampled_from([1, 2, 3, 8, 100]),
    st.sampled_from([1, 2, 8]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 3, 4, 8]),
    st.sampled_from([1, 2, 4, 16]),
    st.fixed_dictionaries(
        {
            "micro_batches": st.integers(1, 64),
            "sharding": st.sampled_from(SHARDINGS),
            "sequence_parallel": st.booleans(),
            "deduplicate": st.booleans(),
            "schedule": st.sampled_from(SCHEDULES),
            "recompute": st.sampled_from(RECOMPUTES),
            "top_k": st.integers(1, 16),
            "expert_parameters": st.floats(0, 32e9),
            "overlap": st.fixed_dictionaries({key: st.floats(0, 1) for key in ("tensor", "expert", "pipeline", "data")}),
        }
    ),
)


@given(STEPS, st.floats(0.1, 10))
def test_a_slower_network_never_makes_a_step_faster(step: TrainingJob, factor: float) -> None:
    assume(not check(step))
    times: list[StepTime] = [step_time(step, scaled(share), 8) for share in (1.0, 1.0 + factor)]
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
    time = step_time(step, simple, 8)
    time = replace(time, assumptions=assumptions(step, simple, 8))
    assert PAGE.partition("```console\n")[2].partition("\n```")[0].splitlines() == lines(time)
    assert time.as_dict()["dimensions"][2]["collective"] == "sendrecv"
    assert math.isclose(time.as_dict()["step_ms"], time.step_ms)


def test_data_may_be_what_remains_of_the_gpus() -> None:
    text = re.sub(r"  data: 32 .*\n", "", EXAMPLE)
    assert training_file.read_yaml(text, "m.yaml", 2048).parallel.data == 64
    assert "m.yaml:11:3: error[FAB173]: parallel.data: missing key" in error_text(
        lambda: training_file.read_yaml(text, "m.yaml")
    )


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        (
            "layers: 80",
            "layers: 3",
            "m.yaml:4:11: error[FAB173]: model.layers: expected at least pipeline x interleave",
            "fewer stages",
        ),
        ("hidden: 8192", "hidden: 8190", "model.hidden: expected a multiple of tensor, 8, got 8190", "5, 6, 7, 9, 10, 13"),
        (
            "data: 32",
            "data: 33",
            "m.yaml:13:9: error[FAB173]: parallel.data: data x tensor x context x pipeline = 1056 GPUs",
            "data: 32 makes 1024",
        ),
        ("tensor: 8 ", "tensor: 0 ", "m.yaml:11:11: error[FAB173]: parallel.tensor: expected 1 to 1000000, got 0", ""),
        ("pipeline: 4", "pipelines: 4", "m.yaml:12:3: error[FAB173]: unknown key 'pipelines' under parallel", "'pipeline'?"),
        ("sharding: optimizer", "sharding: zero3", "expected none, optimizer, gradients, full, got 'zero3'", ""),
        (
            "utilisation: 0.55",
            "recompute: [norm, attn]",
            "m.yaml:18:21: error[FAB173]: compute.recompute[1]: expected attention, norm, up_projection, activation",
            "'attention'",
        ),
        (
            "sharding: optimizer",
            "order: tp-pp-dp",
            "expected tp-cp-dp-pp, tp-cp-pp-dp, got 'tp-pp-dp'",
            "did you mean 'tp-cp-pp-dp'?",
        ),
        ("utilisation: 0.55", "recompute: []", "compute.recompute: expected at least 1 entry", "a list of parts"),
        (
            "utilisation: 0.55",
            "measured_on: h101",
            "compute.measured_on: expected the model of a GPU, got 'h101'",
            "did you mean 'h100'?",
        ),
        ("utilisation: 0.55", "fused_attention: maybe", "compute.fused_attention: expected true or false", ""),
        ("  utilisation", "  ms: 3\n  utilisation", "compute.ms: expected one of ms and tflops_per_gpu, got both", ""),
        ("  parameters: 70.6e9\n", "", "m.yaml:3:3: error[FAB173]: model.parameters: missing key", ""),
        ("data: 0.8", "data: 1.8", "overlap.data: expected 0 to 1, got 1.8", ""),
        ("model:", "modle:", "m.yaml:2:1: error[FAB173]: unknown key 'modle'", "did you mean 'model'?"),
        ("parameters: 70.6e9", "parameters: 70B", "model.parameters: expected a number, got '70B'", ""),
        (
            "  sequence_parallel: true",
            "  expert: 5",
            "parallel.data: expected a multiple of expert, 5, got 32",
            "2, 4, 8, 16",
        ),
        ("  sequence_parallel: true", "  expert: 4", "parallel.expert: expected layers with experts, got none", "moe_layers"),
        ("  layers: 80", "  experts: 6\n  top_k: 8\n  layers: 80", "model.top_k: expected at most the 6 experts, got 8", ""),
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
    assert "job: error[FAB173]: model.layers: expected at least" in error_text(
        lambda: step_time(changed(DENSE, {"pipeline": 33}), constant(1), 8)
    )
    assert "data: groups of 4 GPUs cannot reach each other" in error_text(
        lambda: step_time(changed(DENSE, {"data": 4}), constant(math.inf), 8)
    )
    assert check(changed(DENSE, {"micro_batches": 0}))[0][:2] == ("batch.micro_batches", "expected at least 1, got 0")


@pytest.mark.parametrize(
    ("changes", "layers", "imbalance"),
    [
        ({"pipeline": 4}, (8, 8, 8, 8), 1),
        ({"pipeline": 3}, (11, 11, 10), 33 / 32),
        ({"pipeline": 3, "stages": (10, 12, 10)}, (10, 12, 10), 36 / 32),
        ({"pipeline": 2, "interleave": 2, "stages": (9, 8, 8, 7)}, (17, 15), 34 / 32),
    ],
)
def test_stages_need_not_be_equal(changes: dict[str, Any], layers: tuple[int, ...], imbalance: float) -> None:
    job = changed(DENSE, {"ms": 0, "tflops_per_gpu": 100, **changes})
    assert not check(job)
    assert job.layers_of_stages == layers
    assert job.imbalance == pytest.approx(imbalance)


def test_context_ranks_gather_keys_and_values_and_share_the_gradients() -> None:
    job = changed(DENSE, {"context": 2, "tensor": 2, "data": 4, "heads": 32, "kv_heads": 8})
    calls = {(call.dimension, call.collective): call for call in traffic(job, 8)}
    kv = 2 * 4096 // 4 * 2048 // 2 * 2  # keys and values of a quarter of the heads, cut by two tensor ranks, of 2 bytes
    assert calls["context", "all_gather"] == Traffic(
        dimension="context", collective="all_gather", ranks=2, bytes=kv, calls=64
    )
    assert calls["context", "reduce_scatter"] == Traffic(
        dimension="context", collective="reduce_scatter", ranks=2, bytes=kv, calls=32
    )
    assert calls["data", "all_reduce"].ranks == 8
    assert calls["tensor", "all_reduce"].bytes == A // 2
    assert job.gpus == 16


@pytest.mark.parametrize(
    ("arguments", "copies"),
    [
        ((256, 8, 1), 1),
        ((256, 8, 8, 4), 4 * (1 - math.comb(96, 8) / math.comb(128, 8))),
        ((8, 2, 2), 2 * (1 - math.comb(4, 2) / math.comb(8, 2))),
        ((8, 8, 4), 4),
    ],
)
def test_domains_of_a_token(arguments: tuple[int, ...], copies: float) -> None:
    assert domains_of_a_token(*arguments) == pytest.approx(copies)


def test_a_deduplicated_token_crosses_once_a_domain() -> None:
    job = changed(
        DENSE,
        {"data": 64, "expert": 64, "experts": 256, "top_k": 8, "expert_domains": 4, "moe_layers": 32, "deduplicate": True}
        | {"dispatch": 1},
    )
    assert split(((64, 1),), 8) == (8, 8)
    dispatch, combine = (call for call in traffic(job, 8) if call.dimension == "expert")
    copies = domains_of_a_token(256, 8, 8, 4)
    assert (dispatch.bytes, dispatch.cross_bytes) == (4 * A, math.ceil(A // 2 * copies))
    assert (combine.bytes, combine.cross_bytes) == (8 * A, math.ceil(A * copies))


def test_schedules_leave_less_of_the_bubble() -> None:
    job = changed(DENSE, {"pipeline": 8, "micro_batches": 32})
    shares = {name: changed(job, {"schedule": name}).bubble for name in SCHEDULES}
    assert shares == pytest.approx({"1f1b": 7 / 32, "zero_bubble": 7 / 96, "dualpipe": 2 / 32})


def test_a_bucket_leaves_one_call_and_what_the_window_does_not_hold() -> None:
    job = changed(DENSE, {"data": 2, "overlap": {"data": "bucket"}})
    assert step_time(job, constant(1000), 8).exposed_ms == pytest.approx(1)  # one of 32 calls
    assert step_time(job, constant(100_000), 8).exposed_ms == pytest.approx(3200 - 1000 * 2 / 3)  # of the backward pass


def test_with_a_cuda_graph_the_calls_of_a_chunk_have_the_time_of_as_many_micro_batches_as_stages() -> None:
    """4 stages of 2 chunks, 8 micro-batches of 125 ms: of the backward pass of one or of four of them, 83 or 333 ms."""
    cut = {"data": 2, "pipeline": 4, "interleave": 2, "micro_batches": 8, "overlap": {"data": "bucket"}}
    job = changed(DENSE, cut)
    graph = replace(job, software=Software(cuda_graph="full_iteration"))
    host, whole = (step_time(which, constant(100_000), 8).exposed_ms for which in (job, graph))
    assert host - whole == pytest.approx(3 * 125 * 2 / 3)
    one, other = (changed(which, {"interleave": 1}) for which in (job, graph))
    assert step_time(one, constant(100_000), 8).exposed_ms == step_time(other, constant(100_000), 8).exposed_ms


def test_chunks_hide_all_of_a_tensor_call_but_one() -> None:
    job = changed(DENSE, {"tensor": 8, "overlap": {"tensor": "chunk"}})
    plain = step_time(changed(job, {"overlap": {}}), constant(100), 8).exposed_ms
    assert step_time(job, constant(100), 8).exposed_ms == pytest.approx(plain / 8)


@pytest.mark.parametrize(
    ("order", "dimension", "domain", "found"),
    [
        ("tp-cp-dp-pp", "data", 64, (16, 2)),  # 2 context, 16 data ranks, 4 apart; of 64 GPUs 16 are in a domain
        ("tp-cp-dp-pp", "pipeline", 64, (1, 8)),
        ("tp-cp-pp-dp", "data", 64, (2, 16)),
        ("tp-cp-pp-dp", "pipeline", 64, (8, 1)),
        ("tp-cp-pp-dp", "pipeline", 8, (1, 8)),
        ("tp-cp-dp-pp", "data", 8, (2, 16)),
    ],
)
def test_the_order_decides_which_groups_are_inside_an_nvlink_domain(
    order: Order, dimension: Dimension, domain: int, found: tuple[int, int]
) -> None:
    parallel = Parallel(data=16, tensor=4, context=2, pipeline=8, order=order)
    levels = parallel.levels(dimension)
    assert split(levels, domain) == found
    rows = group_domains(levels, domain, parallel.gpus // domain)
    assert rows.shape[1] == found[1]
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)


def test_groups_of_two_levels_meet_every_domain_equally_often() -> None:
    """2 context and 16 data ranks on servers of 8 GPUs, data outside of 8 stages: servers 0, 8, 16, … of a stage."""
    rows = group_domains(Parallel(data=16, tensor=8, context=2, pipeline=8, order="tp-cp-pp-dp").levels("data"), 8, 256)
    assert rows.shape == (8, 32)
    assert rows[0, :4].tolist() == [0, 1, 16, 17]
    assert sorted(rows.ravel().tolist()) == list(range(256))


def test_assumptions_are_the_keys_that_are_not_stated() -> None:
    job = changed(DENSE, {"data": 4, "pipeline": 4, "micro_batches": 8})
    rows = {row.key: row for row in assumptions(job, constant(10_000), 8)}
    assert list(rows) == ["overlap.pipeline", "overlap.data", "parallel.interleave", "bytes.gradient", "compute.variation"]
    assert rows["parallel.interleave"].other == "2"
    assert rows["parallel.interleave"].change < 0
    stated = replace(job, stated=frozenset({"parallel.interleave"}))
    assert "parallel.interleave" not in {row.key for row in assumptions(stated, constant(10_000), 8)}


def test_the_band_of_a_step_contains_it() -> None:
    job = changed(DENSE, {"data": 4, "tensor": 8})
    time = step_time(job, simple, 8)
    assert time.p10_ms < time.step_ms < time.p90_ms
    assert time.network_p90_ms - time.step_ms == pytest.approx(0.1 * time.communication_ms)
    network, spread = math.log(time.network_p90_ms / time.step_ms), NORMAL_P90 * SPREAD
    assert math.log(time.p90_ms / time.step_ms) == pytest.approx(math.hypot(network, spread))
