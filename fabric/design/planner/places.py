"""Places of servers in their units: the k-th server takes the k-th place, less the places that attachments hold.

An attachment on the place of a server keeps it when servers are added; they take the places after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabric.design.planner.lock_merge import leaf_ports
from fabric.design.planner.sizing import leaf_shape
from fabric.model.plan import FabricSpec, GroupSpec
from fabric.model.plan.lock import FabricLock


def hold(spec: FabricSpec, lock: FabricLock) -> FabricSpec:
    """The fabric with the places that its attachments hold, or held, according to the lock."""
    attached_links = {attachment.name: attachment.links for attachment in spec.attachments}
    leaf_columns = list(leaf_ports(lock.attachments, attached_links))
    if not leaf_columns:
        return spec
    present = set(
        leaf_ports({attachment: lock.attachments.get(attachment, ()) for attachment in attached_links}, attached_links)
    )
    groups = tuple(_with_held(spec, group, lock, leaf_columns, present) for group in spec.groups)
    return replace(spec, groups=groups)


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
