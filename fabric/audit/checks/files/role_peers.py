"""Devices of one role compared with each other: the only witnesses where there is no plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabric.audit.checks import ERROR, NOTE, WARNING, About, Check, Finding, Network
from fabric.audit.checks.role_peers.compare import Comparison, Unlike
from fabric.audit.checks.role_peers.roles import Outlines
from fabric.audit.checks.role_peers.spelling import Misspelled, misspelled
from fabric.base.text import plural
from fabric.model.facts import Located
from fabric.nos.statements.conditions import FEATURE, Violation

EXPLAINS = {  # a check of facts → words of the statements whose absence it reports
    "FAB259": re.compile(r"\bactivate\b|\bfamily\b"),
    "FAB260": re.compile("maximum-|prefix-limit"),
    "FAB276": re.compile("watchdog"),
    "FAB2500": re.compile("next-?hop|unchanged"),
    "FAB2501": re.compile("communit"),
    "FAB2502": re.compile("reflector"),
    "FAB2503": re.compile("multihop"),
    "FAB2513": re.compile("password|authentication"),
    "FAB2515": re.compile("retain"),
    "FAB2560": re.compile("prefix-list|route-filter|network|redistribute"),
    "FAB2561": re.compile("prefix-list|route-filter"),
    "FAB2575": re.compile(r"\bvni\b|\bvn-segment\b"),
    "FAB2576": re.compile(r"\bvrf\b|\binterface\b"),
}


@dataclass(frozen=True)
class Compared:
    """Devices whose files were read, and what the checks of facts have found in them."""

    network: Network
    reported: Sequence[Finding]
    outlines: Outlines
    comparison: Comparison

    @cached_property
    def lacking(self) -> dict[int, list[Violation]]:
        """Statements without the one that they need, by `id()` of the device's facts."""
        found = self.outlines.violations
        return {
            id(facts): [one for one in found.get(id(facts), ()) if one.condition.code == FEATURE]
            for facts in self.network.devices
        }

    @cached_property
    def misspelled(self) -> list[Misspelled]:
        """Words that are most likely misspelled, of all devices."""
        return [one for nos, forms in self.outlines.forms.items() for one in misspelled(forms, nos)]


class EqualsCheck(Check[Compared]):
    """Compares devices of one role, after the checks of facts."""

    subject, needs = "files", "files"


class Equals(EqualsCheck):
    """Compares the statements of every device with those of the other devices of its role.

    Switches of one role have the same policies, timers, maps and features; addresses, AS numbers, tenants and ports differ
    by design. A statement that all others have, or have with another value, is usually a manual edit.
    """

    id = "FAB289"
    title = "Devices of one role have the same statements"
    severity = WARNING
    example = "`maximum-paths 4` on seven leaves, `maximum-paths 1` on leaf003"
    remediation = "configure the device like the others of its role, unless it differs by design"

    def check(self, subject: Compared) -> Iterator[Finding]:
        reported = {(one.file, one.line) for one in subject.reported if one.severity != NOTE and one.line}
        reported |= {(one.place.file, one.place.line) for one in subject.misspelled}
        known: set[tuple[str, str, str, int]] = set()
        for one in subject.comparison.unlike:
            key = one.facts.name, one.statement, one.place.file, one.place.line
            if key[2:] not in reported and key not in known and not self._is_explained(subject, one):
                known.add(key)  # what a device lacks, its only object of a kind lacks too
                yield self.finding_at(one.facts, one.place, one.message)

    def _is_explained(self, subject: Compared, one: Unlike) -> bool:
        """Whether another finding has the same cause: it names what the missing statement does."""
        lacking = subject.lacking.get(id(one.facts), ())
        if any(pattern.fullmatch(one.statement) for lack in lacking for pattern in lack.condition.unless):
            return True
        ids = {found.id for found in subject.reported if found.device == one.facts.name and found.severity != NOTE}
        return not one.got and any(id_ in ids and words.search(one.statement) for id_, words in EXPLAINS.items())


class Needs(EqualsCheck):
    """Looks for statements without effect because another one is missing, and for disabled processes and tunnels.

    A feature that is used but not enabled, routing that is disabled, a BGP process or tunnel that is shut down: the rest of
    the config looks complete, but has no effect.
    """

    id = "FAB2506"
    title = "Configured features are enabled"
    severity = ERROR
    example = "`router bgp 65001` on NX-OS without `feature bgp`"
    remediation = "enable the feature, or remove the statements that use it"

    def check(self, subject: Compared) -> Iterator[Finding]:
        for facts in subject.network.devices:
            reported: set[str] = set()
            for one in subject.lacking.get(id(facts), ()):
                message = one.condition.say.format(**one.words)
                if message not in reported:
                    reported.add(message)
                    at = Located(None, one.place.line, one.place.file)
                    yield self.finding_at(facts, at, message, hint=one.condition.fix.format(**one.words))


class Spelling(EqualsCheck):
    """Looks for a word that only one statement has, where similar statements have a word that differs in one letter.

    A network OS rejects an unknown command when it loads a file, and most ignore the line: `neigbor 10.0.0.1 activate` is
    a session without routes.
    """

    id = "FAB2510"
    title = "Statements are spelled as similar ones"
    severity = WARNING
    else_severity = "the severity of what follows from the word, which is not reported separately"
    example = "`vn 10001` in one VRF, `vni 10002` in all others"
    remediation = "correct the word, if it is misspelled"

    def check(self, subject: Compared) -> Iterator[Finding]:
        reported = {(word.file, word.line) for word in subject.reported if word.severity != NOTE and word.line}
        devices = {id(facts): facts for facts in subject.network.devices}
        for word in subject.misspelled:
            if (word.place.file, word.place.line) not in reported and word.device in devices:
                known = f"{plural(word.similar, 'similar statement')} have" if word.similar else "the end of a section is"
                message = f"`{word.word}`: {known} `{word.usual}`"
                about = About(expected=word.usual, got=word.word)
                yield self.finding_at(
                    devices[word.device], Located(None, word.place.line, word.place.file), message, about=about
                )
