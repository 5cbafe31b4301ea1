"""Tenants of a whole fabric: numbers, columns with one entry per link, and addresses of the site itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

import numpy as np
from netaddr import IPSet
from numpy.typing import NDArray

from fabric.base.text import address
from fabric.model.plan.spec import FabricSpec
from fabric.model.settings.site import External

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
    untagged: bool = False  # on ports with several networks
    relay: tuple[str, ...] = ()  # DHCP servers
    relay_tenant: str = ""  # "default": the default table leads to them; "": the network's own

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


def port_vlans(networks: Sequence[NetworkPlan]) -> tuple[int, tuple[int, ...]]:
    """(untagged VLAN or 0, tagged ones in order) of a port: a single network is untagged, of several the one that says so."""
    if len(networks) == 1:
        return networks[0].vlan, ()
    untagged = next((network.vlan for network in networks if network.untagged), 0)
    return untagged, tuple(sorted(network.vlan for network in networks if not network.untagged))


@dataclass(frozen=True, slots=True)
class Leak:
    """Routes of another tenant that are imported by prefix; others of that tenant are not."""

    source: str
    prefixes: tuple[str, ...]  # "0.0.0.0/0" alone, any other with all prefixes inside it


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantPlan:
    """A tenant; `number` never changes while the lock is kept."""

    name: str
    number: int  # from 1
    vni: int
    networks: tuple[NetworkPlan, ...]
    imports: tuple[str, ...]  # tenants of which it has all routes
    outside: tuple[str, ...]  # routes that a border leaf takes in for it
    leaks: tuple[Leak, ...] = ()  # tenants of which it has some routes

    @property
    def sources(self) -> tuple[str, ...]:
        """Tenants of which it has routes."""
        return (*self.imports, *(leak.source for leak in self.leaks))

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
    chosen: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # link → its networks, where it is not in all
    fallback: frozenset[tuple[int, int]] = frozenset()  # (leaf, bond): its ports carry traffic before the server speaks LACP

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

    @property
    def routed(self) -> tuple[str, ...]:
        """Tenants with routed ports, whose subnets are in the pool of servers; a router's port belongs to no tenant."""
        owners = set(self.owner.tolist())
        return tuple(tenant.name for at, tenant in enumerate(self.tenants) if at in owners and not tenant.networks)

    def networks(self, link: int) -> tuple[NetworkPlan, ...]:
        """The layer-2 networks of a port, whose tags `port_vlans` gives; () for a routed port."""
        owner = int(self.owner[link])
        networks = self.tenants[owner].networks if owner >= 0 else ()
        return tuple(networks[place] for place in self.chosen[link]) if link in self.chosen else networks


# --- Addresses of the site, never accepted from outside -------------------------------------------------------

DEFAULT_ROUTES = ("0.0.0.0/0", "::/0")
_STEP = 10
# First number of each kind in a list: it has room for further prefixes, so that a new one renumbers none.
_FIRST = {"loopback": 1000, "loopback6": 2000, "vtep": 3000, "p2p": 4000, "servers": 5000, "management": 6000, "pin": 7000}
_FIRST_NETWORK = 10_000

Net = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class OwnPrefix:
    """A prefix of the site; it and all inside it are denied under `number`, which other prefixes do not change."""

    number: int
    what: str  # "pool 'servers'"
    prefix: str

    @property
    def net(self) -> Net:
        return ip_network(self.prefix)


def own_pools(spec: FabricSpec, prefixes: Mapping[str, Sequence[str]]) -> list[OwnPrefix]:
    """The pools that a fabric uses, whole: growth takes addresses from them; and pinned loopbacks outside them."""
    prefixes_ = [
        OwnPrefix(_FIRST[kind] + _STEP * n, f"pool '{kind}'", prefix)
        for kind in _FIRST
        if kind != "pin" and _uses(spec, kind)
        for n, prefix in enumerate(prefixes.get(kind, ()))
    ]
    pools = [one.net for one in prefixes_]
    pinned = [f"{pin.loopback}/32" for pin in spec.pins.values() if pin.loopback]
    for n, text in enumerate(pinned):
        if not any(_inside(ip_network(text), pool) for pool in pools):
            prefixes_.append(OwnPrefix(_FIRST["pin"] + _STEP * n, "pinned loopback", text))
    return prefixes_


def own_networks(tenants: Iterable[TenantPlan], names: Iterable[str]) -> list[OwnPrefix]:
    """The subnets of these tenants' networks."""
    chosen = set(names)
    return [
        OwnPrefix(
            _FIRST_NETWORK + _STEP * network.number,
            f"network '{network.name}' of tenant '{tenant.name}'",
            f"{address(network.subnet)}/{network.length}",
        )
        for tenant in tenants
        if tenant.name in chosen
        for network in tenant.networks
        if network.gateway is not None
    ]


def tenants_behind(spec: FabricSpec, external: External) -> tuple[str, ...]:
    """Tenants whose routes a router may bring back: those that it serves, and those that share routes with one of them."""
    served = {tenant.name for tenant in spec.tenants if not external.tenants or tenant.name in external.tenants}
    return tuple(
        tenant.name
        for tenant in spec.tenants
        if tenant.name in served
        or served.intersection(tenant.sources)
        or any(tenant.name in other.sources for other in spec.tenants if other.name in served)
    )


def denied(own: Iterable[OwnPrefix], accepts: Iterable[str]) -> tuple[OwnPrefix, ...]:
    """Own prefixes that the accepted ones would let in, without those inside another; the default route lets none in."""
    nets = [ip_network(text) for text in accepts if text not in DEFAULT_ROUTES]
    met = [one for one in own if any(one.net.version == net.version and one.net.overlaps(net) for net in nets)]
    kept: list[OwnPrefix] = []
    for one in sorted(met, key=lambda own: (own.net.prefixlen, own.number)):
        if not any(_inside(one.net, other.net) for other in kept):
            kept.append(one)
    return tuple(sorted(kept, key=lambda own: own.number))


def left_of(accept: str, own: Iterable[OwnPrefix]) -> bool:
    """Whether an accepted prefix has any address that is not the site's own."""
    return accept in DEFAULT_ROUTES or bool(IPSet([accept]) - IPSet([one.prefix for one in own]))


def _inside(net: Net, other: Net) -> bool:
    return net.version == other.version and net.prefixlen >= other.prefixlen and net.overlaps(other)


def _uses(spec: FabricSpec, kind: str) -> bool:
    """Whether a fabric takes addresses from a kind of pool: a default pool that it has no use for is not its own."""
    addressing = spec.underlay.addressing
    routers = any(attachment.external is not None for attachment in spec.attachments)
    if kind == "servers":
        return spec.isolation != "evpn" or not spec.tenants or any(not tenant.networks for tenant in spec.tenants)
    return {
        "loopback6": addressing == "ipv6",
        "vtep": spec.overlay.kind != "none",
        "p2p": addressing != "unnumbered" or (routers and bool(spec.tenants) and spec.isolation in ("evpn", "vrf-lite")),
    }.get(kind, True)
