"""Faults of BGP sessions: each session once, at the end that is not as planned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fabric.audit.cabling.planned import canonical
from fabric.audit.verify.reported_state import peer_key
from fabric.audit.verify.sessions import OVERLAY, Planned
from fabric.audit.verify.site import Fault, Site
from fabric.base.grouping import grouped
from fabric.base.text import listed, plural
from fabric.nos.state.records import BGP, ESTABLISHED, ROUTES, Peer

STOPPED, SILENT, SESSION, EXTRA, ASN, FAMILY, BFD = ("stopped", "silent", "session", "extra-session", "asn", "family", "bfd")
ABSENT = ": no such neighbor"


@dataclass(frozen=True, slots=True)
class _Cause:
    """What is wrong with one end of a session; sessions of a switch with the same words are one fault."""

    kind: str
    end: Planned
    words: str  # after the session's name
    hint: str = ""


def session_faults(site: Site) -> Iterator[Fault]:
    """Every fault of every planned session, and sessions that the plan does not have."""
    yield from (Fault(STOPPED, name, words, BGP) for name, words in site.stopped.items())
    extra = {name: keys for name in site.switches if (keys := _extra(site, name))}
    yield from _reported(_causes(site), extra)
    yield from _unexplained(site, list(_causeless(site)))
    for name, keys in extra.items():
        yield Fault(EXTRA, name, f"{plural(len(keys), 'session')} not planned: {listed(keys, 5)}", BGP)


def _reported(causes: Iterable[_Cause], extra: dict[str, list[str]]) -> Iterator[Fault]:
    """Neighbors that are not planned are reported with the planned ones that are missing: they may be those."""
    groups = grouped(((cause.kind, cause.end.node, cause.words, cause.hint), cause.end) for cause in causes)
    for (kind, node, words, hint), ends in groups.items():
        if words == ABSENT and (keys := extra.pop(node, None)):
            words += f"; not planned: {listed(keys, 5)}"
        if len(ends) == 1:
            yield Fault(kind, node, f"{ends[0].shown}{words}", BGP, hint)
            continue
        of = listed([f"{end.peer_node} ({end.peer})" for end in ends], 3)
        evpn = "EVPN sessions" if all(end.kind == OVERLAY for end in ends) else "sessions"
        yield Fault(kind, node, f"{len(ends)} {evpn}, with {of}{words}", BGP, hint)


def _pairs(site: Site) -> Iterator[list[Planned]]:
    """Both planned ends of each session, the leaf's first; one where the other is no switch of the site."""
    done: set[int] = set()
    for switch in site.switches.values():
        for end in switch.sessions:
            other = site.other(end)
            if id(end) not in done:
                ends = [end] if other is None else [end, other]
                done.update(map(id, ends))
                yield sorted(ends, key=lambda one: not site.switches[one.node].leaf)


def _causes(site: Site) -> Iterator[_Cause]:
    for ends in _pairs(site):
        yield from _configured(site, ends)
        if all(site.established(one) is not False for one in ends):
            yield from _settings(site, ends)


def _causeless(site: Site) -> Iterator[Planned]:
    """Sessions that are down without a reason at their ends or below them."""
    for ends in _pairs(site):
        down = [one for one in ends if site.established(one) is False]
        if down and not any(_configured(site, ends)) and not _explained(site, ends[0]):
            yield down[0]


def _configured(site: Site, ends: Sequence[Planned]) -> Iterator[_Cause]:
    """Reasons that one end reports for a session that is not as planned."""
    for end in ends:
        switch = site.switches[end.node]
        if not switch.has(BGP) or end.node in site.stopped:
            continue
        peer, address_family = switch.peer(end), _wanted(site, end)
        if peer is None:
            if BGP in switch.seen.lists:
                yield _Cause(SESSION, end, ABSENT, "configure the neighbor as planned")
        elif peer.asn and peer.asn != end.peer_asn:
            yield _Cause(ASN, end, f": remote AS: expected {end.peer_asn}, got {peer.asn}")
        elif peer.local_asn and peer.local_asn != end.asn:
            yield _Cause(ASN, end, f": local AS: expected {end.asn}, got {peer.local_asn}")
        elif peer.state == ESTABLISHED:
            if not site.family_up(end, peer):
                yield _Cause(FAMILY, end, f": address family {address_family}: expected negotiated, got none")
                return
        elif peer.limited:
            words = " is down: the peer sent more prefixes than the limit"
            yield _Cause(SESSION, end, words, "find out who sends them, then clear the session")
        elif peer.activated is not None and address_family not in peer.activated:
            got = listed(sorted(peer.activated), 3) or "none"
            yield _Cause(FAMILY, end, f": address family: expected {address_family} active, got {got}")
        elif peer.shut:
            yield _Cause(SESSION, end, " is shut", "remove the shutdown of the neighbor")


def _wanted(site: Site, end: Planned) -> str:
    """The planned address family of a session."""
    if end.kind == OVERLAY:
        return "evpn"
    return "ipv6" if ":" in end.peer else site.switches[end.node].view.underlay.family


def _explained(site: Site, end: Planned) -> bool:
    """Whether something else is the reason: a daemon, a port, a cable, the underlay below an overlay session."""
    if {end.node, end.peer_node} & site.stopped.keys():
        return True
    port = (end.node, canonical(end.interface.partition(".")[0] if _tagged(end) else end.interface))
    if end.interface and port in site.down | site.miscabled | site.readdressed:
        return True
    if end.kind != OVERLAY:
        return False
    pair = (end.node, end.peer_node)
    if pair in site.dead or pair[::-1] in site.dead:
        return True
    return any(_no_route(site, side) for side in (end, site.other(end)) if side is not None)


def _tagged(end: Planned) -> bool:
    return end.interface.rpartition(".")[2].isdigit() and end.interface.rpartition(".")[2] != "0"


def _no_route(site: Site, end: Planned) -> bool:
    """Whether the table of a switch lacks the loopback of its peer, which is a fault of routes."""
    switch = site.switches[end.node]
    length = 128 if ":" in end.peer else 32
    return ROUTES in switch.seen.lists and f"{end.peer}/{length}" not in switch.seen.routes.get("", {})


def _unexplained(site: Site, ends: Sequence[Planned]) -> Iterator[Fault]:
    """Sessions that are down without a reason; a switch without state whose sessions are all down is the reason."""
    planned = grouped((end.peer_node, end) for switch in site.switches.values() for end in switch.sessions)
    down = grouped((end.peer_node, end) for end in ends)
    silent = {
        name
        for name, sessions in down.items()
        if name in site.switches
        and not site.switches[name].seen.files
        and all(site.established(session) is not True for session in planned[name])
    }
    for name in sorted(silent):
        neighbors = listed(list(dict.fromkeys(end.node for end in down[name])), 3)
        words = f"no state, and no session of its neighbors with it is established ({neighbors})"
        yield Fault(SILENT, name, words, BGP)
    yield from (_down(site, end) for end in ends if end.peer_node not in silent)


def _down(site: Site, end: Planned) -> Fault:
    other = site.other(end)
    peers = [site.switches[one.node].peer(one) for one in (end, other) if one is not None]
    words = _says(peers[0])
    if other is not None and len(peers) > 1 and site.switches[other.node].has(BGP):
        words += f"; at {other.node}: {_says(peers[1])}"
    return Fault(SESSION, end.node, f"{end.shown} is not established: {words}", BGP)


def _says(peer: Peer | None) -> str:
    if peer is None:
        return "no such neighbor"
    return ", ".join(filter(None, (peer.state or "state unknown", peer.reason)))


def _settings(site: Site, ends: Sequence[Planned]) -> Iterator[_Cause]:
    """What an established session lacks: each thing once, as both ends miss it."""
    reported: set[str] = set()
    for end in ends:
        switch = site.switches[end.node]
        peer = switch.peer(end)
        if peer is None:
            continue
        address_family = _wanted(site, end)
        active = {family.name for family in peer.families if family.active is not False}
        if active and address_family not in active and FAMILY not in reported:
            reported.add(FAMILY)
            yield _Cause(
                FAMILY, end, f": address family {address_family}: expected negotiated, got {listed(sorted(active), 4)}"
            )
        if end.interface and switch.view.underlay.bfd and peer.bfd is False and BFD not in reported:
            reported.add(BFD)
            yield _Cause(BFD, end, ": BFD: expected up, got down")


def _extra(site: Site, name: str) -> list[str]:
    """Neighbors that the plan does not have; of a VRF that the plan does not have none is judged."""
    switch = site.switches[name]
    if BGP not in switch.seen.lists or site.beyond:
        return []
    planned = {peer_key(end.vrf, end.peer) for end in switch.sessions}
    planned |= {peer_key(end.vrf, end.interface) for end in switch.sessions if end.interface}
    tables = {"", *(switch.vrf(vrf.name) for vrf in switch.view.vrfs)}
    extra = [peer for key, peer in switch.seen.peers.items() if key not in planned and peer.vrf in tables and peer.state]
    return [peer.key + (f" in {peer.vrf}" if peer.vrf else "") for peer in extra]
