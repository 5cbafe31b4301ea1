"""Random pairs of configs: what is printed between them, applied to a model of the one, gives the other, in both directions.

    python -m tests.diff.pairs --nos junos --pairs 1000 --seed 1

A pair is two switches of different random designs, one switch of a design and of the design after a change (tenants moved and
renumbered, servers, QoS, border and pools changed), or a planned config and what an engineer made of it. The last is changed
back by the commands of `fabric drift`, all others by those of `fabric diff`.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fabric import pipeline
from fabric.checks.statements import statement_differences
from fabric.diagnostics import InputError
from fabric.diff import files
from fabric.diff.files import FileChange
from fabric.drift.commands import commands_back
from fabric.nos.dialect import UNIFIED
from tests.diff import edits, junos_candidate, nvue_candidate
from tests.system.random_designs import drawing

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
    number = 0
    while True:
        rng = random.Random(f"{nos}/{seed}/{number}")
        with patch.object(drawing, "SYSTEMS", (nos,)):
            design = drawing.draw(seed, number)
        number += 1
        texts = rendered(nos, design, design.intent)
        if not texts:
            continue
        names = sorted(texts)
        for name in rng.sample(names, min(len(names), 2)):
            if before:
                yield Pair(f"design {number - 1} {name}: another design", rng.choice(list(before.values())), texts[name])
        for what in rng.sample(sorted(CHANGES), 3):
            intent = copy.deepcopy(design.intent)
            CHANGES[what](rng, intent)
            after = rendered(nos, design, intent)
            both = [name for name in names if name in after and after[name] != texts[name]]
            for name in rng.sample(both, min(len(both), MAX_OF_DESIGN)):
                yield Pair(f"design {number - 1} {name}: {what}", texts[name], after[name])
        for name in rng.sample(names, min(len(names), MAX_OF_DESIGN)):
            what, running = edits.edited(nos, rng, texts[name])
            yield Pair(f"design {number - 1} {name}: {what}", running, texts[name], edited=True)
        before = texts


def rendered(nos: str, design: drawing.Design, intent: dict[str, Any]) -> dict[str, str]:
    """Switch → its file; none for a design that cannot be planned."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in {**design.files, "d.yaml": drawing.Design("d", intent).text}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        try:
            loaded = pipeline.load(folder / "d.yaml", folder / "generated")
            renderer = pipeline.render(pipeline.plan(loaded), loaded)
            return {
                job.device.name: data.decode()
                for job in renderer.jobs(lambda name: True)
                if job.device.nos == nos
                for path, data in renderer.files(job)
                if path.endswith(FILES[nos])
            }
        except InputError:
            return {}


# --- changes of a design ----------------------------------------------------------------------------------------


def _tenants(intent: dict[str, Any]) -> list[dict[str, Any]]:
    """Tenants of all fabrics, as dictionaries of the intent."""
    found = []
    for fabric in intent["fabrics"].values():
        tenants = fabric.get("tenants", [])
        found += tenants if isinstance(tenants, list) else [tenants]
    return found


def _vnis(rng: random.Random, intent: dict[str, Any]) -> None:
    for at, tenant in enumerate(_tenants(intent)):
        tenant["vni"] = 80_000 + at * 7 + rng.randint(0, 6)
        for network in tenant.get("networks", []):
            network["vni"] = 90_000 + rng.randint(0, 9_000)


def _exchanged(rng: random.Random, intent: dict[str, Any]) -> None:
    """The servers of two tenants change places, and so do names and networks."""
    tenants = _tenants(intent)
    for one, two in pairwise(tenants):
        for key in ("servers", "racks", "rails"):
            one[key], two[key] = two.get(key), one.get(key)
            for tenant in (one, two):
                if tenant[key] is None:
                    del tenant[key]


def _dropped(rng: random.Random, intent: dict[str, Any]) -> None:
    for fabric in intent["fabrics"].values():
        if isinstance(fabric.get("tenants"), list) and len(fabric["tenants"]) > 1:
            fabric["tenants"].pop(rng.randrange(len(fabric["tenants"])))


def _pools(rng: random.Random, intent: dict[str, Any]) -> None:
    intent["pools"] = {"loopback": f"10.{rng.randint(200, 220)}.0.0/16", "p2p": f"10.{rng.randint(221, 240)}.0.0/16"}


def _servers(rng: random.Random, intent: dict[str, Any]) -> None:
    for fabric in intent["fabrics"].values():
        groups = fabric["servers"] if isinstance(fabric["servers"], list) else [fabric["servers"]]
        for group in groups:
            group["count"] = max(1, group["count"] + rng.choice((-3, -1, 1, 2, 5)))


def _qos(rng: random.Random, intent: dict[str, Any]) -> None:
    for fabric in intent["fabrics"].values():
        fabric["qos"] = rng.choice(
            ({}, {"lossless_dscp": 34}, {"lossless_priority": 4}, {"watchdog_ms": 1200}, {"ecn": {"kmin_bytes": 90_000}})
        )


def _border(rng: random.Random, intent: dict[str, Any]) -> None:
    for fabric in intent["fabrics"].values():
        if not fabric["topology"].pop("attachments", None):
            fabric["topology"]["attachments"] = [{"name": "wan9", "links": 2, "external": {"asn": 64_777}}]


def _addressing(rng: random.Random, intent: dict[str, Any]) -> None:
    for fabric in intent["fabrics"].values():
        fabric.setdefault("underlay", {})["addressing"] = rng.choice(("ipv4", "unnumbered"))
        fabric["underlay"]["bfd"] = rng.random() < 0.5


def _shape(rng: random.Random, intent: dict[str, Any]) -> None:
    """Other breakouts: other uplinks, spare ports."""
    for fabric in intent["fabrics"].values():
        leaf = fabric["topology"].setdefault("leaf", {})
        leaf.pop("oversubscription", None)
        leaf["uplinks"] = {"count": rng.choice((1, 2, 4, 8))}
        leaf["spare_server_ports"] = rng.randint(0, 4)


CHANGES: dict[str, Callable[[random.Random, dict[str, Any]], None]] = {
    "VNIs": _vnis,
    "servers of tenants": _exchanged,
    "a tenant less": _dropped,
    "pools": _pools,
    "servers": _servers,
    "QoS": _qos,
    "border": _border,
    "addressing": _addressing,
    "breakouts": _shape,
}


# --- trials -------------------------------------------------------------------------------------------------------


def wrong(nos: str, pair: Pair) -> str:
    """What is wrong with the commands of a pair, "" for nothing."""
    file = FILES[nos]
    back = _lines(files.changes(nos, {file: pair.new}, {file: pair.old}))
    if pair.edited:
        planned, running = {file: pair.new}, {file: pair.old}
        there = _lines(commands_back(nos, planned, running, statement_differences(nos, planned, running)))
    else:
        there = _lines(files.changes(nos, {file: pair.old}, {file: pair.new}))
    for old, new, lines, way in ((pair.old, pair.new, there, "there"), (pair.new, pair.old, back, "back")):
        if found := TRIALS[nos](old, new, lines):
            return f"{way}: {found}"
    return ""


def _lines(changes: Iterable[FileChange]) -> list[str]:
    """The lines of a change; a text that sets the same is shown as a patch."""
    return [line for change in changes if change.form is not UNIFIED for line in change.lines]


def _junos(old: str, new: str, lines: list[str]) -> str:
    wanted = junos_candidate.Candidate(new)
    try:
        made = junos_candidate.Candidate(old).run(lines)
    except junos_candidate.Refused as refused:
        return str(refused)
    if made.state() != wanted.state():
        return "another configuration"
    return "" if made.check() == wanted.check() else f"commit check: {made.check()}"


def _cumulus(old: str, new: str, lines: list[str]) -> str:
    wanted = nvue_candidate.Switch(new)
    try:
        made = nvue_candidate.Switch(old).run(lines)
    except nvue_candidate.Refused as refused:
        return str(refused)
    return "" if made.applied == wanted.applied else "another configuration"


TRIALS: dict[str, Callable[[str, str, list[str]], str]] = {"junos": _junos, "cumulus": _cumulus}


def main() -> int:
    """Prints how many pairs are right, and every one that is not."""
    parser = argparse.ArgumentParser(prog="python -m tests.diff.pairs", description=__doc__)
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
