"""Title, reason, example and fix of every code: of a check from its class, of every other code from `codes.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

from fabric.base.diagnostics import SUBJECTS, Diagnostic, InputError, Place, Subject, subject_of
from fabric.base.formats.yaml import read
from fabric.base.schemas.models import CheckId, Document, Text, described, enum_of, json_key
from fabric.base.text import aligned, listed, screen, style, wrapped

if TYPE_CHECKING:
    from fabric.audit.checks import Check

DATA = Path(__file__).parent / "codes.yaml"
MAX_COLUMNS = 100  # columns of running text
NEAREST = 3  # codes in the hint for an unknown one


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One code."""

    id: CheckId
    subject: Annotated[str, enum_of(item.name for item in SUBJECTS), described("what the range of the code is for")]
    severity: Annotated[str, enum_of(("error", "warning", "note"))]
    else_severity: Annotated[str, described("when a finding of the check has another severity; empty if never")]
    title: Annotated[Text, described("of a check the property that its findings violate, of any other code the problem")]
    meaning: Annotated[str, described("what a check tests; empty for any other code")]
    explanation: Annotated[Text, described("why it matters")]
    example: Annotated[Text, described("lines of an intent, of a config, or commands after `$ `")]
    fix: Text


class ExplainDocument(Document):
    codes: list[Entry] = json_key("one for `fabric explain CODE`, else all, by number", min_length=1)


def is_code(word: str) -> bool:
    """Whether an argument looks like a code: `FAB233`, `fab102`."""
    return re.fullmatch("fab[0-9]+", word, re.IGNORECASE) is not None


@cache
def without_check() -> dict[str, Entry]:
    """The codes that no check has."""
    records: dict[str, dict[str, str]] = read(DATA)
    return {
        code: Entry(
            id=code,
            subject=_subject(code).name,
            severity=record.get("severity", "error"),
            else_severity="",
            title=record["title"],
            meaning="",
            explanation=record["why"],
            example=record["example"].rstrip("\n"),
            fix=record["fix"],
        )
        for code, record in records.items()
    }


def entries() -> list[Entry]:
    """Every code, by number."""
    from fabric.audit.checks.base import every  # heavy

    return sorted([*without_check().values(), *map(_of_check, every())], key=lambda entry: entry.id)


def entry(code: str) -> Entry:
    """One code, in upper or lower case. Raises InputError with the nearest codes if there is none."""
    name = code.upper()
    if name in without_check():
        return without_check()[name]
    subject = subject_of(name)
    if subject is not None and subject.has_checks:
        from fabric.audit.checks.base import of_subject  # heavy

        for check in of_subject(subject.name):
            if check.id == name:
                return _of_check(check)
    raise InputError([_unknown(name, subject)])


def text(entry: Entry) -> str:
    """A code for a person; the lines of the example stay as they are written."""
    label = "Check" if _subject(entry.id).has_checks else "Problem"
    blocks = [
        f"{style(entry.severity, entry.id)} ({severity(entry)})",
        f"{style('title', f'{label}:')} {sentence(entry.title)} {entry.meaning}".rstrip(),
        f"{style('title', 'Why it matters:')} {entry.explanation}",
        f"{style('title', 'Example:')}\n{indent(entry.example, '  ')}" if entry.example else "",
        f"{style('title', 'Fix:')} {sentence(entry.fix)}",
    ]
    return "\n\n".join(_filled(block) for block in blocks if block)


def table(all_entries: Iterable[Entry]) -> Iterator[str]:
    """One line per code, by subject."""
    by_subject: dict[str, list[Entry]] = {}
    for item in all_entries:
        by_subject.setdefault(item.subject, []).append(item)
    for subject in SUBJECTS:
        if subject.name in by_subject:
            yield style("title", f"{subject.span}: {subject.about}")
            rows = [(item.id, style(item.severity, item.severity), item.title) for item in by_subject[subject.name]]
            yield from aligned(rows, "<<7<", indent="  ")
            yield ""
    yield "`fabric explain CODE` explains one of them."


def severity(entry: Entry) -> str:
    """`warning; note below 8 leaves`."""
    return f"{entry.severity}; {entry.else_severity}" if entry.else_severity else entry.severity


def sentence(words: str) -> str:
    """A title or a fix as a sentence."""
    return words if words.endswith(".") else f"{words}."


def _filled(block: str) -> str:
    """A paragraph in lines that fit the screen; an example below its label stays as it is."""
    width = min(screen().width or MAX_COLUMNS, MAX_COLUMNS)
    return block if "\n" in block else "\n".join(wrapped(block, width, 2))


def _of_check(check: type[Check[Any]]) -> Entry:
    return Entry(
        id=check.id,
        subject=_subject(check.id).name,
        severity=check.severity,
        else_severity=check.else_severity,
        title=check.title,
        meaning=check.tests(),
        explanation=check.why(),
        example=check.example,
        fix=check.remediation,
    )


def _subject(code: str) -> Subject:
    subject = subject_of(code)
    assert subject is not None, code
    return subject


def _unknown(code: str, subject: Subject | None) -> Diagnostic:
    near = sorted(entries(), key=lambda entry: (abs(_number(entry.id) - _number(code)), entry.id))[:NEAREST]
    within = "no subject has this number" if len(code) in (6, 7) else "a code has three or four digits"
    if subject is not None:
        within = f"{subject.span}: {subject.about}"
    hint = f"{within}; nearest: {listed(sorted(item.id for item in near), NEAREST)}. `fabric explain` lists all codes"
    return Diagnostic("FAB106", Place("explain"), f"unknown code '{code}'", hint)


def _number(code: str) -> int:
    """The place of a code among those of three digits: FAB2331 is beside FAB233."""
    digits = code[3:]
    return int(digits[:3]) if len(digits) == 4 else int(digits)
