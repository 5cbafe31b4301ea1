"""The range of codes of each subject. `fabric.audit.codes` has the meaning of every code.

A code is never reused and never changes its meaning. A subject owns a range of three-digit numbers and, once they are used
up, the four-digit numbers that begin with them: FAB2010 to FAB2499 belong to the subject of FAB201 to FAB249.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Subject(NamedTuple):
    """A range of codes and its subject."""

    name: str
    first: int
    last: int
    about: str
    has_checks: bool = False

    @property
    def span(self) -> str:
        """`FAB201 to FAB249`."""
        return f"FAB{self.first:03}" + (f" to FAB{self.last:03}" if self.last > self.first else "")


SUBJECTS = (
    Subject("report", 0, 0, "the report itself"),
    Subject("file", 1, 99, "reading an intent or another file"),
    Subject("language", 100, 129, "keys and values of the intent, and of options"),
    Subject("refusal", 130, 179, "a design or request that cannot be planned, generated, estimated or exported"),
    Subject("remark", 180, 199, "warnings and notes about a valid plan"),
    Subject("silence", 200, 200, "suppressions in the intent", has_checks=True),
    Subject("design", 201, 249, "checks of the plan", has_checks=True),
    Subject("files", 250, 299, "checks of switch configs", has_checks=True),
    Subject("batfish", 300, 349, "checks with a Batfish server", has_checks=True),
    Subject("state", 350, 399, "checks of the state of switches", has_checks=True),
    Subject("servers", 450, 499, "checks of server configs against their leaves", has_checks=True),
    Subject("lab", 500, 549, "the lab, and limits set by an option"),
)


def subject_of(code: str) -> Subject | None:
    """The subject whose range contains a code; None where there is none."""
    digits = re.fullmatch(r"FAB([0-9]{3})[0-9]?", code)
    number = int(digits[1]) if digits else -1
    return next((subject for subject in SUBJECTS if subject.first <= number <= subject.last), None)
