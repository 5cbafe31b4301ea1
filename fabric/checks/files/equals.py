"""Devices of one role compared with each other: the only witnesses where there is no plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fabric.checks import ERROR, NOTE, WARNING, Check, Finding, Network
from fabric.checks.equals.compare import Comparison, compared
from fabric.checks.equals.roles import Outlines


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
    """Judges devices by their equals, after the checks of facts."""

    subject, needs = "files", "files"


class Equals(EqualsCheck):
    """Compares the statements of every device with those of the other devices of its role.

    Switches of one role have the same policies, timers, maps and features; addresses, AS numbers, tenants and ports differ
    by design. A statement that all others have, or have with another value, is most often an edit by hand.
    """

    id = "FAB289"
    title = "Devices of one role have the same statements"
    severity = WARNING
    example = "`maximum-paths 4` on seven leaves, `maximum-paths 1` on leaf003"
    remediation = "configure the device as the others of its role, unless it differs by design"

    def judge(self, subject: Compared) -> Iterator[Finding]:
        reported = {(one.file, one.line) for one in subject.reported if one.severity != NOTE and one.line}
        for one in subject.comparison.unlike:
            if (one.place.file, one.place.line) not in reported:
                yield self.on(one.facts, one.place, one.message)
