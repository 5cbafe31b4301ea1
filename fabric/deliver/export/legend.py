"""Colours and words of pictures: roles, planes and rails; runs of ports; bandwidths and counts as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.formats import palette
from fabric.base.formats.palette import Tone as Tone
from fabric.base.grouping import grouped_sets
from fabric.base.text import counted, trimmed
from fabric.model.plan import ATTACHED, CORE, KINDS, LEAF, SERVER, SERVER_LEAF, SPINE, FabricPlan

# --- colours by what they tell --------------------------------------------------------------------------------

NEUTRAL = Tone(*(colour.light for colour in palette.NEUTRAL))
PLANES = tuple(Tone(line.light, ground.light) for line, ground in palette.PLANES)
RAILS = tuple(colour.light for colour in palette.RAILS)
RAIL_GROUND = palette.RAIL_GROUND.light
ROLES = {role: palette.role(role) for role in (CORE, SPINE, LEAF, SERVER, ATTACHED)}
SERVERS = ROLES[SERVER]
GOOD, BUSY = (Tone(palette.BASE[name].light, palette.BASE[f"{name}-ground"].light) for name in ("good", "warn"))


def rail_colour(rail: int) -> str:
    """Of a leaf or network of this rail; without a rail the neutral one."""
    return RAILS[rail % len(RAILS)] if rail >= 0 else NEUTRAL.line


def plane_tone(plane: int, planes: int, role: str = "") -> Tone:
    """Of a plane where there are several; else that of the role, or the neutral one."""
    if planes > 1:
        return PLANES[plane % len(PLANES)]
    return ROLES[role] if role else NEUTRAL


# --- runs of ports and names ----------------------------------------------------------------------------------


def ports_span(ports: Iterable[tuple[int, int, int]]) -> str:
    """Ports as (cage, sub, split): `1–32`, `1–16 split 2×` of cages that are used whole, `7/1` of one that is not."""
    cages = grouped_sets(((split, cage), sub) for cage, sub, split in ports)
    whole: dict[int, list[int]] = {}
    parts: list[str] = []
    for (split, cage), subs in sorted(cages.items()):
        if len(subs) == max(split, 1):
            whole.setdefault(split, []).append(cage)
        else:
            parts += [f"{cage}/{sub + 1}" for sub in sorted(subs)]
    spans = [runs(of_split) + (f" split {split}×" if split > 1 else "") for split, of_split in whole.items()]
    return ", ".join(spans + parts)


def runs(numbers: Sequence[int], digits: int = 1) -> str:
    """`1–4, 7` of sorted numbers, each with so many digits at least; of a long row with a step `1, 3 … 31`."""
    steps = {b - a for a, b in pairwise(numbers)}
    text = [f"{number:0{digits}}" for number in numbers]
    if len(numbers) > 3 and len(steps) == 1 and steps != {1}:
        return f"{text[0]}, {text[1]} … {text[-1]}"
    starts = [0, *(at for at in range(1, len(numbers)) if numbers[at] != numbers[at - 1] + 1), len(numbers)]
    return ", ".join(text[a] if b - a == 1 else f"{text[a]}–{text[b - 1]}" for a, b in pairwise(starts))


def names_span(names: Sequence[str]) -> tuple[str, str]:
    """First and last of some names as two pieces: `leaf001`, `– 004`; where some lie between that are not meant, `… 007`."""
    first, last = names[0], names[-1]
    if len(names) == 1:
        return first, ""
    stem, tail = _split(last)
    if _split(first)[0] != stem or not tail:
        return first, f"– {last}"
    gapless = int(tail) - int(_split(first)[1] or 0) == len(names) - 1
    return first, f"{'–' if gapless else '…'} {tail}"


def _split(name: str) -> tuple[str, str]:
    """The stem of a name and its final number."""
    stem = re.sub("[0-9]+$", "", name)
    return stem, name[len(stem) :]


# --- numbers --------------------------------------------------------------------------------------------------

TIERS = {0: "no switches", 1: "one tier", 2: "two tiers", 3: "three tiers"}
_PER = {
    "server-leaf": "per server",
    "leaf-leaf": "between the leaves",
    "leaf-spine": "per leaf and spine",
    "spine-core": "per spine and core",
    "server-server": "between two servers",
    "peer-links": "between two leaves",
}


def bandwidth(gbps: int) -> str:
    """`800 Gb/s`, `409.6 Tb/s`, `6.55 Pb/s`."""
    if gbps < 1000:
        return f"{gbps} Gb/s"
    if gbps < 1_000_000:
        return f"{trimmed(gbps / 1000, 1)} Tb/s"
    return f"{trimmed(gbps / 1_000_000, 2)} Pb/s"


def span(values: Iterable[float]) -> str:
    """`2`, or `1–2` where they differ."""
    low, high = min(found := list(values)), max(found)
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"


def bundle(fabric: FabricPlan, kind: int) -> str:
    """`2 × 400G per leaf and spine`, counted on the links themselves."""
    here = fabric.links.kind == kind
    if not here.any():
        return "none"
    links = fabric.links
    a, b, speed = (column[here].astype(np.int64) for column in (links.a, links.b, links.speed_gbps))
    pairs = a if kind == SERVER_LEAF else a * len(fabric.devices) + b
    each = np.unique(pairs, return_counts=True)[1]
    return f"{_range(each)} × {_range(speed)}G {_PER[KINDS[kind]]}"


def totals(fabric: FabricPlan, kind: int) -> str:
    """`1,024 links, 409.6 Tb/s`."""
    speed = fabric.links.speed_gbps[fabric.links.kind == kind]
    return f"{counted(len(speed), 'link')}, {bandwidth(int(speed.sum(dtype=np.int64)))}"


def _range(values: NDArray[Any]) -> str:
    return span((int(values.min()), int(values.max())))
