"""One design: planned as `fabric plan` plans it, timed as `fabric estimate` does, priced as `fabric bom` does.

A packed all-reduce hardly crosses a spine, so it cannot tell a non-blocking design from one that is oversubscribed. Unless
a collective is named, designs are therefore timed by an alltoall as well. Its packets are sprayed over all equal-cost paths:
that is the time the links allow, without hash collisions, at a fraction of the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabric import source
from fabric.bom.prices import Prices
from fabric.bom.quick import quick
from fabric.diagnostics import InputError
from fabric.explore.space import Base, Choice
from fabric.explore.tokens import token_cost
from fabric.formats import json_line
from fabric.intent import load
from fabric.intent.intent import Intent
from fabric.plan import FabricPlan, Plan
from fabric.plan.lock_file import Lock
from fabric.plan.summary import summary
from fabric.solver.estimate.estimate import Estimate, pattern_of
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.goodput.goodput import Goodput
from fabric.solver.training.file import JobText

ALL_REDUCE, ALLTOALL = "all_reduce", "alltoall"


@dataclass(frozen=True)
class DesignRequest:
    """What is asked of every design. Without `gpus` the servers are those of the intent."""

    gpus: int | None = None
    collective: str = ""  # that designs are timed by; "": an all-reduce, and an alltoall beside it
    size: int = 1 << 30  # bytes
    placement: str = "packed"
    prices: Prices | None = None
    job: JobText | None = None  # that designs are judged by as well

    @property
    def timed(self) -> str:
        """The collective that `time_us` is of."""
        return self.collective or ALL_REDUCE

    @property
    def both(self) -> bool:
        """Whether designs are timed by an alltoall as well."""
        return not self.collective


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
    beyond_leaf: float | None = None  # share of what is sent that leaves the sender's leaf, the most of the collectives
    alltoall_time_us: float | None = None
    alltoall_busbw_GBps: float | None = None
    alltoall_bottleneck: str = ""
    power_typical_low_w: float | None = None
    power_typical_high_w: float | None = None
    useful: float | None = None  # share of the time, of the training job
    tokens_per_day: float | None = None
    token_cost: float | None = None  # of a billion useful tokens, servers included

    @property
    def gpu_hours(self) -> float | None:
        """Of a billion useful tokens."""
        return self.gpus * 24 / self.tokens_per_day * 1e9 if self.tokens_per_day else None

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
            return {**found, "reason": self.why, "why": self.why}  # `why` is the old name
        return {**found, **asdict(self.figures), "switches": self.figures.switches}


@dataclass(frozen=True)
class Stages:
    """What plans and times a design: functions of a module, since they are sent to the workers of a cluster."""

    plan: Callable[[Intent, Lock | None], Plan]
    estimate: Callable[[FabricPlan, EstimateRequest, str], tuple[Estimate, Estimate | None]]
    goodput: Callable[[FabricPlan, Plan, EstimateRequest, JobText, str], Goodput] | None = None


def measure(base: Base, design: DesignRequest, stages: Stages, choice: Choice) -> Outcome:
    """Plans and measures one design; what cannot be planned or timed says why."""
    try:
        plan = _plan(base, base.design(choice, design.gpus), stages)
        return Outcome(choice, _figures(plan, plan.fabrics[base.fabric], design, stages))
    except InputError as error:
        return Outcome(choice, why=error.diagnostics[0].message)
    except ValueError as error:
        return Outcome(choice, why=str(error))


def _plan(base: Base, data: dict[str, Any], stages: Stages) -> Plan:
    """The fabric alone, as it would be planned on free ground, with no numbers kept."""
    text = source.parse(json_line(data), base.shown)
    path = Path(base.shown)
    intent = Intent(path, load.validate(text), text, path.parent)
    return stages.plan(intent, Lock())


def _figures(plan: Plan, fabric: FabricPlan, design: DesignRequest, stages: Stages) -> Figures:
    spec, sizing = fabric.spec, fabric.sizing
    row = summary(spec, sizing)
    timed = _estimate(fabric, design, stages, design.timed, "", 0)  # spread as the plan configures it
    crossing = _estimate(fabric, design, stages, ALLTOALL, "spray", 1) if design.both else None  # over all equal-cost paths
    bought = quick(spec, sizing, design.prices)
    worth = _worth(plan, fabric, design, stages)
    tokens = worth.tokens_per_day.value if worth else None
    return Figures(
        servers=sizing.servers,
        gpus=sizing.gpus,
        tiers=sizing.tiers,
        leaves=row["switches"]["leaf"],
        spines=row["switches"]["spine"],
        cores=row["switches"]["core"],
        links=sum(row["links"][kind] for kind in ("leaf-leaf", "leaf-spine", "spine-core")),
        oversubscription=row["oversubscription"]["leaf"] * max(1.0, row["oversubscription"]["spine"] or 1.0),
        time_us=timed.rows[0].time_us if timed else None,
        busbw_GBps=timed.rows[0].busbw_GBps if timed else None,
        bottleneck=timed.rows[0].bottleneck if timed else "",
        power_typical_w=bought.power.typical_w,
        power_max_w=bought.power.max_w,
        power_typical_low_w=bought.power.typical_low_w,
        power_typical_high_w=bought.power.typical_high_w,
        capex=bought.capex,
        beyond_leaf=max((_beyond_leaf(estimate) for estimate in (timed, crossing) if estimate), default=None),
        alltoall_time_us=crossing.rows[0].time_us if crossing else None,
        alltoall_busbw_GBps=crossing.rows[0].busbw_GBps if crossing else None,
        alltoall_bottleneck=crossing.rows[0].bottleneck if crossing else "",
        useful=worth.useful.value if worth else None,
        tokens_per_day=tokens,
        token_cost=token_cost(spec, bought, design.prices, tokens) if design.prices and tokens else None,
    )


def _estimate(
    fabric: FabricPlan, design: DesignRequest, stages: Stages, collective: str, routing: str, queue_pairs: int
) -> Estimate | None:
    """The collective over all GPUs; None for a fabric without GPUs."""
    if fabric.spec.purpose != "compute" or not fabric.sizing.gpus:
        return None
    asked = EstimateRequest(collective, (design.size,), routing=routing, queue_pairs=queue_pairs)
    return stages.estimate(fabric, asked, design.placement)[0]


def _worth(plan: Plan, fabric: FabricPlan, design: DesignRequest, stages: Stages) -> Goodput | None:
    """The training job over all GPUs, spread as the plan configures it; None without one."""
    if design.job is None or stages.goodput is None or fabric.spec.purpose != "compute" or not fabric.sizing.gpus:
        return None
    asked = EstimateRequest(routing="", queue_pairs=0)
    return stages.goodput(fabric, plan, asked, design.job, design.placement)


def _beyond_leaf(found: Estimate) -> float:
    row = found.rows[0]
    return found.supply.beyond_leaf(pattern_of(row.collective, row.algorithm)) if found.placement.domains > 1 else 0.0
