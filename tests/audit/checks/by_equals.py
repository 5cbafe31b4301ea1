"""Damaged lines judged by the configs of the design alone.

Four racks: every leaf and spine has at least two equals. The damaged files that have an effect (an error with the plan)
are judged as `fabric check --configs DIR` does. Damage is found when an error or a warning names the damaged switch. Here a
random part of the damage of every switch is judged; `all_damage` judges all, `by_equals_page` makes tables of its counts.

    python -m tests.audit.checks.by_equals [NOS…] [SHAPE…] [--files N]    the counts, and what is missed; N = 0 for all
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from fabric.audit.checks import NOTE, Finding, Network
from fabric.audit.checks.role_peers.outline import Outline
from fabric.audit.checks.role_peers.roles import Outlines, stem
from fabric.audit.checks.run import check_network
from fabric.model.facts import Facts
from fabric.nos.reading import read_device
from tests.audit.checks.damage import ADDED_LINE, CHANGED, DELETED, NUMBER, SWAPPED, Damage, damages
from tests.audit.checks.every_line import FOUND, SEED, Judge
from tests.audit.checks.principle import changed_words, texts, unseen
from tests.audit.checks.shapes import SHAPES, SYSTEMS, Switch, samples, switches

RACKS = 4
EQUALS = 3  # devices of a role
FILES = 12  # damaged files per switch
KINDS = (DELETED, CHANGED, SWAPPED, ADDED_LINE)
COUNTS = Path(__file__).with_suffix(".json")  # what was counted of all damage


@dataclass(frozen=True)
class Missed:
    """Damage without a finding on its switch."""

    kind: str
    file: str
    line: int  # of the original, from 1
    what: str
    was: str  # the line before
    reason: str  # why it cannot be seen, or GAP
    weight: int = 1  # damaged files that it stands for

    @property
    def form(self) -> str:
        """The line without its numbers, with the changed word marked."""
        text = self.was
        if self.kind == CHANGED:
            old, _ = changed_words(self.was, self.what)
            text = re.sub(rf"(?<![^\s{{}}\[\]\",;:]){re.escape(old)}(?![^\s{{}}\[\]\",;:])", f"«{old}»", text, count=1)
        return NUMBER.sub("#", text) if self.kind != ADDED_LINE else self.what


@dataclass
class Rates:
    """Counts of the damage of some switches.

    Attributes:
        counts: (kind of damage, severity of the worst finding on the switch or "") → damaged files with an effect.
        codes: code of a finding on the switch → damaged files.
        missed: damage without a finding.
        blamed: kind of damage → damage with an error or a warning on other switches alone.
        judged: damaged files that were judged; each may stand for several.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    missed: list[Missed] = field(default_factory=list)
    blamed: Counter[str] = field(default_factory=Counter)
    judged: int = 0

    def add(self, other: Rates) -> None:
        """The counts of another switch."""
        self.counts += other.counts
        self.codes += other.codes
        self.missed += other.missed
        self.blamed += other.blamed
        self.judged += other.judged

    def of(self, *kinds: str) -> tuple[int, int]:
        """(found, all) of kinds of damage."""
        found = sum(count for (kind, severity), count in self.counts.items() if kind in kinds and severity)
        return found, found + sum(self.counts[kind, ""] for kind in kinds)

    @property
    def reasons(self) -> Counter[tuple[str, str]]:
        """(kind of damage, why it cannot be seen, or GAP) → missed damage."""
        found = Counter[tuple[str, str]]()
        for one in self.missed:
            found[one.kind, one.reason] += one.weight
        return found

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "judged": self.judged,
            "counts": [[*key, count] for key, count in sorted(self.counts.items())],
            "codes": dict(sorted(self.codes.items())),
            "blamed": dict(sorted(self.blamed.items())),
            "missed": [asdict(one) for one in self.missed],
        }

    @classmethod
    def from_dict(cls, read: Mapping[str, Any]) -> Rates:
        """What `as_dict` made."""
        counts = Counter({(kind, severity): count for kind, severity, count in read["counts"]})
        missed = [Missed(**one) for one in read["missed"]]
        return cls(counts, Counter(read["codes"]), missed, Counter(read["blamed"]), read["judged"])


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

    @cached_property
    def facts(self) -> Facts:
        """Facts of the switch before the damage."""
        return read_device(self.switch.view.device.name, self.switch.nos, self.switch.files)

    @cached_property
    def outline(self) -> Outline:
        """Statements of the switch before the damage."""
        return self.outlines.copy().of(self.facts)

    @cached_property
    def cabled(self) -> frozenset[str]:
        """Ports of the switch whose far end is in the folder."""
        links = Network((*self.others, self.facts)).links
        return frozenset(end.interface.name for link in links for end in link if end.facts is self.facts)

    def unseen(self, damage: Damage) -> str:
        """Why a missed damage cannot be seen, or GAP."""
        role = stem(self.switch.view.device.name)
        equals = [text for peer in self.peers if stem(peer.view.device.name) == role for text in peer.files.values()]
        others = [text for peer in self.peers for text in peer.files.values()]
        original = self.switch.files[damage.file]
        return unseen(damage, original, equals, others + texts(self.switch.files, damage.file), self._ports(damage))

    def _ports(self, damage: Damage) -> dict[str, bool]:
        """Ports that the statements of a line are about → whether their far end is in the folder."""
        here = damage.file, damage.line + 1
        rows = [row for row in self.outline.all_rows if (row.place.file, row.place.line) == here]
        words = {word for row in rows for part in row.path for word in re.findall(r"[^\s|{}]+", part)}
        return {name: name in self.cabled for name in sorted(words & self.facts.interfaces.keys())}

    def findings(self, damage: Damage) -> list[Finding]:
        """Errors and warnings of a design with one damaged file."""
        files = {**self.switch.files, damage.file: damage.text}
        facts = read_device(self.switch.view.device.name, self.switch.nos, files)
        network = Network(tuple(sorted([*self.others, facts], key=lambda facts: facts.name)))
        found, _ = check_network(network, self.outlines.copy())
        return [finding for finding in found if finding.severity != NOTE]

    def count(self, damage: Damage, result: Rates, weight: int = 1) -> None:
        """Judges a damaged file that has an effect."""
        found = self.findings(damage)
        own = [finding for finding in found if finding.device == self.switch.view.device.name]
        worst = min((finding.severity for finding in own), default="")
        result.judged += 1
        result.counts[damage.kind, worst] += weight
        result.codes.update({finding.id for finding in own})
        if found and not own:
            result.blamed[damage.kind] += weight
        if not own:
            what, was, reason = damage.what.strip(), line_of(self.switch, damage).strip(), self.unseen(damage)
            result.missed.append(
                Missed(
                    kind=damage.kind, file=damage.file, line=damage.line + 1, what=what, was=was, reason=reason, weight=weight
                )
            )


def judged(switch: Switch, files: int = 0) -> Rates:
    """A random part of the damage of one switch with an effect; all of it for 0."""
    chance = random.Random(f"{SEED} {switch.nos} {switch.shape} {switch.view.device.name}")
    judge, alone, result = Judge(switch), Alone(switch), Rates()
    every = list(damages(switch))
    chance.shuffle(every)
    for damage in every:
        if files and result.judged == files:
            break
        if judge.outcome(damage) == FOUND:
            alone.count(damage, result)
    return result


def line_of(switch: Switch, damage: Damage) -> str:
    """The damaged line before the damage."""
    return [*switch.files[damage.file].split("\n"), ""][damage.line]


def with_equals(nos: str, shapes: Sequence[str] = tuple(SHAPES)) -> Iterator[Switch]:
    """The first switch of each role that has at least two equals."""
    for shape in shapes:
        counts = Counter(stem(switch.view.device.name) for switch in switches(nos, shape, RACKS))
        yield from (own for own in samples(nos, shape, RACKS) if counts[stem(own.view.device.name)] >= EQUALS)


def rates(nos: str, files: int = FILES, shapes: Sequence[str] = tuple(SHAPES)) -> Rates:
    """The counts of a random part of the damage of a network OS."""
    result = Rates()
    for switch in with_equals(nos, shapes):
        result.add(judged(switch, files))
    return result


def main() -> None:
    """The counts and what is missed."""
    words = sys.argv[1:]
    files = int(words.pop(words.index("--files") + 1)) if "--files" in words else FILES
    shapes = [word for word in words if word in SHAPES] or tuple(SHAPES)
    for nos in [word for word in words if word in SYSTEMS] or SYSTEMS:
        _show(nos, rates(nos, files, shapes))


def _show(nos: str, result: Rates) -> None:
    for kind in KINDS:
        found, every = result.of(kind)
        if every:
            print(f"{nos} {kind}: {found} of {every} = {100 * found / every:.0f} %", flush=True)
    print(dict(result.codes.most_common(12)), "only others blamed:", sum(result.blamed.values()))
    for (kind, reason), count in sorted(result.reasons.items()):
        print(f"   missed, {kind}, {reason}: {count}")
    for one in result.missed:
        print(f"   {one.file}:{one.line} ({one.reason}) {one.kind}: {one.what}   [{one.was}]"[:203])


if __name__ == "__main__":
    main()
