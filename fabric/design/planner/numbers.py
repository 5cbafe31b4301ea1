"""Stable numbers of units, pods and switches: the n of their names, and the rows of every other table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from fabric.base.rounding import ceil_div
from fabric.design.planner.allocator import AreaAllocator, Need, NumberSpace
from fabric.model.plan import Area, FabricSpec, GroupSize, GroupSpec, Ints, Sizing, servers_per_rack


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Numbers from 0. Pods are those of three tiers; with fewer there is one, number 0."""

    unit: dict[str, Ints]  # by group
    rack: dict[str, Ints]  # by group; empty where the intent knows no racks
    pod: dict[str, Ints]  # by group
    pods: Ints  # of all groups, sorted
    leaf: dict[str, Ints]  # by group, [unit, leaf of the unit]
    spine: Ints  # [pod, network, spine]
    core: Ints  # [network, core group, core]
    arrivals: list[tuple[str, int, int]]  # (group, unit, its leaves) by leaf numbers, with what is reserved or retired

    def pod_places(self, group: str) -> Ints:
        """Each pod of the group as a place in `pods`."""
        return np.searchsorted(self.pods, self.pod[group])


def number(spec: FabricSpec, sizing: Sizing, area_allocator: AreaAllocator, spaces: Mapping[str, NumberSpace]) -> Numbers:
    """Numbers every unit, pod and switch: known ones keep their numbers, new ones follow in order."""

    def area(kind: str, name: str, need: Need) -> Area:
        key = f"{spec.name}:id/{kind}"
        return area_allocator.area(f"{key}/{name}" if name else key, spaces[key], need)

    unit, rack, pod, leaf, order = {}, {}, {}, {}, _retired(spec, sizing, area_allocator)
    for size, group in zip(sizing.groups, spec.groups, strict=True):
        units = np.arange(size.units)
        rack[size.name] = _racks(area, spec, size, group)
        unit[size.name] = area("unit", size.name, Need(rows=size.units, reserve=size.units_planned)).numbers(units)
        pod[size.name] = _pods(area, sizing, size)
        leaves = area(
            "leaf", size.name, Need(rows=size.units, columns=size.unit_leaves, reserve=size.units_planned, last=True)
        )
        leaf[size.name] = leaves.numbers(units[:, None], np.arange(size.unit_leaves)[None, :])
        order += [
            (block.number(row, block.column), size.name, row, size.unit_leaves)
            for block in leaves.blocks
            if block.column == 0
            for row in range(block.row, block.row_end)
        ]
    pods = np.array(sorted({place for places in pod.values() for place in places.tolist()}))  # np.unique imports numpy.ma
    spine = np.zeros((len(pods), sizing.networks, sizing.spines_built), dtype=np.int64)
    core = np.zeros((sizing.networks, sizing.spines_built, sizing.cores_built), dtype=np.int64)
    if sizing.spines:
        row = pods[:, None, None] * sizing.networks + np.arange(sizing.networks)[None, :, None]
        reserve = sizing.networks * sum(g.pods_planned for g in sizing.groups) if sizing.tiers == 3 else 0
        need = Need(rows=(int(pods.max()) + 1) * sizing.networks, columns=sizing.spines, reserve=reserve)
        spine = area("spine", "", need).numbers(row, np.arange(sizing.spines_built)[None, None, :])
    if sizing.cores:
        rows = np.arange(sizing.spines_built)[None, :, None] * sizing.networks + np.arange(sizing.networks)[:, None, None]
        cores = area("core", "", Need(rows=sizing.spines * sizing.networks, columns=sizing.cores))
        core = cores.numbers(rows, np.arange(sizing.cores_built)[None, None, :])
    arrivals = [(name, row, leaves) for _, name, row, leaves in sorted(order)]
    return Numbers(unit=unit, rack=rack, pod=pod, pods=pods, leaf=leaf, spine=spine, core=core, arrivals=arrivals)


def _retired(spec: FabricSpec, sizing: Sizing, area_allocator: AreaAllocator) -> list[tuple[int, str, int, int]]:
    """Leaves of server groups that were removed from the intent: their numbers stay in use, so that others do not change.

    Where no known group is left the fabric was begun again, or its only group has another name: nothing is kept.
    """
    prefix = f"{spec.name}:id/leaf/"
    group_names = {
        key.removeprefix(prefix) for key, blocks in area_allocator.known.items() if key.startswith(prefix) and blocks
    }
    groups = {size.name for size in sizing.groups}
    if not group_names & groups:
        return []
    order = []
    for name in sorted(group_names - groups):
        for kind in ("leaf", "unit", "rack"):
            key = f"{spec.name}:id/{kind}/{name}"
            if area_allocator.known.get(key):
                area_allocator.areas[key] = Area(area_allocator.known[key])
        for block in area_allocator.known[prefix + name]:
            leaves = block.column_end - block.column
            order += [(block.number(row, block.column), name, row, leaves) for row in range(block.row, block.row_end)]
    return order


AreaOf = Callable[[str, str, Need], Area]


def _racks(area: AreaOf, spec: FabricSpec, size: GroupSize, group: GroupSpec) -> Ints:
    per_rack = servers_per_rack(spec, size, group)
    if not per_rack:
        return np.zeros(0, dtype=np.int64)
    full = ceil_div(size.unit_servers, per_rack)  # a unit's leaves stand in all its racks, whether servers are there or not
    racks = max(ceil_div(group.places(size.servers), per_rack), size.units * full if spec.kind == "rack" else 0)
    reserve = max(racks, ceil_div(group.places(group.planned), per_rack))
    return area("rack", size.name, Need(rows=racks, reserve=reserve)).numbers(np.arange(racks))


def _pods(area: AreaOf, sizing: Sizing, size: GroupSize) -> Ints:
    if sizing.tiers < 3:
        return np.zeros(1, dtype=np.int64)
    return area("pod", size.name, Need(rows=size.pods, reserve=size.pods_planned)).numbers(np.arange(size.pods))
