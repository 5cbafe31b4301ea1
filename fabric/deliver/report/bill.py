"""What to order and what it draws: the bill of materials in two tables, without prices."""

from __future__ import annotations

from fabric.base.text import listed, power as watts
from fabric.deliver.bom.bill import Bill
from fabric.deliver.bom.gather import BomRequest, gather
from fabric.deliver.bom.power import Power
from fabric.deliver.bom.text import kilowatts, origin
from fabric.deliver.report.grid import Grid, grid
from fabric.model.plan import Plan

MAX_NAMED_MODELS = 6  # models bounded by class


def bill(plan: Plan) -> Bill:
    """The bill of the whole site, with the usual spares."""
    return gather(plan, BomRequest())[0]


def order_grid(bill: Bill) -> Grid:
    """One row per part."""
    rows = [
        (
            *(line.part.kind, line.part.item, line.what, f"{line.part.length_m:g}" if line.part.length_m else ""),
            *(f"{line.in_use:,}", f"{line.spares:,}", f"{line.order:,}"),
        )
        for line in bill.lines
    ]
    note = "Default spares of `fabric bom`; prices via a price file."
    return grid("Order", ("kind", "item", "description", "#length, m", "#in use", "#spare", "#order"), rows, note)


def power_grid(found: Bill) -> Grid:
    """The network by fabric, the servers, and the meter."""
    several = len(found.shares) > 1
    rows = [(share.name, *kilowatts(share.power)) for share in found.shares] if several else []
    rows += [("network, optics included", *kilowatts(found.network)), ("servers", *kilowatts(found.server_power))]
    total = found.power
    rows.append((f"at the meter, PUE {found.pue:g}", *kilowatts(total.times(found.pue))))
    note = f"{_origin(total)} {_bounded(total)}".strip()
    return grid("Power", ("of", "#typical, kW", "#worst case, kW"), rows, note, total=True)


def _origin(power: Power) -> str:
    """How much of the typical power comes from where."""
    return f"Typical power {watts(power.typical_w)}: {origin(power)}."


def _bounded(power: Power) -> str:
    """The models whose power no data sheet gives, or only in part."""
    if not power.bounded:
        return ""
    named = listed([f"{model} ({count:,})" for model, count in power.bounded.items()], MAX_NAMED_MODELS)
    return f"Bounded by class, in part or whole: {named}."
