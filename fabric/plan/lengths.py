"""Cable lengths that a fabric is planned with: one per kind of link, from the intent, the floor plan or the lock file."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.plan.links import KINDS

STATED = "stated"  # `cable_length_m` of the intent
FLOOR = "floor"  # the class that covers the floor plan of the finished fabric
LOCK = "lock"  # a longer class that is in service


@dataclass(frozen=True)
class Length:
    """The cable length that headroom, reach and propagation delay are computed for."""

    metres: int
    source: str = ""  # "" for a kind of link that the fabric has not
    longest_m: float = 0.0  # the longest cable of the floor plan, for a class


Lengths = tuple[Length, ...]  # by kind, as KINDS

NONE: Lengths = (Length(0),) * len(KINDS)

WORDS = {STATED: "stated", FLOOR: "floor plan", LOCK: "lock file", "": ""}


@dataclass(frozen=True)
class Longer:
    """Cables of one kind that are longer than the length that is stated for it."""

    kind: int
    stated_m: int
    count: int
    longest_m: float
