"""Two cables of a leaf are swapped: LLDP must find both, name them, and nothing else."""

from __future__ import annotations

from fabric.lab.blueprint import Wire
from fabric.lab.expected import planned
from fabric.lab.machine.lldp import Lldp, missing
from fabric.lab.machine.namespaces import run
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import ProofResult, skip
from fabric.lab.proofs.lldp import differences as differences_of
from fabric.lab.scenarios.base import Scenario, Stage

PATIENCE_S = 15.0


def play(stage: Stage) -> ProofResult:
    if lost := missing():
        return skip(lost)
    pair = _pair(stage)
    if pair is None:
        return skip(f"no leaf of {stage.fabric} has cables to two switches")
    expected_neighbors = planned(stage.live)
    first, second = pair
    ends = {first.a: second.b, second.a: first.b}
    crossed = ends | {far: near for near, far in ends.items()}
    _plug(stage, pair, crossed=True)
    try:
        with Lldp(stage.live) as lldp:
            expected = {near: crossed.get(near, far) for near, far in expected_neighbors.items()}
            lldp.wait(expected, PATIENCE_S)
            differences = differences_of(stage.live, lldp)
    finally:
        _plug(stage, pair, crossed=False)
    names = [first.a.interface, second.a.interface]
    named = [fault for fault in differences if fault.device == first.a.node and fault.message.startswith("swapped")]
    faults = [finding(first.a.node, f"the swapped cables of {' and '.join(names)} were not found")] if len(named) != 1 else []
    faults += [fault for fault in differences if fault not in named]
    where = f"{first.a.node} {' and '.join(names)}"
    return ProofResult(f"{where}: {'found and named' if named else 'not found'}", (*faults, *stage.healed()))


def _pair(stage: Stage) -> tuple[Wire, Wire] | None:
    """Two cables of one leaf to different switches, both written from the leaf's end."""
    for leaf in stage.leaves:
        cables = [
            wire if wire.a.node == leaf else Wire(wire.b, wire.a)
            for wire in stage.cables
            if leaf in (wire.a.node, wire.b.node)
        ]
        for other in cables[1:]:
            if other.b.node != cables[0].b.node:
                return cables[0], other
    return None


def _plug(stage: Stage, pair: tuple[Wire, Wire], crossed: bool) -> None:
    """Takes both cables out and lays them again, with their slices; ports keep their names and addresses."""
    live = stage.live
    parts = [{_tag(part): part for part in (wire, *live.lab.slices(wire))} for wire in pair]
    for part in (part for tagged in parts for part in tagged.values()):
        space = live.space(part.a.node, live.interface(part.a).vrf)
        run("ip", "-n", space, "link", "delete", part.a.interface, check=not part.slice_of)
    ends = parts[::-1] if crossed else parts
    live.wiring.lay(
        Wire(part.a, far[tag].b)
        for slices, far in zip(parts, ends, strict=True)
        for tag, part in slices.items()
        if tag in far
    )


def _tag(part: Wire) -> str:
    return part.a.interface.rpartition(".")[2] if part.slice_of else ""


SCENARIO = Scenario("swapped-cables", "Two cables swapped", play)
