"""The ports of every kind of switch of a sized fabric, in the order that links take them."""

from __future__ import annotations

from fabric.model.plan.cages import Layout, Slot, capacity, fits, lay_out
from fabric.model.plan.sizing import GroupSize, Sizing
from fabric.model.plan.spec import FabricSpec


def leaf_layout(spec: FabricSpec, sizing: Sizing, group: GroupSize) -> Layout:
    """The ports of a leaf of a group; spare server ports stand behind those of the servers."""
    return leaf_ports(spec, group.down, group.down_gbps, group.uplinks, sizing.uplink_gbps)


def leaf_spine_ports_used(sizing: Sizing) -> int:
    """Ports that leaves take on the fullest spine of the finished fabric."""
    if sizing.tiers == 3:
        return sizing.units_per_pod * max(g.unit_leaves // sizing.networks * sizing.links_per_spine(g) for g in sizing.groups)
    return sum(g.units_planned * g.unit_leaves // sizing.networks * sizing.links_per_spine(g) for g in sizing.groups)


def spine_layout(spec: FabricSpec, sizing: Sizing) -> Layout:
    """The ports of a spine: as many down as its pod of the finished fabric takes."""
    return lay_out(
        spec.spine.model, leaf_spine_ports_used(sizing), sizing.uplink_gbps, sizing.spine_uplinks, sizing.core_gbps
    )


def core_downlinks(spec: FabricSpec, sizing: Sizing) -> tuple[Slot, ...]:
    """All ports of a core: a link that keeps its port while others are removed can have a number above the count of links."""
    return lay_out(spec.core.model, capacity(spec.core.model, sizing.core_gbps), sizing.core_gbps).down


def spine_downlinks(spec: FabricSpec, sizing: Sizing) -> tuple[Slot, ...]:
    """All ports of a spine that can be downlinks: those that are not uplinks."""
    model, down, up = spec.spine.model, sizing.uplink_gbps, sizing.spine_uplinks
    if not up:
        return lay_out(model, capacity(model, down), down).down
    return lay_out(model, most_down(spec, up, down, sizing.core_gbps), down, up, sizing.core_gbps).down


def leaf_ports(spec: FabricSpec, down: int, down_gbps: int, uplinks: int, uplink_gbps: int) -> Layout:
    """The ports of a leaf; spare server ports stand behind those of the servers. Raises NoFit."""
    spare = spec.constraints.spare_server_ports
    return lay_out(spec.leaf.model, down + spare, down_gbps, uplinks, uplink_gbps)


def most_down(spec: FabricSpec, up: int, down_gbps: int, up_gbps: int) -> int:
    """The most ports down that fit on a spine beside its uplinks."""
    low, high = 0, capacity(spec.spine.model, down_gbps)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(spec.spine.model, middle, down_gbps, up, up_gbps):
            low = middle
        else:
            high = middle - 1
    return low
