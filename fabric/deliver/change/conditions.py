"""What must hold before and after a wave, and the state that the work can stop in."""

from __future__ import annotations

from fabric.base.text import listed, percent, plural
from fabric.deliver.change.records import DRAIN, INSTALL, LEAVES_SERVICE, REMOVE, UNDRAIN, Left
from fabric.model.plan import FabricPlan

Conditions = tuple[tuple[str, ...], tuple[str, ...], str]
VERIFY = "`fabric verify INTENT STATE --before EARLIER` has no finding"


def conditions(fabric: FabricPlan, action: str, left: Left, follows: bool, done: str = "") -> Conditions:
    """(before, after, state to stop in) of a wave.

    Args:
        action: of its switches.
        left: what the fabric keeps meanwhile.
        follows: another wave of the fabric is before it.
        done: share of a change that is carried out, in words, where the design changes.
    """
    before = ["the wave before it is done: every switch of it is back in service"] if follows else []
    before += [f"no other switch or link of {fabric.name} is down: `fabric verify INTENT STATE` has no finding"]
    if action in LEAVES_SERVICE:
        before += _servers(left)
    after = [VERIFY]
    if action == DRAIN:
        after = ["no traffic on the ports of the drained switches: their counters stand still", VERIFY]
        stop = f"drained, {percent(left.capacity)} of the capacity"
    elif action == INSTALL:
        stop = "the network in service is as before"
    elif action == REMOVE:
        stop = "the design is the new one"
    else:
        stop = "every switch is in service" + (f", {done}" if done else "")
    if action in (UNDRAIN, *LEAVES_SERVICE) and action != DRAIN:
        after += ["the capacity is back: every session of the switches is established, every port up"]
    return tuple(before), tuple(after), stop


def _servers(left: Left) -> list[str]:
    """What servers below the switches must expect."""
    if left.cut_off:
        names = listed(left.cut_off, 4)
        return [f"no job runs on {plural(len(left.cut_off), 'server')} that lose their last port: {names}"]
    if left.ports_down:
        return [f"jobs on servers with {plural(left.ports_down, 'port')} that go down continue on their other ports, or leave"]
    return []
