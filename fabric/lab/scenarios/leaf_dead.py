"""A leaf loses power: its own servers are cut off, and no other traffic may be affected."""

from __future__ import annotations

from fabric.lab.expected.forwarding import Down
from fabric.lab.proofs.base import Shown, skip
from fabric.lab.scenarios.base import Scenario, Stage, measures
from fabric.lab.scenarios.spine_dead import back, kill


def play(stage: Stage) -> Shown:
    if len(stage.leaves) < 2:
        return skip(f"{stage.fabric} has one leaf")
    leaf = stage.leaves[-1]
    dead = frozenset({leaf})
    streams = stage.streams(stage.leaves[0], without=dead)
    watched = stage.break_(streams, Down(nodes=dead), lambda: kill(stage, leaf))
    faults = list(watched.faults)
    measured = measures(watched)
    if not streams:
        measured.pop("longest_gap_ms")
        measured.pop("lost_packets")
    faults += back(stage, leaf)
    return Shown(f"{leaf}; flows between others", tuple(faults), measured)


SCENARIO = Scenario("leaf-dead", "Leaf dead", play)
