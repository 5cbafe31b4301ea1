"""Links on the free ports of leaves, and the places of servers that they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fabric.base.diagnostics import Report
from fabric.base.text import plural
from fabric.design.planner.free_ports import (
    UPLINKS,
    LeafColumn,
    Place,
    Ports,
    claims,
    free_ports,
    keep_nics,
    key,
    leaf_pairs,
    nic_links,
    nic_ports,
    place_nics,
)
from fabric.design.planner.inventory import Index
from fabric.design.planner.lock_repair import leaf_ports
from fabric.design.planner.sizing import leaf_shape
from fabric.design.planner.wiring import GroupSites, free_port_links
from fabric.model.plan import ATTACHMENT, FabricSpec, GroupSpec, Links, PortRef, Sizing, Uplink, leaf_set
from fabric.model.plan.lock import FabricLock, PortSpot
from fabric.model.settings.site import Attachment

# --- places of servers in their units: the k-th server takes the k-th place that no attachment holds ----------


def hold(spec: FabricSpec, lock: FabricLock) -> FabricSpec:
    """The fabric with the places that its attachments and NICs hold, or held, according to the lock."""
    attached_links, keepable = claims(spec), _of_seats(spec, lock)
    leaf_columns = list(leaf_ports(keepable, attached_links))
    if not leaf_columns:
        return spec
    present = set(leaf_ports({attachment: keepable.get(attachment, ()) for attachment in attached_links}, attached_links))
    groups = (_with_held(spec, group, lock, leaf_columns, present) for group in spec.groups)
    return replace(spec, groups=tuple(replace(group, on_set=_on_set(spec, group, lock)) for group in groups))


def _of_seats(spec: FabricSpec, lock: FabricLock) -> Mapping[str, tuple[PortSpot, ...]]:
    """The ports of the lock that a place of a server can have: those of its speed. A unit that grows moves all others."""
    seats = {group.nic.speed_gbps for group in spec.groups if not group.shared}
    speeds = {key(group, use): use.nic.speed_gbps for group in spec.groups for use in group.on_free_ports}
    speeds |= {its.name: its.speed_gbps for its in spec.attachments if its.speed_gbps}
    return {name: spots for name, spots in lock.attachments.items() if name not in speeds or speeds[name] in seats}


def _on_set(spec: FabricSpec, group: GroupSpec, lock: FabricLock) -> int:
    """The most servers of a group without own leaves on one leaf, or one pair."""
    most, width = 0, leaf_set(spec)
    for use in group.uses if group.shared else ():
        spots = (spot for spot in lock.attachments.get(key(group, use), ()) if spot.port <= group.count * use.ports)
        on_leaf = Counter(leaf for leaf, _ in {(spot.leaf, (spot.port - 1) // use.ports) for spot in spots})
        most = max(most, max(on_leaf.values(), default=0) * width // min(width, use.ports))
    return most


def holds(spec: FabricSpec, lock: FabricLock, spots: Sequence[tuple[int, int]]) -> bool:
    """Whether any of these leaf ports keeps a place from servers, in a fabric that `hold` has seen."""
    return any(set(_held(spec, group, lock, spots)) & set(group.held) for group in spec.groups)


def _with_held(
    spec: FabricSpec, group: GroupSpec, lock: FabricLock, spots: list[tuple[int, int]], present: set[tuple[int, int]]
) -> GroupSpec:
    """A group with its held places. A removed attachment holds its place only while later places have servers."""
    held = _held(spec, group, lock, spots)
    now = _held(spec, group, lock, sorted(present))
    behind = replace(group, held=held).places(group.count)
    return replace(group, held=tuple(place for place in held if place in now or place < behind))


def _held(spec: FabricSpec, group: GroupSpec, lock: FabricLock, spots: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Places of a group, counted over all its units, whose leaf ports attachments have."""
    ports, per_leaf, unit_servers = leaf_shape(spec, group)
    places = set()
    for leaf, slot in spots:
        for block in lock.blocks.get(f"id/leaf/{group.name}", ()):
            row, column = divmod(leaf - 1 - block.base, block.stride)
            if block.base <= leaf - 1 < block.end and slot < per_leaf * ports:
                rack = column // spec.leaves_per_nic(group) if spec.kind == "rack" else 0
                places.add((block.row + row) * unit_servers + rack * per_leaf + slot // ports)
    return tuple(sorted(places))


# --- ports of attachments -------------------------------------------------------------------------------------


def place(
    spec: FabricSpec, sizing: Sizing, sites: Sequence[GroupSites], index: Index, lock: FabricLock, report: Report
) -> tuple[list[Links], tuple[Uplink, ...], dict[str, tuple[PortSpot, ...]]]:
    """Links on free ports, of NICs and of attachments; those to a fabric above; and all their leaf ports for the lock.

    Known ports that are free stay.
    """
    attachments, known = spec.attachments, lock.attachments
    nics = nic_ports(spec, sites, known) if spec.converged else []
    ports = free_ports(spec, sites) if attachments or nics or spec.below else Ports(free={})
    speeds = {attachment.name: attachment.speed_gbps or sizing.groups[0].down_gbps for attachment in attachments}
    held = {
        attachment.name: _keep(ports, attachment.links, _allowed(attachment, known), speeds[attachment.name])
        for attachment in attachments
    }
    pairs = leaf_pairs(spec, sites) if any(attachment.bond for attachment in attachments) else []
    if not spec.bonds:  # a bond is on one leaf, the next one on another
        pairs = [[leaf] for leaf in dict.fromkeys(leaf for leaves in pairs for leaf in leaves)]
    kept = {its.name: keep_nics(ports, its, known.get(its.name, ())) for its in nics}
    leaf_index = {int(n) + 1: int(i) for site in sites for n, i in zip(site.number.flat, site.leaf.flat, strict=True)}
    _check_leaves(spec, leaf_index, report)
    spots: dict[str, Sequence[LeafColumn]] = {}
    uplinks: list[Uplink] = []
    for leaf, index_of_leaf in sorted(leaf_index.items()) if spec.below else ():
        placed = _uplinks(spec, ports, leaf, known, report)
        spots[f"{UPLINKS}{leaf}"] = [spot for spot, _ in placed]
        lag = min((column for (_, column), _ in placed), default=0) + 1
        refs = (PortRef(slot.cage, slot.sub, slot.split, slot.speed_gbps) for _, slot in placed)
        uplinks += [Uplink(device=index_of_leaf, ref=ref, lag=lag) for ref in refs]
    links: list[Links] = []
    for its in nics:
        placed = place_nics(spec, ports, its, kept[its.name], report)
        spots[its.name] = [spot for spot, _ in placed]
        links.append(nic_links(its, placed, index.server[its.group.name], leaf_index))
    for position, attachment in enumerate(attachments):
        fresh = iter(
            _bonded(
                ports,
                _sets(spec, attachment, pairs, position),
                held[attachment.name],
                speeds[attachment.name],
            )
            if attachment.bond
            else ports.spread(held[attachment.name].count(None), speeds[attachment.name], attachment.leaves)
        )
        placed = _placed(spec, position, fresh, held[attachment.name], speeds[attachment.name], report)
        spots[attachment.name] = [spot for spot, _ in placed]
        port = np.arange(1, len(placed) + 1)
        links.append(free_port_links(ATTACHMENT, index.attached + position + 0 * port, (port, 0 * port), leaf_index, placed))
    places = {name: tuple(PortSpot(port, *spot) for port, spot in enumerate(its, 1)) for name, its in spots.items()}
    retired = _retired(spec, {name: its for name, its in known.items() if name not in spots}, ports, lock)
    return links, tuple(uplinks), dict(sorted({**places, **retired}.items()))


def _uplinks(
    spec: FabricSpec, ports: Ports, leaf: int, known: Mapping[str, Sequence[PortSpot]], report: Report
) -> list[Place]:
    """The ports of a leaf to the fabric above: those of the lock, then the last free ones."""
    below = spec.below
    assert below is not None
    assert below.speed_gbps is not None
    held = _keep(ports, below.links, known.get(f"{UPLINKS}{leaf}", ()), below.speed_gbps)
    placed = [place for old in held for place in ([old] if old else ports.first([leaf], below.speed_gbps, last=True))]
    if len(placed) < below.links:
        report.error(
            "FAB140",
            spec.at("below", "links"),
            f"below.links: expected at most {len(placed)}, the free ports of {below.speed_gbps}G of a {spec.leaf.switch}, "
            f"got {below.links}",
            "use fewer links, another `speed_gbps`, or a leaf with more ports",
        )
    return placed


def _allowed(attachment: Attachment, known: Mapping[str, Sequence[PortSpot]]) -> list[PortSpot]:
    """The ports of the lock on leaves that the attachment may have."""
    return [spot for spot in known.get(attachment.name, ()) if not attachment.leaves or spot.leaf in attachment.leaves]


def _sets(spec: FabricSpec, attachment: Attachment, pairs: Sequence[list[int]], position: int) -> list[list[int]]:
    """The pairs of leaves for a bond, else single leaves, from another one for every attachment."""
    its = [pair for pair in pairs if not attachment.leaves or set(pair) <= set(attachment.leaves)]
    first = 0 if spec.bonds or not its else position % len(its)
    return [*its[first:], *its[:first]]


def _check_leaves(spec: FabricSpec, leaves: Mapping[int, int], report: Report) -> None:
    """Reports leaves of attachments that the fabric does not have."""
    for at, attachment in enumerate(spec.attachments):
        for n, leaf in enumerate(attachment.leaves):
            if leaf not in leaves:
                report.error(
                    "FAB140",
                    spec.at("topology", "attachments", at, "leaves", n),
                    f"attachment '{attachment.name}': expected a leaf from {min(leaves)} to {max(leaves)}, got {leaf}",
                    "leaves are counted from 1, as `{n}` in their names",
                )


def _placed(
    spec: FabricSpec,
    position: int,
    fresh: Iterator[Place],
    held: Sequence[Place | None],
    speed_gbps: int,
    report: Report,
) -> list[Place]:
    """The leaf ports of an attachment: those that it holds, then free ones."""
    placed = [place for place in (old or next(fresh, None) for old in held) if place is not None]
    if len(placed) < len(held):
        _report_short(spec, position, spec.attachments[position], speed_gbps, len(placed), report)
    return placed


def _bonded(ports: Ports, pairs: Sequence[Sequence[int]], held: Sequence[Place | None], speed_gbps: int) -> list[Place]:
    """Ports of a bond that are missing, equal ones of all leaves of a set in turn: where it has ports, else the first set."""
    leaves = {place[0][0] for place in held if place is not None}
    for pair in pairs:
        found: list[Place] = []
        while leaves <= set(pair) and len(found) < held.count(None):
            both = ports.first(pair, speed_gbps, last=True)
            if not both:
                break
            found += both
        if found:
            return found[: held.count(None)]
    return []


def _retired(
    spec: FabricSpec, known: Mapping[str, Sequence[PortSpot]], ports: Ports, lock: FabricLock
) -> dict[str, tuple[PortSpot, ...]]:
    """Ports that removed attachments keep from servers, less those in use by others."""
    left = {name: tuple(s for s in spots if (s.leaf, s.slot) not in ports.used) for name, spots in known.items()}
    return {name: spots for name, spots in left.items() if holds(spec, lock, [(s.leaf, s.slot) for s in spots])}


def _keep(ports: Ports, links: int, known: Sequence[PortSpot], speed_gbps: int) -> list[Place | None]:
    """The leaf ports of an attachment in order, None where one is still to be chosen."""
    kept: list[Place | None] = [None] * links
    for known_port in known:
        spot = (known_port.leaf, known_port.slot)
        if known_port.port <= links and (slot := ports.take(spot, speed_gbps)) is not None:
            kept[known_port.port - 1] = (spot, slot)
    return kept


def _report_short(spec: FabricSpec, at: int, attachment: Attachment, speed_gbps: int, got: int, report: Report) -> None:
    report.error(
        "FAB140",
        spec.at("topology", "attachments", at),
        f"attachment '{attachment.name}': expected at most {plural(got, 'link')}, the free leaf ports of {speed_gbps}G, "
        f"got {attachment.links}",
        "use fewer servers per unit, `unit: {servers: …}`, or a leaf with more ports",
    )
