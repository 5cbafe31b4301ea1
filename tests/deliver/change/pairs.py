"""Random changes of random designs: the commands of every switch make its new files of the old, the inverse the old.

    python -m tests.deliver.change.pairs --os eos --pairs 1000 --seed 1 [--first 500] [--real] [--kinds]

A pair is a design and the same after one to four modifications (`modifying.py`), the first of which goes through all kinds
in turn; the new one keeps the numbers of the old one, as `fabric generate` keeps them, or not. A pair depends on its number
alone, so that runs of parts of them side by side are one run. `--real` gives the patches of SONiC to its own updater too.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fabric import pipeline
from fabric.audit.diff.configs import FileChange, changes_of_files
from fabric.audit.diff.design import renames
from fabric.base.diagnostics import InputError
from fabric.configs import Job, Renderer
from fabric.model.plan import Plan
from fabric.model.plan.lock import Lock
from tests.deliver.change.judging import Updater, unknown, wrong
from tests.deliver.change.modifying import Intent, design, is_without_file, kinds, modified, values
from tests.nos.sonic.updater.process import RealUpdater
from tests.system.random_designs import drawing

SYSTEMS = ("sonic", "cumulus", "eos", "nxos", "junos", "frr")
TRIES = 8  # for the first kind of a pair; then for the next one
DESIGNS = 40  # looked through for one that has what a kind modifies
SWITCHES = 3  # of a pair, at most
MORE = 3  # modifications beside the first
KEPT = 0.7  # share of the pairs whose second design keeps the numbers of the first
MAX_SWITCHES = 60  # of a design
Files = dict[str, str]


@dataclass(frozen=True)
class Edit:
    """The files of a switch in both designs."""

    device: str
    nos: str
    before: Files
    after: Files


@dataclass(frozen=True)
class Pair:
    """Two designs, the kinds of modification between them, and the switches whose files differ."""

    number: int
    kinds: tuple[str, ...]
    edits: tuple[Edit, ...]
    old: str
    new: str


@dataclass
class Count:
    """What a run found."""

    pairs: int = 0
    switches: int = 0
    files: int = 0
    unknown: Counter[str] = field(default_factory=Counter)  # lines that the model of the switch does not know
    kinds: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)


# --- drawing ----------------------------------------------------------------------------------------------------


def pairs(nos: str, seed: int, first: int = 0) -> Iterator[Pair]:
    """Pairs without end from that number on, the same in every run."""
    while True:
        yield pair(nos, seed, first)
        first += 1


def pair(nos: str, seed: int, number: int) -> Pair:
    """The pair of that number: of the first kind, from its place in the order of all kinds on, that changes a file."""
    order = [kind for kind in kinds() if not is_without_file(kind)]
    random.Random(f"{nos}/{seed}").shuffle(order)
    for at in range(len(order) * TRIES):
        kind = order[(number + 37 * (at // TRIES)) % len(order)]
        if found := _drawn(nos, seed, number, at, kind):
            return found
    raise AssertionError(f"no modification of any kind can be drawn for {nos}")


def _drawn(nos: str, seed: int, number: int, at: int, kind: str) -> Pair | None:
    """One trial: a design and its modifications; None where it has no plan, or no file of a switch differs."""
    rng = random.Random(f"{nos}/{seed}/{number}/{at}")
    for _ in range(DESIGNS):
        first = design(nos, seed, rng.randrange(10**6))
        after = copy.deepcopy(first.intent)
        if modified(rng, after, kind, values(nos), new=at % 4 == 3):
            break
    else:
        return None
    made = [kind]
    for other in _more(rng, number) if at % 2 else ():
        made += [other] if modified(rng, after, other, values(nos)) else []
    texts = first.text, drawing.Design("", after).text
    try:
        found = _edits(rng, nos, first, after)
    except Exception as crash:
        crash.add_note("\n".join((", ".join(made), *texts)))
        raise
    return Pair(number, tuple(made), found, *texts) if found else None


def _more(rng: random.Random, number: int) -> list[str]:
    """Kinds beside the first of a pair: those that change no file in turn, and any."""
    silent = [kind for kind in kinds() if is_without_file(kind)]
    return [silent[number % len(silent)], *rng.sample(kinds(), rng.randint(0, MORE))][: rng.randint(1, MORE)]


def _edits(rng: random.Random, nos: str, first: drawing.Design, after: Intent) -> tuple[Edit, ...]:
    """Switches whose files differ, a few of each role."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in first.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        try:
            old, renderer = _planned(folder, first.intent, None)
            new, other = _planned(folder, after, old.lock if rng.random() < KEPT else None)
            return tuple(_differing(rng, nos, (renderer, other), renames(old, new)))
        except InputError:
            return ()


def _planned(folder: Path, intent: Intent, lock: Lock | None) -> tuple[Plan, Renderer]:
    path = folder / f"{intent.get('site', 'site')}.yaml"
    path.write_text(drawing.Design("", intent).text, encoding="utf-8")
    loaded = pipeline.load(path, folder / "generated")
    plan = pipeline.plan(loaded, lock)
    if sum(len(fabric.devices) for fabric in plan.fabrics.values()) > MAX_SWITCHES:
        raise InputError([])
    return plan, pipeline.render(plan, loaded)


def _differing(rng: random.Random, nos: str, both: tuple[Renderer, Renderer], names: Mapping[str, str]) -> Iterator[Edit]:
    old, new = both
    before = {names.get(job.device.name, job.device.name): job for job in old.jobs(lambda _: True)}
    jobs = [job for job in new.jobs(lambda _: True) if job.device.name in before and job.device.nos == nos]
    rng.shuffle(jobs)
    seen: Counter[str] = Counter()
    for job in jobs:
        was = before[job.device.name]
        if (was.device.nos, was.device.model) != (nos, job.device.model) or seen[job.device.role] > SWITCHES // 2:
            continue
        files = _files(old, was), _files(new, job)
        if files[0] != files[1]:
            seen[job.device.role] += 1
            yield Edit(job.device.name, nos, *files)
        if seen.total() == SWITCHES:
            return


def _files(renderer: Renderer, job: Job) -> Files:
    return {path.split("/", 2)[2]: data.decode() for path, data in renderer.files(job)}


# --- judging ----------------------------------------------------------------------------------------------------


def judge(found: Pair, count: Count, real: Updater | None = None) -> list[str]:
    """What is wrong with the changes of a pair, in both directions."""
    count.pairs += 1
    count.kinds.update(found.kinds)
    amiss: list[str] = []
    for edit in found.edits:
        count.switches += 1
        for way, before, after in (("there", edit.before, edit.after), ("back", edit.after, edit.before)):
            for change in changes_of_files(edit.nos, before, after):
                count.files += 1
                if error := _judged(edit.nos, change, before.get(change.path, ""), after.get(change.path, ""), count, real):
                    what = ", ".join(found.kinds)
                    amiss.append(f"{edit.nos} {found.number} {edit.device} {change.path} {way} ({what}): {error}")
    count.failed += amiss
    return amiss


def _judged(nos: str, change: FileChange, old: str, new: str, count: Count, real: Updater | None) -> str:
    if line := unknown(nos, old, new) if old and new else "":
        count.unknown[line] += 1
        return ""
    return wrong(nos, change, old, new, real)


# --- command ----------------------------------------------------------------------------------------------------


def main() -> int:
    """Prints what is wrong, and the figures; 1 if a pair failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--os", choices=SYSTEMS, required=True)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first pair")
    parser.add_argument("--real", action="store_true", help="SONiC: its own updater takes the patches")
    parser.add_argument("--kinds", action="store_true", help="print how often each kind was drawn")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the intents of pairs that failed go")
    asked = parser.parse_args()
    count, start = Count(), time.process_time()
    real = Updater(RealUpdater()) if asked.real else None
    for number in range(asked.first, asked.first + asked.pairs):
        try:
            found = pair(asked.os, asked.seed, number)
            amiss = judge(found, count, real)
        except Exception as crash:  # an exception that is no diagnostic is a fault as well
            count.pairs = number - asked.first + 1
            count.failed.append(f"{asked.os} {number} {traceback.format_exc()} {crash.__notes__}")
            print(count.failed[-1], flush=True)
            continue
        print("".join(f"{line}\n" for line in amiss), end="", flush=True)
        if amiss and asked.keep:
            asked.keep.mkdir(parents=True, exist_ok=True)
            for side, text in (("old", found.old), ("new", found.new)):
                (asked.keep / f"{asked.os}-{asked.seed}-{number}-{side}.yaml").write_text(text, encoding="utf-8")
    print(report(count, asked.kinds))
    if real:
        print(", ".join(f"{number:,} {what}" for what, number in sorted(real.counts.items())))
    print(f"{asked.os}, seed {asked.seed}, pairs {asked.first} on: {time.process_time() - start:.0f} s of CPU")
    return 1 if count.failed else 0


def report(count: Count, with_kinds: bool) -> str:
    never = [kind for kind in kinds() if not count.kinds[kind]]
    failed = len({line.split(" ")[1] for line in count.failed})
    lines = [f"{kind}: {count.kinds[kind]}" for kind in kinds()] if with_kinds else []
    lines += [f"not known to the model: {line} ({times})" for line, times in count.unknown.most_common()]
    return "\n".join(
        (
            *lines,
            f"{count.pairs - failed} of {count.pairs} pairs right in both directions; {count.switches} switches, "
            f"{count.files} changed files, {count.unknown.total()} not judged",
            f"{len(kinds()) - len(never)} of {len(kinds())} kinds drawn, {count.kinds.total()} modifications",
            f"never drawn: {', '.join(never) or 'none'}",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
