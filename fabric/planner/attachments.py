"""Ports for attached boxes: those that no planned server needs, spread over the leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fabric.diagnostics import Report
from fabric.plan.links import Links
from fabric.planner.places import positions
from fabric.planner.ports import Slot
from fabric.planner.sizing import Sizing
from fabric.planner.spec import FabricSpec
from fabric.planner.wiring import GroupSites, attachment_links

Places = dict[str, tuple[tuple[int, int], ...]]  # box → (leaf number from 1, slot) of each of its ports, in order


def place(
    spec: FabricSpec,
    sizing: Sizing,
    sites: Sequence[GroupSites],
    first_box: int,
    known: Mapping[str, tuple[tuple[int, int], ...]],
    report: Report,
) -> tuple[Links | None, Places]:
    """Links of all attached boxes, and the places the lock keeps: known places that are still free stay."""
    boxes = spec.intent.topology.attachments
    if not boxes:
        return None, {}
    free = _free_slots(spec, sites)
    leaf_index = {int(n) + 1: int(i) for site in sites for n, i in zip(site.number.flat, site.leaf.flat, strict=True)}
    speeds = {box.name: box.speed_gbps or sizing.groups[0].down_gbps for box in boxes}
    split_for: dict[tuple[int, int], int] = {}  # (leaf, cage) → the speed it is broken out for
    used: set[tuple[int, int]] = set()
    chosen: dict[str, list[tuple[int, int, Slot] | None]] = {box.name: [None] * box.links for box in boxes}

    def take(box: str, leaf: int, column: int, port: int = -1) -> bool:
        slot = free.get(leaf, {}).get(column, {}).get(speeds[box])
        if slot is None or (leaf, column) in used:
            return False
        if split_for.setdefault((leaf, slot.cage), slot.speed_gbps) != slot.speed_gbps:
            return False
        used.add((leaf, column))
        chosen[box][port if port >= 0 else chosen[box].index(None)] = (leaf, column, slot)
        return True

    for box in boxes:
        for port, (leaf, column) in enumerate(known.get(box.name, ())[: box.links]):
            take(box.name, leaf, column, port)
    for at, box in enumerate(boxes):
        _spread(box.name, chosen[box.name].count(None), free, take)
        if None in chosen[box.name]:
            report.error(
                "FAB140",
                spec.at("topology", "attachments", at),
                f"attachment '{box.name}': {box.links} links of {speeds[box.name]}G are asked for, the leaves have ports "
                f"for {box.links - chosen[box.name].count(None)}",
                "leave servers out of a unit, or choose a leaf with more ports",
            )
    places = {box: [spot for spot in spots if spot is not None] for box, spots in chosen.items()}
    found = [(first_box + at, *spot) for at, box in enumerate(boxes) for spot in places[box.name]]
    if not found:
        return None, {}
    links = attachment_links(
        [leaf_index[leaf] for _, leaf, _, _ in found],
        [leaf - 1 for _, leaf, _, _ in found],
        [slot for *_, slot in found],
        [column for _, _, column, _ in found],
        [box for box, *_ in found],
    )
    numbered = _number_ports(links)
    return numbered, {name: tuple(spot[:2] for spot in spots) for name, spots in sorted(places.items())}


def _number_ports(links: Links) -> Links:
    """Ports of each box from 1, in the order of its links."""
    from dataclasses import replace

    port = np.zeros(len(links), dtype=np.int32)
    for box in np.unique(links.a):
        port[links.a == box] = np.arange(1, int((links.a == box).sum()) + 1)
    return replace(links, a_cage=port)


def _spread(box: str, missing: int, free: Mapping[int, Mapping[int, object]], take: object) -> None:
    """One link a leaf, round after round, from each leaf's last free port down."""
    assert callable(take)
    left = {leaf: sorted(columns, reverse=True) for leaf, columns in free.items()}
    while missing > 0 and left:
        for leaf in sorted(left):
            placed = False
            while left[leaf] and not placed:
                placed = take(box, leaf, left[leaf].pop(0))
            if not placed:
                del left[leaf]
            elif (missing := missing - 1) == 0:
                return


def _free_slots(spec: FabricSpec, sites: Sequence[GroupSites]) -> dict[int, dict[int, dict[int, Slot]]]:
    """leaf number → address column → speed → slot: places of servers that are not planned, then free cages."""
    result: dict[int, dict[int, dict[int, Slot]]] = {}
    for site, group in zip(sites, spec.groups, strict=True):
        size, layout = site.size, site.layout
        cages: dict[int, dict[int, Slot]] = {}
        column = len(layout.down)
        for cage in layout.free:
            splits = spec.leaf.model.group_of(cage).splits
            for sub in range(splits.get(size.down_gbps, 1)):
                cages[column] = {speed: Slot(cage, sub, ports, speed) for speed, ports in splits.items() if sub < ports}
                column += 1
        occupied = set(positions(group.planned, group.held).tolist())
        per_rack = size.unit_leaves // max(1, size.unit_servers // size.servers_per_leaf)
        for unit in range(size.units):
            for leaf in range(size.unit_leaves):
                before = unit * size.unit_servers
                if spec.kind == "rack":
                    before += leaf // per_rack * size.servers_per_leaf
                seats = {
                    seat: {size.down_gbps: layout.down[seat]}
                    for seat in range(size.down)
                    if before + seat // size.leaf_ports_per_server not in occupied
                }
                result[int(site.number[unit, leaf]) + 1] = {**seats, **cages}
    return result
