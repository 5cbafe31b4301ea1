"""What operators do to a running config: lines deleted, changed, added and moved, at random, as far as a switch takes it.

It knows no rule of the commands: it edits the tree of a config, and keeps an edit if the switch could have that config.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator

from tests.audit.diff.candidate.device import Device, Tree, loaded
from tests.audit.diff.candidate.model import Model

Sections = list[tuple[tuple[str, ...], Tree]]


def drifted(rng: random.Random, model: Model, planned: str, edits: int = 4) -> str:
    """A config that differs from the planned one by that many edits or fewer."""
    device = loaded(model, planned)
    for _ in range(edits):
        before = copy.deepcopy(device.config)
        rng.choice(EDITS)(rng, _sections(device.config))
        if next(device.problems(), None) is not None:
            device = Device(model, config=before)
    return "".join(_text(device.config))


def _sections(tree: Tree, above: tuple[str, ...] = ()) -> Sections:
    found: Sections = [(above, tree)]
    for line, below in tree.items():
        if below:
            found += _sections(below, (*above, line))
    return found


def _text(tree: Tree, margin: str = "") -> Iterator[str]:
    for line, below in tree.items():
        yield f"{margin}{line}\n"
        yield from _text(below, f"{margin}   ")


def _place(rng: random.Random, sections: Sections) -> tuple[Tree, str] | None:
    """A section and a line of it; sections of all kinds are as likely as each other."""
    kinds: dict[str, list[Tree]] = {}
    for path, tree in sections:
        kinds.setdefault(re.sub(r"\d+", "N", " ".join(part.split()[0] for part in path)), []).append(tree)
    tree = rng.choice(kinds[rng.choice(sorted(kinds))])
    return (tree, rng.choice(list(tree))) if tree else None


# --- edits --------------------------------------------------------------------------------------------------


def _delete(rng: random.Random, sections: Sections) -> None:
    if place := _place(rng, sections):
        tree, line = place
        del tree[line]


def _number(rng: random.Random, sections: Sections) -> None:
    """Another number in a line: an MTU, a VLAN, a VNI, an address, an AS number, a threshold."""
    if place := _place(rng, sections):
        tree, line = place
        numbers = list(re.finditer(r"\d+", line))
        if numbers:
            number = rng.choice(numbers)
            other = str(max(1, int(number[0]) + rng.choice((-2, -1, 1, 2, 10))))
            _replaced(tree, line, line[: number.start()] + other + line[number.end() :])


def _replaced(tree: Tree, line: str, other: str) -> None:
    if other in tree:
        return
    rest = {(other if old == line else old): below for old, below in tree.items()}
    tree.clear()
    tree.update(rest)


def _turned(rng: random.Random, sections: Sections) -> None:
    """On and off: `shutdown`, `switchport`, redirects, routing."""
    tree = rng.choice(sections)[1]
    toggles = [line for line in tree if line.startswith("no ") or line in ("shutdown", "switchport")]
    if toggles:
        line = rng.choice(toggles)
        _replaced(tree, line, line.removeprefix("no ") if line.startswith("no ") else f"no {line}")


def _exchanged(rng: random.Random, sections: Sections) -> None:
    """Two sections of one kind exchange a line, or all of them: addresses, VNIs, VLANs, VRFs."""
    path, one = rng.choice(sections)
    kind = path[-1].split()[0] if path else ""
    alike = [tree for other, tree in sections if other and other[:-1] == path[:-1] and other[-1].split()[0] == kind]
    two = rng.choice(alike) if alike else one
    if one is two:
        return
    if rng.random() < 0.4:
        for line in set(one) ^ set(two):
            (source, target) = (one, two) if line in one else (two, one)
            target[line] = source.pop(line)
        return
    word = rng.choice(list(one)).rpartition(" ")[0]
    mine, theirs = ([line for line in tree if word and line.startswith(f"{word} ")] for tree in (one, two))
    for lines, source, target in ((mine, one, two), (theirs, two, one)):
        for line in lines:
            target[line] = source.pop(line)


def _added(rng: random.Random, sections: Sections) -> None:
    """A line that another section of the kind has, or a whole section under another number."""
    path, one = rng.choice(sections)
    if path and rng.random() < 0.5:
        parent = next(tree for other, tree in sections if other == path[:-1])
        other = re.sub(r"\d+$", lambda number: str(int(number[0]) + rng.randint(1, 60)), path[-1])
        parent.setdefault(other, copy.deepcopy(one))
        return
    kind = path[-1].split()[0] if path else ""
    alike = [tree for other, tree in sections if other and other[-1].split()[0] == kind and tree is not one]
    if alike and (lines := list(rng.choice(alike))):
        one.setdefault(rng.choice(lines), {})


def _copied(rng: random.Random, sections: Sections) -> None:
    """The lines of another section of the kind in place of those that are there."""
    path, one = rng.choice(sections)
    alike = [tree for other, tree in sections if path and other and other[-1].split()[0] == path[-1].split()[0]]
    if alike:
        lines = copy.deepcopy(rng.choice(alike))
        kept = {line: below for line, below in one.items() if "address" in line}
        one.clear()
        one.update({line: below for line, below in lines.items() if "address" not in line} | kept)


EDITS: tuple[Callable[[random.Random, Sections], None], ...] = (
    _delete,
    _delete,
    _number,
    _number,
    _number,
    _turned,
    _exchanged,
    _exchanged,
    _added,
    _copied,
)
