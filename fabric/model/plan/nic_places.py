"""Where the ports of a server's NICs stand: NIC, rail and plane of each, as names, addresses and the cluster count them."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.model.plan.sizing import server_ports, unit_plan
from fabric.model.plan.spec import FabricSpec, GroupSpec


@dataclass(frozen=True, slots=True)
class NicPlace:
    """One port of a NIC; every number counts from 0."""

    nic: int
    port: int
    rail: int  # that of the NIC where leaves serve several rails
    plane: int

    def named(self, pattern: str) -> str:
        """A name of the port; raises what `str.format` raises."""
        return pattern.format(nic=self.nic, port=self.port, rail=self.rail, plane=self.plane)


def nic_places(spec: FabricSpec, group: GroupSpec) -> tuple[NicPlace, ...]:
    """Every port of the NICs that have the units and leaves, NIC by NIC."""
    ports, per_nic = server_ports(spec, group), spec.leaves_per_nic(group)
    leaves = unit_plan(spec, max(spec.rails(group) * per_nic, int(ports.leaf.max()) + 1), per_nic)
    columns = (column.tolist() for column in (ports.nic, ports.port, leaves.rail[ports.leaf], leaves.plane[ports.leaf]))
    return tuple(
        NicPlace(nic, port, rail if rail >= 0 else nic, plane) for nic, port, rail, plane in zip(*columns, strict=True)
    )
