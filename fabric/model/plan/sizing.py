"""The counts of a sized fabric."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.model.plan.devices import CORE, LEAF, SPINE


@dataclass(frozen=True, kw_only=True)
class GroupSize:
    """Servers of one kind, their units and their leaves."""

    name: str
    servers: int
    gpus: int
    unit_servers: int
    unit_leaves: int  # over every isolated network
    units: int  # built
    units_planned: int
    pods: int  # built
    pods_planned: int
    servers_per_leaf: int
    leaf_ports_per_server: int
    down: int  # server ports of a leaf, without spare ports
    down_gbps: int
    uplinks: int  # of a leaf of the finished fabric
    held: tuple[int, ...]  # places over all units that attachments hold
    last_unit: tuple[int, ...]  # links from each leaf of the last unit to each spine, where fewer than elsewhere

    @property
    def leaves(self) -> int:
        return self.units * self.unit_leaves


@dataclass(frozen=True, kw_only=True)
class Sizing:
    """A sized fabric. `spines` and `cores` count as in Shape, per isolated network."""

    kind: str
    tiers: int
    planes: int
    networks: int
    groups: tuple[GroupSize, ...]
    uplink_gbps: int
    core_gbps: int
    units_per_pod: int
    spines: int  # of one pod of the finished fabric
    spines_built: int
    spine_uplinks: int  # of the finished fabric
    cores: int  # of one core group of the finished fabric
    cores_built: int
    attachments: int  # links
    limit_servers: int
    limit_gpus: int
    bgp: bool

    @property
    def servers(self) -> int:
        return sum(group.servers for group in self.groups)

    @property
    def gpus(self) -> int:
        return sum(group.gpus for group in self.groups)

    @property
    def units(self) -> int:
        return sum(group.units for group in self.groups)

    @property
    def leaves(self) -> int:
        return sum(group.leaves for group in self.groups)

    @property
    def pods(self) -> int:
        return sum(group.pods for group in self.groups)

    @property
    def spine_count(self) -> int:
        return self.networks * self.spine_pods * self.spines_built

    @property
    def spine_pods(self) -> int:
        """Sets of spines in one isolated network: the pods of three tiers, one otherwise."""
        return self.pods if self.tiers == 3 else 1

    @property
    def core_count(self) -> int:
        return self.networks * self.spines_built * self.cores_built

    def links_per_spine(self, group: GroupSize) -> int:
        """Links between a leaf of the group and each spine of its plane and pod."""
        return group.uplinks // self.spines if self.spines else 0

    @property
    def links_per_core(self) -> int:
        """Links between a spine and each core of its group."""
        return self.spine_uplinks // self.cores if self.cores else 0

    def leaf_spine_links(self) -> int:
        """Links that are cabled now between leaves and spines, over all planes and pods."""
        total = 0
        for group in self.groups:
            full_links = self.links_per_spine(group)
            total += group.leaves * full_links * self.spines_built
            total -= sum(full_links - links for links in group.last_unit) * self.spines_built
        return total

    def spine_core_links(self) -> int:
        return self.spine_count * self.links_per_core * self.cores_built

    @property
    def planned_by_role(self) -> dict[str, int]:
        """Switches of the finished fabric by role."""
        pods = sum(group.pods_planned for group in self.groups) if self.tiers == 3 else 1
        return {
            CORE: self.networks * self.spines * self.cores,
            SPINE: self.networks * pods * self.spines,
            LEAF: sum(group.units_planned * group.unit_leaves for group in self.groups),
        }

    @property
    def planned_routes(self) -> int:
        """Routes of the finished fabric: one loopback per switch, one server prefix per leaf."""
        planned = self.planned_by_role
        return sum(planned.values()) + planned[LEAF]
