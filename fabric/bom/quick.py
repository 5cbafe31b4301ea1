"""A bill from a sizing alone, for sweeps over many designs: no wiring, no floor, planned lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabric.bom.cost import Cost, cost
from fabric.bom.parts import SWITCH, Part, Spares
from fabric.bom.planned import bought, bundles
from fabric.bom.power import Draw, Power, total
from fabric.bom.prices import PUE, YEARS, Prices, power_range
from fabric.plan import CORE, LEAF, SPINE, FabricSpec, Sizing


@dataclass(frozen=True)
class Quick:
    """What the network of one fabric takes, its servers left out."""

    parts: Mapping[Part, int]  # in use, spares not counted
    power: Power  # with optics at both ends
    energy_kwh_year: float  # at the meter
    unjoined: tuple[str, ...] = ()  # kinds of link that no medium joins over their planned length
    cost: Cost | None = None

    @property
    def capex(self) -> float | None:
        """None without prices, and where a part has none."""
        return None if self.cost is None or self.cost.unpriced or self.unjoined else self.cost.capex


def quick(spec: FabricSpec, sizing: Sizing, prices: Prices | None = None, pue: float | None = None) -> Quick:
    """Counts, power and cost of a sized fabric."""
    parts: dict[Part, int] = {}
    optics_w: dict[str, float] = {}
    unjoined = []
    tiers = {
        LEAF: (spec.leaf, sizing.leaves),
        SPINE: (spec.spine, sizing.spine_count if sizing.spines else 0),
        CORE: (spec.core, sizing.core_count if sizing.tiers == 3 else 0),
    }
    for tier, count in tiers.values():
        if count:
            part = Part(SWITCH, tier.switch)
            parts[part] = parts.get(part, 0) + count
    for bundle in bundles(spec, sizing):
        bought_parts = bought(bundle)
        if bought_parts is None:
            unjoined.append(bundle.kind)
            continue
        for part, count in bought_parts.parts:
            parts[part] = parts.get(part, 0) + count
        for side, watts in ((bundle.a, bought_parts.a_watts), (bundle.b, bought_parts.b_watts)):
            optics_w[side.role] = optics_w.get(side.role, 0.0) + watts
    draws = [
        (tier.switch, Draw(power_range(prices, tier.switch, tier.model), optics_w.pop(role, 0.0) / count), count)
        for role, (tier, count) in tiers.items()
        if count
    ]
    far = sum(optics_w.values())  # in servers and attachments
    power = total([*draws, ("", Draw(None, far), 1)])
    factor = pue or (prices.pue if prices else None) or PUE
    money = _cost(parts, prices, power, factor) if prices else None
    return Quick(parts, power, power.kwh_per_year(factor), tuple(unjoined), money)


def _cost(parts: Mapping[Part, int], prices: Prices, power: Power, pue: float) -> Cost:
    spares: Spares = prices.spares
    return cost(((part, n, n + spares.of(part, n)) for part, n in parts.items()), prices, power, pue, prices.years or YEARS)
