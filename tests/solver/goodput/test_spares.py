"""Waiting for spare servers: Erlang's formula against its sum and a simulation."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest

from fabric.solver.goodput.failures import waiting_odds


def odds_by_sum(load: float, spares: int) -> float:
    terms = [load**down / math.factorial(down) for down in range(spares + 2)]
    return terms[-1] / sum(terms[:-1])


def waited(load: float, spares: int, failures: int, repair: str, seed: int) -> float:
    """Share of time in waiting of a job that fails `load` times per mean repair, event by event."""
    dice, now, waiting = np.random.default_rng(seed), 0.0, 0.0
    repaired: list[float] = []
    gaps = dice.exponential(1 / load, failures)
    repairs = dice.exponential(1.0, failures) if repair == "exponential" else np.ones(failures)
    for gap, takes in zip(gaps, repairs, strict=True):
        now += gap
        heapq.heappush(repaired, now + takes)
        while repaired and repaired[0] <= now:
            heapq.heappop(repaired)
        if len(repaired) > spares:
            back = heapq.heappop(repaired)
            waiting += back - now
            now = back
    return waiting / now


@pytest.mark.parametrize(("load", "spares"), [(0.01, 0), (0.5, 0), (0.5, 1), (3, 2), (10, 9), (40, 45)])
def test_the_recursion_is_the_sum(load: float, spares: int) -> None:
    assert waiting_odds(load, spares) == pytest.approx(odds_by_sum(load, spares))
    both = waiting_odds(np.array([load, 2 * load]), spares)
    assert both == pytest.approx([odds_by_sum(load, spares), odds_by_sum(2 * load, spares)])


@pytest.mark.parametrize("repair", ["exponential", "constant"])
@pytest.mark.parametrize(("load", "spares"), [(0.5, 0), (2.0, 1), (5.0, 6)])
def test_a_simulation_waits_as_long(load: float, spares: int, repair: str) -> None:
    runs = [waited(load, spares, 5000, repair, seed) for seed in range(30)]
    odds = float(waiting_odds(load, spares))
    error = np.std(runs, ddof=1) / math.sqrt(len(runs))
    assert np.mean(runs) == pytest.approx(odds / (1 + odds), abs=4 * error)


def test_no_failures_and_many() -> None:
    assert waiting_odds(0.0, 3) == 0
    assert np.isfinite(waiting_odds(1e6, 10_000))
