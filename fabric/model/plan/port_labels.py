"""What the plan calls a port: `33`, `33/2` of a broken-out cage, `compute1` and `compute1p2` of a server."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fabric.model.plan.coordinates import nic_name
from fabric.model.plan.devices import SERVER, Device
from fabric.model.plan.ports import PortRef
from fabric.model.plan.spec import GroupSpec

if TYPE_CHECKING:
    from fabric.model.plan.plan import FabricPlan


class PortLabels:
    """The labels of one fabric's ports."""

    def __init__(self, fabric: FabricPlan) -> None:
        self.fabric = fabric

    def label(self, device: Device, ref: PortRef) -> str:
        if device.role == SERVER:
            return nic_name(self._groups[device.group], ref.cage, ref.sub)
        return f"{ref.cage}/{ref.sub + 1}" if ref.split > 1 else str(ref.cage)

    def at(self, link: int, end: str) -> str:
        """The label at an end of a link, `a` or `b`."""
        return self.label(self.fabric.devices[int(getattr(self.fabric.links, end)[link])], self.ref(link, end))

    def ref(self, link: int, end: str) -> PortRef:
        columns = self.fabric.links
        cage, sub, split = (int(getattr(columns, f"{end}_{part}")[link]) for part in ("cage", "sub", "split"))
        return PortRef(cage, sub, split, int(columns.speed_gbps[link]))

    @cached_property
    def _groups(self) -> dict[str, GroupSpec]:
        return {group.name: group for group in self.fabric.spec.groups}
