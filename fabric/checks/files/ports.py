"""Ports: both ends of a cable alike, and each in the table and the VLANs that the plan has it in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from fabric.checks import ERROR, WARNING, End, FilesCheck, Finding, Network, odd_ones, place
from fabric.facts import Facts, Interface, Located

PHYSICAL = re.compile(r"(?:Ethernet|et-|xe-|ge-|swp|eth)\d", re.I)


class Mtu(FilesCheck):
    """A packet that fits one end of a link and not the other is dropped without a word; small packets pass, so the link
    looks well, BGP comes up, and the first collective hangs."""

    id = "FAB254"
    title = "Both ends of a link have one MTU"
    severity = ERROR
    remediation = "set the MTU of the fabric on both ends"
    kinds: ClassVar = ("mtu", "frame")

    def judge(self, network: Network) -> Iterator[Finding]:
        ends = [end for pair in network.links for end in pair if end.interface.mtu]
        counts = Counter(end.interface.mtu.value for end in ends if end.interface.mtu)
        told: set[int] = set()
        for a, b in network.links:
            if a.interface.mtu and b.interface.mtu and a.interface.mtu.value != b.interface.mtu.value:
                pair = ((a, b), (b, a)) if counts[a.interface.mtu.value] <= counts[b.interface.mtu.value] else ((b, a),)
                alike = counts[a.interface.mtu.value] == counts[b.interface.mtu.value]
                for own, far in pair if alike else pair[:1]:
                    told.add(id(own.interface))
                    assert own.interface.mtu
                    assert far.interface.mtu
                    where = f"{far.interface.mtu.value} at {far} ({place(far.interface.mtu)})"
                    yield self.on(
                        own.facts, own.interface.mtu, f"{own.interface.name}: MTU {own.interface.mtu.value}, but {where}"
                    )
        for facts in network.devices:
            yield from self._odd(facts, told)

    def _odd(self, facts: Facts, told: set[int]) -> Iterator[Finding]:
        """The one port of many of its kind whose MTU differs."""
        kinds: dict[tuple[object, ...], list[tuple[int, Interface]]] = {}
        sliced = {name.rpartition(".")[0] for name in facts.interfaces}
        for interface in facts.interfaces.values():
            if interface.mtu and _up(interface):
                kind = (*kind_of(interface), interface.name in sliced)
                kinds.setdefault(kind, []).append((interface.mtu.value, interface))
        for rows in kinds.values():
            usual, odd = odd_ones(rows) if len(rows) > 3 else (None, [])
            for value, interface in odd:
                if id(interface) not in told:
                    count = sum(1 for other, _ in rows if other == usual)
                    message = f"{interface.name}: MTU {value}, but {usual} on {count} other ports of its kind"
                    yield self.on(facts, interface.mtu, message, severity=WARNING)


def kind_of(interface: Interface) -> tuple[object, ...]:
    """What ports are alike in that should have one MTU: kind of interface, table, layer, length of the subnet."""
    stem = re.match(r"[A-Za-z]+", interface.name)
    bridged = "trunk" if interface.trunk else "access" if interface.access else ""  # a tag may count towards the MTU
    layer = interface.addresses[0].value.rpartition("/")[2] if interface.addresses else bridged
    return stem[0].lower() if stem else "", bool(interface.vrf), layer, bool(interface.bond), bool(interface.tag)


def _up(interface: Interface) -> bool:
    return interface.enabled is None or interface.enabled.value


class Membership(FilesCheck):
    """The VRF, VLAN, bond or filter of a port decides whose server is behind it: a port in the wrong one puts a server
    into another tenant's network, or into none."""

    id = "FAB270"
    title = "Ports are in the VRF, VLANs and bonds of the plan, behind its filters"
    severity = ERROR
    remediation = "`fabric generate` writes the file again"
    kinds: ClassVar = ("vrf", "tag", "access", "trunk", "bond", "filters")

    def judge(self, network: Network) -> Iterator[Finding]:
        """Without a plan: tags at the two ends of a link, and VRFs that the device does not have."""
        for a, b in network.links:
            mine, theirs = a.interface.tag, b.interface.tag
            if mine and theirs and mine.value != theirs.value:
                yield self.on(
                    a.facts, mine, f"{a.interface.name}: VLAN tag {mine.value}, but {theirs.value} at {b} ({place(theirs)})"
                )


class State(FilesCheck):
    """A port that is shut carries nothing, one that is open and spare is a way in, and two ends of different speed never
    come up."""

    id = "FAB271"
    title = "Ports in use are on, spare ones off, and both ends have one speed"
    severity = ERROR
    remediation = "`no shutdown` where a cable is, `shutdown` where none is, one speed at both ends"
    kinds: ClassVar = ("enabled", "speed")

    def judge(self, network: Network) -> Iterator[Finding]:
        for a, b in network.links:
            for own, far in ((a, b), (b, a)):
                if own.interface.enabled and not own.interface.enabled.value and _up(far.interface):
                    yield self.on(
                        own.facts, own.interface.enabled, f"{own.interface.name}: shut, but {far} at its other end is not"
                    )
            mine, theirs = a.interface.speed_gbps, b.interface.speed_gbps
            if mine and theirs and mine.value != theirs.value:
                yield self.on(
                    a.facts, mine, f"{a.interface.name}: {mine.value}G, but {theirs.value}G at {b} ({place(theirs)})"
                )


class Cabling(FilesCheck):
    """Descriptions are how people find the other end of a cable; two that contradict each other send someone to the
    wrong rack at night."""

    id = "FAB279"
    title = "Descriptions of both ends name each other"
    severity = WARNING
    remediation = "write the far end's name and port into the description"

    def judge(self, network: Network) -> Iterator[Finding]:
        for members in network.subnets.values():
            if len(members) != 2 or members[0].facts is members[1].facts:
                continue
            for own, far in (members, members[::-1]):
                text = own.interface.description
                if not text or own.interface.tag:
                    continue
                named = network.named(own.facts, text.value)
                if named is not None and named is not far.facts:
                    end = End(far.facts, far.interface)
                    got = f"the description names {named.name}, but its subnet is that of {end} ({place(far.said)})"
                    yield self.on(own.facts, Located(None, text.line, text.file), f"{own.interface.name}: {got}")
