"""Files that are cut off: one finding in place of everything that is missing behind their ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabric.audit.checks.finding import ERROR, NOTE, Finding
from fabric.audit.checks.statements import syntax_of
from fabric.base.text import plural
from fabric.model.facts import Facts
from fabric.nos.statements.syntax import PartText, Syntax

LEAST = 10  # planned statements that are missing behind the end of a file: fewer may be edits
CUT_OFF = "FAB290"
UNCLOSED = "never closed"  # end of what readers report about a block that the end of the file is in
LOST = ("not JSON", "not YAML", "a '}' that closes nothing")  # where readers guess the structure of the rest: so it begins
SESSIONS, ADDRESSES, BRACES = "FAB256", "FAB253", "FAB2517"
OF_ABSENCE = frozenset(  # checks that report what is missing, which may be behind the end of the file
    (
        "FAB253",
        "FAB256",
        "FAB257",
        "FAB259",
        "FAB260",
        "FAB261",
        "FAB272",
        "FAB273",
        "FAB276",
        "FAB281",
        "FAB283",
        "FAB2506",
        "FAB2509",
    )
)


@dataclass(frozen=True)
class Cut:
    """A file that ends too early."""

    file: str
    line: int  # its last one
    missing: int  # planned statements behind it
    completed: str  # the text with the rest as it is planned

    def finding(self, device: str) -> Finding:
        lost = plural(self.missing, "statement")
        are = "are" if self.missing > 1 else "is"
        message = f"the file ends at line {self.line}; {lost} of the plan {are} missing behind it"
        return Finding(
            id=CUT_OFF,
            severity=ERROR,
            device=device,
            file=self.file,
            line=self.line,
            message=message,
            hint="collect the file from the device again",
        )


def cuts(nos: str, planned: Mapping[str, str], running: Mapping[str, str]) -> Iterator[Cut]:
    """The running files that have the beginning of a planned one and nothing of its rest.

    Args:
        nos: network OS of both.
        planned: path → text that the plan renders.
        running: path → text of the device.
    """
    syntax = syntax_of(nos)
    parts = {text.part: text for text in syntax.texts(planned)}
    for text in syntax.texts(running):
        whole = parts.get(text.part)
        if whole is not None and len(text.text) < len(whole.text) and (cut := _cut(syntax, whole, text)):
            yield cut


def _cut(syntax: Syntax, whole: PartText, text: PartText) -> Cut | None:
    planned, running = syntax.read_texts([whole]), syntax.read_texts([text])
    both = [(place.line, planned[path].line) for path, place in running.items() if path in planned]
    if not both:
        return None
    last, end = max(both)
    missing = [path for path, place in planned.items() if place.line > end]
    unknown = sum(place.line > last for place in running.values())  # the one that was cut in two
    if len(missing) < LEAST or unknown > 1 or any(path in running for path in missing):
        return None
    lines = text.text.splitlines()
    completed = "\n".join([*lines[:last], *whole.text.splitlines()[end:], ""])
    return Cut(text.file, len(text.text.rstrip().splitlines()), len(missing), completed)


def cut_files(facts: Facts) -> set[str]:
    """Files whose reader met their end inside a block or a value, or lost the structure of the rest."""
    last = {file: len(text.rstrip().splitlines()) for file, text in facts.texts.items()}
    return {fact.file for fact in facts.broken if is_lost(fact.value) or 0 < last.get(fact.file, 0) <= fact.line}


def is_lost(mistake: str) -> bool:
    """Whether a reader guesses the structure of the rest of a file, after what it could not read."""
    return mistake.endswith(UNCLOSED) or mistake.startswith(LOST)


def without_consequences(devices: Sequence[Facts], findings: list[Finding]) -> list[Finding]:
    """Without what follows from a file that cannot be read to its end, on its device and on those that it is cabled to.

    That device may well have the address or the session that its neighbors miss.
    """
    cut = {facts.name for facts in devices if cut_files(facts)}
    broken = {facts.name for facts in devices if facts.broken}
    return [one for one in findings if not _follows(one, cut, broken)] if broken else findings


def _follows(finding: Finding, cut: set[str], broken: set[str]) -> bool:
    if finding.device in cut:
        return finding.id in OF_ABSENCE or finding.id == BRACES
    if finding.id not in (SESSIONS, ADDRESSES) or finding.device in broken:
        return False
    return (bool(cut) and finding.severity == NOTE) or not broken.isdisjoint(finding.about.devices)
