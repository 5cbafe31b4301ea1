"""Findings that several devices share, once: an override that drops a time server from 16 switches is one mistake.

JSON has every finding. All other reports have one of each group, which names the devices; `--all` gives them every finding.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

from fabric.checks import Finding
from fabric.grouping import by_message
from fabric.text import devices

SEE = "`--all`"  # what shows the rest of a list


@dataclass(frozen=True, slots=True)
class Group:
    """Findings that differ in nothing but their devices and lines; one alone is a group, too."""

    findings: tuple[Finding, ...]

    @property
    def shown(self) -> Finding:
        """The first one, with the names of all devices."""
        first = self.findings[0]
        if len(self.findings) == 1:
            return first
        same = all(finding.message == first.message for finding in self.findings)
        return replace(first, device=devices([finding.device for finding in self.findings], same))


def groups(findings: Iterable[Finding], whole: bool = False) -> list[Group]:
    """Groups in the order of their first findings.

    Args:
        findings: in any order.
        whole: every finding is a group of its own.
    """
    if whole:
        return [Group((finding,)) for finding in findings]
    return [Group(tuple(group)) for group in by_message(findings, _parts)]


def folded(findings: Iterable[Finding], whole: bool = False) -> list[Finding]:
    """One finding of each group, which names all devices of the group."""
    return [group.shown for group in groups(findings, whole)]


def _parts(finding: Finding) -> tuple[str, str, Hashable]:
    """Findings of no device, such as those of an intent, are never a group: each has its place."""
    place = "" if finding.device else f"{finding.file}:{finding.line}:{finding.column}"
    return finding.device, finding.message, (finding.severity, finding.id, finding.silenced, place)
