"""Addresses: on the interfaces that the plan gives them, one owner each, and two ends to every point-to-point subnet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from ipaddress import ip_address, ip_network
from typing import ClassVar

from fabric.checks import ERROR, NOTE, WARNING, About, FilesCheck, Finding, Network, Owner, Subject, bare, is_loopback, place
from fabric.checks.ends import network_of
from fabric.facts import MANAGEMENT, Facts
from fabric.grouping import grouped


class Addresses(FilesCheck):
    """Compares the addresses of interfaces, anycast gateways and loopbacks with the plan.

    An interface with a wrong address disconnects its link: the neighbor's BGP session expects the planned address.
    """

    id = "FAB251"
    title = "Interfaces have the planned addresses"
    severity = ERROR
    example = "`ip address 10.64.0.5/31` on Ethernet1/1; the plan has 10.64.0.3/31"
    remediation = "run `fabric generate` to restore the file, or set the address of the device under `pins` in the intent"
    kinds: ClassVar = ("addresses", "gateways", "loopbacks")


class OneOwner(FilesCheck):
    """Compares the addresses of all devices within each VRF.

    If two devices have the same address, both answer ARP requests for it: sessions flap, and traffic reaches the wrong
    rack (RFC 5227 covers hosts). Where the neighbor of one of them expects the address, only the other one is reported.
    Anycast gateways, shared VTEP addresses of a pair and anycast loopbacks are exempt.
    """

    id = "FAB252"
    title = "No address is configured twice"
    severity = ERROR
    else_severity = "warning on host ports of more than two devices"
    example = "`ip address 10.64.0.5/31` on leaf001 Ethernet1/1 and on leaf007 Ethernet1/1"
    remediation = "change the address on one of the two devices"
    copies = "change the addresses of one device; check separate networks, or two versions of a network, in separate runs"
    virtual = "configure unique management addresses, unless all devices are virtual devices in a lab"

    def judge(self, network: Network) -> Iterator[Finding]:
        pairs: dict[tuple[int, int], list[tuple[Owner, Owner]]] = {}
        gateways: set[int] = set()
        for address, owners in network.owners.items():
            by_vrf = grouped((owner.vrf, owner) for owner in owners)
            for same in by_vrf.values():
                same = _of_other_names(same)
                if len(same) < 2 or _shared_on_purpose(address, same) or _of_separate_networks(network, same):
                    continue
                if _behind_nat(network, same):
                    got = f"{address} is the management address of all {len(same)} devices"
                    yield self.on(same[0].facts, same[0].fact, got, hint=self.virtual, severity=NOTE)
                    continue
                if _to_hosts(network, same):
                    gateways |= {id(owner.fact) for owner in same}
                rightful = [owner for owner in same if _expected(network, owner, address)]
                if len(rightful) == 1:  # the others have its address
                    rows = [(owner, rightful[0]) for owner in same if owner is not rightful[0]]
                else:
                    rows = [(owner, _other(network, owner, same)) for owner in same]
                for owner, other in rows:
                    pairs.setdefault((id(owner.facts), id(other.facts)), []).append((owner, other))
        for rows in pairs.values():
            yield from self._pair(rows, WARNING if all(id(owner.fact) in gateways for owner, _ in rows) else "")

    def _pair(self, rows: list[tuple[Owner, Owner]], severity: str) -> Iterator[Finding]:
        """Two devices with several addresses in common are reported once."""
        owner, other = rows[0]
        where = f"{other.facts.name} {other.interface.name} ({place(other.fact)})"
        if len(rows) > 1 and owner.facts is not other.facts:
            first = f"the first is {bare(owner.fact.value)} on {where}"
            got = f"{len(rows)} addresses are also configured on {other.facts.name}; {first}"
            yield self.on(owner.facts, owner.fact, f"{owner.interface.name}: {got}", hint=self.copies, severity=severity)
            return
        for owner, other in rows:
            where = f"{other.facts.name} {other.interface.name} ({place(other.fact)})"
            got = f"{bare(owner.fact.value)} is also configured on {where}"
            yield self.on(owner.facts, owner.fact, f"{owner.interface.name}: {got}", severity=severity)


def _to_hosts(network: Network, owners: list[Owner]) -> bool:
    """Whether an address may be the gateway of hosts on every leaf, which advertises routes of hosts alone.

    It is on ports of more than two devices in equal subnets, without an anycast gateway, cable or session there.
    """
    subnets = {owner.fact.value for owner in owners}
    own = [owner.interface for owner in owners]
    ports = not any(is_loopback(port.name) or is_management(port.name) or port.gateways for port in own)
    if len({id(owner.facts) for owner in owners}) < 3 or len(subnets) > 1 or not ports:
        return False
    net = network_of(subnets.pop())
    spoken = (peer.peer for owner in owners for peer in owner.facts.neighbors() if not (peer.interface or peer.dynamic))
    cabled = any(id(owner.interface) in network.cabled for owner in owners)
    return net.num_addresses > 4 and not cabled and not any(ip_address(bare(peer)) in net for peer in spoken)


def _other(network: Network, owner: Owner, owners: Sequence[Owner]) -> Owner:
    """The owner to name beside one: the first that is not its partner, with which it may share the address."""
    others = [other for other in owners if other is not owner]
    return next((other for other in others if not _partners(network, owner, other)), others[0])


def _partners(network: Network, one: Owner, other: Owner) -> bool:
    """Whether two devices have a BGP session inside one AS, as an MLAG or vPC pair has over its peer link."""
    for process in one.facts.bgp.values():
        for peer in process.neighbors.values():
            inside = {"internal", process.asn.value if process.asn else None}
            far = network.far(peer) if peer.remote_as and peer.remote_as.value in inside else None
            if far is not None and far.facts is other.facts:
                return True
    return False


def _of_other_names(owners: list[Owner]) -> list[Owner]:
    """One owner of each host name and interface: two files of one host name are a finding of their own."""
    first: dict[str, int] = {}
    return [owner for owner in owners if first.setdefault(owner.facts.name.lower(), id(owner.facts)) == id(owner.facts)]


def is_management(name: str) -> bool:
    """Whether an interface name is that of a management port."""
    return name.lower().startswith(("management", "mgmt", "eth0", "re0:mgmt", "fxp0", "em0", "me0"))


def _behind_nat(network: Network, owners: list[Owner]) -> bool:
    """Virtual switches in a lab each have the same address behind a NAT of their own: all of them, not two."""
    return 2 < len(owners) == len(network.devices) and all(is_management(owner.interface.name) for owner in owners)


def _shared_on_purpose(address: str, owners: list[Owner]) -> bool:
    """Whether several interfaces are to have an address.

    A tunnel address that a pair answers for, an anycast loopback, a gateway that is spelled as an ordinary address, or the
    loopback address that the ports of one device borrow.
    """
    if len({id(owner.facts) for owner in owners}) == 1:
        return _borrowed(owners)
    if len({id(owner.facts) for owner in owners}) < len(owners):
        return False
    if all(is_loopback(owner.interface.name) for owner in owners):
        tunnels = [owner for owner in owners if _tunnels(owner, address)]
        if len(owners) == len(tunnels) == 2:
            return not any(_speaks_by(owner, address) for owner in owners)
        return not tunnels and all(_beside_own(owner, address) for owner in owners)
    names = [re.fullmatch(r"(?:vlan|irb|bvi|br|ve)\D*(\d+)", owner.interface.name.lower()) for owner in owners]
    alike = len({name[1] for name in names if name}) == len({owner.fact.value for owner in owners}) == 1
    return all(names) and alike and not any(owner.interface.gateways for owner in owners)


def _borrowed(owners: list[Owner]) -> bool:
    """Unnumbered ports: a host address of a loopback, on its ports as well; a port of a /31 has an address of its own."""
    hosts = [owner for owner in owners if owner.fact.value.endswith(("/32", "/128"))]
    links = any(owner.fact.value.endswith(("/30", "/31", "/126", "/127")) for owner in owners)
    return not links and len(hosts) >= len(owners) - 1 and any(is_loopback(owner.interface.name) for owner in hosts)


def _of_separate_networks(network: Network, owners: list[Owner]) -> bool:
    """Addresses beside an anycast gateway, each in a network of its own that nothing joins to the others."""
    if not all(owner.interface.gateways for owner in owners) or len(network.islands) < 2:
        return False
    homes = {id(facts): number for number, island in enumerate(network.islands) for facts in island.devices}
    return len({homes[id(owner.facts)] for owner in owners}) == len(owners)


def _expected(network: Network, owner: Owner, address: str) -> bool:
    """Whether the device at the other end of the cable has a neighbor with the address."""
    far = network.cabled.get(id(owner.interface))
    return far is not None and any(bare(peer.peer) == address for peer in far.facts.neighbors())


def _tunnels(owner: Owner, address: str) -> bool:
    vtep = owner.facts.vtep
    return vtep is not None and vtep.value.removesuffix(".0") in (owner.interface.name, address)


def _beside_own(owner: Owner, address: str) -> bool:
    """Whether a device has another loopback and does not speak BGP by this one: rendezvous points, anycast DNS."""
    facts = owner.facts
    others = [
        fact
        for name, interface in facts.interfaces.items()
        for fact in interface.addresses
        if is_loopback(name) and bare(fact.value) != address and not fact.value.startswith(("127.", "::1/"))
    ]
    return bool(others) and not _speaks_by(owner, address)


def _speaks_by(owner: Owner, address: str) -> bool:
    """Whether a device speaks BGP by this address: an interface speaks by its first one, not by a secondary one."""
    facts = owner.facts
    speaks = {process.router_id.value for process in facts.bgp.values() if process.router_id}
    speaks |= {peer.source.value for peer in facts.neighbors() if peer.source}
    first = next((fact for fact in owner.interface.addresses if (":" in fact.value) == (":" in address)), owner.fact)
    names = {owner.interface.name, f"{owner.interface.name}.0"} if bare(first.value) == address else set()
    return bool(speaks & {address, *names})


class PointToPoint(FilesCheck):
    """Counts the interfaces in every /31, /30, /127 and /126.

    A /31 has two members, at the two ends of one cable (RFC 3021; RFC 6164 for /127). With one, the far end is missing.
    With three, an address or a cable is wrong, and ARP decides which device receives the packets.
    """

    id = "FAB253"
    title = "A point-to-point subnet has exactly two members"
    severity = ERROR
    example = "leaf001 has 10.64.0.0/31, spine001 at the other end has 10.64.0.3/31"
    remediation = "compare the addresses of both ends with the cabling, and correct the wrong address"

    def judge(self, network: Network) -> Iterator[Finding]:
        for (_, net), all_members in network.subnets.items():
            members = _of_other_names(all_members)
            if len(members) == 1:
                yield from self._alone(network, net, members[0])
            elif len(members) > 2 and not (_reused(members) or _reused(all_members)):
                yield from self._crowd(network, net, members)

    def _alone(self, network: Network, net: str, owner: Owner) -> Iterator[Finding]:
        """A server's side is in no switch config; a device that was read and is named at the port should be there."""
        if owner.interface.enabled and not owner.interface.enabled.value:
            return
        description = owner.interface.description.value if owner.interface.description else ""
        mine = f"{owner.interface.name}: {owner.fact.value}"
        for other in self._other_length(network, net, owner):
            there = f"{other.fact.value} on {other.facts.name} {other.interface.name} ({place(other.fact)})"
            yield self.on(
                owner.facts,
                owner.fact,
                f"{mine} and {there} have different prefix lengths",
                about=_between(owner, other.facts),
            )
            return
        far = network.named(owner.facts, description)
        if far is not None and owner.interface.tag is None and not self._in_other_vrf(network, net, far):
            got = f"{far.name}, named in the description, has no address in this subnet"
            yield self.on(owner.facts, owner.fact, f"{mine} is the only address in {net}; {got}", about=_between(owner, far))

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

    def _crowd(self, network: Network, net: str, members: list[Owner]) -> Iterator[Finding]:
        """Those that no other member has a session with are to blame; all of them where sessions do not tell."""
        met = [own for own in members if any(_speaks(other, own) for other in members if other is not own)]
        for owner in [own for own in members if own not in met] or members:
            others = ", ".join(f"{own.facts.name} {own.interface.name}" for own in members if own is not owner)
            yield self.on(
                owner.facts,
                owner.fact,
                f"{owner.interface.name}: {owner.fact.value} is one of {len(members)} addresses in {net}; also on {others}",
                about=_between(owner, *(own.facts for own in members if own is not owner)),
            )


def _between(owner: Owner, *others: Facts) -> About:
    return About((Subject(owner.interface.name),), got=owner.fact.value, devices=tuple(facts.name for facts in others))


def _reused(members: list[Owner]) -> bool:
    """Whether several pairs have the subnet, each its two ends: that some address has two owners is another check's word.

    The peer link of an MLAG pair has a VLAN of its own that leads nowhere else, so one subnet serves all pairs.
    """
    counts = Counter(bare(own.fact.value) for own in members)
    return len(counts) <= 2 and len(set(counts.values())) == 1


def _speaks(one: Owner, other: Owner) -> bool:
    """Whether both devices have a session with the other's address here."""
    forward = any(bare(peer.peer) == bare(other.fact.value) for peer in one.facts.neighbors())
    return forward and any(bare(peer.peer) == bare(one.fact.value) for peer in other.facts.neighbors())


class ManagementApart(FilesCheck):
    """Tests the VRF of every management port that has an address.

    A management port in the default VRF lets servers reach the switch's login, and fabric routes reach the management
    network.
    """

    id = "FAB288"
    title = "The management port is in its own VRF"
    severity = "warning"
    example = "`interface Management1` with an address and no VRF"
    remediation = "set `management: {vrf: true}` in the intent, or assign the port to the management VRF on the device"

    def judge(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for name, interface in facts.interfaces.items():
                apart = interface.vrf is not None and interface.vrf.value == MANAGEMENT
                cabled = id(interface) in network.cabled  # `eth0` of a virtual router is often a port like any other
                if is_management(name) and interface.addresses and not (apart or cabled):
                    yield self.on(facts, interface.addresses[0], f"{name}: expected the management VRF, got the default VRF")
