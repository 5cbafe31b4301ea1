"""How fast kernels are on one GPU model, as shares of its data sheet, against another one; data/rates.yaml has the sources.

A utilisation is a share of the data sheet. Newer GPUs reach less of theirs, so one that was measured on another GPU model is
multiplied by the ratio of the two shares: of matrix products in the precision of the job, and of the core of the attention.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fabric.base.formats import yaml

DATA = Path(__file__).parent / "data" / "rates.yaml"
APART = math.log(1.3)  # precisions are a factor of 2 apart; some data sheets differ by their power limit


class Ratio(NamedTuple):
    """Share of the data sheet that kernels reach on a GPU model, over that on another one."""

    matmul: float = 1.0
    attention: float = 1.0


def ratio(gpu: str, measured_on: str, tflops_per_gpu: float) -> Ratio:
    """1 where the two are of one generation, or where a figure is missing.

    Args:
        gpu: model of the GPUs.
        measured_on: model that a utilisation was measured on; "" for the same.
        tflops_per_gpu: of `gpu` by its data sheet, dense, in the precision of the job.
    """
    here, there = _generations().get(gpu), _generations().get(measured_on)
    if here is None or there is None:
        return Ratio()
    precision = _precision(here["peak"][gpu], tflops_per_gpu)
    if precision not in here["share"] or precision not in there["share"]:
        return Ratio()
    return Ratio(here["share"][precision] / there["share"][precision], here["attention"] / there["attention"])


def _precision(peaks: dict[str, float], tflops: float) -> str:
    """The precision with the nearest data-sheet rate; "" where none is near."""
    name = min(peaks, key=lambda precision: abs(math.log(tflops / peaks[precision])))
    return name if abs(math.log(tflops / peaks[name])) <= APART else ""


@cache
def _generations() -> dict[str, dict[str, Any]]:
    """Each GPU model with a figure, and its generation."""
    found: dict[str, dict[str, Any]] = yaml.read(DATA)
    return {gpu: generation for generation in found.values() for gpu in generation["peak"]}
