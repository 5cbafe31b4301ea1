"""What the plan expects of the taken switches: sessions, routes with their next hops, and where servers are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_interface
from typing import TypeAlias

from fabric.audit.checks.batfish.client import is_modeled, is_modeled_on, view_of, vrf_name
from fabric.audit.checks.batfish.snapshot import Snapshot
from fabric.configs.port_names import PortNames
from fabric.model.plan import LEAF, Device, SwitchView
from fabric.nos.batfish import ACL, BRIDGE, EVPN, FORWARD, NATIVE, TYPE5, UNNUMBERED, VRF

# --- paths ----------------------------------------------------------------------------------------------------
# What Batfish models of a path: a session by both of its ends, a route by every session that it comes over.
#
# A network OS whose VRFs, EVPN or unnumbered sessions Batfish does not model hides them at the far end too, and behind it.

Models: TypeAlias = Callable[[SwitchView, SwitchView], bool]


def everything(one: SwitchView, other: SwitchView) -> bool:
    """Of a path whose counts alone are of interest."""
    return True


class EqualPaths:
    """Equal paths over the taken switches, as BGP finds them: the shortest, none through a leaf, no AS number twice."""

    def __init__(self, views: Mapping[str, SwitchView], models: Models = everything) -> None:
        """`models` says of two neighbors whether Batfish models what a route between them needs."""
        self.devices = {view.device.index: view.device for view in views.values()}
        self.links: dict[int, dict[int, int]] = {index: {} for index in self.devices}
        self._modeled: dict[int, frozenset[int]] = {}
        by_index = {view.device.index: view for view in views.values()}
        for view in views.values():
            for session in view.sessions:
                if session.peer.index in self.links:
                    neighbors = self.links[view.device.index]
                    neighbors[session.peer.index] = neighbors.get(session.peer.index, 0) + 1
        self._models = {(a, b): models(by_index[a], by_index[b]) for a, peers in self.links.items() for b in peers}

    def to(self, target: int) -> Mapping[int, int]:
        """Switch → its next hops towards one, a link each; those that cannot reach it are not in it."""
        return self._walk(target)[0]

    def modeled(self, target: int) -> frozenset[int]:
        """The switches of which every equal path to one is modeled, on every hop."""
        if target not in self._modeled:
            self._modeled[target] = frozenset(self._walk(target)[1])
        return self._modeled[target]

    def _walk(self, target: int) -> tuple[dict[int, int], set[int]]:
        hops: dict[int, int] = {}
        paths: dict[int, frozenset[int]] = {target: frozenset({self.devices[target].asn})}
        lacking: set[int] = set()  # switches with a path that is not modeled
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
                    if device in lacking or not self._models[device, near]:
                        lacking.add(near)
            paths |= shortest
            edge = sorted(shortest)
        return hops, hops.keys() - lacking


class Paths:
    """The paths of one fabric."""

    def __init__(self, views: Mapping[str, SwitchView]) -> None:
        self.views = views
        self.underlay = EqualPaths(views, underlay)
        self.packets = EqualPaths(views, lambda one, other: underlay(one, other) and _both(one, other, FORWARD))
        self.tenants = EqualPaths(views, tenants)

    def plans(self, one: SwitchView, other: SwitchView) -> bool:
        """Whether the plan joins two switches."""
        return bool(self.underlay.to(other.device.index).get(one.device.index))

    def crosses(self, one: SwitchView, other: SwitchView) -> bool:
        """Whether Batfish sends packets over the fabric from one switch to another and back."""
        a, b = one.device.index, other.device.index
        return b in self.packets.modeled(a) and a in self.packets.modeled(b)

    def peers(self, one: SwitchView, other: SwitchView) -> bool:
        """Whether Batfish brings up an EVPN session between the loopbacks of two switches."""
        return _both(one, other, EVPN) and self.crosses(one, other)

    def joined(self, one: SwitchView, other: SwitchView, tenant: str) -> bool:
        """Whether Batfish knows a tenant's routes of one switch on the other: over VRF-lite, or over EVPN."""
        tables = [vrf for view in (one, other) for vrf in view.vrfs if vrf.name == tenant]
        if len(tables) < 2 or not _both(one, other, VRF):
            return False
        if all(vrf.sessions for vrf in tables):
            return one.device.index in self.tenants.modeled(other.device.index)
        type5 = all(is_modeled_on(view, TYPE5, vrf) for view, vrf in zip((one, other), tables, strict=True))
        return type5 and other.device.index in self._routes_from(one.device.index)

    def passes(self, one: SwitchView, other: SwitchView, tenant: str) -> bool:
        """Whether Batfish carries the packets between the servers of two leaves, where nothing drops them."""
        if one is other:
            return True
        if any(vrf.name == tenant for view in (one, other) for vrf in view.vrfs):
            return self.crosses(one, other) and self.joined(one, other, tenant) and self.joined(other, one, tenant)
        return bool(one.aggregates and other.aggregates) and self.crosses(one, other)

    def isolates(self, one: SwitchView, other: SwitchView, kind: str) -> bool:
        """Whether packets of one tenant at a leaf could get to another tenant at the other one, if a line let them."""
        if not is_modeled(one.device.nos, ACL if kind == "acl" else VRF):
            return False
        if one is other or kind == "acl":
            return one is other or self.crosses(one, other)
        if not _both(one, other, VRF) or not self.crosses(one, other):
            return False
        if any(vrf.sessions for vrf in one.vrfs):
            return one.device.index in self.tenants.modeled(other.device.index)
        return _both(one, other, TYPE5) and other.device.index in self._routes_from(one.device.index)

    @cached_property
    def _evpn(self) -> Mapping[int, list[int]]:
        """Switch → the switches that it has a modeled EVPN session with."""
        return {
            view.device.index: [
                over.peer.index
                for over in (view.overlay.sessions if view.overlay else ())
                if (peer := self.views.get(over.peer.name.lower())) and self.peers(view, peer)
            ]
            for view in self.views.values()
        }

    def _routes_from(self, start: int) -> frozenset[int]:
        """The switches whose EVPN routes get to one, over switches that pass prefixes on."""
        passes = {
            view.device.index for view in self.views.values() if view.device.role != LEAF and is_modeled_on(view, TYPE5)
        }
        found, edge = {start}, [start]
        while edge:
            edge = [far for at in edge if at == start or at in passes for far in self._evpn[at] if far not in found]
            found.update(edge)
        return frozenset(found)


def underlay(one: SwitchView, other: SwitchView) -> bool:
    """Whether Batfish brings up the session of the default table on a link between two switches.

    A port with subinterfaces has its untagged addresses in a native VLAN on some network OSes, and Batfish tags that one:
    it meets its like alone.
    """
    if one.underlay.family != "ipv4" or (one.underlay.unnumbered and not _both(one, other, UNNUMBERED)):
        return False
    tagged = any(vrf.sessions for view in (one, other) for vrf in view.vrfs)
    return not tagged or is_modeled(one.device.nos, NATIVE) == is_modeled(other.device.nos, NATIVE)


def tenants(one: SwitchView, other: SwitchView) -> bool:
    """Whether Batfish brings up the sessions of tenants' tables on a link between two switches (VRF-lite)."""
    unseen = one.underlay.unnumbered and not _both(one, other, UNNUMBERED)
    return one.underlay.family == "ipv4" and not unseen and _both(one, other, VRF)


def _both(one: SwitchView, other: SwitchView, what: str) -> bool:
    return is_modeled_on(one, what) and is_modeled_on(other, what)


# --- sessions, routes, places ---------------------------------------------------------------------------------

ANY = 0  # number of next hops: at least one
UNDERLAY, TENANT, OVERLAY, EXTERNAL = "underlay", "tenant", "overlay", "external"  # kinds of sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One end of a planned session. `peer` is an address, or the own interface of an unnumbered session."""

    device: str
    vrf: str  # as Batfish names it
    peer: str
    name: str  # of the far end
    asn: int  # of the far end
    inside: bool  # the far end is in the snapshot
    judged: bool = True  # Batfish models it, at both ends and between them
    kind: str = field(default="underlay", compare=False)
    fabric: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route that a leaf must have, over so many next hops."""

    device: str
    vrf: str
    prefix: str
    hops: int
    to: str  # the switch that the prefix is of
    judged: bool = True  # Batfish models every path of it


@dataclass(frozen=True, slots=True)
class TenantLeaf:
    """Where servers of one tenant are, "" of none: the subnets on one leaf."""

    fabric: str
    tenant: str
    device: str
    subnets: tuple[str, ...]


@dataclass(frozen=True)
class Expected:
    """Everything that is expected of a snapshot; names as Batfish writes them."""

    snapshot: Snapshot
    _paths: dict[str, Paths] = field(default_factory=dict, repr=False, compare=False)

    def routed(self, name: str) -> bool:
        """Whether Batfish models the routing of a fabric on any link: IPv4, over sessions that it knows at both ends."""
        views = list(self.snapshot.views[name].values())
        links = list(self._links(name))
        return any(underlay(*link) for link in links) if links else all(view.underlay.family == "ipv4" for view in views)

    def forwards(self, name: str) -> bool:
        """Whether Batfish sends packets over any link of a fabric."""
        views = self.snapshot.views[name].values()
        links = list(self._links(name)) or [(view, view) for view in views]
        return self.routed(name) and any(all(is_modeled_on(end, FORWARD) for end in link) for link in links)

    def _links(self, name: str) -> Iterator[tuple[SwitchView, SwitchView]]:
        views = self.snapshot.views[name]
        for view in views.values():
            for peer in dict.fromkeys(one.peer.name.lower() for one in view.sessions):
                if peer in views:
                    yield view, views[peer]

    def paths(self, name: str) -> Paths:
        """The paths of a fabric; made once."""
        if name not in self._paths:
            self._paths[name] = Paths(self.snapshot.views[name])
        return self._paths[name]

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions that are judged: Batfish models both ends and what is between them."""
        return tuple(one for one in self.planned_sessions if one.judged)

    @cached_property
    def planned_sessions(self) -> tuple[Session, ...]:
        """Every end of a session that a file has."""
        return tuple(
            session
            for name, views in self.snapshot.views.items()
            for view in views.values()
            for session in self._sessions(name, view)
        )

    def _sessions(self, name: str, view: SwitchView) -> Iterator[Session]:
        nos, device, views, paths = view.device.nos, view.device.name.lower(), self.snapshot.views[name], self.paths(name)
        names = PortNames(self.snapshot.plan.fabrics[name])

        def session(kind: str, vrf: str, peer: str, far: Device, models: Models) -> Session:
            other = views.get(far.name.lower())
            inside = far.name in self.snapshot.subset.names
            judged = inside and other is not None and models(view, other)
            return Session(
                device=device,
                vrf=vrf_name(nos, vrf),
                peer=peer,
                name=far.name,
                asn=far.asn,
                inside=inside,
                judged=judged,
                kind=kind,
                fabric=name,
            )

        for planned in view.sessions:
            peer = planned.peer_address or names.port_name(view.device, planned.port.ref)
            yield session(UNDERLAY, "", peer, planned.peer, underlay)
        for vrf in view.vrfs:
            for planned in vrf.sessions:
                peer = planned.peer_address or f"{names.port_name(view.device, planned.port.ref)}.{planned.tag}"
                yield session(TENANT, vrf.name, peer, planned.peer, tenants)
        for over in view.overlay.sessions if view.overlay else ():
            yield session(OVERLAY, "", over.peer_address, over.peer, paths.peers)
        tagged = {external.port.ref for external in view.externals if external.tag}
        for external in view.externals:
            table = vrf_name(nos, external.vrf)
            judged = view.underlay.family == "ipv4" and ":" not in external.peer_address
            judged = judged and (not external.vrf or is_modeled(nos, VRF))
            judged = judged and (is_modeled(nos, NATIVE) or bool(external.tag) or external.port.ref not in tagged)
            asn, peer = external.peer_asn, external.peer_address
            yield Session(
                device=device,
                vrf=table,
                peer=peer,
                name=external.peer,
                asn=asn,
                inside=True,
                judged=judged,
                kind=EXTERNAL,
                fabric=name,
            )

    def routes(self, name: str) -> Iterator[Route]:
        """What every leaf of a fabric must know of the other switches, as far as it is judged."""
        return (route for route in self.planned_routes(name) if route.judged)

    def planned_routes(self, name: str) -> Iterator[Route]:
        """What every leaf of a fabric must know of the other switches."""
        views, paths = self.snapshot.views[name], self.paths(name)
        leaves = [view for view in views.values() if view.device.role == LEAF]
        for target in views.values():
            hops, modeled = paths.underlay.to(target.device.index), paths.underlay.modeled(target.device.index)
            for leaf in leaves:
                count = hops.get(leaf.device.index, 0)
                if leaf is target or not count:
                    continue
                judged = leaf.device.index in modeled
                for prefix in announced(target):
                    device = leaf.device.name.lower()
                    yield Route(device=device, vrf="default", prefix=prefix, hops=count, to=target.device.name, judged=judged)
                yield from _tenants(leaf, target, count, paths)

    @cached_property
    def places(self) -> tuple[TenantLeaf, ...]:
        """Where Batfish sees servers."""
        return tuple(place for place in self._places(subnets) if place.subnets)

    @cached_property
    def planned_places(self) -> tuple[TenantLeaf, ...]:
        """Where servers are; those of which Batfish sees all subnets are among `places` too."""
        every = self._places(lambda view, tenant: (net for net, _ in server_subnets(view, tenant)))
        return tuple(place for place in every if place.subnets)

    def _places(self, of: Callable[[SwitchView, str], Iterable[str]]) -> Iterator[TenantLeaf]:
        for name, views in self.snapshot.views.items():
            for node, view in views.items():
                for tenant in sorted({*(vrf.name for vrf in view.vrfs), *(acl.name for acl in view.acls), ""}):
                    yield TenantLeaf(name, tenant, node, tuple(of(view, tenant)))


def announced(view: SwitchView) -> list[str]:
    """The prefixes of a switch in the default table."""
    own = [view.loopback, *view.aggregates]
    known = view_of(view.device.nos)
    if view.overlay and view.overlay.vtep and not (known and known.loopback_is_vtep):
        own.append(f"{view.overlay.vtep}/32")
    return own


def _tenants(leaf: SwitchView, target: SwitchView, hops: int, paths: Paths) -> Iterator[Route]:
    """Tenants' subnets: over VRF-lite by the same paths as the underlay, over EVPN by one tunnel."""
    leaf_vrfs = {vrf.name for vrf in leaf.vrfs}
    for vrf in target.vrfs:
        if vrf.name not in leaf_vrfs:
            continue
        judged = paths.joined(leaf, target, vrf.name)
        local, table = dict(server_subnets(leaf, vrf.name)), vrf_name(leaf.device.nos, vrf.name)
        for prefix, modeled in server_subnets(target, vrf.name):
            if prefix not in local:
                count = hops if vrf.sessions else ANY
                device = leaf.device.name.lower()
                to = target.device.name
                yield Route(device=device, vrf=table, prefix=prefix, hops=count, to=to, judged=judged and modeled)


def subnets(view: SwitchView, tenant: str) -> Iterator[str]:
    """The server subnets of a tenant on a switch that Batfish sees, "" of those that no tenant has."""
    return (subnet for subnet, seen in server_subnets(view, tenant) if seen)


def server_subnets(view: SwitchView, tenant: str) -> Iterator[tuple[str, bool]]:
    """The server subnets of a tenant on a switch, and whether Batfish sees them."""
    for port in view.ports:
        if port.kind != "server" or not port.up or not port.address or ":" in port.address:
            continue
        if (port.vrf or port.acl) == tenant:
            yield str(ip_interface(port.address).network), is_modeled(view.device.nos, VRF) or not port.vrf
    for network in view.networks:
        if network.vrf == tenant and network.gateway:
            yield str(ip_interface(network.gateway).network), is_modeled(view.device.nos, BRIDGE)


def merged(prefixes: Iterable[str]) -> str:
    """A list of prefixes as short as it can be, as Batfish takes it."""
    from netaddr import cidr_merge

    return ", ".join(map(str, cidr_merge(sorted(set(prefixes)))))
