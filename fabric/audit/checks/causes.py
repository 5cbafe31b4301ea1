"""A statement that is missing explains what depends on it: the statement is reported, what follows from it is not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fabric.audit.checks.finding import ERROR, About, Finding, Subject

OBJECTS = ("neighbor", "VLAN", "VNI", "VRF")  # kinds of objects that a statement makes, with settings of their own
NUMBERED = frozenset(("VLAN", "VNI"))  # in the words for kinds of objects with such numbers for names: "VNI of VLAN"
WORD = re.compile(r"[\w.:/-]+")  # of a statement


def without_repetitions(found: list[Finding]) -> list[Finding]:
    """Without what a changed value says in other words: settings of an object that has another number, names of that number.

    `vxlan vlan 101 vni 10001` for VLAN 100: VLAN 101 is not defined, VLAN 100 has no VNI, and VNI 10001 no route target.
    """
    causes = [one for one in found if one.severity == ERROR and not one.about.absent]
    return [one for one in found if not any(_repeats(one, cause) for cause in causes)]


def without_undefined_sources(found: list[Finding]) -> list[Finding]:
    """Without undefined ports that are local addresses of sessions: FAB257 names the session as well."""
    sources = {(one.file, one.line, one.about.got) for one in found if one.id == "FAB257"}
    return [one for one in found if one.id != "FAB281" or (one.file, one.line, _name(one)) not in sources]


def _name(finding: Finding) -> str:
    return next((subject.name for subject in finding.about.subjects), "")


def _repeats(finding: Finding, cause: Finding) -> bool:
    subject, changed = _lost(finding.about), cause.about
    if subject is None:
        return False
    here = (finding.file, finding.line) == (cause.file, cause.line)
    if finding.about.fact:
        return here and subject.kind == "VNI" and changed.fact == "vlan" and changed.subjects == (subject,)
    if NUMBERED.isdisjoint(subject.kind.split()):
        return False
    mapped = changed.fact == "vlan" and changed.expected == subject.name
    return mapped or (here and subject.name in _words(" ".join(changed.values)))


def follows(finding: Finding, rest: Sequence[Finding]) -> bool:
    """Whether a planned statement about the same object is missing, so that a setting or a definition is.

    The caller reports the statements that such a finding covered, so nothing is lost with it.
    """
    subject, about = _lost(finding.about), finding.about
    if about.absent and len(about.subjects) > 1:  # what many ports lack at once comes from what they share
        return any(one.severity == ERROR and one.about.path and about.expected in _words(one.about.path[-1]) for one in rest)
    if subject is None or not subject.name:
        return False
    explains = _explains_port if not subject.kind else _explains if subject.kind in OBJECTS else None
    return explains is not None and any(
        one.severity == ERROR and one.about.path and explains(one.about, subject, about) for one in rest
    )


def explaining(rest: Sequence[Finding], dropped: Sequence[Finding]) -> list[Finding]:
    """The findings, with the ids of those that follow from each and were dropped."""
    ids = [tuple(sorted({one.id for one in dropped if follows(one, [cause])})) for cause in rest]
    return [replace(one, about=replace(one.about, explains=own)) if own else one for one, own in zip(rest, ids, strict=True)]


def _explains(cause: About, subject: Subject, _: About) -> bool:
    return subject.name in _words(cause.statement)


def _explains_port(cause: About, subject: Subject, about: About) -> bool:
    """Whether the port itself is missing, or the statement in it that sets what is not set: `shutdown`, or with the value."""
    if not any(subject.name in _words(part) for part in cause.path):
        return False
    here = _words(cause.path[-1])
    return subject.name in here or about.fact == "enabled" or about.expected in here


def _lost(about: About) -> Subject | None:
    """The one object that is not there, or lacks a setting."""
    return about.subjects[0] if about.absent and len(about.subjects) == 1 else None


def _words(text: str) -> list[str]:
    return WORD.findall(text)
