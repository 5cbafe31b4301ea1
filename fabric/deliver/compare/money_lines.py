"""Money of a year for a person."""

from __future__ import annotations

from fabric.base.text import aligned, percent
from fabric.deliver.compare.money import YearCost


def lines(found: YearCost) -> list[str]:
    """One row per cause, then the network. No line ends."""
    least = "≥ " if found.unpriced else ""
    total = found.total or 1.0
    with_energy = found.amounts[0].energy is not None
    rows = [
        (item.cause, f"{item.gpu_hours:,.0f}", f"{least}{item.cost:,.0f}", percent(item.cost / total))
        + ((f"{item.energy:,.0f}",) if item.energy is not None else ())
        for item in found.amounts
    ]
    head = ("one year of", "GPU-hours", f"cost, {found.currency}", "of all") + (("of which energy",) if with_energy else ())
    out = aligned(rows, "<" + ">" * (len(head) - 1), head=head)
    out += [""]
    out += aligned(
        [
            ("network per year", f"{least}{found.network:,.0f} {found.currency}, the job's share of its fabric"),
            ("a better one saves at most", f"{least}{found.saved_at_most:,.0f} {found.currency} per year"),
            ("GPU-hour", f"{least}{found.gpu_hour:,.2f} {found.currency}"),
        ]
    )
    if found.unpriced:
        out += ["", "≥: lower bound, as prices of some parts are unknown"]
    return out
