"""One design of a comparison, and the figures that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fabric.bom.bill import Bill
from fabric.bom.cost import Cost
from fabric.bom.power import Power
from fabric.compare.money import YearCost, year_cost
from fabric.plan import FabricPlan
from fabric.solver.estimate.estimate import Estimate
from fabric.solver.goodput.goodput import Goodput
from fabric.solver.goodput.rates import DAYS_PER_YEAR, HOURS_PER_YEAR

ALL_REDUCE_BYTES = 1 << 30


@dataclass(frozen=True)
class Design:
    """A design with the job on it. Cost and power of servers are of the job's share of the GPUs."""

    name: str  # as it was given
    fabric: str
    kind: str
    tiers: int
    planes: int
    oversubscription: float
    switches: int
    links: int
    fabric_gpus: int
    network: Power  # switches, and optics at both ends
    all_reduce_us: float  # of 1 GiB over the GPUs of the job
    all_reduce_busbw_GBps: float
    goodput: Goodput
    cost: YearCost | None  # of a year, by cause; None without prices
    network_capex: float | None  # of the fabric; None without prices
    tco: float | None  # of the whole site with its servers, the job's share of the GPUs
    years: int
    currency: str
    unpriced: tuple[str, ...]  # items without a price: the cost is a lower bound

    @property
    def cost_per_billion_tokens(self) -> float | None:
        """Total cost over its years by the useful tokens of these years."""
        tokens = self.goodput.tokens_per_day.value * DAYS_PER_YEAR * self.years
        return self.tco / tokens * 1e9 if self.tco is not None and tokens else None

    def tokens_worth(self, first: Design) -> float | None:
        """What the tokens of a year are worth beyond those of another design, at that design's cost of a token."""
        price = first.cost_per_billion_tokens
        more = self.goodput.tokens_per_day.value - first.goodput.tokens_per_day.value
        return None if price is None else more * DAYS_PER_YEAR / 1e9 * price

    def lost(self, *causes: str) -> float:
        """Share of all GPU-hours that these causes take."""
        hours = sum(value for cause, value in self.goodput.lost_gpu_hours if cause in causes)
        return hours / (self.goodput.gpus * HOURS_PER_YEAR)

    def as_dict(self) -> dict[str, Any]:
        """One entry of the JSON document."""
        goodput = self.goodput
        return {
            "design": self.name,
            "fabric": self.fabric,
            "kind": self.kind,
            "tiers": self.tiers,
            "planes": self.planes,
            "oversubscription": self.oversubscription,
            "gpus": goodput.gpus,
            "fabric_gpus": self.fabric_gpus,
            "switches": self.switches,
            "links": self.links,
            "network_power": self.network.as_dict(),
            "all_reduce_us": self.all_reduce_us,
            "all_reduce_busbw_GBps": self.all_reduce_busbw_GBps,
            "step_ms": goodput.step.step_ms,
            "exposed_ms": goodput.step.exposed_ms,
            "mtti_hours": goodput.mtti_hours.as_dict(),
            "useful": goodput.useful.as_dict(),
            "degraded": goodput.degraded,
            "tokens_per_day": goodput.tokens_per_day.as_dict(),
            "lost_gpu_hours_per_year": [{"cause": cause, "gpu_hours": hours} for cause, hours in goodput.lost_gpu_hours],
            "storage": goodput.storage.as_dict() if goodput.storage else None,
            "cost": self.cost.as_dict() if self.cost else None,
            "network_capex": self.network_capex,
            "tco": self.tco,
            "years": self.years,
            "currency": self.currency,
            "unpriced": list(self.unpriced),
            "cost_per_billion_tokens": self.cost_per_billion_tokens,
        }


def design(name: str, fabric: FabricPlan, bill: Bill, all_reduce: Estimate, goodput: Goodput, site_gpus: int) -> Design:
    """The figures of a design from those of its plan."""
    share = next(item for item in bill.shares if item.name == fabric.name)
    sizing, row, cost = fabric.sizing, all_reduce.rows[0], bill.cost
    return Design(
        name=name,
        fabric=fabric.name,
        kind=fabric.spec.kind,
        tiers=sizing.tiers,
        planes=sizing.planes,
        oversubscription=share.oversubscription,
        switches=len(fabric.switches),
        links=len(fabric.links),
        fabric_gpus=sizing.gpus,
        network=share.power,
        all_reduce_us=row.time_us,
        all_reduce_busbw_GBps=row.busbw_GBps,
        goodput=goodput,
        cost=year_cost(bill, goodput, site_gpus),
        network_capex=_network_capex(share.cost),
        tco=cost.tco * goodput.gpus / site_gpus if cost else None,
        years=bill.years,
        currency=cost.currency if cost else "",
        unpriced=tuple(sorted(part.item for part in cost.unpriced)) if cost else (),
    )


def _network_capex(cost: Cost | None) -> float | None:
    return cost.capex - cost.capex_by_kind.get("servers", 0.0) if cost else None


def document(designs: Sequence[Design]) -> dict[str, Any]:
    """The JSON document. What a design costs and saves is compared with the first."""
    first = designs[0]
    rows = [item.as_dict() | {"against_first": against(item, first)} for item in designs]
    return {"all_reduce_bytes": ALL_REDUCE_BYTES, "designs": rows}


def against(item: Design, first: Design) -> dict[str, float] | None:
    """More money for the network in a year, and what more useful tokens are worth; None without prices."""
    worth = item.tokens_worth(first)
    if item.cost is None or first.cost is None or worth is None:
        return None
    return {"network": item.cost.network - first.cost.network, "tokens_worth": worth}
