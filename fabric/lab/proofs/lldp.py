"""What every port hears by LLDP is the planned cabling; cables that are swapped are named, with the ports they belong in."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.lab.blueprint import SERVER, STAND_IN, End
from fabric.lab.live import Live
from fabric.lab.machine.lldp import SERVERS, Lldp, missing, speakers
from fabric.lab.outcome import Fault
from fabric.lab.proofs.base import Proof, Shown, skip

PATIENCE_S = 25.0


def planned(live: Live) -> dict[End, End]:
    """Port of a switch → the port that its cable must lead to; stand-ins have no names of their own there."""
    found: dict[End, End] = {}
    heard = {node.name for node in speakers(live) if node.kind != STAND_IN}
    for wire in live.lab.cables:
        if not {wire.a.node, wire.b.node} <= heard:
            continue
        if all(live.interface(end).up for end in (wire.a, wire.b)):
            found |= {wire.a: wire.b, wire.b: wire.a}
    return {here: there for here, there in found.items() if here.node in live.lab.views}


def show(live: Live) -> Shown:
    """Starts lldpd everywhere and listens."""
    if lost := missing():
        return skip(lost)
    wanted = planned(live)
    with Lldp(live) as lldp:
        heard = lldp.wait(wanted, PATIENCE_S)
    faults = tuple(compare(wanted, heard))
    right = sum(heard.get(here) == [there] for here, there in wanted.items())
    silent = len(live.lab.of(SERVER)) > SERVERS
    words = f", servers not asked as there are more than {SERVERS}" if silent else ""
    return Shown(f"{right} of {len(wanted)} ports hear the planned one{words}", faults)


def compare(wanted: Mapping[End, End], heard: Mapping[End, list[End]]) -> list[Fault]:
    """Each wrong cable once: swapped pairs first, then what is cabled elsewhere, then what hears nothing."""
    wrong = {here: next(iter(heard.get(here, ())), None) for here, there in wanted.items() if heard.get(here) != [there]}
    faults, told = [], set[End]()
    for here, got in wrong.items():
        if here in told or got is None:
            continue
        # The cable that ought to end at `got` comes from there, and ends where ours ought to.
        other = wanted.get(got)
        if other is not None and other != here and other.node == here.node and wrong.get(other) == wanted[here]:
            told |= {here, other, got, wanted[here]}
            message = (
                f"cables of {here.interface} and {other.interface} are swapped: {here.interface} leads to {_end(got)}, "
                f"planned {_end(wanted[here])}; {other.interface} leads to {_end(wanted[here])}, planned {_end(got)}"
            )
            faults.append(Fault(here.node, message))
    for here, got in sorted(wrong.items(), key=lambda item: item[1] is None):  # what is heard tells more than what is not
        if here in told:
            continue
        told |= {here, *([wanted[here]] if wanted[here] in wrong else [])}
        words = f"hears {_end(got)}" if got else "hears nothing"
        if len(heard.get(here, ())) > 1:
            words = "hears several: " + ", ".join(map(_end, heard[here]))
        faults.append(Fault(here.node, f"{here.interface} {words}, planned {_end(wanted[here])}"))
    return faults


def _end(end: End) -> str:
    return f"{end.node} {end.interface}"


PROOF = Proof("lldp", "Cabling as LLDP hears it", show)
