"""Which cages of a switch carry which ports: counting for the sizing, slots for the wiring."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.catalog.models import PortGroup, SwitchModel
from fabric.rounding import ceil_div


@dataclass(frozen=True, slots=True)
class Slot:
    """One logical port: cage (from 1), which of the cage's ports (from 0), and how many the cage carries."""

    cage: int
    sub: int
    split: int
    speed_gbps: int


@dataclass(frozen=True)
class Layout:
    """The ports of a switch in the order links take them: downlinks from the first cage on, uplinks in the last cages.

    `free` are the cages that neither takes.
    """

    down: tuple[Slot, ...]
    up: tuple[Slot, ...]
    free: tuple[int, ...]

    @property
    def up_cages(self) -> int:
        return len({slot.cage for slot in self.up})


class NoFit(Exception):
    """The ports of a switch do not suffice; the message names the numbers that do not fit."""


class NoSuchSpeed(NoFit):
    """No cage of a switch supports a speed."""


def capacity(model: SwitchModel, speed_gbps: int) -> int:
    """Most ports of one speed that a switch has, 0 if it does not support that speed."""
    ports = sum(group.count * group.splits.get(speed_gbps, 0) for group in model.ports)
    return min(ports, model.max_logical_ports or ports)


def spare(model: SwitchModel, layout: Layout, speed_gbps: int) -> int:
    """Ports of a speed that the free cages have."""
    return sum(model.group_of(cage).splits.get(speed_gbps, 0) for cage in layout.free)


def lay_out(model: SwitchModel, down: int, down_gbps: int, up: int = 0, up_gbps: int = 0) -> Layout:
    """Assigns cages to `down` ports of one speed and `up` ports of another.

    Uplinks take the last of the fastest cages, downlinks the first of the slowest that can do the speed, so that a switch
    with 48 slow and 8 fast cages is used as designed. Raises NoFit.
    """
    down_cages, up_cages = _cages(model, down, down_gbps, up, up_gbps)
    down_slots = _slots(model, down_cages, down_gbps, down)
    up_slots = _slots(model, up_cages, up_gbps, up)
    used = {*down_cages, *up_cages}
    return Layout(down_slots, up_slots, tuple(c for c in range(1, model.cages + 1) if c not in used))


def fits(model: SwitchModel, down: int, down_gbps: int, up: int, up_gbps: int) -> bool:
    """Whether `lay_out` finds cages for so many ports."""
    try:
        _cages(model, down, down_gbps, up, up_gbps)
    except NoFit:
        return False
    return True


def _cages(model: SwitchModel, down: int, down_gbps: int, up: int, up_gbps: int) -> tuple[list[int], list[int]]:
    """The cages of the ports down and of the uplinks. Raises NoFit."""
    groups = _numbered(model)
    up_cages = _take(groups, up, up_gbps, fastest=True, taken=frozenset())
    down_cages = _take(groups, down, down_gbps, fastest=False, taken=frozenset(up_cages))
    if model.max_logical_ports:
        logical = sum(model.group_of(c).splits[down_gbps] for c in down_cages)
        logical += sum(model.group_of(c).splits[up_gbps] for c in up_cages)
        if logical > model.max_logical_ports:
            raise NoFit(f"{logical} logical ports are needed, the chip drives {model.max_logical_ports}")
    return down_cages, up_cages


def _numbered(model: SwitchModel) -> list[tuple[PortGroup, range]]:
    """Each port group with its cage numbers."""
    first, groups = 1, []
    for group in model.ports:
        groups.append((group, range(first, first + group.count)))
        first += group.count
    return groups


def _take(
    groups: list[tuple[PortGroup, range]], ports: int, speed_gbps: int, *, fastest: bool, taken: frozenset[int]
) -> list[int]:
    """Cages for so many ports of a speed, in ascending order."""
    cages: list[int] = []
    order = sorted(groups, key=lambda item: (-item[0].speed_gbps if fastest else item[0].speed_gbps, item[1].start))
    missing = ports
    for group, numbers in order:
        split = group.splits.get(speed_gbps, 0)
        if missing <= 0 or not split:
            continue
        free = [cage for cage in numbers if cage not in taken]
        requested = min(ceil_div(missing, split), len(free))
        cages += free[len(free) - requested :] if fastest else free[:requested]
        missing -= requested * split
    if missing > 0:
        free_now = sum(
            group.splits.get(speed_gbps, 0) * sum(cage not in taken for cage in numbers) for group, numbers in groups
        )
        if free_now == 0 and not any(speed_gbps in group.splits for group, _ in groups):
            raise NoSuchSpeed(f"it has no cage for {speed_gbps}G")
        kind = "uplinks" if fastest else "ports down"
        raise NoFit(f"{ports} {kind} of {speed_gbps}G are needed, {free_now} are left")
    return sorted(cages)


def _slots(model: SwitchModel, cages: list[int], speed_gbps: int, count: int) -> tuple[Slot, ...]:
    slots = [
        Slot(cage, sub, split, speed_gbps)
        for cage in cages
        for split in (model.group_of(cage).splits[speed_gbps],)
        for sub in range(split)
    ]
    return tuple(slots[:count])
