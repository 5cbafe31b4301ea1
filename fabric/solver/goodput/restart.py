"""From a failure to the first new step: detection, start, load, and the steps that no checkpoint has.

A failed server is replaced by one that is running (hot standby) or by one that has to start; for a switch the job waits, and
its servers keep what is on their disks. Every failure draws one of these restarts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabric.solver import Floats


@dataclass(frozen=True)
class Restart:
    """One kind of restart, in seconds."""

    share: Floats  # of the failures that stop the job: typical, then for each draw of the rates
    detection_s: float
    start_s: float
    load_s: float
    repeated_s: float  # the checkpoint before the last one is read, as the last one was not whole

    @property
    def waiting_s(self) -> float:
        """Without the steps that are repeated."""
        return self.detection_s + self.start_s + self.load_s

    @property
    def seconds(self) -> float:
        return self.waiting_s + self.repeated_s


def effective_s(per_s: Floats, restarts: Sequence[Restart]) -> Floats:
    """The one restart time u with the same mean wall time as the mix: -ln(E[e^(-λu)]) / λ.

    A restart of u seconds ends without a failure with probability e^(-λu), and each attempt draws again; so e^(λu) of the
    renewal form becomes 1 / E[e^(-λu)].
    """
    least = min(restart.seconds for restart in restarts)
    gone = sum((item.share * np.expm1(-per_s * (item.seconds - least)) for item in restarts), np.zeros_like(per_s))
    mean = sum((item.share * item.seconds for item in restarts), np.zeros_like(per_s))
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = least - np.log1p(np.maximum(gone, -1.0)) / per_s
    restart_s: Floats = np.where(per_s > 0, exact, mean)
    return restart_s


def restarting(per_s: float, restarts: Sequence[Restart]) -> float:
    """Share of the time that a job with typical rates spends from failures to the end of loading."""
    return sum(float(item.share[0] * -np.expm1(-per_s * item.waiting_s)) for item in restarts)
