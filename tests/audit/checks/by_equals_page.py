"""The part of `docs/statements.md` without a plan: tables of the counts in `by_equals.json`, which `all_damage` writes."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fabric.base.text import listed
from tests.audit.checks.by_equals import COUNTS, KINDS
from tests.audit.checks.every_line import share_of, table_of
from tests.audit.checks.principle import GAP, WHY
from tests.audit.checks.shapes import SYSTEMS

SECTION = """## Without a plan

`fabric check --configs DIR` on the configs of the whole design, of four racks: every switch that is damaged has at least two
equals. All damage of the kinds above that has an effect (an error with the plan) is counted, {cases:,} damaged files of
{switches} switches. {judged}

*Error* and *warning*: the worst finding on the damaged switch. *Others*: of the missed ones, those with findings on other
switches alone. *Unseen*: no comparison of configs can see the damage, for a reason below; a *gap* could be seen. *Found* is
the share of all damage, *of seen* the share of what can be seen.

{rates}

What no comparison of configs can see, as [tests/audit/checks/principle.py](../tests/audit/checks/principle.py) decides by the
text of the files. In doubt it says gap: a number that another line has by chance makes one.

{classes}

{examples}

A fault that two devices of a role of three have, or all, is seen by no comparison either; such damage is not made here.

The forms of statements with the most gaps, without their numbers. The changed word is marked.

{gaps}

`python -m tests.audit.checks.all_damage DIR` judges all damage, a file per switch, and goes on where it was stopped;
`python -m tests.audit.checks.all_damage DIR --write` writes the counts that this page shows (of commit {commits}). Tests
judge a random part again and compare it with them. `python -m tests.audit.checks.by_equals NOS --files N` lists what is
missed.
"""
ALL = "On {every}, each of them was judged."
PART = (
    "On {some}, of the\ndamage of one kind to lines that differ in numbers alone, on all switches of a network OS, "
    "at most {each} were judged at random,\nwhich stand for all. {judged:,} damaged files were judged."
)
HEAD = (
    *("network OS", "damage", "with effect", "error", "warning", "missed", "others", "unseen", "gap", "found"),
    "of seen",
)


@dataclass
class Row:
    """Counts of one network OS and kind of damage, or of several."""

    error: int = 0
    warning: int = 0
    others: int = 0
    missed: Counter[str] = field(default_factory=Counter)  # class → damaged files

    def add(self, other: Row) -> None:
        """The counts of other damage."""
        self.error += other.error
        self.warning += other.warning
        self.others += other.others
        self.missed += other.missed

    @property
    def found(self) -> int:
        return self.error + self.warning

    @property
    def all(self) -> int:
        return self.found + self.missed.total()

    @property
    def seen(self) -> int:
        """What can be seen."""
        return self.found + self.missed[GAP]

    def cells(self) -> list[str]:
        """Of the table of rates."""
        unseen = self.missed.total() - self.missed[GAP]
        counts = [self.all, self.error, self.warning, self.missed.total(), self.others, unseen, self.missed[GAP]]
        return [*(f"{count:,}" for count in counts), share_of(self.found, self.all), share_of(self.found, self.seen)]


@cache
def document() -> dict[str, Any]:
    """What `by_equals.json` says."""
    read: dict[str, Any] = json.loads(COUNTS.read_text(encoding="utf-8"))
    return read


def row_of(switch: dict[str, Any], kind: str) -> Row:
    """The counts of one kind of damage to a switch, as its row in `by_equals.json` has them."""
    error, warning = switch["found"].get(kind, (0, 0))
    return Row(error, warning, switch["blamed"].get(kind, 0), Counter(switch["missed"].get(kind, {})))


def rows() -> dict[str, dict[str, Row]]:
    """Network OS → kind of damage → counts."""
    found = {nos: {kind: Row() for kind in KINDS} for nos in SYSTEMS}
    for switch in document()["rows"]:
        for kind in KINDS:
            found[switch["nos"]][kind].add(row_of(switch, kind))
    return found


def total(kinds: dict[str, Row]) -> Row:
    """The counts of all kinds of damage."""
    result = Row()
    for row in kinds.values():
        result.add(row)
    return result


def section() -> str:
    """The part of `docs/statements.md`."""
    found, switches = rows(), document()["rows"]
    cases = sum(total(kinds).all for kinds in found.values())
    return SECTION.format(
        cases=cases,
        switches=len(switches),
        judged=_how(),
        rates=_rates(found),
        classes=_classes(found),
        examples="\n".join(f"* *{reason}*: {why} Example: {example}." for reason, (why, example) in WHY.items()),
        gaps=_gaps(),
        commits=", ".join(document()["commits"]),
    )


def _how() -> str:
    """Which damage was judged."""
    each: dict[str, int] = document()["each"]
    every, some = [nos for nos in SYSTEMS if not each[nos]], [nos for nos in SYSTEMS if each[nos]]
    judged = sum(switch["judged"] for switch in document()["rows"])
    parts = [ALL.format(every=listed(every))] if every else []
    if some:
        parts.append(PART.format(some=listed(some), each=max(each.values()), judged=judged))
    return " ".join(parts)


def _rates(found: dict[str, dict[str, Row]]) -> str:
    lines = []
    for nos, kinds in found.items():
        lines += [[nos, kind, *row.cells()] for kind, row in kinds.items() if row.all]
        lines.append([f"**{nos}**", "**all**", *total(kinds).cells()])
    return table_of(HEAD, lines)


def _classes(found: dict[str, dict[str, Row]]) -> str:
    counts = {nos: total(kinds).missed for nos, kinds in found.items()}
    lines = [[reason, *(f"{counts[nos][reason]:,}" for nos in SYSTEMS)] for reason in (*WHY, GAP)]
    return table_of(["missed", *SYSTEMS], lines)


def _gaps() -> str:
    lines = [
        [nos, kind, f"`{form.replace('|', '¦')[:90]}`" if form else "(an empty line)", f"{count:,}"]
        for nos, forms in document()["gaps"].items()
        for count, kind, form in forms
    ]
    return table_of(["network OS", "damage", "statement", "gaps"], lines)


def fits(found: int, judged: int, row: Row, z: float = 4) -> bool:
    """Whether a random part of the damage agrees with the counts: `found` of `judged`, within `z` standard errors.

    The standard error is that of a sample without replacement (Cochran, Sampling Techniques, 1977, section 2.15), and half a
    file more for small shares.
    """
    if not row.all:
        return not judged
    share = row.found / row.all
    error = math.sqrt(judged * share * (1 - share) * max(0, row.all - judged) / max(1, row.all - 1))
    return abs(found - judged * share) <= z * error + 1.5


def devices(nos: str) -> Iterator[tuple[str, str, Row]]:
    """(shape, device, counts of all kinds) of a network OS."""
    for switch in document()["rows"]:
        if switch["nos"] == nos:
            yield switch["shape"], switch["device"], total({kind: row_of(switch, kind) for kind in KINDS})
