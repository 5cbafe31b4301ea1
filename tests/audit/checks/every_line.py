"""Every line of every file damaged in turn, on every shape and network OS: the tables of `docs/statements.md`.

The damaged files are judged as `fabric check INTENT --configs DIR` does. Damage is found when there is an error. Else the
line has no statement (a comment), is on the list without effect, is swapped where order has no effect, or is missed.
What `fabric check --configs DIR` finds without the plan is counted by `tests/audit/checks/all_damage.py`.

    python -m tests.audit.checks.every_line [NOS…] [--sample N]    the counts, and what is missed
    python -m tests.audit.checks.every_line --page > docs/statements.md
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fabric.audit.checks import ERROR, site, statement_differences, syntax_of
from fabric.base.processes import in_chunks
from fabric.nos.reading import read_device
from fabric.nos.reading.sections import StatementPath
from fabric.nos.statements.compare import Difference, compare
from fabric.nos.statements.rules import DEFAULT, HIDDEN, KINDS, LABEL
from fabric.nos.statements.syntax import Known, Statements
from tests.audit.checks.damage import ADDED_LINE, CHANGED, DELETED, REPEATED, SWAPPED, Damage, damages
from tests.audit.checks.shapes import SHAPES, SYSTEMS, Switch, samples
from tools.docs.ending import ending

FOUND, COMMENT, LISTED, ORDER, MISSED = OUTCOMES = ("found", "comment", "listed", "order", "missed")
PLANNED_KINDS = (DEFAULT, HIDDEN, LABEL)  # of the list, that have planned lines
BRACKET = re.compile(r"(?:[][{}][,;]?|:)$")  # at the end of a line that opens or closes a section
SEED = 1


@dataclass
class Score:
    """Counts of one network OS.

    Attributes:
        counts: (kind of damage, outcome) → damaged files.
        lines: kind of the list without effect, COMMENT, or "" for lines with effect → lines.
        missed: each missed damage, as text.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)

    def add(self, other: Score) -> None:
        """The counts of another switch."""
        self.counts += other.counts
        self.lines += other.lines
        self.missed += other.missed

    def effective(self, kind: str) -> tuple[int, int]:
        """Damage with effect: (found, all)."""
        found = self.counts[kind, FOUND]
        return found, found + self.counts[kind, MISSED]


# --- judging ----------------------------------------------------------------------------------------------------


class Judge:
    """Judges damaged files of one switch."""

    def __init__(self, switch: Switch) -> None:
        self.switch, self.syntax = switch, syntax_of(switch.nos)
        self.known: Known[StatementPath] = {}
        self.planned = self.syntax.read(switch.files, self.known)

    def outcome(self, damage: Damage) -> str:
        """One of OUTCOMES."""
        files = {**self.switch.files, damage.file: damage.text}
        if any(not difference.label for difference in self.differences(damage, files)) or self.by_facts(files):
            return FOUND
        return self._reason(damage, self.syntax.read(files, self.known))

    def differences(self, damage: Damage, files: Mapping[str, str]) -> list[Difference]:
        """As `statement_differences`, whose planned statements are read once where the text is not reduced by sections."""
        if self.syntax.part(damage.file, damage.text) in self.syntax.sectioned:
            return statement_differences(self.switch.nos, self.switch.files, files)
        return compare(self.syntax, self.planned, self.syntax.read(files, self.known))

    def by_facts(self, files: Mapping[str, str]) -> bool:
        """Whether a check of facts has an error."""
        facts = read_device(self.switch.view.device.name, self.switch.nos, files)
        return any(finding.severity == ERROR for finding in site.judge(self.switch.view, facts, files))

    def _reason(self, damage: Damage, running: Statements) -> str:
        """Why the damage has no effect, or MISSED."""
        differing = [path for path in self.planned if path not in running]
        differing += [path for path in running if path not in self.planned]
        if differing:
            silent = all(self.syntax.is_silent(path, self.planned, *KINDS) for path in differing)
            return LISTED if silent else MISSED
        here = damage.file, damage.line + 1
        paths = [path for path, place in self.planned.items() if (place.file, place.line) == here]
        if not paths:
            return COMMENT
        if damage.kind == SWAPPED:
            return ORDER
        secret = damage.kind == CHANGED and any("*" in path[-1] for path in paths)  # compared by presence
        return LISTED if secret else MISSED

    def lines(self) -> Counter[str]:
        """Lines of the files by the kind of the list that has all their statements, "" for lines with effect."""
        kinds: dict[tuple[str, int], set[str]] = {}
        for path, place in self.planned.items():
            kind = next((kind for kind in PLANNED_KINDS if self.syntax.is_silent(path, self.planned, kind)), "")
            kinds.setdefault((place.file, place.line), set()).add(kind)
        counts = Counter("" if "" in kinds_of else min(kinds_of) for kinds_of in kinds.values())
        for file, text in self.switch.files.items():
            others = [line for number, line in enumerate(text.split("\n"), 1) if line.strip() and (file, number) not in kinds]
            counts[""] += sum(BRACKET.search(line) is not None for line in others)
            counts[COMMENT] += sum(BRACKET.search(line) is None for line in others)
        return counts


@dataclass(frozen=True)
class _Task:
    sample: int

    def score(self, switch: Switch) -> Score:
        """All damage of one switch, or a random part of it."""
        chance = random.Random(f"{SEED} {switch.nos} {switch.shape} {switch.view.device.name}")
        judge, every, result = Judge(switch), list(damages(switch)), Score()
        result.lines = judge.lines()
        for damage in chance.sample(every, min(self.sample, len(every))) if self.sample else every:
            outcome = judge.outcome(damage)
            result.counts[damage.kind, outcome] += 1
            if outcome == MISSED:
                place = f"{switch.shape} {switch.view.device.name} {damage.file}:{damage.line + 1}"
                result.missed.append(f"{place} {damage.kind}: {damage.what.strip()}")
        return result


def score(nos: str, sample: int = 0) -> Score:
    """The counts of a network OS.

    Args:
        nos: network OS.
        sample: damaged files per switch; 0 for all.
    """
    todo = [switch for shape in SHAPES for switch in samples(nos, shape)]
    result = Score()
    for chunk in in_chunks(_Task(sample).score, todo, 0, chunk=1, least=2):
        for part in chunk:
            result.add(part)
    return result


# --- the page ---------------------------------------------------------------------------------------------------

PAGE = """# Every line of a config

How much of a running config `fabric check` and `fabric drift` judge, measured by damage to every line. Seven small designs
(routed, VRF-lite, packet filters, three tiers, unnumbered, IPv6, EVPN with bonds and external connections) are rendered for
each network OS. In the files of one switch per role, every line is deleted, every word of a line is changed (a number is
increased, a name gets a letter; of lines that differ in numbers alone, the first {repeated} of a file), every line is swapped
with the next one of its level, and valid lines of other kinds are added to sections. Each damaged file is judged by itself.

[without-effect.md](without-effect.md) lists the statements without effect with the reason and the source of each.

## With the plan

`fabric check INTENT --configs DIR`. *Found*: at least one error. *Listed*: the statement is on the list without effect, or is
text for people (a warning). *Order*: swapped lines whose order has no effect. *Comment*: the line has no statement.
*Effective* is the share found of damage with effect, *all* the share found of all damage.

{planned}

## Lines without effect

Lines of the files by the kind of the list. A line that opens or closes a section has the effect of the section. *Silent* is
the share of lines, without comments, whose damage is not reported; damage to a *label* (text for people) is a warning.

{lines}

{configs}
## What is not covered

* Values that the plan does not have: the hash of a password is compared by presence only.
* Damage with more than one edit at a time, and edits of the same kind on every switch.
* State: what a device does with its config is in no file. The state of cables and sessions is not either.

"""
END = ending(
    "make statements",
    "[mutations.md](mutations.md): faults as people make them, and how many are found.",
    "[How do I compare running configs with the plan every night?](howto/drift.md): the same judgment of your switches.",
)


def page() -> str:
    """`docs/statements.md`."""
    from tests.audit.checks.by_equals_page import section  # which needs the judge above

    scores = {nos: score(nos) for nos in SYSTEMS}
    return PAGE.format(planned=_planned(scores), lines=_lines(scores), configs=section(), repeated=REPEATED) + END


def _planned(scores: Mapping[str, Score]) -> str:
    rows = []
    for nos, result in scores.items():
        for kind in (DELETED, CHANGED, SWAPPED, ADDED_LINE):
            counts = [result.counts[kind, outcome] for outcome in OUTCOMES]
            found, effective = result.effective(kind)
            rows.append(
                [nos, kind, *(f"{count:,}" for count in counts), share_of(found, effective), share_of(found, sum(counts))]
            )
    return table_of(["network OS", "damage", *OUTCOMES, "effective", "all"], rows)


def _lines(scores: Mapping[str, Score]) -> str:
    rows = []
    for nos, result in scores.items():
        statements = sum(result.lines.values()) - result.lines[COMMENT]
        listed = [result.lines[kind] for kind in PLANNED_KINDS]
        cells = [f"{count:,}" for count in (result.lines[""], *listed, result.lines[COMMENT])]
        silent = sum(listed) - result.lines[LABEL]
        rows.append([nos, *cells, share_of(silent, statements), share_of(result.lines[LABEL], statements)])
    return table_of(["network OS", "with effect", *PLANNED_KINDS, "comment", "silent", "label"], rows)


def share_of(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def table_of(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def _counts(nos: str, result: Score) -> Iterator[str]:
    for kind in (DELETED, CHANGED, SWAPPED, ADDED_LINE):
        yield f"{nos} {kind} " + ", ".join(f"{outcome} {result.counts[kind, outcome]}" for outcome in OUTCOMES)
    yield from (f"   missed: {line[:200]}" for line in result.missed[:40])


def main() -> None:
    """The page, or the counts and the missed damage."""
    words = sys.argv[1:]
    if "--page" in words:
        print(page(), end="")
        return
    sample = int(words.pop(words.index("--sample") + 1)) if "--sample" in words else 0
    for nos in [word for word in words if word in SYSTEMS] or SYSTEMS:
        print("\n".join(_counts(nos, score(nos, sample))), flush=True)


if __name__ == "__main__":
    main()
