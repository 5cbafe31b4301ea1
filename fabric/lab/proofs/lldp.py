"""LLDP neighbors match the planned cabling; faults name swapped cables with their planned ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabric.lab.blueprint import SERVER, End
from fabric.lab.live import Live
from fabric.lab.machine.lldp import SERVERS, Lldp, missing, speakers
from fabric.lab.outcome import Fault
from fabric.lab.proofs.base import Proof, Shown, skip
from fabric.nos.target import target

PATIENCE_S = 25.0


def planned(live: Live) -> dict[End, End]:
    """Port of a switch → the port that its cable must lead to; stand-ins have no names of their own there.

    Between switches this is the plan, whatever the lab has wired; names of server ports are from their files.
    """
    found = dict(_between(live))
    speaking = {node.name for node in speakers(live) if node.kind == SERVER}
    for wire in live.lab.cables:
        here, there = (wire.b, wire.a) if wire.a.node in speaking else (wire.a, wire.b)
        if there.node in speaking and here.node in live.lab.views:
            found[here] = there
    return {here: there for here, there in found.items() if _up(live, here) and _up(live, there)}


def _between(live: Live) -> Iterator[tuple[End, End]]:
    for name, view in live.lab.views.items():
        for port in view.cabled:
            far = port.peer
            if far is None or far.port is None or far.model is None or far.device.name not in live.lab.views:
                continue
            own, other = target(view.device.nos), target(far.device.nos)
            here = End(name, own.port_name(view.model, port.ref, view.device.model))
            yield here, End(far.device.name, other.port_name(far.model, far.port, far.device.model))


def _up(live: Live, end: End) -> bool:
    """Whether its file does not disable it; a missing port counts as up, so that its silence is a fault."""
    own = live.wiring.interfaces.get(end)
    return own is None or own.up


def show(live: Live) -> Shown:
    """Starts lldpd everywhere and compares neighbors."""
    if lost := missing():
        return skip(lost)
    wanted = planned(live)
    with Lldp(live) as lldp:
        reported = lldp.wait(wanted, PATIENCE_S)
    faults = tuple(compare(wanted, reported))
    right = sum(reported.get(here) == [there] for here, there in wanted.items())
    silent = len(live.lab.of(SERVER)) > SERVERS
    words = f", servers not included as there are more than {SERVERS}" if silent else ""
    return Shown(f"{right} of {len(wanted)} ports report the planned neighbor{words}", faults)


def compare(planned_neighbors: Mapping[End, End], reported: Mapping[End, list[End]]) -> list[Fault]:
    """Each wrong cable once: swapped pairs first, then ports cabled elsewhere, then ports without a neighbor."""
    wrong = {
        near: next(iter(reported.get(near, ())), None)
        for near, far in planned_neighbors.items()
        if reported.get(near) != [far]
    }
    faults, done = [], set[End]()
    for near, got in wrong.items():
        if near in done or got is None:
            continue
        # The cable planned at `got` starts at `other`, and ends at the port planned for this one.
        other, planned_end = planned_neighbors.get(got), planned_neighbors[near]
        if other is not None and other != near and other.node == near.node and wrong.get(other) == planned_end:
            done |= {near, other, got, planned_end}
            message = (
                f"cables of {near.interface} and {other.interface} are swapped: {near.interface} leads to {_end(got)}, "
                f"expected {_end(planned_end)}; {other.interface} leads to {_end(planned_end)}, expected {_end(got)}"
            )
            faults.append(Fault(near.node, message))
    for near, got in sorted(wrong.items(), key=lambda item: item[1] is None):  # reported neighbors before silent ports
        if near in done:
            continue
        done |= {near, *([planned_neighbors[near]] if planned_neighbors[near] in wrong else [])}
        neighbors = _end(got) if got else "no neighbor"
        if len(reported.get(near, ())) > 1:
            neighbors = "several neighbors: " + ", ".join(map(_end, reported[near]))
        faults.append(Fault(near.node, f"{near.interface} reports {neighbors}, expected {_end(planned_neighbors[near])}"))
    return faults


def _end(end: End) -> str:
    return f"{end.node} {end.interface}"


PROOF = Proof("lldp", "Cabling as reported by LLDP", show)
