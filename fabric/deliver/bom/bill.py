"""A bill of materials as values: what to order, what it draws, what it costs. `gather` makes one of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any

from pydantic import Field

from fabric.base.schemas.models import Amount, Count, Document, Positive, Text, document, each_of, itself, json_key, rounded
from fabric.deliver.bom.parts import (
    PLURALS,
    SERVER,
    SWITCH,
    Draw,
    Part,
    Power,
    PowerDocument,
    Spares,
    Watts,
    btu_per_hour,
    tons,
    total,
    total_of,
)
from fabric.deliver.bom.prices import Prices
from fabric.hardware.catalog.power import BOUND

# --- cost -----------------------------------------------------------------------------------------------------

LABOUR = "labour"


@dataclass(frozen=True, kw_only=True)
class Cost:
    """In the currency of the price file. Parts without a price are left out and named."""

    currency: str
    capex_by_kind: Mapping[str, float]  # switches, servers, optics, cables with their spares, and labour
    support_year: float
    energy_year: float | None  # None: the file has no price of a kWh
    years: int
    unpriced: tuple[Part, ...] = ()
    energy_year_range: tuple[float, float] | None = None  # at both ends of the typical power

    @property
    def capex(self) -> float:
        return sum(self.capex_by_kind.values())

    @property
    def opex_year(self) -> float:
        return self.support_year + (self.energy_year or 0.0)

    @property
    def tco(self) -> float:
        """To buy, and to run for `years`."""
        return self.capex + self.years * self.opex_year


Money = Annotated[Amount, rounded(2)]
Ends = Annotated[list[Money], Field(min_length=2, max_length=2)]


class CostDocument(Document):
    currency: str
    capex: Annotated[dict[str, Money], each_of((*PLURALS.values(), LABOUR, "total"))] = json_key(
        of=lambda cost: {**cost.capex_by_kind, "total": cost.capex}
    )
    support_per_year: Money = json_key(of="support_year")
    energy_per_year: Money | None = json_key(of="energy_year")
    energy_per_year_range: Ends | None = json_key("at both ends of the typical power", "energy_year_range")
    years: Positive
    tco: Money
    unpriced: list[Text] = json_key("items without a price", lambda cost: [part.item for part in cost.unpriced])


def cost(parts: Iterable[tuple[Part, float, float]], prices: Prices, power: Power, pue: float, years: int) -> Cost:
    """What parts cost, each with how many are in use and how many are ordered; support and labour are for those in use.

    Energy is that of the typical power at the meter.
    """
    capex = {**dict.fromkeys(PLURALS.values(), 0.0), LABOUR: 0.0}
    support = 0.0
    unpriced = set()
    for part, in_use, ordered in parts:
        section, price = PLURALS[part.kind], prices.price(part)
        capex[LABOUR] += in_use * prices.labour.get(part.kind, 0.0)
        if price is None:
            unpriced.add(part)
            continue
        capex[section] += price * ordered
        support += price * in_use * prices.support_percent.get(section, 0.0) / 100
    energy, ends = None, None
    if prices.per_kwh is not None:
        energy = power.kwh_per_year(pue) * prices.per_kwh
        low, high = power.kwh_range(pue)
        ends = low * prices.per_kwh, high * prices.per_kwh
    return Cost(
        currency=prices.currency,
        capex_by_kind=capex,
        support_year=support,
        energy_year=energy,
        years=years,
        unpriced=tuple(sorted(unpriced, key=lambda part: part.order)),
        energy_year_range=ends,
    )


# --- bill -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Use:
    """Where parts go: a tier of a fabric, or a kind of its links."""

    fabric: Text
    place: Text
    count: Count


@dataclass(frozen=True)
class Line:
    """One line of the order. A server of several fabrics is used in each and ordered once."""

    part: Part
    what: str  # in words
    uses: tuple[Use, ...]
    in_use: int
    spares: int

    @property
    def order(self) -> int:
        return self.in_use + self.spares

    def as_dict(self, prices: Prices | None) -> dict[str, Any]:
        price = prices.price(self.part) if prices else None
        return {
            "kind": self.part.kind,
            "item": self.part.item,
            "description": self.what,
            "length_m": self.part.length_m or None,
            "in_use": self.in_use,
            "spares": self.spares,
            "order": self.order,
            "unit_price": None if price is None else round(price, 4),
            "price": None if price is None else round(price * self.order, 2),
            "uses": self.uses,
        }


class LineDocument(Document):
    kind: Text
    item: Text
    description: str
    length_m: Amount | None
    in_use: Count
    spares: Count
    order: Count
    unit_price: Amount | None
    price: Amount | None
    uses: list[Use]


@dataclass(frozen=True, slots=True, kw_only=True)
class RackDevice:
    """A device in its rack, with its optics."""

    name: str
    role: str
    model: str
    ru: int  # the lowest unit it takes, from 1
    height: int
    draw: Draw


@dataclass(frozen=True)
class RackPower:
    """Power of one rack; its devices from the top down."""

    name: str
    devices: tuple[RackDevice, ...]
    power: Power
    limited: bool = True  # false: the trays of an NVLink domain, which bring the supply of their rack

    def over(self, limit_w: float | None) -> bool:
        """Whether its worst case, the upper end where it is bounded, is more than a rack may draw."""
        return self.limited and limit_w is not None and self.power.max_w > limit_w

    def surely_over(self, limit_w: float | None) -> bool:
        """Whether it draws more than it may without the upper ends of what is bounded by class."""
        least_w = max(self.power.typical_low_w, self.power.max_w - self.power.max_by.get(BOUND, 0.0))
        return self.over(limit_w) and limit_w is not None and least_w > limit_w


@dataclass(frozen=True)
class Bandwidth:
    """What the job that spans a fabric gets: an all-reduce of `bytes` over every GPU."""

    gpus: Count
    bytes: Count
    busbw_GBps: Annotated[Amount, rounded(3)]


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one fabric has of the bill. Spares of a part are split over the fabrics that use it."""

    name: str
    gpus: int
    oversubscription: float  # as built, over all tiers
    power: Power  # its switches, and optics at both ends of its cables
    cost: Cost | None = None
    bandwidth: Bandwidth | None = None

    def money(self) -> dict[str, float | None]:
        """Capex over what it buys; None where there is no GPU, or no estimate."""
        capex = self.cost.capex if self.cost else None
        each = capex / self.gpus if capex is not None and self.gpus else None
        busbw = self.bandwidth.busbw_GBps if self.bandwidth else None
        return {
            "capex_per_gpu": each,
            "capex_per_gpu_at_1_to_1": each * max(1.0, self.oversubscription) if each is not None else None,
            "capex_per_busbw_GBps": capex / busbw if capex is not None and busbw else None,
        }


@dataclass(frozen=True, kw_only=True)
class Bill:
    """The whole of it. Servers are part of it where `servers` says so."""

    site: str
    servers: bool
    lines: tuple[Line, ...]
    spares: Spares
    network: Power  # switches, and optics at both ends
    server_power: Power  # servers, without the optics in their NICs
    shares: tuple[Share, ...]
    racks: tuple[RackPower, ...]
    rack_limit_w: float | None
    rack_limit_stated: bool
    pue: float
    years: int
    prices: Prices | None = None
    cost: Cost | None = None
    unjoined: int = 0  # links that no medium joins: their cables are missing from the lines

    @property
    def power(self) -> Power:
        """Of everything that is counted."""
        return total_of(self.network, self.server_power) if self.servers else self.network

    @property
    def meter(self) -> Power:
        """The same at the meter."""
        return self.power.times(self.pue)

    @property
    def stated(self) -> tuple[str, ...]:
        """Models whose power the price file states, whole or in part; those whose power is counted."""
        stated = self.prices.power if self.prices else {}
        return tuple(sorted({line.part.item for line in self.shown() if line.part.kind in (SWITCH, SERVER)} & stated.keys()))

    @property
    def hot(self) -> tuple[RackPower, ...]:
        """Racks above the limit, the worst first."""
        found = [rack for rack in self.racks if rack.over(self.rack_limit_w)]
        return tuple(sorted(found, key=lambda rack: -rack.power.max_w))

    @property
    def surely_hot(self) -> bool:
        """Whether a rack is above a stated limit whatever the bounds by class are; the usual limit is no fact of the site."""
        return self.rack_limit_stated and any(rack.surely_over(self.rack_limit_w) for rack in self.racks)

    def shown(self) -> tuple[Line, ...]:
        """The lines of what is asked for."""
        return self.lines if self.servers else tuple(line for line in self.lines if line.part.kind != SERVER)

    def as_dict(self) -> dict[str, Any]:
        """The document of `--json`."""
        return document(self, BillDocument)


def rack_power(name: str, devices: tuple[RackDevice, ...], limited: bool = True) -> RackPower:
    """A rack with its devices from the top down."""
    ordered = tuple(sorted(devices, key=lambda device: (-device.ru, device.name)))
    return RackPower(name, ordered, total((device.model, device.draw, 1) for device in ordered), limited)


# --- JSON -----------------------------------------------------------------------------------------------------


class SitePower(Document):
    network: PowerDocument
    servers: PowerDocument | None = json_key(of=lambda bill: bill.server_power if bill.servers else None)
    total: PowerDocument = json_key(of="power")
    from_price_file: list[Text] = json_key(of="stated")
    pue: Amount
    meter_typical_low_w: Watts = json_key(of="meter.typical_low_w")
    meter_typical_w: Watts = json_key(of="meter.typical_w")
    meter_typical_high_w: Watts = json_key(of="meter.typical_high_w")
    meter_max_w: Watts = json_key(of="meter.max_w")
    heat_max_btu_per_h: Count = json_key(of=lambda bill: round(btu_per_hour(bill.power.max_w)))
    heat_max_tons: Watts = json_key("of refrigeration, 12,000 BTU/h each", lambda bill: tons(bill.power.max_w))
    energy_kwh_per_year: Count = json_key(of=lambda bill: round(bill.power.kwh_per_year(bill.pue)))
    energy_low_kwh_per_year: Count = json_key(of=lambda bill: round(bill.power.kwh_range(bill.pue)[0]))
    energy_high_kwh_per_year: Count = json_key(of=lambda bill: round(bill.power.kwh_range(bill.pue)[1]))


class RackName(Document):
    name: str
    devices: Count


class RackDocument(PowerDocument, RackName):
    over_limit: bool


class ShareDocument(Document):
    gpus: Count
    oversubscription: Amount = json_key("as built, over all tiers")
    power: PowerDocument
    cost: CostDocument | None
    all_reduce: Bandwidth | None = json_key(of="bandwidth")
    capex_per_gpu: Money | None = json_key(of=lambda share: share.money()["capex_per_gpu"])
    capex_per_gpu_at_1_to_1: Money | None = json_key(of=lambda share: share.money()["capex_per_gpu_at_1_to_1"])
    capex_per_busbw_GBps: Money | None = json_key(of=lambda share: share.money()["capex_per_busbw_GBps"])


def _racks(bill: Bill) -> list[SimpleNamespace]:
    """Racks with the figures of their power."""
    return [
        SimpleNamespace(
            **vars(rack.power), name=rack.name, devices=len(rack.devices), over_limit=rack.over(bill.rack_limit_w)
        )
        for rack in bill.racks
    ]


class BillDocument(Document):
    """Power in W, energy in kWh, money in the currency of the price file."""

    site: Text
    servers_included: bool = json_key(of="servers")
    lines: list[LineDocument] = json_key(of=lambda bill: [line.as_dict(bill.prices) for line in bill.shown()])
    spares_percent: Spares = json_key(of="spares")
    power: SitePower = json_key(of=itself)
    rack_limit_w: Amount | None
    racks: list[RackDocument] = json_key(of=_racks)
    cost: CostDocument | None
    fabrics: dict[str, ShareDocument] = json_key(of=lambda bill: {share.name: share for share in bill.shares})
    unjoined_links: Count = json_key("that no medium joins", "unjoined")
