"""What the plan expects of the taken switches: sessions, routes with their next hops, and where servers are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_interface

from fabric.checks.batfish.sees import sees, sees_of, view_of, vrf_name
from fabric.checks.batfish.snapshot import Snapshot
from fabric.export.port_names import PortNames
from fabric.nos.batfish.view import BRIDGE, EVPN, FORWARD, TYPE5, UNNUMBERED, VRF
from fabric.plan import LEAF, FabricPlan, SwitchView

ANY = 0  # of next hops: one at least


@dataclass(frozen=True, slots=True)
class Session:
    """One end of a planned session. `peer` is an address, or the own interface of an unnumbered session."""

    device: str
    vrf: str  # as Batfish names it
    peer: str
    name: str  # of the far end
    asn: int  # of the far end
    inside: bool  # the far end is in the snapshot


@dataclass(frozen=True, slots=True)
class Route:
    """A route that a leaf must have, over so many next hops."""

    device: str
    vrf: str
    prefix: str
    hops: int
    to: str  # the switch that the prefix is of


@dataclass(frozen=True, slots=True)
class Place:
    """Where servers of one tenant are, "" of none: the subnets on one leaf."""

    fabric: str
    tenant: str
    device: str
    subnets: tuple[str, ...]


@dataclass(frozen=True)
class Expected:
    """Everything that is expected of a snapshot; names as Batfish writes them."""

    snapshot: Snapshot

    def routed(self, name: str) -> bool:
        """Whether Batfish models the routing of a fabric: IPv4, over sessions that it knows on every target."""
        views = self.snapshot.views[name].values()
        return all(
            view.underlay.family == "ipv4" and (not view.underlay.unnumbered or sees(view.device.nos, UNNUMBERED))
            for view in views
        )

    def forwards(self, name: str) -> bool:
        """Whether Batfish sends packets over all links of a fabric; without, no session between loopbacks comes up either."""
        return self.routed(name) and all(sees_of(view, FORWARD) for view in self.snapshot.views[name].values())

    @cached_property
    def sessions(self) -> tuple[Session, ...]:
        return tuple(
            session
            for name, views in self.snapshot.views.items()
            if self.routed(name)
            for view in views.values()
            for session in self._sessions(name, view)
        )

    def _sessions(self, name: str, view: SwitchView) -> Iterator[Session]:
        nos, device = view.device.nos, view.device.name.lower()
        inside = self.snapshot.cut.names
        names = PortNames(self.snapshot.plan.fabrics[name])
        for one in view.sessions:
            peer = one.peer_address or names.port_name(view.device, one.port.ref)
            yield Session(device, "default", peer, one.peer.name, one.peer_asn, one.peer.name in inside)
        for vrf in view.vrfs if sees(nos, VRF) else ():
            for one in vrf.sessions:
                table = vrf_name(nos, vrf.name)
                yield Session(device, table, one.peer_address or "", one.peer.name, one.peer_asn, one.peer.name in inside)
        for over in view.overlay.sessions if view.overlay and sees_of(view, EVPN) and self.forwards(name) else ():
            yield Session(device, "default", over.peer_address, over.peer.name, over.peer_asn, over.peer.name in inside)
        for external in view.externals:
            if not external.vrf or sees(nos, VRF):
                yield Session(
                    device, vrf_name(nos, external.vrf), external.peer_address, external.peer, external.peer_asn, True
                )

    def routes(self, name: str) -> Iterator[Route]:
        """What every leaf of a fabric must know of the other switches."""
        fabric, views = self.snapshot.plan.fabrics[name], self.snapshot.views[name]
        paths = EqualPaths(fabric, views)
        leaves = [view for view in views.values() if view.device.role == LEAF]
        overlay = self.forwards(name)
        for target in views.values():
            hops = paths.to(target.device.index)
            for leaf in leaves:
                count = hops.get(leaf.device.index, 0)
                if leaf is target or not count:
                    continue
                for prefix in announced(target):
                    yield Route(leaf.device.name.lower(), "default", prefix, count, target.device.name)
                yield from _tenants(leaf, target, count, overlay)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        found = []
        for name, views in self.snapshot.views.items():
            for node, view in views.items():
                tenants = sorted({*(vrf.name for vrf in view.vrfs), *(acl.name for acl in view.acls), ""})
                for tenant in tenants:
                    nets = tuple(subnets(view, tenant))
                    if nets:
                        found.append(Place(name, tenant, node, nets))
        return tuple(found)


def announced(view: SwitchView) -> list[str]:
    """The prefixes of a switch in the default table."""
    own = [view.loopback, *view.aggregates]
    known = view_of(view.device.nos)
    if view.overlay and view.overlay.vtep and not (known and known.loopback_is_vtep):
        own.append(f"{view.overlay.vtep}/32")
    return own


def _tenants(leaf: SwitchView, target: SwitchView, hops: int, overlay: bool) -> Iterator[Route]:
    """Tenants' subnets: over VRF-lite by the same paths as the underlay, over EVPN by one tunnel."""
    for vrf in target.vrfs:
        if not joined(leaf, target, vrf.name, overlay):
            continue
        local = set(subnets(leaf, vrf.name))
        for prefix in subnets(target, vrf.name):
            if prefix not in local:
                table = vrf_name(leaf.device.nos, vrf.name)
                yield Route(leaf.device.name.lower(), table, prefix, hops if vrf.sessions else ANY, target.device.name)


def joined(one: SwitchView, other: SwitchView, tenant: str, overlay: bool) -> bool:
    """Whether Batfish must know a tenant's routes of one leaf on the other; `overlay`: EVPN sessions come up in it."""
    tables = [vrf for view in (one, other) for vrf in view.vrfs if vrf.name == tenant]
    if len(tables) < 2 or not (sees(one.device.nos, VRF) and sees(other.device.nos, VRF)):
        return False
    if all(vrf.sessions for vrf in tables):
        return True
    return overlay and all(sees_of(view, TYPE5, vrf) for view, vrf in zip((one, other), tables, strict=True))


def subnets(view: SwitchView, tenant: str) -> Iterator[str]:
    """The server subnets of a tenant on a switch that Batfish sees, "" of those that no tenant has."""
    for port in view.ports:
        if port.kind != "server" or not port.up or not port.address or ":" in port.address:
            continue
        if (port.vrf or port.acl) == tenant and (sees(view.device.nos, VRF) or not port.vrf):
            yield str(ip_interface(port.address).network)
    for network in view.networks:
        if network.vrf == tenant and network.gateway and sees(view.device.nos, BRIDGE):
            yield str(ip_interface(network.gateway).network)


class EqualPaths:
    """Equal paths over the taken switches, as BGP finds them: the shortest, none through a leaf, no AS number twice."""

    def __init__(self, fabric: FabricPlan, views: Mapping[str, SwitchView]) -> None:
        self.devices = {view.device.index: view.device for view in views.values()}
        self.links: dict[int, dict[int, int]] = {index: {} for index in self.devices}
        for view in views.values():
            for session in view.sessions:
                if session.peer.index in self.links:
                    there = self.links[view.device.index]
                    there[session.peer.index] = there.get(session.peer.index, 0) + 1

    def to(self, target: int) -> Mapping[int, int]:
        """Switch → its next hops towards one, a link each; those that cannot reach it are not in it."""
        hops: dict[int, int] = {}
        paths: dict[int, frozenset[int]] = {target: frozenset({self.devices[target].asn})}
        edge = [target]
        while edge:
            shortest: dict[int, frozenset[int]] = {}
            for device in edge:
                if device != target and self.devices[device].role == LEAF:
                    continue
                for near, links in self.links[device].items():
                    if near in paths or self.devices[near].asn in paths[device]:
                        continue
                    hops[near] = hops.get(near, 0) + links
                    shortest[near] = shortest.get(near, frozenset()) | paths[device] | {self.devices[near].asn}
            paths |= shortest
            edge = sorted(shortest)
        return hops


def merged(prefixes: Iterable[str]) -> str:
    """A list of prefixes as short as it can be, as Batfish takes it."""
    from netaddr import cidr_merge

    return ", ".join(map(str, cidr_merge(sorted(set(prefixes)))))
