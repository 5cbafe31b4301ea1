"""Interfaces: their addresses as planned, two ends to every subnet and cable alike, tables and VLANs of the plan."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from ipaddress import ip_network
from typing import ClassVar

from fabric.audit.checks import (
    ERROR,
    NOTE,
    WARNING,
    About,
    End,
    FilesCheck,
    Finding,
    Merge,
    Network,
    Owner,
    Subject,
    is_management,
    is_up,
    outliers,
    place,
    without_prefix_length,
)
from fabric.audit.checks.base import REGENERATE
from fabric.audit.checks.files.duplicates import is_reused, of_other_names, repeated
from fabric.model.facts import MANAGEMENT, Facts, Interface, Located

# --- addresses ------------------------------------------------------------------------------------------------


class Addresses(FilesCheck):
    """Compares the addresses of interfaces, anycast gateways and loopbacks with the plan, and the DHCP servers of gateways.

    An interface with a wrong address disconnects its link: the neighbor's BGP session expects the planned address.
    """

    id = "FAB251"
    title = "Interfaces have the planned addresses"
    severity = ERROR
    example = "`ip address 10.64.0.5/31` on Ethernet1/1; the plan has 10.64.0.3/31"
    remediation = "run `fabric generate` to restore the file, or change `pools` (of a loopback `pins`) in the intent"
    kinds: ClassVar = ("addresses", "gateways", "loopbacks", "relays")


class PointToPoint(FilesCheck):
    """Counts the interfaces in every /31, /30, /127 and /126.

    A /31 has two members, at the two ends of one cable (RFC 3021; RFC 6164 for /127). With one, the far end is missing.
    With three, an address or a cable is wrong, and ARP decides which device receives the packets. One address on two
    devices is left to FAB252.
    """

    id = "FAB253"
    title = "A point-to-point subnet has exactly two members"
    severity = ERROR
    example = "leaf001 has 10.64.0.0/31, spine001 at the other end has 10.64.0.3/31"
    remediation = "compare the addresses of both ends with the cabling, and correct the wrong address"

    def check(self, network: Network) -> Iterator[Finding]:
        twice = repeated(network)
        for (_, net), all_members in network.subnets.items():
            members = of_other_names(all_members)
            if len(members) == 1:
                yield from self._alone(network, net, members[0])
            reused = any(map(is_reused, (members, all_members)))
            if len(members) > 2 and not reused and not self._is_duplicate(members, twice):
                yield from self._crowd(net, members)

    def _alone(self, network: Network, net: str, owner: Owner) -> Iterator[Finding]:
        """A server's side is in no switch config; a device that was read and is named at the port should be there."""
        if owner.interface.enabled and not owner.interface.enabled.value:
            return
        description = owner.interface.description.value if owner.interface.description else ""
        mine = f"{owner.interface.name}: {owner.fact.value}"
        for other in self._other_length(network, net, owner):
            theirs = f"{other.fact.value} on {other.facts.name} {other.interface.name} ({place(other.fact)})"
            yield self.finding_at(
                owner.facts,
                owner.fact,
                f"{mine} and {theirs} have different prefix lengths",
                about=_between(owner, other.facts),
            )
            return
        far = network.named(owner.facts, description)
        if far is not None and owner.interface.tag is None and not self._in_other_vrf(network, net, far):
            got = f"{far.name}, named in the description, has no address in this subnet"
            yield self.finding_at(
                owner.facts, owner.fact, f"{mine} is the only address in {net}; {got}", about=_between(owner, far)
            )

    def _other_length(self, network: Network, net: str, owner: Owner) -> list[Owner]:
        """The other address of a subnet, where the far end takes it for one of another size."""
        return [
            other
            for address in ip_network(net)
            for other in network.owners.get(str(address), ())
            if other.facts is not owner.facts
            and other.vrf == owner.vrf
            and other.fact.value.partition("/")[2] not in (net.partition("/")[2], "32", "128")
        ]

    def _in_other_vrf(self, network: Network, net: str, far: Facts) -> bool:
        """A tenant's link to a router where it is in no VRF, or in one of another name."""
        return any(own.facts is far for (_, other), members in network.subnets.items() if other == net for own in members)

    def _is_duplicate(self, members: list[Owner], twice: set[tuple[str, str]]) -> bool:
        """Whether there are two addresses, one of them on several devices: that is another check's finding."""
        keys = {(owner.vrf, without_prefix_length(owner.fact.value)) for owner in members}
        return len(keys) <= 2 and not keys.isdisjoint(twice)

    def _crowd(self, net: str, members: list[Owner]) -> Iterator[Finding]:
        """Those that no other member has a session with are to blame; all of them where sessions do not tell."""
        met = [member for member in members if any(_speaks(other, member) for other in members if other is not member)]
        for owner in [member for member in members if member not in met] or members:
            others = ", ".join(f"{member.facts.name} {member.interface.name}" for member in members if member is not owner)
            yield self.finding_at(
                owner.facts,
                owner.fact,
                f"{owner.interface.name}: {owner.fact.value} is one of {len(members)} addresses in {net}; also on {others}",
                about=_between(owner, *(member.facts for member in members if member is not owner)),
            )


def _between(owner: Owner, *others: Facts) -> About:
    return About(
        subjects=(Subject(owner.interface.name),), got=owner.fact.value, devices=tuple(facts.name for facts in others)
    )


def _speaks(one: Owner, other: Owner) -> bool:
    """Whether both devices have a session with the other's address here."""
    forward = any(
        without_prefix_length(peer.peer) == without_prefix_length(other.fact.value) for peer in one.facts.neighbors()
    )
    return forward and any(
        without_prefix_length(peer.peer) == without_prefix_length(one.fact.value) for peer in other.facts.neighbors()
    )


class ManagementApart(FilesCheck):
    """Tests the VRF of every management port that has an address.

    A management port in the default VRF lets servers reach the switch's login, and fabric routes reach the management
    network.
    """

    id = "FAB288"
    title = "The management port is in its own VRF"
    severity = NOTE
    example = "`interface Management1` with an address and no VRF"
    remediation = "assign the port to the management VRF on the device"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for name, interface in facts.interfaces.items():
                apart = interface.vrf is not None and interface.vrf.value == MANAGEMENT
                cabled = id(interface) in network.cabled  # `eth0` of a virtual router is often a port like any other
                if is_management(name) and interface.addresses and not (apart or cabled):
                    message = f"{name}: management port in the default VRF"
                    merge = Merge(text="management port in the default VRF: {names}", names=(name,))
                    yield self.finding_at(facts, interface.addresses[0], message, merge=merge)


# --- ports ----------------------------------------------------------------------------------------------------


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
            usual, odd = outliers(rows) if len(rows) > 3 else (None, [])
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
