"""A bill as tables: plain numbers under heads with their units, for CSV and for the sheets of a workbook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabric.base.formats import Cell, Sheet, csv_text as to_csv, no_formula
from fabric.deliver.bom.bill import Bill
from fabric.deliver.bom.cost import Cost
from fabric.deliver.bom.power import Draw, Power, btu_per_hour, tons
from fabric.hardware.catalog.power import BASES

Row = Sequence[Cell]


def order(bill: Bill) -> Sheet:
    """What to order, a line each."""
    currency = bill.prices.currency if bill.prices else ""
    head: tuple[str, ...] = ("kind", "item", "description", "length_m", "in_use", "spares", "order")
    if bill.prices:
        head += (f"unit_price_{currency}", f"price_{currency}")
    return Sheet(title="order", columns=head, rows=tuple(_order(bill)))


def _order(bill: Bill) -> Iterator[Row]:
    for line in bill.shown():
        row = line.as_dict(bill.prices)
        cells: list[Cell] = [row[key] for key in ("kind", "item", "description", "length_m", "in_use", "spares", "order")]
        yield (*cells, row["unit_price"], row["price"]) if bill.prices else cells


def uses(bill: Bill) -> Sheet:
    """Where the parts go, fabric by fabric."""
    rows = sorted(
        ((use.fabric, use.place, line.part.kind, line.part.item, line.part.length_m or None, use.count), at)
        for at, line in enumerate(bill.shown())
        for use in line.uses
    )
    fabrics = {share.name: at for at, share in enumerate(bill.shares)}
    rows.sort(key=lambda row: (fabrics[str(row[0][0])], row[1]))
    return Sheet(
        title="fabrics", columns=("fabric", "place", "kind", "item", "length_m", "in_use"), rows=tuple(row for row, _ in rows)
    )


_ENDS = ("typical_low_W", "typical_W", "typical_high_W", "worst_case_W")
_POWER: tuple[str, ...] = (
    *("what", "typical_low_W", "typical_W", "typical_high_W", "worst_case_W"),
    *("at_meter_typical_low_W", "at_meter_typical_W", "at_meter_typical_high_W", "at_meter_worst_case_W"),
    *("heat_worst_case_BTU_per_h", "heat_worst_case_tons"),
    *("energy_low_kWh_per_year", "energy_kWh_per_year", "energy_high_kWh_per_year"),
    *(f"typical_W_{basis.replace(' ', '_').replace('-', '_')}" for basis in BASES),
    "devices_bounded_by_class",
)


def power(bill: Bill) -> Sheet:
    """Power of the parts and of the whole."""
    rows = [(f"network of {share.name}", share.power) for share in bill.shares]
    rows.append(("network", bill.network))
    if bill.servers:
        rows += [("servers", bill.server_power), ("total", bill.power)]
    return Sheet(title="power", columns=_POWER, rows=tuple(_power(scope, draw, bill.pue) for scope, draw in rows))


def _power(scope: str, draw: Power, pue: float) -> Row:
    low, high = draw.kwh_range(pue)
    cells: list[Cell] = [scope, *_ends(draw), *_ends(draw.times(pue))]
    cells += [round(btu_per_hour(draw.max_w)), round(tons(draw.max_w), 1)]
    cells += [round(low), round(draw.kwh_per_year(pue)), round(high)]
    cells += [round(draw.typical_by.get(basis, 0.0), 1) for basis in BASES]
    return [*cells, sum(draw.bounded.values())]


def _ends(draw: Power | Draw) -> tuple[float, ...]:
    """Both ends of the typical power with the middle, and the worst case."""
    return tuple(round(watts, 1) for watts in (draw.typical_low_w, draw.typical_w, draw.typical_high_w, draw.max_w))


def racks(bill: Bill) -> Sheet:
    """Every rack."""
    rows = tuple(
        (
            rack.name,
            len(rack.devices),
            *_ends(rack.power),
            sum(rack.power.bounded.values()),
            "over" if rack.over(bill.rack_limit_w) else "",
        )
        for rack in bill.racks
    )
    head = ("rack", "devices", *_ENDS, "devices_bounded_by_class", "limit")
    return Sheet(title="racks", columns=head, rows=rows)


def elevations(bill: Bill) -> Sheet:
    """Every device in its rack, from the top down."""
    rows: list[Row] = []
    for rack in bill.racks:
        for device in rack.devices:
            where: list[Cell] = [rack.name, device.ru, device.height, device.name, device.role, device.model]
            rows.append([*where, *_ends(device.draw)])
    return Sheet(
        title="elevations", columns=("rack", "ru", "rack_units", "device", "role", "model", *_ENDS), rows=tuple(rows)
    )


def money(bill: Bill) -> Sheet:
    """What it costs, for the site and for every fabric."""
    currency = bill.prices.currency if bill.prices else ""
    scopes: list[tuple[str, Cost | None, Mapping[str, float | None]]] = [("site", bill.cost, {})]
    scopes += [(share.name, share.cost, share.money()) for share in bill.shares]
    rows: list[Row] = []
    for scope, cost, each in scopes:
        if cost is None:
            continue
        rows += [(scope, f"capex {kind}", round(amount, 2)) for kind, amount in cost.capex_by_kind.items() if amount]
        rows += [(scope, "capex", round(cost.capex, 2)), (scope, "support per year", round(cost.support_year, 2))]
        if cost.energy_year is not None:
            rows.append((scope, "energy per year", round(cost.energy_year, 2)))
            low, high = cost.energy_year_range or (cost.energy_year, cost.energy_year)
            rows += [(scope, "energy per year, from", round(low, 2)), (scope, "energy per year, to", round(high, 2))]
        rows.append((scope, f"tco over {cost.years} years", round(cost.tco, 2)))
        rows += [(scope, key.replace("_", " "), round(amount, 2)) for key, amount in each.items() if amount is not None]
    return Sheet(title="cost", columns=("scope", "what", f"amount_{currency}"), rows=tuple(rows))


def sheets(bill: Bill) -> list[Sheet]:
    """All of a workbook."""
    found = [order(bill), uses(bill), power(bill), racks(bill), elevations(bill)]
    return [*found, money(bill)] if bill.prices else found


def csv_text(sheet: Sheet) -> str:
    """A table as CSV. A text that a spreadsheet would take for a formula is put behind an apostrophe."""
    return to_csv(sheet.columns, (tuple(map(no_formula, row)) for row in sheet.rows))
