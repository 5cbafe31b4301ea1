"""A spine is taken out for maintenance: graceful shutdown (RFC 8326), then its ports, then back. Nothing may be lost."""

from __future__ import annotations

import time

from fabric.audit.checks import Finding
from fabric.lab.expected import TENANT, Down, version
from fabric.lab.machine.observer import Observer
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import ProofResult, skip
from fabric.lab.proofs.forwarding import read
from fabric.lab.scenarios.base import Scenario, Stage, flow_measures

DRAIN_S = 15.0


def play(stage: Stage) -> ProofResult:
    if not stage.uppers:
        return skip(f"no spine of {stage.fabric} is redundant")
    spine = stage.uppers[-1]
    faults: list[Finding] = []
    with Observer(stage.live, stage.streams(stage.leaves[0]), []) as observer:
        observer.settle()
        began = observer.mark()
        _announce(stage, spine, "bgp graceful-shutdown")
        faults += _drained(stage, spine)
        drained = time.monotonic() - began
        stage.set_node(spine, up=False)
        time.sleep(1.0)
        stage.set_node(spine, up=True)
        faults += stage.lost_sessions()
        _announce(stage, spine, "no bgp graceful-shutdown")
        faults += stage.healed()
        time.sleep(0.5)
        seen = observer.stop()
    if seen.total.lost:
        faults.append(finding(spine, f"{seen.total.lost} of {seen.total.sent} packets were lost, planned 0"))
    measured = {**flow_measures(seen.total), "drained_ms": round(drained * 1000, 1)}
    return ProofResult(f"{spine} drained, down and back", tuple(faults), measured)


def _announce(stage: Stage, spine: str, line: str) -> None:
    """In every table that has sessions of its own."""
    asn = stage.live.lab.views[spine].device.asn
    for vrf in dict.fromkeys(one.vrf for one in stage.sessions if one.node == spine):
        stage.live.configure(spine, "bgpd", f"router bgp {asn}{f' vrf {vrf}' if vrf else ''}", line)


def _drained(stage: Stage, spine: str) -> list[Finding]:
    """Waits until no leaf sends over the spine what others can carry: the estimate's next hops without it."""
    left = stage.estimate.left(Down(nodes=frozenset({spine})))
    deadline = time.monotonic() + DRAIN_S
    while True:
        tables = read(stage.live, stage.leaves)
        faults = [fault for fault in stage.agrees(left, tables, Down()) if fault.device in stage.leaves]
        faults += _tenants(stage, spine)
        if not faults or time.monotonic() > deadline:
            return faults[:5]
        time.sleep(0.1)


def _tenants(stage: Stage, spine: str) -> list[Finding]:
    """Tables of tenants without a tunnel that still lead over the spine."""
    found = []
    for one in stage.sessions:
        if one.kind != TENANT or one.peer_node != spine or one.node not in stage.leaves:
            continue
        table = stage.live.table(one.node, one.vrf, version(stage.live.lab.views[one.node]))
        if any(hop.interface == one.interface and hop.gateway for hops in table.values() for hop in hops):
            found.append(finding(one.node, f"{one.vrf} still routes over {spine}"))
    return found


SCENARIO = Scenario("maintenance", "Spine in maintenance", play)
