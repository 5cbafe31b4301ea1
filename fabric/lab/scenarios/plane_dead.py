"""A whole plane loses power: no traffic of another plane may be affected, as no cable joins them."""

from __future__ import annotations

from fabric.lab.expected import Down
from fabric.lab.proofs.base import ProofResult, skip
from fabric.lab.scenarios.base import Scenario, Stage, measures
from fabric.lab.scenarios.spine_dead import boot, kill


def play(stage: Stage) -> ProofResult:
    plane_of = {name: stage.live.lab.views[name].device.plane for name in stage.switches}
    planes = sorted({plane for plane in plane_of.values() if plane >= 0})
    if len(planes) < 2:
        return skip(f"{stage.fabric} has one plane")
    dead = [name for name in stage.switches if plane_of[name] == planes[-1]]
    first = next((name for name in stage.leaves if name not in dead), "")
    streams = stage.streams(first, without=frozenset(dead)) if first else []
    watched = stage.break_(streams, Down(nodes=frozenset(dead)), lambda: _all(stage, dead, up=False))
    faults = [*watched.faults, *stage.repair(lambda: _all(stage, dead, up=True))]
    flows = "flows on another plane" if streams else "no flows: no two leaves of another plane reach each other"
    return ProofResult(f"plane {planes[-1] + 1}, {len(dead)} switches; {flows}", tuple(faults), measures(watched))


def _all(stage: Stage, names: list[str], *, up: bool) -> None:
    for name in names:
        (boot if up else kill)(stage, name)


SCENARIO = Scenario("plane-dead", "Plane dead", play)
