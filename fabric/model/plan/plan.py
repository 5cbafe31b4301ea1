"""The plan: vendor-neutral and complete. Everything after the planner works from this alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.diagnostics import Diagnostic, Place
from fabric.model.plan.blocks import Block
from fabric.model.plan.devices import SWITCH_ROLES, Device
from fabric.model.plan.lengths import Longer
from fabric.model.plan.links import Links
from fabric.model.plan.lock import Lock
from fabric.model.plan.lossless import FabricLossless
from fabric.model.plan.settings import SiteSettings
from fabric.model.plan.sizing import Sizing
from fabric.model.plan.spec import FabricSpec, SiteSpec
from fabric.model.plan.tenants import Tenancy

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, kw_only=True)
class FabricPlan:
    """One fabric: devices as records, links as columns. Arrays over devices hold -1 where a device has none."""

    name: str
    spec: FabricSpec
    sizing: Sizing
    devices: tuple[Device, ...]
    links: Links
    subnet: NDArray[Any]  # per link, its first address; the lower end (of servers: the leaf) has it, the other the next
    subnet_length: int  # 31 or 127
    loopback: NDArray[np.int64]  # per device, IPv4
    loopback6: NDArray[Any]  # per device
    management: NDArray[Any]  # per device
    aggregate: Mapping[int, tuple[int, int]]  # leaf → (first address, prefix length) of its servers
    prefixes: Mapping[str, tuple[str, ...]]  # pools in use, by kind
    tenancy: Tenancy
    asn_ranges: tuple[tuple[int, int], ...]  # [first, end) of AS numbers that it may take
    lossless: FabricLossless | None  # None: no fabric of RoCE
    blocks: Mapping[str, tuple[Block, ...]]  # where ids, AS numbers and addresses come from, as the lock keeps them
    management_ports: Mapping[int, Device] = field(
        default_factory=dict
    )  # link of an attachment → whose management port it is
    longer: tuple[Longer, ...] = ()  # cables of the stated floor that are longer than PFC headroom is computed for

    @cached_property
    def switches(self) -> tuple[Device, ...]:
        """Every switch, cores first, by number."""
        return tuple(device for device in self.devices if device.role in SWITCH_ROLES)

    @cached_property
    def by_name(self) -> dict[str, Device]:
        """Devices by name."""
        return {device.name: device for device in self.devices}

    def lower_end(self, link: int) -> Device:
        """The device at the lower end of a link; of a management port the switch, not the attachment that stands for it."""
        return self.management_ports.get(link) or self.devices[int(self.links.a[link])]

    @property
    def graph(self) -> networkx.MultiGraph:
        """The fabric as a networkx multigraph: one node per device, one edge per link with its ports and speed."""
        from fabric.model.plan.graph import graph  # networkx takes its time

        return graph(self)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A site."""

    site: str
    settings: SiteSettings
    fabrics: Mapping[str, FabricPlan]
    lock: Lock
    warnings: tuple[Diagnostic, ...] = field(default=())
    silenced: tuple[Diagnostic, ...] = field(default=())  # warnings that the intent suppresses

    @property
    def spec(self) -> SiteSpec:
        """Site, settings and the specification of every fabric."""
        return SiteSpec(self.site, self.settings, {name: fabric.spec for name, fabric in self.fabrics.items()})

    def at(self, *path: str | int, key: bool = False) -> Place:
        """Where the value of a key stands in the intent; `key`: the key itself."""
        return self.settings.positions.at(*path, key=key)

    def stated(self, *path: str | int) -> bool:
        """Whether the intent writes this key."""
        return self.settings.positions.stated(*path)
