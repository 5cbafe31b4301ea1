"""What to order and what it draws: the bill of materials in two tables, without prices."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.bom.bill import Bill
from fabric.bom.gather import BomRequest, gather
from fabric.bom.power import Power
from fabric.bom.text import kilowatts
from fabric.plan import Plan
from fabric.report.grid import Grid, grid
from fabric.text import listed

MOST_NAMED = 6  # models of unknown power


def bill(plan: Plan) -> Bill:
    """The bill of the whole site, with the usual spares."""
    return gather(plan, BomRequest())[0]


def order_grid(found: Bill) -> Grid:
    """A row a part."""
    rows = [
        (
            *(line.part.kind, line.part.item, line.what, f"{line.part.length_m:g}" if line.part.length_m else ""),
            *(f"{line.in_use:,}", f"{line.spares:,}", f"{line.order:,}"),
        )
        for line in found.lines
    ]
    note = "Default spares of `fabric bom`; prices via a price file."
    return grid("Order", ("kind", "item", "description", "#length, m", "#in use", "#spare", "#order"), rows, note)


def power_grid(found: Bill) -> Grid:
    """The network by fabric, the servers, and the meter."""
    several = len(found.shares) > 1
    rows = [(share.name, *_kilowatts(share.power)) for share in found.shares] if several else []
    rows += [("network, optics included", *_kilowatts(found.network)), ("servers", *_kilowatts(found.server_power))]
    total = found.power
    meter = Power(total.typical_w * found.pue, total.max_w * found.pue, total.no_typical, total.no_max)
    whole = not total.no_typical and not total.no_max
    without = "" if whole else ", without devices of unknown power"
    rows.append((f"at the meter, PUE {found.pue:g}{without}", *_kilowatts(meter)))
    note = f"{unknown('typical power', total.no_typical)} {unknown('worst case', total.no_max)}".strip()
    return grid("Power", ("of", "#typical, kW", "#worst case, kW"), rows, note, total=whole)


def _kilowatts(power: Power) -> tuple[str, str]:
    return kilowatts(power.typical_w, power.no_typical), kilowatts(power.max_w, power.no_max)


def unknown(what: str, models: Mapping[str, int]) -> str:
    """The models without a figure of it."""
    if not models:
        return ""
    named = listed([f"{model} ({count:,})" for model, count in models.items()], MOST_NAMED)
    return f"No vendor figure for the {what} of {named}."
