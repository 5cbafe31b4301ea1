"""All that the host side takes from the plan of a fabric, with the prefixes that each port reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv6Address, ip_address, summarize_address_range
from typing import NamedTuple

import numpy as np

from fabric.base.text import address, ipv4
from fabric.configs.targets import balances_by_load, mtu_limit
from fabric.model.plan import CLOSED, LEAF, NO_TENANT, SERVER_LEAF, VXLAN_BYTES, Block, FabricPlan, Qos
from fabric.nos.target import target

# --- Prefixes that a port reaches, from the blocks that addresses come from -----------------------------------

_KEY = "address/servers/"
Local = tuple[tuple[str, int], ...]  # (prefix, metric) of the main table; metric 0: none stated


@dataclass(frozen=True)
class Reach:
    """The reachable prefixes of one fabric. A rail has address blocks of its own where the design has rails."""

    fabric: FabricPlan

    @cached_property
    def _blocks(self) -> dict[str, tuple[tuple[int, int, tuple[str, ...]], ...]]:
        """Area of server addresses (a rail, or all racks) → its blocks: first address, end and prefixes, oldest first."""
        return {
            key.removeprefix(_KEY): tuple((block.base, block.end, _prefixes(block)) for block in blocks)
            for key, blocks in self.fabric.blocks.items()
            if key.startswith(_KEY)
        }

    @cached_property
    def areas(self) -> dict[str, tuple[str, ...]]:
        """Area → its prefixes."""
        return {name: tuple(prefix for *_, own in rows for prefix in own) for name, rows in self._blocks.items()}

    @cached_property
    def _place(self) -> dict[int, tuple[str, int]]:
        """Leaf → the area that its servers' addresses lie in, and in which of the area's blocks."""
        spans = [(low, end, (name, at)) for name, rows in self._blocks.items() for at, (low, end, _) in enumerate(rows)]
        return {
            leaf: next(place for low, end, place in spans if low <= first < end)
            for leaf, (first, _) in self.fabric.aggregate.items()
        }

    @cached_property
    def area_of(self) -> dict[int, str]:
        """Leaf → the area that its servers' addresses lie in."""
        return {leaf: name for leaf, (name, _) in self._place.items()}

    def up_to(self, leaf: int) -> tuple[str, ...]:
        """The prefixes of a leaf's area up to the leaf's own block: those that were there when its servers came."""
        name, last = self._place[leaf]
        return tuple(prefix for *_, own in self._blocks[name][: last + 1] for prefix in own)

    @cached_property
    def _by_network(self) -> dict[tuple[int, int], tuple[str, ...]]:
        """Isolated network → areas in it, in order."""
        found: dict[tuple[int, int], dict[str, None]] = {}
        for device in self.fabric.devices:
            if device.role == LEAF and device.index in self.area_of:
                found.setdefault(self._network(device.index), {})[self.area_of[device.index]] = None
        return {network: tuple(areas) for network, areas in found.items()}

    def _network(self, leaf: int) -> tuple[int, int]:
        device = self.fabric.devices[leaf]
        return device.plane, device.rail if self.fabric.spec.kind == "rail-only" else -1

    def areas_from(self, leaf: int) -> tuple[str, ...]:
        """Areas that a port at this leaf reaches: not those of other planes, nor of other rails of a rail-only fabric."""
        return self._by_network.get(self._network(leaf), ())

    @cached_property
    def whole(self) -> bool:
        """Whether every port reaches every address of the fabric."""
        return len(self._by_network) <= 1

    @property
    def pools(self) -> tuple[str, ...]:
        return tuple(self.fabric.prefixes["servers"])

    def everything(self, leaf: int) -> tuple[str, ...]:
        """What the port's own table sends to the leaf: whole pools where it reaches all of the fabric."""
        if self.whole:
            return self.pools
        return tuple(prefix for area in self.areas_from(leaf) for prefix in self.areas[area])

    def local(self, leaves: tuple[int, ...], base: int, alone: bool) -> tuple[Local, ...]:
        """Per port (at these leaves) of one server, what the main table sends over it.

        A rail's own prefix goes over the rail's port. Where several ports serve a prefix the metric orders them, from
        `base` on, so that the next one takes over when the first is down. What no own port is in goes over the ports
        that reach it, in the same order: the whole pools where no other fabric has addresses of them (`alone`), else
        the areas one by one.
        """
        areas = [self.area_of.get(leaf, "") for leaf in leaves]
        pooled = alone and self.whole
        routes: list[Local] = []
        for position, leaf in enumerate(leaves):
            metrics: dict[str, int] = {}
            if areas[position]:
                metric = 0 if areas.count(areas[position]) == 1 else base + areas[:position].count(areas[position])
                metrics |= dict.fromkeys(self.up_to(leaf) if pooled else self.areas[areas[position]], metric)
            others = [area for area in self.areas_from(leaf) if area not in areas]
            rest = self.pools if pooled else [prefix for area in others for prefix in self.areas[area]]
            routes.append((*metrics.items(), *[(prefix, base + position) for prefix in rest if prefix not in metrics]))
        return tuple(routes)


def _prefixes(block: Block) -> tuple[str, ...]:
    ends = ip_address(block.base), ip_address(block.end - 1)
    return tuple(str(net) for net in summarize_address_range(*ends))


# --- Facts ----------------------------------------------------------------------------------------------------

MAX_HOST_MTU_BYTES = 9000  # supported by every adapter; leaves room for tags and tunnels below a switch's 9216


class Vlan(NamedTuple):
    """A tagged network on a server port."""

    tag: int
    address: str | None = None  # with its length
    gateway: str | None = None


class ServerLink(NamedTuple):
    """One cable of a server."""

    server: int  # device index
    nic: int  # from 1
    port: int  # of the NIC, from 0
    leaf: int  # device index
    speed_gbps: int
    address: str | None  # of the server, with its length
    gateway: str | None  # address of the leaf on the link, or of the network's gateway
    closed: bool = False  # belongs to no tenant: shut down on the leaf
    untagged: int = 0  # VLAN of a layer-2 port, 0: a routed port
    tagged: tuple[Vlan, ...] = ()
    lag: int = 0  # bond, 0: none; the same number on every member of it
    vrf: str = ""  # tenant of a routed port
    outside: tuple[str, ...] = ()  # routes to external networks in the table of the port: "0.0.0.0/0", or prefixes
    link: int = -1  # place among the fabric's links
    function: int = 0  # of the port: the second has an interface of its own
    ways: Local | None = None  # without switches: addresses of other servers, with the rank of this way among all


@dataclass(frozen=True, slots=True)
class Facts:
    """What a fabric promises its hosts, beside the links."""

    mtu: int  # largest IP packet that all switches forward
    qos: Qos | None = None
    dynamic: bool = False  # switches choose paths by load, so packets of one flow may overtake each other


FactsOf = Callable[[FabricPlan], Facts]


def facts_of(fabric: FabricPlan) -> Facts:
    """What a plan says: the largest packet, and the classes of its leaves, where they have them."""
    leaf = next((device for device in fabric.devices if device.role == LEAF), None)
    nos = target(leaf.nos) if leaf is not None and leaf.nos else None
    model, overlay = fabric.spec.leaf.model, fabric.spec.overlay.kind == "evpn-vxlan"
    lossless = fabric.lossless is not None and nos is not None and nos.can(model, "lossless")
    return Facts(
        mtu=min(min(fabric.spec.underlay.mtu, mtu_limit(fabric)) - VXLAN_BYTES * overlay, MAX_HOST_MTU_BYTES),
        qos=fabric.lossless.of(LEAF, fabric.spec.groups[0].name).qos if fabric.lossless and lossless else None,
        dynamic=leaf is not None and balances_by_load(fabric, leaf.nos, LEAF),
    )


def server_links(fabric: FabricPlan) -> Iterator[ServerLink]:
    """Every server link by server, NIC and port. What tenants change about a port is put in here and nowhere else."""
    if fabric.spec.switchless:
        from fabric.configs.hosts import direct

        yield from direct.server_links(fabric)
        return
    links = fabric.links
    rows = np.flatnonzero(links.kind == SERVER_LEAF)
    rows = rows[np.lexsort((links.a_sub[rows], links.a_cage[rows], links.a[rows]))]
    columns = (rows, links.a, links.a_cage, links.a_sub, links.b, links.speed_gbps, fabric.subnet, fabric.tenancy.owner)
    length, text = fabric.subnet_length, _v6 if fabric.subnet_length == 127 else ipv4
    routed = fabric.spec.ethernet  # an InfiniBand port needs no subnet
    first = int(fabric.spec.underlay.server_first)  # 1: the server has the first address
    outside = _outside(fabric)
    bridges = [_bridges(fabric, n) for n in range(len(fabric.tenancy.tenants))]
    taken = (column[rows].tolist() if column is not rows else rows.tolist() for column in columns)
    for link, server, nic, port, leaf, speed, low, owner in zip(*taken, strict=True):
        tenant = fabric.tenancy.tenants[owner] if owner >= 0 else None
        beyond = outside.get(owner, outside.get(NO_TENANT, ()))
        if tenant is not None and tenant.networks:
            plain = ServerLink(
                server=server,
                nic=nic,
                port=port,
                leaf=leaf,
                speed_gbps=speed,
                address=None,
                gateway=None,
                outside=beyond,
                link=link,
            )
            own = fabric.tenancy.chosen.get(link)
            yield _bridged(
                bridges[owner] if own is None else [bridges[owner][place] for place in own],
                int(fabric.tenancy.lag[link]),
                plain,
            )
            continue
        vrf, closed = tenant.name if tenant and fabric.tenancy.isolated else "", owner == CLOSED
        address, via = (f"{text(low + 1 - first)}/{length}", text(low + first)) if routed and low >= 0 else (None, None)
        yield ServerLink(
            server=server,
            nic=nic,
            port=port,
            leaf=leaf,
            speed_gbps=speed,
            address=address,
            gateway=via,
            closed=closed,
            vrf=vrf,
            outside=beyond,
            link=link,
        )


def _outside(fabric: FabricPlan) -> dict[int, tuple[str, ...]]:
    """Tenant, or NO_TENANT for the default table → external routes that the border leaves accept for it."""
    found: dict[int, dict[str, None]] = {}
    for connection in fabric.tenancy.external_connections:
        found.setdefault(connection.tenant, {}).update(dict.fromkeys(connection.accepts))
    return {tenant: tuple(prefixes) for tenant, prefixes in found.items()}


class _Bridge(NamedTuple):
    """A layer-2 network, spelled once for all its ports."""

    vlan: int
    length: int
    gateway: str | None
    hosts: Mapping[int, int]  # link → address
    untagged: bool


def _bridges(fabric: FabricPlan, tenant: int) -> list[_Bridge]:
    hosts, networks = fabric.tenancy.hosts, fabric.tenancy.tenants[tenant].networks
    return [
        _Bridge(
            each.vlan,
            each.length,
            None if each.gateway is None else address(each.gateway),
            hosts.get((tenant, n), {}),
            each.untagged,
        )
        for n, each in enumerate(networks)
    ]


def _bridged(bridges: Sequence[_Bridge], bond: int, plain: ServerLink) -> ServerLink:
    """A port in layer-2 networks: a single one comes untagged, of several the one that says so."""
    link = plain.link
    of_vlan = {
        vlan: Vlan(vlan, f"{address(hosts[link])}/{length}" if link in hosts else None, gateway)
        for vlan, length, gateway, hosts, _ in bridges
    }
    first = bridges[0] if len(bridges) == 1 else next((bridge for bridge in bridges if bridge.untagged), None)
    own = of_vlan.pop(first.vlan) if first is not None else Vlan(0, None, None)
    tagged = tuple(sorted(of_vlan.values()))
    return plain._replace(untagged=own.tag, address=own.address, gateway=own.gateway, tagged=tagged, lag=bond)


def _v6(number: int) -> str:
    return str(IPv6Address(number))
