"""Useful time of a job that fails at random, writes checkpoints and restarts from the last one.

Failures arrive at a constant rate, also during restarts and checkpoints. Times are seconds, rates are per second. All
functions take arrays as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import lambertw

from fabric.solver import Floats

Real = float | Floats


def wall_s(failures_per_s: Real, restart_s: Real, interval_s: Real, stall_s: Real) -> Any:
    """Mean wall time of one interval of useful time and the stall of its checkpoint.

    e^(λu) (e^(λ(d+w)) - 1) / λ: the exponential model of Daly, Future Generation Computer Systems 22 (2006) 303-312. d + w
    without failures.
    """
    rate, span = np.asarray(failures_per_s, float), np.asarray(interval_s, float) + stall_s
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        wall = np.exp(rate * restart_s) * np.expm1(rate * span) / rate
    return np.where(rate > 0, wall, span)[()]


def useful(failures_per_s: Real, restart_s: Real, interval_s: Real, stall_s: Real) -> Any:
    """Share of the wall time that is useful: the effective training time ratio."""
    return interval_s / wall_s(failures_per_s, restart_s, interval_s, stall_s)


def best_interval_s(failures_per_s: Real, stall_s: Real) -> Any:
    """The interval with the most useful time, exact for `wall_s`; infinite without failures, 0 without a stall.

    d/dd of d / (e^(λ(d+w)) - 1) is 0 where (1 - λd) e^(λ(d+w)) = 1: λd = 1 + W(-e^(-1-λw)), W the principal branch of
    Lambert's function. It does not depend on the restart.
    """
    rate, stall = np.asarray(failures_per_s, float), np.asarray(stall_s, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = (1 + lambertw(-np.exp(-1 - rate * stall)).real) / rate
    # W is a square root at its branch point: below 1e-9 rounding decides, and Young's term is the limit.
    exact = np.where(rate * stall > 1e-9, exact, young_s(rate, stall))
    return np.where(rate > 0, exact, np.inf)[()]


def young_s(failures_per_s: Real, stall_s: Real) -> Any:
    """sqrt(2 w / λ): Young, Communications of the ACM 17 (1974) 530-531."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(2 * np.asarray(stall_s, float) / failures_per_s)[()]


def daly_s(failures_per_s: Real, stall_s: Real) -> Any:
    """Daly's higher order: sqrt(2wM) (1 + sqrt(w/2M)/3 + w/18M) - w for w < 2M, else M; M is the mean time to failure."""
    mean_s, stall = 1 / np.asarray(failures_per_s, float), np.asarray(stall_s, float)
    ratio = stall / (2 * mean_s)
    value = np.sqrt(2 * stall * mean_s) * (1 + np.sqrt(ratio) / 3 + ratio / 9) - stall
    return np.where(ratio < 1, value, mean_s)[()]


def first_order(failures_per_s: Real, restart_s: Real, interval_s: Real, stall_s: Real) -> Any:
    """(1 - λ(u + d/2)) / (1 + w/d): Kokolis et al., arXiv:2410.21680. Below 0 where failures are frequent."""
    return ((1 - failures_per_s * (restart_s + np.asarray(interval_s, float) / 2)) / (1 + stall_s / interval_s))[()]
