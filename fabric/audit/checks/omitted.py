"""Findings that are left out: consequences of other findings, and those that the intent silences with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabric.audit.checks.base import Check, every, run
from fabric.audit.checks.finding import ERROR, NOTE, SEVERITIES, WARNING, About, Finding, Subject
from fabric.audit.checks.network import Network
from fabric.audit.checks.reports.common import OTHER, rule_of
from fabric.base.grouping import grouped
from fabric.base.text import plural
from fabric.model.facts import Facts
from fabric.model.plan import Plan
from fabric.nos.reading import read_device

# --- missing statements ---------------------------------------------------------------------------------------

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
    same_line = (finding.file, finding.line) == (cause.file, cause.line)
    if finding.about.fact:
        return same_line and subject.kind == "VNI" and changed.fact == "vlan" and changed.subjects == (subject,)
    if NUMBERED.isdisjoint(subject.kind.split()):
        return False
    mapped = changed.fact == "vlan" and changed.expected == subject.name
    return mapped or (same_line and subject.name in _words(" ".join(changed.values)))


def follows(finding: Finding, rest: Sequence[Finding]) -> bool:
    """Whether a planned statement about the same object is missing, so that a setting or a definition is.

    The caller reports the statements that such a finding covered, so nothing is lost with it.
    """
    subject, about = _lost(finding.about), finding.about
    if about.absent and len(about.subjects) > 1:  # what many ports lack at once comes from what they share
        return any(
            other.severity == ERROR and other.about.path and about.expected in _words(other.about.path[-1]) for other in rest
        )
    if subject is None or not subject.name:
        return False
    explains = _explains_port if not subject.kind else _explains if subject.kind in OBJECTS else None
    return explains is not None and any(
        other.severity == ERROR and other.about.path and explains(other.about, subject, about) for other in rest
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


# --- misspellings ---------------------------------------------------------------------------------------------
# What follows from a misspelled word: what is not found in the same files with the word corrected.
#
# `neighbor 10.0.0.1 remote-asn 65001` is a misspelled word, a neighbor without an AS number, and a statement that the other
# devices of the role have. The word is reported, with the worst of the rest.

SPELLING = "FAB2510"
SAYS_LITTLE = frozenset(("FAB289", "FAB292", "FAB295"))  # the line of the word says the same
Recheck = Callable[[Network], list[Finding]]


def without_results_of_slips(network: Network, findings: list[Finding], recheck: Recheck) -> list[Finding]:
    """Findings that go with the correction of a word are part of the finding about the word, which is as severe.

    Args:
        network: the devices.
        findings: of all checks.
        recheck: the findings of other devices.
    """
    slips = grouped((finding.device, finding) for finding in findings if finding.id == SPELLING)
    if not slips:
        return findings
    by_slip = grouped((id(slip), finding) for slip, finding in _results(findings, recheck(_corrected(network, slips)), slips))
    gone = {id(finding) for results in by_slip.values() for finding in results}
    return [_with(finding, by_slip.get(id(finding), ())) for finding in findings if id(finding) not in gone]


def _results(
    before: Sequence[Finding], after: Sequence[Finding], slips: Mapping[str, Sequence[Finding]]
) -> Iterator[tuple[Finding, Finding]]:
    """(finding about a word, finding that its correction removes). One that only changes stays."""
    left, changed = set(map(_key, after)), {_place(one) for one in set(after).difference(before)}
    for one in before:
        device = next((name for name in (one.device, *one.about.devices) if name in slips), None)
        if device is not None and one.id != SPELLING and _key(one) not in left and _place(one) not in changed:
            yield min(slips[device], key=lambda slip: (slip.file != one.file, abs(slip.line - one.line))), one


def _key(finding: Finding) -> tuple[str, ...]:
    return finding.id, finding.device, finding.file, finding.message


def _place(finding: Finding) -> tuple[str, str, str, int]:
    return finding.id, finding.device, finding.file, finding.line


def _with(slip: Finding, results: Sequence[Finding]) -> Finding:
    """A finding about a word with what follows from it."""
    if not results:
        return slip
    severity = min((slip.severity, *(one.severity for one in results)), key=SEVERITIES.index)
    telling = sorted((one for one in results if one.id not in SAYS_LITTLE), key=lambda one: SEVERITIES.index(one.severity))
    more = f"; {plural(len(telling) - 1, 'more finding')} of this cause" if telling[1:] else ""
    message = f"{slip.message}; so {telling[0].message}{more}" if telling else slip.message
    ids = tuple(sorted({one.id for one in results}))
    return replace(slip, severity=severity, message=message, about=replace(slip.about, explains=ids))


def _corrected(network: Network, slips: Mapping[str, Sequence[Finding]]) -> Network:
    return replace(network, devices=[_spelled(one, slips[one.name]) if one.name in slips else one for one in network.devices])


def _spelled(facts: Facts, slips: Sequence[Finding]) -> Facts:
    """A device read with the usual word in place of each misspelled one."""
    texts = dict(facts.texts)
    for slip in slips:
        if slip.file not in texts:
            continue  # of another device with the same host name
        word = re.compile(rf"(?<![\w-]){re.escape(slip.about.got)}(?![\w-])")
        texts[slip.file] = word.sub(lambda _, usual=slip.about.expected: usual, texts[slip.file])  # type: ignore[misc]
    read = read_device(facts.name, facts.nos, texts)
    read.partial = facts.partial
    return read


# --- silence --------------------------------------------------------------------------------------------------
# Suppressions of the intent: each with its reason; their findings are still reported, as silenced.


@dataclass(frozen=True)
class Silenced:
    """What a site silences, and what came of it."""

    plan: Plan
    used: Collection[tuple[str, str]]  # (fabric or "", code) of the silences that silenced something
    ran: Collection[str]  # codes of the checks that were applied


class NeedlessSilence(Check[Silenced]):
    """Compares the suppressions of the intent with the findings of the run.

    A suppression that matches nothing is out of date: it only hides the next mistake of that kind.
    """

    id = "FAB200"
    title = "Every suppression matches at least one finding"
    severity = NOTE
    example = '`checks: {silence: {FAB234: "two spines"}}` on a fabric with four spines'
    remediation = "remove the line from `checks: {silence: …}`"
    subject, needs = "silence", "intent"

    def check(self, silenced: Silenced) -> Iterator[Finding]:
        plan = silenced.plan
        places = [("", plan.settings.silence), *((name, fabric.spec.silence) for name, fabric in plan.fabrics.items())]
        for fabric, silence in places:
            for code in silence:
                path = ("fabrics", fabric, "checks", "silence", code) if fabric else ("checks", "silence", code)
                place = plan.at(*path, key=True)
                if (fabric, code) not in silenced.used and code in silenced.ran:
                    yield self.at(place, f"{code} is suppressed, but has no findings")
                elif not _is_known(code):
                    yield self.at(place, f"{code} is suppressed, but no check has this id", severity=WARNING)


@dataclass(frozen=True)
class Silences:
    """What a site silences: everywhere, and in each fabric."""

    plan: Plan

    def apply(self, findings: Iterable[Finding], ran: Iterable[str]) -> Iterator[Finding]:
        """The findings, silenced ones with their reason; a note for a silence of a check that ran and found nothing."""
        used: set[tuple[str, str]] = set()
        for finding in findings:
            fabric = self._fabric(finding)
            site, of_fabric = self.plan.settings.silence, self._own(fabric)
            if finding.id in of_fabric:
                used.add((fabric, finding.id))
                yield replace(finding, silenced=of_fabric[finding.id])
            elif finding.id in site:
                used.add(("", finding.id))
                yield replace(finding, silenced=site[finding.id])
            else:
                yield finding
        yield from run(NeedlessSilence, Silenced(self.plan, used, set(ran)))

    def _own(self, fabric: str) -> Mapping[str, str]:
        return self.plan.fabrics[fabric].spec.silence if fabric else {}

    def _fabric(self, finding: Finding) -> str:
        """Of the device, else of the place in the intent."""
        for name, fabric in self.plan.fabrics.items():
            if finding.device and finding.device in fabric.by_name:
                return name
        if finding.file != self.plan.settings.positions.file:
            return ""
        at, sections = self.plan.at, self.plan.settings.sections
        starts = {at(key, key=True).line: "" for key in sections}  # `management:` is no fabric's
        starts |= {at("fabrics", name, key=True).line: name for name in self.plan.fabrics}
        before = [line for line in starts if line <= finding.line]
        return starts[max(before)] if before else ""


def _is_known(code: str) -> bool:
    """Whether a check has this id, one that asks a server among them, or a stage before the checks gives it."""
    every()
    return rule_of(code).subject != OTHER.subject
