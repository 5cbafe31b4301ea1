"""What one orders, how much of it, and what it draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Annotated, Any

from fabric.base.rounding import ceil_div
from fabric.base.schemas.models import Amount, Count, Document, each_of, json_key, rounded
from fabric.hardware.catalog import power_class
from fabric.hardware.catalog.power import BASES, BOUND, OPTICS, PowerRange
from fabric.hardware.catalog.power_class import MAX, TYPICAL

SWITCH, SERVER, OPTIC, CABLE = KINDS = ("switch", "server", "optic", "cable")
PLURALS = {SWITCH: "switches", SERVER: "servers", OPTIC: "optics", CABLE: "cables"}  # as files and options name them
PANEL = "patch-panel-"  # item of a patch panel, ordered beside cables, with its ports behind


@dataclass(frozen=True, slots=True)
class Part:
    """One line of an order: `item` is the catalog's name, the one that a price file names."""

    kind: str  # one of KINDS
    item: str
    length_m: float = 0.0  # of cables; 0: has none

    @property
    def order(self) -> tuple[int, str, float]:
        """Switches before servers before optics before cables, then by name and length."""
        return KINDS.index(self.kind), self.item, self.length_m


@dataclass(frozen=True)
class Spares:
    """Percent of what is in use that is bought on top, by kind; a kind with a rate has one spare of every part at least.

    2 % is one for every 50: a switch of each model, an optic of each type, a cable of each type and length.
    """

    switches: Amount = 2.0
    servers: Amount = 0.0
    optics: Amount = 2.0
    cables: Amount = 2.0

    def of(self, part: Part, count: int) -> int:
        """Spares of a part of which so many are in use, rounded up."""
        rate = Fraction(repr(getattr(self, PLURALS[part.kind]))) / 100  # as written: 0.1 % of 1000 is 1
        return ceil_div(count * rate.numerator, rate.denominator)


# --- power ----------------------------------------------------------------------------------------------------
# Electrical power: of a device with its optics, in total, as heat and as energy of a year.
#
# A typical power lies between two ends, and the worst case is what a rack has to feed (fabric/hardware/catalog/power.py).
# Optics are added to figures that are without them; a figure that includes a full set (`power_includes_optics`) gets none. A
# total says how much of it is from data sheets, stated, or bounded by class. The worst case is never below the typical power.

BTU_PER_WH = 3.412142  # NIST SP 811: 1 Btu (International Table) is 1055.056 J
BTU_PER_TON = 12_000  # a ton of refrigeration, per hour
HOURS_PER_YEAR = 8760


@dataclass(frozen=True, slots=True)
class Draw:
    """Power of one device with its optics; `device` is None for optics alone."""

    device: PowerRange | None
    optics_w: float = 0.0  # at worst

    @property
    def typical_low_w(self) -> float:
        return self._typical(self.device.typical_low_w if self.device else 0.0, power_class.classes().optics.low)

    @property
    def typical_w(self) -> float:
        return self._typical(self.device.typical_w if self.device else 0.0, power_class.classes().optics.typical)

    @property
    def typical_high_w(self) -> float:
        return self._typical(self.device.typical_high_w if self.device else 0.0, power_class.classes().optics.high)

    @property
    def max_w(self) -> float:
        return max((self.device.max_w if self.device else 0.0) + self._optics_w(MAX), self.typical_high_w)

    def typical_by(self) -> Iterable[tuple[str, float]]:
        """Parts of the typical power, by where they come from."""
        if self.device:
            yield self.device.typical_basis, self.device.typical_w
        yield OPTICS, self._optics_w(TYPICAL) * power_class.classes().optics.typical

    def max_by(self) -> Iterable[tuple[str, float]]:
        """Parts of the worst case."""
        optics_w = self._optics_w(MAX)
        if self.device:
            yield self.device.max_basis, self.max_w - optics_w
        yield OPTICS, optics_w

    @property
    def bounded(self) -> bool:
        """Whether its typical power or its worst case is bounded by class."""
        return self.device is not None and BOUND in (self.device.typical_basis, self.device.max_basis)

    def _typical(self, device_w: float, share: float) -> float:
        """With optics that draw this share of what they do at worst."""
        return device_w + self._optics_w(TYPICAL) * share

    def _optics_w(self, figure: str) -> float:
        return 0.0 if self.device and figure in self.device.holds else self.optics_w


@dataclass(frozen=True, kw_only=True)
class Power:
    """A total in W, and where it comes from: basis → W, summing to the total."""

    typical_low_w: float = 0.0
    typical_w: float = 0.0
    typical_high_w: float = 0.0
    max_w: float = 0.0
    typical_by: Mapping[str, float] = field(default_factory=dict)
    max_by: Mapping[str, float] = field(default_factory=dict)
    bounded: Mapping[str, int] = field(default_factory=dict)  # devices of which a figure is bounded by class, by model

    def kwh_per_year(self, pue: float) -> float:
        """Energy of a year at typical power, cooling and losses of the building included."""
        return _kwh(self.typical_w, pue)

    def kwh_range(self, pue: float) -> tuple[float, float]:
        """The same at both ends of the typical power."""
        return _kwh(self.typical_low_w, pue), _kwh(self.typical_high_w, pue)

    def times(self, factor: float) -> Power:
        """Every figure times so much: at the meter, with the PUE."""
        return replace(
            self,
            typical_low_w=self.typical_low_w * factor,
            typical_w=self.typical_w * factor,
            typical_high_w=self.typical_high_w * factor,
            max_w=self.max_w * factor,
            typical_by={basis: watts * factor for basis, watts in self.typical_by.items()},
            max_by={basis: watts * factor for basis, watts in self.max_by.items()},
        )


Watts = Annotated[Amount, rounded(1)]
OLD_NAME = json_key(
    "old name of bounded_by_class", lambda power: {}, default=None, deprecated=True, json_schema_extra={"maxProperties": 0}
)


def _key(basis: str) -> str:
    return basis.replace(" ", "_").replace("-", "_")


def _by_basis(name: str) -> Any:
    return json_key(
        "parts of the figure by where they come from; absent: 0",
        lambda power: {_key(basis): watts for basis, watts in getattr(power, name).items()},
    )


class PowerDocument(Document):
    """Power in W."""

    typical_low_w: Watts = json_key("lower end of the typical power")
    typical_w: Watts
    typical_high_w: Watts = json_key("upper end of the typical power")
    max_w: Watts = json_key("worst case, the upper end where it is bounded")
    typical_by_basis: Annotated[dict[str, Watts], each_of(map(_key, BASES), required=())] = _by_basis("typical_by")
    max_by_basis: Annotated[dict[str, Watts], each_of(map(_key, BASES), required=())] = _by_basis("max_by")
    bounded_by_class: dict[str, Count] = json_key("devices of which a figure is bounded by class, by model", "bounded")
    unknown_typical: dict[str, Any] = OLD_NAME
    unknown_max: dict[str, Any] = OLD_NAME


def total(devices: Iterable[tuple[str, Draw, int]]) -> Power:
    """The sum over (model, power of one, how many)."""
    low, typical, high, most = 0.0, 0.0, 0.0, 0.0
    typical_by, max_by = dict.fromkeys(BASES, 0.0), dict.fromkeys(BASES, 0.0)
    bounded: dict[str, int] = {}
    for model, draw, count in devices:
        low += draw.typical_low_w * count
        typical += draw.typical_w * count
        high += draw.typical_high_w * count
        most += draw.max_w * count
        for into, parts in ((typical_by, draw.typical_by()), (max_by, draw.max_by())):
            for basis, watts in parts:
                into[basis] += watts * count
        if draw.bounded and count:
            bounded[model] = bounded.get(model, 0) + count
    return Power(
        typical_low_w=low,
        typical_w=typical,
        typical_high_w=high,
        max_w=most,
        typical_by=_some(typical_by),
        max_by=_some(max_by),
        bounded=dict(sorted(bounded.items())),
    )


def total_of(*parts: Power) -> Power:
    """The sum of several totals."""
    bounded: dict[str, int] = {}
    for part in parts:
        for model, count in part.bounded.items():
            bounded[model] = bounded.get(model, 0) + count
    return Power(
        typical_low_w=sum(part.typical_low_w for part in parts),
        typical_w=sum(part.typical_w for part in parts),
        typical_high_w=sum(part.typical_high_w for part in parts),
        max_w=sum(part.max_w for part in parts),
        typical_by=_some({basis: sum(part.typical_by.get(basis, 0.0) for part in parts) for basis in BASES}),
        max_by=_some({basis: sum(part.max_by.get(basis, 0.0) for part in parts) for basis in BASES}),
        bounded=dict(sorted(bounded.items())),
    )


def btu_per_hour(watts: float) -> float:
    """Heat to be carried away: every watt that goes in comes out warm."""
    return watts * BTU_PER_WH


def tons(watts: float) -> float:
    """The same in tons of refrigeration."""
    return btu_per_hour(watts) / BTU_PER_TON


def _kwh(watts: float, pue: float) -> float:
    return watts * pue * HOURS_PER_YEAR / 1000


def _some(parts: Mapping[str, float]) -> dict[str, float]:
    """Without what is nothing."""
    return {basis: watts for basis, watts in parts.items() if watts}
