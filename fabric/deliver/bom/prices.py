"""The price file: cost and power of parts, in YAML. Every error has its place; docs/bom.md lists the keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.deliver.bom.parts import CABLE, PLURALS, Part, Spares
from fabric.hardware import catalog
from fabric.hardware.catalog import media
from fabric.hardware.catalog.models import Record, ServerModel, SwitchModel, generic_switch
from fabric.hardware.catalog.power import STATED, PowerRange, server_range, switch_range
from fabric.hardware.catalog.power_class import MAX, TYPICAL
from fabric.model.settings.site import OwnCatalog
from fabric.solver import Fields, parse, read_text

# --- power that a price file states ---------------------------------------------------------------------------

_MAX_W = 1_000_000
_FIGURES = {TYPICAL: "typical_w", MAX: "max_w"}
_HELD = "includes_optics"
Model = TypeVar("Model", bound=Record)


@dataclass(frozen=True, slots=True)
class StatedPower:
    """Of one model; None: not stated, the catalog's figure applies."""

    typical_w: int | None = None
    max_w: int | None = None
    includes_optics: tuple[str, ...] = ()  # which of the two hold a full set of optics

    def of(self, model: Model) -> Model:
        """The model with these figures. Whether a figure holds optics goes with the figure."""
        figures = {f"power_{key}": getattr(self, key) for key in _FIGURES.values()}
        return model.model_copy(
            update={key: watts for key, watts in figures.items() if watts is not None} | self._held(model)
        )

    def _held(self, model: Record) -> dict[str, object]:
        """Figures that include optics: as stated here for the figures stated here, else as in the catalog."""
        if not isinstance(model, SwitchModel):
            return {}
        kept = [name for name in model.power_includes_optics if getattr(self, _FIGURES[name]) is None]
        return {"power_includes_optics": (*kept, *self.includes_optics)}


def read_power(section: Fields, switches: Collection[str], servers: Collection[str]) -> dict[str, StatedPower]:
    """The section `power` by the catalog's names; `switches` and `servers` are those it may name."""
    section.refuse_unknown([*switches, *servers])
    stated = {}
    for name in section:
        if name not in switches and name not in servers:
            continue
        value = section.value(name)
        inner = section.section(name) if isinstance(value, dict) else None
        if inner is None or not any(key in inner for key in _FIGURES.values()):
            message = f"expected typical_w, max_w or both, got {show(value)}"
            section.error(name, message, f"`{name}: {{typical_w: 700, max_w: 1000}}`, watts of one device")
        if inner is not None:
            stated[name] = _stated(inner, name in switches)
    return stated


def _stated(inner: Fields, switch: bool) -> StatedPower:
    inner.refuse_unknown((*_FIGURES.values(), _HELD))
    watts = {name: inner.whole(key, 0, 1, _MAX_W) or None for name, key in _FIGURES.items()}
    typical, most, held = watts[TYPICAL], watts[MAX], _held(inner, switch)
    if typical and most and most < typical and held != (TYPICAL,):
        inner.error(
            _FIGURES[MAX], f"expected typical_w, {typical}, or more, got {most}", "check whether the two figures are swapped"
        )
    return StatedPower(typical, most, held)


def _held(inner: Fields, switch: bool) -> tuple[str, ...]:
    """`includes_optics`, of figures that stand beside it."""
    if _HELD not in inner:
        return ()
    words = inner.value(_HELD)
    if not switch:
        message = "expected for switches only: optics in NICs count as part of the network"
        inner.error(_HELD, message, "remove it; state the power of the server without its optics")
        return ()
    if not isinstance(words, list) or not words:
        inner.error(
            _HELD, f"expected a list of {' and '.join(_FIGURES)}, got {show(words)}", "use `[max]`, or `[typical, max]`"
        )
        return ()
    for word in words:
        if word not in tuple(_FIGURES):
            inner.error(_HELD, f"expected {' or '.join(_FIGURES)}, got {show(word)}", nearest(word, _FIGURES))
        elif _FIGURES[word] not in inner:
            message = f"{word}: {_FIGURES[word]} is missing"
            inner.error(_HELD, message, f"add `{_FIGURES[word]}: …` beside it")
    return tuple(name for name in _FIGURES if name in words)


# --- price file -----------------------------------------------------------------------------------------------

CODE = "FAB172"
WHAT = "a price file"
SHAPE = "a price file has `currency`, `switches`, `optics` and `cables`; see docs/prices-example.yaml"
PUE, YEARS = 1.3, 5  # unless the file or the command line says otherwise
_MAX_PRICE = 1e9  # of any price
_SUPPORTED = ("switches", "servers", "optics")
_KEYS = (
    *("about", "currency", *PLURALS.values(), "power"),
    *("discount_percent", "support_percent", "labour", "energy", "spares", "years"),
)


@dataclass(frozen=True)
class CablePrice:
    """What a cable costs: so much a piece and so much a metre."""

    each: float = 0.0
    per_metre: float = 0.0

    def of(self, length_m: float) -> float:
        return self.each + self.per_metre * length_m


@dataclass(frozen=True, kw_only=True)
class Prices:
    """List prices by the catalog's names; discounts, support, labour and energy."""

    currency: str
    switches: Mapping[str, float] = field(default_factory=dict)
    servers: Mapping[str, float] = field(default_factory=dict)
    optics: Mapping[str, float] = field(default_factory=dict)
    cables: Mapping[str, CablePrice] = field(default_factory=dict)
    discount_percent: Mapping[str, float] = field(default_factory=dict)  # by section
    support_percent: Mapping[str, float] = field(default_factory=dict)  # of the price paid, a year, by section
    labour: Mapping[str, float] = field(default_factory=dict)  # by kind of part, a piece that is put in
    per_kwh: float | None = None
    pue: float | None = None
    years: int | None = None
    spares: Spares = field(default_factory=Spares)
    power: Mapping[str, StatedPower] = field(default_factory=dict)  # of switches and servers, in place of the catalog's
    places: Mapping[str, Place] = field(default_factory=dict)  # where each section stands, for what it does not name

    def list_price(self, part: Part) -> float | None:
        """Of one piece before any discount; None where the file does not name it."""
        if part.kind == CABLE:
            found = self.cables.get(part.item)
            return None if found is None else found.of(part.length_m)
        table: Mapping[str, float] = getattr(self, PLURALS[part.kind])
        return table.get(part.item)

    def price(self, part: Part) -> float | None:
        """Of one piece, the discount taken off."""
        found = self.list_price(part)
        return None if found is None else found * (1 - self.discount_percent.get(PLURALS[part.kind], 0.0) / 100)

    def place(self, section: str) -> Place:
        """Where a section stands, or the file where it has none."""
        return self.places.get(section, self.places[""])


def powered(prices: Prices | None, name: str, model: Model) -> Model:
    """The model of that name, with the power that a price file states of it."""
    stated = prices.power.get(name) if prices else None
    return model if stated is None else stated.of(model)


def power_range(prices: Prices | None, name: str, model: SwitchModel | ServerModel) -> PowerRange:
    """Power of the model of that name, by what a price file states of it and by the catalog."""
    counted = powered(prices, name, model)
    found = switch_range(counted) if isinstance(counted, SwitchModel) else server_range(counted)
    stated = prices.power.get(name) if prices else None
    if stated is None:
        return found
    return found.based(STATED if stated.typical_w else None, STATED if stated.max_w else None)


def read(path: Path, own: OwnCatalog | None = None, shown: str | None = None) -> Prices:
    """A price file. `own` is the hardware that an intent declares. Raises InputError with every mistake."""
    return read_yaml(read_text(path, WHAT, shown), shown or str(path), own)


def read_yaml(text: str, name: str, extra_models: OwnCatalog | None = None) -> Prices:
    """As `read`, from a text."""
    report, extra_models = Report(), extra_models or OwnCatalog()
    top = Fields(parse(text, name, WHAT, SHAPE), name, report, CODE)
    top.refuse_unknown(_KEYS)
    top.text("about")
    switches, power = _switches(top, extra_models), top.section("power")
    servers = [*catalog.server_names(), *extra_models.servers]
    prices = Prices(
        currency=_currency(top),
        switches=_table(top, "switches", switches),
        servers=_table(top, "servers", servers),
        optics=_table(top, "optics", media.optics()),
        cables=_cables(top),
        discount_percent=_percents(top, "discount_percent", tuple(PLURALS.values()), 100),
        support_percent=_percents(top, "support_percent", _SUPPORTED, 100),
        labour=_labour(top),
        years=top.whole("years", YEARS, 1, 30) if "years" in top else None,
        spares=Spares(**_percents(top, "spares", tuple(PLURALS.values()), 100)),
        power=read_power(power, switches, servers) if power else {},
        places={"": Place(name), **{key: top.place(key) for key in top}},
    )
    prices = _energy(top, prices)
    report.raise_errors()
    return prices


def _currency(top: Fields) -> str:
    if "currency" not in top:
        top.missing("currency", "write a currency code of three letters, such as `currency: EUR`")
    word = top.text("currency", "EUR")
    if not re.fullmatch("[A-Z]{3}", word):
        top.error("currency", f"expected three capital letters, got {show(word)}", "use a currency code such as EUR or USD")
    return word


def _switches(top: Fields, own: OwnCatalog) -> list[str]:
    """Switches that the file may name: of the catalog, of the intent, and the generic models that it names."""
    named = {name for key in ("switches", "power") if isinstance(top.value(key), dict) for name in top.value(key)}
    generic = [name for name in sorted(map(str, named)) if generic_switch(name) is not None]
    return [*catalog.switch_names(), *own.switches, *generic]


def _table(top: Fields, key: str, known: Collection[str]) -> dict[str, float]:
    """Prices by name; a name that nothing has is a mistake, since the part that was meant would have no price."""
    section = top.section(key)
    if section is None:
        return {}
    section.refuse_unknown(known)
    return {name: section.number(name, 0, 0, _MAX_PRICE) for name in section}


def _cables(top: Fields) -> dict[str, CablePrice]:
    """`name: 40` a piece, or `name: {each: 25, per_metre: 4}`."""
    section = top.section("cables")
    if section is None:
        return {}
    section.refuse_unknown([*media.cables(), *media.fibres()])
    prices = {}
    for name in section:
        if isinstance(section.value(name), dict):
            inner = section.section(name)
            assert inner is not None
            inner.refuse_unknown(("each", "per_metre"))
            prices[name] = CablePrice(inner.number("each", 0, 0, _MAX_PRICE), inner.number("per_metre", 0, 0, _MAX_PRICE))
        else:
            prices[name] = CablePrice(section.number(name, 0, 0, _MAX_PRICE))
    return prices


def _percents(top: Fields, key: str, sections: Collection[str], most: float) -> dict[str, float]:
    """Percent by section; a single number applies to all of them, except spares of servers."""
    if key not in top:
        return {}
    if not isinstance(top.value(key), dict):
        percent = top.number(key, 0, 0, most)
        return {section: percent for section in sections if key != "spares" or section != "servers"}
    inner = top.section(key)
    assert inner is not None
    inner.refuse_unknown(sections)
    return {section: inner.number(section, 0, 0, most) for section in sections if section in inner}


def _labour(top: Fields) -> dict[str, float]:
    section = top.section("labour")
    if section is None:
        return {}
    keys = {f"per_{kind}": kind for kind in PLURALS}
    section.refuse_unknown(tuple(keys))
    return {kind: section.number(key, 0, 0, _MAX_PRICE) for key, kind in keys.items() if key in section}


def _energy(top: Fields, prices: Prices) -> Prices:
    section = top.section("energy")
    if section is None:
        return prices
    section.refuse_unknown(("per_kwh", "pue"))
    per_kwh = section.number("per_kwh", 0, 0, 1000) if "per_kwh" in section else None
    return replace(prices, per_kwh=per_kwh, pue=section.number("pue", PUE, 1, 5) if "pue" in section else None)


def unpriced(prices: Prices, parts: Collection[Part], report: Report) -> None:
    """A warning for every part without a price: totals omit it."""
    missing = sorted({(part.kind, part.item) for part in parts if prices.list_price(part) is None})
    for kind, item in missing:
        message = f"{PLURALS[kind]}: no price for {item}: totals exclude it"
        report.warn(CODE, prices.place(PLURALS[kind]), message, f"add `{item}: …`")
