"""The price file: cost and power of parts, in YAML. Every error has its place; docs/bom.md lists the keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Tag

from fabric.base.diagnostics import Place, Report
from fabric.base.inputs import BY_FORM, TEXT, InputFile, Mistake, Reading, Section, Within, means
from fabric.base.source import Path_
from fabric.deliver.bom.parts import CABLE, PANEL, PLURALS, Part, Spares
from fabric.hardware import catalog
from fabric.hardware.catalog import media
from fabric.hardware.catalog.models import Record, ServerModel, SwitchModel, generic_switch
from fabric.hardware.catalog.power import STATED, PowerRange, server_range, switch_range
from fabric.hardware.catalog.power_class import MAX, TYPICAL
from fabric.model.settings.site import OwnCatalog

# --- power that a price file states ---------------------------------------------------------------------------

_FIGURES = {TYPICAL: "typical_w", MAX: "max_w"}
_HELD = "includes_optics"
Model = TypeVar("Model", bound=Record)


@dataclass(frozen=True)
class StatedPower(Section):
    """Of one model; None: not stated, the catalog's figure applies."""

    typical_w: Annotated[int | None, Within(1, 1_000_000, "typical power of one device, in watts")] = None
    max_w: Annotated[int | None, Within(1, 1_000_000, "maximum power of one device, in watts")] = None
    includes_optics: Annotated[
        tuple[Literal["typical", "max"], ...],
        means("which of the figures hold a full set of optics: `[max]`, or `[typical, max]`", min_length=1),
    ] = ()

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


def _check_power(text: Reading[_File], stated: Mapping[str, StatedPower], switches: Collection[str]) -> None:
    """What of the section `power` does not fit together."""
    for name, power in stated.items():
        its: Path_ = ("power", name)
        typical, most, held = power.typical_w, power.max_w, power.includes_optics
        if typical is None and most is None:
            message = "expected typical_w, max_w or both, got a mapping"
            text.error(its, message, f"`{name}: {{typical_w: 700, max_w: 1000}}`, watts of one device")
        if typical and most and most < typical and held != (TYPICAL,):
            hint = "check whether the two figures are swapped"
            text.error((*its, "max_w"), f"expected typical_w, {typical}, or more, got {most}", hint)
        if held and name not in switches:
            message = "expected for switches only: optics in NICs count as part of the network"
            hint = "remove it; state the power of the server without its optics"
            text.error((*its, _HELD), message, hint)
        for word in held:
            if getattr(power, _FIGURES[word]) is None:
                hint = f"add `{_FIGURES[word]}: …` beside it"
                text.error((*its, _HELD), f"{word}: {_FIGURES[word]} is missing", hint)


# --- price file -----------------------------------------------------------------------------------------------

CODE = "FAB172"
PUE, YEARS = 1.3, 5  # unless the file or the command line says otherwise
PANEL_NAME = re.compile(PANEL + r"[1-9][0-9]{0,4}")
_SUPPORTED = ("switches", "servers", "optics")
Price = Annotated[float, Within(0, 1e9)]
Percent = Annotated[float, Within(0, 100)]


@dataclass(frozen=True)
class CablePrice(Section):
    """What a cable costs: so much a piece and so much a metre."""

    each: Price = 0.0
    per_metre: Price = 0.0

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


def _code(text: str) -> str:
    if not re.fullmatch("[A-Z]{3}", text):
        raise Mistake("expected three capital letters", "use a currency code such as EUR or USD")
    return text


_Percents = Annotated[
    Annotated[Percent, Tag("[value]")]
    | Annotated[dict[Literal["switches", "servers", "optics", "cables"], Percent], Tag("[mapping]")],
    BY_FORM,
]
_Support = Annotated[
    Annotated[Percent, Tag("[value]")] | Annotated[dict[Literal["switches", "servers", "optics"], Percent], Tag("[mapping]")],
    BY_FORM,
]


@dataclass(frozen=True, kw_only=True)
class _Energy(Section):
    per_kwh: Annotated[float | None, Within(0, 1000, "price of a kWh")] = None
    pue: Annotated[float | None, Within(1, 5, "power of the data center over that of its IT equipment")] = None


@dataclass(frozen=True, kw_only=True)
class _File(Section):
    """What a file may say, by its keys."""

    currency: Annotated[str, TEXT, AfterValidator(_code), means("currency code of three letters, such as `EUR`")]
    about: Annotated[str, TEXT] = ""
    switches: Annotated[dict[str, Price], means("list price of a switch, by model")] = field(default_factory=dict)
    servers: Annotated[dict[str, Price], means("list price of a server, by model")] = field(default_factory=dict)
    optics: Annotated[dict[str, Price], means("list price of a transceiver, by name")] = field(default_factory=dict)
    cables: Annotated[
        dict[str, Annotated[Annotated[Price, Tag("[value]")] | Annotated[CablePrice, Tag("[mapping]")], BY_FORM]],
        means("list price of a cable, by medium: `40` a piece, or `{each: 25, per_metre: 4}`"),
    ] = field(default_factory=dict)
    discount_percent: Annotated[_Percents, means("discount, by section or for all")] = field(default_factory=dict)
    support_percent: Annotated[_Support, means("support per year, of the price paid, by section or for all")] = field(
        default_factory=dict
    )
    spares: Annotated[_Percents | None, means("spare parts, by section or for all except servers")] = None
    labour: Annotated[
        dict[Literal["per_switch", "per_server", "per_optic", "per_cable"], Price], means("labour for one part")
    ] = field(default_factory=dict)
    energy: _Energy = field(default_factory=_Energy)
    years: Annotated[int | None, Within(1, 30, "years of operation that costs are for")] = None
    power: Annotated[dict[str, StatedPower], means("`{typical_w: 700, max_w: 1000}`, watts of one device, by model")] = field(
        default_factory=dict
    )


FILE = InputFile(
    _File,
    "a price file",
    "a price file has `currency`, `switches`, `optics` and `cables`; see docs/prices-example.yaml",
    CODE,
)


def read(path: Path, own: OwnCatalog | None = None, shown: str | None = None) -> Prices:
    """A price file. `own` is the hardware that an intent declares. Raises InputError with every mistake."""
    return read_yaml(FILE.read_text(path, shown), shown or str(path), own)


def read_yaml(text: str, name: str, extra_models: OwnCatalog | None = None) -> Prices:
    """As `read`, from a text."""
    tree, own = FILE.parse(text, name), extra_models or OwnCatalog()
    file = tree.model()
    named = sorted({*tree.names(("switches",)), *tree.names(("power",))})
    switches = [*catalog.switch_names(), *own.switches, *(name for name in named if generic_switch(name) is not None)]
    servers = [*catalog.server_names(), *own.servers]
    known = {
        "switches": switches,
        "servers": servers,
        "optics": media.optics(),
        "cables": [
            *media.cables(),
            *media.fibres(),
            *(name for name in tree.names(("cables",)) if PANEL_NAME.fullmatch(name)),
        ],
        "power": [*switches, *servers],
    }
    for section, names in known.items():
        tree.refuse_unknown((section,), names)
    if file is not None:
        _check_power(tree, file.power, switches)
    file = tree.checked(file)
    return Prices(
        currency=file.currency,
        switches=file.switches,
        servers=file.servers,
        optics=file.optics,
        cables={key: item if isinstance(item, CablePrice) else CablePrice(item) for key, item in file.cables.items()},
        discount_percent=_by_section(file.discount_percent, PLURALS.values()),
        support_percent=_by_section(file.support_percent, _SUPPORTED),
        labour={key.removeprefix("per_"): price for key, price in file.labour.items()},
        per_kwh=file.energy.per_kwh,
        pue=file.energy.pue,
        years=file.years,
        spares=Spares(**_by_section(file.spares, [section for section in PLURALS.values() if section != "servers"])),
        power=file.power,
        places={"": Place(name), **{key: tree.place((key,)) for key in tree.names()}},
    )


def _by_section(percents: Any, sections: Iterable[str]) -> dict[str, float]:
    """Percent by section; a single number applies to all of them."""
    return percents if isinstance(percents, dict) else {} if percents is None else dict.fromkeys(sections, percents)


def unpriced(prices: Prices, parts: Collection[Part], report: Report) -> None:
    """A warning for every part without a price: totals omit it."""
    missing = sorted({(part.kind, part.item) for part in parts if prices.list_price(part) is None})
    for kind, item in missing:
        message = f"{PLURALS[kind]}: no price for {item}: totals exclude it"
        report.warn(CODE, prices.place(PLURALS[kind]), message, f"add `{item}: …`")
