"""Description of a check in a report, also of codes without a class."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.audit.checks import ERROR, NOTE, WARNING, Check
from fabric.base.codes import subject_of


@dataclass(frozen=True, slots=True)
class Rule:
    """One code."""

    id: str
    name: str  # in one word
    title: str  # a short sentence that is true when the check passes
    why: str
    remediation: str
    severity: str
    subject: str  # "files.addresses": kind of checks, and module
    tests: str = ""  # what the check tests
    example: str = ""  # of a situation that fails

    @property
    def room(self) -> str:
        """Kind of checks: `design`, `files`, `batfish`."""
        return self.subject.partition(".")[0]


READ = "Follow the hint of each finding; docs/intent.md describes all keys."

# Subjects of codes without a class.
FAMILIES = {
    "report": Rule("", "CutReport", "The report is complete", "A report that omits findings must indicate this.",
                   "Run `fabric check --format json` to list all findings.", NOTE, "other.report"),
    "file": Rule("", "ReadableIntent", "The intent can be read", "A file that cannot be read describes no network.",
                 READ, ERROR, "intent.file"),
    "language": Rule("", "IntentLanguage", "The intent matches the schema",
                     "Unknown keys, and values of the wrong type, would be ignored silently.",
                     READ, ERROR, "intent.language"),
    "refusal": Rule("", "PossiblePlan", "The intent can be planned",
                    "A design that does not fit is refused before any file is written.", READ, ERROR, "intent.plan"),
    "remark": Rule("", "PlanWarning", "The plan has no warnings",
                   "The plan can be built, but is probably not intended.", READ, WARNING, "intent.remarks"),
}  # fmt: skip
OTHER = Rule("", "Finding", "There are no findings", "See the message of each finding.", READ, ERROR, "other.findings")


def rule_of(id: str) -> Rule:
    """The rule of a check, or of the subject of a code without one."""
    check = Check.registry.get(id)
    if check is None:
        family = subject_of(id)
        like = FAMILIES.get(family.name, OTHER) if family else OTHER
        return Rule(id, like.name, like.title, like.why, like.remediation, like.severity, like.subject)
    _, _, subject = check.__module__.partition("fabric.audit.checks.")
    return Rule(
        id=id,
        name=check.__name__,
        title=check.title,
        why=check.why(),
        remediation=check.remediation,
        severity=check.severity,
        subject=subject or "other.checks",
        tests=check.tests(),
        example=check.example,
    )
