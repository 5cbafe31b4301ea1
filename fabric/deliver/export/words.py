"""Numbers as text of a picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.text import counted, trimmed
from fabric.model.plan import KINDS, SERVER_LEAF, FabricPlan

TIERS = {1: "one tier", 2: "two tiers", 3: "three tiers"}
_PER = {
    "server-leaf": "per server",
    "leaf-leaf": "between the leaves",
    "leaf-spine": "per leaf and spine",
    "spine-core": "per spine and core",
}


def bandwidth(gbps: int) -> str:
    """`800 Gb/s`, `409.6 Tb/s`, `6.55 Pb/s`."""
    if gbps < 1000:
        return f"{gbps} Gb/s"
    if gbps < 1_000_000:
        return f"{trimmed(gbps / 1000, 1)} Tb/s"
    return f"{trimmed(gbps / 1_000_000, 2)} Pb/s"


def span(values: Iterable[float]) -> str:
    """`2`, or `1–2` where they differ."""
    low, high = min(found := list(values)), max(found)
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"


def bundle(fabric: FabricPlan, kind: int) -> str:
    """`2 × 400G per leaf and spine`, counted on the links themselves."""
    here = fabric.links.kind == kind
    links = fabric.links
    a, b, speed = (column[here].astype(np.int64) for column in (links.a, links.b, links.speed_gbps))
    pairs = a if kind == SERVER_LEAF else a * len(fabric.devices) + b
    each = np.unique(pairs, return_counts=True)[1]
    return f"{_range(each)} × {_range(speed)}G {_PER[KINDS[kind]]}"


def totals(fabric: FabricPlan, kind: int) -> str:
    """`1,024 links, 409.6 Tb/s`."""
    speed = fabric.links.speed_gbps[fabric.links.kind == kind]
    return f"{counted(len(speed), 'link')}, {bandwidth(int(speed.sum(dtype=np.int64)))}"


def _range(values: NDArray[Any]) -> str:
    return span((int(values.min()), int(values.max())))
