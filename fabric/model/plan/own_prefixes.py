"""Addresses that are the site's own, and so are never accepted from a router outside.

A router outside knows the prefixes that a border leaf advertises, and may send them to another border leaf. A path through it
is as long as one over the spines, so a switch that accepted them would use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

from netaddr import IPSet

from fabric.base.text import address
from fabric.model.plan.spec import FabricSpec
from fabric.model.plan.tenants import TenantPlan
from fabric.model.settings.topology import External

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
        or served.intersection(tenant.imports)
        or any(tenant.name in other.imports for other in spec.tenants if other.name in served)
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
