"""What Batfish models of a path: a session by both of its ends, a route by every session that it comes over.

A network OS whose VRFs, EVPN or unnumbered sessions Batfish does not model hides them at the far end too, and behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeAlias

from fabric.audit.checks.batfish.visibility import sees, sees_of
from fabric.model.plan import LEAF, SwitchView
from fabric.nos.batfish import ACL, EVPN, FORWARD, NATIVE, TYPE5, UNNUMBERED, VRF

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
                    there = self.links[view.device.index]
                    there[session.peer.index] = there.get(session.peer.index, 0) + 1
        self._models = {(a, b): models(by_index[a], by_index[b]) for a, found in self.links.items() for b in found}

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
        type5 = all(sees_of(view, TYPE5, vrf) for view, vrf in zip((one, other), tables, strict=True))
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
        if not sees(one.device.nos, ACL if kind == "acl" else VRF):
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
        passes = {view.device.index for view in self.views.values() if view.device.role != LEAF and sees_of(view, TYPE5)}
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
    return not tagged or sees(one.device.nos, NATIVE) == sees(other.device.nos, NATIVE)


def tenants(one: SwitchView, other: SwitchView) -> bool:
    """Whether Batfish brings up the sessions of tenants' tables on a link between two switches (VRF-lite)."""
    unseen = one.underlay.unnumbered and not _both(one, other, UNNUMBERED)
    return one.underlay.family == "ipv4" and not unseen and _both(one, other, VRF)


def _both(one: SwitchView, other: SwitchView, what: str) -> bool:
    return sees_of(one, what) and sees_of(other, what)
