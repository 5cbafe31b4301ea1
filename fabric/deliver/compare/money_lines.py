"""Money of a year for a person."""

from __future__ import annotations

from fabric.base.text import aligned, percent
from fabric.deliver.compare.money import YearCost


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
