"""Tenants of a whole fabric: numbers, and columns with one entry per link that state the tenant of each port."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

import numpy as np
from numpy.typing import NDArray

NO_TENANT = -1  # a link between switches, or in a fabric without tenants
CLOSED = -2  # a link of a server that belongs to no tenant, in a fabric that has tenants
TAG_BASE = 10  # subinterface of tenant 1 is .11; two digits keep SONiC's names within Linux's 15 characters
VLAN_BASE = 3000  # VLAN set aside for the L3 VNI of tenant 1 is 3001
VXLAN_BYTES = 50  # outer Ethernet, IPv4, UDP and VXLAN: what a tenant's packet grows by
MAX_TENANTS = 700  # below 3725, where Cumulus reserves VLANs, and 3968, where NX-OS does


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPlan:
    """A layer-2 network."""

    name: str
    number: int  # from 1 within the fabric
    vlan: int
    vni: int
    gateway: int | None  # first address of its subnet, the distributed gateway
    length: int  # prefix length; 0 without a gateway

    @property
    def subnet(self) -> int:
        """The network's own address."""
        assert self.gateway is not None
        return self.gateway - 1

    @property
    def prefix(self) -> str:
        """The subnet, "10.1.0.0/24"; "" without a gateway."""
        return f"{ip_address(self.subnet)}/{self.length}" if self.gateway is not None else ""

    def own_address(self, leaf: int) -> int:
        """The address of leaf `leaf` (from 1) beside the gateway: counted from the end of the subnet, which is IPv4."""
        broadcast = self.subnet + (1 << (32 - self.length)) - 1
        return broadcast - leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantPlan:
    """A tenant; `number` never changes while the lock is kept."""

    name: str
    number: int  # from 1
    vni: int
    networks: tuple[NetworkPlan, ...]
    imports: tuple[str, ...]
    outside: tuple[str, ...]  # routes that a border leaf takes in for it

    @property
    def tag(self) -> int:
        return TAG_BASE + self.number

    @property
    def vlan(self) -> int:
        return VLAN_BASE + self.number


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalConnection:
    """A router outside, over one link, for one tenant or (tenant -1) for the default table."""

    link: int
    tenant: int
    address: int | None  # of the subinterface's subnet; None: the port's own
    asn: int
    name: str
    accepts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Tenancy:
    """`kind`: "none" (one table, at most one tenant), "evpn", "vrf-lite" or "acl". Arrays run over links or devices."""

    kind: str
    tenants: tuple[TenantPlan, ...]  # in the intent's order
    owner: NDArray[np.int64]  # per link: place in `tenants`, NO_TENANT or CLOSED
    lag: NDArray[np.int64]  # per link: number of the bond it is a member of, 0 for none
    pair: Mapping[int, int] = field(default_factory=dict)  # leaf → the leaf it shares bonds with
    vtep: Mapping[int, int] = field(default_factory=dict)  # leaf → address
    pair_vtep: Mapping[int, int] = field(default_factory=dict)  # leaf → address that it shares with its pair
    peers: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # switch → switches it speaks EVPN with
    slices: Mapping[int, NDArray[Any]] = field(default_factory=dict)  # VRF-lite: tenant → per link first address, -1
    external_connections: tuple[ExternalConnection, ...] = ()
    hosts: Mapping[tuple[int, int], Mapping[int, int]] = field(default_factory=dict)  # (tenant, network) → link → address
    chosen: Mapping[int, int] = field(default_factory=dict)  # link of an attachment → the network that it states

    @property
    def isolated(self) -> bool:
        """Whether ports have owners that are kept apart."""
        return self.kind != "none"

    @property
    def bridged(self) -> NDArray[np.bool_]:
        """Per link whether its port is in layer-2 networks: it has VLANs, and no subnet of its own."""
        layered = np.array([bool(tenant.networks) for tenant in self.tenants] + [False, False])
        found: NDArray[np.bool_] = layered[self.owner]  # NO_TENANT and CLOSED index from the end
        return found

    def networks(self, link: int) -> tuple[NetworkPlan, ...]:
        """The layer-2 networks of a port: one is untagged, several are tagged; () for a routed port."""
        owner = int(self.owner[link])
        networks = self.tenants[owner].networks if owner >= 0 else ()
        return (networks[self.chosen[link]],) if link in self.chosen else networks
