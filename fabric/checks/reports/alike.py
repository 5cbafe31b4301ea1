"""Findings that several devices share, once: an override that drops a time server from 16 switches is one mistake.

JSON has every finding. All other reports have one of each group, which names the devices; `--all` gives them every finding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from fabric.checks import Finding
from fabric.grouping import grouped
from fabric.text import listed

FEWEST = 3  # devices: of two both places are worth their line
SHOWN = 2  # devices that are named, the first one included
ALL = "`--all` shows them"
# Line numbers inside a message: they move while the finding stays the same.
LINES = re.compile(r"(?P<file>\.[a-z]+)(:\d+)+|\b(?P<word>lines?) \d+((, | and | to |-)\d+)*")
_NAME = re.compile(r"[A-Za-z][\w-]*\d[\w-]*")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Group:
    """Findings that differ in nothing but their devices; one alone is a group, too."""

    findings: tuple[Finding, ...]

    @property
    def devices(self) -> list[str]:
        return [finding.device for finding in self.findings]

    @property
    def shown(self) -> Finding:
        """The first one; its device names the others: `leaf001, leaf002 and 16 more`.

        `leaf001 (likewise leaf002 and 16 more)` where their messages name other devices or lines than that of the first.
        """
        first, *others = self.findings
        if not others:
            return first
        if all(finding.message == first.message for finding in others):
            return replace(first, device=listed(self.devices, SHOWN))
        return replace(first, device=f"{first.device} (likewise {listed(self.devices[1:], SHOWN - 1)})")


def groups(findings: Iterable[Finding], whole: bool = False) -> list[Group]:
    """Groups in the order of their first findings.

    The second time that a device has the same finding counts as another one.

    Args:
        whole: every finding is a group of its own.
    """
    rows = list(findings)
    if whole:
        return [Group((finding,)) for finding in rows]
    shapes = {_shape(finding.device) for finding in rows}
    times: Counter[tuple[str, ...]] = Counter()
    keyed: list[tuple[tuple[object, ...], Finding]] = []
    for finding in rows:
        words = finding.severity, finding.id, _neutral(finding.message, shapes), finding.silenced
        place = "" if finding.device else f"{finding.file}:{finding.line}:{finding.column}"
        times[(*words, finding.device, place)] += 1
        keyed.append(((*words, place, times[(*words, finding.device, place)]), finding))
    groups = grouped(keyed)
    large = {key for key, group in groups.items() if len(group) >= FEWEST}
    return [
        Group(tuple(groups[key]) if key in large else (finding,))
        for key, finding in keyed
        if key not in large or groups[key][0] is finding
    ]


def folded(findings: Iterable[Finding], whole: bool = False) -> list[Finding]:
    """One finding of each group, which names all devices of the group."""
    return [group.shown for group in groups(findings, whole)]


def without_lines(message: str) -> str:
    """A message without the line numbers in it."""
    return LINES.sub(lambda match: match["file"] or match["word"], message)


def _neutral(message: str, shapes: set[str]) -> str:
    """A message without line numbers and without the numbers of devices that are named like those with findings."""
    return _NAME.sub(lambda name: shape if (shape := _shape(name[0])) in shapes else name[0], without_lines(message))


def _shape(name: str) -> str:
    """`leaf#` of `leaf001`."""
    return _DIGITS.sub("#", name)
