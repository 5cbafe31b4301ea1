"""Next hops of every switch towards every other one: BGP's choice, computed from the plan alone.

The shortest AS path wins, equal ones are all used (multipath-relax), a path that holds one's own AS number is refused,
and a leaf passes on nothing but its own. So spines of one AS number have no route to each other, as it should be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_interface, ip_network

from fabric.lab.blueprint import Blueprint, End, Wire
from fabric.lab.expected.sessions import UNDERLAY, sessions
from fabric.model.plan import LEAF, SwitchView
from fabric.nos.target import target


@dataclass(frozen=True, slots=True)
class Down:
    """What is broken: whole nodes, and cables between nodes that live."""

    nodes: frozenset[str] = frozenset()
    cables: frozenset[Wire] = frozenset()


NOTHING = Down()
Expected = dict[str, dict[str, frozenset[str]]]  # node → prefix → interfaces


def originated(view: SwitchView) -> tuple[str, ...]:
    """What a switch makes known by itself: its loopback, its tunnel address, its servers' prefixes."""
    own = [view.loopback6 or view.loopback]
    if view.overlay and view.overlay.vtep:
        own.append(f"{view.overlay.vtep}/32")
    return (*own, *view.aggregates)


def announced(lab: Blueprint, view: SwitchView) -> tuple[str, ...]:
    """What a switch makes known in a lab: a prefix of servers only where one of them is cabled."""
    ends = {(end.node, end.interface) for wire in lab.wires for end in (wire.a, wire.b)}
    name = target(view.device.nos).port_name
    ports = [port for port in view.ports if port.kind in ("server", "attachment") and port.up and port.address]
    there = [
        ip_interface(port.address).ip
        for port in ports
        if port.address and (view.device.name, name(view.model, port.ref, view.device.model)) in ends
    ]
    silent = {prefix for prefix in view.aggregates if not any(address in ip_network(prefix) for address in there)}
    return tuple(prefix for prefix in originated(view) if prefix not in silent)


def version(view: SwitchView) -> int:
    """Of what BGP carries in the default table."""
    return 6 if view.underlay.family == "ipv6" else 4


def forwarding(lab: Blueprint, down: Down = NOTHING) -> Expected:
    """The interfaces that a living switch must send over, by prefix of every other switch; none to what it cannot reach."""
    links = _links(lab, down)
    living = [name for name in lab.views if name not in down.nodes]
    interfaces: Expected = {name: {} for name in living}
    for origin, view in lab.views.items():
        hops = dict(_towards(lab, links, origin)) if origin not in down.nodes else {}
        for prefix in announced(lab, view):
            for node in living:
                if node != origin:
                    interfaces[node][prefix] = hops.get(node, frozenset())
    return interfaces


def _links(lab: Blueprint, down: Down) -> dict[str, dict[str, list[str]]]:
    """Node → neighbor → its interfaces towards it, over sessions that live."""
    wires = {end: wire for wire in lab.wires for end in (wire.a, wire.b)}
    links: dict[str, dict[str, list[str]]] = {name: {} for name in lab.views}
    for session in sessions(lab):
        if session.kind != UNDERLAY or {session.node, session.peer_node} & down.nodes:
            continue
        if wires.get(End(session.node, session.interface)) in down.cables:
            continue
        links[session.node].setdefault(session.peer_node, []).append(session.interface)
    return links


def _towards(
    lab: Blueprint, links: Mapping[str, Mapping[str, Collection[str]]], origin: str
) -> Iterator[tuple[str, frozenset[str]]]:
    paths: dict[str, frozenset[int]] = {origin: frozenset()}  # AS numbers of the path, by node that is reached
    ring = [origin]
    while ring:
        taken: dict[str, list[str]] = {}
        for node in ring:
            if node != origin and lab.views[node].device.role == LEAF:
                continue
            for neighbor in links[node]:
                own_asn = lab.views[neighbor].device.asn
                if neighbor not in paths and own_asn not in paths[node] and own_asn != lab.views[node].device.asn:
                    taken.setdefault(neighbor, []).append(node)
        for node, nexts in taken.items():
            best = min(nexts)
            paths[node] = paths[best] | {lab.views[best].device.asn}
            max_paths = lab.views[node].underlay.max_paths
            interfaces = sorted(name for other in nexts for name in links[node].get(other, ()))
            yield node, frozenset(interfaces[:max_paths])
        ring = list(taken)
