"""Money of a year by cause: what the GPU-hours that a job loses cost, and the network against what it could save.

A GPU-hour costs the total cost of the site over its years, servers and energy included, divided by the GPU-hours of these
years. Lost hours cost as much as useful ones: GPUs are bought and powered either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fabric.base.schemas.models import Amount, Document, described, extended, json_key
from fabric.base.text import aligned, percent
from fabric.deliver.bom.bill import Bill
from fabric.solver.goodput.goodput import Goodput, GoodputDocument
from fabric.solver.goodput.sections import HOURS_PER_YEAR

EXPOSED, FAILED = "exposed communication", "failed links and switches"
STOPS = ("restarts", "repeated steps", "waiting for repair")  # causes that interruptions share
USEFUL, SPARES = "useful computing", "idle spare servers"


@dataclass(frozen=True)
class UseCost:
    """What one use of GPU-hours costs in a year."""

    cause: str
    gpu_hours: Amount
    cost: Amount
    energy: Annotated[Amount | None, described("of it; null without a price of a kWh")]


@dataclass(frozen=True, kw_only=True)
class YearCost:
    """A year of a job on a design, in the currency of the price file."""

    currency: str
    gpu_hour: float
    amounts: tuple[UseCost, ...]  # useful computing first, then the causes, the most first
    network: float  # purchase spread over the years, support and energy: the job's share of its fabric
    saved_at_most: float  # by a network that hides all communication and never fails
    unpriced: tuple[str, ...]  # items without a price: amounts are lower bounds

    @property
    def total(self) -> float:
        return sum(amount.cost for amount in self.amounts)


class YearCostDocument(Document):
    currency: str
    gpu_hour: Amount
    causes: list[UseCost] = json_key("useful compute first, then the losses, largest first", "amounts")
    total: Amount
    network: Amount = json_key("the job's share of its fabric")
    saved_at_most: Amount = json_key("by a network that hides all communication and never fails")
    unpriced: list[str]


GoodputCostDocument = extended(
    GoodputDocument, cost=(YearCostDocument | None, json_key("cost per year; null without prices"))
)


def gpu_hour(bill: Bill, site_gpus: int) -> float:
    """Cost of one GPU-hour. The bill has prices."""
    assert bill.cost is not None
    return bill.cost.tco / bill.years / site_gpus / HOURS_PER_YEAR


def year_cost(bill: Bill, goodput: Goodput, site_gpus: int) -> YearCost | None:
    """Of a job on a fabric of a site with `site_gpus` GPUs; None for a bill without prices."""
    cost = bill.cost
    if cost is None:
        return None
    share = next(item for item in bill.shares if item.name == goodput.fabric)
    price, energy = gpu_hour(bill, site_gpus), None
    if cost.energy_year is not None:
        energy = cost.energy_year / site_gpus / HOURS_PER_YEAR
    lost = sum(hours for _, hours in goodput.lost_gpu_hours)
    uses = [(USEFUL, goodput.gpus * HOURS_PER_YEAR - lost), *goodput.lost_gpu_hours]
    if goodput.spare_gpus:
        uses.append((SPARES, goodput.spare_gpus * HOURS_PER_YEAR))
    rest = sorted(uses[1:], key=lambda use: -use[1])
    network = 0.0
    if share.cost is not None:
        bought = share.cost.capex - share.cost.capex_by_kind.get("servers", 0.0)
        network = (bought / bill.years + share.cost.opex_year) * goodput.gpus / (share.gpus or goodput.gpus)
    return YearCost(
        currency=cost.currency,
        gpu_hour=price,
        amounts=tuple(
            UseCost(cause, hours, hours * price, None if energy is None else hours * energy)
            for cause, hours in (uses[0], *rest)
        ),
        network=network,
        saved_at_most=_of_network(goodput, goodput.lost_gpu_hours) * price,
        unpriced=tuple(sorted(part.item for part in cost.unpriced)),
    )


def _of_network(goodput: Goodput, lost: Sequence[tuple[str, float]]) -> float:
    """GPU-hours lost to the network: communication, links that slow the job, and its part of the interruptions."""
    stopping = [row for row in goodput.interruptions if row.part.stops]
    all_stops = sum(row.per_year for row in stopping)
    network = sum(row.per_year for row in stopping if row.part.place or row.part.kind == "nic")
    part = network / all_stops if all_stops else 0.0
    return sum(hours * (1.0 if cause in (EXPOSED, FAILED) else part if cause in STOPS else 0.0) for cause, hours in lost)


# --- for a person ---------------------------------------------------------------------------------------------


def lines(cost: YearCost) -> list[str]:
    """One row per cause, then the network. No line ends."""
    least = "≥ " if cost.unpriced else ""
    total = cost.total or 1.0
    with_energy = cost.amounts[0].energy is not None
    rows = [
        (item.cause, f"{item.gpu_hours:,.0f}", f"{least}{item.cost:,.0f}", percent(item.cost / total))
        + ((f"{item.energy:,.0f}",) if item.energy is not None else ())
        for item in cost.amounts
    ]
    head = ("one year of", "GPU-hours", f"cost, {cost.currency}", "of all") + (("of which energy",) if with_energy else ())
    out = aligned(rows, "<" + ">" * (len(head) - 1), head=head)
    out += [""]
    out += aligned(
        [
            ("network per year", f"{least}{cost.network:,.0f} {cost.currency}, the job's share of its fabric"),
            ("a better one saves at most", f"{least}{cost.saved_at_most:,.0f} {cost.currency} per year"),
            ("GPU-hour", f"{least}{cost.gpu_hour:,.2f} {cost.currency}"),
        ]
    )
    if cost.unpriced:
        out += ["", "≥: lower bound, as prices of some parts are unknown"]
    return out
