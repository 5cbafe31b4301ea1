"""Static routes whose next hop is nowhere, what border devices accept from outside, and routes between VRFs of a device."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address, ip_interface, ip_network
from itertools import islice
from typing import ClassVar

from fabric.audit.checks import (
    WARNING,
    FilesCheck,
    Finding,
    Network,
    is_enabled,
    is_loopback,
    is_up,
    table_name,
)
from fabric.audit.checks.ends import is_management, network_of, subnet_of, vrf_of, within
from fabric.audit.checks.files.equal_paths import carries_ip
from fabric.audit.checks.files.evpn_sessions import is_external
from fabric.audit.checks.files.session_ends import has_addresses, kernel_unread
from fabric.base.grouping import grouped
from fabric.base.text import listed, plural
from fabric.model.facts import MANAGEMENT, Bgp, Facts, Interface, Located, Neighbor, Route
from fabric.nos.reading import Net, is_address, lets_in

UNSTATED = re.compile(r"address dhcp|inet6? dhcp|dhcp-client|ip unnumbered|unnumbered-address")  # subnets of no statement


class NextHop(FilesCheck):
    """Looks for static routes with a next hop that is in no subnet, and that no other static route leads to.

    Such a route is inactive, and its traffic takes another route or is dropped. A next hop in a subnet of another device
    may be reached by a route of that device. A next hop outside of the files may be, too, if a neighbor advertises it.
    """

    id = "FAB2516"
    title = "The next hop of every static route is in a subnet"
    severity = WARNING
    example = "`ip route vrf red 10.3.4.0/24 192.0.2.1`; VRF red has no subnet with 192.0.2.1"
    remediation = "correct the next hop, or the VRF"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            if not has_addresses(facts) or kernel_unread(facts):
                continue
            lost = [route for route in facts.routes if _is_lost(network, facts, route)]
            if not lost or any(map(UNSTATED.search, facts.texts.values())):
                continue
            for (table, via), routes in grouped(((route.table, route.via), route) for route in lost).items():
                prefixes = listed(list(dict.fromkeys(_net(route) for route in routes)), 2)
                where = f" of VRF {table}" if table else ""
                at = Located(None, routes[0].line, routes[0].file)
                yield self.finding_at(facts, at, f"next hop {via} of {prefixes} is in no subnet{where}")


def _is_lost(network: Network, facts: Facts, route: Route) -> bool:
    subnets = network.near[id(facts)]
    if not route.via or not any(table == route.table for table, _ in subnets.lengths):
        return False  # over an interface; or the files have no address of that table
    ip = ip_address(route.via.partition("%")[0])
    others = (other for other in facts.routes if other.vrf == route.table and _net(other) != _net(route))
    if ip.is_link_local or ip.is_unspecified or any(within(str(ip), _net(other)) for other in others):
        return False
    if subnets.own_addresses_in_subnet(route.table, str(ip)):
        return False
    if route.table == MANAGEMENT:  # without routing protocols
        return True
    return not any(
        near.own_addresses_in_subnet(table, str(ip)) for near in network.near.values() for table, _ in near.lengths
    )


def _net(route: Route) -> str:
    return str(ip_network(route.prefix, strict=False))


# --- routes from outside --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Border:
    """A session with a router outside, and its import policy."""

    facts: Facts
    process: Bgp
    peer: Neighbor
    policy: Located[str]

    @property
    def asn(self) -> int:
        own = self.peer.local_as or self.process.asn
        return own.value if own else 0


class OwnFromOutside(FilesCheck):
    """Looks for import policies of external sessions that permit prefixes of the network itself.

    A router outside that has sessions with two border devices sends to one what the other advertised. With two AS numbers on
    the border devices no AS path check refuses it: traffic between two parts of the network then leaves it, where the path
    is as short, or the route is longer. RFC 7454 section 6.1.4: a network does not accept its own prefixes from others. A
    session is external if its neighbor was not read, has the AS number of no device that was, and has a policy of its own.
    """

    id = "FAB2522"
    title = "Prefixes of the network are not accepted from outside"
    severity = WARNING
    example = "`ip prefix-list WAN-IN seq 10 permit 10.0.0.0/8 le 32`, and loopbacks in 10.255.0.0/24"
    remediation = "deny the prefixes of the network before the entry that permits them"

    def check(self, network: Network) -> Iterator[Finding]:
        if network.planned:
            return  # compared with the plan
        for table, borders in grouped((border.peer.vrf, border) for border in _borders(network)).items():
            if len({border.asn for border in borders}) < 2:
                continue
            network_prefixes = _Own(network, table)
            for (_, policy), same in grouped(((id(entry.facts), entry.policy.value), entry) for entry in borders).items():
                border = same[0]
                passing = [str(net) for net in network_prefixes.prefixes if lets_in(border.facts, policy, net)]
                if passing:
                    count = f"{plural(len(passing), 'prefix', 'prefixes')} of the network itself"
                    message = f"{policy} of {border.peer.peer} permits {count}: {listed(passing, 2)}"
                    yield self.finding_at(border.facts, border.policy, message)


def _borders(network: Network) -> Iterator[_Border]:
    """External sessions of devices that have sessions inside as well."""
    read = {process.asn.value for facts in network.devices for process in facts.bgp.values() if process.asn}
    inside = {id(facts) for facts, _, peer in network.sessions() if network.remote_end(peer) is not None}
    policies = {
        (id(facts), peer.import_filter.value)
        for facts, _, peer in network.sessions()
        if network.remote_end(peer) is not None and peer.import_filter
    }
    for facts, process, peer in network.sessions():
        policy = peer.import_filter
        if policy is None or not policy.value or network.remote_end(peer) is not None or id(facts) not in inside:
            continue
        remote = peer.remote_as.value if peer.remote_as else None
        outside = is_external(process, peer) and isinstance(remote, int) and remote not in read and not peer.dynamic
        if outside and (id(facts), policy.value) not in policies:
            yield _Border(facts, process, peer, policy)


class LeakedRoutes(FilesCheck):
    """Looks for VRFs that import the routes of another VRF of the device, which does not exist or imports none of theirs.

    Traffic has two directions: a packet follows the imported route, and its answer is dropped in the other VRF, which has no
    route to the sender. Routes that are imported by route target are not judged: the other direction may be on other devices.
    """

    id = "FAB2523"
    title = "Two VRFs of a device that share routes do so in both directions"
    severity = WARNING
    example = "`import vrf STORAGE` in VRF INBAND, and no `import vrf INBAND` in VRF STORAGE"
    remediation = "import the routes of the first VRF into the second one too, by a policy that permits their prefixes"
    kinds: ClassVar = ("leaks", "leaked", "advertised")

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for vrf in facts.vrfs.values():
                for fact in (fact for fact in vrf.leaks if fact.value not in ("", MANAGEMENT)):  # both are no tenant's
                    source = facts.vrfs.get(fact.value)
                    if source is None:
                        yield self.finding_at(
                            facts, fact, f"VRF {vrf.name}: imports routes of {fact.value}, which is no VRF here"
                        )
                    elif not any(other.value == vrf.name for other in source.leaks):
                        message = f"VRF {vrf.name}: imports routes of VRF {source.name}, which imports none of its own"
                        yield self.finding_at(facts, fact, message)


IGP = re.compile(r"\brouter (?:eigrp|rip)\b|\b(?:ospf3?|ospf6|isis)\b")  # may carry the subnets as well
MAX_NETS = 64  # of other devices that a policy is asked about


class Advertised(FilesCheck):
    """Looks for devices whose subnets no session advertises, and for devices that accept no route of the others.

    The servers of a leaf are reached by the routes that it advertises. Without a statement by which its subnets enter BGP,
    or with a policy that permits none of them, they are cut off; with a policy that permits no route of others, such as that
    of the other direction, they reach none of them. All sessions are up.
    """

    id = "FAB2557"
    title = "A leaf advertises its subnets, and accepts those of others"
    severity = WARNING
    example = "a leaf with servers, and no `redistribute connected` or `network` in its BGP process"
    remediation = "let the subnets enter BGP, and permit them in the policies of the sessions"
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        processes = [(facts, process) for facts in network.devices for process in facts.bgp.values()]
        nets = {id(process): _subnets(facts, process) for facts, process in processes}
        entering = {process.vrf for _, process in processes if nets[id(process)] and _enters(process)}
        every = {id(process): nets[id(process)] + _loopbacks(facts, process) for facts, process in processes}
        by_table = grouped((process.vrf, process) for _, process in processes if every[id(process)])
        for facts in network.devices:
            if not has_addresses(facts) or facts.elsewhere:
                continue
            found = list[Finding]()
            for process in facts.bgp.values():
                sessions = list(_inside(network, process))
                found += self._out(facts, process, sessions, nets[id(process)], process.vrf in entering)
                others = (every[id(other)] for other in by_table.get(process.vrf, ()) if other is not process)
                found += self._in(facts, sessions, others)
            if found and not any(map(IGP.search, facts.texts.values())):
                yield from found

    def _out(self, facts: Facts, process: Bgp, sessions: list[Neighbor], own: list[Net], others: bool) -> Iterator[Finding]:
        vrf = facts.vrfs.get(process.vrf)
        stretched = others and vrf is not None and vrf.vni is not None
        if not own or not (sessions or stretched):
            return
        count = plural(len(own), "subnet") + f", {listed([str(net) for net in own], 1)}"
        policies = [peer.export_filter for peer in sessions if peer.export_filter]
        if not _enters(process):
            at = Located(None, process.line, process.file)
            yield self.finding_at(facts, at, f"{table_name(process.vrf)}: no statement advertises {count}")
        elif policies and len(policies) == len(sessions) and all(refuses(facts, fact.value, own) for fact in policies):
            yield self.finding_at(facts, policies[0], f"{policies[0].value} permits none of {count}, and no session does")

    def _in(self, facts: Facts, sessions: list[Neighbor], nets: Iterable[list[Net]]) -> Iterator[Finding]:
        policies = [(peer, peer.import_filter) for peer in sessions if peer.import_filter]
        if not policies or len(policies) < len(sessions):
            return
        others = list(islice((net for same in nets for net in same), MAX_NETS + 1))
        if not others or len(others) > MAX_NETS:
            return
        if all(refuses(facts, fact.value, others) for _, fact in policies):
            policy, count = policies[0][1], plural(len(others), "subnet")
            message = f"{policy.value} permits none of {count} of other devices, and no session does"
            yield self.finding_at(facts, policy, message)


def _inside(network: Network, process: Bgp) -> Iterator[Neighbor]:
    """Sessions with devices that were read, which carry IP routes."""
    for peer in process.neighbors.values():
        if is_enabled(peer) and carries_ip(peer) and network.remote_end(peer) is not None:
            yield peer


def _enters(process: Bgp) -> bool:
    return bool(process.connected or process.networks or process.originates or process.aggregates)


def _subnets(facts: Facts, process: Bgp) -> list[Net]:
    return list(dict.fromkeys(net for _, _, net in server_subnets(facts, process.vrf, process)))


def server_subnets(
    facts: Facts, vrf: str, process: Bgp | None, links: bool = False
) -> list[tuple[Interface, Located[str], Net]]:
    """Subnets of servers in a table, and of no neighbor; each address that has one.

    They have more than the two ends of a link, unless `links` asks for these as well.
    """
    rows: list[tuple[Interface, Located[str], Net]] = []
    for name, port in facts.interfaces.items():
        if vrf_of(port) == vrf and not (is_management(name) or is_loopback(name)) and is_up(port):
            found = (fact for fact in (*port.addresses, *port.gateways) if "/" in fact.value)
            wide = (fact for fact in found if subnet_of(fact.value).host_bits > (0 if links else 2))
            rows += [(port, fact, network_of(fact.value)) for fact in wide]
    if not rows:
        return []
    peers = [ip_address(peer.peer) for peer in process.neighbors.values() if is_address(peer.peer)] if process else []
    lengths = {(net.version, net.prefixlen) for _, _, net in rows}
    of_peers = {ip_network((peer, length), False) for peer in peers for kind, length in lengths if kind == peer.version}
    return [row for row in rows if not row[2].is_link_local and row[2] not in of_peers]


def _loopbacks(facts: Facts, process: Bgp) -> list[Net]:
    ports = (port for name, port in facts.interfaces.items() if is_loopback(name) and vrf_of(port) == process.vrf)
    return [network_of(fact.value) for port in ports for fact in port.addresses]


def refuses(facts: Facts, policies: str, nets: list[Net]) -> bool:
    """Whether policies permit none of some prefixes; false where they ask for more than prefixes, or are not defined."""
    for name in policies.split():
        terms = facts.terms.get(name, [])
        if name not in facts.prefixes and not terms:
            return False
        if any(one.value.permits and (one.value.narrowed or not one.value.lists) for one in terms):
            return False
    return not any(lets_in(facts, policies, net) for net in nets)


@dataclass(frozen=True)
class _Own:
    """What the devices of a network have in one routing table."""

    network: Network
    table: str

    @cached_property
    def prefixes(self) -> list[Net]:
        """Aggregates, loopbacks and subnets, in the order of the files."""
        nets: dict[Net, None] = {}
        for facts in self.network.devices:
            for process in facts.bgp.values():
                if process.vrf == self.table:
                    nets |= dict.fromkeys(ip_network(fact.value, strict=False) for fact in process.aggregates)
            for interface in facts.interfaces.values():
                table = interface.vrf.value if interface.vrf else ""
                if table == self.table != MANAGEMENT:
                    nets |= dict.fromkeys(ip_interface(fact.value).network for fact in interface.addresses)
        return list(nets)
