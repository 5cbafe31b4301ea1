"""Devices of one role compared with each other: the only witnesses where there is no plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fabric.checks import ERROR, NOTE, WARNING, Check, Finding, Network, syntax_of
from fabric.checks.equals.compare import Comparison, compared
from fabric.checks.equals.outline import GIVEN
from fabric.checks.equals.roles import Outlines
from fabric.facts import Located


@dataclass(frozen=True)
class Compared:
    """Devices whose files were read, and what the checks of facts have found in them."""

    network: Network
    reported: Sequence[Finding]
    outlines: Outlines = field(default_factory=Outlines)

    @cached_property
    def comparison(self) -> Comparison:
        return compared(self.network.devices, self.outlines)


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

    def judge(self, subject: Compared) -> Iterator[Finding]:
        reported = {(one.file, one.line) for one in subject.reported if one.severity != NOTE and one.line}
        for one in subject.comparison.unlike:
            if (one.place.file, one.place.line) not in reported:
                yield self.on(one.facts, one.place, one.message)


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

    def judge(self, subject: Compared) -> Iterator[Finding]:
        _ = subject.comparison  # reads every file
        for facts in subject.network.devices:
            clues = subject.outlines.clues.get(id(facts), ())
            needs = syntax_of(facts.nos).rules.needs if clues else ()
            there = {(clue.rule, clue.shared) for clue, _ in clues if not clue.used}
            reported: set[str] = set()
            for clue, place in clues:
                if not clue.used or (clue.rule, clue.shared) in there:
                    continue
                need = needs[clue.rule]
                if need.given is not None and (clue.rule, GIVEN) not in there:
                    continue
                message = need.say.format(**dict(clue.words))
                if message not in reported:
                    reported.add(message)
                    at = Located(None, place.line, place.file)
                    yield self.on(facts, at, message, hint=need.fix.format(**dict(clue.words)))
