"""One design: planned as `fabric plan` plans it, timed as `fabric estimate` does, priced as `fabric bom` does."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fabric.diagnostics import InputError
from fabric.explore.space import Base, Choice

if TYPE_CHECKING:
    from fabric.bom.prices import Prices
    from fabric.plan.plan import FabricPlan


@dataclass(frozen=True)
class Ask:
    """What is asked of every design. Without `gpus` the servers are those of the intent."""

    gpus: int | None = None
    collective: str = "all_reduce"
    size: int = 1 << 30  # bytes
    placement: str = "packed"
    prices: Prices | None = None


@dataclass(frozen=True)
class Figures:
    """What a design comes to; None where it cannot be known."""

    servers: int
    gpus: int
    tiers: int
    leaves: int
    spines: int
    cores: int
    links: int  # between switches
    oversubscription: float  # as built, over all tiers
    time_us: float | None
    busbw_GBps: float | None
    bottleneck: str
    power_typical_w: float | None
    power_max_w: float | None
    capex: float | None

    @property
    def switches(self) -> int:
        return self.leaves + self.spines + self.cores

    @property
    def capex_per_gpu(self) -> float | None:
        return self.capex / self.gpus if self.capex is not None and self.gpus else None


@dataclass(frozen=True)
class Outcome:
    """A design of the sweep: its figures, or why it cannot be."""

    choice: Choice
    figures: Figures | None = None
    why: str = ""

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"choice": dict(self.choice)}
        if self.figures is None:
            return {**found, "why": self.why}
        return {**found, **asdict(self.figures), "switches": self.figures.switches}


def measure(base: Base, ask: Ask, choice: Choice) -> Outcome:
    """Plans and measures one design; what cannot be planned or timed says why."""
    try:
        return Outcome(choice, _figures(_plan(base, base.design(choice, ask.gpus)), ask))
    except InputError as error:
        return Outcome(choice, why=error.diagnostics[0].message)
    except ValueError as error:
        return Outcome(choice, why=str(error))


def _plan(base: Base, data: dict[str, Any]) -> FabricPlan:
    """The fabric as it would be planned on free ground, with no numbers kept."""
    from pathlib import Path

    from fabric import pipeline
    from fabric.intent import load, source
    from fabric.planner.lock import Lock

    text = source.parse(json.dumps(data), base.shown)
    path = Path(base.shown)
    intent = pipeline.Intent(path, load.validate(text), text, path.parent)
    return pipeline.plan(intent, Lock()).fabrics[base.fabric]


def _figures(fabric: FabricPlan, ask: Ask) -> Figures:
    from fabric.bom.quick import quick
    from fabric.planner.summary import summary

    spec, sizing = fabric.spec, fabric.sizing
    row = summary(spec, sizing)
    time_us, busbw, bottleneck = _time(fabric, ask)
    bought = quick(spec, sizing, ask.prices)
    return Figures(
        servers=sizing.servers,
        gpus=sizing.gpus,
        tiers=sizing.tiers,
        leaves=row["switches"]["leaf"],
        spines=row["switches"]["spine"],
        cores=row["switches"]["core"],
        links=sum(row["links"][kind] for kind in ("leaf-leaf", "leaf-spine", "spine-core")),
        oversubscription=row["oversubscription"]["leaf"] * max(1.0, row["oversubscription"]["spine"] or 1.0),
        time_us=time_us,
        busbw_GBps=busbw,
        bottleneck=bottleneck,
        power_typical_w=bought.power_typical_w,
        power_max_w=bought.power_max_w,
        capex=bought.capex,
    )


def _time(fabric: FabricPlan, ask: Ask) -> tuple[float | None, float | None, str]:
    """µs and busbw of the collective over all GPUs, and what limits it; nothing for a fabric without GPUs."""
    from fabric import pipeline
    from fabric.hosts.spreading import spreading
    from fabric.solver.estimate.ask import Asked

    if fabric.spec.intent.purpose != "compute" or not fabric.sizing.gpus:
        return None, None, ""
    routing, queue_pairs = spreading(fabric)
    asked = Asked(ask.collective, (ask.size,), routing=routing, queue_pairs=queue_pairs)
    row = pipeline.estimate(fabric, asked, ask.placement)[0].rows[0]
    return row.time_us, row.busbw_GBps, row.bottleneck
