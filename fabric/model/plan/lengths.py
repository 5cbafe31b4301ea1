"""Cable lengths that a fabric is planned with: one per kind of link, from the intent, the floor plan or the lock file."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fabric.model.plan.links import ATTACHMENT, KINDS, LEAF_LEAF, LEAF_SPINE, SERVER_LEAF, SPINE_CORE

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


CLASSES_M = (5, 10, 20, 50, 100, 300)


BEYOND_M = (500, 1000, 2000)  # then every 1000 m; a fabric that needs one is warned of it


TOLERANCE_M = 1e-6


LONGER_WARNING = "FAB192"


ENDS = {
    SERVER_LEAF: "between a server and its leaf",
    LEAF_LEAF: "between the two leaves",
    LEAF_SPINE: "between a leaf and a spine",
    SPINE_CORE: "between a spine and a core",
    ATTACHMENT: "between a leaf and an attachment",
}


def class_of(metres: float) -> int:
    """The smallest class that covers a length."""
    fits = (size for size in (*CLASSES_M, *BEYOND_M) if metres <= size + TOLERANCE_M)
    return next(fits, math.ceil((metres - TOLERANCE_M) / 1000) * 1000)


def words(lengths: Lengths) -> str:
    """`server-leaf 10 m (floor plan: longest 7.3 m), leaf-spine 30 m (stated)`."""
    return ", ".join(f"{kind} {its.metres} m ({source(its)})" for kind, its in zip(KINDS, lengths, strict=True) if its.source)


def source(length: Length) -> str:
    """Where a length comes from: `stated`, `floor plan: longest 7.3 m`."""
    if length.source == STATED:
        return "stated"
    return f"{'lock file' if length.source == LOCK else 'floor plan'}: longest {length.longest_m:g} m"


def longer_text(its: Longer) -> tuple[str, str]:
    """Message and hint."""
    kind = KINDS[its.kind]
    return (
        f"expected cables of at most {its.stated_m} m {ENDS[its.kind]}, as PFC headroom assumes, got {its.count:,} longer on "
        f"the floor plan, the longest {its.longest_m:g} m",
        f"set `cable_length_m: {{{kind}: {class_of(its.longest_m)}}}`, or leave it out to follow the floor plan: "
        "too little headroom drops packets",
    )
