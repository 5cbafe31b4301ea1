"""Useful time under failures: against a simulation of every failure, the published approximation, and limits."""

from __future__ import annotations

import numpy as np
import pytest

from fabric.solver.goodput import failures

SETTINGS, INTERVALS = 1000, 2000


def simulated(rate: float, restart: float, span: float, dice: np.random.Generator) -> np.ndarray:
    """Wall times of intervals, every failure drawn: work until it fails or ends, then a restart, which may fail as well."""
    wall = np.zeros(INTERVALS)
    working = np.arange(INTERVALS)
    while len(working):
        until = dice.exponential(1 / rate, len(working))
        wall[working] += np.minimum(until, span)
        working = failed = working[until < span]
        while len(failed):
            until = dice.exponential(1 / rate, len(failed))
            wall[failed] += np.minimum(until, restart)
            failed = failed[until < restart]
    return wall


def test_wall_time_is_that_of_a_simulation() -> None:
    dice = np.random.default_rng(7)
    scores = []
    for _ in range(SETTINGS):
        rate = 10 ** dice.uniform(-6, -3)
        restart, interval, stall = (dice.uniform(0, share) / rate for share in (0.7, 1.2, 0.3))
        walls = simulated(rate, restart, interval + stall, dice)
        error = walls.mean() - failures.wall_s(rate, restart, interval, stall)
        scores.append(error / (walls.std(ddof=1) / np.sqrt(INTERVALS)))
    beyond = np.abs(scores) > 3
    assert beyond.mean() < 0.01  # 0.27 % of normal values
    assert np.abs(scores).max() < 5
    assert abs(np.mean(scores)) < 4 / np.sqrt(SETTINGS)


def test_the_published_approximation_holds_while_failures_are_rare() -> None:
    dice = np.random.default_rng(3)
    restart, interval = dice.uniform(0, 3600, 5000), dice.uniform(60, 7200, 5000)
    stall = interval * dice.uniform(0, 0.05, 5000)
    expected = dice.uniform(0, 0.5, 5000)  # failures in a restart and an interval
    rate = expected / (restart + interval)
    settings = (rate, restart, interval, stall)
    error = failures.first_order_share(*settings) / failures.useful_share(*settings) - 1
    assert np.abs(error[expected < 0.05]).max() < 0.01
    assert np.abs(error[expected > 0.4]).max() > 0.05


@pytest.mark.parametrize("expected", [1e-12, 1e-10, 1e-8, 1e-4, 0.01, 0.3, 2.0, 20.0])  # failures in a stall
def test_the_best_interval_beats_its_neighbors(expected: float) -> None:
    stall = 30.0
    rate = expected / stall
    best = failures.best_interval_s(rate, stall)
    here = failures.wall_s(rate, 900, best, stall) / best
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert failures.wall_s(rate, 900, factor * best, stall) / (factor * best) > here * (1 - 1e-12)
    assert 0 < best * rate <= 1


def test_the_best_interval_approaches_those_of_young_and_daly() -> None:
    rate, stall = 1e-6, 10.0
    best = failures.best_interval_s(rate, stall)
    assert failures.young_s(rate, stall) == pytest.approx(best, rel=2e-3)
    assert failures.daly_s(rate, stall) == pytest.approx(best, rel=1e-5)
    assert failures.daly_s(1.0, 3.0) == 1.0  # a checkpoint that takes more than two mean times to failure


def test_without_failures_only_the_stall_costs() -> None:
    assert failures.useful_share(0.0, 900.0, 90.0, 10.0) == pytest.approx(0.9)
    assert failures.best_interval_s(0.0, 10.0) == np.inf
    assert failures.best_interval_s(1e-5, 0.0) == 0.0
