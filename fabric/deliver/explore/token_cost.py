"""Cost of useful tokens of a design: its network, its servers, and the energy of both."""

from __future__ import annotations

from fabric.deliver.bom.cost import Cost, cost
from fabric.deliver.bom.parts import SERVER, Part
from fabric.deliver.bom.power import Draw, total
from fabric.deliver.bom.prices import PUE, YEARS, Prices, power_range
from fabric.model.plan import FabricSpec
from fabric.solver.goodput.sections import DAYS_PER_YEAR


def token_cost(spec: FabricSpec, network: Cost, prices: Prices, tokens_per_day: float) -> float | None:
    """Total cost over the years of the price file by the useful tokens of these years, for a billion of them; None where a
    part of the network or a server has no price."""
    years = prices.years or YEARS
    rows, devices = [], []
    for group in spec.groups:
        part = Part(SERVER, group.model)
        rows.append((part, float(group.count), float(group.count + prices.spares.of(part, group.count))))
        devices.append((group.model, Draw(power_range(prices, group.model, group.server)), group.count))
    servers = cost(rows, prices, total(devices), prices.pue or PUE, years)
    if network.unpriced or servers.unpriced:
        return None
    return (network.tco + servers.tco) / (tokens_per_day * DAYS_PER_YEAR * years) * 1e9
