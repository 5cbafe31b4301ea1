"""ECN thresholds: what an intent states of them, and what the rule then gives for the rest."""

from __future__ import annotations

import pytest

from fabric.design.planner.lossless import choose_ecn
from fabric.model.settings.services import Ecn

# stated, speed in Gb/s, fill that sends PAUSE → Kmin, Kmax
CASES = [
    ({"rule": "nvidia"}, 400, None, (150_000, 1_500_000)),
    ({"rule": "nvidia", "kmin_bytes": 1_000_000}, 400, None, (1_000_000, 1_500_000)),
    ({"rule": "nvidia", "kmin_bytes": 3_000_000}, 400, None, (3_000_000, 30_000_000)),  # ten times, as in the rule
    ({"rule": "nvidia", "kmin_bytes": 1_500_000}, 400, None, (1_500_000, 15_000_000)),
    ({"rule": "nvidia", "kmax_bytes": 100_000}, 400, None, (10_000, 100_000)),
    ({"rule": "nvidia", "kmin_bytes": 900_000, "kmax_bytes": 900_000}, 400, None, (900_000, 900_000)),  # one step
]


@pytest.mark.parametrize(("stated", "speed", "trigger", "requested"), CASES)
def test_thresholds(stated: dict[str, int], speed: int, trigger: int | None, requested: tuple[int, int]) -> None:
    found = choose_ecn(Ecn.model_validate(stated), speed, trigger)
    assert (found.kmin_bytes, found.kmax_bytes) == requested
