"""Electrical power of a device as a range: its data sheet's figures where there are any, bounds of its class elsewhere.

Watts of one device without the optics in its cages. The typical power is known to lie between two ends; the worst case is
what a rack has to feed. A data sheet's typical figure has both ends in one. fabric/hardware/catalog/power_class.py has the
class rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Literal

from fabric.base.schemas.models import Amount, Document, Text, described
from fabric.hardware.catalog import media, power_class
from fabric.hardware.catalog.models import ServerModel, SwitchModel, entry_of
from fabric.hardware.catalog.power_class import MAX, TYPICAL, Figure, Span

Basis = Literal["data sheet", "second-hand", "stated", "class bound"]
SHEET: Basis = "data sheet"
SECOND_HAND: Basis = "second-hand"
STATED: Basis = "stated"
BOUND: Basis = "class bound"
OPTICS = "optics"
BASES: tuple[str, ...] = (SHEET, SECOND_HAND, STATED, BOUND, OPTICS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerRange:
    """Power of one device in W."""

    typical_low_w: Amount
    typical_w: Amount
    typical_high_w: Amount
    max_w: Amount
    typical_basis: Basis
    max_basis: Basis
    holds: Annotated[tuple[Figure, ...], described("figures that hold a full set of optics")] = ()
    source: Text = ""

    @property
    def basis(self) -> str:
        """Of both figures in words: `data sheet`, or `data sheet, worst case class bound`."""
        return (
            self.typical_basis
            if self.typical_basis == self.max_basis
            else f"{self.typical_basis}, worst case {self.max_basis}"
        )

    def based(self, typical: Basis | None, most: Basis | None) -> PowerRange:
        """The same with another basis, where one is given."""
        return replace(self, typical_basis=typical or self.typical_basis, max_basis=most or self.max_basis)


class PowerDocument(Document):
    """Power of one device in W, without the optics in its cages unless `holds` names the figure. Kind → model → range."""

    switches: dict[str, PowerRange]
    servers: dict[str, PowerRange]
    nics: dict[str, PowerRange]
    modules: dict[str, PowerRange]


def switch_range(model: SwitchModel) -> PowerRange:
    """Power of a switch; what its model does not say is bounded by the generation of its chip."""
    basis, bounds = _basis(model), power_class.switch_bounds(model)
    optics_w, holds = power_class.full_set_w(model), model.power_includes_optics
    span, worst_w = bounds.typical, bounds.max.high
    typical_basis = max_basis = BOUND
    if model.power_typical_w is not None:
        watts, typical_basis = float(model.power_typical_w), basis
        span = Span(watts, watts, watts)
    elif model.power_max_w is not None:  # not above what it may draw at most
        span = span.at_most(max(0.0, model.power_max_w - (optics_w if MAX in holds else 0.0)))
    if model.power_max_w is not None:
        worst_w, max_basis = float(model.power_max_w), basis
    else:
        bare_w = span.high - (optics_w if TYPICAL in holds else 0.0)
        worst_w = max(bare_w, min(worst_w, bare_w * power_class.most_over_typical(model)))
    source = _source(typical_basis, max_basis, model.power_source, power_class.switch_source(model))
    return _range((span.low, span.mid, span.high), worst_w, typical_basis, max_basis, source, holds)


def server_range(model: ServerModel) -> PowerRange:
    """Power of a server with its NICs; what its model does not say is bounded by its GPUs."""
    rules = power_class.classes().servers
    share, basis, rule = rules.typical_share, _basis(model), power_class.server_source(model)
    typical, most = model.power_typical_w, model.power_max_w
    if typical is not None:
        watts = float(typical)
        worst_w = max(watts, float(most)) if most is not None else watts / share.high
        max_basis = basis if most is not None else BOUND
        source = _source(basis, max_basis, model.power_source, f"typical over {share.high:g}: {share.source}")
        return _range((watts, watts, watts), worst_w, basis, max_basis, source)
    if most is not None:
        ends = (most * share.low, most * share.typical, most * share.high)
        source = _source(BOUND, basis, model.power_source, f"{share.low:g} to {share.high:g} of the maximum: {share.source}")
        return _range(ends, float(most), BOUND, basis, source)
    bounds = power_class.server_bounds(model)
    span = bounds.typical
    return _range((span.low, span.mid, span.high), bounds.max.high, BOUND, BOUND, rule)


def attachment_range() -> PowerRange:
    """Power of an attachment, of which no more is known than that it takes leaf ports: that of a plain server."""
    plain = power_class.classes().servers.plain
    return _range((plain.low, plain.typical, plain.high), plain.max, BOUND, BOUND, plain.source)


def module_range(worst_w: float, source: str = "") -> PowerRange:
    """Power of an optic or of a cable's end that draws so much at worst."""
    share = power_class.classes().optics
    ends = (worst_w * share.low, worst_w * share.typical, worst_w * share.high)
    return _range(ends, worst_w, BOUND, SHEET, source)


def nic_range(model: str) -> PowerRange:
    """Power of one NIC, by the beginning of its model's name."""
    known = power_class.classes().nics
    card = known[entry_of(model, known) or "other"]
    basis: Basis = SHEET if card.basis == SHEET else BOUND
    return _range((card.low, card.typical, card.high), card.max, basis, basis, card.source)


@cache
def nics() -> Mapping[str, PowerRange]:
    """Every NIC of the catalog, by the beginning of its model's name."""
    return {name: nic_range(name) for name in power_class.classes().nics}


@cache
def modules() -> Mapping[str, PowerRange]:
    """Every optic and every active or passive cable end of the catalog, by name."""
    optics = {name: module_range(optic.power_w, optic.source) for name, optic in media.optics().items()}
    return optics | {name: module_range(cable.power_w, cable.source) for name, cable in media.cables().items()}


def _range(
    typical_w: tuple[float, float, float], max_w: float, typical: Basis, most: Basis, source: str, holds: tuple[str, ...] = ()
) -> PowerRange:
    """Of three typical powers: the low end, the middle and the high end."""
    low, middle, high = typical_w
    ends = {"typical_low_w": low, "typical_w": middle, "typical_high_w": high}
    return PowerRange(**ends, max_w=max_w, typical_basis=typical, max_basis=most, holds=holds, source=source)


def _source(typical: Basis, most: Basis, read: str, rule: str) -> str:
    """Where both figures come from."""
    read = read or "stated by the site"
    if typical == most:
        return rule if typical == BOUND else read
    return f"typical: {rule}; worst case: {read}" if typical == BOUND else f"typical: {read}; worst case: {rule}"


def _basis(model: SwitchModel | ServerModel) -> Basis:
    """What the figures of a model are: a site's own entry has no source and is taken as stated."""
    if not model.power_source:
        return STATED
    return SECOND_HAND if model.power_second_hand else SHEET
