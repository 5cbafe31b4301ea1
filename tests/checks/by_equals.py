"""Damaged lines judged by the configs of the design alone: the last table of `docs/statements.md`.

Four racks: every leaf and spine has at least two equals. The damaged files that have an effect (an error with the plan)
are judged as `fabric check --configs DIR` does. Damage is found when an error or a warning names the damaged switch. A
random part of the damage of every switch is judged, or all of it with `--files 0`.

    python -m tests.checks.by_equals [NOS…] [SHAPE…] [--files N]    the counts, and what is missed
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fabric.checks import NOTE, Finding, Network
from fabric.checks.equals.roles import Outlines, stem
from fabric.checks.folder import check_network
from fabric.facts import Facts
from fabric.nos.reading import read_device
from tests.checks.damage import ADDED_LINE, CHANGED, DELETED, SWAPPED, Damage, damages
from tests.checks.every_line import FOUND, SEED, Judge, share_of, table_of
from tests.checks.principle import texts, unseen
from tests.checks.shapes import SHAPES, SYSTEMS, Switch, samples, switches

RACKS = 4
EQUALS = 3  # devices of a role
FILES = 12  # damaged files per switch


@dataclass
class Rates:
    """Counts of one network OS.

    Attributes:
        counts: (kind of damage, severity of the worst finding on the switch or "") → damaged files with an effect.
        codes: code of a finding on the switch → damaged files.
        missed: damage without a finding, as text.
        reasons: (kind of damage, why it cannot be seen, or GAP) → missed damage.
        blamed: damage with an error or a warning on other switches alone.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    blamed: int = 0

    def add(self, other: Rates) -> None:
        """The counts of another switch."""
        self.counts += other.counts
        self.codes += other.codes
        self.missed += other.missed
        self.reasons += other.reasons
        self.blamed += other.blamed

    def of(self, kind: str) -> tuple[int, int]:
        """(found, all) of a kind of damage."""
        every = {severity: self.counts[kind, severity] for severity in ("error", "warning", "")}
        return every["error"] + every["warning"], sum(every.values())


class Alone:
    """The other switches of a design, read once."""

    def __init__(self, switch: Switch) -> None:
        self.switch, self.outlines = switch, Outlines()
        self.outlines.keep(self.others)

    @cached_property
    def others(self) -> tuple[Facts, ...]:
        """Facts of the other switches."""
        return tuple(read_device(peer.view.device.name, peer.nos, peer.files) for peer in self.peers)

    @cached_property
    def peers(self) -> tuple[Switch, ...]:
        """The other switches."""
        every, own = switches(self.switch.nos, self.switch.shape, RACKS), self.switch.view.device.name
        return tuple(peer for peer in every if peer.view.device.name != own)

    def unseen(self, damage: Damage) -> str:
        """Why a missed damage cannot be seen, or GAP."""
        role = stem(self.switch.view.device.name)
        equals = [text for peer in self.peers if stem(peer.view.device.name) == role for text in peer.files.values()]
        others = [text for peer in self.peers for text in peer.files.values()]
        return unseen(damage, self.switch.files[damage.file], equals, others + texts(self.switch.files, damage.file))

    def findings(self, damage: Damage) -> list[Finding]:
        """Errors and warnings of a design with one damaged file."""
        files = {**self.switch.files, damage.file: damage.text}
        facts = read_device(self.switch.view.device.name, self.switch.nos, files)
        network = Network(tuple(sorted([*self.others, facts], key=lambda facts: facts.name)))
        found, _ = check_network(network, self.outlines.copy())
        return [finding for finding in found if finding.severity != NOTE]


def judged(switch: Switch, files: int) -> Rates:
    """A random part of the damage of one switch."""
    chance = random.Random(f"{SEED} {switch.nos} {switch.shape} {switch.view.device.name}")
    judge, alone, result = Judge(switch), Alone(switch), Rates()
    every = list(damages(switch))
    chance.shuffle(every)
    done = 0
    for damage in every:
        if files and done == files:
            break
        if judge.outcome(damage) != FOUND:
            continue
        done += 1
        found = alone.findings(damage)
        own = [finding for finding in found if finding.device == switch.view.device.name]
        worst = min((finding.severity for finding in own), default="")
        result.counts[damage.kind, worst] += 1
        result.codes.update({finding.id for finding in own})
        result.blamed += bool(found and not own)
        if not own:
            place = f"{switch.shape} {switch.view.device.name} {damage.file}:{damage.line + 1}"
            was = [*switch.files[damage.file].split("\n"), ""][damage.line]
            result.reasons[damage.kind, reason := alone.unseen(damage)] += 1
            result.missed.append(f"{place} ({reason}) {damage.kind}: {damage.what.strip()}   [{was.strip()}]")
    return result


def with_equals(nos: str, shapes: Sequence[str] = tuple(SHAPES)) -> Iterator[Switch]:
    """The first switch of each role that has at least two equals."""
    for shape in shapes:
        counts = Counter(stem(switch.view.device.name) for switch in switches(nos, shape, RACKS))
        yield from (own for own in samples(nos, shape, RACKS) if counts[stem(own.view.device.name)] >= EQUALS)


def rates(nos: str, files: int = FILES, shapes: Sequence[str] = tuple(SHAPES)) -> Rates:
    """The counts of a network OS."""
    result = Rates()
    for switch in with_equals(nos, shapes):
        result.add(judged(switch, files))
    return result


SECTION = """## Without a plan

`fabric check --configs DIR` on the configs of the whole design, of four racks: every switch has at least two equals. Of the
damage above, {files} random damaged files per switch that have an effect are judged, {cases:,} in all. *Found*: an error or a
warning on the damaged switch. The interval is that of 95 % (Wilson). `python -m tests.checks.by_equals NOS --files N` judges
more of one network OS and lists what is missed; `--files 0` judges all.

{table}

What no comparison of configs can see:

* *Changed*: a value that is a device's own and that no other file repeats, such as the address of a server's port, an entry
  of its own prefix list, a name that occurs once, the speed, FEC or breakout of a single port.
* *Deleted*: a statement of an object that only this device has, or one that switches of its role have by use: a VLAN, a
  VRF, `shutdown` of a used port. A statement that is missing together with all that refers to it.
* *Added*: a valid statement that the others do not have. A route, a VLAN or a neighbor that is new on one device is no fault
  as such.
* *Swapped*: entries of a list whose order only the intent knows.
* A fault that two devices of a role of three have, or all.
"""


def section() -> str:
    """The part of `docs/statements.md`."""
    found = {nos: rates(nos) for nos in SYSTEMS}
    rows = []
    for nos, result in found.items():
        kinds = [result.of(kind) for kind in (DELETED, CHANGED, SWAPPED, ADDED_LINE)]
        hits, every = (sum(column) for column in zip(*kinds, strict=True))
        low, high = wilson(hits, every)
        shares = [f"{part} of {whole}" for part, whole in kinds]
        rows.append([nos, *shares, f"{hits} of {every}", share_of(hits, every), f"{100 * low:.0f} to {100 * high:.0f} %"])
    table = table_of(["network OS", DELETED, CHANGED, SWAPPED, ADDED_LINE, "all", "share", "interval"], rows)
    cases = sum(sum(result.counts.values()) for result in found.values())
    return SECTION.format(files=FILES, cases=cases, table=table)


def wilson(part: int, whole: int, z: float = 1.96) -> tuple[float, float]:
    """The interval of a share: Wilson (1927), Journal of the American Statistical Association 22."""
    if not whole:
        return 0.0, 1.0
    share, spread = part / whole, z * z / whole
    middle, half = share + spread / 2, z * math.sqrt(share * (1 - share) / whole + spread / (4 * whole))
    return (middle - half) / (1 + spread), (middle + half) / (1 + spread)


def main() -> None:
    """The counts and what is missed."""
    words = sys.argv[1:]
    files = int(words.pop(words.index("--files") + 1)) if "--files" in words else FILES
    shapes = [word for word in words if word in SHAPES] or tuple(SHAPES)
    for nos in [word for word in words if word in SYSTEMS] or SYSTEMS:
        result = rates(nos, files, shapes)
        for kind in sorted({kind for kind, _ in result.counts}):
            found, every = result.of(kind)
            print(f"{nos} {kind}: {found} of {every} = {100 * found / every:.0f} %", flush=True)
        print(dict(result.codes.most_common(12)), "only others blamed:", result.blamed)
        for (kind, reason), count in sorted(result.reasons.items()):
            print(f"   missed, {kind}, {reason}: {count}")
        print("\n".join(f"   {line[:200]}" for line in result.missed))


if __name__ == "__main__":
    main()
