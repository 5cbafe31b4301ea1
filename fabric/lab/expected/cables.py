"""The neighbors that LLDP must report in a lab."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.lab.blueprint import SERVER, End
from fabric.lab.live import Live
from fabric.lab.machine.lldp import speakers
from fabric.nos.target import target


def planned(live: Live) -> dict[End, End]:
    """Port of a switch → the port that its cable must lead to; stand-ins have no names of their own there.

    Between switches this is the plan, whatever the lab has wired; names of server ports are from their files.
    """
    far_ends = dict(_between(live))
    speaking = {node.name for node in speakers(live) if node.kind == SERVER}
    for wire in live.lab.cables:
        here, there = (wire.b, wire.a) if wire.a.node in speaking else (wire.a, wire.b)
        if there.node in speaking and here.node in live.lab.views:
            far_ends[here] = there
    return {here: there for here, there in far_ends.items() if _up(live, here) and _up(live, there)}


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
