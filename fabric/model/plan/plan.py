"""The plan: vendor-neutral and complete. Everything after the planner works from this alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.diagnostics import Diagnostic, Place
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan.lock import Block, Lock
from fabric.model.plan.lossless import FabricLossless
from fabric.model.plan.patching import Patching
from fabric.model.plan.sizing import Sizing, nic_name
from fabric.model.plan.spec import FabricSpec, GroupSpec, SiteSettings, SiteSpec
from fabric.model.plan.tenants import Tenancy
from fabric.model.plan.topology import (
    BETWEEN_SWITCHES,
    CORE,
    KINDS,
    LEAF,
    RELAY,
    SERVER,
    SERVER_LEAF,
    SERVER_SERVER,
    SPINE,
    SWITCH_ROLES,
    Device,
    Links,
    Longer,
    PortRef,
)

if TYPE_CHECKING:
    import networkx


# --- Links between a fabric and one whose leaves hang below it -------------------------------------------------


@dataclass(frozen=True, slots=True)
class FarPort:
    """A port of a switch of another fabric."""

    device: Device  # as that fabric has it
    ref: PortRef
    model: SwitchModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Uplink:
    """A link of a leaf to the fabric that it hangs below. That fabric has the link among its own and lists it."""

    device: int  # index of the leaf
    ref: PortRef
    lag: int  # its bond
    far: FarPort | None = None  # set when both fabrics are wired
    length_m: int = 0


# --- The plan -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FabricPlan:
    """One fabric: devices as records, links as columns. Arrays over devices hold -1 where a device has none."""

    name: str
    spec: FabricSpec
    sizing: Sizing
    devices: tuple[Device, ...]
    links: Links
    subnet: NDArray[Any]  # per link, the first of its two addresses, which `first_end` has; the other end has the next
    subnet_length: int  # 31 or 127, of links to servers and attachments; `link_length` is that of a link
    loopback: NDArray[np.int64]  # per device, IPv4
    loopback6: NDArray[Any]  # per device
    management: NDArray[Any]  # per device
    aggregate: Mapping[int, tuple[int, int]]  # leaf → (first address, prefix length) of its servers
    prefixes: Mapping[str, tuple[str, ...]]  # pools in use, by kind
    tenancy: Tenancy
    asn_ranges: tuple[tuple[int, int], ...]  # [first, end) of AS numbers that it may take
    lossless: FabricLossless | None  # None: no fabric of RoCE
    blocks: Mapping[str, tuple[Block, ...]]  # where ids, AS numbers and addresses come from, as the lock keeps them
    management_ports: Mapping[int, Device] = field(default_factory=dict)  # link of an attachment → device managed by it
    manage: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # pool → gateway and length of the network it lies in
    below: Mapping[int, FarPort] = field(default_factory=dict)  # link of an attachment → port of the leaf that it stands for
    uplinks: tuple[Uplink, ...] = ()  # of leaves below another fabric
    patching: Patching | None = None  # patch panels; None: every link is one cable
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
        return self.stood_for.get(link) or self.devices[int(self.links.a[link])]

    @cached_property
    def stood_for(self) -> dict[int, Device]:
        """Link of an attachment → the switch that it stands for, here or in another fabric."""
        return {**self.management_ports, **{link: far.device for link, far in self.below.items()}}

    @cached_property
    def leaves_below(self) -> dict[str, Device]:
        """Leaves of fabrics below by their name, which their stand-ins here have too."""
        return {far.device.name: far.device for far in self.below.values()}

    @cached_property
    def first_end(self) -> NDArray[np.int64]:
        """Per link the end that has its first address, 0 for `a` and 1 for `b`: of servers and attachments the leaf.

        With `server_subnets: spectrum-x` it is the server.
        """
        upper, kind = self.spec.underlay.link_subnets.first == "upper", self.links.kind
        servers = (kind == SERVER_LEAF) & self.spec.underlay.server_first
        return np.where(np.isin(kind, BETWEEN_SWITCHES), upper, (kind != SERVER_SERVER) & ~servers).astype(np.int64)

    def link_length(self, link: int) -> int:
        """Prefix length of a link's subnet."""
        return self.spec.underlay.link_length if self.links.kind[link] in BETWEEN_SWITCHES else self.subnet_length

    def ref(self, link: int, end: str) -> PortRef:
        """The port at an end of a link, `a` or `b`."""
        cage, sub, split = (int(getattr(self.links, f"{end}_{part}")[link]) for part in ("cage", "sub", "split"))
        return PortRef(cage, sub, split, int(self.links.speed_gbps[link]))

    @property
    def graph(self) -> networkx.MultiGraph:
        """The fabric as a networkx multigraph: one node per device, one edge per link with its ports and speed."""
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


# --- A networkx multigraph, for analyses that no command has --------------------------------------------------

SHOWN = ("role", "model", "nos", "asn", "group", "unit", "rack", "pod", "plane", "rail")  # of a device


def graph(fabric: FabricPlan) -> networkx.MultiGraph:
    """A node a device, an edge a link. Coordinates count from 0 and are -1 where a device has none.

    Edges say which end is which: `a` is the lower device, `a_port` the plan's label of its port; `link` is the row in the
    plan's columns.
    """
    import networkx  # it takes its time

    multigraph = networkx.MultiGraph(name=fabric.name)
    numbers = zip(fabric.loopback.tolist(), fabric.management.tolist(), strict=True)
    for device, (loopback, management) in zip(fabric.devices, numbers, strict=True):
        values = {key: getattr(device, key) for key in SHOWN}
        speaks = device.role in SWITCH_ROLES
        for key, number in (("loopback", loopback), ("management", management)):
            values[key] = str(ip_address(number)) if number >= 0 and speaks else ""
        multigraph.add_node(device.name, **values)
    columns, labels, lengths = fabric.links.lists(), PortLabels(fabric), fabric.spec.length_m
    for link in range(len(fabric.links)):
        kind = KINDS[columns["kind"][link]]
        ends = {end: fabric.devices[columns[end][link]].name for end in ("a", "b")}
        multigraph.add_edge(
            *ends.values(),
            kind=kind,
            speed_gbps=columns["speed_gbps"][link],
            length_m=lengths[kind],
            a_port=labels.at(link, "a"),
            b_port=labels.at(link, "b"),
            link=link,
            **ends,
        )
    return multigraph


# --- Labels of ports: `33`, `33/2` of a broken-out cage, `17/1` in a twin-port cage, `compute1` of a server -------------


class PortLabels:
    """The labels of one fabric's ports."""

    def __init__(self, fabric: FabricPlan) -> None:
        self.fabric = fabric

    def label(self, device: Device, ref: PortRef) -> str:
        """The label of a port of a device."""
        if device.role in (SERVER, RELAY):
            return nic_name(self._groups[device.group], ref.cage, ref.sub)
        model = self.models.get(device.role)
        cage = model.panel.label(ref.cage) if model is not None and model.panel is not None else str(ref.cage)
        return f"{cage}/{ref.sub + 1}" if ref.split > 1 else cage

    def at(self, link: int, end: str) -> str:
        """The label at an end of a link, `a` or `b`."""
        return self.label(self.fabric.devices[int(getattr(self.fabric.links, end)[link])], self.ref(link, end))

    def ref(self, link: int, end: str) -> PortRef:
        """The port at an end of a link."""
        return self.fabric.ref(link, end)

    @cached_property
    def models(self) -> dict[str, SwitchModel]:
        """Hardware by role."""
        spec = self.fabric.spec
        return {LEAF: spec.leaf.model, SPINE: spec.spine.model, CORE: spec.core.model}

    @cached_property
    def _groups(self) -> dict[str, GroupSpec]:
        return {group.name: group for group in self.fabric.spec.groups}
