"""Money: what a list of parts costs to buy, and to run for a year."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fabric.deliver.bom.parts import PLURALS, Part
from fabric.deliver.bom.power import Power
from fabric.deliver.bom.prices import Prices

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

    def as_dict(self) -> dict[str, Any]:
        """Amounts rounded to cents."""
        return {
            "currency": self.currency,
            "capex": {kind: round(amount, 2) for kind, amount in (*self.capex_by_kind.items(), ("total", self.capex))},
            "support_per_year": round(self.support_year, 2),
            "energy_per_year": None if self.energy_year is None else round(self.energy_year, 2),
            "energy_per_year_range": None
            if self.energy_year_range is None
            else [round(amount, 2) for amount in self.energy_year_range],
            "years": self.years,
            "tco": round(self.tco, 2),
            "unpriced": [part.item for part in self.unpriced],
        }


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
