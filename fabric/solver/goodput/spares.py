"""Time that a job waits for a server because no spare one is left.

Failed servers are repaired independently of each other. The job runs while no more servers are down than it has spares, and
only a running job has failures: with s spares the job waits while s + 1 servers are in repair. That is Erlang's loss system;
its blocking depends on the repair only by its mean.
"""

from __future__ import annotations

import numpy as np

from fabric.solver import Floats


def waiting_odds(load: float | Floats, spares: int) -> Floats:
    """Time in waiting over time in running.

    B / (1 - B), with B of Erlang's formula by its recursion B(0) = 1, B(n) = a B(n-1) / (n + a B(n-1)) at n = spares + 1.

    Args:
        load: a, failures that need a server per unit of time in running, times the mean repair.
    """
    blocked = np.ones_like(np.asarray(load, float))
    odds = np.full_like(blocked, np.inf)
    for servers in range(1, spares + 2):
        odds = np.asarray(load * blocked / servers)
        blocked = odds / (1 + odds)
    return odds


def standby_share(load: float | Floats, spares: int) -> Floats:
    """Share of the failures that find a spare server: those while fewer than all spares are in repair.

    Failures find a running job in a state as time does, so this is 1 - B of Erlang's formula for `spares` places.
    """
    return 1 / (1 + waiting_odds(load, spares - 1)) if spares else np.zeros_like(np.asarray(load, float))
