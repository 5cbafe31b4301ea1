"""The leaf ports of what is on free ports: further NICs, servers on the leaves of others, other devices, leaves below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

from fabric.base.grouping import grouped
from fabric.deliver.brownfield.draft.cells import Cells
from fabric.deliver.brownfield.draft.judge import Spot, columns
from fabric.deliver.brownfield.draft.shape import Shape
from fabric.deliver.brownfield.survey.nic_numbers import natural, port_key
from fabric.deliver.brownfield.survey.records import Cable
from fabric.design.planner.free_ports import UPLINKS
from fabric.model.plan import FabricPlan, PortRef
from fabric.model.plan.lock import PortSpot


def spots(shape: Shape, fabric: FabricPlan, shapes: Mapping[str, Shape], managing: str) -> dict[str, tuple[PortSpot, ...]]:
    """The ports of everything on free ports, as the lock has them.

    Args:
        managing: name of what the management ports of switches are.
    """
    sizing = fabric.sizing
    column_of = {size.name: columns(fabric.spec, sizing, size.name) for size in sizing.leaf_groups}
    by_name = fabric.by_name

    def spot(port: int, leaf: str, ref: PortRef | None, switch: str = "") -> PortSpot | None:
        device = by_name.get(leaf)
        column = column_of.get(device.group, {}).get((ref.cage, ref.sub, ref.speed_gbps)) if device and ref else None
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
        managed = sorted(
            shape.managed, key=lambda its: (by_name[its.b].number if its.b in by_name else 0, port_key(its, upper=True))
        )
        known = [its for its in found.get(managing, []) if its]
        free = (port for port in count(1) if port not in {its.port for its in known})
        found[managing] = [*known, *(spot(next(free), its.b, its.b_ref, its.a) for its in managed)]
    for above in shapes.values():
        for name, cables in _by_lower(its for its in above.below if its.a in shape.switches).items():
            if name in by_name:
                key = f"{UPLINKS}{by_name[name].number}"
                found[key] = [spot(at, name, cable.a_ref) for at, cable in enumerate(cables, 1)]
    whole = {name: [its for its in of if its is not None] for name, of in sorted(found.items())}
    return {name: tuple(sorted(its)) for name, its in whole.items() if its and len(its) == len(found[name])}


def used(shape: Shape, cells: Cells, shapes: Mapping[str, Shape]) -> dict[str, list[tuple[Spot, str]]]:
    """Group → leaf ports that something else than the first NICs of its servers has, with the address of the leaf there."""
    group_of = {leaf: units.group.name for units in cells.units for unit in units.leaves for leaf in unit}
    first = {
        (server, nic)
        for group in shape.groups
        if not group.shared
        for use in group.uses[:1]
        for server in group.servers
        for nic in range(use.first, use.first + use.count)
    }
    cables = [
        *((its.b, its.b_ref, its.b_address) for its in shape.served if its.a_ref and (its.a, its.a_ref.cage) not in first),
        *((its.b, its.b_ref, its.b_address) for of in shape.attached.values() for its in of),
        *((its.b, its.b_ref, its.b_address) for its in (*shape.managed, *shape.below)),
        *((its.a, its.a_ref, "") for above in shapes.values() for its in above.below if its.a in shape.switches),
    ]
    found: dict[str, dict[Spot, str]] = {}
    for leaf, ref, address in cables:
        if ref and leaf in group_of:
            of = found.setdefault(group_of[leaf], {})
            of[ref.cage, ref.sub, ref.speed_gbps] = address or of.get((ref.cage, ref.sub, ref.speed_gbps), "")
    return {group: sorted(its.items()) for group, its in found.items()}


def _by_lower(cables: Iterable[Cable]) -> dict[str, list[Cable]]:
    """Links to a fabric above by the leaf that they come from, in turns over the leaves above by its ports."""
    of = grouped(((its.a, its.b), its) for its in sorted(cables, key=lambda its: port_key(its, upper=False)))
    turns = [(lower, at, natural(upper), its) for (lower, upper), own in of.items() for at, its in enumerate(own)]
    return grouped((lower, its) for lower, _, _, its in sorted(turns, key=lambda row: row[:3]))
