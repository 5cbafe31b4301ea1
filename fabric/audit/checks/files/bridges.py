"""Bridges: VLANs that a switch passes on to another one, as out-of-band switches do, and the way to their gateways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from fabric.audit.checks import ERROR, About, End, FilesCheck, Finding, Network, is_up
from fabric.audit.checks.ends import vlan_of
from fabric.base.text import listed
from fabric.model.facts import Facts, Interface, Located

SHOWN = 3


class Trunk(NamedTuple):
    """A cable between two switches that were read, by the VLANs of its ends."""

    a: End
    b: End
    here: frozenset[int]
    there: frozenset[int]


class WayToGateway(FilesCheck):
    """Follows the VLAN of every port of a bridge over cables and bonds to a switch that has its gateway.

    A switch without a routed interface in a VLAN only passes it on. Where one trunk on the way leaves the VLAN out, no
    controller and no management port behind it answers, while every link is up. A VLAN in VXLAN, and one without a gateway
    among the files, are left out.
    """

    id = "FAB2531"
    title = "The VLANs of a bridge reach their gateways"
    severity = ERROR
    example = "VLAN 200 on port-channel53 of oob-leaf001; the bond of core-leaf001 carries VLAN 201 alone"
    remediation = "carry the VLAN on both ends of every link between the port and its gateway"
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        if network.planned:
            return
        gateways = {id(facts): _gateways(facts) for facts in network.devices}
        tunnels = {id(facts): {vni.vlan.value for vni in facts.vnis.values() if vni.vlan} for facts in network.devices}
        known = frozenset(vlan for vlans in gateways.values() for vlan in vlans)
        carried = {id(facts): _carried(facts) for facts in network.devices}
        bridges = [
            (facts, vlan)
            for facts in network.devices
            for vlan in sorted(known.intersection(carried[id(facts)]) - gateways[id(facts)] - tunnels[id(facts)])
        ]
        if not bridges:
            return
        trunks = list(_trunks(network))
        for facts, vlan in bridges:
            reached = _reached(facts, vlan, trunks)
            if not any(vlan in gateways[one] or vlan in tunnels[one] for one in reached):
                yield from self._ends(facts, vlan, carried[id(facts)][vlan], reached, trunks)

    def _ends(
        self, facts: Facts, vlan: int, ports: list[tuple[Interface, Located[int]]], reached: set[int], trunks: list[Trunk]
    ) -> Iterator[Finding]:
        """Where the way ends: at a cable of which one end has the VLAN, else at the switch itself."""
        cut = next(
            (trunk for trunk in trunks if (vlan in trunk.here) != (vlan in trunk.there) and _beside(trunk, reached)), None
        )
        ends = [end.interface for its in trunks for end in (its.a, its.b) if end.facts is facts]
        cables = {name for port in ends for name in (port.name, port.bond.value if port.bond else "")}
        beyond = [port for port, _ in ports if port.name not in cables and not port.bond]
        if not any(facts in (its.a.facts, its.b.facts) for its in trunks):
            return  # its way up is in no file
        behind = listed([_words(port) for port in beyond], SHOWN)
        why = f"{_without(cut, vlan)} does not carry it" if cut else "no cable of this switch carries it on"
        about = About(devices=tuple(sorted({end.facts.name for end in (cut.a, cut.b)} - {facts.name})) if cut else ())
        text = f"VLAN {vlan} reaches no gateway: {why}"
        yield self.finding_at(facts, ports[0][1], f"{text}; behind it {behind}" if behind else text, about=about)


def _gateways(facts: Facts) -> frozenset[int]:
    """VLANs that the switch routes."""
    ports = facts.interfaces.values()
    vlans = (port.tag.value if port.tag else vlan_of(port.name) for port in ports if port.addresses or port.gateways)
    return frozenset(vlan for vlan in vlans if vlan)


def _carried(facts: Facts) -> dict[int, list[tuple[Interface, Located[int]]]]:
    """VLAN → the ports of a switch that have it, each with its line."""
    found: dict[int, list[tuple[Interface, Located[int]]]] = {}
    for port in facts.interfaces.values():
        for fact in (*([port.access] if port.access else []), *port.trunk):
            if is_up(port):
                found.setdefault(fact.value, []).append((port, fact))
    return found


def _vlans(end: End) -> frozenset[int]:
    """VLANs of a port, or of its bond."""
    port = end.interface
    port = end.facts.interfaces.get(port.bond.value, port) if port.bond else port
    return frozenset(fact.value for fact in (*([port.access] if port.access else []), *port.trunk))


def _trunks(network: Network) -> Iterator[Trunk]:
    for a, b in network.links:
        here, there = _vlans(a), _vlans(b)
        if (here or there) and is_up(a.interface) and is_up(b.interface):
            yield Trunk(a, b, here, there)


def _reached(facts: Facts, vlan: int, trunks: list[Trunk]) -> set[int]:
    """`id()` of the switches that a VLAN of one of them reaches."""
    import networkx  # it takes its time

    graph = networkx.Graph([(id(its.a.facts), id(its.b.facts)) for its in trunks if vlan in its.here & its.there])
    return set(networkx.node_connected_component(graph, id(facts))) if id(facts) in graph else {id(facts)}


def _beside(trunk: Trunk, reached: set[int]) -> bool:
    return id(trunk.a.facts) in reached or id(trunk.b.facts) in reached


def _without(trunk: Trunk, vlan: int) -> str:
    """The end that does not have the VLAN."""
    return str(trunk.b if vlan in trunk.here else trunk.a)


def _words(port: Interface) -> str:
    return f"{port.name} ({port.description.value})" if port.description else port.name
