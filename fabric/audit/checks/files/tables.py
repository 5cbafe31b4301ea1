"""Routing tables of all devices: subnets of servers that no other table has, or one table of a role lacks.

`Tables` holds what each table has: `PassedOn` follows the files, a Batfish server computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from ipaddress import IPv4Network, IPv6Network, ip_network
from itertools import chain
from operator import and_, or_
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabric.audit.checks import (
    WARNING,
    FilesCheck,
    Finding,
    Network,
    is_loopback,
    is_up,
    network_of,
    table_name,
    tunnel_addresses,
    vrf_of,
    without_prefix_length,
)
from fabric.audit.checks.files.equal_paths import carries_ip
from fabric.audit.checks.files.overlay import exported, imported
from fabric.audit.checks.files.routes import IGP, server_subnets
from fabric.audit.checks.files.session_ends import has_addresses, kernel_unread
from fabric.audit.checks.role_peers.roles import stem
from fabric.base.grouping import grouped
from fabric.base.text import listed, plural
from fabric.model.facts import MANAGEMENT, Bgp, Facts, Located, Neighbor, Vrf
from fabric.nos.reading.denied_routes import Nets, denied

MAX_QUESTIONS = 100_000_000  # of a policy about a subnet, a second or two; what is asked behind them is taken to pass
SHOWN = 3  # subnets in a finding

# --- tables ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A routing table of a device.

    Attributes:
        name: of its VRF; "" for the default table.
        group: the same for the tables of one VRF on all devices.
        own: subnets of servers that it is connected to, with their addresses.
        ports: name of the interface of each.
    """

    facts: Facts
    name: str
    group: str
    process: Bgp | None
    own: dict[IPv4Network, Located[str]]
    ports: dict[IPv4Network, str]


Mask = int  # a set of subnets, by their places in a list


@dataclass(frozen=True)
class Subnets:
    """The subnets of servers of a network, as bits of a number: tables have thousands."""

    nets: Sequence[IPv4Network]

    @cached_property
    def places(self) -> dict[IPv4Network, int]:
        return {net: place for place, net in enumerate(self.nets)}

    def mask(self, nets: Iterable[IPv4Network]) -> Mask:
        """Those of some subnets that are known here."""
        flags = np.zeros(len(self.nets), np.bool_)
        flags[[self.places[net] for net in nets if net in self.places]] = True
        return mask_of(flags)

    def named(self, mask: Mask) -> list[IPv4Network]:
        """In their order."""
        return [net for place, net in enumerate(self.nets) if mask >> place & 1] if mask else []


def mask_of(flags: NDArray[np.bool_]) -> Mask:
    """A flag per subnet as bits."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


@dataclass(frozen=True)
class Tables:
    """The tables of one VRF, and the subnets of servers that each has, its own included."""

    subnets: Subnets
    tables: Sequence[Table]
    has: Sequence[Mask]
    neighbors: Mapping[int, frozenset[str]]  # names of the devices that a device has sessions with, by `id()` of its facts

    def alone(self) -> Iterator[tuple[Table, list[IPv4Network]]]:
        """Tables with subnets that no other one has, where routes of the VRF are passed on otherwise.

        Another subnet of the table, or of one of its role, must be in another table. Subnets that several devices have on
        interfaces of the same name are meant for the device alone.
        """
        once = carried = 0
        for nets in self.has:
            carried |= once & nets
            once |= nets
        own = [self.subnets.mask(table.own) for table in self.tables]
        works = {stem(table.facts.name) for table, nets in zip(self.tables, own, strict=True) if nets & carried}
        lonely = [self.subnets.named(nets & ~carried) for nets in own]
        users = grouped(
            (table.ports[net], table.facts.name) for table, nets in zip(self.tables, lonely, strict=True) for net in nets
        )
        for table, alone in zip(self.tables, lonely, strict=True):
            left = [net for net in alone if len(set(users[table.ports[net]])) == 1]
            if left and stem(table.facts.name) in works:
                yield table, left

    def short(self) -> Iterator[tuple[Table, list[IPv4Network], list[str]]]:
        """Tables that lack subnets which every other one of the role has, with the names of these devices.

        Of two devices, both must have sessions with the same others, and subnets of the two do not count.
        """
        roles = grouped((stem(table.facts.name), at) for at, table in enumerate(self.tables))
        for same in roles.values():
            near = {self.neighbors.get(id(self.tables[at].facts), frozenset()) for at in same}
            if len(same) < 2 or (len(same) == 2 and (len(near) > 1 or not near.pop())):
                continue
            theirs = reduce(or_, (self.subnets.mask(self.tables[at].own) for at in same)) if len(same) == 2 else 0
            for at in same:
                others = [other for other in same if other != at]
                lacking = reduce(and_, (self.has[other] for other in others)) & ~self.has[at] & ~theirs
                if lacking:
                    yield self.tables[at], self.subnets.named(lacking), [self.tables[other].facts.name for other in others]


def groups_of(network: Network) -> dict[str, list[Table]]:
    """The tables of every VRF, by the name of the VRF: that of its VNI where devices call it differently."""
    first = {vrf.vni.value: vrf.name for facts in reversed(network.devices) for vrf in facts.vrfs.values() if vrf.vni}
    return grouped(
        (group, table)
        for facts in network.devices
        for name in dict.fromkeys(("", *facts.vrfs, *facts.bgp))
        if name != MANAGEMENT
        for group in [_group(facts.vrfs.get(name), name, first)]
        for table in [_table(network, facts, name, group)]
    )


def _group(vrf: Vrf | None, name: str, first: dict[int, str]) -> str:
    return first[vrf.vni.value] if vrf and vrf.vni else name


def _table(network: Network, facts: Facts, name: str, group: str) -> Table:
    """A link to a server has one end among the files, and no neighbor at the other; a loopback is an end of sessions."""
    process = facts.bgp.get(name)
    own: dict[IPv4Network, Located[str]] = {}
    ports: dict[IPv4Network, str] = {}
    rows = server_subnets(facts, name, process, links=True)
    used = tunnel_addresses(facts) | network.far_addresses
    for port in facts.interfaces.values() if not name else ():
        if is_loopback(port.name) and not vrf_of(port) and is_up(port):
            rows += [
                (port, fact, network_of(fact.value)) for fact in port.addresses if without_prefix_length(fact.value) in used
            ]
    for port, fact, net in rows:
        if isinstance(net, IPv4Network) and net not in own and len(network.subnets.get((name, str(net)), ())) < 2:
            own[net], ports[net] = fact, port.name
    return Table(facts=facts, name=name, group=group, process=process, own=own, ports=ports)


# --- what the files pass on -----------------------------------------------------------------------------------


class _Hop(NamedTuple):
    """A way of routes from one place to another, and the subnets that policies on it deny."""

    to: int
    denied: Mask


@dataclass
class PassedOn:
    """Subnets of servers that may get into each table: all that no policy on the way surely denies.

    Every session counts as up, no AS path is refused, and what leaves the files may come back at any session that leaves
    them. So what a table lacks here, it does lack.
    """

    network: Network
    groups: dict[str, list[Table]]
    _known: dict[object, Mask] = field(default_factory=dict)
    _hops: dict[int, list[_Hop]] = field(default_factory=dict)
    _places: dict[object, int] = field(default_factory=dict)

    @cached_property
    def tables(self) -> list[Table]:
        return [table for same in self.groups.values() for table in same]

    @cached_property
    def subnets(self) -> Subnets:
        return Subnets(sorted({net for table in self.tables for net in table.own}))

    @cached_property
    def wider(self) -> dict[IPv4Network, list[IPv4Network]]:
        """Subnet → it, and the prefixes that stand for it: aggregates, and statements about a prefix around it."""
        processes = [table.process for table in self.tables if table.process]
        texts = {fact.value for process in processes for fact in (*process.aggregates, *process.networks)}
        around = _around({net for text in texts if isinstance(net := _network(text), IPv4Network)})
        return {net: [net, *around(net)] for net in self.subnets.nets}

    def enters(self, table: Table) -> Mask:
        """Own subnets that statements let into BGP."""
        process = table.process
        if process is None:
            return 0
        stated = {fact.value for fact in (*process.networks, *process.aggregates)}
        nets = [net for net in table.own if process.originates or any(str(one) in stated for one in self.wider[net])]
        entering = self.subnets.mask(nets)
        if process.connected:
            entering |= self.subnets.mask(table.own) & ~self.denied(table.facts, process.connected.value)
        return entering

    def denied(self, facts: Facts, policy: str) -> Mask:
        """Subnets that a policy surely denies; alike policies of other devices are not read again."""
        key = tuple(_content(facts, name) for name in policy.split())
        if not key or (key not in self._known and len(self._known) * len(self.subnets.nets) > MAX_QUESTIONS):
            return 0
        if key not in self._known:
            rows, starts = self._rows
            self._known[key] = mask_of(np.logical_and.reduceat(denied(facts, policy, rows), starts))
        return self._known[key]

    @cached_property
    def _rows(self) -> tuple[Nets, NDArray[np.int64]]:
        """The subnets with what stands for each behind it, and the row that each begins at."""
        counts = [len(self.wider[net]) for net in self.subnets.nets]
        return Nets.of(chain.from_iterable(self.wider.values())), np.cumsum([0, *counts[:-1]])

    def run(self) -> list[Mask]:
        """Subnets in every table, in the order of `tables`."""
        self._connect()
        routes = {at: self.enters(table) for at, table in enumerate(self.tables)}
        waiting = {at: nets for at, nets in routes.items() if nets}  # what a place has not passed on yet
        while waiting:
            passing, waiting = waiting, {}
            for at, nets in passing.items():
                for hop in self._hops.get(at, ()):
                    there = routes.get(hop.to, 0)
                    if new := nets & ~hop.denied & ~there:
                        routes[hop.to] = there | new
                        waiting[hop.to] = waiting.get(hop.to, 0) | new
        return [routes[at] | self._connected(table) for at, table in enumerate(self.tables)]

    def _connected(self, table: Table) -> Mask:
        """Own subnets, and those that a static route of the table leads to."""
        routes = (route.prefix for route in table.facts.routes if route.vrf == table.name)
        statics = {ip_network(prefix, strict=False) for prefix in routes if not prefix.endswith("/0")}
        around = _around({net for net in statics if isinstance(net, IPv4Network)})
        led = (net for net in self.subnets.nets if net in statics or around(net)) if statics else ()
        return self.subnets.mask((*table.own, *led))

    # --- ways ---------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        self._places = {(id(table.facts), table.name): at for at, table in enumerate(self.tables)}
        for facts, process, peer in self.network.sessions():
            if carries_ip(peer):
                self._session(facts, process, peer)
        for table in self.tables:
            if vrf := table.facts.vrfs.get(table.name):
                self._leaks(table, vrf)

    def _session(self, facts: Facts, process: Bgp, peer: Neighbor) -> None:
        """Both ways, each with the policies of both ends; a far end that was not read is one place for all."""
        here, far = self._places[id(facts), process.vrf], self.network.remote_end(peer)
        reverse = far.reverse if far else None
        there = None
        if far and far.process:
            there = self._places.get((id(far.facts), far.process.vrf))
        if far is None or there is None:
            there = self._places.setdefault("outside", len(self._places))
        sent, taken = _filters(peer)
        back, accepted = _filters(reverse) if reverse else ("", "")
        near_out, near_in = self.denied(facts, sent), self.denied(facts, taken)
        far_out = self.denied(far.facts, back) if far else 0
        far_in = self.denied(far.facts, accepted) if far else 0
        self._hops.setdefault(here, []).append(_Hop(there, near_out | far_in))
        self._hops.setdefault(there, []).append(_Hop(here, far_out | near_in))

    def _leaks(self, table: Table, vrf: Vrf) -> None:
        """By route target over all devices, and from tables of this one."""
        here = self._places[id(table.facts), table.name]
        taken = self.denied(table.facts, vrf.leak_filter.value if vrf.leak_filter else "")
        sent = self.denied(table.facts, vrf.evpn_filter.value if vrf.evpn_filter else "")
        if vrf.vni or vrf.imports or vrf.exports:
            for target in exported(table.facts, vrf):
                for name in (target, f"*:{target.rpartition(':')[2]}"):
                    self._hops.setdefault(here, []).append(_Hop(self._places.setdefault(name, len(self._places)), sent))
            for target in imported(table.facts, vrf):
                at = self._places.setdefault(target, len(self._places))
                self._hops.setdefault(at, []).append(_Hop(here, taken))
        for fact in vrf.leaks:
            source = self._places.get((id(table.facts), fact.value))
            if source is not None:
                self._hops.setdefault(source, []).append(_Hop(here, taken))


def _network(text: str) -> IPv4Network | IPv6Network | None:
    """None for a mistyped prefix."""
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def _around(prefixes: set[IPv4Network]) -> Callable[[IPv4Network], list[IPv4Network]]:
    """Asks which of some prefixes are around a subnet, and not equal to it."""
    lengths = sorted({net.prefixlen for net in prefixes})

    def around(net: IPv4Network) -> list[IPv4Network]:
        wider = (net.supernet(new_prefix=length) for length in lengths if length < net.prefixlen)
        return [other for other in wider if other in prefixes]

    return around


def _filters(peer: Neighbor) -> tuple[str, str]:
    """Policies on IPv4 routes, out and in; those of a session that has IPv6 first are about other routes."""
    if peer.families and peer.families[0].value == "ipv6":
        return "", ""
    return (
        peer.export_filter.value if peer.export_filter else "",
        peer.import_filter.value if peer.import_filter else "",
    )


def _content(facts: Facts, name: str) -> object:
    """What a policy says, equal for equal ones of other devices."""
    if name in facts.prefixes:
        return tuple(fact.value for fact in facts.prefixes[name])
    terms = [one.value for one in facts.terms.get(name, ())]
    lists = {known: facts.prefixes.get(known) for clause in terms for known in clause.lists}
    entries = tuple((known, None if found is None else tuple(one.value for one in found)) for known, found in lists.items())
    return tuple((one.permits, tuple(one.lists), one.narrowed, one.open) for one in terms), entries


# --- checks ---------------------------------------------------------------------------------------------------


class SubnetTravels(FilesCheck):
    """Follows the subnets of servers from table to table, through the policies of all sessions and by route targets.

    A subnet that no other table of its VRF has is out of reach, while its gateway answers and all sessions are up: one
    `network` statement is missing, or one entry of a list. A subnet is judged where another one of the device or of its role
    is passed on. A device that advertises none of its subnets is reported as FAB2557. Tables with OSPF, IS-IS or RIP are not
    judged.
    """

    id = "FAB2560"
    title = "Every subnet of servers is in another table of its VRF"
    severity = WARNING
    example = "`network 10.1.1.0/24` for one of two VLAN interfaces, and no `redistribute connected`"
    remediation = "let the subnet enter BGP, and permit it in the policies on its way, or put it into a VRF of its own"
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for followed, known in network.once(judged):
            for table, nets in known.alone():
                cause, at = _cause(followed, table, nets)
                if cause:
                    message = f"{table_name(table.name)}: {in_no_other(table, nets)}: {cause}"
                    yield self.finding_at(table.facts, at, message)


class SistersAgree(FilesCheck):
    """Compares the routes to subnets of servers that the devices of one role may have.

    A device with an entry less in its import policy, or without one route target, is cut off from some servers only; its
    sessions are up, and most traffic passes. Devices are compared where at least three have the table. A device that
    accepts no route of others is reported as FAB2557, other route targets as FAB265.
    """

    id = "FAB2561"
    title = "Tables of one role have routes to the same subnets"
    severity = WARNING
    example = "`ip prefix-list SERVERS` without 10.1.3.0/24 on one leaf of four"
    remediation = "permit the routes in the import policies of the device, as the others of its role do"
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for followed, known in network.once(judged):
            for table, nets, others in known.short():
                at = _refusing(followed, table, nets)
                if at is not None:
                    names = f"{plural(len(nets), 'subnet')}, {listed([str(net) for net in nets], SHOWN)}"
                    message = f"{table_name(table.name)}: {at.value} denies {names}, which {listed(others, 2)} accept"
                    yield self.finding_at(table.facts, at, message)


def judged(network: Network) -> list[tuple[PassedOn, Tables]]:
    """The tables of each VRF that several devices have, and that no other protocol may fill."""
    followed = PassedOn(network, network.once(groups_of))
    if network.planned or len(network.devices) < 2 or not followed.subnets.nets:
        return []
    routes = followed.run()
    neighbors = neighbors_of(network)
    found, at = [], 0
    for same in followed.groups.values():
        places = range(at, at + len(same))
        at += len(same)
        if len(same) > 1 and all(map(_is_followed, same)):
            found.append((followed, Tables(followed.subnets, same, [routes[place] for place in places], neighbors)))
    return found


def neighbors_of(network: Network) -> dict[int, frozenset[str]]:
    """Names of the devices that a device has sessions with, by `id()` of its facts."""
    rows = ((id(facts), far.facts.name) for facts, _, peer in network.sessions() if (far := network.remote_end(peer)))
    return {key: frozenset(names) for key, names in grouped(rows).items()}


def _is_followed(table: Table) -> bool:
    """Whether the files of a device tell which routes its table has."""
    facts, vrf = table.facts, table.facts.vrfs.get(table.name)
    unknown = not has_addresses(facts) or facts.elsewhere or kernel_unread(facts)
    stretched = vrf is not None and vrf.vni is not None
    return not unknown and (stretched or not any(map(IGP.search, facts.texts.values())))


def in_no_other(table: Table, nets: Sequence[IPv4Network]) -> str:
    """`10.1.1.0/24 is in no other table of its VRF`."""
    verb, where = ("are" if len(nets) > 1 else "is"), "its VRF" if table.name else "the network"
    return f"{listed([str(net) for net in nets], SHOWN)} {verb} in no other table of {where}"


def _cause(followed: PassedOn, table: Table, nets: Sequence[IPv4Network]) -> tuple[str, Located[object] | None]:
    """What keeps subnets in their table, and where; "" where FAB2557 reports that it keeps all of them."""
    process, entering, lonely = table.process, followed.enters(table), followed.subnets.mask(nets)
    if process is None or not entering:
        return "", None
    if not entering & lonely:
        policy = process.connected
        if policy and policy.value:
            return f"{policy.value} denies {_them(nets)}", policy
        return f"no statement lets {_them(nets)} enter BGP", process.networks[-1] if process.networks else table.own[nets[0]]
    policies = [peer.export_filter for peer in process.neighbors.values() if carries_ip(peer) and peer.export_filter]
    denied = [(fact, followed.denied(table.facts, fact.value)) for fact in policies]
    if any(not followed.subnets.mask(table.own) & ~mask for _, mask in denied):
        return "", None
    fact = next((fact for fact, mask in denied if not lonely & ~mask), None)
    if fact:
        return f"{fact.value} denies {_them(nets)}", fact
    whole = len(nets) == len(table.own)  # as with another route target, which FAB265 and FAB2551 report
    return "" if whole else f"no other device accepts {_them(nets)}", table.own[nets[0]]


def _them(nets: Sequence[IPv4Network]) -> str:
    return "them" if len(nets) > 1 else "it"


def _refusing(followed: PassedOn, table: Table, nets: Sequence[IPv4Network]) -> Located[str] | None:
    """The import policy of a table that denies subnets, and not all of them."""
    peers = table.process.neighbors.values() if table.process else ()
    vrf = table.facts.vrfs.get(table.name)
    policies = [peer.import_filter for peer in peers if carries_ip(peer) and peer.import_filter]
    policies += [vrf.leak_filter] if vrf and vrf.leak_filter else []
    lacking, others = followed.subnets.mask(nets), followed.subnets.mask(set(followed.subnets.nets) - table.own.keys())
    denied = ((fact, followed.denied(table.facts, fact.value)) for fact in policies)
    return next((fact for fact, mask in denied if not lacking & ~mask and others & ~mask), None)
