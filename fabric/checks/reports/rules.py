"""What a report says of a check beside its findings; also of ids that belong to no class of checks."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.checks import ERROR, NOTE, WARNING, Check
from fabric.codes import subject_of


@dataclass(frozen=True, slots=True)
class Rule:
    """One id."""

    id: str
    name: str  # in one word
    title: str  # a short sentence that holds when all is well
    why: str
    remediation: str
    severity: str
    subject: str  # "files.addresses": the room, and what it is about

    @property
    def room(self) -> str:
        return self.subject.partition(".")[0]


READ = "The hint of each finding says what to change; `docs/intent.md` has the keys."

# Subjects of codes without a class, and what they are about.
FAMILIES = {
    "report": Rule("", "CutReport", "The report is whole", "A file that lacks findings must say so.",
                   "`fabric check --format json` lists all.", NOTE, "other.report"),
    "file": Rule("", "ReadableIntent", "The intent can be read", "A file that cannot be read describes no network.",
                 READ, ERROR, "intent.file"),
    "language": Rule("", "IntentLanguage", "The intent keeps to its language",
                     "A key that is not known, or a value of the wrong kind, would be a wish that nobody fulfils.",
                     READ, ERROR, "intent.language"),
    "refusal": Rule("", "PossiblePlan", "The intent can be planned",
                    "What does not fit is refused with its place before anything is written.", READ, ERROR, "intent.plan"),
    "remark": Rule("", "PlanWarning", "The plan needs no remark",
                   "The plan can be built as it is, and is probably not what was meant.", READ, WARNING, "intent.remarks"),
}  # fmt: skip
OTHER = Rule("", "Finding", "Nothing is found", "See the message of each finding.", READ, ERROR, "other.findings")


def rule_of(id: str) -> Rule:
    """The rule of a check, else of the family of its id."""
    check = Check.registry.get(id)
    if check is None:
        family = subject_of(id)
        like = FAMILIES.get(family.name, OTHER) if family else OTHER
        return Rule(id, like.name, like.title, like.why, like.remediation, like.severity, like.subject)
    _, _, subject = check.__module__.partition("fabric.checks.")
    return Rule(id, check.__name__, check.title, check.why(), check.remediation, check.severity, subject or "other.checks")
