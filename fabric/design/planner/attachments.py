"""Ports for attachments: ports that no planned server needs, spread over the leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fabric.base.diagnostics import Report
from fabric.base.text import plural
from fabric.design.planner.places import holds
from fabric.design.planner.wiring import GroupSites, attachment_links
from fabric.model.plan import FabricSpec, Links, Sizing, Slot, splits_left
from fabric.model.plan.lock import FabricLock, PortSpot
from fabric.model.plan.sizing import positions
from fabric.model.settings.site import Attachment

LeafColumn = tuple[int, int]  # leaf number from 1, and column of the leaf's server block
Free = dict[int, dict[int, dict[int, Slot]]]  # leaf number → column → speed → slot


@dataclass
class Ports:
    """The leaf ports that attachments may take, and the taken ones."""

    free: Free
    used: set[LeafColumn] = field(default_factory=set)
    split_for: dict[tuple[int, int], int] = field(default_factory=dict)  # (leaf, cage) → the speed it is broken out for

    def take(self, spot: LeafColumn, speed_gbps: int) -> Slot | None:
        """Takes a port at a speed; None when it is not free, or its cage is broken out for another speed."""
        leaf, column = spot
        slot = self.free.get(leaf, {}).get(column, {}).get(speed_gbps)
        if slot is None or spot in self.used:
            return None
        if self.split_for.setdefault((leaf, slot.cage), speed_gbps) != speed_gbps:
            return None
        self.used.add(spot)
        return slot

    def spread(self, missing: int, speed_gbps: int) -> list[tuple[LeafColumn, Slot]]:
        """Takes `missing` ports, or all free ones: one per leaf in each round, from the last port of each leaf downwards."""
        spots: list[tuple[LeafColumn, Slot]] = []
        left = {leaf: sorted(columns) for leaf, columns in self.free.items()}
        while left and len(spots) < missing:
            for leaf in sorted(left):
                slot = None
                while left[leaf] and slot is None:
                    spot = (leaf, left[leaf].pop())
                    slot = self.take(spot, speed_gbps)
                if slot is None:
                    del left[leaf]
                    continue
                spots.append((spot, slot))
                if len(spots) == missing:
                    break
        return spots


def place(
    spec: FabricSpec,
    sizing: Sizing,
    sites: Sequence[GroupSites],
    first_attachment: int,
    lock: FabricLock,
    report: Report,
) -> tuple[Links | None, dict[str, tuple[PortSpot, ...]]]:
    """Links of all attachments, and their leaf ports for the lock: known ports that are still free are kept."""
    attachments, spots_by_attachment = spec.attachments, lock.attachments
    ports = Ports(_free_slots(spec, sites) if attachments else {})
    speeds = {attachment.name: attachment.speed_gbps or sizing.groups[0].down_gbps for attachment in attachments}
    held = {
        attachment.name: _keep(ports, attachment, spots_by_attachment.get(attachment.name, ()), speeds[attachment.name])
        for attachment in attachments
    }
    placed: list[tuple[int, LeafColumn, Slot]] = []
    places: dict[str, tuple[PortSpot, ...]] = {}
    for index, attachment in enumerate(attachments):
        fresh = iter(ports.spread(held[attachment.name].count(None), speeds[attachment.name]))
        spots = [spot for spot in (old or next(fresh, None) for old in held[attachment.name]) if spot is not None]
        if len(spots) < attachment.links:
            _report_short(spec, index, attachment, speeds[attachment.name], len(spots), report)
        placed += [(first_attachment + index, spot, slot) for spot, slot in spots]
        places[attachment.name] = tuple(PortSpot(port, *spot) for port, (spot, _) in enumerate(spots, 1))
    retired = _retired(spec, {name: spots for name, spots in spots_by_attachment.items() if name not in speeds}, ports, lock)
    return _links(sites, placed), dict(sorted({**places, **retired}.items()))


def _retired(
    spec: FabricSpec, known: Mapping[str, Sequence[PortSpot]], ports: Ports, lock: FabricLock
) -> dict[str, tuple[PortSpot, ...]]:
    """Ports that removed attachments keep from servers, less those in use by others."""
    left = {name: tuple(s for s in spots if (s.leaf, s.slot) not in ports.used) for name, spots in known.items()}
    return {name: spots for name, spots in left.items() if holds(spec, lock, [(s.leaf, s.slot) for s in spots])}


def _keep(
    ports: Ports, attachment: Attachment, known: Sequence[PortSpot], speed_gbps: int
) -> list[tuple[LeafColumn, Slot] | None]:
    """The leaf ports of the attachment in order, None where one is still to be chosen."""
    kept: list[tuple[LeafColumn, Slot] | None] = [None] * attachment.links
    for known_port in known:
        spot = (known_port.leaf, known_port.slot)
        if known_port.port <= attachment.links and (slot := ports.take(spot, speed_gbps)) is not None:
            kept[known_port.port - 1] = (spot, slot)
    return kept


def _report_short(spec: FabricSpec, at: int, attachment: Attachment, speed_gbps: int, got: int, report: Report) -> None:
    report.error(
        "FAB140",
        spec.at("topology", "attachments", at),
        f"attachment '{attachment.name}': expected at most {plural(got, 'link')}, the free leaf ports of {speed_gbps}G, "
        f"got {attachment.links}",
        "use fewer servers per unit, or a leaf with more ports",
    )


def _links(sites: Sequence[GroupSites], placed: Sequence[tuple[int, LeafColumn, Slot]]) -> Links | None:
    """The links of attachments; the ports of each are numbered from 1 in their order."""
    if not placed:
        return None
    index = {int(n) + 1: int(i) for site in sites for n, i in zip(site.number.flat, site.leaf.flat, strict=True)}
    links = attachment_links(
        [index[leaf] for _, (leaf, _), _ in placed],
        [leaf - 1 for _, (leaf, _), _ in placed],
        [slot for *_, slot in placed],
        [column for _, (_, column), _ in placed],
        [attachment for attachment, *_ in placed],
    )
    port = np.zeros(len(links), dtype=np.int32)
    for attachment in np.unique(links.a):
        port[links.a == attachment] = np.arange(1, int((links.a == attachment).sum()) + 1)
    return replace(links, a_cage=port)


def _free_slots(spec: FabricSpec, sites: Sequence[GroupSites]) -> Free:
    """Places of servers that are not planned, then free cages."""
    result: Free = {}
    for site, group in zip(sites, spec.groups, strict=True):
        size, layout = site.size, site.layout
        # Sub-ports that servers could have come first: the leaf's block has addresses for them, for finer ones it may not.
        left = {cage: splits_left(spec.leaf.model, layout, cage) for cage in layout.free}
        subs = [(cage, sub, splits) for cage, splits in left.items() for sub in range(8)]
        coarse = [entry for entry in subs if entry[1] < entry[2].get(size.down_gbps, 0)]
        fine = [entry for entry in subs if entry[2].get(size.down_gbps, 0) <= entry[1] < max(entry[2].values(), default=0)]
        cages = {
            len(layout.down) + index: {speed: Slot(cage, sub, n, speed) for speed, n in splits.items() if sub < n}
            for index, (cage, sub, splits) in enumerate(coarse + fine)
        }
        planned = min(group.planned, size.units * size.unit_servers)  # no server that comes later stands in these units
        occupied = set(positions(planned, group.held).tolist())
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
