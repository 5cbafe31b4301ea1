"""Which switches of a plan go to Batfish: all of a site of up to 128, of a larger one a part that has everything once.

Batfish takes about 40 MB a switch, and time that grows faster than the count. Of a fabric that is too large the cut takes two
units of each of two pods, every border leaf, and of the tiers above as many of each group as fit, the same number of each:
all roles, all planes and rails, sessions and equal paths of every kind, fewer of each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

from fabric.base.text import plural
from fabric.model.plan import CORE, LEAF, SPINE, Device, FabricPlan, Plan

MOST = 128
UNITS, PODS = 2, 2
NOUNS = ((LEAF, "leaf", "leaves"), (SPINE, "spine", "spines"), (CORE, "core", "cores"))


@dataclass(frozen=True, slots=True)
class Cut:
    """The switches that are taken, by fabric."""

    taken: Mapping[str, tuple[Device, ...]]
    count: int  # of switches with a configuration, in all
    named: str  # "" when all are taken

    @property
    def names(self) -> frozenset[str]:
        return frozenset(device.name for devices in self.taken.values() for device in devices)


def cut(plan: Plan, max_switches: int = MOST) -> Cut:
    """All switches, or as many as `most`, shared among the fabrics; the small ones keep all of theirs."""
    sizes = {name: sum(1 for device in fabric.switches if device.nos) for name, fabric in plan.fabrics.items()}
    sizes = {name: size for name, size in sizes.items() if size}
    count, left = sum(sizes.values()), max_switches
    taken: dict[str, tuple[Device, ...]] = {}
    for place, name in enumerate(sorted(sizes, key=lambda name: (sizes[name], name))):
        share = left // (len(sizes) - place)
        fabric = plan.fabrics[name]
        taken[name] = fabric.switches if sizes[name] <= share else _part(fabric, share)
        left -= len(taken[name])
    ordered = {name: taken[name] for name in plan.fabrics if name in taken}
    chosen = sum(map(len, ordered.values()))
    if chosen == count:
        return Cut(ordered, count, "")
    parts = "; ".join(_named(name, devices) for name, devices in ordered.items())
    return Cut(ordered, count, f"{chosen:,} of {count:,} switches: {parts}")


def _named(name: str, devices: Iterable[Device]) -> str:
    found = list(devices)
    words = []
    for role, noun, nouns in NOUNS:
        names = [device.name for device in found if device.role == role]
        if names:
            words.append(f"{plural(len(names), noun, nouns)} ({names[0]} … {names[-1]})" if len(names) > 1 else names[0])
    return f"{name} with {', '.join(words)}"


def _part(fabric: FabricPlan, most: int) -> tuple[Device, ...]:
    """A part of one fabric: fewer of each group of spines and cores until it fits, then fewer leaves of each rail."""
    leaves = _leaves(fabric)
    for lesser in (leaves, _first(leaves, 2, _rail), _first(leaves, 1, _rail)):
        for each in range(most, 1, -1):
            found = _with_tiers(fabric, lesser, each)
            if len(found) <= most:
                return found
    return found[-most:]  # cores first, leaves last


def _leaves(fabric: FabricPlan) -> list[Device]:
    leaves = [device for device in fabric.switches if device.role == LEAF]
    pods = sorted({leaf.pod for leaf in leaves})[:PODS]
    units = {pod: sorted({leaf.unit for leaf in leaves if leaf.pod == pod})[:UNITS] for pod in pods}
    border = {int(fabric.links.b[connection.link]) for connection in fabric.tenancy.external_connections}
    wanted = {leaf.index for leaf in leaves if leaf.pod in units and leaf.unit in units[leaf.pod]} | border
    wanted |= {fabric.tenancy.pair[index] for index in wanted if index in fabric.tenancy.pair}
    return [leaf for leaf in leaves if leaf.index in wanted]


def _with_tiers(fabric: FabricPlan, leaves: list[Device], each: int) -> tuple[Device, ...]:
    """The leaves, and of what is above them `each` of every group."""
    near = _neighbors(fabric)
    spines = _first(_above(fabric, leaves, SPINE, near), each, lambda device: (device.pod, device.plane))
    below = {spine.index for spine in spines}
    cores = _above(fabric, spines, CORE, near)
    cores = _first(cores, each, lambda core: frozenset(near[core.index] & below))
    chosen = {device.index for device in (*leaves, *spines, *cores)}
    return tuple(device for device in fabric.switches if device.index in chosen)


def _neighbors(fabric: FabricPlan) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for a, b in set(zip(fabric.links.a.tolist(), fabric.links.b.tolist(), strict=True)):
        found.setdefault(a, set()).add(b)
        found.setdefault(b, set()).add(a)
    return found


def _above(fabric: FabricPlan, devices: Iterable[Device], role: str, near: Mapping[int, set[int]]) -> list[Device]:
    wanted = {index for device in devices for index in near.get(device.index, ())}
    return [device for device in fabric.switches if device.role == role and device.index in wanted]


def _rail(leaf: Device) -> Hashable:
    return leaf.pod, leaf.plane, leaf.rail


def _first(devices: Iterable[Device], each: int, group: Callable[[Device], Hashable]) -> list[Device]:
    """The first `each` of every group."""
    seen: dict[Hashable, int] = {}
    kept = []
    for device in devices:
        key = group(device)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= each:
            kept.append(device)
    return kept
