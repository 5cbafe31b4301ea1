"""Sessions run with the planned settings: filters, hold time, prefix limit, BFD. They would come up without."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from fabric.audit.checks import Finding, Key, planned_rows
from fabric.audit.checks.rows import session
from fabric.base.grouping import grouped
from fabric.lab.expected import OVERLAY, Planned, sessions
from fabric.lab.live import Live
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import Proof, ProofResult

BFD_S = 10.0  # until BFD must be up


def show(live: Live) -> ProofResult:
    """Reads them from the daemons, not from files."""
    wanted = sessions(live.lab)
    detected(live, wanted)
    faults, compared = _compare(live, wanted)
    summary = f"{compared} settings of {len(wanted)} session ends, {len(faults)} not as planned"
    return ProofResult(summary, tuple(faults))


def detected(live: Live, wanted: list[Planned]) -> list[Finding]:
    """Waits until BFD is up wherever it is planned: without it the next failure would pass unseen."""
    deadline = time.monotonic() + BFD_S
    while True:
        faults = [fault for fault in _compare(live, wanted)[0] if "BFD" in fault.message]
        if not faults or time.monotonic() > deadline:
            return faults
        time.sleep(0.3)


def _compare(live: Live, sessions: list[Planned]) -> tuple[list[Finding], int]:
    by_node = grouped((planned.node, planned) for planned in sessions)
    answers = live.ask_all(by_node, "bgpd", "show bgp vrf all neighbors json")
    faults, compared = [], 0
    for node, ends in by_node.items():
        rows = planned_rows(live.lab.views[node])
        for end in ends:
            reported = (answers[node] or {}).get(end.vrf or "default", {}).get(end.peer)
            if not isinstance(reported, dict):
                continue  # a fault of the proof of sessions
            for attribute, has, planned in _settings(live, end, reported, rows):
                compared += 1
                if has != planned:
                    faults.append(finding(node, f"{end.shown}: {attribute} {_shown(has)}, planned {_shown(planned)}"))
    return faults, compared


def _settings(live: Live, end: Planned, reported: dict[str, Any], rows: dict[Key, Any]) -> Iterator[tuple[str, Any, Any]]:
    """(what, value of the daemon, value of the plan)."""
    subject = session(end.vrf, end.peer)

    def planned(kind: str) -> Any:
        return rows.get(Key(kind, subject))

    families = reported.get("addressFamilyInfo", {})
    family = families.get("ipv4Unicast") or families.get("ipv6Unicast") or {}
    if planned("hold"):
        yield "hold time", reported.get("bgpTimerConfiguredHoldTimeMsecs", 0) // 1000, planned("hold")
    if planned("keepalive"):
        yield "keepalive", reported.get("bgpTimerConfiguredKeepAliveIntervalMsecs", 0) // 1000, planned("keepalive")
    if end.kind == OVERLAY:
        yield "families", _families(families), "evpn"
        return
    yield "filter in", _filter(family, "incoming"), _only(planned("takes"))
    yield "filter out", _filter(family, "outgoing"), _only(planned("sends"))
    if planned("max_prefix"):
        yield "prefix limit", family.get("prefixAllowedMax", 0), planned("max_prefix")
    if planned("bfd") and live.lab.bfd:
        yield "BFD", reported.get("peerBfdInfo", {}).get("status", "off"), "Up"


def _filter(family: dict[str, Any], direction: str) -> str:
    """Name of the prefix list or route map; FRR reports each under its own key."""
    keys = (f"{direction}UpdatePrefixFilterList", f"routeMapFor{direction.capitalize()}Advertisements")
    return next((str(family[key]) for key in keys if key in family), "")


def _only(names: Any) -> str:
    return next(iter(sorted(names)), "") if names else ""


def _families(families: dict[str, Any]) -> str:
    return "evpn" if "l2VpnEvpn" in families else ", ".join(families) or "none"


def _shown(value: Any) -> str:
    return str(value) if value != "" else "none"


PROOF = Proof("attributes", "Settings of sessions", show)
