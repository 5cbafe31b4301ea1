"""A spine loses power and boots again. Traffic must move to the other spines, and its return must cause no loss."""

from __future__ import annotations

import time
from collections.abc import Iterator

from fabric.audit.checks import Finding
from fabric.lab.expected import NOTHING, Down
from fabric.lab.machine import daemons
from fabric.lab.machine.observer import Observer
from fabric.lab.outcome import Measure
from fabric.lab.proofs.base import ProofResult, skip
from fabric.lab.scenarios.base import Scenario, Stage, flow_measures, measures
from fabric.lab.up_down import start

DEAD, BACK = ("spine-dead", "Spine dead"), ("spine-back", "Spine back")


def play(stage: Stage) -> Iterator[tuple[str, str, ProofResult]]:
    if not stage.uppers:
        why = f"no spine of {stage.fabric} is redundant"
        yield (*DEAD, skip(why))
        yield (*BACK, skip(why))
        return
    spine, streams = stage.uppers[0], stage.streams(stage.leaves[0])
    watched = stage.break_(streams, Down(nodes=frozenset({spine})), lambda: kill(stage, spine))
    yield (*DEAD, ProofResult(spine, watched.faults, measures(watched)))
    with Observer(stage.live, streams, [name for name in stage.switches if name != spine]) as observer:
        observer.settle()
        began = observer.mark()
        boot(stage, spine)
        faults = stage.healed()
        seconds = time.monotonic() - began
        time.sleep(0.5)
        seen = observer.stop()
    left = stage.estimate.left(NOTHING)
    measured: dict[str, Measure] = {
        **flow_measures(seen.total),
        "back_s": round(seconds, 1),
        "paths": str(left.paths[1]),
        "bandwidth_left_percent": round(left.share * 100, 1),
    }
    yield (*BACK, ProofResult(spine, tuple(faults), measured))


def kill(stage: Stage, name: str) -> None:
    """Power loss: every port goes down, then the daemons are killed."""
    stage.set_node(name, up=False)
    daemons.kill(stage.live.names.home(name))


def boot(stage: Stage, name: str) -> None:
    """Daemons, config, ports: as `up` does it."""
    load(stage, name)
    stage.set_node(name, up=True)


def load(stage: Stage, name: str) -> None:
    """A switch as it is before its ports come up."""
    node = stage.live.lab.nodes[name]
    stage.live.wiring.forget(node)
    start(node, stage.live.wiring)
    daemons.load(stage.live.names.home(name))


def back(stage: Stage, name: str) -> list[Finding]:
    """Boots the switch and waits until everything is as before."""
    return stage.repair(lambda: boot(stage, name))


SCENARIO = Scenario("spine-dead", "Spine dead and back", play)
