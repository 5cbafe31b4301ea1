"""Commands typed at the model of a switch: what it refuses, and what differs from the config that was meant."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from fabric.audit.checks import statement_differences
from fabric.audit.diff import remedy
from fabric.audit.drift.devices import commands_back
from tests.audit.diff.candidate import model as models
from tests.audit.diff.candidate.designs import FILE, changed, configs, drawn
from tests.audit.diff.candidate.device import RefusedError, Tree, loaded
from tests.audit.diff.candidate.drifting import drifted
from tests.audit.diff.candidate.model import Model

MODELS = ("eos", "nxos")
FROM_ONE = 6  # pairs of each kind that one design gives, at most

load = cache(models.load)


@dataclass(frozen=True)
class Case:
    """A pair of configs with the commands between them."""

    kind: str  # what the pair is
    running: str
    intended: str
    commands: tuple[str, ...]


def wrong(model: Model, running: str, intended: str, commands: Sequence[str]) -> list[str]:
    """What is wrong with commands between two configs, in either case of what a change takes along."""
    wanted = loaded(model, intended).shown()
    for forgets in (True, False):
        device = loaded(model, running, forgets=forgets)
        try:
            device.type(commands)
        except RefusedError as refused:
            return [f"refused: {refused}"]
        if found := sorted(differences(device.shown(), wanted)):
            return found
    return []


def differences(have: Tree, wanted: Tree, above: str = "") -> Iterator[str]:
    """Lines that are left over or missing, with their sections."""
    for line in have.keys() | wanted.keys():
        path = f"{above}{line}"
        if line not in wanted:
            yield f"left: {path}"
        elif line not in have:
            yield f"missing: {path}"
        else:
            yield from differences(have[line], wanted[line], f"{path} / ")


def failures(nos: str, case: Case) -> list[str]:
    return wrong(load(nos), case.running, case.intended, case.commands)


# --- cases --------------------------------------------------------------------------------------------------


def cases(nos: str, seed: int, pairs: int) -> Iterator[Case]:
    """The cases of a seed: pairs of switches with the commands both ways, and as many planned configs with their drift."""
    number = made = drifts = 0
    while made < pairs - pairs // 2 or drifts < pairs // 2:
        rng, design = random.Random(f"{nos}/{seed}/{number}"), drawn(nos, seed, number)
        number += 1
        first = configs(nos, design.intent, design.files)
        if not first:
            continue
        second = configs(nos, changed(rng, design.intent), design.files)
        found = [
            ("design and its change", first[name], text) for name, text in second.items() if first.get(name, text) != text
        ]
        found += [("two switches", first[one], first[two]) for one, two in [rng.sample(list(first), 2)] * (len(first) > 1)]
        for kind, old, new in rng.sample(found, min(FROM_ONE, len(found), pairs - pairs // 2 - made)):
            made += 1
            yield Case(kind, old, new, tuple(remedy.commands(nos, old, new)))
            yield Case(f"{kind}, back", new, old, tuple(remedy.commands(nos, new, old)))
        for planned in rng.sample(list(first.values()), min(FROM_ONE, len(first), pairs // 2 - drifts)):
            drifts += 1
            yield back(nos, planned, drifted(rng, load(nos), planned))


def back(nos: str, planned: str, running: str) -> Case:
    """The commands of drift."""
    found = statement_differences(nos, {FILE: planned}, {FILE: running})
    changes = commands_back(nos, {FILE: planned}, {FILE: running}, found)
    return Case("drift", running, planned, tuple(line for change in changes for line in change.lines))
