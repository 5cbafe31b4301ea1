"""A bill as tables: aligned on a terminal, plain numbers for CSV and the sheets of a workbook."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict

from fabric.base.diagnostics import Diagnostic, Place
from fabric.base.formats import Cell, Sheet, csv_text as to_csv, no_formula
from fabric.base.grouping import grouped
from fabric.base.text import and_more, listed, plural, power
from fabric.base.text.screen import table
from fabric.deliver.bom.bill import Bill, Cost, Line, RackPower, Share
from fabric.deliver.bom.parts import CABLE, Draw, Power, btu_per_hour, tons
from fabric.hardware.catalog.power import BASES

MAX_KINDS = 10
_MAX_USES = _MAX_NAMES = 3


def lines(bill: Bill) -> list[str]:
    """The whole report."""
    out = [f"{bill.site}: bill of materials", ""]
    out += _order(bill)
    out += ["", "Power", *_power(bill)]
    if bill.racks:
        out += ["", *_racks(bill)]
    if bill.cost is not None:
        out += ["", f"Cost in {bill.cost.currency}", *_cost(bill, bill.cost)]
    return out


def _order(bill: Bill) -> list[str]:
    currency = bill.prices.currency if bill.prices else ""
    money = (f"each {currency}", f"price {currency}") if currency else ("", "")
    head = ("kind", "item", "m", "in use", "spare", "order", *money, "where")
    rows = [
        (
            line.part.kind,
            line.part.item,
            f"{line.part.length_m:g}" if line.part.length_m else "",
            f"{line.in_use:,}",
            f"{line.spares:,}" if line.spares else "",
            f"{line.order:,}",
            *price(bill, line),
            _where(bill, line),
        )
        for line in bill.shown()
    ]
    metres = sum(line.part.length_m * line.order for line in bill.lines if line.part.kind == CABLE)
    rates = ", ".join(f"{percent:g} % {kind}" for kind, percent in asdict(bill.spares).items() if percent)
    spares = f"spares, rounded up: {rates}" if rates else "no spares"
    out = [*table(head, rows, "<<>>>>>><"), f"  {metres:,.0f} m of cable to order; {spares}"]
    return [*out, f"  excluding the cables of {bill.unjoined:,} links without a suitable medium"] if bill.unjoined else out


def price(bill: Bill, line: Line) -> tuple[str, str]:
    """Of one, with cents where it has some, and of all that are ordered."""
    if bill.prices is None:
        return "", ""
    price = bill.prices.price(line.part)
    if price is None:
        return "", "no price"
    return f"{price:,.0f}" if price == int(price) else f"{price:,.2f}", f"{price * line.order:,.0f}"


def _where(bill: Bill, line: Line) -> str:
    """`backend leaf 32, spine 16`; a site of one fabric does not name it."""
    several, places, last = len(bill.shares) > 1, [], ""
    for use in line.uses[:_MAX_USES]:
        named = f"{use.fabric} " if several and use.fabric != last else ""
        places.append(f"{named}{use.place} {use.count:,}")
        last = use.fabric
    rest = len(line.uses) - len(places)
    return ", ".join(places) + (f" {and_more(rest)}" if rest else "")


def _power(bill: Bill) -> list[str]:
    rows = []
    if len(bill.shares) > 1:
        rows += [_watts(share.name, share.power) for share in bill.shares]
    rows.append(_watts("network", bill.network))
    if bill.servers:
        rows += [_watts("servers", bill.server_power), _watts("network and servers", bill.power)]
    total = bill.power
    rows.append(_watts(f"at the meter, PUE {bill.pue:g}", total.times(bill.pue)))
    out = table(("", "typical kW", "worst case kW"), rows, "<>>")
    low, high = (f"{kwh / 1000:,.0f}" for kwh in total.kwh_range(bill.pue))
    between = f" ({low} to {high})" if low != high else ""
    energy = f"{total.kwh_per_year(bill.pue) / 1000:,.0f} MWh per year at the meter{between}"
    heat = f"heat to cool in the worst case: {btu_per_hour(total.max_w):,.0f} BTU/h ({tons(total.max_w):,.1f} tons)"
    return [*out, f"  {energy}", f"  {heat}", *_sources(bill)]


def _watts(what: str, draw: Power) -> tuple[str, str, str]:
    return what, *kilowatts(draw)


def kilowatts(draw: Power) -> tuple[str, str]:
    """Typical power, as a range where its ends differ, and the upper end of the worst case."""
    return kilowatt_range(draw.typical_low_w, draw.typical_high_w), f"{draw.max_w / 1000:,.1f}"


def kilowatt_range(low_w: float, high_w: float) -> str:
    """`5.1-6.4`, one number where both ends come to the same."""
    low, high = (f"{watts / 1000:,.1f}" for watts in (low_w, high_w))
    return low if low == high else f"{low}-{high}"


def origin(total: Power) -> str:
    """Where a typical power comes from: `data sheet 3.8 kW, optics 2.2 kW`."""
    return ", ".join(f"{basis} {power(watts)}" for basis, watts in total.typical_by.items())


def _sources(bill: Bill) -> Iterator[str]:
    """Whose figures count, which are bounds, and where to put others."""
    total = bill.power
    yield f"  typical power {power(total.typical_w)}: {origin(total)}"
    if bill.stated:
        yield f"  power from the price file: {', '.join(bill.stated)}"
    if total.bounded:
        models = ", ".join(f"{model} ({count:,})" for model, count in total.bounded.items())
        yield f"  bounded by class, in part or whole: {models}"
        yield "  to state other figures, use `power` in a price file"


def over_limit(bill: Bill, file: str) -> Diagnostic:
    """The racks above their power limit, as one finding."""
    worst, limit_w = bill.hot[0], bill.rack_limit_w or 0.0
    if bill.surely_hot:
        hint = "`floor: {rack_power_max_w: …}` sets the limit; move devices to other racks with `floor: {places: …}`"
    elif bill.rack_limit_stated:
        hint = "part of it is bounded by class: state `power_max_w` of a model of your own, or `power` in a price file"
    else:
        hint = "no limit is stated, this is a usual one: `floor: {rack_power_max_w: …}` states what your racks supply"
    return Diagnostic(
        "FAB514",
        Place(file),
        f"expected at most {limit_w / 1000:g} kW a rack in the worst case, got {plural(len(bill.hot), 'rack')} above it; "
        f"{worst.name} draws {worst.power.max_w / 1000:.1f} kW",
        hint,
        "error" if bill.surely_hot else "warning",
    )


def _racks(bill: Bill) -> list[str]:
    """Racks above the limit, else all, the warmest first; those alike in one row. The workbook and JSON have each."""
    limit, hot = bill.rack_limit_w, bill.hot
    title = f"Racks: {len(bill.racks):,}"
    if limit is not None:
        title += f", {f'{len(hot):,} of them' if hot else 'none'} above {limit / 1000:g} kW in the worst case"
    alike = grouped((_rack(rack), rack) for rack in bill.racks if not hot or rack.over(limit))
    kinds = sorted(alike.items(), key=lambda kind: (-kind[1][0].power.max_w, -kind[1][0].power.typical_w))
    rows = [(f"{len(racks):,}", _some([rack.name for rack in racks]), *columns) for columns, racks in kinds]
    head = ("racks", "names", "devices", "typical kW", "worst case kW", "each holds")
    out = [title, *table(head, rows[:MAX_KINDS], "><>>><")]
    left = sum(len(racks) for _, racks in kinds[MAX_KINDS:])
    return [*out, f"  {and_more(left, 'rack')}{' above it' if hot else ', none with more power'}"] if left else out


def _some(names: list[str]) -> str:
    """`B01, B02 and 29 more`."""
    return listed(names, _MAX_NAMES if len(names) == _MAX_NAMES else _MAX_NAMES - 1)


def _rack(rack: RackPower) -> tuple[str, ...]:
    """Devices, typical kW, worst case kW, and what it holds."""
    models: dict[str, int] = {}
    for device in rack.devices:
        name = device.model or device.role
        models[name] = models.get(name, 0) + 1
    holds = ", ".join(f"{count} {model}" for model, count in sorted(models.items()))
    return f"{len(rack.devices):,}", *kilowatts(rack.power), holds


def _cost(bill: Bill, cost: Cost) -> list[str]:
    """A column for every fabric where there are several, and one for the site."""
    columns = [(share.name, share.cost) for share in bill.shares if share.cost]
    site = ("site", cost)
    columns = [*columns, site] if len(columns) > 1 or bill.servers else [site]
    rows = [
        [kind, *(f"{its.capex_by_kind[kind]:,.0f}" if its.capex_by_kind[kind] else "-" for _, its in columns)]
        for kind, amount in cost.capex_by_kind.items()
        if amount
    ]
    rows.extend(
        (
            ["capex", *(_amount(its.capex, its.unpriced) for _, its in columns)],
            ["support per year", *(_amount(its.support_year, its.unpriced) for _, its in columns)],
        )
    )
    if cost.energy_year is not None:
        rows.append(["energy per year", *(f"{its.energy_year or 0.0:,.0f}" for _, its in columns)])
        if any(_ends(its) for _, its in columns):
            rows.append(["  from, to", *(_ends(its) for _, its in columns)])
    whole = [_amount(its.tco, its.unpriced) for _, its in columns]
    rows.append([f"total over {cost.years} years", *whole])
    out = table(["", *(name for name, _ in columns)], rows, "<" + ">" * len(columns))
    if cost.unpriced:
        out.append(f"  no price for {', '.join(sorted({part.item for part in cost.unpriced}))}")
    return [*out, *(text for share in bill.shares for text in _each(share, cost.currency, len(bill.shares) > 1))]


def _ends(cost: Cost) -> str:
    """Energy of a year at both ends of the typical power, "" where they come to the same."""
    low, high = (f"{amount:,.0f}" for amount in cost.energy_year_range or (0.0, 0.0))
    return f"{low}-{high}" if low != high else ""


def _least(missing: Collection[object]) -> str:
    return "at least " if missing else ""


def _amount(money: float, missing: Collection[object]) -> str:
    return f"{_least(missing)}{money:,.0f}"


def _each(share: Share, currency: str, several: bool) -> Iterator[str]:
    """What the money of a fabric buys."""
    money = share.money()
    each, even, busbw = money["capex_per_gpu"], money["capex_per_gpu_at_1_to_1"], money["capex_per_busbw_GBps"]
    if each is None or even is None:
        return
    name = f"{share.name if several else 'network'}: capex {_least(share.cost.unpriced if share.cost else ())}"
    ratio = f"oversubscription {share.oversubscription:g}:1"
    at_even = f", {even:,.0f} at 1:1" if share.oversubscription > 1 else ""
    yield f"  {name}{each:,.0f} {currency} per GPU ({share.gpus:,} GPUs, {ratio}{at_even})"
    if busbw is not None and share.bandwidth is not None:
        size = f"{share.bandwidth.bytes >> 30} GiB"
        yield (
            f"  {name}{busbw:,.0f} {currency} per GB/s of bus bandwidth "
            f"(all-reduce of {size} over {share.bandwidth.gpus:,} GPUs: {share.bandwidth.busbw_GBps:,.1f} GB/s)"
        )


# --- sheets ---------------------------------------------------------------------------------------------------

Row = Sequence[Cell]


def order(bill: Bill) -> Sheet:
    """What to order, a line each."""
    currency = bill.prices.currency if bill.prices else ""
    head: tuple[str, ...] = ("kind", "item", "description", "length_m", "in_use", "spares", "order")
    if bill.prices:
        head += (f"unit_price_{currency}", f"price_{currency}")
    return Sheet(title="order", columns=head, rows=tuple(_order_rows(bill)))


def _order_rows(bill: Bill) -> Iterator[Row]:
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
_POWER_COLUMNS: tuple[str, ...] = (
    *("what", "typical_low_W", "typical_W", "typical_high_W", "worst_case_W"),
    *("at_meter_typical_low_W", "at_meter_typical_W", "at_meter_typical_high_W", "at_meter_worst_case_W"),
    *("heat_worst_case_BTU_per_h", "heat_worst_case_tons"),
    *("energy_low_kWh_per_year", "energy_kWh_per_year", "energy_high_kWh_per_year"),
    *(f"typical_W_{basis.replace(' ', '_').replace('-', '_')}" for basis in BASES),
    "devices_bounded_by_class",
)


def power_table(bill: Bill) -> Sheet:
    """Power of the parts and of the whole."""
    rows = [(f"network of {share.name}", share.power) for share in bill.shares]
    rows.append(("network", bill.network))
    if bill.servers:
        rows += [("servers", bill.server_power), ("total", bill.power)]
    return Sheet(
        title="power", columns=_POWER_COLUMNS, rows=tuple(_power_rows(scope, draw, bill.pue) for scope, draw in rows)
    )


def _power_rows(scope: str, draw: Power, pue: float) -> Row:
    low, high = draw.kwh_range(pue)
    cells: list[Cell] = [scope, *_end_cells(draw), *_end_cells(draw.times(pue))]
    cells += [round(btu_per_hour(draw.max_w)), round(tons(draw.max_w), 1)]
    cells += [round(low), round(draw.kwh_per_year(pue)), round(high)]
    cells += [round(draw.typical_by.get(basis, 0.0), 1) for basis in BASES]
    return [*cells, sum(draw.bounded.values())]


def _end_cells(draw: Power | Draw) -> tuple[float, ...]:
    """Both ends of the typical power with the middle, and the worst case."""
    return tuple(round(watts, 1) for watts in (draw.typical_low_w, draw.typical_w, draw.typical_high_w, draw.max_w))


def racks(bill: Bill) -> Sheet:
    """Every rack."""
    rows = tuple(
        (
            rack.name,
            len(rack.devices),
            *_end_cells(rack.power),
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
            rows.append([*where, *_end_cells(device.draw)])
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
    found = [order(bill), uses(bill), power_table(bill), racks(bill), elevations(bill)]
    return [*found, money(bill)] if bill.prices else found


def csv_text(sheet: Sheet) -> str:
    """A table as CSV. A text that a spreadsheet would take for a formula is put behind an apostrophe."""
    return to_csv(sheet.columns, (tuple(map(no_formula, row)) for row in sheet.rows))
