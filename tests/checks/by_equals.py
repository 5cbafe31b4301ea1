"""Damaged lines judged by the configs of the design alone: the last tables of `docs/statements.md`.

Four racks: every leaf and spine has at least two equals. The damaged files that have an effect (an error with the plan)
are judged as `fabric check --configs DIR` does. Damage is found when an error or a warning names the damaged switch.

    python -m tests.checks.by_equals [NOS…] [SHAPE…] [--files N]            the counts, and what is missed
    python -m tests.checks.by_equals [NOS…] --keep DIR [--each N] [--again]   all damage, a file per switch
    python -m tests.checks.by_equals --write DIR                              its counts, to by_equals.json

`--keep` judges all damage of every switch, in as many processes as there are cores, and skips the switches that DIR has, so
that a run can be continued. With `--each N`, of the damage of one kind to lines of a switch that differ in numbers alone N
are judged and stand for all. `--again` judges what was missed once more, after a check was improved.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from fabric.checks import ERROR, NOTE, WARNING, Finding, Network
from fabric.checks.equals.outline import Outline
from fabric.checks.equals.roles import Outlines, stem
from fabric.checks.folder import check_network
from fabric.facts import Facts
from fabric.nos.reading import read_device
from fabric.workers import in_chunks
from tests.checks.damage import ADDED_LINE, CHANGED, DELETED, NUMBER, SWAPPED, WORD, Damage, damages
from tests.checks.every_line import FOUND, SEED, Judge
from tests.checks.principle import GAP, changed_word, texts, unseen
from tests.checks.shapes import SHAPES, SYSTEMS, Switch, samples, switches

RACKS = 4
EQUALS = 3  # devices of a role
FILES = 12  # damaged files per switch
KINDS = (DELETED, CHANGED, SWAPPED, ADDED_LINE)
COUNTS = Path(__file__).with_suffix(".json")  # what was counted of all damage
FORMS = 12  # statement forms with the most gaps per network OS that are written down


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
            old = changed_word(self.was, self.what)
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

    def as_text(self) -> str:
        """As JSON."""
        document = {
            "judged": self.judged,
            "counts": [[*key, count] for key, count in sorted(self.counts.items())],
            "codes": dict(sorted(self.codes.items())),
            "blamed": dict(sorted(self.blamed.items())),
            "missed": [asdict(one) for one in self.missed],
        }
        return json.dumps(document, indent=1) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Rates:
        """What `as_text` made."""
        read = json.loads(text)
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
            result.missed.append(Missed(damage.kind, damage.file, damage.line + 1, what, was, reason, weight))


def judged(switch: Switch, files: int = 0, each: int = 0) -> Rates:
    """The damage of one switch.

    Args:
        switch: whose files are damaged.
        files: damaged files with an effect to judge, at random; 0 for all.
        each: damaged files of one kind and one form of line that are judged for all of them; 0 for all.
    """
    chance = random.Random(f"{SEED} {switch.nos} {switch.shape} {switch.view.device.name}")
    judge, alone, result = Judge(switch), Alone(switch), Rates()
    every = list(damages(switch))
    chance.shuffle(every)
    forms = [_form(switch, damage) if each else "" for damage in every]
    sizes, seen = Counter(forms), Counter[str]()
    for damage, form in zip(every, forms, strict=True):
        if files and result.judged == files:
            break
        seen[form] += 1
        if each and seen[form] > each:
            continue
        if judge.outcome(damage) == FOUND:
            alone.count(damage, result, _weight(sizes[form], min(each, sizes[form]), seen[form]) if each else 1)
    return result


def _weight(size: int, judged: int, at: int) -> int:
    """Of `size` damaged files, those that the one at position `at` of the judged ones stands for."""
    return size // judged + (at <= size % judged)


def _form(switch: Switch, damage: Damage) -> str:
    """The same for damage of one kind to lines that differ in numbers alone, and of the word at one position."""
    at = 0
    if damage.kind == CHANGED:
        before = WORD.findall(line_of(switch, damage))
        at = next(at for at, pair in enumerate(zip(before, WORD.findall(damage.what), strict=True)) if len(set(pair)) > 1)
    return f"{damage.kind} {damage.file} {at} {NUMBER.sub('#', damage.what)}"


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


# --- all damage, a file per switch ------------------------------------------------------------------------------


def key_of(switch: Switch) -> str:
    """`eos.routed.backend-leaf001`."""
    return f"{switch.nos}.{switch.shape}.{switch.view.device.name}"


@dataclass(frozen=True)
class _Task:
    folder: Path
    each: int
    again: bool

    def run(self, switch: Switch) -> str:
        path = self.folder / f"{key_of(switch)}.json"
        if self.again:
            result = judged_again(switch, Rates.from_text(path.read_text(encoding="utf-8")))
        elif path.exists():
            return ""
        else:
            result = judged(switch, each=self.each)
        path.write_text(result.as_text(), encoding="utf-8")
        found, every = result.of(*KINDS)
        return f"{key_of(switch)}: {found} of {every}"


def judged_again(switch: Switch, before: Rates) -> Rates:
    """What was missed judged once more; what was found is believed."""
    alone, result = Alone(switch), Rates(Counter(before.counts), Counter(before.codes), [], Counter(), before.judged)
    for kind in KINDS:
        del result.counts[kind, ""]
    known = {(one.kind, one.file, one.line, one.what): one.weight for one in before.missed}
    for damage in damages(switch):
        weight = known.pop((damage.kind, damage.file, damage.line + 1, damage.what.strip()), 0)
        if weight:
            alone.count(damage, result, weight)
    assert not known, f"{key_of(switch)}: damage that is made no more: {sorted(known)[:3]}"
    result.judged = before.judged
    return result


def keep(names: Sequence[str], task: _Task) -> Iterator[str]:
    """Judges all damage of the switches of network OSes; what was done, switch by switch."""
    task.folder.mkdir(parents=True, exist_ok=True)
    todo = [switch for nos in names for switch in with_equals(nos)]
    for chunk in in_chunks(task.run, todo, 0, chunk=1, least=2):
        yield from filter(None, chunk)


# --- what is written down of it ---------------------------------------------------------------------------------


def row_of(switch: Switch, result: Rates) -> dict[str, object]:
    """The counts of a switch, without the lines."""
    missed: dict[str, dict[str, int]] = {}
    for (kind, reason), count in sorted(result.reasons.items()):
        missed.setdefault(kind, {})[reason] = count
    return {
        "nos": switch.nos,
        "shape": switch.shape,
        "device": switch.view.device.name,
        "damaged": sum(1 for _ in damages(switch)),
        "judged": result.judged,
        "found": {
            kind: [result.counts[kind, severity] for severity in (ERROR, WARNING)] for kind in KINDS if any(result.of(kind))
        },
        "missed": missed,
        "blamed": dict(sorted(result.blamed.items())),
    }


def counted(folder: Path) -> dict[str, object]:
    """The document `by_equals.json`: a row per switch, and the forms of statements with the most gaps per network OS."""
    rows, gaps = [], {}
    for nos in SYSTEMS:
        forms = Counter[tuple[str, str]]()
        for switch in with_equals(nos):
            result = Rates.from_text((folder / f"{key_of(switch)}.json").read_text(encoding="utf-8"))
            rows.append(row_of(switch, result))
            for one in result.missed:
                if one.reason == GAP:
                    forms[one.kind, one.form] += one.weight
        gaps[nos] = [[count, kind, form] for (kind, form), count in forms.most_common(FORMS)]
    return {"rows": rows, "gaps": gaps}


def written(document: dict[str, object]) -> str:
    """JSON with a line per row."""
    parts = []
    for key, value in document.items():
        items = value.items() if isinstance(value, dict) else ((None, one) for one in value)  # type: ignore[attr-defined]
        lines = [("" if name is None else f"{json.dumps(name)}: ") + json.dumps(one) for name, one in items]
        opened, closed = "{}" if isinstance(value, dict) else "[]"
        parts.append(f"{json.dumps(key)}: {opened}\n" + ",\n".join(lines) + f"\n{closed}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """The counts and what is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.checks.by_equals", description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", choices=[*SYSTEMS, *SHAPES, []], metavar="NOS|SHAPE")
    parser.add_argument("--files", type=int, default=FILES, help="damaged files per switch; 0 for all")
    parser.add_argument("--keep", type=Path, help="folder of the results of all damage, a file per switch")
    parser.add_argument("--each", type=int, default=0, help="damaged files of one form that are judged for all of them")
    parser.add_argument("--again", action="store_true", help="judge what was missed once more")
    parser.add_argument("--write", type=Path, help="folder whose counts are written to by_equals.json")
    args = parser.parse_args()
    systems = [word for word in args.words if word in SYSTEMS] or list(SYSTEMS)
    shapes = [word for word in args.words if word in SHAPES] or list(SHAPES)
    if args.keep:
        for line in keep(systems, _Task(args.keep, args.each, args.again)):
            print(line, flush=True)
    elif args.write:
        COUNTS.write_text(written(counted(args.write)), encoding="utf-8")
    else:
        for nos in systems:
            _show(nos, rates(nos, args.files, shapes))


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
