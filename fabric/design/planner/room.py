"""Whether the default unit leaves cages for attachments: where full leaves have no port at their speed.

That depends on a leaf and on the attachments alone, so growth keeps the unit. In a site in service only the attachments
that its lock knows count: another one would take servers off their leaves.
"""

from __future__ import annotations

from dataclasses import replace

from fabric.base.diagnostics import InputError
from fabric.design.planner.sizing import size
from fabric.model.plan import FabricSpec
from fabric.model.plan.cages import leaf_layout, spare
from fabric.model.plan.lock import FabricLock


def leave(spec: FabricSpec, lock: FabricLock, tried: FabricSpec) -> FabricSpec:
    """The fabric whose default unit has room for its attachments; itself where the leaves of `tried` have ports for each."""
    group = spec.groups[0]
    new = f"id/leaf/{group.name}" not in lock.blocks
    asked = tuple(its for its in spec.attachments if new or its.name in lock.attachments)
    slots = tuple(its for its in asked if its.speed_gbps not in (None, *(other.nic.speed_gbps for other in spec.groups)))
    if not slots or group.unit_servers:
        return spec
    try:
        sizing = size(replace(tried, attachments=()))
    except InputError:
        return spec
    beside = [(leaf_layout(tried, sizing, its), its.beside) for its in sizing.leaf_groups]
    for its in slots:
        if not any(spare(spec.leaf.model, layout, its.speed_gbps or 0, taken) for layout, taken in beside):
            return replace(spec, constraints=replace(spec.constraints, room=asked))
    return spec
