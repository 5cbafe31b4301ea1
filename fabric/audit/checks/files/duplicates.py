"""Addresses that several interfaces have: by mistake, in separate networks, or on purpose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from ipaddress import ip_address

from fabric.audit.checks import (
    ERROR,
    NOTE,
    WARNING,
    About,
    FilesCheck,
    Finding,
    Merge,
    Network,
    Owner,
    is_loopback,
    is_management,
    network_of,
    place,
    vlan_of,
    without_prefix_length,
)
from fabric.base.grouping import grouped
from fabric.base.text import plural
from fabric.model.facts import Facts, Vni, Vrf

MANY = 3  # addresses that two devices have in common before they look like copies


class OneOwner(FilesCheck):
    """Compares the addresses of all devices within each VRF.

    If two devices have the same address, both answer ARP requests for it: sessions flap, and traffic reaches the wrong
    rack (RFC 5227 covers hosts). Where the neighbor of one of them expects the address, only the other one is reported.
    Anycast gateways, shared VTEP addresses of a pair and anycast loopbacks are exempt.
    """

    id = "FAB252"
    title = "No address is configured twice"
    severity = ERROR
    else_severity = "warning if it is not certain that both are in one network, and on host ports of more than two devices"
    example = "`ip address 10.64.0.5/31` on leaf001 Ethernet1/1 and on leaf007 Ethernet1/1"
    remediation = "change the address on one of the two devices"
    copies = "change the addresses of one device; check separate networks, or two versions of a network, in separate runs"
    virtual = "configure unique management addresses, unless all devices are virtual devices in a lab"
    reused = "number the links of each network from a prefix of its own, before their routes meet"

    def check(self, network: Network) -> Iterator[Finding]:
        pairs: dict[tuple[int, int], list[tuple[Owner, Owner]]] = {}
        links: dict[str, list[Owner]] = {}
        gateways: set[int] = set()
        duplicates = list(_duplicates(network))
        members = _members(network) if duplicates else {}
        for address, same in duplicates:
            if (net := _reused_link(network, same, members)) is not None:
                links.setdefault(net, same)
            elif _behind_nat(network, same):
                got = f"{address} is the management address of all {len(same)} devices"
                yield self.finding_at(same[0].facts, same[0].fact, got, hint=self.virtual, severity=NOTE)
            else:
                if _to_hosts(network, same):
                    gateways |= {id(owner.fact) for owner in same}
                for owner, other in _blamed(network, address, same):
                    pairs.setdefault((id(owner.facts), id(other.facts)), []).append((owner, other))
        managed = _managed(pairs) if len(pairs) >= MANY else set()
        for rows in pairs.values():
            unsure = gateways | managed
            certain = [id(owner.fact) not in unsure and _can_meet(network, owner, other) for owner, other in rows]
            yield from self._pair(rows, ["" if is_certain else WARNING for is_certain in certain])
        if links:
            yield self._links(links)

    def _links(self, links: Mapping[str, Sequence[Owner]]) -> Finding:
        """All subnets that several links have: each link works, and routes to it may lead to another."""
        net, same = next(iter(links.items()))
        owner, other, *_ = same
        where = f"{owner.interface.name} and {other.facts.name} {other.interface.name} ({place(other.fact)})"
        got = f"{net} is the subnet of {'two' if len(same) == 2 else len(same)} links, on {where}"
        if len(links) > 1:
            got = f"{plural(len(links), 'subnet')} of links are used on two links each; the first is {net}, on {where}"
        return self.finding_at(owner.facts, owner.fact, got, hint=self.reused, severity=WARNING)

    def _pair(self, rows: Sequence[tuple[Owner, Owner]], severities: Sequence[str]) -> Iterator[Finding]:
        """Two devices with many addresses in common are reported once."""
        owner, other = rows[0]
        about = About(devices=(other.facts.name,))
        where = f"{other.facts.name} {other.interface.name} ({place(other.fact)})"
        if len(rows) > MANY:
            first = f"the first is {without_prefix_length(owner.fact.value)} on {where}"
            got = f"{len(rows)} addresses are also configured on {other.facts.name}; {first}"
            got, severity = f"{owner.interface.name}: {got}", WARNING if WARNING in severities else ""
            yield self.finding_at(owner.facts, owner.fact, got, hint=self.copies, severity=severity, about=about)
            return
        for (owner, other), severity in zip(rows, severities, strict=True):
            where = f"{other.facts.name} {other.interface.name} ({place(other.fact)})"
            got = f"{without_prefix_length(owner.fact.value)} is also configured on {where}"
            vrf, ports = f" in VRF {owner.vrf}" if owner.vrf else "", (_port(owner), _port(other))
            merge = Merge(
                text=f"{without_prefix_length(owner.fact.value)} is configured{vrf} on {{names}}", names=ports, most=3
            )
            yield self.finding_at(
                owner.facts, owner.fact, f"{owner.interface.name}: {got}", severity=severity, about=about, merge=merge
            )


def _managed(pairs: Mapping[tuple[int, int], Sequence[tuple[Owner, Owner]]]) -> set[int]:
    """Management addresses, by `id()` of the fact, if many pairs of devices have them in common: two sites with one range."""
    rows = [row for same in pairs.values() for row in same if all(is_management(own.interface.name) for own in row)]
    several = len({frozenset(id(own.facts) for own in row) for row in rows}) >= MANY
    return {id(own.fact) for row in rows for own in row} if several else set()


def _port(owner: Owner) -> str:
    return f"{owner.facts.name} {owner.interface.name} ({place(owner.fact)})"


def _duplicates(network: Network) -> Iterator[tuple[str, list[Owner]]]:
    """Addresses with the owners of one VRF that should not have them all."""
    for address, owners in network.owners.items():
        for members in grouped((owner.vrf, owner) for owner in owners).values() if len(owners) > 1 else ():
            same = of_other_names(members)
            if len(same) > 1 and not (_shared_on_purpose(address, same) or _of_separate_networks(network, same)):
                yield address, same


def repeated(network: Network) -> set[tuple[str, str]]:
    """(VRF, address) of what is configured twice and should not be."""
    return {(same[0].vrf, address) for address, same in _duplicates(network)}


def _blamed(network: Network, address: str, same: Sequence[Owner]) -> list[tuple[Owner, Owner]]:
    """(owner, another one): without the owner that its neighbor expects to have the address, where there is one."""
    rightful = [owner for owner in same if _expected(network, owner, address)]
    if len(rightful) == 1:
        return [(owner, rightful[0]) for owner in same if owner is not rightful[0]]
    return [(owner, _other(network, owner, same)) for owner in same]


def _to_hosts(network: Network, owners: Sequence[Owner]) -> bool:
    """Whether an address may be the gateway of hosts on every leaf, which advertises routes of hosts alone.

    It is on ports of more than two devices in equal subnets, without an anycast gateway, cable or session there.
    """
    subnets = {owner.fact.value for owner in owners}
    interfaces = [owner.interface for owner in owners]
    ports = not any(is_loopback(port.name) or is_management(port.name) or port.gateways for port in interfaces)
    if len({id(owner.facts) for owner in owners}) < 3 or len(subnets) > 1 or not ports:
        return False
    net = network_of(subnets.pop())
    neighbor_addresses = (
        peer.peer for owner in owners for peer in owner.facts.neighbors() if not (peer.interface or peer.dynamic)
    )
    cabled = any(id(owner.interface) in network.cabled for owner in owners)
    return (
        net.num_addresses > 4
        and not cabled
        and not any(ip_address(without_prefix_length(peer)) in net for peer in neighbor_addresses)
    )


def _members(network: Network) -> dict[str, list[Owner]]:
    """Subnet → its members in all VRFs."""
    every = (owner for owners in network.owners.values() for owner in owners)
    return grouped((str(network_of(owner.fact.value)), owner) for owner in every)


def _reused_link(network: Network, owners: Sequence[Owner], members: Mapping[str, list[Owner]]) -> str | None:
    """A subnet that several links have, each its two ends: a point-to-point one, or two addresses on ports alone.

    The ends may be in different VRFs, as those of the links to customers are.
    """
    net = str(network_of(owners[0].fact.value))
    same = network.subnets.get((owners[0].vrf, net), [])
    if len(same) > 2 and (is_reused(same) or is_reused(of_other_names(same))):
        return net
    every = of_other_names(members[net])
    if same and len({own.vrf for own in every}) == 1:
        return None  # one end alone has the address of another link
    ports = not any(vlan_of(own.interface.name) or is_loopback(own.interface.name) for own in every)
    return net if ports and len({own.fact.value for own in every}) == 2 and is_reused(every) else None


def _can_meet(network: Network, one: Owner, other: Owner) -> bool:
    """Whether both addresses are certain to be in one network.

    Devices without a cable or session between them may be in two, and racks with a VLAN of their own have a subnet of
    their own.
    """
    return not (network.are_apart(one.facts, other.facts) or _own_segment(one, other))


def _own_segment(*owners: Owner) -> bool:
    """Whether the owners are anycast gateways of VLANs without a VNI."""
    for owner in owners:
        vlan = vlan_of(owner.interface.name)
        stretched = any(vni.vlan and vni.vlan.value == vlan for vni in owner.facts.vnis.values())
        if vlan is None or stretched or not owner.interface.gateways:
            return False
    return True


def _other(network: Network, owner: Owner, owners: Sequence[Owner]) -> Owner:
    """The owner to name beside one: the first that is not its partner, with which it may share the address."""
    others = [other for other in owners if other is not owner]
    return next((other for other in others if not _partners(network, owner, other)), others[0])


def _partners(network: Network, one: Owner, other: Owner) -> bool:
    """Whether two devices have a BGP session inside one AS, as an MLAG or vPC pair has over its peer link."""
    for process in one.facts.bgp.values():
        for peer in process.neighbors.values():
            inside = {"internal", process.asn.value if process.asn else None}
            far = network.remote_end(peer) if peer.remote_as and peer.remote_as.value in inside else None
            if far is not None and far.facts is other.facts:
                return True
    return False


def of_other_names(owners: list[Owner]) -> list[Owner]:
    """One owner of each host name and interface: two files of one host name are a finding of their own."""
    first: dict[str, int] = {}
    return [owner for owner in owners if first.setdefault(owner.facts.name.lower(), id(owner.facts)) == id(owner.facts)]


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
            return not any(speaks_by(owner, address) for owner in owners)
        return not tunnels and all(_beside_own(owner, address) for owner in owners)
    vlans = {vlan_of(owner.interface.name) for owner in owners}
    alike = None not in vlans and len(vlans) == len({owner.fact.value for owner in owners}) == 1
    return alike and not any(owner.interface.gateways for owner in owners)


def _borrowed(owners: list[Owner]) -> bool:
    """Unnumbered ports: a host address of a loopback, on its ports as well; a port of a /31 has an address of its own."""
    hosts = [owner for owner in owners if owner.fact.value.endswith(("/32", "/128"))]
    links = any(owner.fact.value.endswith(("/30", "/31", "/126", "/127")) for owner in owners)
    return not links and len(hosts) >= len(owners) - 1 and any(is_loopback(owner.interface.name) for owner in hosts)


def _of_separate_networks(network: Network, owners: list[Owner]) -> bool:
    """Addresses beside an anycast gateway, each in a network of its own that nothing joins to the others."""
    if not all(owner.interface.gateways for owner in owners) or len(network.separate_networks) < 2:
        return False
    return len({network.homes[id(owner.facts)] for owner in owners}) == len(owners)


def _expected(network: Network, owner: Owner, address: str) -> bool:
    """Whether the device at the other end of the cable has a neighbor with the address."""
    far = network.cabled.get(id(owner.interface))
    return far is not None and any(without_prefix_length(peer.peer) == address for peer in far.facts.neighbors())


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
        if is_loopback(name) and without_prefix_length(fact.value) != address and not fact.value.startswith(("127.", "::1/"))
    ]
    return bool(others) and not speaks_by(owner, address)


def speaks_by(owner: Owner, address: str) -> bool:
    """Whether a device speaks BGP by this address: an interface speaks by its first one, not by a secondary one."""
    facts = owner.facts
    speaks = {process.router_id.value for process in facts.bgp.values() if process.router_id}
    speaks |= {peer.source.value for peer in facts.neighbors() if peer.source}
    first = next((fact for fact in owner.interface.addresses if (":" in fact.value) == (":" in address)), owner.fact)
    names = {owner.interface.name, f"{owner.interface.name}.0"} if without_prefix_length(first.value) == address else set()
    return bool(speaks & {address, *names})


def is_reused(members: list[Owner]) -> bool:
    """Whether several pairs have the subnet, each its two ends: an address with two owners is another check's finding.

    The peer link of an MLAG pair has a VLAN of its own that leads nowhere else, so one subnet serves all pairs.
    """
    counts = Counter(without_prefix_length(own.fact.value) for own in members)
    return len(counts) <= 2 and len(set(counts.values())) == 1


def whose(subjects: Mapping[str, Sequence[tuple[Facts, Vni | Vrf]]], subject: str, targets: Collection[str]) -> str:
    """`; 65000:2 is that of VRF blue`: a route target that another VRF or VNI exports is no slip."""
    for other, rows in subjects.items():
        sent = {fact.value for _, table in rows for fact in table.exports}
        if other != subject and (shared := sorted(sent.intersection(targets))):
            return f"; {shared[0]} is that of {other}"
    return ""
