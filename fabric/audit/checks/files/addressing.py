"""Addresses: on the interfaces that the plan gives them, and two ends to every point-to-point subnet."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import ClassVar

from fabric.audit.checks import (
    ERROR,
    NOTE,
    About,
    FilesCheck,
    Finding,
    Merge,
    Network,
    Owner,
    Subject,
    is_management,
    place,
    without_prefix_length,
)
from fabric.audit.checks.files.duplicates import is_reused, of_other_names, repeated
from fabric.model.facts import MANAGEMENT, Facts


class Addresses(FilesCheck):
    """Compares the addresses of interfaces, anycast gateways and loopbacks with the plan.

    An interface with a wrong address disconnects its link: the neighbor's BGP session expects the planned address.
    """

    id = "FAB251"
    title = "Interfaces have the planned addresses"
    severity = ERROR
    example = "`ip address 10.64.0.5/31` on Ethernet1/1; the plan has 10.64.0.3/31"
    remediation = "run `fabric generate` to restore the file, or change `pools` (of a loopback `pins`) in the intent"
    kinds: ClassVar = ("addresses", "gateways", "loopbacks")


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
                yield from self._crowd(network, net, members)

    def _alone(self, network: Network, net: str, owner: Owner) -> Iterator[Finding]:
        """A server's side is in no switch config; a device that was read and is named at the port should be there."""
        if owner.interface.enabled and not owner.interface.enabled.value:
            return
        description = owner.interface.description.value if owner.interface.description else ""
        mine = f"{owner.interface.name}: {owner.fact.value}"
        for other in self._other_length(network, net, owner):
            there = f"{other.fact.value} on {other.facts.name} {other.interface.name} ({place(other.fact)})"
            yield self.finding_at(
                owner.facts,
                owner.fact,
                f"{mine} and {there} have different prefix lengths",
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

    def _crowd(self, network: Network, net: str, members: list[Owner]) -> Iterator[Finding]:
        """Those that no other member has a session with are to blame; all of them where sessions do not tell."""
        met = [own for own in members if any(_speaks(other, own) for other in members if other is not own)]
        for owner in [own for own in members if own not in met] or members:
            others = ", ".join(f"{own.facts.name} {own.interface.name}" for own in members if own is not owner)
            yield self.finding_at(
                owner.facts,
                owner.fact,
                f"{owner.interface.name}: {owner.fact.value} is one of {len(members)} addresses in {net}; also on {others}",
                about=_between(owner, *(own.facts for own in members if own is not owner)),
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
