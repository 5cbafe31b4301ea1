"""Logins that need no password, or that of root."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.checks import ERROR, WARNING, FilesCheck, Finding, Merge, Network


class Logins(FilesCheck):
    """Looks for users without a password, and for root logins over SSH with a password.

    Without a password every host that reaches the management address is an administrator. The password of root is the same
    for all administrators, so a log does not show which of them logged in, and its name is known to everyone who guesses
    passwords.
    """

    id = "FAB2514"
    title = "Every login needs the password or key of a user"
    severity = ERROR
    else_severity = (
        "warning for a root login over SSH, and for a login without a password that is possible at the console only"
    )
    example = "`username admin privilege 15 nopassword`"
    remediation = "configure a password or SSH key for every user, and deny root logins over SSH"
    of_device = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for fact in facts.services.open_logins:
                yield self.finding_at(facts, fact, fact.value, merge=Merge(text=fact.value))
            for fact in facts.services.weak_logins:
                yield self.finding_at(facts, fact, fact.value, severity=WARNING, merge=Merge(text=fact.value))
