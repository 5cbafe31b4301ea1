"""Description of a check in a report, also of codes without a class."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.audit.checks import ERROR, NOTE, WARNING, Check
from fabric.base.diagnostics import subject_of


@dataclass(frozen=True, slots=True, kw_only=True)
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
    "report": Rule(id="", name="CutReport", title="The report is complete",
                   why="A report that omits findings must indicate this.",
                   remediation="Run `fabric check --format json` to list all findings.",
                   severity=NOTE, subject="other.report"),
    "file": Rule(id="", name="ReadableIntent", title="The intent can be read",
                 why="A file that cannot be read describes no network.",
                 remediation=READ, severity=ERROR, subject="intent.file"),
    "language": Rule(id="", name="IntentLanguage", title="The intent matches the schema",
                     why="Unknown keys, and values of the wrong type, would be ignored silently.",
                     remediation=READ, severity=ERROR, subject="intent.language"),
    "refusal": Rule(id="", name="PossiblePlan", title="The intent can be planned",
                    why="A design that does not fit is refused before any file is written.",
                    remediation=READ, severity=ERROR, subject="intent.plan"),
    "remark": Rule(id="", name="PlanWarning", title="The plan has no warnings",
                   why="The plan can be built, but is probably not intended.",
                   remediation=READ, severity=WARNING, subject="intent.remarks"),
}  # fmt: skip
OTHER = Rule(
    id="",
    name="Finding",
    title="There are no findings",
    why="See the message of each finding.",
    remediation=READ,
    severity=ERROR,
    subject="other.findings",
)


def rule_of(id: str) -> Rule:
    """The rule of a check, or of the subject of a code without one."""
    check = Check.registry.get(id)
    if check is None:
        family = subject_of(id)
        like = FAMILIES.get(family.name, OTHER) if family else OTHER
        return Rule(
            id=id,
            name=like.name,
            title=like.title,
            why=like.why,
            remediation=like.remediation,
            severity=like.severity,
            subject=like.subject,
        )
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
