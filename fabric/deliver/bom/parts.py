"""What one orders: parts, how many of each are in use, and how many more lie on the shelf."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fabric.base.rounding import ceil_div

SWITCH, SERVER, OPTIC, CABLE = KINDS = ("switch", "server", "optic", "cable")
PLURALS = {SWITCH: "switches", SERVER: "servers", OPTIC: "optics", CABLE: "cables"}  # as files and options name them


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

    switches: float = 2.0
    servers: float = 0.0
    optics: float = 2.0
    cables: float = 2.0

    def of(self, part: Part, count: int) -> int:
        """Spares of a part of which so many are in use, rounded up."""
        rate = Fraction(repr(getattr(self, PLURALS[part.kind]))) / 100  # as written: 0.1 % of 1000 is 1
        return ceil_div(count * rate.numerator, rate.denominator)
