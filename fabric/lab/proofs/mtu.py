"""The largest promised packet crosses the fabric in one piece: between servers, and between loopbacks of leaves."""

from __future__ import annotations

from dataclasses import replace

from fabric.audit.checks import Finding
from fabric.lab.blueprint import End
from fabric.lab.expected import endpoints, forwarding, originated
from fabric.lab.live import Live
from fabric.lab.machine.packets import Ping, ping
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import Proof, ProofResult, skip
from fabric.lab.proofs.gateways import uplinks
from fabric.lab.proofs.reach import pairs
from fabric.model.plan import LEAF

SMALL = 84  # bytes: what always gets through where there is a path


def show(live: Live) -> ProofResult:
    """Pings that must not be fragmented, of the planned size."""
    pings: list[tuple[Ping, str, str]] = []
    seen = set()
    for a, b in pairs(live, endpoints(live.lab))[0]:
        key = (a.leaf, b.leaf, a.tenant, a.network and a.network.vni)
        if key in seen:
            continue  # one pair of servers for each pair of leaves and tenant
        seen.add(key)
        words = f"{a.shown} to {b.shown} at {b.leaf}"
        pings.append(
            (Ping(node=a.server, source=a.address, target=b.address, size=min(a.mtu, b.mtu), whole=True), a.leaf, words)
        )
    servers = len(pings)
    pings += _loopbacks(live)
    if not pings:
        return skip("no two leaves of the lab reach each other")
    replies = ping(live, [question for question, _, _ in pings])
    lost = [row for row, count in zip(pings, replies, strict=True) if not count]
    small = ping(live, [replace(question, size=SMALL, whole=False) for question, _, _ in lost])
    faults = [
        finding(
            leaf, f"{words}: {f'packets of {question.size} bytes are lost or fragmented' if count else 'no packet arrives'}"
        )
        for (question, leaf, words), count in zip(lost, small, strict=True)
    ]
    faults = [*_narrow(live), *faults]
    sizes = sorted({question.size for question, _, _ in pings})
    shown = " and ".join(map(str, sizes))
    passed = sum(map(bool, replies))
    summary = f"{passed} of {len(pings)} paths carry packets of {shown} bytes unfragmented ({servers} between servers)"
    return ProofResult(summary, tuple(faults))


def _narrow(live: Live) -> list[Finding]:
    """Ports between switches that take less than planned: packets may take another path today."""
    found = []
    for name, view in live.lab.views.items():
        for port in uplinks(live, name):
            own = live.interface(End(name, port))
            if 0 < own.mtu < view.underlay.mtu:
                found.append(finding(name, f"{port} takes packets of {own.mtu} bytes, planned {view.underlay.mtu}"))
    return found


def _loopbacks(live: Live) -> list[tuple[Ping, str, str]]:
    """From each leaf to the next one that it has a route to."""
    expected = forwarding(live.lab)
    leaves = [name for name, view in live.lab.views.items() if view.device.role == LEAF]
    pings = []
    for at, name in enumerate(leaves):
        view = live.lab.views[name]
        for other in leaves[at + 1 :] + leaves[:at]:
            far = originated(live.lab.views[other])[0]
            if expected[name].get(far):
                source, target = (prefix.partition("/")[0] for prefix in (originated(view)[0], far))
                pings.append(
                    (
                        Ping(node=name, source=source, target=target, size=view.underlay.mtu, whole=True),
                        name,
                        f"{name} to {other}",
                    )
                )
                break
    return pings


PROOF = Proof("mtu", "Largest packet end to end", show)
