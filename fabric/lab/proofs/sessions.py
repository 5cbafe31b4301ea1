"""Every planned BGP session is established; faults name the device at fault and the reason."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from fabric.lab.blueprint import PORT, End
from fabric.lab.expected.forwarding import originated, version
from fabric.lab.expected.sessions import OVERLAY, UNDERLAY, Planned, sessions
from fabric.lab.live import Live
from fabric.lab.outcome import Fault
from fabric.lab.proofs.base import Proof, Shown
from fabric.lab.proofs.forwarding import why_missing

PATIENCE_S = 45.0  # until a session must be up; a daemon tries again after 10 s, and BFD may stop a first attempt
STILL_S = 15.0  # without any news
POLL_S = 0.25


def wait(live: Live, wanted: Iterable[Planned], patience_s: float = PATIENCE_S) -> tuple[list[Planned], float]:
    """Waits until sessions are established; (those that are not, seconds it took). Gives up early where nothing moves."""
    began = last = time.monotonic()
    missing = list(wanted)
    while missing:
        nodes = dict.fromkeys(planned.node for planned in missing)
        answers = live.ask_all(nodes, "bgpd", "show bgp vrf all summary json")
        left = [planned for planned in missing if not _up(answers[planned.node], planned)]
        now = time.monotonic()
        last = now if len(left) < len(missing) else last
        missing = left
        if not missing or now - began > patience_s or now - last > STILL_S:
            break
        time.sleep(POLL_S)
    return missing, time.monotonic() - began


def _up(answer: Any, planned: Planned) -> bool:
    """A peer is listed under each of its address families; a session must be up in its own."""
    table = (answer or {}).get(planned.vrf or "default", {})
    families = ["l2VpnEvpn"] if planned.kind == OVERLAY else ["ipv4Unicast", "ipv6Unicast"]
    peers = (table.get(family, {}).get("peers", {}).get(planned.peer) for family in families)
    return any(peer and peer.get("state") == "Established" for peer in peers)


def show(live: Live) -> Shown:
    """Waits for all of them."""
    wanted = sessions(live.lab)
    missing, seconds = wait(live, wanted)
    # Between two switches without an underlay session, the overlay session is down too.
    silent = {(one.node, one.peer_node) for one in missing if one.kind == UNDERLAY}
    causes = [
        one for one in missing if one.kind != OVERLAY or not {(one.node, one.peer_node), (one.peer_node, one.node)} & silent
    ]
    faults = tuple(dict.fromkeys(_blame(live, planned) for planned in causes))
    summary = f"{len(wanted) - len(missing)} of {len(wanted)} ends established"
    return Shown(summary, faults, {"waited_s": round(seconds, 1)})


def _blame(live: Live, planned: Planned) -> Fault:
    """The device at fault, of either end."""
    for node, reason in _reasons(live, planned):
        return Fault(node, reason)
    if planned.kind == OVERLAY and (lost := _unreachable(live, planned)):
        return lost
    neighbor = _neighbor(live, planned)
    state = neighbor.get("bgpState", "unknown")
    reason = neighbor.get("lastNotificationReason") or neighbor.get("lastResetDueTo") or "no message from the other end"
    return Fault(planned.node, f"{planned.shown} is not established: {state}, {reason}")


def _unreachable(live: Live, planned: Planned) -> Fault | None:
    """Who keeps one loopback of a session from the other one's switch."""
    for here, there in ((planned.node, planned.peer_node), (planned.peer_node, planned.node)):
        prefix = originated(live.lab.views[there])[0]
        if prefix not in live.table(here, "", version(live.lab.views[here])):
            device, why = why_missing(live, here, prefix, there)
            return Fault(device, f"{planned.shown}: {prefix} of {there} is not in the table of {here}: {why}")
    return None


def _reasons(live: Live, planned: Planned) -> Iterable[tuple[str, str]]:
    """What of both ends is not as planned, the likeliest first."""
    ends = [planned, *(other for other in sessions(live.lab) if _mirrors(planned, other))]
    for end in ends:
        answer = live.ask_all([end.node], "bgpd", "show bgp vrf all neighbors json")[end.node]
        if answer is None:
            yield end.node, f"{end.shown}: bgpd does not answer"
            continue
        summary = answer.get(end.vrf or "default", {}).get(end.peer)
        if not isinstance(summary, dict):
            yield end.node, f"{end.shown}: neighbor not configured in bgpd"
            continue
        if summary.get("remoteAs") != end.peer_asn:
            yield end.node, f"{end.shown}: remote AS {summary.get('remoteAs')}, planned {end.peer_asn}"
        if summary.get("localAs") != end.asn:
            yield end.node, f"{end.shown}: local AS {summary.get('localAs')}, planned {end.asn}"
    for end in ends:
        yield from _link(live, end)


def _link(live: Live, end: Planned) -> Iterable[tuple[str, str]]:
    if not end.interface:
        return
    interface = live.wiring.interfaces.get(End(end.node, end.interface))
    if interface is None or interface.kind != PORT:
        yield end.node, f"{end.shown}: no interface {end.interface}"
        return
    if not interface.up:
        yield end.node, f"{end.shown}: {end.interface} is shut in its file"
    if end.address and end.address not in interface.addresses:
        has = ", ".join(interface.addresses) or "no address"
        yield end.node, f"{end.shown}: {end.interface} has {has}, planned {end.address}"
    far, planned = live.far(end.node, end.interface), End(end.peer_node, end.peer_interface)
    if far is None or (end.peer_interface and far != planned):
        cabled_to = f"{far.node} {far.interface}" if far else "nothing"
        yield end.node, f"{end.shown}: {end.interface} is cabled to {cabled_to}, planned {planned.node} {planned.interface}"


def _mirrors(one: Planned, other: Planned) -> bool:
    """Whether two ends are of one session."""
    same = (other.node, other.peer_node, other.kind) == (one.peer_node, one.node, one.kind)
    return same and other.interface == one.peer_interface


def _neighbor(live: Live, planned: Planned) -> dict[str, Any]:
    answer = live.ask_all([planned.node], "bgpd", "show bgp vrf all neighbors json")[planned.node] or {}
    found = answer.get(planned.vrf or "default", {}).get(planned.peer)
    return found if isinstance(found, dict) else {}


PROOF = Proof("sessions", "BGP sessions", show)
