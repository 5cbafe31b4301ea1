"""One design of a comparison, and the figures that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fabric.bom.bill import Bill
from fabric.bom.cost import Cost
from fabric.bom.power import Power
from fabric.plan import FabricPlan
from fabric.solver.estimate.estimate import Estimate
from fabric.solver.goodput.goodput import Goodput
from fabric.solver.goodput.rates import DAYS_PER_YEAR

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
        network_capex=_network_capex(share.cost),
        tco=cost.tco * goodput.gpus / site_gpus if cost else None,
        years=bill.years,
        currency=cost.currency if cost else "",
        unpriced=tuple(sorted(part.item for part in cost.unpriced)) if cost else (),
    )


def _network_capex(cost: Cost | None) -> float | None:
    return cost.capex - cost.capex_by_kind.get("servers", 0.0) if cost else None


def document(designs: Sequence[Design]) -> dict[str, Any]:
    """The JSON document."""
    return {"all_reduce_bytes": ALL_REDUCE_BYTES, "designs": [item.as_dict() for item in designs]}
