"""Reads BGP of NVUE: a process per VRF, its neighbors, and what their peer groups say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import TypeVar

from fabric.model.facts import Authentication, Bgp, Facts, Located, Neighbor
from fabric.nos.cumulus.read.ports import vrf_name
from fabric.nos.cumulus.read.tree import number, off, string, switch, truth
from fabric.nos.reading import Branch, asn, is_address, password

T = TypeVar("T")
FAMILIES = {"ipv4-unicast": "ipv4", "ipv6-unicast": "ipv6", "l2vpn-evpn": "evpn"}
UNICAST = ("ipv4-unicast", "ipv6-unicast")
FILTERS = ("route-map", "prefix-list", "aspath-list")  # of several on one session the first is named
ALLOWED = 3  # times that the own AS may be in a path, where the config says none


@dataclass(frozen=True, slots=True)
class Levels:
    """A neighbor and its group: the first that says a thing counts."""

    file: str
    branches: tuple[Branch, ...]

    def at(self, *path: str) -> Levels:
        return Levels(self.file, tuple([branch.at(*path) for branch in self.branches]))

    def first(self, read: Callable[[Branch, str], Located[T] | None], *path: str) -> Located[T] | None:
        for branch in self.branches:
            if (found := read(branch.at(*path), self.file)) is not None:
                return found
        return None


def read_bgp(facts: Facts, file: str, tree: Branch) -> None:
    shared = tree.at("router", "bgp")
    if off(shared):
        return
    for name, vrf in tree.at("vrf").parts.items():
        own = vrf.at("router", "bgp")
        if own.line and not off(own):
            facts.bgp[vrf_name(name)] = _process(file, vrf_name(name), own, shared)


def _process(file: str, vrf: str, own: Branch, shared: Branch) -> Bgp:
    bgp = Bgp(vrf=vrf, line=own.line, file=file)
    both = Levels(file, (own, shared))  # the numbers of the switch hold where the VRF has none
    bgp.asn = both.first(_asn, "autonomous-system")
    bgp.router_id = both.first(string, "router-id")
    widths = [found for family in UNICAST if (found := number(own.at("address-family", family, "multipaths", "ebgp"), file))]
    bgp.max_paths = min(widths, key=lambda found: found.value, default=None)
    for family in UNICAST:
        _routes(bgp, own.at("address-family", family))
    bgp.relax = truth(own.at("path-selection", "multipath", "aspath-ignore"), file)
    for peers in (own.at("neighbor"), own.at("peer"), own.at("dynamic-neighbor", "listen-range")):  # `peer` before 5.0
        for text, branch in peers.parts.items():
            neighbor = _neighbor(file, vrf, text, branch, own.at("peer-group"))
            bgp.neighbors[neighbor.peer] = neighbor
    return bgp


def _routes(bgp: Bgp, family: Branch) -> None:
    """What enters BGP here."""
    connected = family.at("redistribute", "connected")
    if connected.line and not off(connected):
        bgp.connected = string(connected.at("route-map"), bgp.file) or Located("", connected.line, bgp.file)
    bgp.aggregates += [Located(text, part.line, bgp.file) for text, part in family.at("aggregate-route").parts.items()]


def _asn(branch: Branch, file: str) -> Located[int] | None:
    value = asn(branch.word)
    return Located(value, branch.value.line, file) if value is not None else None


def _remote_as(branch: Branch, file: str) -> Located[int | str] | None:
    value = branch.word if branch.word in ("external", "internal") else asn(branch.word)
    return Located(value, branch.value.line, file) if value is not None else None


def _peer(text: str) -> str:
    try:
        return str(ip_network(text, strict=False)) if "/" in text else str(ip_address(text))
    except ValueError:
        return text


def _neighbor(file: str, vrf: str, text: str, branch: Branch, groups: Branch) -> Neighbor:
    neighbor = Neighbor(vrf=vrf, peer=_peer(text), line=branch.line, file=file)
    neighbor.dynamic = "/" in neighbor.peer
    neighbor.interface = not neighbor.dynamic and (branch.at("type").word == "unnumbered" or not is_address(neighbor.peer))
    group = groups.at(branch.at("peer-group").word or "")
    levels = Levels(file, (branch, group) if group.line else (branch,))
    neighbor.remote_as = levels.first(_remote_as, "remote-as")
    neighbor.local_as = levels.first(_asn, "local-as", "asn")
    neighbor.source = levels.first(string, "update-source")
    neighbor.description = levels.first(string, "description")
    neighbor.multihop = levels.first(number, "multihop-ttl")
    neighbor.authentication = levels.first(_authentication, "password")
    neighbor.bfd = levels.first(_bfd, "bfd")
    neighbor.keepalive_s = levels.first(number, "timers", "keepalive")
    neighbor.hold_s = levels.first(number, "timers", "hold")
    if shut := levels.first(truth, "shutdown"):
        neighbor.enabled = Located(not shut.value, shut.line, file)
    for family, name in FAMILIES.items():
        _family(neighbor, levels.at("address-family", family), name)
    return neighbor


def _family(own: Neighbor, family: Levels, name: str) -> None:
    """IPv4 is on unless it is switched off, the others are off unless they are switched on."""
    on = family.first(switch)
    if not (on.value if on else name == "ipv4"):
        return
    own.families.append(Located(name, on.line if on else own.line, own.file))
    own.max_prefix = own.max_prefix or family.first(number, "prefix-limits", "inbound", "maximum")
    own.reflected = own.reflected or family.first(switch, "route-reflector-client")
    own.import_filter = own.import_filter or _filter(family, "inbound")
    own.export_filter = own.export_filter or _filter(family, "outbound")
    allowed = family.at("aspath", "allow-my-asn")
    times, state = allowed.first(number, "occurrences"), allowed.first(switch)
    if own.allowas_in is None and (state.value if state else times):
        own.allowas_in = times or (Located(ALLOWED, state.line, own.file) if state else None)


def _filter(family: Levels, direction: str) -> Located[str] | None:
    return next((found for kind in FILTERS if (found := family.first(string, "policy", direction, kind))), None)


def _bfd(branch: Branch, file: str) -> Located[bool] | None:
    """Switched on, or given a profile."""
    profile = string(branch.at("profile"), file)
    return switch(branch, file) or (Located(True, profile.line, file) if profile else None)


def _authentication(branch: Branch, file: str) -> Located[Authentication] | None:
    """`$nvsec$…` is encrypted, `*` hidden."""
    word = branch.word
    return Located(password(word, encrypted=word.startswith("$")), branch.value.line, file) if word is not None else None
