"""One design: planned as `fabric plan` plans it, timed as `fabric estimate` does, priced as `fabric bom` does.

A packed all-reduce hardly crosses a spine, so it cannot tell a non-blocking design from one that is oversubscribed. Unless
a collective is named, designs are therefore timed by an alltoall as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from fabric.base.diagnostics import InputError
from fabric.base.schemas.models import (
    Amount,
    Count,
    Document,
    Number,
    Positive,
    Share,
    Text,
    document,
    enum_of,
    json_key,
    old_name,
)
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
from fabric.solver.routing import MODES
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


@dataclass(frozen=True)
class Outcome:
    """A design of the sweep: its figures, or why it cannot be."""

    choice: Choice
    figures: Figures | None = None
    why: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return document(self, NotBuiltDocument if self.figures is None else BuiltDocument)

    def as_row(self) -> dict[str, Any]:
        """As a journal keeps it."""
        return self.as_dict() if self.figures is None else {"choice": dict(self.choice), "figures": asdict(self.figures)}


Chosen = dict[str, str | Number | bool]


def _figure(name: str, description: str = "") -> Any:
    return json_key(description, f"figures.{name}")


class BuiltDocument(Document):
    choice: Chosen = json_key("dimension: value", lambda outcome: dict(outcome.choice))
    servers: Count = _figure("servers")
    gpus: Count = _figure("gpus")
    tiers: Count = _figure("tiers")
    leaves: Count = _figure("leaves")
    spines: Count = _figure("spines")
    cores: Count = _figure("cores")
    links: Count = _figure("links", "all: of servers, of attachments, and between switches")
    oversubscription: Amount = _figure("oversubscription", "as built, over all tiers")
    time_us: Amount | None = _figure("time_us")
    busbw_GBps: Amount | None = _figure("timed.busbw_GBps")
    bottleneck: str = json_key(of=lambda outcome: call.bottleneck if (call := outcome.figures.timed) else "")
    power_typical_w: Amount | None = _figure("power.typical_w")
    power_max_w: Amount | None = _figure("power.max_w")
    capex: Amount | None = _figure("capex")
    switches: Count = _figure("switches")
    beyond_leaf: Share | None = _figure("beyond_leaf", "share of the traffic that leaves the leaf of the sender")
    alltoall_time_us: Amount | None = _figure("alltoall_time_us")
    alltoall_busbw_GBps: Amount | None = _figure("alltoall.busbw_GBps")
    alltoall_bottleneck: str = json_key(of=lambda outcome: call.bottleneck if (call := outcome.figures.alltoall) else "")
    power_typical_low_w: Amount | None = _figure("power.typical_low_w")
    power_typical_high_w: Amount | None = _figure("power.typical_high_w")
    useful: Share | None = _figure("useful", "share of the time, of the training job")
    tokens_per_day: Amount | None = _figure("tokens_per_day", "useful ones")
    token_cost: Amount | None = _figure("token_cost", "of a billion useful tokens, servers included")
    switch_links: Count = _figure("switch_links", "between switches")
    cables: Count = _figure("cables")
    planes: Positive = _figure("planes")
    routing: Annotated[str, enum_of(("", *MODES))] = json_key(
        'of both collectives, as planned; "" without', lambda outcome: call.routing if (call := outcome.figures.timed) else ""
    )
    queue_pairs: Positive | None = _figure("timed.queue_pairs")


class NotBuiltDocument(Document):
    choice: Chosen = json_key("dimension: value", lambda outcome: dict(outcome.choice))
    reason: Text = json_key(of="why")
    why: Text = old_name("reason", "why")


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
