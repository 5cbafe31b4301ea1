"""Which links of a fabric have optics: AOC, or fibre between modules; the others are copper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabric.deliver.cabling.runs import runs
from fabric.design.floor.floor import floor
from fabric.hardware.catalog import media
from fabric.model.plan import Plan


def optical(plan: Plan, name: str) -> NDArray[np.bool_]:
    """Of every link of a fabric; true as well where the catalog has no cable that joins it. Raises InputError."""
    laid = runs(plan, floor(plan))
    medium = np.array(laid.medium)[laid.leg[name]]
    copper = [cable for cable, its in media.cables().items() if its.class_ != "aoc"]
    return ~np.isin(medium, copper)
