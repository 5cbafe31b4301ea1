"""Which cages of a switch carry which ports: counting for the sizing, slots for the wiring, layouts of switches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabric.base.rounding import ceil_div
from fabric.base.text import plural
from fabric.hardware.catalog.models import Pipelines, PortGroup, SwitchModel
from fabric.model.plan.sizing import GroupSize, Sizing
from fabric.model.plan.spec import FabricSpec


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

    `free` are the cages that neither takes, and that no breakout disables.
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
    splits = [group.splits.get(speed_gbps, 0) for group in model.ports]
    crowded = model.pipelines is not None and max(splits) > model.pipelines.share
    if crowded or model.is_wide(max(splits)):
        ports = _ports_in(model, range(1, model.cages + 1), speed_gbps, {})
    return min(ports, model.max_logical_ports or ports)


def spare(model: SwitchModel, layout: Layout, speed_gbps: int, beside: Iterable[tuple[int, int]] = ()) -> int:
    """Ports of a speed that the free cages have, beside those that are reserved there: (Gb/s, ports). Raises NoFit."""
    return _ports_in(model, cages_left(model, layout, beside), speed_gbps, _held(model, layout))


def _held(model: SwitchModel, layout: Layout) -> dict[int, int]:
    """Cage → its ports, for the cages that a layout takes."""
    return _disabling(model, {slot.cage: slot.split for slot in (*layout.down, *layout.up)})


def _disabling(model: SwitchModel, splits: Mapping[int, int]) -> dict[int, int]:
    """Cage → its ports, with 0 for every cage that the breakout of the one before disables."""
    if model.disables_next is None:
        return dict(splits)
    return dict(splits) | {cage + 1: 0 for cage, split in splits.items() if model.is_wide(split)}


def splits_left(model: SwitchModel, layout: Layout, cage: int) -> dict[int, int]:
    """Speed → ports that a free cage can still be split into, beside those that the layout has in its pipeline.

    A breakout that disables the next cage needs that one free.
    """
    splits = model.group_of(cage).splits
    if cage % 2 == 0 or cage + 1 not in layout.free:
        splits = {speed: split for speed, split in splits.items() if not model.is_wide(split)}
    if model.pipelines is None:
        return splits
    room = _room(model, model.pipelines, cage, _held(model, layout))
    return {speed: split for speed, split in splits.items() if split <= room}


def lay_out(model: SwitchModel, down: int, down_gbps: int, up: int = 0, up_gbps: int = 0, *, first: bool = False) -> Layout:
    """Assigns cages to `down` ports of one speed and `up` ports of another.

    Uplinks take the last of the fastest cages, downlinks the first of the slowest that can do the speed, so that a switch
    with 48 slow and 8 fast cages is used as designed. Raises NoFit.

    Args:
        first: uplinks take the first of the fastest cages.
    """
    down_cages, up_cages = _cages(model, down, down_gbps, up, up_gbps, first=first)
    down_slots = _slots(model, down_cages, down_gbps, down)
    up_slots = _slots(model, up_cages, up_gbps, up)
    used = _disabling(model, {slot.cage: slot.split for slot in (*down_slots, *up_slots)})
    return Layout(down_slots, up_slots, tuple(c for c in range(1, model.cages + 1) if c not in used))


def fits(model: SwitchModel, down: int, down_gbps: int, up: int, up_gbps: int) -> bool:
    """Whether `lay_out` finds cages for so many ports."""
    try:
        _cages(model, down, down_gbps, up, up_gbps)
    except NoFit:
        return False
    return True


def _cages(
    model: SwitchModel, down: int, down_gbps: int, up: int, up_gbps: int, *, first: bool = False
) -> tuple[list[int], list[int]]:
    """The cages of the ports down and of the uplinks. Raises NoFit."""
    up_cages = _take(model, up, up_gbps, fastest=True, taken={}, first=first)
    taken = _disabling(model, {cage: model.group_of(cage).splits[up_gbps] for cage in up_cages})
    down_cages = _take(model, down, down_gbps, fastest=False, taken=taken)
    if model.max_logical_ports:
        logical = sum(model.group_of(c).splits[down_gbps] for c in down_cages)
        logical += sum(taken.values())
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
    model: SwitchModel, ports: int, speed_gbps: int, *, fastest: bool, taken: Mapping[int, int], first: bool = False
) -> list[int]:
    """Cages for so many ports of a speed, in ascending order, beside the taken ones (cage → its ports)."""
    held, missing = dict(taken), ports
    order = sorted(_numbered(model), key=lambda item: (item[0].speed_gbps, item[1].start), reverse=fastest)
    for group, numbers in order:
        split = group.splits.get(speed_gbps, 0)
        if missing <= 0 or not split:
            continue
        from_last = fastest and not first
        chosen = _choose(model, reversed(numbers) if from_last else numbers, split, held, ceil_div(missing, split))
        held |= _disabling(model, dict.fromkeys(chosen, split))
        missing -= len(chosen) * split
    if missing > 0:
        if not any(speed_gbps in group.splits for group in model.ports):
            unknown = " that is known to the catalog" if model.may_have(speed_gbps) else ""
            raise NoSuchSpeed(f"it has no cage for {speed_gbps}G{unknown}")
        kind, left = "uplinks" if fastest else "ports down", _ports_in(model, range(1, model.cages + 1), speed_gbps, taken)
        raise NoFit(f"{ports} {kind} of {speed_gbps}G are needed, {left} are left")
    return sorted(cage for cage in held.keys() - taken.keys() if held[cage])


def _ports_in(model: SwitchModel, cages: Iterable[int], speed_gbps: int, taken: Mapping[int, int]) -> int:
    """Ports of a speed that some cages give beside the taken ones, when as many as possible are split for it."""
    held, ports = dict(taken), 0
    splits = {cage: split for cage in cages if (split := model.group_of(cage).splits.get(speed_gbps, 0))}
    for split in dict.fromkeys(splits.values()):
        chosen = _choose(model, (cage for cage, its in splits.items() if its == split), split, held, len(splits))
        held |= _disabling(model, dict.fromkeys(chosen, split))
        ports += len(chosen) * split
    return ports


def _choose(model: SwitchModel, cages: Iterable[int], split: int, held: Mapping[int, int], count: int) -> list[int]:
    """The first of some cages that are not held, up to so many, that can be split so: their pipelines have room, and cages
    that the split disables are free."""
    free, wide = [cage for cage in cages if cage not in held], model.is_wide(split)
    pipelines = model.pipelines
    roomy = pipelines is None or max(held.values(), default=split) <= pipelines.share >= split
    if roomy and not wide:
        return free[:count]
    used = dict(held)
    chosen: list[int] = []
    for cage in free:
        if wide and (cage % 2 == 0 or cage + 1 in used):
            continue
        if len(chosen) < count and (pipelines is None or _room(model, pipelines, cage, used) >= split):
            used |= _disabling(model, {cage: split})
            chosen.append(cage)
    return chosen


def _room(model: SwitchModel, pipelines: Pipelines, cage: int, held: Mapping[int, int]) -> int:
    """Ports that a cage may give while the other cages of its pipeline keep theirs, an unused one its single port."""
    first = cage - (cage - 1) % len(pipelines.cages)
    near = range(first, min(first + len(pipelines.cages), model.cages + 1))
    others = (other for other in near if other != cage and pipelines.of(other) == pipelines.of(cage))
    return pipelines.max_ports - sum(held.get(other, 1) for other in others)


def _slots(model: SwitchModel, cages: list[int], speed_gbps: int, count: int) -> tuple[Slot, ...]:
    slots = [
        Slot(cage, sub, split, speed_gbps)
        for cage in cages
        for split in (model.group_of(cage).splits[speed_gbps],)
        for sub in range(split)
    ]
    return tuple(slots[:count])


# --- Every kind of switch of a sized fabric, in the order that links take its ports ---------------------------


def leaf_layout(spec: FabricSpec, sizing: Sizing, group: GroupSize) -> Layout:
    """The ports of a leaf of a group; spare server ports stand behind those of the servers."""
    return leaf_ports(spec, group.down, group.down_gbps, group.uplinks, sizing.uplink_gbps, beside=group.beside)


def leaf_spine_ports_used(sizing: Sizing) -> int:
    """Ports that leaves take on the fullest spine of the finished fabric."""
    if sizing.tiers == 3:
        units, networks = sizing.units_per_pod, sizing.networks
        return max(g.leaves_of_pod(units, networks) * sizing.links_per_spine(g) for g in sizing.groups)
    return sum(g.units_planned * g.unit_leaves // sizing.networks * sizing.links_per_spine(g) for g in sizing.groups)


def spine_layout(spec: FabricSpec, sizing: Sizing) -> Layout:
    """The ports of a spine: as many down as its pod of the finished fabric takes."""
    first = spec.constraints.spine_uplinks.ports == "first"
    down, up = leaf_spine_ports_used(sizing), sizing.spine_uplinks
    return lay_out(spec.spine.model, down, sizing.uplink_gbps, up, sizing.core_gbps, first=first)


def core_downlinks(spec: FabricSpec, sizing: Sizing) -> tuple[Slot, ...]:
    """All ports of a core: a link that keeps its port while others are removed can have a number above the count of links."""
    return lay_out(spec.core.model, capacity(spec.core.model, sizing.core_gbps), sizing.core_gbps).down


def spine_downlinks(spec: FabricSpec, sizing: Sizing) -> tuple[Slot, ...]:
    """All ports of a spine that can be downlinks: those that are not uplinks."""
    model, down, up = spec.spine.model, sizing.uplink_gbps, sizing.spine_uplinks
    if not up:
        return lay_out(model, capacity(model, down), down).down
    first = spec.constraints.spine_uplinks.ports == "first"
    return lay_out(model, most_down(spec, up, down, sizing.core_gbps), down, up, sizing.core_gbps, first=first).down


def leaf_ports(
    spec: FabricSpec,
    down: int,
    down_gbps: int,
    uplinks: int,
    uplink_gbps: int,
    *,
    beside: Iterable[tuple[int, int]] = (),
) -> Layout:
    """The ports of a leaf; spare server ports stand behind those of the servers. Raises NoFit.

    Args:
        beside: (Gb/s, ports) that free cages must have room for.
    """
    spare = spec.constraints.spare_server_ports
    first = spec.constraints.leaf_uplinks.ports == "first"
    layout = lay_out(spec.leaf.model, down + spare, down_gbps, uplinks, uplink_gbps, first=first)
    cages_left(spec.leaf.model, layout, beside)
    return layout


def cages_left(model: SwitchModel, layout: Layout, beside: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Free cages that are left beside further ports, (Gb/s, ports), each cage split for one speed. Raises NoFit."""
    free = list(layout.free)
    for speed, ports in beside:
        missing = ports
        for cage in layout.free:
            split = splits_left(model, layout, cage).get(speed, 0) if missing > 0 and cage in free else 0
            taken = (cage, cage + 1) if model.is_wide(split) else (cage,)  # a wide breakout disables the next cage
            if split and all(each in free for each in taken):
                free = [each for each in free if each not in taken]
                missing -= split
        if missing > 0:
            if not capacity(model, speed):
                raise NoSuchSpeed(f"it has no cage for {speed}G")
            raise NoFit(f"{plural(ports, 'port')} of {speed}G are needed beside them, {ports - missing} are left")
    return tuple(free)


def most_down(spec: FabricSpec, up: int, down_gbps: int, up_gbps: int) -> int:
    """The most ports down that fit on a spine beside its uplinks."""
    low, high = 0, capacity(spec.spine.model, down_gbps)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(spec.spine.model, middle, down_gbps, up, up_gbps):
            low = middle
        else:
            high = middle - 1
    return low
