"""A bill as tables: plain numbers under heads with their units, for CSV and for the sheets of a workbook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabric.bom.bill import Bill
from fabric.bom.cost import Cost
from fabric.bom.power import Power, btu_per_hour
from fabric.formats import Cell, Sheet, csv_text as to_csv, no_formula

Row = Sequence[Cell]


def order(bill: Bill) -> Sheet:
    """What to order, a line each."""
    currency = bill.prices.currency if bill.prices else ""
    head: tuple[str, ...] = ("kind", "item", "description", "length_m", "in_use", "spares", "order")
    if bill.prices:
        head += (f"unit_price_{currency}", f"price_{currency}")
    return Sheet("order", head, tuple(_order(bill)))


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
    return Sheet("fabrics", ("fabric", "place", "kind", "item", "length_m", "in_use"), tuple(row for row, _ in rows))


_POWER: tuple[str, ...] = (
    *("what", "typical_W", "worst_case_W", "at_meter_typical_W", "at_meter_worst_case_W"),
    *("heat_worst_case_BTU_per_h", "energy_kWh_per_year", "devices_without_typical", "devices_without_worst_case"),
)


def power(bill: Bill) -> Sheet:
    """Power of the parts and of the whole."""
    rows = [_power(f"network of {share.name}", share.power) for share in bill.shares]
    rows.append(_power("network", bill.network))
    if bill.servers:
        rows += [_power("servers", bill.server_power), _power("total", bill.power)]
    return Sheet(
        "power",
        _POWER,
        tuple(
            (
                scope,
                round(draw.typical_w, 1),
                round(draw.max_w, 1),
                round(draw.typical_w * bill.pue, 1),
                round(draw.max_w * bill.pue, 1),
                round(btu_per_hour(draw.max_w)),
                round(draw.kwh_per_year(bill.pue)),
                sum(draw.no_typical.values()),
                sum(draw.no_max.values()),
            )
            for scope, draw in rows
        ),
    )


def _power(what: str, draw: Power) -> tuple[str, Power]:
    return what, draw


def racks(bill: Bill) -> Sheet:
    """Every rack."""
    rows = tuple(
        (
            rack.name,
            len(rack.devices),
            round(rack.power.typical_w, 1),
            round(rack.power.max_w, 1),
            sum(rack.power.no_typical.values()),
            sum(rack.power.no_max.values()),
            "over" if rack.over(bill.rack_limit_w) else "",
        )
        for rack in bill.racks
    )
    head = ("rack", "devices", "typical_W", "worst_case_W", "devices_without_typical", "devices_without_worst_case", "limit")
    return Sheet("racks", head, rows)


def elevations(bill: Bill) -> Sheet:
    """Every device in its rack, from the top down."""
    rows = tuple(
        (
            rack.name,
            device.ru,
            device.height,
            device.name,
            device.role,
            device.model,
            _watts(device.draw.typical_w),
            _watts(device.draw.max_w),
        )
        for rack in bill.racks
        for device in rack.devices
    )
    return Sheet("elevations", ("rack", "ru", "rack_units", "device", "role", "model", "typical_W", "worst_case_W"), rows)


def _watts(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


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
        rows.append((scope, f"tco over {cost.years} years", round(cost.tco, 2)))
        rows += [(scope, key.replace("_", " "), round(amount, 2)) for key, amount in each.items() if amount is not None]
    return Sheet("cost", ("scope", "what", f"amount_{currency}"), tuple(rows))


def sheets(bill: Bill) -> list[Sheet]:
    """All of a workbook."""
    found = [order(bill), uses(bill), power(bill), racks(bill), elevations(bill)]
    return [*found, money(bill)] if bill.prices else found


def csv_text(sheet: Sheet) -> str:
    """A table as CSV. A text that a spreadsheet would take for a formula is put behind an apostrophe."""
    return to_csv(sheet.columns, (tuple(map(no_formula, row)) for row in sheet.rows))
