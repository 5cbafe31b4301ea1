"""A spine is taken out for maintenance: graceful shutdown (RFC 8326), then its ports, then back. Nothing may be lost."""

from __future__ import annotations

import time

from fabric.lab.expected.forwarding import Down
from fabric.lab.machine.observer import Observer
from fabric.lab.outcome import Fault
from fabric.lab.proofs.base import Shown, skip
from fabric.lab.proofs.forwarding import read
from fabric.lab.scenarios.base import Scenario, Stage

DRAIN_S = 15.0


def play(stage: Stage) -> Shown:
    if not stage.uppers:
        return skip(f"no spine of {stage.fabric} has another one beside it")
    spine = stage.uppers[-1]
    asn = stage.live.lab.views[spine].device.asn
    faults: list[Fault] = []
    with Observer(stage.live, stage.streams(stage.leaves[0]), []) as observer:
        observer.settle()
        began = observer.mark()
        stage.live.configure(spine, "bgpd", f"router bgp {asn}", "bgp graceful-shutdown")
        faults += _drained(stage, spine)
        drained = time.monotonic() - began
        stage.set_node(spine, up=False)
        time.sleep(1.0)
        stage.set_node(spine, up=True)
        faults += _sessions_back(stage)
        stage.live.configure(spine, "bgpd", f"router bgp {asn}", "no bgp graceful-shutdown")
        faults += stage.healed()
        time.sleep(0.5)
        seen = observer.stop()
    if seen.lost:
        faults.append(Fault(spine, f"{seen.lost} of {seen.sent} packets were lost, planned 0"))
    measured = {
        "longest_gap_ms": round(seen.longest_gap_s * 1000, 1),
        "lost_packets": seen.lost,
        "drained_ms": round(drained * 1000, 1),
    }
    return Shown(f"{spine} drained, down and back", tuple(faults), measured)


def _drained(stage: Stage, spine: str) -> list[Fault]:
    """Waits until no leaf sends over the spine what others can carry: the estimate's next hops without it."""
    left = stage.estimate.left(Down(nodes=frozenset({spine})))
    deadline = time.monotonic() + DRAIN_S
    while True:
        tables = read(stage.live, stage.leaves)
        faults = [fault for fault in stage.agrees(left, tables, Down()) if fault.device in stage.leaves]
        if not faults or time.monotonic() > deadline:
            return faults[:5]
        time.sleep(0.1)


def _sessions_back(stage: Stage) -> list[Fault]:
    from fabric.lab.expected.sessions import sessions
    from fabric.lab.proofs.sessions import wait

    own = set(stage.switches)
    missing, _ = wait(stage.live, [one for one in sessions(stage.live.lab) if one.node in own])
    return [Fault(one.node, f"{one.shown} did not come back") for one in missing[:5]]


SCENARIO = Scenario("maintenance", "Spine in maintenance", play)
