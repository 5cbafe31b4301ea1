"""Every planned BGP session is established. Faults are those of `fabric verify`, and of what is below the sessions."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from fabric.audit.verify.all_faults import ROUTER_ID
from fabric.audit.verify.port_faults import ADDRESS, PORT
from fabric.audit.verify.route_faults import HOME, ROUTE
from fabric.audit.verify.session_faults import ASN, EXTRA, FAMILY, SESSION, SILENT, STOPPED
from fabric.lab.expected import OVERLAY, Planned, sessions
from fabric.lab.live import Live
from fabric.lab.outcome import finding
from fabric.lab.proofs import base
from fabric.lab.proofs.base import Proof, ProofResult

PATIENCE_S = 45.0  # until a session must be up; a daemon tries again after 10 s, and BFD may stop a first attempt
STILL_S = 15.0  # without any news
POLL_S = 0.25
KINDS = (STOPPED, SILENT, ASN, FAMILY, SESSION, EXTRA, ROUTER_ID)
BELOW = (PORT, ADDRESS, HOME, ROUTE)  # why a session may be down


def wait(live: Live, sessions: Iterable[Planned], patience_s: float = PATIENCE_S) -> tuple[list[Planned], float]:
    """Waits until sessions are established; (those that are not, seconds it took). Gives up early where nothing moves."""
    began = last = time.monotonic()
    missing = list(sessions)
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


def show(live: Live) -> ProofResult:
    """Waits for all of them; whose fault it is that one is missing is the judgment of `fabric verify`."""
    wanted = sessions(live.lab)
    missing, seconds = wait(live, wanted)
    found = base.site(live)
    faults = base.faults(found, (*KINDS, *(BELOW if missing else ())))
    if missing and not faults:
        faults = tuple(finding(one.node, f"{one.shown} is not established") for one in missing)
    summary = f"{len(wanted) - len(missing)} of {len(wanted)} ends established"
    return ProofResult(summary, faults, {"waited_s": round(seconds, 1)})


PROOF = Proof("sessions", "BGP sessions", show)
