"""Small fabrics of every shape, drawn from a seed, and the fewest waves that any partition has."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.deliver.change.packing import Packer
from fabric.model.plan import FabricPlan
from fabric.solver.capacity.outages import Out

FLOORS = (0.25, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9)
MAX_ITEMS = 9
NONE = 99

INTENT = """\
version: 1
site: s
catalog:
  switches:
    switch100g: {{ports: [{{count: {ports}, speed_gbps: 100}}]}}
  servers:
    srv:
      gpus: {nics}
      nvlink_domain_gpus: {nics}
      nics: {{compute: {{count: {nics}, ports: {planes}, speed_gbps: 100}}}}
fabrics:
  backend:
    nos: frr
    qos: {{enabled: false}}
    servers: {{model: srv, count: {servers}, nics: compute, per_rack: {unit}}}
    topology:
      kind: {kind}
      tiers: {tiers}
      planes: {planes}
      unit: {{servers: {unit}}}
      leaf: {{switch: switch100g, oversubscription: {oversubscription}}}
      spine: {{switch: switch100g}}
      core: {{switch: switch100g}}
"""


def small(draw: random.Random, folder: Path) -> FabricPlan:
    """A fabric of 2 to 24 switches."""
    file = folder / "small.yaml"
    while True:
        text = INTENT.format(
            kind=draw.choice(["rail-optimized", "rack", "rail-only"]),
            tiers=draw.choice([2, 2, 2, 3]),
            planes=draw.choice([1, 1, 2]),
            nics=draw.choice([1, 2]),
            servers=draw.choice([2, 3, 4, 6, 8]),
            unit=draw.choice([1, 2, 4]),
            ports=draw.choice([4, 8, 16]),
            oversubscription=draw.choice([1, 1, 2]),
        )
        file.write_text(text, encoding="utf-8")
        try:
            fabric = pipeline.plan(pipeline.load(file)).fabrics["backend"]
        except InputError:
            continue
        if 2 <= len(fabric.switches) <= 24:
            return fabric


def chosen(draw: random.Random, fabric: FabricPlan) -> list[Out]:
    """Some of its switches, at most nine."""
    every = [device.index for device in fabric.switches]
    count = min(len(every), MAX_ITEMS)
    if draw.random() < 0.3:
        count = max(2, count // 2)
    return [frozenset((at,)) for at in sorted(draw.sample(every, count))]


def fewest(packer: Packer, items: Sequence[Out]) -> int:
    """Waves of the best of all partitions of items, by dynamic programming over all subsets."""
    size = 1 << len(items)
    outs: list[Out] = [frozenset()] * size
    best = [0] + [NONE] * (size - 1)
    fits = [False] * size
    for subset in range(1, size):
        low = subset & -subset
        outs[subset] = outs[subset ^ low] | items[low.bit_length() - 1]
        fits[subset] = packer.fits(outs[subset])
    for subset in range(1, size):
        low = subset & -subset
        rest = others = subset ^ low
        while True:  # every wave that has the first item
            if fits[others | low]:
                best[subset] = min(best[subset], best[rest ^ others] + 1)
            if not others:
                break
            others = (others - 1) & rest
    return best[-1]
