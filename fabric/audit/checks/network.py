"""The facts of many devices together: who has which address, what is cabled to what, which sessions belong together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any, TypeVar, cast

from fabric.audit.checks.compare_with_plan import Difference
from fabric.audit.checks.ends import (
    End,
    Ends,
    Owner,
    RemoteEnd,
    Subnets,
    is_enabled,
    is_link,
    subnet_of,
    vlan_of,
    vrf_of,
    within,
    without_prefix_length,
)
from fabric.audit.checks.role_peers.outline import Refused
from fabric.base.grouping import grouped
from fabric.model.facts import MANAGEMENT, Bgp, Facts, Interface, Located, Neighbor
from fabric.nos.statements.names import Name
from fabric.nos.statements.syntax import Place

# --- what most devices have alike -----------------------------------------------------------------------------

T = TypeVar("T")
V = TypeVar("V", bound=Hashable)


@lru_cache(maxsize=1 << 16)  # names of devices
def role(name: str) -> str:
    """Devices of one role differ in numbers alone: `backend-leaf001` and `backend-leaf002`."""
    return re.sub(r"\d+", "", name)


def place(fact: Located[T]) -> str:
    """`configs/leaf1/frr.conf:12`."""
    return f"{fact.file}:{fact.line}" if fact.line else fact.file


def outliers(values: Iterable[tuple[V, T]]) -> tuple[V | None, list[tuple[V, T]]]:
    """What most have, and those that have something else; of two, neither can be believed, so both are odd.

    Nothing is odd where more than a quarter differ: then there is no rule to break.
    """
    rows = list(values)
    counts = Counter(value for value, _ in rows)
    if len(counts) < 2:
        return None, []
    usual, most = max(counts.items(), key=lambda item: (item[1], str(item[0])))
    others = [row for row in rows if row[0] != usual]
    if len(rows) == 2:
        return usual, rows
    return (usual, others) if len(others) <= max(1, len(rows) // 4) and most > len(others) else (None, [])


# --- separate networks of a site ------------------------------------------------------------------------------


def components(network: Network) -> Sequence[Sequence[Facts]]:
    """The groups that cables and sessions join, in the order of their first devices; one group if fewer than two.

    Switches without sessions are a network by their names: each is the only one of its fabric.
    """
    parent = {id(facts): id(facts) for facts in network.devices}

    def root(key: int) -> int:
        while parent[key] != key:
            parent[key] = key = parent[parent[key]]
        return key

    pairs = [(a.facts, b.facts) for a, b in network.links]
    pairs += [(facts, far.facts) for facts, _, peer in network.sessions() if (far := network.remote_end(peer))]
    for facts, other in pairs:
        parent[root(id(other))] = root(id(facts))
    groups = grouped((root(id(facts)), facts) for facts in network.devices)
    joined = [group for group in groups.values() if len(group) > 1]
    alone = [group[0] for group in groups.values() if len(group) == 1]
    roles = {role(facts.name): group for group in reversed(joined) for facts in group}
    single = grouped((role(facts.name), facts) for facts in alone if role(facts.name) not in roles and _is_only_one(facts))
    if len(joined) + len(single) < 2:
        return [network.devices]
    parts = [*joined, *single.values()]
    roles |= single
    placed = {id(facts) for group in single.values() for facts in group}
    for facts in alone:
        if id(facts) not in placed:
            roles.get(role(facts.name), parts[0]).append(facts)
    return parts


def _is_only_one(facts: Facts) -> bool:
    """Whether a switch with BGP has no session in the default table, nor one by which others learn of its VNIs."""
    has_vnis = bool(facts.vnis) or any(vrf.vni for vrf in facts.vrfs.values())
    if not has_vnis:
        return "" in facts.bgp and not facts.bgp[""].neighbors
    return not any(family.value == "evpn" for near in facts.neighbors() for family in near.families)


# --- facts of many devices ------------------------------------------------------------------------------------

WORD = re.compile(r"[^\s,;()\[\]\"']+")
GLUE = re.compile(r"[:_=]")


@dataclass(frozen=True)
class Network:
    """Devices whose files were read."""

    devices: Sequence[Facts]
    planned: str = ""  # the switch of a plan whose files these are: then guesses are left to the comparison with it
    differences: Sequence[Difference] = ()  # from that plan
    names: Mapping[int, Sequence[tuple[Name, Place]]] = field(default_factory=dict)  # in statements, by `id()` of facts
    refused: Mapping[int, Sequence[Refused]] = field(default_factory=dict)  # statements, likewise
    _derived: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, derive: Callable[[Network], T]) -> T:
        """What several checks derive of these devices, made for the first of them."""
        if derive not in self._derived:
            self._derived[derive] = derive(self)
        return cast(T, self._derived[derive])

    @cached_property
    def by_name(self) -> dict[str, Facts]:
        """A name that two devices have names neither."""
        users = Counter(facts.name.lower() for facts in self.devices)
        return {name: facts for facts in self.devices if users[name := facts.name.lower()] == 1}

    @cached_property
    def owners(self) -> dict[str, list[Owner]]:
        """Address without its length → the interfaces that have it; gateways that are shared on purpose are left out."""
        return grouped(
            (without_prefix_length(fact.value), Owner(facts, interface, fact))
            for facts in self.devices
            for interface in facts.interfaces.values()
            for fact in interface.addresses
            if not fact.value.startswith(("127.", "169.254.", "fe80:", "::1/"))
        )

    @cached_property
    def far_addresses(self) -> set[str]:
        """Addresses that a session of a default table is with."""
        return {without_prefix_length(peer.peer) for _, _, peer in self.sessions() if not (peer.vrf or peer.interface)}

    @cached_property
    def subnets(self) -> dict[tuple[str, str], list[Owner]]:
        """(VRF, point-to-point subnet) → its members. Lengths 30, 31, 126 and 127 are point to point."""
        found = grouped(
            ((owner.vrf, subnet_of(owner.fact.value)), owner)
            for owners in self.owners.values()
            for owner in owners
            if is_link(owner.fact.value) and owner.vrf != MANAGEMENT
        )
        return {(vrf, str(net)): members for (vrf, net), members in found.items()}

    @cached_property
    def links(self) -> list[tuple[End, End]]:
        """Cables between two devices that were read: the two members of a subnet, else what descriptions agree on."""
        cables: dict[tuple[int, int], tuple[End, End]] = {}
        for members in self.subnets.values():
            if len(members) == 2 and members[0].facts is not members[1].facts:
                self._add(cables, End(*members[0][:2]), End(*members[1][:2]))
        for facts in self.devices:
            for interface in facts.interfaces.values():
                far = self.described(interface)
                reverse = self.described(far.interface) if far else None
                if far and reverse and reverse.interface is interface:
                    self._add(cables, End(facts, interface), far)
        return list(cables.values())

    def _add(self, found: dict[tuple[int, int], tuple[End, End]], a: End, b: End) -> None:
        key = (min(id(a.interface), id(b.interface)), max(id(a.interface), id(b.interface)))
        found.setdefault(key, (a, b))

    def named(self, facts: Facts, text: str) -> Facts | None:
        """Another device that was read and that a description names."""
        for word in words_of(text):
            other = self.by_name.get(word.lower())
            if other is not None and other is not facts:
                return other
        return None

    @cached_property
    def _described(self) -> dict[int, End | None]:
        ports = ((facts, interface) for facts in self.devices for interface in facts.interfaces.values())
        return {id(interface): self._far_port(facts, interface) for facts, interface in ports}

    def described(self, interface: Interface) -> End | None:
        """The device and interface that a port's description names."""
        return self._described[id(interface)]

    def _far_port(self, facts: Facts, interface: Interface) -> End | None:
        text = interface.description.value if interface.description else ""
        other = self.named(facts, text) if text else None
        if other is None:
            return None
        far = next((other.interfaces[word] for word in words_of(text) if word in other.interfaces), None)
        return End(other, far) if far else None

    def sessions(self) -> Iterator[tuple[Facts, Bgp, Neighbor]]:
        """Every configured session that is not shut."""
        for facts in self.devices:
            for process in facts.bgp.values():
                for neighbor in process.neighbors.values():
                    if is_enabled(neighbor):
                        yield facts, process, neighbor

    def pairs(self) -> Iterator[Ends]:
        """Every session with an enabled neighbor statement at both ends, once."""
        seen: set[tuple[int, int]] = set()
        for facts, _, peer in self.sessions():
            far = self.remote_end(peer)
            reverse = far.reverse if far is not None else None
            if far is not None and reverse is not None and is_enabled(reverse) and (id(reverse), id(peer)) not in seen:
                seen.add((id(peer), id(reverse)))
                yield Ends(facts, peer, far.facts, reverse)

    @cached_property
    def cabled(self) -> dict[int, End]:
        """The other end of the cable, by `id()` of the interface."""
        return {id(own.interface): far for a, b in self.links for own, far in ((a, b), (b, a))}

    @cached_property
    def separate_networks(self) -> list[Network]:
        """Separate networks of devices connected by cables and sessions.

        A part without a connection, because some files are missing, belongs to the network that has devices of its role;
        without such a network all devices are one network.
        """
        parts = components(self)
        return [self] if len(parts) < 2 else [Network(part, names=self.names, refused=self.refused) for part in parts]

    @cached_property
    def homes(self) -> dict[int, int]:
        """Number of the network that a device is in, by `id()` of its facts."""
        return {id(facts): number for number, part in enumerate(self.separate_networks) for facts in part.devices}

    def are_apart(self, one: Facts, other: Facts) -> bool:
        """Whether two devices are in separate networks, and no file is missing that may join them."""
        a, b = self.homes[id(one)], self.homes[id(other)]
        return a != b and not {a, b} <= self._open

    @cached_property
    def _open(self) -> set[int]:
        """Networks with a session whose far end was not read: another network may be behind it.

        An unnumbered session in a VLAN is that of a pair over its peer link.
        """
        return {
            self.homes[id(facts)]
            for facts, _, peer in self.sessions()
            if not (peer.dynamic or vlan_of(peer.peer)) and self.remote_end(peer) is None
        }

    @cached_property
    def near(self) -> dict[int, Subnets]:
        """Subnets of a device, by `id()` of its facts."""
        return {id(facts): Subnets(facts) for facts in self.devices}

    @cached_property
    def _far_ends(self) -> dict[int, RemoteEnd]:
        found = ((peer, self._far(facts, peer)) for facts in self.devices for peer in facts.neighbors())
        return {id(peer): far for peer, far in found if far}

    def remote_end(self, neighbor: Neighbor) -> RemoteEnd | None:
        """The other end of a session, where it is among the devices that were read."""
        return self._far_ends.get(id(neighbor))

    def _far(self, facts: Facts, peer: Neighbor) -> RemoteEnd | None:
        """In the same VRF, if need be in another one: with a session back."""
        if peer.dynamic:
            return None
        if peer.interface:
            local = facts.interfaces.get(peer.peer)
            end = self.cabled.get(id(local)) if local else None
            return RemoteEnd(*end, self._back(facts, peer, *end)) if end else None
        candidates: list[tuple[tuple[bool, bool, bool], RemoteEnd]] = []
        for owner in self.owners.get(without_prefix_length(peer.peer), ()):
            far = RemoteEnd(owner.facts, owner.interface, self._back(facts, peer, owner.facts, owner.interface))
            if owner.facts is not facts and (owner.vrf == peer.vrf or self._crosses(facts, peer, far)):
                # One address may be that of several, on links that never meet: the end is intended that expects this one.
                reverse = far.reverse
                intended = reverse is not None and _expects(peer, far.process, reverse)
                intended = intended and reverse is not None and _expects(reverse, facts.bgp.get(peer.vrf), peer)
                candidates.append(((owner.vrf != peer.vrf, reverse is None, not intended), far))
        return min(candidates, key=lambda row: row[0])[1] if candidates else None

    def _crosses(self, facts: Facts, peer: Neighbor, far: RemoteEnd) -> bool:
        """Whether a session leaves its VRF: two tenants may use one address, so one end at least must mean the other."""
        reverse = far.reverse
        return reverse is not None and (
            _expects(peer, far.process, reverse) or _expects(reverse, facts.bgp.get(peer.vrf), peer)
        )

    def _back(self, facts: Facts, peer: Neighbor, far: Facts, interface: Interface) -> Neighbor | None:
        """The far end's half of a session: with this device's address, on the cable between them, or by listening."""
        process = far.bgp.get(vrf_of(interface))
        if process is None:
            return None
        known, mine = self._peers[id(process)], self.sources(facts, peer)
        if peer.interface:  # the session of this cable, not one between loopbacks
            own = facts.interfaces.get(peer.peer)
            mine = {without_prefix_length(fact.value) for fact in own.addresses} if own else set()
        named = next(
            (known[own] for own in sorted(mine) if own in known and self._mutual(facts, peer, far, known[own])), None
        )
        listening = (own for own in known.values() if own.dynamic and any(within(address, own.peer) for address in mine))
        return named or known.get(interface.name) or next(listening, None)

    def _mutual(self, facts: Facts, peer: Neighbor, far: Facts, reverse: Neighbor) -> bool:
        """Whether two neighbor statements are the two ends of one session.

        If the source address of this end is unknown, the far end must use the address of its own neighbor statement as
        source: beside a session between loopbacks, one between ports may be broken.
        """
        return peer.interface or self.placed(facts, peer) or without_prefix_length(peer.peer) in self.sources(far, reverse)

    def placed(self, facts: Facts, peer: Neighbor) -> bool:
        """Whether it is known from which address a session comes."""
        return peer.source is not None or bool(self.near[id(facts)].own_addresses_in_subnet(peer.vrf, peer.peer))

    @cached_property
    def _peers(self) -> dict[int, dict[str, Neighbor]]:
        """Neighbors by address, interface or dynamic prefix, by `id()` of the BGP process."""
        processes = (process for facts in self.devices for process in facts.bgp.values())
        return {
            id(process): {
                peer.peer if peer.interface or peer.dynamic else without_prefix_length(peer.peer): peer
                for peer in process.neighbors.values()
            }
            for process in processes
        }

    def sources(self, facts: Facts, peer: Neighbor) -> set[str]:
        """Where a session may come from: its stated local address, else the own one in the neighbor's subnet, else any.

        Both ends have one version of IP.
        """
        if peer.source:
            interface = facts.interfaces.get(peer.source.value) or facts.interfaces.get(peer.source.value.removesuffix(".0"))
            addresses = (
                {without_prefix_length(fact.value) for fact in interface.addresses}
                if interface
                else {without_prefix_length(peer.source.value)}
            )
        else:
            addresses = {
                without_prefix_length(fact.value)
                for fact in self.near[id(facts)].own_addresses_in_subnet(peer.vrf, peer.peer)
            } or {
                without_prefix_length(fact.value) for interface in facts.interfaces.values() for fact in interface.addresses
            }
        return addresses if peer.interface else {address for address in addresses if (":" in address) == (":" in peer.peer)}


def _expects(peer: Neighbor, process: Bgp | None, reverse: Neighbor) -> bool:
    """Whether a session is meant for the process at its far end."""
    own = reverse.local_as or (process.asn if process else None)
    remote = peer.remote_as.value if peer.remote_as else None
    return own is None or not isinstance(remote, int) or remote == own.value


@lru_cache(maxsize=1 << 17)  # a description is asked for by several checks
def words_of(text: str) -> tuple[str, ...]:
    """The words of a description, then the parts of those that are glued: `spine1:Ethernet1`, `P2P_spine1_Ethernet1`.

    `et-0/0/0:1` is a word, as it is a port that is broken out.
    """
    words = WORD.findall(text)
    glued = [word for word in words if GLUE.search(word)]
    return (*words, *[part for word in glued for part in (*word.split(":"), *GLUE.split(word)) if part and part != word])


# --- planes with the same link addresses ----------------------------------------------------------------------

PART = re.compile(r"[a-z]+|\d+")  # of a host name


def planes(devices: Sequence[Facts]) -> list[list[Facts]]:
    """The devices of each network, distinguished by one part of the host names; one network without such a part.

    Every device with links must have the link addresses of exactly one device of each other network. So a device with the
    config of another one, or a pair with common addresses, makes no network of its own.
    """
    links = {id(facts): _links(facts) for facts in devices}
    twins = grouped((links[id(facts)], facts) for facts in devices if links[id(facts)])
    positions = {_difference(first, second) for same in twins.values() for first, second in combinations(same, 2)}
    position = positions.pop() if len(positions) == 1 else None
    if position is None or any(len(_parts(facts)) <= position for facts in devices):
        return [list(devices)]
    by_part = grouped((_parts(facts)[position], facts) for facts in devices)
    alike = len(twins) > 1 and all(len(same) == len(by_part) for same in twins.values())
    return list(by_part.values()) if alike else [list(devices)]


def _links(facts: Facts) -> frozenset[tuple[str, str]]:
    """(VRF, address) of every port in a point-to-point subnet."""
    return frozenset(
        (vrf_of(port), without_prefix_length(fact.value))
        for port in facts.interfaces.values()
        for fact in port.addresses
        if is_link(fact.value)
    )


def _difference(one: Facts, other: Facts) -> int | None:
    """Where two host names differ, if that is in one part."""
    mine, theirs = _parts(one), _parts(other)
    found = [at for at, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b]
    return found[0] if len(found) == 1 and len(mine) == len(theirs) else None


def _parts(facts: Facts) -> list[str]:
    return PART.findall(facts.name.lower())
