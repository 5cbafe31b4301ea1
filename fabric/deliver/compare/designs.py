"""Designs of a comparison: the figures of each, in one record for `compare`, `explore`, `report` and `diff`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from fabric.deliver.bom.bill import Bill, Cost
from fabric.deliver.bom.gather import BomRequest, gather
from fabric.deliver.bom.parts import Power
from fabric.deliver.bom.prices import PUE, YEARS, Prices
from fabric.deliver.compare.money import YearCost, year_cost
from fabric.model.plan import BETWEEN_SWITCHES, KINDS, FabricPlan, Plan
from fabric.model.plan.summary import built_ratio, summary
from fabric.solver.collective import ALL_REDUCE
from fabric.solver.estimate.calls import Calls
from fabric.solver.goodput.goodput import Goodput
from fabric.solver.goodput.sections import DAYS_PER_YEAR, HOURS_PER_YEAR

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

    def counts(self) -> dict[str, Any]:
        """The counts as every JSON document has them."""
        names = ("tiers", "planes", "oversubscription", "switches", "links", "switch_links", "cables")
        return {name: getattr(self, name) for name in names}


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

    def as_dict(self) -> dict[str, Any]:
        """One entry of the JSON document."""
        all_reduce = next((row for row in self.calls.rows if row.collective == ALL_REDUCE), None)
        return {
            "design": self.name,
            "fabric": self.fabric,
            "kind": self.kind,
            "gpus": self.job_gpus,
            "fabric_gpus": self.fabric_gpus,
            **self.counts(),
            "network_power": self.power.as_dict() if self.power else None,
            "all_reduce_us": all_reduce.time_us if all_reduce else None,
            "all_reduce_busbw_GBps": all_reduce.busbw_GBps if all_reduce else None,
            **self.calls.as_dict(),
            **(self._of_job(self.goodput) if self.goodput else {}),
            "network_capex": self.network_capex,
            "tco": self.tco,
            "years": self.years,
            "currency": self.currency,
            "unpriced": list(self.unpriced),
        }

    def _of_job(self, goodput: Goodput) -> dict[str, Any]:
        return {
            "step_ms": goodput.step.step_ms,
            "exposed_ms": goodput.step.exposed_ms,
            "mtti_hours": goodput.mtti_hours.as_dict(),
            "useful": goodput.useful.as_dict(),
            "degraded": goodput.degraded,
            "tokens_per_day": goodput.tokens_per_day.as_dict(),
            "lost_gpu_hours_per_year": [{"cause": cause, "gpu_hours": hours} for cause, hours in goodput.lost_gpu_hours],
            "storage": goodput.storage.as_dict() if goodput.storage else None,
            "cost": self.cost.as_dict() if self.cost else None,
            "cost_per_billion_tokens": self.cost_per_billion_tokens,
        }


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
    rows = [item.as_dict() | {"against_first": against(item, first)} for item in designs]
    return {"all_reduce_bytes": call_bytes, "designs": rows}


def against(item: Design, first: Design) -> dict[str, float] | None:
    """More money for the network in a year, and what more useful tokens are worth; None without prices or a job."""
    worth = item.tokens_worth(first)
    if item.cost is None or first.cost is None or worth is None:
        return None
    return {"network": item.cost.network - first.cost.network, "tokens_worth": worth}
