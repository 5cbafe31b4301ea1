"""Runs proofs and scenarios on a lab that is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from fabric.lab.blueprint import Blueprint
from fabric.lab.expected import UNDERLAY, sessions
from fabric.lab.infiniband import proofs as subnet_proofs
from fabric.lab.live import Live
from fabric.lab.machine import daemons, host
from fabric.lab.machine.daemons import FORGETS_ROUTER_MACS, LOSES_NEXT_HOPS, OWN_HOPS, forgets, needs_own_hops
from fabric.lab.machine.host import Kernel
from fabric.lab.machine.namespaces import LabError
from fabric.lab.outcome import FAIL, NOT_EMULATED, SKIP, NotEmulated, Outcome, Result
from fabric.lab.proofs import PROOFS, forwarding as forwarding_proof, overlay as overlay_proof, sessions as sessions_proof
from fabric.lab.proofs.base import PROOF, SCENARIO, ProofResult, broke, judged, prove, skip
from fabric.lab.scenarios import SCENARIOS
from fabric.lab.scenarios.base import Scenario, Stage

Say = Callable[[str], None]
PROOF_NAMES = tuple(proof.id for proof in (*PROOFS, *subnet_proofs.PROOFS))
NAMES = (  # of everything that can be asked for alone
    *PROOF_NAMES,
    *(scenario.id for scenario in SCENARIOS),
    *(scenario.id for scenario in subnet_proofs.SCENARIOS),
)
DAEMONS = "daemons"  # without them there is nothing to ask
SETTLING = frozenset({"sessions", "forwarding", "overlay"})  # proofs that wait until a lab is as it must be
TRAFFIC = frozenset(
    {"gateways", "management", "suppression", "reach", "spreading", "mtu"}
)  # and those that send packets at once
AFTERWARDS = ("sessions", "forwarding", "overlay", "reach")  # proofs that are shown once more when scenarios have been played


def run(lab: Blueprint, kernel: Kernel, selected: Collection[str], fabric: str, say: Say) -> Outcome:
    """Proofs, then scenarios on one fabric, then whether all is as it was.

    Args:
        wanted: of NAMES.
        fabric: that scenarios break, "" for the first one that has something to spare.
    """
    began = time.monotonic()
    host.raise_open_files()
    live = Live(lab, kernel)
    results: list[Result] = []
    routed = bool(lab.nodes)
    if routed:
        settle(live, frozenset(selected))
    for proof in PROOFS if routed or not lab.subnets else ():
        if proof.id not in selected:
            continue
        if any(result.id == DAEMONS and result.status == FAIL for result in results):
            results.append(judged(PROOF, proof.id, proof.title, skip("daemons have ended"), 0.0))
            continue
        say(proof.title)
        results.append(prove(proof, live))
    results += _subnets(live, selected, say)
    scenarios = [scenario for scenario in SCENARIOS if scenario.id in selected and (routed or not lab.subnets)]
    if scenarios and not lab.views:
        why = skip("no switches")
        results += [judged(SCENARIO, scenario.id, scenario.title, why, 0.0) for scenario in scenarios]
    elif scenarios:
        sound = not any(result.status == FAIL for result in results)
        results += _scenarios(live, scenarios, fabric or _breakable(live), sound, say)
    left_out = (*NOT_EMULATED, *_left_out(live))
    return Outcome(
        site=lab.site,
        shape=lab.shape,
        frr=daemons.version(),
        kernel=kernel.release,
        vrfs=kernel.vrfs,
        results=tuple(results),
        not_emulated=left_out,
        seconds=time.monotonic() - began,
        intent=str(lab.plan.settings.home.path),
    )


def _subnets(live: Live, selected: Collection[str], say: Say) -> Iterator[Result]:
    """Proofs of subnets of InfiniBand, and what is done to them."""
    kinds = ((PROOF, subnet_proofs.PROOFS), (SCENARIO, subnet_proofs.SCENARIOS))
    for kind, proof in ((kind, proof) for kind, proofs in kinds for proof in proofs if live.lab.subnets):
        if proof.id in selected:
            say(proof.title)
            yield prove(proof, live, kind)


def settle(live: Live, selected: frozenset[str] = TRAFFIC) -> None:
    """Gives a lab that has just come up its time, as far as no proof that is asked for does.

    What is below a proof must be there before it: EVPN is judged between leaves that have routes to each other.
    """
    alone = TRAFFIC & selected and not SETTLING & selected  # a proof that waits has found what is missing
    below = SETTLING if alone else SETTLING - {"overlay"} if "overlay" in selected else frozenset[str]()
    with suppress(LabError):
        if "sessions" in below - selected:
            sessions_proof.wait(live, sessions(live.lab))
        if "forwarding" in below - selected:
            forwarding_proof.wait(live)
        if "overlay" in below - selected and any(view.overlay for view in live.lab.views.values()):
            overlay_proof.settled(live)


def _scenarios(live: Live, selected: Sequence[Scenario], fabric: str, sound: bool, say: Say) -> Iterator[Result]:
    """No scenario runs in a lab whose proofs failed: its results would have no clear cause."""
    if not sound:
        why = skip("proofs have failed: fix their findings first")
        yield from (judged(SCENARIO, scenario.id, scenario.title, why, 0.0) for scenario in selected)
        return
    stage = Stage(live, fabric)
    faults = stage.healed()
    cause = f"fabric {fabric} is not as planned: {faults[0].device}: {faults[0].message}" if faults else ""
    for scenario in selected:
        if not stage.sound:
            yield judged(SCENARIO, scenario.id, scenario.title, skip(cause), 0.0)
            continue
        say(f"{scenario.title} ({fabric})")
        yield from _play(stage, scenario)
        cause = f"fabric {fabric} did not come back from '{scenario.title}'"
    for proof in PROOFS:
        if proof.id in AFTERWARDS:
            again = replace(proof, id=f"{proof.id}-afterwards", title=f"{proof.title}, afterwards")
            say(again.title)
            result = prove(again, live)
            if result.status != SKIP:
                yield result


def _play(stage: Stage, scenario: Scenario) -> Iterator[Result]:
    """One scenario; what it shows one after the other is timed each by itself."""
    steps = _steps(stage, scenario)
    while True:
        began = time.monotonic()
        try:
            id, title, shown = next(steps)
        except StopIteration:
            return
        except (LabError, OSError) as error:
            stage.sound = False
            id, title, shown = scenario.id, scenario.title, broke(error)
        yield judged(SCENARIO, id, title, shown, time.monotonic() - began)


def _steps(stage: Stage, scenario: Scenario) -> Iterator[tuple[str, str, ProofResult]]:
    shown = scenario.play(stage)
    if isinstance(shown, ProofResult):
        yield scenario.id, scenario.title, shown
    else:
        yield from shown


def _breakable(live: Live) -> str:
    """The first fabric with two leaves and a path around each switch above them, else the first."""
    fabrics = list(dict.fromkeys(view.fabric for view in live.lab.views.values()))
    counts = {
        fabric: len(
            {s.peer_node for s in sessions(live.lab) if s.kind == UNDERLAY and live.lab.views[s.node].fabric == fabric}
        )
        for fabric in fabrics
    }
    return next((fabric for fabric in fabrics if counts[fabric] > 2), fabrics[0])


def _left_out(live: Live) -> Iterator[NotEmulated]:
    """What this lab in particular does not show."""
    for feature in dict.fromkeys(words for node in live.lab.nodes.values() for words in node.lacks):
        count = sum(feature in node.lacks for node in live.lab.nodes.values())
        yield NotEmulated(feature, f"at {count} nodes: not supported by the daemons and kernel of the lab", ())
    if any(needs_own_hops(node.frr_conf) for node in live.switches):
        defect = LOSES_NEXT_HOPS
        why = f"FRR {daemons.version()} {defect.what} ({defect.source}); zebra ran '{OWN_HOPS}' before it loaded the file"
        yield NotEmulated("next-hop groups of the kernel", why, ())
    if forgets(live.lab):
        defect = FORGETS_ROUTER_MACS
        why = f"FRR {daemons.version()} {defect.what} ({defect.source}); flows of scenarios run between leaves"
        yield NotEmulated("routed traffic of tenants while a switch fails", why, ())
