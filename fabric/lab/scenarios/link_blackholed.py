"""A cable carries light and drops every packet: nothing but BFD or a hold timer can see it. Played with BFD and without."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from fabric.lab.blueprint import Wire
from fabric.lab.expected import Down
from fabric.lab.machine.namespaces import run
from fabric.lab.outcome import finding
from fabric.lab.proofs.base import ProofResult, skip
from fabric.lab.scenarios.base import NOT_REPAIRED, Scenario, Stage, measures

SETTLED_S = 3.0  # from a hold timer's end to the last table
TABLE = "fabric_lab_blackhole"


def play(stage: Stage) -> Iterator[tuple[str, str, ProofResult]]:
    with_bfd, without = (
        ("link-blackholed", "Link blackholed, with BFD"),
        ("link-blackholed-no-bfd", "Link blackholed, without BFD"),
    )
    wire = stage.cable
    if wire is None or "ingress" not in stage.live.kernel.can:
        why = (
            f"no cable of {stage.fabric} is redundant" if wire is None else "this kernel cannot drop packets at port ingress"
        )
        yield (*with_bfd, skip(why))
        yield (*without, skip(why))
        return
    if not stage.live.lab.views[stage.leaves[0]].underlay.bfd:
        yield (*with_bfd, skip("the plan has no BFD"))
        yield (*without, _blind(stage, wire, planned=True))
        return
    if not stage.live.lab.bfd:
        yield (*with_bfd, skip("bfdd does not run in a lab of this size"))
        yield (*without, _blind(stage, wire, planned=False))
        return
    yield (*with_bfd, _once(stage, wire, lambda: None))
    _detect(stage, wire, on=False)
    try:
        yield (*without, _blind(stage, wire, planned=False))
    finally:
        _detect(stage, wire, on=True)


def _once(
    stage: Stage, wire: Wire, undo: Callable[[], None], patience_s: float = 30.0, flows_back_s: float = 5.0
) -> ProofResult:
    """Drops everything on a cable, watches, and takes it back; `undo` is what else there is to take back."""
    down = Down(cables=frozenset({wire}))
    act = partial(_blackhole, stage, wire)
    watched = stage.break_(stage.streams(stage.leaves[0]), down, lambda: act(on=True), patience_s, flows_back_s)

    def repair() -> None:
        act(on=False)
        undo()

    words = f"{wire.a.node} {wire.a.interface} to {wire.b.node} {wire.b.interface}"
    return ProofResult(words, (*watched.faults, *stage.repair(repair)), measures(watched))


def _blind(stage: Stage, wire: Wire, planned: bool) -> ProofResult:
    """Only the hold timer sees it; and a neighbor that restarts gracefully is then given its time to come back.

    Args:
        planned: the plan has no BFD. Else this only shows what BFD is good for, and slowness is no fault.
    """

    def undo() -> None:
        if not planned and stage.live.lab.bfd:
            _detect(stage, wire, on=True)

    patience_s = stage.live.lab.views[wire.a.node].underlay.hold_s + SETTLED_S
    shown = _once(stage, wire, undo, patience_s, flows_back_s=0.5)
    restart_s = _restart_s(stage, wire)
    if shown.measured["fib_repair_ms"] != NOT_REPAIRED or not restart_s or not stage.sound:
        return shown
    if planned:
        why = f"without BFD, graceful restart keeps routes over a dead cable for up to {restart_s} s after the hold timer"
        return ProofResult(shown.summary, (finding(wire.a.node, why), *shown.faults), shown.measured)
    words = f"{shown.summary}; graceful restart keeps routes for up to {restart_s} s after the hold timer"
    return ProofResult(words, (), shown.measured)


def _restart_s(stage: Stage, wire: Wire) -> int:
    """How long a neighbor waits for one end of a cable to restart, 0 for not at all."""
    texts = [stage.live.lab.nodes[end.node].frr_conf for end in (wire.a, wire.b)]
    return max(
        (int(word) for text in texts for word in re.findall(r"^ bgp graceful-restart restart-time (\d+)", text, re.M)),
        default=0,
    )


def _blackhole(stage: Stage, wire: Wire, on: bool) -> None:
    """Both directions; slices of the cable have wires of their own and go with it."""
    for part in (wire, *stage.live.lab.slices(wire)):
        for end in (part.a, part.b):
            space = stage.live.space(end.node, stage.live.interface(end).vrf)
            name = f"{TABLE}_{re.sub(r'[^A-Za-z0-9]', '_', end.interface)}"
            hook = f'type filter hook ingress device "{end.interface}" priority 0; policy drop;'
            text = f"table netdev {name} {{\nchain dropped {{\n{hook}\n}}\n}}\n" if on else f"delete table netdev {name}\n"
            run("ip", "netns", "exec", space, "nft", "-f", "-", text=text)


def _detect(stage: Stage, wire: Wire, on: bool) -> None:
    """Switches BFD off and on at both ends, by the profiles of their own configs.

    A session that is shut by hand says so, and BGP does not take it for a failure.
    """
    for end in (wire.a, wire.b):
        for name in re.findall(r"^ profile (\S+)", stage.live.lab.nodes[end.node].frr_conf, re.MULTILINE):
            stage.live.configure(end.node, "bfdd", "bfd", f"profile {name}", "no shutdown" if on else "shutdown")


SCENARIO = Scenario("link-blackholed", "Link blackholed", play)
