"""What sessions carry, and on what terms: families, timers, limits, equal paths, authentication."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fabric.audit.checks import (
    ERROR,
    NOTE,
    WARNING,
    Ends,
    FilesCheck,
    Finding,
    Merge,
    Network,
    outliers,
    place,
    session_name,
    table_name,
)
from fabric.audit.checks.files.equal_paths import carries_ip
from fabric.base.grouping import grouped
from fabric.base.text import listed
from fabric.model.facts import Authentication, Bgp, Facts, Located, Neighbor

# --- families, timers, limits ---------------------------------------------------------------------------------

VPN = re.compile(r"\bvpn")  # ipv4 vpn, vpn-ipv4, inet-vpn; not evpn
ODD_SESSIONS = 3  # with another hold time at the far end


class SessionTerms(FilesCheck):
    """Compares address families, hold time and BFD at both ends of every session.

    A family that one end does not activate carries no routes, BFD at one end only detects nothing, and the shorter hold
    time applies to both.
    """

    id = "FAB259"
    title = "Both ends of a session agree on address families, timers and BFD"
    severity = ERROR
    else_severity = "warning where another session has the family, or VPN routes have no VRF"
    example = "`neighbor 10.0.0.11 activate` for EVPN at one end only"
    remediation = "configure the same address families, timers and BFD setting at both ends"
    kinds: ClassVar = ("families", "keepalive", "hold", "bfd")

    def check(self, network: Network) -> Iterator[Finding]:
        silent: dict[tuple[str, str], list[tuple[Facts, Neighbor, str]]] = {}  # ends without a family, by device
        slow = HoldTimes(network)
        yield from (self.finding_at(facts, fact, message, severity=WARNING) for facts, fact, message in slow.odd())
        for ends in network.pairs():
            facts, peer, far, reverse = ends
            for without, neighbor, other, theirs in (ends, Ends(far, reverse, facts, peer)):
                if theirs.families and not neighbor.families:  # readers fill in defaults: this end has none activated
                    there = f"{other.name} has", place(theirs.families[0])
                    families = ", ".join(sorted(fact.value for fact in theirs.families))
                    row = without, neighbor, f"{there[0]} {families} ({there[1]})"
                    silent.setdefault((without.name, families), []).append(row)
            yield from self._families(network, ends)
            yield from self._timers(ends, slow.blamed(ends))
        yield from self._without_family(silent.values())

    def _without_family(self, devices: Iterable[list[tuple[Facts, Neighbor, str]]]) -> Iterator[Finding]:
        """One finding for all sessions of a device, as one statement of a group activates them."""
        for rows in devices:
            facts, peer, there = rows[0]
            names = listed([session_name(peer.vrf, peer.peer) for _, peer, _ in rows], 2)
            home = Located(None, peer.line, peer.file)
            yield self.finding_at(facts, home, f"{names}: no address family, but {there}")

    def _timers(self, ends: Ends, blamed: bool) -> Iterator[Finding]:
        facts, peer, far, reverse = ends
        if bool(peer.bfd and peer.bfd.value) != bool(reverse.bfd and reverse.bfd.value):
            with_it, without, half = (facts, far, reverse) if peer.bfd and peer.bfd.value else (far, facts, peer)
            line = Located(None, half.line, half.file)
            name = session_name(half.vrf, half.peer)
            yield self.finding_at(without, line, f"{name}: no BFD, but BFD is enabled on {with_it.name}", severity=WARNING)
        if not blamed and peer.hold_s and reverse.hold_s and peer.hold_s.value != reverse.hold_s.value:
            where = f"{reverse.hold_s.value} s on {far.name} ({place(reverse.hold_s)})"
            name = session_name(peer.vrf, peer.peer)
            yield self.finding_at(
                facts, peer.hold_s, f"{name}: hold time {peer.hold_s.value} s, but {where}", severity=WARNING
            )

    def _families(self, network: Network, ends: Ends) -> Iterator[Finding]:
        """One in common at least, and none but IPv4 at one end alone: that one is on by default on some network OSes."""
        facts, peer, far, reverse = ends
        mine, theirs = {fact.value: fact for fact in peer.families}, {fact.value: fact for fact in reverse.families}
        if not mine or not theirs:
            return
        if not mine.keys() & theirs.keys():
            got = f"{', '.join(sorted(mine))}, but {far.name} has {', '.join(sorted(theirs))}"
            name = session_name(peer.vrf, peer.peer)
            yield self.finding_at(
                facts, peer.families[0], f"{name}: no address family in common: {got} ({place(reverse.families[0])})"
            )
            return
        if peer.dynamic or reverse.dynamic:
            return  # one listener serves sessions of several families
        for family in sorted((mine.keys() ^ theirs.keys()) - {"ipv4"}):
            without, neighbor, other, fact = (
                (far, reverse, facts, mine[family]) if family in mine else (facts, peer, far, theirs[family])
            )
            home = Located(None, neighbor.line, neighbor.file)
            where = f"is configured only on {other.name} ({place(fact)})"
            message = f"{session_name(neighbor.vrf, neighbor.peer)}: address family {family} {where}"
            # A border without VRFs that a reflector treats like its other clients.
            idle = VPN.search(family) and not any(without.bgp)
            severity = WARNING if idle or _has_another_session(network, ends, family) else ""
            yield self.finding_at(without, home, message, severity=severity)


def _has_another_session(network: Network, ends: Ends, family: str) -> bool:
    """Whether two devices have another session for an address family: EVPN between loopbacks, IPv6 over IPv6."""
    for own, there in ((ends.facts, ends.remote), (ends.remote, ends.facts)):
        for peer in own.neighbors():
            meant = any(fact.value == family for fact in peer.families) or (family == "ipv6" and ":" in peer.peer)
            far = network.remote_end(peer) if meant and peer is not ends.peer and peer is not ends.reverse else None
            if far is not None and far.facts is there:
                return True
    return False


class HoldTimes:
    """Hold times of a device that none of its neighbors has, with three neighbors or more: the device is the cause."""

    def __init__(self, network: Network) -> None:
        self.rows: dict[tuple[str, int], list[tuple[Facts, Neighbor, Neighbor]]] = {}
        counts: Counter[tuple[str, int]] = Counter()
        for facts, _, peer in network.sessions():
            far = network.remote_end(peer)
            if far is not None and far.reverse is not None and peer.hold_s and far.reverse.hold_s:
                key = facts.name, peer.hold_s.value
                counts[key] += 1
                if peer.hold_s.value != far.reverse.hold_s.value:
                    self.rows.setdefault(key, []).append((facts, peer, far.reverse))
        self.causes = {key for key, rows in self.rows.items() if len(rows) == counts[key] >= ODD_SESSIONS}
        if len(self.causes) * 2 >= len({name for name, _ in counts}):
            self.causes = set()

    def blamed(self, ends: Ends) -> bool:
        """Whether one end of a session is a cause."""
        both = ((ends.facts, ends.peer.hold_s), (ends.remote, ends.reverse.hold_s))
        return any(hold is not None and (device.name, hold.value) in self.causes for device, hold in both)

    def odd(self) -> Iterator[tuple[Facts, Located[int] | None, str]]:
        """One row for a device, on the first line with its hold time."""
        for key in sorted(self.causes):
            facts, peer, reverse = self.rows[key][0]
            if peer.hold_s and reverse.hold_s:
                got = f"hold time {peer.hold_s.value} s, but {reverse.hold_s.value} s on all {len(self.rows[key])} neighbors"
                yield facts, peer.hold_s, got


class PrefixLimit(FilesCheck):
    """Looks for eBGP neighbors without a maximum number of prefixes.

    A neighbor that leaks a full table fills the forwarding tables of every switch behind it. A limit closes the session
    first (RFC 7454 section 8). It matters most on sessions that leave the files, where others decide what is sent; between
    the devices of a fabric, no limit at all is a common choice, as is a stated `maximum-routes 0`.
    """

    id = "FAB260"
    title = "Every eBGP neighbor has a prefix limit"
    severity = WARNING
    else_severity = "note if no neighbor of the kind has a limit"
    example = "`neighbor 10.64.0.1` without `maximum-prefix`; the other neighbors have it"
    remediation = "set a prefix limit (`maximum-prefix`) on the peer group"
    kinds: ClassVar = ("max_prefix",)

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for process in facts.bgp.values():
                some = any(peer.families for peer in process.neighbors.values())
                active = [peer for peer in process.neighbors.values() if peer.families or not some]  # others carry nothing
                external = [peer for peer in active if _external(process, peer) and carries_ip(peer)]
                kinds = grouped((_leaves(network, peer), peer) for peer in external)
                yield from self._inside(facts, process, kinds.get(False, []))
                yield from self._outside(facts, kinds.get(True, []))

    def _inside(self, facts: Facts, process: Bgp, peers: list[Neighbor]) -> Iterator[Finding]:
        """One note for all, unless some have a limit."""
        open_ = [peer for peer in peers if peer.max_prefix is None]
        if open_ and _limited(peers):
            yield from (self._lacks(facts, peer) for peer in open_)
        elif open_:
            merge = Merge(text="no prefix limit on {uses} of {devices}", uses=len(open_), noun="eBGP neighbor")
            neighbors = f"{len(open_)} eBGP neighbors" if open_[1:] else "the eBGP neighbor"
            message = f"{table_name(process.vrf)}: no prefix limit on {neighbors}"
            yield self.finding_at(facts, Located(None, process.line, process.file), message, severity=NOTE, merge=merge)

    def _outside(self, facts: Facts, peers: list[Neighbor]) -> Iterator[Finding]:
        """A note for each without a limit, also for one that states so; a warning where others have one."""
        limited = _limited(peers)
        for peer in peers:
            if peer.max_prefix is None and limited:
                yield self._lacks(facts, peer)
            elif peer.max_prefix is None or not peer.max_prefix.value:
                name = session_name(peer.vrf, peer.peer)
                fact: Located[Any] = peer.max_prefix or Located(None, peer.line, peer.file)
                merge = Merge(
                    text="no prefix limit on sessions that leave the files: {names}",
                    names=(f"{facts.name} {peer.peer}",),
                    most=3,
                )
                message = f"{name}: no prefix limit on a session that leaves the files"
                yield self.finding_at(facts, fact, message, severity=NOTE, merge=merge)

    def _lacks(self, facts: Facts, peer: Neighbor) -> Finding:
        message = f"{session_name(peer.vrf, peer.peer)}: no prefix limit; the other neighbors have one"
        return self.finding_at(facts, Located(None, peer.line, peer.file), message)


def _leaves(network: Network, peer: Neighbor) -> bool:
    """Whether the far end of a session is known to be in no file; that of a listener or an unnumbered one is not known."""
    return not (peer.dynamic or peer.interface) and network.remote_end(peer) is None


def _limited(peers: Iterable[Neighbor]) -> bool:
    return any(peer.max_prefix and peer.max_prefix.value for peer in peers)


def _external(process: Bgp, peer: Neighbor) -> bool:
    remote = peer.remote_as.value if peer.remote_as else None
    return remote == "external" or (isinstance(remote, int) and process.asn is not None and remote != process.asn.value)


class Timers(FilesCheck):
    """Compares the BGP hold times of all sessions of a device.

    Sessions with different timers fail one after another, so the fabric converges at the pace of the slowest. A single
    different value is usually left over from a test.
    """

    id = "FAB263"
    title = "All BGP sessions of a device have the same hold time"
    severity = NOTE
    example = "hold time 180 s on one neighbor, 9 s on the others"
    remediation = "set the timers on the peer group, not on individual neighbors"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for process in facts.bgp.values():
                rows = [(peer.hold_s.value, peer) for peer in process.neighbors.values() if peer.hold_s]
                usual, odd = outliers(rows) if len(rows) > 2 else (None, [])
                for value, peer in odd:
                    name = session_name(peer.vrf, peer.peer)
                    yield self.finding_at(
                        facts, peer.hold_s, f"{name}: hold time {value} s, but {usual} s on other neighbors"
                    )


# --- authentication of both ends ------------------------------------------------------------------------------


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
