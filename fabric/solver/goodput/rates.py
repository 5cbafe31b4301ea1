"""Failure rates of parts, as data with their sources."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from fabric.base.formats import yaml
from fabric.solver import Floats

DATA = Path(__file__).parent / "data" / "rates.yaml"
HOURS_PER_YEAR = 8766.0
DAYS_PER_YEAR = HOURS_PER_YEAR / 24
STATED = "stated in JOB"


@dataclass(frozen=True)
class Rate:
    """Failures of one part in a year, with the range of the published values."""

    title: str
    low: float
    typical: float
    high: float
    source: str

    def at(self, quantile: Floats) -> Floats:
        """Rates by quantile: half of them between low and typical, half between typical and high, each half uniform."""
        return np.interp(quantile, [0.0, 0.5, 1.0], [self.low, self.typical, self.high])


@cache
def rates() -> dict[str, Rate]:
    """Rates of all kinds of parts."""
    return {kind: Rate(**entry) for kind, entry in yaml.read(DATA).items()}


def stated(title: str, per_year: float) -> Rate:
    """A rate without a range."""
    return Rate(title, per_year, per_year, per_year, STATED)
