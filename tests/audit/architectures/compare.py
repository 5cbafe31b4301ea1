"""The switches of an architecture beside those of its example: which forms are equal, and why the others differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from tests.audit.architectures.links import published_peers
from tests.audit.architectures.statements import FILE, Forms, forms, planned_peers

REASONS = Path(__file__).with_name("explained.yaml")


@dataclass(frozen=True)
class Reason:
    """Why statements of some forms differ."""

    name: str
    text: str
    side: str  # who has more of them: "published" | "planned" | "any"
    forms: re.Pattern[str]

    def explains(self, form: str, side: str) -> bool:
        return self.side in ("any", side) and self.forms.fullmatch(form) is not None


@cache
def reasons() -> tuple[Reason, ...]:
    """The table, in order."""
    rows = yaml.safe_load(REASONS.read_text("utf-8"))
    return tuple(Reason(row["reason"], row["text"], row["side"], re.compile(row["forms"])) for row in rows)


@dataclass(frozen=True)
class Difference:
    """A form that both sides do not have equally often."""

    form: str
    published: int
    planned: int

    @property
    def reason(self) -> Reason | None:
        side = "published" if self.published > self.planned else "planned"
        return next((reason for reason in reasons() if reason.explains(self.form, side)), None)


@dataclass(frozen=True)
class Compared:
    """One switch: forms with equal numbers of statements, and the others."""

    switch: str
    published: Forms
    planned: Forms

    @property
    def shared(self) -> int:
        """Statements that both have."""
        return (self.published & self.planned).total()

    def differences(self) -> Iterator[Difference]:
        """In the order of their forms."""
        for form in sorted(self.published.keys() | self.planned.keys()):
            if self.published[form] != self.planned[form]:
                yield Difference(form, self.published[form], self.planned[form])


def switches(published: Path, planned: Path) -> Iterator[Compared]:
    """Every switch that an architecture has a file of, beside the one of its name in a folder of `generated/`."""
    for path in sorted((published / "exported-configurations").glob("*.yaml")):
        text = (planned / "configs" / path.stem / FILE).read_text("utf-8")
        yield Compared(
            path.stem,
            forms(path.read_text("utf-8"), published_peers(published, path.stem)),
            forms(text, planned_peers(planned, path.stem)),
        )


def by_reason(compared: Compared) -> Counter[tuple[str, str]]:
    """(reason, side) → statements that one side has more; "" for those that no entry explains."""
    rows: Counter[tuple[str, str]] = Counter()
    for difference in compared.differences():
        side = "published" if difference.published > difference.planned else "planned"
        name = difference.reason.name if difference.reason else ""
        rows[name, side] += abs(difference.published - difference.planned)
    return rows
