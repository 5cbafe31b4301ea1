"""What the reports share: how they write what files gave them, rules of checks, and findings of one cause as a group."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from fabric.audit.checks import ERROR, NOTE, WARNING, Check, Finding, Merge, Verdict
from fabric.base.diagnostics import subject_of
from fabric.base.grouping import by_message, grouped, without_lines
from fabric.base.text import counted, devices, listed, printable, style

# --- data in a report: one line, no control characters --------------------------------------------------------


def clean(finding: Finding) -> Finding:
    """A finding whose every text is printable."""
    return replace(
        finding,
        id=printable(finding.id),
        device=printable(finding.device),
        file=printable(finding.file),
        message=printable(finding.message),
        hint=printable(finding.hint),
        silenced=printable(finding.silenced),
        merge=finding.merge and _clean(finding.merge),
    )


def _clean(merge: Merge) -> Merge:
    names = tuple(map(printable, merge.names))
    return replace(merge, text=printable(merge.text), names=names, file=printable(merge.file))


def relative(file: str) -> str:
    """A path below the working directory without that part; any other as it is."""
    if not os.path.isabs(file):
        return os.path.normpath(file) if file else ""
    below = os.path.relpath(file)
    return file if below == os.pardir or below.startswith(os.pardir + os.sep) else below


def device_and_message(finding: Finding) -> str:
    """Device and message."""
    return f"{finding.device}: {finding.message}" if finding.device else finding.message


def place(finding: Finding) -> str:
    """`intent/dc1.yaml:12:7`; readers of configs know lines and no columns."""
    column = f":{finding.column}" if finding.line and finding.column else ""
    return (finding.file or "no file") + (f":{finding.line}{column}" if finding.line else "")


def line(finding: Finding) -> str:
    """All of it but the hint, as every other message of the command looks."""
    return f"{place(finding)}: {style(finding.severity, f'{finding.severity}[{finding.id}]')}: {device_and_message(finding)}"


# --- rules ----------------------------------------------------------------------------------------------------


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


def rule_of(id: str, others: Mapping[str, Rule] = MappingProxyType({})) -> Rule:
    """The rule of a check, or of the subject of a code without one.

    Args:
        id: of a finding.
        others: rules of ids that are not of checks.
    """
    if id in others:
        return others[id]
    check = Check.registry.get(id)
    if check is None:
        family = subject_of(id)
        return replace(FAMILIES.get(family.name, OTHER) if family else OTHER, id=id)
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


# --- groups: JSON has every finding, other reports one of each group ------------------------------------------

SEE = "`--all`"  # what shows the rest of a list
_BLANKS = re.compile(r"\{(uses|names|devices)\}")


@dataclass(frozen=True, slots=True)
class Group:
    """Findings that differ in nothing but their devices and lines, or have one cause; one alone is a group, too."""

    findings: tuple[Finding, ...]

    @property
    def shown(self) -> Finding:
        """The first one, with the names of all devices."""
        first = self.findings[0]
        if len(self.findings) == 1:
            return first
        names = list(dict.fromkeys(finding.device for finding in self.findings))
        if first.merge:
            file, message = first.merge.file, self._message(len(names))
            shown = replace(first, file=file, line=0, column=0) if file else first
            return replace(shown, device=devices(names, same=True), message=message)
        same = all(finding.message == first.message for finding in self.findings)
        return replace(first, device=devices(names, same))

    @property
    def identity(self) -> str:
        """The same for the same cause when devices and lines of it come and go."""
        first = self.findings[0]
        merge = first.merge if len(self.findings) > 1 else None
        return without_lines(merge.text if merge else first.message)

    def _message(self, number: int) -> str:
        """The text of all findings, with its blanks filled in."""
        parts = [finding.merge for finding in self.findings if finding.merge]
        values = {
            "uses": counted(sum(part.uses for part in parts), parts[0].noun),
            "names": listed(sorted({name for part in parts for name in part.names}), parts[0].most),
            "devices": counted(number, "device"),
        }
        return _BLANKS.sub(lambda match: values[match[1]], parts[0].text)


def groups(findings: Iterable[Finding], whole: bool = False) -> list[Group]:
    """Groups in the order of their first findings.

    Args:
        findings: in any order.
        whole: every finding is a group of its own.
    """
    if whole:
        return [Group((finding,)) for finding in findings]
    rows = list(findings)
    place = {id(finding): at for at, finding in enumerate(rows)}
    causes = grouped((_cause(finding, finding.merge), finding) for finding in rows if finding.merge)
    alike = by_message((finding for finding in rows if not finding.merge), _parts)
    found = [Group(tuple(group)) for group in (*causes.values(), *alike)]
    return sorted(found, key=lambda group: place[id(group.findings[0])])


def folded(findings: Iterable[Finding], whole: bool = False) -> list[Finding]:
    """One finding of each group, which names all devices of the group."""
    return [group.shown for group in groups(findings, whole)]


def printed(verdict: Verdict) -> Mapping[str, int]:
    """Severity → findings that a report prints: each group once."""
    return Counter(finding.severity for finding in folded(verdict.findings, verdict.whole))


def _cause(finding: Finding, merge: Merge) -> Hashable:
    return finding.severity, finding.id, finding.silenced, merge.text, merge.file


def _parts(finding: Finding) -> tuple[str, str, Hashable]:
    """Findings of no device, such as those of an intent, are never a group: each has its place."""
    place = "" if finding.device else f"{finding.file}:{finding.line}:{finding.column}"
    return finding.device, finding.message, (finding.severity, finding.id, finding.silenced, place)
