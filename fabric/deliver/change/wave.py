"""One wave: its switches, what the fabric keeps, and what must hold before and after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabric.base.text import listed, percent, plural
from fabric.deliver.change.meter import Meter
from fabric.deliver.change.records import (
    CONFIGURE,
    DRAIN,
    INSTALL,
    LEAVES_SERVICE,
    RECABLE,
    REMOVE,
    REPLACE,
    UNDRAIN,
    Left,
    Move,
    Refused,
    Task,
    Wave,
)
from fabric.model.plan import SWITCH_ROLES, Device
from fabric.solver.capacity.outages import NO_DEVICE, Out

PLURALS = {"leaf": "leaves", "spine": "spines", "core": "cores"}
LOADED = (
    "their complete files, `configs/` of each in the folder of --files: loaded by hand at the console, or by "
    "`fabric export day-zero INTENT` where it has `management.day_zero`"
)
VERIFY = "`fabric verify INTENT STATE --before EARLIER` has no finding"


def task(device: Device, action: str, reason: str = "") -> Task:
    """What is done to a switch."""
    drained = action in LEAVES_SERVICE
    return Task(device=device.name, role=device.role, nos=device.nos, action=action, drained=drained, reason=reason)


@dataclass
class Builder:
    """Makes the waves of one fabric, one after the other.

    Attributes:
        meter: what is measured.
        number: of the last wave.
    """

    meter: Meter
    number: int = 0

    def wave(
        self,
        action: str,
        tasks: Sequence[Task],
        out: Out,
        *,
        at_risk: Out = NO_DEVICE,
        moves: tuple[Move, ...] = (),
        links: int = 0,
        done: str = "",
        touched: float = 0.0,
    ) -> Wave:
        """The next wave.

        Args:
            out: switches that are out of service meanwhile.
            at_risk: those that a failure of the work can take along, where it is other ones.
            links: that are out of service without their switches, as the meter has it.
            done: how far the change is after it, in words.
        """
        left = self.meter.left(out)
        self.number += 1
        return Wave(
            number=self.number,
            fabric=self.meter.fabric.name,
            title=_title(action, tasks, moves),
            tasks=tuple(tasks),
            moves=moves,
            left=left,
            worst=self.meter.capacity(at_risk) if at_risk else left.capacity,
            before=(*self._before(action, left), *_before_links(links)),
            after=tuple(_after(action, bool(tasks))),
            stop=_stop(action, left, done),
            touched=touched,
        )

    def _before(self, action: str, left: Left) -> Iterable[str]:
        if self.number > 1:
            yield "the wave before is done: what it has after it holds"
        if action not in (INSTALL, REMOVE):
            yield f"no other switch or link of {self.meter.fabric.name} is down: `fabric verify INTENT STATE` has no finding"
        if left.cut_off:
            names = listed(left.cut_off, 4)
            yield f"no job runs on {plural(len(left.cut_off), 'server')} whose last port goes down: {names}"
        elif left.ports_down:
            yield f"jobs on servers below leave, or continue without {plural(left.ports_down, 'port')} that go down"


def _before_links(count: int) -> Iterable[str]:
    if count:
        yield f"the {plural(count, 'link')} of the jumpers carry no traffic: `1-drain` is done at both ends"


def _after(action: str, has_switches: bool) -> Iterable[str]:
    if action in (INSTALL, REPLACE) and has_switches:
        yield f"the new switches run {LOADED}"
    if action == INSTALL:
        yield "the new cables are plugged: `fabric cabling verify INTENT LLDP` has no finding on them"
    elif action == REMOVE:
        yield "the devices are off, their cables pulled: `fabric cabling verify INTENT LLDP` has no finding"
    elif action == DRAIN:
        yield "the counters of the drained switches stand still: no traffic is left on them"
        yield "every other session is established, every other port up"
    else:
        yield "every session of the switches is established, every port up: " + VERIFY
    if action == CONFIGURE:
        yield "`fabric drift INTENT RUNNING` has no difference on the switches"
    elif action == RECABLE:
        yield "`fabric cabling verify INTENT LLDP` has no finding on the cables of the wave"


def _stop(action: str, left: Left, done: str) -> str:
    if action == DRAIN:
        return f"the switches stay drained, {percent(left.capacity)} of the capacity is left"
    if action == INSTALL:
        return "the network in service is as before" + (f", {done}" if done else "")
    if action == REMOVE:
        return "the change is done"
    if action == UNDRAIN:
        return "every switch carries traffic"
    return "every switch is in service" + (f", {done}" if done else "")


def _title(action: str, tasks: Sequence[Task], moves: Sequence[Move]) -> str:
    own = [item for item in tasks if item.action == action]
    counts = {role: sum(item.role == role for item in own) for role in SWITCH_ROLES}
    parts = [plural(count, role, PLURALS[role]) for role, count in counts.items() if count]
    parts += [plural(len(moves), "cable")] if moves else []
    return f"{action} {', '.join(parts)}"


# --- what is refused ------------------------------------------------------------------------------------------


def refusal(meter: Meter, devices: Out, floor: float, reason: str = "") -> Refused:
    """Switches that the floor does not allow to go, with the number; `reason`: why they leave service."""
    capacity = meter.capacity(devices)
    why = reason or ("their cables wait for each other" if len(devices) > 1 else "")
    text = f"out of service {'alone' if len(devices) == 1 else 'together'} leaves {percent(capacity)}"
    text += f", below the floor of {percent(floor)}" if capacity < floor else f" of a floor of {percent(floor)}"
    text += f" ({why})" if why else ""
    return Refused(fabric=meter.fabric.name, devices=meter.names(devices), capacity=capacity, reason=text)


def together(refused: Iterable[Refused]) -> tuple[Refused, ...]:
    """Switches that are refused for one reason, as one."""
    found: dict[tuple[str, str], Refused] = {}
    for entry in refused:
        key = entry.fabric, entry.reason
        names = (*found[key].devices, *entry.devices) if key in found else entry.devices
        found[key] = Refused(fabric=entry.fabric, devices=names, capacity=entry.capacity, reason=entry.reason)
    return tuple(found.values())
