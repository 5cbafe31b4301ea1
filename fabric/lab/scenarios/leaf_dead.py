"""A leaf loses power: its own servers are cut off, and no other traffic may be affected."""

from __future__ import annotations

from fabric.lab.expected import Down
from fabric.lab.proofs.base import ProofResult, skip
from fabric.lab.scenarios.base import Scenario, Stage, measures
from fabric.lab.scenarios.spine_dead import back, kill


def play(stage: Stage) -> ProofResult:
    if len(stage.leaves) < 2:
        return skip(f"{stage.fabric} has one leaf")
    leaf = stage.leaves[-1]
    dead = frozenset({leaf})
    streams = stage.streams(stage.leaves[0], without=dead)
    watched = stage.break_(streams, Down(nodes=dead), lambda: kill(stage, leaf))
    faults = list(watched.faults)
    faults += back(stage, leaf)
    flows = "flows between others" if streams else "no flows: no two other leaves reach each other"
    return ProofResult(f"{leaf}; {flows}", tuple(faults), measures(watched))


SCENARIO = Scenario("leaf-dead", "Leaf dead", play)
