"""Every line damaged in turn and judged by the configs of the design alone: the last table of `docs/statements.md`.

Four racks: every leaf and spine has at least two equals. The damaged files that have an effect (an error with the plan)
are judged as `fabric check --configs DIR` does. Damage is found when an error or a warning names the damaged switch.

    python -m tests.checks.by_equals [NOS…] [--files N]    the counts, and what is missed
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from fabric.checks import NOTE, Finding, Network
from fabric.checks.equals.roles import Outlines, stem
from fabric.checks.folder import check_network
from fabric.facts import Facts
from fabric.nos.reading import read_device
from tests.checks.damage import Damage, damages
from tests.checks.every_line import FOUND, SEED, Judge
from tests.checks.shapes import SHAPES, SYSTEMS, Switch, samples, switches

RACKS = 4
EQUALS = 3  # devices of a role
FILES = 60  # damaged files per switch


@dataclass
class Rates:
    """Counts of one network OS.

    Attributes:
        counts: (kind of damage, severity of the worst finding on the switch or "") → damaged files with an effect.
        codes: code of a finding on the switch → damaged files.
        missed: damage without a finding, as text.
        blamed: damage with an error or a warning on other switches alone.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    blamed: int = 0

    def add(self, other: Rates) -> None:
        """The counts of another switch."""
        self.counts += other.counts
        self.codes += other.codes
        self.missed += other.missed
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
        peers = switches(self.switch.nos, self.switch.shape, RACKS)
        return tuple(
            read_device(peer.view.device.name, peer.nos, peer.files)
            for peer in peers
            if peer.view.device.name != self.switch.view.device.name
        )

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
        if done == files:
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
            result.missed.append(f"{place} {damage.kind}: {damage.what.strip()}   [{was.strip()}]")
    return result


def with_equals(nos: str) -> Iterator[Switch]:
    """The first switch of each role that has at least two equals."""
    for shape in SHAPES:
        counts = Counter(stem(switch.view.device.name) for switch in switches(nos, shape, RACKS))
        yield from (own for own in samples(nos, shape, RACKS) if counts[stem(own.view.device.name)] >= EQUALS)


def rates(nos: str, files: int = FILES) -> Rates:
    """The counts of a network OS."""
    result = Rates()
    for switch in with_equals(nos):
        result.add(judged(switch, files))
    return result


def main() -> None:
    """The counts and what is missed."""
    words = sys.argv[1:]
    files = int(words.pop(words.index("--files") + 1)) if "--files" in words else FILES
    for nos in [word for word in words if word in SYSTEMS] or SYSTEMS:
        result = rates(nos, files)
        for kind in sorted({kind for kind, _ in result.counts}):
            found, every = result.of(kind)
            print(f"{nos} {kind}: {found} of {every} = {100 * found / every:.0f} %", flush=True)
        print(dict(result.codes.most_common(12)), "only others blamed:", result.blamed)
        print("\n".join(f"   {line[:200]}" for line in result.missed))


if __name__ == "__main__":
    main()
