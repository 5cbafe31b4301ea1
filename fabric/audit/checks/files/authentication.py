"""Authentication of sessions: both ends must have it, and the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabric.audit.checks import ERROR, FilesCheck, Finding, Network, place, session_name
from fabric.base.grouping import grouped
from fabric.base.text import listed
from fabric.model.facts import Authentication, Facts, Located, Neighbor


class Authenticated(FilesCheck):
    """Compares the authentication of both ends of every BGP session.

    A device drops TCP segments without the signature that it expects, and those with a signature that it does not expect
    (RFC 2385 section 2, RFC 5925 section 7.3). With a password at one end only, or with two passwords, the session never
    starts. Encrypted passwords are not compared.
    """

    id = "FAB2513"
    title = "Both ends of a session have the same authentication"
    severity = ERROR
    example = "`neighbor 10.64.0.1 password …` on leaf001; spine001 has no password for leaf001"
    remediation = "configure the same password or key chain at both ends of the session"

    def check(self, network: Network) -> Iterator[Finding]:
        pairs = list(_pairs(network))
        for one, other in pairs:
            if what := _difference(one.peer.authentication, other.peer.authentication):
                there = f"{other.facts.name} ({place(other.fact)})"
                yield self.finding_at(one.facts, one.fact, f"{one.name}: {what} than on {there}")
        for rows in grouped(
            ((one.facts.name, one.has, other.words), (one, other)) for one, other in _one_sided(pairs)
        ).values():
            yield self._one_sided(rows)

    def _one_sided(self, rows: Sequence[tuple[_End, _End]]) -> Finding:
        """One finding for all sessions of a device, as most often one statement of a group is the cause."""
        here, there = rows[0]
        names = listed([end.name for end, _ in rows], 2)
        others = listed(list(dict.fromkeys(end.facts.name for _, end in rows)), 2)
        end = "other end" if len(rows) == 1 else "other ends"
        message = f"{here.words}, but none at the {end}" if here.has else f"no {there.words}, but one at the {end}"
        return self.finding_at(here.facts, here.fact, f"{names}: {message}: {others} ({place(there.fact)})")


@dataclass(frozen=True, slots=True)
class _End:
    """One end of a session."""

    facts: Facts
    peer: Neighbor

    @property
    def has(self) -> bool:
        return self.peer.authentication is not None

    @property
    def fact(self) -> Located[object]:
        """The authentication, else the neighbor."""
        return self.peer.authentication or Located(None, self.peer.line, self.peer.file)

    @property
    def name(self) -> str:
        return session_name(self.peer.vrf, self.peer.peer)

    @property
    def words(self) -> str:
        """What the authentication is called."""
        method = self.peer.authentication.value.method if self.peer.authentication else ""
        return {"MD5": "password", "": "key chain"}.get(method, f"{method} key chain")


def _pairs(network: Network) -> Iterator[tuple[_End, _End]]:
    """The ends of every session between two devices."""
    for facts, peer, far, reverse in network.pairs():
        yield _End(facts, peer), _End(far, reverse)


def _one_sided(pairs: Sequence[tuple[_End, _End]]) -> Iterator[tuple[_End, _End]]:
    """Sessions with authentication at one end, the cause first: a device whose sessions all differ, else the open end."""
    agree = {end.facts.name for one, other in pairs if one.has == other.has for end in (one, other)}
    differ = [(one, other) if other.has else (other, one) for one, other in pairs if one.has != other.has]
    counts = Counter(end.facts.name for pair in differ for end in pair if end.facts.name not in agree)
    for open_, guarded in differ:
        guarded_first = counts[guarded.facts.name] > counts[open_.facts.name]
        yield (guarded, open_) if guarded_first else (open_, guarded)


def _difference(mine: Located[Authentication] | None, theirs: Located[Authentication] | None) -> str:
    """What is certainly different where both ends have authentication; "" for nothing."""
    if mine is None or theirs is None:
        return ""
    own, far = mine.value, theirs.value
    if own.method and far.method and own.method != far.method:
        return f"another method ({own.method})"
    return "another password" if own.digest and far.digest and own.digest != far.digest else ""
