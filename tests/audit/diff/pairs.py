"""Random pairs of configs: what is printed between them, applied to a model of the one, gives the other, in both directions.

    python -m tests.audit.diff.pairs --nos junos --pairs 1000 --seed 1

A pair is two switches of different random designs, one switch of a design and of the design after some changes, or a planned
config and what an engineer made of it. The last is changed back by the commands of `fabric drift`, all others by those of
`fabric diff`.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

from fabric.audit.checks.statements import statement_differences
from fabric.audit.diff import configs
from fabric.audit.diff.configs import FileChange
from fabric.audit.drift.devices import commands_back
from fabric.nos.dialect import UNIFIED
from tests.audit.diff.candidate import designs, edits, junos, nvue

FILES = {"junos": "juniper.conf", "cumulus": "startup.yaml"}
MAX_OF_DESIGN = 6  # pairs of one kind that a design gives


@dataclass(frozen=True)
class Pair:
    """Two configs of a switch."""

    what: str
    old: str
    new: str
    edited: bool = False  # the old one is a running config


def pairs(nos: str, seed: int) -> Iterator[Pair]:
    """Pairs without end, the same in every run."""
    before: dict[str, str] = {}
    for number in count():
        rng = random.Random(f"{nos}/{seed}/{number}")
        design = designs.drawn(nos, seed, number)
        texts = designs.configs(nos, design.intent, design.files, FILES[nos])
        names = sorted(texts)
        for name in rng.sample(names, min(len(names), 2)):
            if before:
                yield Pair(f"design {number} {name}: another design", rng.choice(list(before.values())), texts[name])
        for what in ("changed", "breakouts"):
            intent = designs.changed(rng, design.intent) if what == "changed" else _split(rng, design.intent)
            after = designs.configs(nos, intent, design.files, FILES[nos]) if texts else {}
            both = [name for name in names if name in after and after[name] != texts[name]]
            for name in rng.sample(both, min(len(both), MAX_OF_DESIGN)):
                yield Pair(f"design {number} {name}: {what}", texts[name], after[name])
        for name in rng.sample(names, min(len(names), MAX_OF_DESIGN)):
            what, running = edits.edited(nos, rng, texts[name])
            yield Pair(f"design {number} {name}: {what}", running, texts[name], edited=True)
        before = texts or before


def _split(rng: random.Random, intent: dict[str, Any]) -> dict[str, Any]:
    """The intent with other breakouts: other uplinks, spare ports."""
    new = copy.deepcopy(intent)
    for fabric in new["fabrics"].values():
        leaf = fabric["topology"].setdefault("leaf", {})
        leaf.pop("oversubscription", None)
        leaf |= {"uplinks": {"count": rng.choice((1, 2, 4, 8))}, "spare_server_ports": rng.randint(0, 4)}
    return new


# --- trials -------------------------------------------------------------------------------------------------------


def wrong(nos: str, pair: Pair) -> str:
    """What is wrong with the commands of a pair, "" for nothing."""
    file = FILES[nos]
    back = _lines(configs.changes_of_files(nos, {file: pair.new}, {file: pair.old}))
    if pair.edited:
        planned, running = {file: pair.new}, {file: pair.old}
        there = _lines(commands_back(nos, planned, running, statement_differences(nos, planned, running)))
    else:
        there = _lines(configs.changes_of_files(nos, {file: pair.old}, {file: pair.new}))
    for old, new, lines, way in ((pair.old, pair.new, there, "there"), (pair.new, pair.old, back, "back")):
        if found := TRIALS[nos](old, new, lines):
            return f"{way}: {found}"
    return ""


def _lines(changes: Iterable[FileChange]) -> list[str]:
    """The lines of a change; a text that sets the same is shown as a patch."""
    return [line for change in changes if change.form is not UNIFIED for line in change.lines]


def _junos(old: str, new: str, lines: list[str]) -> str:
    wanted = junos.Candidate(new)
    try:
        made = junos.Candidate(old).run(lines)
    except junos.Refused as refused:
        return str(refused)
    if made.state() != wanted.state():
        return "another configuration"
    return "" if made.check() == wanted.check() else f"commit check: {made.check()}"


def _cumulus(old: str, new: str, lines: list[str]) -> str:
    wanted = nvue.Switch(new)
    try:
        made = nvue.Switch(old).run(lines)
    except nvue.Refused as refused:
        return str(refused)
    return "" if made.applied == wanted.applied else "another configuration"


TRIALS: dict[str, Callable[[str, str, list[str]], str]] = {"junos": _junos, "cumulus": _cumulus}


def main() -> int:
    """Prints how many pairs are right, and every one that is not."""
    parser = argparse.ArgumentParser(prog="python -m tests.audit.diff.pairs", description=__doc__)
    parser.add_argument("--nos", choices=sorted(FILES), required=True)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    start = time.process_time()
    kinds: Counter[str] = Counter()
    failed = 0
    for pair in islice(pairs(asked.nos, asked.seed), asked.pairs):
        kinds[pair.what.partition(": ")[2].partition(",")[0]] += 1
        if found := wrong(asked.nos, pair):
            failed += 1
            print(f"{pair.what}: {found}")
    print(", ".join(f"{name} {count}" for name, count in kinds.most_common()))
    print(f"{asked.nos}, seed {asked.seed}: {asked.pairs - failed} of {asked.pairs} pairs right in both directions,", end=" ")
    print(f"{time.process_time() - start:.0f} s of CPU")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
