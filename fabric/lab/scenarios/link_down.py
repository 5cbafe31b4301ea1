"""A cable is pulled: both ends see it at once."""

from __future__ import annotations

from fabric.lab.expected import Down
from fabric.lab.proofs.base import ProofResult, skip
from fabric.lab.scenarios.base import Scenario, Stage, measures


def play(stage: Stage) -> ProofResult:
    wire = stage.cable
    if wire is None:
        return skip(f"no cable of {stage.fabric} is redundant")
    streams = stage.streams(stage.leaves[0])
    watched = stage.break_(streams, Down(cables=frozenset({wire})), lambda: stage.set_port(wire.a, up=False))
    back = stage.repair(lambda: stage.set_port(wire.a, up=True))
    words = f"{wire.a.node} {wire.a.interface} to {wire.b.node} {wire.b.interface}"
    return ProofResult(words, (*watched.faults, *back), measures(watched))


SCENARIO = Scenario("link-down", "Link down", play)
