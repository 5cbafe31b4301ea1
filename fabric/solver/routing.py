"""Modes of load balancing over equal-cost paths, as data: what `--routing` takes, and what pages and lines call it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Routing:
    """One mode; `ecmp/paths.py` has what it does."""

    name: str
    words: str  # in a line
    short: str  # in the name of a scenario
    meaning: str


ECMP, ADAPTIVE, SPRAY, STATIC = "ecmp", "adaptive", "spray", "static"
_ADAPTIVE = "adaptive routing: every switch sends each flowlet to the least loaded equal-cost path"
_STATIC = "static routing of InfiniBand: one path for each destination, as its manager computes it"
_ALL = (
    Routing(ECMP, "ECMP by hash", "ECMP", "ECMP: a hash of the five-tuple picks one path for every queue pair"),
    Routing(ADAPTIVE, "adaptive routing", "adaptive routing", _ADAPTIVE),
    Routing(SPRAY, "packet spraying", "spraying", "packet spraying: packets rotate over all equal-cost paths"),
    Routing(STATIC, "static routing", "static routing", _STATIC),
)
MODES = {item.name: item for item in _ALL}
