"""The leaf ports of what is on free ports: further NICs, servers on the leaves of others, other devices, leaves below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from fabric.deliver.brownfield.shape import Shape, port_key
from fabric.deliver.brownfield.survey import Cable
from fabric.design.planner.below import SWITCH_MANAGEMENT
from fabric.design.planner.free_ports import UPLINKS, cage_columns
from fabric.model.plan import FabricPlan, PortRef, leaf_layout
from fabric.model.plan.lock import PortSpot


def spots(shape: Shape, fabric: FabricPlan, shapes: Mapping[str, Shape]) -> dict[str, tuple[PortSpot, ...]]:
    """The ports of everything on free ports, as the lock has them."""
    column_of = _columns(fabric)
    by_name = fabric.by_name

    def spot(port: int, leaf: str, ref: PortRef | None, switch: str = "") -> PortSpot | None:
        device = by_name.get(leaf)
        column = column_of(device.group).get((ref.cage, ref.sub, ref.speed_gbps)) if device and ref else None
        return None if column is None or device is None else PortSpot(port, device.number, column, switch)

    found: dict[str, list[PortSpot | None]] = {}
    for group in shape.groups:
        for use in group.uses if group.shared else group.uses[1:]:
            total = use.count * use.ports
            for (server, nic, port), (leaf, ref) in group.of(use):
                if device := by_name.get(server):
                    number = (device.number - 1) * total + (nic - use.first) * use.ports + port + 1
                    found.setdefault(f"{group.name}/{use.purpose}", []).append(spot(number, leaf, ref))
    for name, cables in shape.attached.items():
        found[name] = [
            spot(cable.a_ref.cage if cable.a_ref else at, cable.b, cable.b_ref) for at, cable in enumerate(cables, 1)
        ]
    for name, cables in _by_lower(shape.below).items():
        found[name] = [spot(at, cable.b, cable.b_ref) for at, cable in enumerate(cables, 1)]
    if shape.managed:
        managed = sorted(shape.managed, key=lambda its: (by_name[its.b].number, port_key(its, upper=True)))
        found[SWITCH_MANAGEMENT] = [spot(at, its.b, its.b_ref, its.a) for at, its in enumerate(managed, 1)]
    for above in shapes.values():
        for name, cables in _by_lower(its for its in above.below if its.a in shape.switches).items():
            if name in by_name:
                key = f"{UPLINKS}{by_name[name].number}"
                found[key] = [spot(at, name, cable.a_ref) for at, cable in enumerate(cables, 1)]
    return {name: tuple(sorted(its for its in of if its is not None)) for name, of in sorted(found.items()) if any(of)}


def _by_lower(cables: Iterable[Cable]) -> dict[str, list[Cable]]:
    """Links to a fabric above by the leaf that they come from, in the order of its ports."""
    found: dict[str, list[Cable]] = {}
    for cable in sorted(cables, key=lambda its: (its.a, port_key(its, upper=False))):
        found.setdefault(cable.a, []).append(cable)
    return found


def _columns(fabric: FabricPlan):  # type: ignore[no-untyped-def]
    """Group → (cage, port, speed) → column of the leaf's server block."""
    sizes = {size.name: size for size in fabric.sizing.groups}
    model = fabric.spec.leaf.model

    @cache
    def columns(group: str) -> dict[tuple[int, int, int], int]:
        size = sizes[group]
        layout = leaf_layout(fabric.spec, fabric.sizing, size)
        found = {(slot.cage, slot.sub, slot.speed_gbps): at for at, slot in enumerate(layout.down)}
        for column, by_speed in cage_columns(model, layout, size.down_gbps).items():
            for speed, slot in by_speed.items():
                found[slot.cage, slot.sub, speed] = column
        return found

    return columns
