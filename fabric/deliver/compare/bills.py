"""The bill of a site for a job: with the spares, PUE and years of the price file, as `fabric bom --prices` has it."""

from __future__ import annotations

from fabric.deliver.bom.bill import Bill
from fabric.deliver.bom.gather import BomRequest, gather
from fabric.deliver.bom.prices import PUE, YEARS, Prices
from fabric.model.plan import Plan


def bill_of(plan: Plan, prices: Prices | None) -> Bill:
    """Of the whole site with its servers. Raises InputError where the floor cannot be laid out."""
    if prices is None:
        return gather(plan, BomRequest())[0]
    asked = BomRequest(prices=prices, spares=prices.spares, pue=prices.pue or PUE, years=prices.years or YEARS)
    return gather(plan, asked)[0]


def site_gpus(plan: Plan) -> int:
    """GPUs of the site: those of its largest fabric, as a server is in several."""
    return max(fabric.sizing.gpus for fabric in plan.fabrics.values())
