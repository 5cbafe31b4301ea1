"""Goodput of designs: what stops a job, published rates, and what redundancy is worth."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.goodput import sections
from fabric.solver.goodput.failures import STOPS, Part
from fabric.solver.goodput.goodput import Goodput, evaluate
from fabric.solver.goodput.sections import Checkpoint, Failures, Sections, rates
from fabric.solver.training import file as job_file
from fabric.solver.training.job import TrainingJob
from fabric.solver.training.step import CallTime, StepTime, step_time

JOB = """\
model: {parameters: 70.6e9, layers: 80, hidden: 8192, sequence: 8192}
batch: {micro_batch: 1, micro_batches: 4}
parallel: {tensor: 8, sharding: full}
compute: {tflops_per_gpu: 989}
checkpoint: {write_GBps: 100}
"""
INTENT = """\
version: 1
site: dc1
catalog:
  servers:
    dual: {gpus: 8, gpu: H100, nics: {compute: {count: 8, ports: 2, speed_gbps: 200}}}
fabrics:
  backend:
    nos: sonic
    servers: {model: MODEL, count: 16}
    topology: {switch: sn5600, unit: {servers: 8}PLANES}
"""
SINGLE = INTENT.replace("MODEL", "dgx-h100").replace("PLANES", "")
DUAL = INTENT.replace("MODEL", "dual").replace("PLANES", ", planes: 2")


def on(tmp_path: Path, intent: str, job: str = JOB, gpus: int | None = None) -> Goodput:
    (tmp_path / "i.yaml").write_text(intent, encoding="utf-8")
    (tmp_path / "job.yaml").write_text(job, encoding="utf-8")
    made = pipeline.plan(pipeline.load(tmp_path / "i.yaml"))
    return pipeline.goodput(made.fabrics["backend"], made, EstimateRequest(gpus=gpus), tmp_path / "job.yaml")


def job_of(gpus: int = 1024) -> TrainingJob:
    return job_file.read_yaml(JOB, "job.yaml", gpus)


def step_of(job: TrainingJob) -> StepTime:
    return step_time(job, lambda *_: CallTime(100.0, 90.0, 110.0), 8)


def valued(used: Sequence[Part], failures: Failures = Failures(), gpus: int = 1024) -> Goodput:  # noqa: B008
    job = job_of(gpus)
    return evaluate("backend", job, step_of(job), Sections(Checkpoint(write_GBps=100, read_GBps=100), failures), used)


def servers(gpus: int) -> tuple[Part, ...]:
    return tuple(Part(kind, "", count, STOPS, "") for kind, count in (("gpu", gpus), ("server", gpus // 8), ("nic", gpus)))


def effects(result: Goodput) -> Mapping[str, bool]:
    """Whether the job stops, by place and kind."""
    return {f"{row.part.place} {row.part.kind}".strip(): row.part.stops for row in result.interruptions}


def test_single_attached_servers_stop_and_dual_attached_ones_go_on(tmp_path: Path) -> None:
    single, dual = on(tmp_path, SINGLE), on(tmp_path, DUAL)
    in_servers = {"gpu": True, "server": True, "nic": True}
    above = {"leaf-spine optical": False, "spine switch": False}
    kind = next(name for name in effects(single) if name.startswith("server-leaf"))
    assert effects(single) == in_servers | above | {kind: True, "leaf switch": True}
    assert effects(dual).items() >= (in_servers | above | {"leaf switch": False}).items()
    assert not any(stops for name, stops in effects(dual).items() if name.startswith("server-leaf"))
    assert dual.mtti_hours.value > single.mtti_hours.value
    counts = {f"{row.part.place} {row.part.kind}".strip(): row.part.count for row in single.interruptions}
    assert (counts["gpu"], counts["server"], counts["nic"], counts[kind], counts["leaf switch"]) == (128, 16, 128, 128, 16)


@pytest.mark.parametrize(("gpus", "hours"), [(1024, 28.8), (16_384, 1.80), (131_072, 0.225)])
def test_published_rate_of_nodes(gpus: int, hours: float) -> None:
    """6.50 failures in 1,000 node-days: arXiv:2410.21680. Its 7.9 h of jobs with 1,024 GPUs are of jobs, not of nodes."""
    found = valued(servers(gpus), Failures(per_1000_node_days=6.5), gpus)
    assert [row.part.kind for row in found.interruptions] == ["server"]
    assert found.mtti_hours.value == pytest.approx(hours, rel=0.005)


def test_redundancy_that_never_fails_costs_nothing() -> None:
    dice = np.random.default_rng(1)
    for _ in range(50):
        slow = Part("switch", "spine", int(dice.integers(1, 200)), float(dice.uniform(1, 2)), "spine001")
        without = valued(servers(1024), Failures(switch_per_year=0.0))
        beside = valued((*servers(1024), slow), Failures(switch_per_year=0.0))
        failing = valued((*servers(1024), slow), Failures(switch_per_year=float(dice.uniform(0.01, 1))))
        assert beside.tokens_per_day == without.tokens_per_day
        assert failing.tokens_per_day.value < without.tokens_per_day.value
        assert failing.degraded > 1
        assert dict(failing.lost_gpu_hours)["failed links and switches"] > 0


def test_the_mean_slow_down_is_that_of_every_combination() -> None:
    slow = [
        Part("switch", "leaf", 40, 1.3, "a"),
        Part("copper", "server-leaf", 900, 1.1, "b"),
        Part("optical", "x", 500, 1.2, "c"),
    ]
    hours = 24.0
    found = valued((*servers(1024), *slow), Failures(repair_hours=hours)).degraded
    down = [1 - np.exp(-part.count * rates()[part.kind].typical * hours / 8766) for part in slow]
    mean = 0.0
    for states in itertools.product((False, True), repeat=3):
        chance = np.prod([share if failed else 1 - share for share, failed in zip(down, states, strict=True)])
        mean += chance * max([part.slowdown for part, failed in zip(slow, states, strict=True) if failed], default=1.0)
    assert found == pytest.approx(mean)


def test_all_lost_time_is_accounted_for() -> None:
    found = valued((*servers(1024), Part("switch", "spine", 16, 1.4, "spine001")))
    lost = sum(hours for _, hours in found.lost_gpu_hours)
    computing = found.useful.value / found.degraded * (1 - found.step.exposed_ms / found.step.step_ms)
    assert lost / (1024 * 8766) + computing == pytest.approx(1)
    assert found.tokens_per_day.p10 < found.tokens_per_day.value < found.tokens_per_day.p90
    assert found.mtti_hours.p10 < found.mtti_hours.value < found.mtti_hours.p90
    assert found == valued((*servers(1024), Part("switch", "spine", 16, 1.4, "spine001")))


def test_spare_servers() -> None:
    used = (*servers(1024), Part("optical", "server-leaf", 1024, STOPS, "a"))
    always = valued(used)
    shares = [valued(used, Failures(spare_servers=spares)) for spares in (0, 1, 4, 64)]
    useful = [found.useful.value for found in shares]
    assert useful == sorted(useful)
    assert useful[-1] == pytest.approx(always.useful.value)
    load = sum(row.per_year for row in always.interruptions) * 24 / 8766
    assert useful[0] == pytest.approx(always.useful.value / (1 + load))  # without spares the job waits for every repair
    assert max(share for _, share in shares[0].saving.curve) == pytest.approx(useful[0])
    lost = dict(shares[0].lost_gpu_hours)
    assert lost["waiting for repair"] == pytest.approx(1024 * 8766 * load / (1 + load))
    computing = useful[0] * (1 - shares[0].step.exposed_ms / shares[0].step.step_ms)
    assert sum(lost.values()) / (1024 * 8766) + computing == pytest.approx(1)
    leaf = (*servers(1024), Part("switch", "leaf", 32, STOPS, "leaf001"))
    waits = valued(leaf, Failures(spare_servers=64)).useful.value
    assert waits == pytest.approx(valued(leaf).useful.value / (1 + 32 * rates()["switch"].typical * 24 / 8766), rel=1e-6)


def test_checkpoints() -> None:
    job = job_of()
    stopped = evaluate(
        "b", job, step_of(job), Sections(Checkpoint(write_GBps=100, read_GBps=200), Failures()), servers(1024)
    ).saving
    assert stopped.size_GB == pytest.approx(70.6 * 14)
    assert (stopped.write_s, stopped.stall_s) == (pytest.approx(9.884), pytest.approx(9.884))
    assert stopped.restart_s == pytest.approx(600 + 900 + 4.942)
    asked = Checkpoint(write_GBps=1, read_GBps=1, asynchronous=True, copy_GBps_per_gpu=10)
    beside = evaluate("b", job, step_of(job), Sections(asked, Failures()), servers(1024)).saving
    assert beside.stall_s == pytest.approx(988.4 / 10_240)
    assert beside.restart_s == pytest.approx(600 + 900 + 2 * 988.4)  # one that is not whole protects nothing
    assert beside.interval_s >= beside.write_s - beside.stall_s > beside.best_s


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", "job.yaml:1:1: error[FAB173]: checkpoint: missing key"),
        ("checkpoint: {read_GBps: 1}", "job.yaml:5:13: error[FAB173]: checkpoint.write_GBps: missing key"),
        ("checkpoint: {write_GBps: 1, jobs: 2}", "job.yaml:5:35: error[FAB173]: checkpoint.jobs: expected one of this"),
        ("checkpoint: {targets: [1]}", "job.yaml:5:24: error[FAB173]: checkpoint.targets[0]: expected text, got 1"),
        ("checkpoint: {write_gbps: 100}", "job.yaml:5:14: error[FAB173]: unknown key 'write_gbps' under checkpoint"),
        ("checkpoint: {writers: some}", "checkpoint.writers: expected all, replica, got 'some'"),
        ("checkpoint: {asynchronous: true, copy_GBps_per_gpu: 9, local_GBps_per_server: 9}", "this and asynchronous"),
        ("checkpoint: {}\nfailures: {hot_standby_servers: 2}", "job.yaml:6:11: error[FAB173]: failures.standby_restart_s"),
        ("checkpoint: {write_GBps: 100 GB/s}", "job.yaml:5:26: error[FAB173]: checkpoint.write_GBps: expected a number, got"),
        ("checkpoint: {write_GBps: 1, interval: 60}", "job.yaml:5:29: error[FAB173]: "),
        ("checkpoint: {write_GBps: 1, asynchronous: true}", "copy_GBps_per_gpu"),
        ("checkpoint: {write_GBps: 1}\nfailures: {gpu_per_year: -1}", "job.yaml:6:26: error[FAB173]: failures.gpu_per_year"),
        ("checkpoint: {write_GBps: 1}\nfailures: {server_repair_hours: 48}", "failures.spare_servers: missing key"),
        ("checkpoint: {write_GBps: 1}\nfailures: {spare_servers: 1.5}", "failures.spare_servers: expected a whole number"),
        ("checkpoint: {write_GBps: 1}\nfailures: {per_1000_node_days: 6.5, nic_per_year: 1}", "expected one of this and"),
    ],
)  # fmt: skip
def test_mistakes_have_their_place(lines: str, expected: str) -> None:
    text = JOB.replace("checkpoint: {write_GBps: 100}\n", f"{lines}\n")
    with pytest.raises(InputError) as caught:
        sections.read(job_file.tree(text, "job.yaml"), "job.yaml")
    assert expected in re.sub(r"\s+", " ", str(caught.value))


def test_every_rate_has_an_ordered_range_and_a_source() -> None:
    for rate in rates().values():
        assert 0 <= rate.low <= rate.typical <= rate.high
        assert rate.typical > 0
        assert len(rate.source) > 10


def test_a_job_in_one_server_does_not_use_the_network(tmp_path: Path) -> None:
    found = on(tmp_path, SINGLE, JOB.replace("70.6e9", "7.0e+9"), gpus=8)
    assert effects(found) == {"gpu": True, "server": True}


@pytest.mark.parametrize(("rate", "hours"), [(0.0, None), (1e4, 0.0)])
def test_extremes_have_values(rate: float, hours: float | None) -> None:
    found = valued(servers(1024), Failures(detection_s=1e6, **{f"{kind}_per_year": rate for kind in rates()})).as_dict()
    assert found["mtti_hours"]["value"] == (None if hours is None else pytest.approx(hours, abs=0.01))
    assert found["useful"]["value"] == pytest.approx(0.0 if rate else 1.0, abs=1e-3)
    assert all(row["gpu_hours"] >= 0 for row in found["lost_gpu_hours_per_year"])


def test_a_plane_that_has_failed_leaves_the_other_one_without_redundancy(tmp_path: Path) -> None:
    (tmp_path / "i.yaml").write_text(DUAL, encoding="utf-8")
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    made = pipeline.plan(pipeline.load(tmp_path / "i.yaml"))
    fabric = made.fabrics["backend"]
    leaf = next(device.name for device in fabric.devices if device.role == "leaf")
    found = pipeline.goodput(fabric, made, EstimateRequest(fail=(leaf,)), tmp_path / "job.yaml")
    leaves = {row.part.stops: row.part for row in found.interruptions if row.part.place == "leaf"}
    assert leaves[True].count + leaves[False].count == sum(device.role == "leaf" for device in fabric.devices) - 1
    assert leaf not in {part.example for part in leaves.values()}
    links = [row.part for row in found.interruptions if row.part.place == "server-leaf"]
    lost = 8  # links of the failed leaf, one of each server of its unit; their NICs depend on the other link
    assert sum(part.count for part in links) == 256 - lost
    assert sum(part.count for part in links if part.stops) == lost


def test_power_and_cooling_count_where_their_domains_are_stated() -> None:
    used = (*servers(1024), Part("switch", "leaf", 32, STOPS, "leaf001"))
    plain, both = valued(used), valued(used, Failures(power_domain_servers=50, cooling_domain_servers=1000))
    counts = {row.part.kind: row.part.count for row in both.interruptions}
    assert (counts["power"], counts["cooling"]) == (3, 1)
    assert "power" not in {row.part.kind for row in plain.interruptions}
    down = (3 * 0.42 * 6 + 0.69 * 36) / 8766
    assert both.ready == pytest.approx(1 / (1 + down))
    assert dict(both.lost_gpu_hours)["waiting for repair"] == pytest.approx(1024 * 8766 * down / (1 + down))
    assert both.mtti_hours.value < plain.mtti_hours.value
    assert both.mtti_hours.p10 < both.mtti_hours.value


@pytest.mark.parametrize("key", ["power_hours: 6", "cooling_per_year: 1"])
def test_a_site_failure_needs_its_domain(key: str) -> None:
    text = JOB + f"failures: {{{key}}}\n"
    with pytest.raises(InputError) as caught:
        sections.read(job_file.tree(text, "job.yaml"), "job.yaml")
    assert f"job.yaml:6:11: error[FAB173]: failures.{key.split('_')[0]}_domain_servers: missing key" in str(caught.value)
