"""Stable numbers of units, pods and switches: the n of their names, and the rows of every other table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabric.planner.ledger import Area, Ints, Ledger, Need, Space
from fabric.planner.sizing import GroupSize, Sizing


@dataclass(frozen=True)
class Numbers:
    """Numbers from 0. Pods are those of three tiers; with fewer there is one, number 0."""

    unit: dict[str, Ints]  # by group
    pod: dict[str, Ints]  # by group
    pods: Ints  # of all groups, sorted
    leaf: dict[str, Ints]  # by group, [unit, leaf of the unit]
    spine: Ints  # [pod, network, spine]
    core: Ints  # [network, core group, core]
    arrivals: list[tuple[str, int]]  # (group, unit) in order of leaf numbers, reserved units included

    def pod_places(self, group: str) -> Ints:
        """Each pod of the group as a place in `pods`."""
        return np.searchsorted(self.pods, self.pod[group])


def id_spaces(fabric: str) -> list[tuple[str, Space]]:
    """The number spaces of one fabric's ids, by the prefix of their keys."""
    return [(f"{fabric}:id/{kind}", Space([(0, 2**31)])) for kind in ("unit", "pod", "leaf", "spine", "core")]


def number(fabric: str, sizing: Sizing, ledger: Ledger, spaces: dict[str, Space]) -> Numbers:
    """Gives every unit, pod and switch its number: known ones keep theirs, new ones follow in order."""

    def area(kind: str, name: str, need: Need) -> Area:
        key = f"{fabric}:id/{kind}" + (f"/{name}" if name else "")
        return ledger.area(key, spaces[f"{fabric}:id/{kind}"], need)

    unit, pod, leaf, order = {}, {}, {}, []
    for size in sizing.groups:
        units = np.arange(size.units)
        unit[size.name] = area("unit", size.name, Need(size.units, reserve=size.units_planned)).numbers(units)
        pod[size.name] = _pods(area, sizing, size)
        leaves = area("leaf", size.name, Need(size.units, size.unit_leaves, reserve=size.units_planned))
        leaf[size.name] = leaves.numbers(units[:, None], np.arange(size.unit_leaves)[None, :])
        order += [
            (block.number(row, block.column), size.name, row)
            for block in leaves.blocks
            if block.column == 0
            for row in range(block.row, block.row_end)
        ]
    pods = np.unique(np.concatenate(list(pod.values())))
    spine = np.zeros((len(pods), sizing.networks, sizing.spines_built), dtype=np.int64)
    core = np.zeros((sizing.networks, sizing.spines_built, sizing.cores_built), dtype=np.int64)
    if sizing.spines:
        row = pods[:, None, None] * sizing.networks + np.arange(sizing.networks)[None, :, None]
        reserve = sizing.networks * sum(g.pods_planned for g in sizing.groups) if sizing.tiers == 3 else 0
        need = Need((int(pods.max()) + 1) * sizing.networks, sizing.spines, reserve=reserve)
        spine = area("spine", "", need).numbers(row, np.arange(sizing.spines_built)[None, None, :])
    if sizing.cores:
        group = np.arange(sizing.spines_built)[None, :, None] * sizing.networks + np.arange(sizing.networks)[:, None, None]
        cores = area("core", "", Need(sizing.spines * sizing.networks, sizing.cores))
        core = cores.numbers(group, np.arange(sizing.cores_built)[None, None, :])
    return Numbers(unit, pod, pods, leaf, spine, core, [(name, row) for _, name, row in sorted(order)])


def _pods(area: object, sizing: Sizing, size: GroupSize) -> Ints:
    if sizing.tiers < 3:
        return np.zeros(1, dtype=np.int64)
    assert callable(area)
    table: Area = area("pod", size.name, Need(size.pods, reserve=size.pods_planned))
    return table.numbers(np.arange(size.pods))
