"""Electrical power: of a device with its optics, in total, as heat and as energy of a year.

A maker's figure of a switch applies to passive cables, and its optics are added; a figure that includes a full set of
optics is marked in the catalog (`power_includes_optics`), and none are added. An unknown figure is counted and named, never
guessed: a total that includes one is a lower bound. The worst case is never below the typical power.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fabric.catalog.models import ServerModel, SwitchModel

BTU_PER_WH = 3.412142  # NIST SP 811: 1 Btu (International Table) is 1055.056 J
HOURS_PER_YEAR = 8760
TYPICAL, MAX = "typical", "max"


@dataclass(frozen=True, slots=True)
class Draw:
    """Power of one device with its optics; where the maker's figure is not known, the optics alone."""

    typical_w: float
    max_w: float
    typical_known: bool = True
    max_known: bool = True


def of_switch(model: SwitchModel, optics_w: float) -> Draw:
    """A switch whose cages hold optics of so many watts."""
    return _draw(model, optics_w, model.power_includes_optics)


def of_server(model: ServerModel, optics_w: float) -> Draw:
    """A server with the optics in its NICs."""
    return _draw(model, optics_w, ())


def _draw(model: SwitchModel | ServerModel, optics_w: float, held: tuple[str, ...]) -> Draw:
    typical = (model.power_typical_w or 0) + (0.0 if TYPICAL in held else optics_w)
    most = (model.power_max_w or 0) + (0.0 if MAX in held else optics_w)
    return Draw(typical, max(typical, most), model.power_typical_w is not None, model.power_max_w is not None)


@dataclass(frozen=True)
class Power:
    """Total of the known figures, and the number of devices without a figure, by model."""

    typical_w: float = 0.0
    max_w: float = 0.0
    no_typical: Mapping[str, int] = field(default_factory=dict)
    no_max: Mapping[str, int] = field(default_factory=dict)

    @property
    def typical_whole(self) -> float | None:
        """Typical power where every figure is known."""
        return None if self.no_typical else self.typical_w

    @property
    def max_whole(self) -> float | None:
        return None if self.no_max else self.max_w

    def kwh_per_year(self, pue: float) -> float:
        """Energy of a year at typical power, cooling and losses of the building included."""
        return self.typical_w * pue * HOURS_PER_YEAR / 1000

    def as_dict(self) -> dict[str, object]:
        """`typical_w` and `max_w` total the known figures; devices without one are counted by model."""
        return {
            "typical_w": round(self.typical_w, 1),
            "max_w": round(self.max_w, 1),
            "unknown_typical": dict(self.no_typical),
            "unknown_max": dict(self.no_max),
        }


def total(devices: Iterable[tuple[str, Draw, int]]) -> Power:
    """The sum over (model, power of one, how many)."""
    typical, most = 0.0, 0.0
    no_typical: dict[str, int] = {}
    no_max: dict[str, int] = {}
    for model, draw, count in devices:
        typical += draw.typical_w * count
        most += draw.max_w * count
        if not draw.typical_known:
            no_typical[model] = no_typical.get(model, 0) + count
        if not draw.max_known:
            no_max[model] = no_max.get(model, 0) + count
    return Power(typical, most, dict(sorted(no_typical.items())), dict(sorted(no_max.items())))


def btu_per_hour(watts: float) -> float:
    """Heat to be carried away: every watt that goes in comes out warm."""
    return watts * BTU_PER_WH
