"""One design: planned as `fabric plan` plans it, timed as `fabric estimate` does, priced as `fabric bom` does.

A packed all-reduce hardly crosses a spine, so it cannot tell a non-blocking design from one that is oversubscribed. Unless
a collective is named, designs are therefore timed by an alltoall as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabric.base.diagnostics import InputError
from fabric.deliver.bom.bill import Bill, Cost, cost
from fabric.deliver.bom.parts import SERVER, Draw, Part, total
from fabric.deliver.bom.prices import PUE, YEARS, Prices, power_range
from fabric.deliver.compare.designs import DesignFigures, bill_of, figures
from fabric.deliver.explore.dimensions import Base, Choice
from fabric.design.intent.rewrite import Planning, of_data
from fabric.model.plan import FabricPlan, FabricSpec, Plan
from fabric.model.plan.lock_file import Lock
from fabric.solver.collective import ALL_REDUCE, ALLTOALL
from fabric.solver.estimate.calls import Call, Calls
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.goodput.goodput import Goodput
from fabric.solver.goodput.sections import DAYS_PER_YEAR
from fabric.solver.training.file import JobText

# --- cost of useful tokens ------------------------------------------------------------------------------------


def token_cost(spec: FabricSpec, network: Cost, prices: Prices, tokens_per_day: float) -> float | None:
    """Total cost over the years of the price file by the useful tokens of these years, for a billion of them; None where a
    part of the network or a server has no price."""
    years = prices.years or YEARS
    rows, devices = [], []
    for group in spec.groups:
        part = Part(SERVER, group.model)
        rows.append((part, float(group.count), float(group.count + prices.spares.of(part, group.count))))
        devices.append((group.model, Draw(power_range(prices, group.model, group.server)), group.count))
    servers = cost(rows, prices, total(devices), prices.pue or PUE, years)
    if network.unpriced or servers.unpriced:
        return None
    return (network.tco + servers.tco) / (tokens_per_day * DAYS_PER_YEAR * years) * 1e9


# --- one design -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DesignRequest:
    """What is asked of every design. Without `gpus` the servers are those of the intent."""

    gpus: int | None = None
    collective: str = ""  # that designs are timed by; "": an all-reduce, and an alltoall beside it
    size: int = 1 << 30  # bytes
    placement: str = "packed"
    prices: Prices | None = None
    job: JobText | None = None  # that designs are judged by as well
    platform: Path | None = None  # parameters of collective times; None: the shipped ones

    @property
    def timed(self) -> str:
        """The collective that `time_us` is of."""
        return self.collective or ALL_REDUCE

    @property
    def both(self) -> bool:
        """Whether designs are timed by an alltoall as well."""
        return not self.collective

    @property
    def collectives(self) -> tuple[str, ...]:
        return (ALL_REDUCE, ALLTOALL) if self.both else (self.collective,)


@dataclass(frozen=True, kw_only=True)
class Figures(DesignFigures):
    """What a design comes to; None where it cannot be known."""

    capex: float | None = None
    useful: float | None = None  # share of the time, of the training job
    tokens_per_day: float | None = None
    token_cost: float | None = None  # of a billion useful tokens, servers included

    @property
    def gpu_hours(self) -> float | None:
        """Of a billion useful tokens."""
        return self.gpus * 24 / self.tokens_per_day * 1e9 if self.tokens_per_day else None

    @property
    def capex_per_gpu(self) -> float | None:
        return self.capex / self.gpus if self.capex is not None and self.gpus else None

    @property
    def timed(self) -> Call | None:
        """The first collective."""
        return next(iter(self.calls.rows), None)

    @property
    def alltoall(self) -> Call | None:
        """That of an alltoall beside it."""
        return next((row for row in self.calls.rows[1:] if row.collective == ALLTOALL), None)

    @property
    def time_us(self) -> float | None:
        return self.timed.time_us if self.timed else None

    @property
    def alltoall_time_us(self) -> float | None:
        return self.alltoall.time_us if self.alltoall else None

    @property
    def power_typical_w(self) -> float | None:
        return self.power.typical_w if self.power else None

    @property
    def beyond_leaf(self) -> float | None:
        """Share of what is sent that leaves the sender's leaf, the most of the collectives."""
        return max((row.beyond_leaf for row in self.calls.rows), default=None)

    def as_dict(self) -> dict[str, Any]:
        """Figures of a JSON document, and columns of CSV."""
        power, timed, alltoall = self.power, self.timed, self.alltoall
        return {
            "servers": self.servers,
            "gpus": self.gpus,
            "tiers": self.tiers,
            "leaves": self.leaves,
            "spines": self.spines,
            "cores": self.cores,
            "links": self.links,
            "oversubscription": self.oversubscription,
            "time_us": self.time_us,
            "busbw_GBps": timed.busbw_GBps if timed else None,
            "bottleneck": timed.bottleneck if timed else "",
            "power_typical_w": self.power_typical_w,
            "power_max_w": power.max_w if power else None,
            "capex": self.capex,
            "switches": self.switches,
            "beyond_leaf": self.beyond_leaf,
            "alltoall_time_us": self.alltoall_time_us,
            "alltoall_busbw_GBps": alltoall.busbw_GBps if alltoall else None,
            "alltoall_bottleneck": alltoall.bottleneck if alltoall else "",
            "power_typical_low_w": power.typical_low_w if power else None,
            "power_typical_high_w": power.typical_high_w if power else None,
            "useful": self.useful,
            "tokens_per_day": self.tokens_per_day,
            "token_cost": self.token_cost,
            "switch_links": self.switch_links,
            "cables": self.cables,
            "planes": self.planes,
            "routing": timed.routing if timed else "",
            "queue_pairs": timed.queue_pairs if timed else None,
        }


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
        return {**found, **self.figures.as_dict()}

    def as_row(self) -> dict[str, Any]:
        """As a journal keeps it."""
        return self.as_dict() if self.figures is None else {"choice": dict(self.choice), "figures": asdict(self.figures)}


@dataclass(frozen=True)
class Stages:
    """What plans and times a design: functions of a module, since they are sent to the workers of a cluster."""

    plan: Planning
    calls: Callable[[FabricPlan, EstimateRequest, tuple[str, ...], tuple[str, ...]], Calls]
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
    return stages.plan(of_data(data, base.shown), Lock())


def _figures(plan: Plan, fabric: FabricPlan, design: DesignRequest, stages: Stages) -> Figures:
    """The common figures, cost, and what a job gets; collectives over all GPUs, as the plan configures their routing."""
    asked = EstimateRequest(sizes=(design.size,), routing="", queue_pairs=0, platform=design.platform)
    calls = stages.calls(fabric, asked, design.collectives, (design.placement,))
    bill = _bill(plan, design.prices)
    share = next((item for item in bill.shares if item.name == fabric.name), None) if bill else None
    cost = share.cost if share and bill and not bill.unjoined else None
    worth = _worth(plan, fabric, design, stages)
    tokens = worth.tokens_per_day.value if worth else None
    return Figures(
        **figures(fabric, share.power if share else None, calls).values(),
        capex=cost.capex if cost and not cost.unpriced else None,
        useful=worth.useful.value if worth else None,
        tokens_per_day=tokens,
        token_cost=token_cost(fabric.spec, cost, design.prices, tokens) if cost and design.prices and tokens else None,
    )


def _bill(plan: Plan, prices: Prices | None) -> Bill | None:
    """None where the floor has no place for every device."""
    try:
        return bill_of(plan, prices)
    except InputError:
        return None


def _worth(plan: Plan, fabric: FabricPlan, design: DesignRequest, stages: Stages) -> Goodput | None:
    """The training job over all GPUs, spread as the plan configures it; None without one."""
    if design.job is None or stages.goodput is None or fabric.spec.purpose != "compute" or not fabric.sizing.gpus:
        return None
    asked = EstimateRequest(routing="", queue_pairs=0, platform=design.platform)
    return stages.goodput(fabric, plan, asked, design.job, design.placement)
