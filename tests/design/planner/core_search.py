"""Random fabrics of three tiers against a search of every pod size and every way to join pods.

`python -m tests.design.planner.core_search --designs 500` compares so many and prints those that differ.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from fabric.base.diagnostics import InputError
from tests.design.planner.helpers import summarize


@dataclass(frozen=True, kw_only=True)
class Design:
    """A fabric whose ports and NICs are all of 400G, so that a port is the unit of bandwidth."""

    nics: int
    servers: int
    unit: int
    leaf: int  # ports
    spine: int
    core: int
    leaf_ratio: int
    spine_ratio: int
    spine_uplinks: int | None  # stated
    units_per_pod: int | None

    @property
    def intent(self) -> str:
        uplinks = f", uplinks: {{count: {self.spine_uplinks}}}" if self.spine_uplinks else ""
        pods = f", pods: {{units: {self.units_per_pod}}}" if self.units_per_pod else ""
        return f"""
version: 1
site: dc1
catalog: {{servers: {{gpu: {{gpus: {self.nics}, nics: {{compute: {{count: {self.nics}, speed_gbps: 400}}}}}}}}}}
fabrics:
  backend:
    servers: {{model: gpu, count: {self.servers}}}
    topology:
      {{tiers: 3, unit: {{servers: {self.unit}}}, leaf: {{switch: {self.leaf}x400g, oversubscription: {self.leaf_ratio}}},
       spine: {{switch: {self.spine}x400g, oversubscription: {self.spine_ratio}{uplinks}}},
       core: {{switch: {self.core}x400g}}{pods}}}
"""


def draw(seed: int) -> Design:
    """A design that fits its leaves; whether its spines and cores fit, the search tells."""
    dice = random.Random(seed)
    leaf, ratio = dice.choice((8, 16, 32, 64)), dice.choice((1, 1, 2, 3))
    unit = dice.randint(1, leaf * ratio // (ratio + 1))
    return Design(
        nics=dice.choice((1, 2, 4, 8)),
        servers=unit * dice.randint(2, 24),
        unit=unit,
        leaf=leaf,
        spine=dice.choice((8, 16, 32, 64)),
        core=dice.choice((16, 32, 64, 128)),
        leaf_ratio=ratio,
        spine_ratio=dice.choice((1, 1, 2, 3)),
        spine_uplinks=dice.choice((None, None, 4, 6, 8, 16)),
        units_per_pod=dice.choice((None, None, 1, 2, 3, 8)),
    )


def divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]


def searched(design: Design) -> tuple[int, int] | None:
    """Spines and cores of the smallest fabric, by docs/sizing.md and by trial of everything; None where none fits."""
    uplinks = ceil(design.unit / design.leaf_ratio)
    up = design.spine_uplinks or next(n for n in range(1, design.spine) if design.spine - n <= design.spine_ratio * n)
    down = design.spine - up
    if down < 1 or (design.spine_uplinks and down > design.spine_ratio * up):
        return None
    units = design.servers // design.unit
    for minimum in (2, 1):
        found = []
        for per_pod in [design.units_per_pod] if design.units_per_pod else range(1, units + 1):
            fitting = [s for s in divisors(uplinks) if s >= minimum and per_pod * design.nics * uplinks <= s * down]
            cores = list(_cores(design, ceil(units / per_pod), fitting[0], up)) if fitting else []
            if cores:
                best = min((n for n in cores if n > 1), default=min(cores))
                found.append((ceil(units / per_pod) * fitting[0] + best, -per_pod, ceil(units / per_pod) * fitting[0], best))
        if found:
            return min(found)[2:]
    return None


def _cores(design: Design, pods: int, spines: int, up: int) -> Iterator[int]:
    """Numbers of cores: of each way to divide the spines of a pod, and to spread the uplinks of a spine."""
    for groups in divisors(spines):
        for each in divisors(up):
            if pods * (spines // groups) * (up // each) <= design.core:
                yield groups * each


def planned(design: Design) -> tuple[int, int] | None:
    try:
        switches = summarize(design.intent)["backend"]["switches"]
    except InputError:
        return None
    return switches["spine"], switches["core"]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", type=int, default=500)
    most = parser.parse_args(arguments).designs
    built = differing = seed = shared = 0
    while built < most:
        design, seed = draw(seed), seed + 1
        expected, got = searched(design), planned(design)
        built += expected is not None
        if expected != got:
            differing += 1
            print(f"expected {expected}, got {got} spines and cores: {design}")
        elif got and got[1] % summarize(design.intent)["backend"]["pods"]["spines"]:
            shared += 1
    print(f"{built} designs of three tiers, {seed - built} more that do not fit: {differing} differ from the search;")
    print(f"{shared} have a number of cores that groups of one spine per pod do not give")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
