"""Findings that several devices share, once: an override that drops a time server from 16 switches is one mistake.

Reports for programs have every finding; those that a person reads, and annotations, of which GitHub shows ten, have one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from fabric.checks import Finding
from fabric.text import listed

FEWEST = 3  # devices: of two both places are worth their line
SHOWN = 3  # other devices that are named


def folded(findings: Iterable[Finding]) -> list[Finding]:
    """Findings with the same words on several devices as that of the first device, which names how many others there are.

    The second time that a device has the same words counts as another finding.
    """
    times: Counter[tuple[str, ...]] = Counter()
    groups: dict[tuple[object, ...], list[Finding]] = {}
    keyed: list[tuple[tuple[object, ...], Finding]] = []
    for finding in findings:
        words = finding.severity, finding.id, finding.message, finding.silenced
        place = "" if finding.device else f"{finding.file}:{finding.line}:{finding.column}"
        times[(*words, finding.device, place)] += 1
        key = *words, place, times[(*words, finding.device, place)]
        groups.setdefault(key, []).append(finding)
        keyed.append((key, finding))
    return [
        finding if len(groups[key]) < FEWEST else _of_all(groups[key])
        for key, finding in keyed
        if len(groups[key]) < FEWEST or groups[key][0] is finding
    ]


def _of_all(group: list[Finding]) -> Finding:
    others = [finding.device for finding in group[1:]]
    return replace(group[0], device=f"{group[0].device} and {len(others):,} alike ({listed(others, SHOWN)})")
