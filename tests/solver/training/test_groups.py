"""Groups of a placed job: sends of replicas that are not in step, NICs that two GPUs share, and what holds for any job."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import assume, given, strategies as st

from fabric.base.diagnostics import InputError
from fabric.base.source import Node
from fabric.model.plan import FabricPlan
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.estimate.training import PlacedJob, placed
from fabric.solver.training.file import JobText, with_values
from fabric.solver.training.job import Parallel
from fabric.solver.training.step import StepTime
from fabric.solver.training.traffic import nic_share, traffic
from tests.solver import small_fabric
from tests.solver.estimate.fabrics import STABLE, planned, plans
from tests.solver.training.test_step import error_text

JOB = """\
model: {{parameters: 7e9, layers: 32, hidden: 4096, sequence: 4096}}
batch: {{sequences: {sequences}}}
parallel: {{tensor: {tensor}, pipeline: {pipeline}, interleave: {interleave}, sequence_parallel: true, sharding: {sharding}}}
compute: {{tflops_per_gpu: {tflops}, memory_GB: 1000}}
"""
A100 = {"eight": {"gpus": 8, "gpu": "a100", "nics": {"compute": {"count": 8, "speed_gbps": 200}}}}


def job(
    fabric: FabricPlan,
    tensor: int = 1,
    pipeline: int = 1,
    interleave: int = 1,
    sequences: int = 240,
    sharding: str = "none",
    tflops: float = 989,
    more: str = "",
    routing: str = "ecmp",
) -> PlacedJob:
    text = JOB.format(**{name: value for name, value in locals().items() if name not in ("fabric", "more", "routing")}) + more
    return placed(fabric, EstimateRequest(routing=routing, queue_pairs=1), JobText("job.yaml", text), "packed")


def send_us(step: StepTime) -> float:
    return next(item.call_us for item in step.dimensions if item.dimension == "pipeline")


def with_variation(work: PlacedJob, share: float) -> StepTime:
    return work.time(with_values(work.root, {"compute.variation": Node(line=1, column=1, value=share)}))


def test_sends_meet_those_of_other_replicas_the_less_the_more_they_come_apart() -> None:
    work = job(planned("pods"), tensor=4, pipeline=4)  # stages in two pods, of which each has a sixteenth of its bandwidth
    one = work.job()
    (call,) = (item for item in traffic(one, work.domain_gpus) if item.dimension == "pipeline")
    levels = one.parallel.levels("pipeline")
    at_once, alone = (
        work.groups._time(call.collective, call.bytes, levels, alone=by_itself).us for by_itself in (False, True)
    )
    assert at_once > 2 * alone
    assert one.apart_us == pytest.approx(0.015 * one.computing_ms * 1e3 / one.batch.micro_batches)
    expected = alone + alone / (alone + one.apart_us) * (at_once - alone)
    times = [send_us(with_variation(work, share)) for share in (0, 0.001, 0.015, 0.5)]
    assert times == sorted(times, reverse=True)
    assert times[0] == pytest.approx(at_once)
    assert times[2] == pytest.approx(expected)
    assert alone < times[3] < 1.1 * alone


def test_sends_without_contention_do_not_depend_on_the_speed_of_gpus() -> None:
    work = job(planned("rails"), tensor=4, pipeline=8, routing="spray")
    assert send_us(with_variation(work, 0)) == send_us(with_variation(work, 0.1))


@pytest.mark.parametrize(
    ("release", "gpu", "gpus", "nics", "share"),
    [
        ("", "a100", 8, 8, 1),
        ("2.16.2", "a100", 8, 8, 0.5),
        ("2.18.3", "a800", 8, 8, 0.5),
        ("2.18.5", "a100", 8, 8, 1),
        ("2.20.3", "a100", 8, 8, 1),
        ("2.9.9", "a100", 8, 8, 0.5),
        ("2.16.2", "a100", 8, 4, 1),
        ("2.16.2", "h100", 8, 8, 1),
    ],
)
def test_the_share_of_a_nic_by_release(release: str, gpu: str, gpus: int, nics: int, share: float) -> None:
    assert nic_share(release, gpu, gpus, nics) == share


def test_groups_of_one_gpu_a_server_have_half_of_a_nic_with_an_old_release() -> None:
    fabric = small_fabric.planned({"servers": [("eight", 8)], "unit": {"servers": 8}}, A100, "32x400g")
    old = "software: {nccl: 2.16.2}\n"

    def data_us(tensor: int, more: str, sharding: str = "none") -> list[float]:
        step = job(fabric, tensor=tensor, more=more, sharding=sharding).time()
        return [item.call_us for item in step.dimensions if item.dimension == "data"]

    for sharding in ("none", "optimizer"):
        for now, then in zip(data_us(8, "", sharding), data_us(8, old, sharding), strict=True):
            assert then / now == pytest.approx(2, rel=0.05)  # latency is not doubled
    assert data_us(4, "") == data_us(4, old)  # two GPUs of a server are in each group
    rows = {row.key: row for row in job(fabric, tensor=8).step().assumptions}
    assert rows["software.nccl"].value == "2.18.5 or newer"
    assert rows["software.nccl"].change > 0
    assert "software.nccl" not in {row.key for row in job(fabric, tensor=8, more=old).step().assumptions}
    assert "software.nccl" not in {row.key for row in job(planned(), tensor=4).step().assumptions}


@pytest.mark.parametrize("value", ["2.16", "2", "2.16.2-1", "new", "[2]"])
def test_a_release_that_is_none(value: str) -> None:
    found = error_text(lambda: job(planned(), tensor=4, more=f"software: {{nccl: {value}}}\n").time())
    assert "job.yaml:5:18: error[FAB173]: software.nccl: expected" in found


@pytest.mark.slow
@STABLE
@given(
    plans(),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["none", "optimizer", "full"]),
    st.sampled_from(["ecmp", "adaptive"]),
)
def test_any_job_on_any_fabric(
    fabric: FabricPlan, tensor: int, pipeline: int, interleave: int, sharding: str, routing: str
) -> None:
    """Times are finite and in order; twice the FLOP/s, or packets over all links, never make a step slower."""
    options = {"tensor": tensor, "pipeline": pipeline, "interleave": interleave, "sharding": sharding}
    try:
        work = job(fabric, **options, sequences=27_720, routing=routing)  # type: ignore[arg-type]
        step = work.time()
        faster = job(fabric, **options, sequences=27_720, routing=routing, tflops=1979).time()  # type: ignore[arg-type]
        even = job(fabric, **options, sequences=27_720, routing="spray").time()  # type: ignore[arg-type]
    except InputError:
        assume(False)
        return
    assert 0 < step.ideal_ms <= step.step_ms * (1 + 1e-12) < math.inf
    assert step.p10_ms < step.step_ms < step.p90_ms
    assert step.network_p10_ms <= step.step_ms <= step.network_p90_ms
    assert all(0 <= item.exposed_ms <= item.total_ms * (1 + 1e-9) for item in step.dimensions)
    assert faster.step_ms < step.step_ms
    assert even.step_ms <= step.step_ms * 1.005
    again = replace(work, groups=replace(work.groups, _times={}, _supplies={})).time()
    assert again == step


def test_experts_that_are_not_split_lie_over_the_tensor_ranks() -> None:
    """TP 8, EP 32, DP 4 on one stage of 32 GPUs: one group of all of them; each expert is on one GPU."""
    parallel = Parallel(tensor=8, data=4, expert=32, expert_tensor=1)
    assert parallel.levels("expert") == ((32, 1),)
    assert parallel.levels("expert_data") == ((1, 32),)
    assert parallel.expert_replicas == 1
    half = Parallel(tensor=8, data=4, expert=8, expert_tensor=2)
    assert (half.levels("expert"), half.levels("expert_data"), half.expert_replicas) == (((8, 2),), ((2, 16),), 2)


@pytest.mark.parametrize("expert", [2, 4])
def test_experts_split_as_all_layers_are_the_default(expert: int) -> None:
    default, stated = (Parallel(tensor=8, data=4, expert=expert, expert_tensor=split) for split in (0, 8))
    for dimension in ("expert", "expert_data"):
        assert default.levels(dimension) == stated.levels(dimension)
    assert default.expert_replicas == stated.expert_replicas
