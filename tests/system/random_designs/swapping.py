"""Designs with cables that do not follow the rule: pairs of links between switches whose upper ends are swapped."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.model.plan import BETWEEN_SWITCHES, FabricPlan
from tests.system.random_designs.drawing import Design

PAIRS = 3  # of a fabric


def swapped(design: Design, folder: Path, rng: random.Random) -> Design | None:
    """The design with swapped cables in every fabric that can have them; None where none can, or it cannot be planned."""
    path = folder / "before.yaml"
    for name, text in design.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    path.write_text(design.text, encoding="utf-8")
    try:
        plan = pipeline.plan(pipeline.load(path, folder / "none"))
    except InputError:
        return None
    intent, count = copy.deepcopy(design.intent), 0
    for name, fabric in plan.fabrics.items():
        stated = _swaps(fabric, rng)
        if stated["add"] and "links" not in intent["fabrics"][name]:
            intent["fabrics"][name]["links"] = stated
            count += len(stated["add"])
    return Design(f"{design.name}-swapped", intent, design.files, design.kind) if count else None


def _swaps(fabric: FabricPlan, rng: random.Random) -> dict[str, Any]:
    stated: dict[str, Any] = {"remove": [], "add": []}
    for kind in BETWEEN_SWITCHES:
        rows = [at for at in range(len(fabric.links)) if fabric.links.kind[at] == kind]
        rng.shuffle(rows)
        for _ in range(PAIRS):
            first = rows.pop() if rows else -1
            second = next((at for at in rows if _may_swap(fabric, first, at)), None)
            if second is None:
                continue
            rows.remove(second)
            lower, upper = ([_end(fabric, at, end) for at in (first, second)] for end in ("a", "b"))
            stated["remove"] += lower
            stated["add"] += [{"ends": [lower[0], upper[1]]}, {"ends": [lower[1], upper[0]]}]
    return stated


def _may_swap(fabric: FabricPlan, first: int, second: int) -> bool:
    """Two links of one speed and one network, with four switches."""
    links = fabric.links
    apart = links.a[first] != links.a[second] and links.b[first] != links.b[second]
    return (
        apart and links.speed_gbps[first] == links.speed_gbps[second] and _network(fabric, first) == _network(fabric, second)
    )


def _network(fabric: FabricPlan, link: int) -> tuple[int, ...]:
    """What must stay apart: plane, pod and, in rails of their own, rail."""
    lower = fabric.devices[int(fabric.links.a[link])]
    return lower.plane, lower.pod, lower.rail if fabric.spec.kind == "rail-only" else -1


def _end(fabric: FabricPlan, link: int, end: str) -> str:
    ref = fabric.ref(link, end)
    part = f"/{ref.sub + 1}" if ref.split > 1 else ""
    return f"{fabric.devices[int(getattr(fabric.links, end)[link])].name} {ref.cage}{part}"
