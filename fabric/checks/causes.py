"""A statement that is missing explains what depends on it: the statement is reported, what follows from it is not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabric.checks.finding import ERROR, Finding

STATEMENT, UNDEFINED = "FAB295", "FAB281"
NONE = ", got none"
LOST = "missing statement: "
OBJECT = re.compile(r"(?:neighbor|VLAN|VNI|VRF) (\S+)(?= |$)")  # what a finding is about, at the beginning of its message
NUMBER = re.compile(r"(?:VLAN|VNI) (\d+) is used")  # "VLAN 101 is used, but not defined"
WORD = re.compile(r"[\w.:/-]+")


def without_repetitions(found: list[Finding]) -> list[Finding]:
    """Without what a changed value says in other words: settings of an object that has another number, names of that number.

    `vxlan vlan 101 vni 10001` for VLAN 100: VLAN 101 is not defined, VLAN 100 has no VNI, and VNI 10001 no route target.
    """
    causes = [one for one in found if one.severity == ERROR and one.id != UNDEFINED and not one.message.endswith(NONE)]
    return [one for one in found if not any(_repeats(one, cause) for cause in causes if cause is not one)]


def _repeats(finding: Finding, cause: Finding) -> bool:
    here = (finding.file, finding.line) == (cause.file, cause.line)
    if finding.id != UNDEFINED:
        subject = finding.message.partition(": ")[0]
        other_vlan = subject.startswith("VNI ") and cause.message.startswith(f"{subject}: VLAN: ")
        return here and other_vlan and finding.message.endswith(NONE)
    used = NUMBER.search(finding.message)
    if used is None:
        return False
    mapped = cause.message.startswith("VNI ") and f": VLAN: expected {used[1]}, got" in cause.message
    return mapped or (here and used[1] in WORD.findall(cause.message))


def follows(finding: Finding, rest: Sequence[Finding]) -> bool:
    """Whether a planned statement about the same object is missing, so that a setting or a definition is.

    The caller reports the statements that such a finding covered, so nothing is lost with it.
    """
    absent = finding.message.endswith(NONE) or finding.id == UNDEFINED
    named = OBJECT.match(finding.message)
    if not absent or named is None or " more: " in finding.message:
        return False
    name = named[1].rstrip(":,")
    return any(
        name in WORD.findall(one.message.removeprefix(LOST).partition(" and ")[0])
        for one in rest
        if one.id == STATEMENT and one.severity == ERROR and one.message.startswith(LOST)
    )
