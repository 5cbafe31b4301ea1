"""Ports: both ends of a cable alike, and each in the table and the VLANs that the plan has it in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from fabric.audit.checks import ERROR, WARNING, End, FilesCheck, Finding, Network, is_up, odd_ones, place
from fabric.audit.checks.base import REGENERATE
from fabric.model.facts import Facts, Interface, Located


class Mtu(FilesCheck):
    """Compares the MTU of both ends of every link, and of similar ports of a device.

    A packet larger than the far end's MTU is dropped without an error. Small packets pass, so the link looks good, BGP
    comes up, and the first collective hangs.
    """

    id = "FAB254"
    title = "Both ends of a link have the same MTU"
    severity = ERROR
    example = "`mtu 9214` on leaf001 Ethernet1/1, `mtu 1500` on spine001 Ethernet1/1"
    remediation = "set the same MTU at both ends"
    kinds: ClassVar = ("mtu", "frame")

    def check(self, network: Network) -> Iterator[Finding]:
        ends = [end for pair in network.links for end in pair if end.interface.mtu]
        counts = Counter(end.interface.mtu.value for end in ends if end.interface.mtu)
        reported: set[int] = set()
        for a, b in network.links:
            if a.interface.mtu and b.interface.mtu and a.interface.mtu.value != b.interface.mtu.value:
                pair = ((a, b), (b, a)) if counts[a.interface.mtu.value] <= counts[b.interface.mtu.value] else ((b, a),)
                alike = counts[a.interface.mtu.value] == counts[b.interface.mtu.value]
                for near, far in pair if alike else pair[:1]:
                    reported.add(id(near.interface))
                    assert near.interface.mtu
                    assert far.interface.mtu
                    where = f"{far.interface.mtu.value} at {far} ({place(far.interface.mtu)})"
                    yield self.finding_at(
                        near.facts, near.interface.mtu, f"{near.interface.name}: MTU {near.interface.mtu.value}, but {where}"
                    )
        for facts in network.devices:
            yield from self._odd(facts, reported)

    def _odd(self, facts: Facts, reported: set[int]) -> Iterator[Finding]:
        """The one port of many of its kind whose MTU differs."""
        kinds: dict[tuple[object, ...], list[tuple[int, Interface]]] = {}
        sliced = {name.rpartition(".")[0] for name in facts.interfaces}
        for interface in facts.interfaces.values():
            if interface.mtu and is_up(interface):
                kind = (*kind_of(interface), interface.name in sliced)
                kinds.setdefault(kind, []).append((interface.mtu.value, interface))
        for rows in kinds.values():
            usual, odd = odd_ones(rows) if len(rows) > 3 else (None, [])
            for value, interface in odd:
                if id(interface) not in reported:
                    count = sum(1 for other, _ in rows if other == usual)
                    message = f"{interface.name}: MTU {value}, but {usual} on {count} other ports of the same kind"
                    yield self.finding_at(facts, interface.mtu, message, severity=WARNING)


def kind_of(interface: Interface) -> tuple[object, ...]:
    """What ports are alike in that should have one MTU: kind of interface, table, layer, length of the subnet."""
    stem = re.match(r"[A-Za-z]+", interface.name)
    bridged = "trunk" if interface.trunk else "access" if interface.access else ""  # a tag may count towards the MTU
    layer = interface.addresses[0].value.rpartition("/")[2] if interface.addresses else bridged
    return stem[0].lower() if stem else "", bool(interface.vrf), layer, bool(interface.bond), bool(interface.tag)


class Membership(FilesCheck):
    """Compares VRF, VLANs, bond and filter of every port with the plan; without a plan, the VLAN tags of both ends.

    These settings decide which tenant a server belongs to: with a wrong one it is in another tenant's network, or in
    none.
    """

    id = "FAB270"
    title = "Ports have the planned VRF, VLANs, bonds and filters"
    severity = ERROR
    example = "`vrf member blue` on Ethernet1/5; the plan has red"
    remediation = REGENERATE
    kinds: ClassVar = ("vrf", "tag", "access", "trunk", "bond", "filters")

    def check(self, network: Network) -> Iterator[Finding]:
        """Without a plan: tags at the two ends of a link, and VRFs that the device does not have."""
        for a, b in network.links:
            mine, theirs = a.interface.tag, b.interface.tag
            if mine and theirs and mine.value != theirs.value:
                yield self.finding_at(
                    a.facts, mine, f"{a.interface.name}: VLAN tag {mine.value}, but {theirs.value} at {b} ({place(theirs)})"
                )


class State(FilesCheck):
    """Compares the state of every port with the plan, and the speeds of both ends of every link.

    A port that is shut down carries no traffic, an enabled spare port is an access risk, and links with two speeds do not
    come up.
    """

    id = "FAB271"
    title = "Ports in use are enabled, spare ports are shut down, and both ends have the same speed"
    severity = ERROR
    example = "`shutdown` on Ethernet1/1 of leaf001; the far end is enabled"
    remediation = "set `no shutdown` on cabled ports, `shutdown` on spare ports, and the same speed at both ends"
    kinds: ClassVar = ("enabled", "speed")

    def check(self, network: Network) -> Iterator[Finding]:
        for a, b in network.links:
            for near, far in ((a, b), (b, a)):
                if near.interface.enabled and not near.interface.enabled.value and is_up(far.interface):
                    yield self.finding_at(
                        near.facts,
                        near.interface.enabled,
                        f"{near.interface.name}: shut down, but {far} at the far end is enabled",
                    )
            mine, theirs = a.interface.speed_gbps, b.interface.speed_gbps
            if mine and theirs and mine.value != theirs.value:
                yield self.finding_at(
                    a.facts, mine, f"{a.interface.name}: {mine.value}G, but {theirs.value}G at {b} ({place(theirs)})"
                )


class Cabling(FilesCheck):
    """Compares the port description of each end of a link with the device at the other end.

    Operators find the other end of a cable by its description; a wrong one sends them to the wrong rack.
    """

    id = "FAB279"
    title = "Port descriptions name the device at the far end"
    severity = WARNING
    example = "leaf001 Ethernet1/1: `description spine002`; the subnet leads to spine001"
    remediation = "set the description to the device name and port of the far end"

    def check(self, network: Network) -> Iterator[Finding]:
        for members in network.subnets.values():
            if len(members) != 2 or members[0].facts is members[1].facts:
                continue
            for near, far in (members, members[::-1]):
                text = near.interface.description
                if not text or near.interface.tag:
                    continue
                named = network.named(near.facts, text.value)
                if named is not None and named is not far.facts:
                    end = End(far.facts, far.interface)
                    got = f"the description names {named.name}, but the subnet leads to {end} ({place(far.fact)})"
                    yield self.finding_at(near.facts, Located(None, text.line, text.file), f"{near.interface.name}: {got}")
