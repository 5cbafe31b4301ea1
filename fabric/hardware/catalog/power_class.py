"""Bounds of power by class, for hardware without a data sheet, and how well they hold for hardware that has one.

A switch: base · rack units + watts for each Tb/s · Tb/s of its ports, by the generation of its chip. The watts for each Tb/s
are those of the data sheets of that generation (typical without optics; maximum less a full set of optics), least to most.
The sum is widened by a margin. A generation with fewer than two data sheets borrows those of its neighbors.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from fabric.base.formats import model_of, yaml
from fabric.base.schemas.models import Amount, Count, Document, Factor, Text, enum_of, itself, json_key, rounded
from fabric.hardware.catalog import media
from fabric.hardware.catalog.asics import asic_name
from fabric.hardware.catalog.models import Gbps, Record, ServerModel, SwitchModel, folded

FOLDER = Path(__file__).parent / "data" / "power"
TYPICAL, MAX = "typical", "max"
Figure = Annotated[str, enum_of((TYPICAL, MAX))]
MIN_DATASHEETS = 2  # data sheets that a generation is judged by
ROOMY_CAGES = 36  # cages of one rack unit


class Generation(Record):
    """Chips whose SerDes are alike."""

    name: str
    chips: tuple[str, ...]
    speeds_gbps: tuple[Gbps, ...] = Field(description="cages of a chip that is not known")
    source: str


class SwitchClasses(Record):
    """The rule for switches."""

    base_w_per_rack_unit: float = Field(ge=0)
    base_source: str
    margin: float = Field(ge=1)
    margin_source: str
    generations: tuple[Generation, ...] = Field(description="oldest first")


class Share(Record):
    """Part of another figure."""

    low: float
    typical: float
    high: float
    source: str


class Card(Record):
    """Watts of a card or of a plain server."""

    low: float
    typical: float
    high: float
    max: float
    basis: str = "class bound"
    source: str


class Gpu(Record):
    """The most that a GPU draws, in W."""

    low: float
    high: float
    source: str


class ServerClasses(Record):
    """The rule for servers."""

    typical_share: Share = Field(description="typical over maximum power of a GPU server")
    max_over_gpus: Share = Field(description="maximum power over the sum of its GPUs'")
    max_over_gpus_of_tray: Share = Field(description="the same of a tray of an NVLink domain")
    plain: Card
    gpus: dict[str, Gpu]
    unknown_gpu: Gpu


class Classes(Record):
    """Everything in classes.yaml."""

    switches: SwitchClasses
    optics: Share = Field(description="of the worst case in the tables of media")
    servers: ServerClasses
    nics: dict[str, Card] = Field(description="by the beginning of the model's name")


@dataclass(frozen=True, slots=True)
class Span:
    """A figure between two ends, in W or W per Tb/s."""

    low: float
    mid: float
    high: float

    def at_most(self, limit: float) -> Span:
        """The part of it that is not above a limit."""
        return Span(min(self.low, limit), min(self.mid, limit), min(self.high, limit))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Typical and worst-case power of a class, without optics."""

    typical: Span
    max: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasheetCheck:
    """A data sheet's figure against the bounds that are made without it."""

    switch: str
    figure: str  # typical or max
    watts: float
    low: float
    high: float
    second_hand: bool

    @property
    def inside(self) -> bool:
        return self.low <= self.watts <= self.high

    @property
    def ratio(self) -> float:
        """How far the bounds are apart."""
        return self.high / self.low


class FigureDocument(Document):
    switch: Text
    figure: Figure
    watts: Amount
    low: Annotated[Amount, rounded(1)]
    high: Annotated[Amount, rounded(1)]
    second_hand: bool = json_key("true: read where no document of the maker is named")
    inside: bool


class PowerCheckDocument(Document):
    """Figures of switches in W against the bounds of their class, made without the switch's own data sheet."""

    figures: list[FigureDocument] = json_key(of=itself)
    inside: Count = json_key("figures between their bounds", lambda checks: sum(check.inside for check in checks))
    median_ratio: Annotated[Factor, rounded(3)] = json_key(
        "upper over lower end", lambda checks: statistics.median(check.ratio for check in checks)
    )


@cache
def classes() -> Classes:
    """The rules and their sources."""
    return model_of(Classes, yaml.read(FOLDER / "classes.yaml"))


@cache
def references() -> Mapping[str, SwitchModel]:
    """Data sheets of switches that the catalog does not have."""
    return {name: model_of(SwitchModel, entry) for name, entry in yaml.read(FOLDER / "references.yaml").items()}


@cache
def sheets() -> Mapping[str, SwitchModel]:
    """Switches with a figure that was read somewhere, of the catalog and beside it."""
    from fabric.hardware import catalog

    found = {name: catalog.switch(name) for name in catalog.switch_names()}
    return {name: model for name, model in (found | dict(references())).items() if model is not None and model.power_source}


def switch_bounds(model: SwitchModel, without: str = "") -> Bounds:
    """Bounds of a switch by its class alone; `without` names a data sheet that is left out."""
    base, tbps, margin = _base_w(model), model.bandwidth_gbps / 1000, classes().switches.margin
    found = []
    for figure in (TYPICAL, MAX):
        per = per_tbps(figure, _generations(model), without)
        found.append(Span((base + tbps * per.low) / margin, base + tbps * per.mid, (base + tbps * per.high) * margin))
    return Bounds(*found)


def most_over_typical(model: SwitchModel) -> float:
    """The most that a worst case is of the typical power, both without optics, among the data sheets of the generation."""
    sheets_of_both = [its for its in _members(MAX, _generations(model), "") if its.power_typical_w]
    return max((_bare_w(its, MAX) / _bare_w(its, TYPICAL) for its in sheets_of_both), default=2.0)


def full_set_w(model: SwitchModel) -> float:
    """Watts of an optic in every cage, at worst: the hottest usual one of each speed."""
    return sum(group.count * _optic_w(group.speed_gbps) for group in model.ports)


def switch_source(model: SwitchModel) -> str:
    """The reasoning behind the bounds of a switch, in words."""
    names = " and ".join(classes().switches.generations[at].name for at in _generations(model))
    count = len(_members(TYPICAL, _generations(model), ""))
    rule = classes().switches
    return (
        f"{rule.base_w_per_rack_unit:g} W for each rack unit and the watts per Tb/s of {count} data sheets with {names}, "
        f"widened by {100 * (rule.margin - 1):g} %"
    )


def server_bounds(model: ServerModel) -> Bounds:
    """Bounds of a server by its GPUs, or of one without any."""
    rules = classes().servers
    if not model.gpus:
        plain = rules.plain
        return Bounds(Span(plain.low, plain.typical, plain.high), Span(plain.high, plain.max, plain.max))
    gpu, ratio, share = _gpu(model), _ratio(model), rules.typical_share
    low, mid, high = model.gpus * gpu.low, model.gpus * (gpu.low + gpu.high) / 2, model.gpus * gpu.high
    most = Span(low * ratio.low, mid * ratio.typical, high * ratio.high)
    return Bounds(Span(most.low * share.low, most.mid * share.typical, most.high * share.high), most)


def server_source(model: ServerModel) -> str:
    """The reasoning behind the bounds of a server, in words."""
    rules = classes().servers
    if not model.gpus:
        return rules.plain.source
    gpu, ratio = _gpu(model), _ratio(model)
    watts = f"{gpu.low:g}" if gpu.low == gpu.high else f"{gpu.low:g} to {gpu.high:g}"
    return f"{model.gpus} GPUs of {watts} W, and {ratio.low:g} to {ratio.high:g} times as much for the server at most"


def leave_out() -> list[DatasheetCheck]:
    """Every figure of a switch of the catalog against bounds that are made without its data sheet."""
    from fabric.hardware import catalog

    checks = []
    for name in catalog.switch_names():
        model = sheets().get(name)
        if model is None:
            continue
        bounds, optics_w = switch_bounds(model, without=name), full_set_w(model)
        for figure, watts, span in (
            (TYPICAL, model.power_typical_w, bounds.typical),
            (MAX, model.power_max_w, bounds.max),
        ):
            if watts is not None:
                held = optics_w if figure in model.power_includes_optics else 0.0
                checks.append(
                    DatasheetCheck(
                        switch=name,
                        figure=figure,
                        watts=watts,
                        low=span.low + held,
                        high=span.high + held,
                        second_hand=model.power_second_hand,
                    )
                )
    return checks


def _gpu(model: ServerModel) -> Gpu:
    return _gpus().get(folded(model.gpu), classes().servers.unknown_gpu)


@cache
def _gpus() -> dict[str, Gpu]:
    return {folded(name): its for name, its in classes().servers.gpus.items()}


def _ratio(model: ServerModel) -> Share:
    rules = classes().servers
    return rules.max_over_gpus_of_tray if model.fills_rack else rules.max_over_gpus


def _base_w(model: SwitchModel) -> float:
    units = model.rack_units or (1 if model.cages <= ROOMY_CAGES else 2)
    return units * classes().switches.base_w_per_rack_unit


def _bare_w(model: SwitchModel, figure: str) -> float:
    """A figure of a data sheet without optics."""
    watts = model.power_typical_w if figure == TYPICAL else model.power_max_w
    assert watts is not None
    return watts - (full_set_w(model) if figure in model.power_includes_optics else 0.0)


def _generations(model: SwitchModel) -> tuple[int, ...]:
    """Places of the generations that a switch may be of: that of its chip, else those whose cages are like its fastest."""
    every = classes().switches.generations
    chip = asic_name(model.asic)
    by_chip = tuple(at for at, generation in enumerate(every) if chip in generation.chips)
    if by_chip:
        return by_chip
    speed = min((gbps for generation in every for gbps in generation.speeds_gbps if gbps >= model.native_gbps), default=0)
    return tuple(at for at, generation in enumerate(every) if speed in generation.speeds_gbps) or (len(every) - 1,)


def _members(figure: str, generations: tuple[int, ...], without: str) -> list[SwitchModel]:
    """Data sheets with that figure in these generations; in the nearest around them where they are too few."""
    every = classes().switches.generations
    reach = 0
    while True:
        chips = {
            chip
            for at, generation in enumerate(every)
            if min(abs(at - its) for its in generations) <= reach
            for chip in generation.chips
        }
        models = [its for name, its in sheets().items() if name != without and its.asic in chips and _has(its, figure)]
        if len(models) >= MIN_DATASHEETS or reach >= len(every):
            return models
        reach += 1


def _has(model: SwitchModel, figure: str) -> bool:
    return (model.power_typical_w if figure == TYPICAL else model.power_max_w) is not None


@cache
def per_tbps(figure: str, generations: tuple[int, ...], without: str = "") -> Span:
    """Watts for each Tb/s above the base, of the data sheets of these generations."""
    each = sorted(
        max(0.0, _bare_w(its, figure) - _base_w(its)) / (its.bandwidth_gbps / 1000)
        for its in _members(figure, generations, without)
    )
    return Span(each[0], statistics.median(each), each[-1])


@cache
def _optic_w(speed_gbps: int) -> float:
    """Watts of the hottest usual optic of a cage of that speed; of a speed without one those of the next faster."""
    usual = [optic for optic in media.optics().values() if optic.usual and optic.speed_gbps >= speed_gbps]
    speed = min((optic.speed_gbps for optic in usual), default=0)
    return max((optic.power_w for optic in usual if optic.speed_gbps == speed), default=0.0)
