"""Designs of a comparison: the figures of each, in one record for `compare`, `explore`, `report` and `diff`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

from pydantic import ConfigDict

from fabric.base.schemas import models
from fabric.base.schemas.models import (
    ABSENT,
    Amount,
    Count,
    Document,
    Factor,
    Number,
    Positive,
    enum_of,
    extended,
    json_key,
)
from fabric.deliver.bom.bill import Bill, Cost
from fabric.deliver.bom.gather import BomRequest, gather
from fabric.deliver.bom.parts import Power, PowerDocument
from fabric.deliver.bom.prices import PUE, YEARS, Prices
from fabric.deliver.compare.money import YearCost, YearCostDocument, year_cost
from fabric.model.plan import BETWEEN_SWITCHES, KINDS, FabricPlan, Plan
from fabric.model.plan.summary import built_ratio, summary
from fabric.solver.collective import ALL_REDUCE
from fabric.solver.estimate.calls import Call, Calls, Stop
from fabric.solver.goodput.goodput import Goodput, LostDocument, Span
from fabric.solver.goodput.sections import DAYS_PER_YEAR, HOURS_PER_YEAR
from fabric.solver.goodput.storage import StorageRates

# --- bill of a site for a job ---------------------------------------------------------------------------------


def bill_of(plan: Plan, prices: Prices | None) -> Bill:
    """Of the whole site with its servers. Raises InputError where the floor cannot be laid out."""
    if prices is None:
        return gather(plan, BomRequest())[0]
    asked = BomRequest(prices=prices, spares=prices.spares, pue=prices.pue or PUE, years=prices.years or YEARS)
    return gather(plan, asked)[0]


def site_gpus(plan: Plan) -> int:
    """GPUs of the site: those of its largest fabric, as a server is in several."""
    return max(fabric.sizing.gpus for fabric in plan.fabrics.values())


# --- figures --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DesignFigures:
    """Counts of one fabric over all planes and pods, its power, and the times of its collectives."""

    fabric: str
    kind: str
    servers: int
    gpus: int
    tiers: int
    planes: int
    planes_active: int  # that the times are of
    leaves: int
    spines: int
    cores: int
    links: int  # all logical links: of servers, attachments and between switches
    switch_links: int  # those between switches
    cables: int
    oversubscription: float  # as built, over all tiers; below 1 there is spare bandwidth
    power: Power | None  # of the switches, and of optics at both ends of all links; None where it is not known
    calls: Calls

    @property
    def switches(self) -> int:
        return self.leaves + self.spines + self.cores

    def values(self) -> dict[str, Any]:
        """The fields by name, for a record that has more."""
        return {item.name: getattr(self, item.name) for item in fields(DesignFigures)}


def figures(fabric: FabricPlan, power: Power | None = None, calls: Calls | None = None) -> DesignFigures:
    """The figures of a planned fabric.

    Args:
        power: of its share of the bill of materials.
        calls: times of its collectives; none for a fabric without GPUs.
    """
    row = summary(fabric.spec, fabric.sizing)
    switches, links = row["switches"], row["links"]
    return DesignFigures(
        fabric=fabric.name,
        kind=row["kind"],
        servers=row["servers"],
        gpus=row["gpus"],
        tiers=row["tiers"],
        planes=row["planes"],
        planes_active=fabric.spec.planes_active,
        leaves=switches["leaf"],
        spines=switches["spine"],
        cores=switches["core"],
        links=sum(links.values()),
        switch_links=sum(links[KINDS[kind]] for kind in BETWEEN_SWITCHES),
        cables=sum(row["cables"].values()),
        oversubscription=built_ratio(row),
        power=power,
        calls=calls or Calls(),
    )


# --- designs --------------------------------------------------------------------------------------------------

CALL_BYTES = 1 << 30  # of the collectives, by default


@dataclass(frozen=True, kw_only=True)
class Design(DesignFigures):
    """A design, and what it is worth to a job. Cost and power of servers are of the job's share of the GPUs."""

    name: str  # as it was given
    goodput: Goodput | None  # of the job; None without one
    cost: YearCost | None  # of a year, by cause; None without a job or prices
    network_capex: float | None  # of the fabric; None without prices
    tco: float | None  # of the whole site with its servers, the job's share of the GPUs
    years: int
    currency: str
    unpriced: tuple[str, ...]  # items without a price: the cost is a lower bound

    @property
    def fabric_gpus(self) -> int:
        return self.gpus

    @property
    def job_gpus(self) -> int:
        """GPUs of the job, or of the collectives without one."""
        return self.goodput.gpus if self.goodput else next((row.gpus for row in self.calls.rows), self.gpus)

    @property
    def all_reduce(self) -> Call | None:
        """The first of its calls that is an all-reduce."""
        return next((row for row in self.calls.rows if row.collective == ALL_REDUCE), None)

    @property
    def cost_per_billion_tokens(self) -> float | None:
        """Total cost over its years by the useful tokens of these years."""
        tokens = self.goodput.tokens_per_day.value * DAYS_PER_YEAR * self.years if self.goodput else 0.0
        return self.tco / tokens * 1e9 if self.tco is not None and tokens else None

    def tokens_worth(self, first: Design) -> float | None:
        """What the tokens of a year are worth beyond those of another design, at that design's cost of a token."""
        price = first.cost_per_billion_tokens
        if price is None or self.goodput is None or first.goodput is None:
            return None
        more = self.goodput.tokens_per_day.value - first.goodput.tokens_per_day.value
        return more * DAYS_PER_YEAR / 1e9 * price


OF_JOB: Any = [
    *("exposed_ms", "mtti_hours", "useful", "degraded", "tokens_per_day", "lost_gpu_hours_per_year", "storage", "cost"),
    "cost_per_billion_tokens",
]


class DesignDocument(Document):
    design: str = json_key(of="name")
    fabric: str
    kind: Annotated[str, enum_of(("rail-optimized", "rack", "rail-only", "collapsed"))]
    gpus: Count = json_key("of the job, or of the collectives without one", "job_gpus")
    fabric_gpus: Count
    tiers: Positive
    planes: Positive
    planes_active: Positive = json_key("planes in service, that times are of; counts, power and cost are of all planes")
    oversubscription: Amount
    switches: Positive
    links: Positive = json_key("all: of servers, of attachments, and between switches")
    switch_links: Count = json_key("between switches")
    cables: Positive
    network_power: PowerDocument | None = json_key(of="power")
    all_reduce_us: Amount | None = json_key("of the stated placement, healthy", "all_reduce.time_us")
    all_reduce_busbw_GBps: Amount | None = json_key(of="all_reduce.busbw_GBps")
    calls: list[Call] = json_key(
        "collectives by placement, healthy and after the failure of the switch of each tier that costs the most", "calls.rows"
    )
    stops: list[Stop] = json_key("switches whose failure stops the job, one of every kind", "calls.stops")
    step_ms: Amount = json_key("this and the others of the job: with --job", "goodput.step.step_ms", default=None)
    exposed_ms: Amount = json_key(of="goodput.step.exposed_ms", default=None)
    mtti_hours: Span = json_key(of="goodput.mtti_hours", default=None)
    useful: Span = json_key(of="goodput.useful", default=None)
    degraded: Factor = json_key(of="goodput.degraded", default=None)
    tokens_per_day: Span = json_key(of="goodput.tokens_per_day", default=None)
    lost_gpu_hours_per_year: list[LostDocument] = json_key(of="goodput.lost_gpu_hours", default=None)
    storage: StorageRates | None = json_key(
        "rates of checkpoints by the plan; null where JOB states them",
        lambda design: design.goodput.storage if design.goodput else ABSENT,
        default=ABSENT,
    )
    cost: YearCostDocument | None = json_key(
        "cost per year; null without prices", lambda design: design.cost if design.goodput else ABSENT, default=ABSENT
    )
    cost_per_billion_tokens: Amount | None = json_key(
        of=lambda design: design.cost_per_billion_tokens if design.goodput else ABSENT, default=ABSENT
    )
    network_capex: Amount | None
    tco: Amount | None = json_key("of the job's share of the GPUs, servers included")
    years: Positive
    currency: str
    unpriced: list[str] = json_key("items without a price: cost is a lower bound")

    model_config = ConfigDict(json_schema_extra={"dependentRequired": {"step_ms": OF_JOB}})


class Against(Document):
    network: Number = json_key("more cost of the network")
    tokens_worth: Number = json_key("of more useful tokens, at the first design's cost of a token")


ComparedDocument = extended(
    DesignDocument,
    against_first=(Against | None, json_key("cost per year against the first design; null without prices")),
)


class CompareDocument(Document):
    all_reduce_bytes: Positive = json_key("of every collective")
    designs: list[ComparedDocument]  # type: ignore[valid-type]  # made at run time


def lost(goodput: Goodput, *causes: str) -> float:
    """Share of all GPU-hours of a job that these causes take."""
    hours = sum(value for cause, value in goodput.lost_gpu_hours if cause in causes)
    return hours / (goodput.gpus * HOURS_PER_YEAR)


def design(name: str, fabric: FabricPlan, bill: Bill, calls: Calls, goodput: Goodput | None, site_gpus: int) -> Design:
    """The figures of a design from those of its plan."""
    share = next(item for item in bill.shares if item.name == fabric.name)
    cost, gpus = bill.cost, goodput.gpus if goodput else fabric.sizing.gpus
    return Design(
        **figures(fabric, share.power, calls).values(),
        name=name,
        goodput=goodput,
        cost=year_cost(bill, goodput, site_gpus) if goodput else None,
        network_capex=_network_capex(share.cost),
        tco=cost.tco * gpus / site_gpus if cost and site_gpus else None,
        years=bill.years,
        currency=cost.currency if cost else "",
        unpriced=tuple(sorted(part.item for part in cost.unpriced)) if cost else (),
    )


def _network_capex(cost: Cost | None) -> float | None:
    return cost.capex - cost.capex_by_kind.get("servers", 0.0) if cost else None


def document(designs: Sequence[Design], call_bytes: int = CALL_BYTES) -> dict[str, Any]:
    """The JSON document. What a design costs and saves is compared with the first."""
    first = designs[0]
    rows = [{**models.document(item, DesignDocument), "against_first": against(item, first)} for item in designs]
    return models.document({"all_reduce_bytes": call_bytes, "designs": rows}, CompareDocument)


def against(item: Design, first: Design) -> dict[str, float] | None:
    """More money for the network in a year, and what more useful tokens are worth; None without prices or a job."""
    worth = item.tokens_worth(first)
    if item.cost is None or first.cost is None or worth is None:
        return None
    return {"network": item.cost.network - first.cost.network, "tokens_worth": worth}
