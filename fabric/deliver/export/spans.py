"""Runs of ports and of names in a few words: `1–32`, `dgx-h100-0001 – 0032`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from fabric.base.grouping import grouped_sets


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
