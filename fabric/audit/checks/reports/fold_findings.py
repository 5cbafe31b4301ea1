"""Findings of one cause, once: an override that drops a time server from 16 switches is one mistake.

JSON has every finding. All other reports have one of each group, which names the devices; `--all` gives them every finding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

from fabric.audit.checks import Finding, Merge, Verdict
from fabric.base.grouping import by_message, grouped, without_lines
from fabric.base.text import counted, devices, listed

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
