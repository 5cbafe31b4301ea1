"""Restarts that differ and checkpoints that are written while the job runs: the closed form against events one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from fabric.solver.goodput import failures
from fabric.solver.goodput.failures import (
    STOPS,
    Part,
    Restart,
    effective_s,
    restarting,
    sizes,
    standby_share,
    waiting_odds,
    writers,
)
from fabric.solver.goodput.goodput import evaluate
from fabric.solver.goodput.sections import Checkpoint, Failures, Sections
from fabric.solver.training import file as job_file
from tests.solver.goodput.test_goodput import JOB, job_of, servers, step_of, valued

Ways = Sequence[tuple[float, float]]


def simulated(rate: float, ways: Ways, unsaved: float, interval: float, stall: float, seed: int) -> float:
    """Useful share of 4,000 intervals. A restart is (share, seconds); a checkpoint is whole after `unsaved` seconds."""
    dice = np.random.default_rng(seed)
    span, at, whole, wall = interval + stall, 0.0, 0, 0.0  # `at`: seconds of intervals and their stalls that are done
    shares = [share for share, _ in ways]
    goal = 4000 * span
    while True:
        gap = dice.exponential(1 / rate)
        if at + gap >= goal:
            return goal / span * interval / (wall + goal - at)
        wall, at = wall + gap, at + gap
        whole = max(whole, math.floor((at - unsaved) / span))
        at = whole * span
        while (gap := dice.exponential(1 / rate)) < (waits := ways[dice.choice(len(ways), p=shares)][1]):
            wall += gap
        wall += waits


@pytest.mark.parametrize(
    ("rate", "ways", "unsaved", "interval", "stall"),
    [
        (1 / 3600, [(1.0, 300.0)], 0.0, 900.0, 30.0),
        (1 / 3600, [(0.5, 30.0), (0.5, 1500.0)], 0.0, 900.0, 30.0),
        (1 / 900, [(0.2, 0.0), (0.8, 900.0)], 0.0, 300.0, 5.0),
        (1 / 3600, [(1.0, 300.0)], 400.0, 900.0, 2.0),  # in the background
        (1 / 1200, [(0.3, 20.0), (0.7, 120.0)], 280.0, 300.0, 2.0),
    ],
)
def test_the_closed_form_is_that_of_events(rate: float, ways: Ways, unsaved: float, interval: float, stall: float) -> None:
    runs = [simulated(rate, ways, unsaved, interval, stall, seed) for seed in range(24)]
    back = [Restart(np.array([share]), 0.0, waits, 0.0, unsaved) for share, waits in ways]
    exact = failures.useful_share(rate, effective_s(np.array([rate]), back)[0], interval, stall)
    assert np.mean(runs) == pytest.approx(exact, abs=3.5 * float(np.std(runs, ddof=1)) / math.sqrt(len(runs)))


def test_a_single_restart_is_its_own_time() -> None:
    rates = np.array([0.0, 1e-12, 1e-6, 1e-2, 10.0])
    back = [Restart(np.ones(5), 600.0, 900.0, 5.0, 0.0)]
    assert effective_s(rates, back) == pytest.approx([1505.0] * 5)
    assert restarting(1e-12, back) == pytest.approx(1505e-12)
    mixed = [Restart(np.full(5, 0.5), 0.0, seconds, 0.0, 0.0) for seconds in (100.0, 300.0)]
    assert effective_s(rates, mixed)[:2] == pytest.approx([200.0, 200.0])
    assert (np.diff(effective_s(rates, mixed)) <= 1e-6).all()  # quick restarts escape further failures


def test_standby_share_is_that_of_the_states() -> None:
    load, spares = 2.0, 3
    states = [load**n / math.factorial(n) for n in range(spares + 1)]  # in repair while the job runs
    assert standby_share(load, spares) == pytest.approx(1 - states[-1] / sum(states))
    assert standby_share(load, 0) == 0
    assert waiting_odds(load, spares) == pytest.approx(load**4 / math.factorial(4) / sum(states))


def test_hot_standby_restarts_sooner_and_is_no_loss() -> None:
    cold = valued(servers(1024), Failures(spare_servers=2))
    hot = valued(servers(1024), Failures(spare_servers=1, hot_standby_servers=1, standby_restart_s=60.0))
    same = valued(servers(1024), Failures(spare_servers=1, hot_standby_servers=1, standby_restart_s=900.0))
    assert hot.useful.value > cold.useful.value == pytest.approx(same.useful.value)
    assert hot.spare_gpus == cold.spare_gpus == 16
    assert hot.ready == pytest.approx(cold.ready)
    assert 60 < hot.saving.start_s < 900
    saving = hot.saving
    parts = saving.detection_s + saving.start_s + saving.load_s + saving.repeated_s
    assert saving.restart_s == pytest.approx(parts)
    lost = sum(hours for _, hours in hot.lost_gpu_hours) / (1024 * 8766)
    assert lost + hot.useful.value * (1 - hot.step.exposed_ms / hot.step.step_ms) == pytest.approx(1)


def test_local_disks_keep_what_a_switch_failure_does_not_take() -> None:
    job = job_of()
    used = (*servers(1024), Part("switch", "leaf", 64, STOPS, "leaf001"))
    local = Checkpoint(write_GBps=10, read_GBps=10, local_GBps_per_server=5)
    found = evaluate("b", job, step_of(job), Sections(local, Failures()), used)
    assert found.saving.stall_s == pytest.approx(988.4 / (5 * 128))
    assert found.saving.write_s == pytest.approx(98.84)  # drained through the network
    by_switch = 64 * 0.081 / sum(row.per_year for row in found.interruptions)
    assert found.saving.repeated_s == pytest.approx(98.84 * (1 - by_switch))
    plain = evaluate("b", job, step_of(job), Sections(Checkpoint(write_GBps=10, read_GBps=10), Failures()), used)
    assert found.useful.value > plain.useful.value


@pytest.mark.parametrize(
    ("sharding", "data", "copies"), [("none", 128, 127.0), ("optimizer", 128, 127.0), ("full", 128, 0.0)]
)
def test_replicas_read_their_parameters(sharding: str, data: int, copies: float) -> None:
    job = job_file.read_yaml(JOB.replace("sharding: full", f"sharding: {sharding}"), "job.yaml", data * 8)
    once = sizes(job, Checkpoint(write_GBps=100, read_GBps=100), 8)
    each = sizes(job, Checkpoint(write_GBps=100, read_GBps=100, read_replicas=True), 8)
    assert once.read_GB == once.size_GB == pytest.approx(70.6 * 14)
    assert each.read_GB - once.read_GB == pytest.approx(copies * 70.6 * 2)


def test_the_first_replica_is_on_the_servers_of_its_stages() -> None:
    job = job_file.read_yaml(JOB.replace("tensor: 8,", "tensor: 16, pipeline: 2,"), "job.yaml", 256)
    assert writers(job, "all", 8) == list(range(32))
    assert writers(job, "replica", 8) == [0, 1, 16, 17]
    assert writers(job, "replica", 4) == [0, 1, 2, 3, 32, 33, 34, 35]
