"""Packet filters on the links between switches, against the traffic that these links are for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network, collapse_addresses, ip_network
from typing import NamedTuple

from fabric.audit.checks import (
    ERROR,
    FilesCheck,
    Finding,
    Network,
    is_enabled,
    is_up,
    network_of,
    tunnel_addresses,
    vrf_of,
    without_prefix_length,
)
from fabric.audit.checks.ends import End
from fabric.audit.checks.files.tables import groups_of
from fabric.base.text import listed
from fabric.model.facts import Facts, FilterRule, Located, PacketFilter, PortRange

TCP, UDP = "tcp", "udp"
BGP_PORT, BFD_PORT, ROCE_PORT, VXLAN_PORT = 179, 3784, 4791, 4789
EPHEMERAL = (49152, 65535)  # source ports (RFC 6335; RFC 5881 for BFD)
MAX_NETS = 256  # subnets of servers that a filter is asked about

# --- what a link must carry -----------------------------------------------------------------------------------


class Probe(NamedTuple):
    """Packets that must pass: some of them at least; `port` 0 is any, and `protocol` "" with it."""

    what: str
    protocol: str
    sources: tuple[IPv4Network, ...]
    targets: tuple[IPv4Network, ...]
    port: int

    @property
    def back(self) -> Probe:
        """The same in the other direction, to the same port."""
        return self._replace(sources=self.targets, targets=self.sources)


@dataclass(frozen=True)
class FabricPorts:
    """The links between two switches that were read, and what must pass them."""

    network: Network

    def ends(self) -> Iterator[tuple[End, End]]:
        """Either end first; of ports that are enabled and have addresses of IPv4, or none at all."""
        for a, b in self.network.links:
            if is_up(a.interface) and is_up(b.interface):
                yield a, b
                yield b, a

    def probes(self, here: End, far: End) -> Iterator[Probe]:
        """Packets from the far end of a link."""
        yield from self._sessions(here, far)
        table = vrf_of(here.interface)
        if not table and (vteps := self._tunnels):
            port = next((facts.vxlan_port.value for facts in self.network.devices if facts.vxlan_port), VXLAN_PORT)
            yield Probe(f"VXLAN (UDP {port})", UDP, vteps, vteps, port)
        nets = self._servers.get(table, ())
        if nets and len(nets) <= MAX_NETS:
            yield Probe("packets between servers", "", nets, nets, 0)
            if self._lossless:
                yield Probe(f"RoCEv2 (UDP {ROCE_PORT}) between servers", UDP, nets, nets, ROCE_PORT)

    def _sessions(self, here: End, far: End) -> Iterator[Probe]:
        """BGP and BFD between the addresses of the link."""
        process = here.facts.bgp.get(vrf_of(here.interface))
        addresses = {without_prefix_length(fact.value) for fact in far.interface.addresses}
        for peer in process.neighbors.values() if process else ():
            address = without_prefix_length(peer.peer)
            if address not in addresses or ":" in address or not is_enabled(peer):
                continue
            own = self.network.near[id(here.facts)].own_addresses_in_subnet(peer.vrf, address)
            sides = (ip_network(address),), tuple(ip_network(without_prefix_length(fact.value)) for fact in own[:1])
            if sides[1] and isinstance(sides[0][0], IPv4Network) and isinstance(sides[1][0], IPv4Network):
                yield Probe(f"BGP (TCP {BGP_PORT}) from {address}", TCP, *sides, BGP_PORT)  # type: ignore[arg-type]
                if peer.bfd is not None and peer.bfd.value:
                    yield Probe(f"BFD (UDP {BFD_PORT}) from {address}", UDP, *sides, BFD_PORT)  # type: ignore[arg-type]

    @cached_property
    def _tunnels(self) -> tuple[IPv4Network, ...]:
        """Addresses that tunnels start at, of two devices or more."""
        every = {address for facts in self.network.devices for address in tunnel_addresses(facts) if _is_ipv4(address)}
        return tuple(sorted(IPv4Network(address) for address in every)) if len(every) > 1 else ()

    @cached_property
    def _servers(self) -> dict[str, tuple[IPv4Network, ...]]:
        """Table → subnets of servers of all devices, where packets between them cross links as they are."""
        found: dict[str, set[IPv4Network]] = {}
        for table in (table for same in self.network.once(groups_of).values() for table in same):
            vrf = table.facts.vrfs.get(table.name)
            if vrf is None or vrf.vni is None:
                found.setdefault(table.name, set()).update(net for net in table.own if net.prefixlen < 32)
        return {table: tuple(collapse_addresses(nets)) for table, nets in found.items()}

    @cached_property
    def _lossless(self) -> bool:
        """Whether a port of the network has a lossless class."""
        return any(port.qos and port.qos.pfc for facts in self.network.devices for port in facts.interfaces.values())


def _is_ipv4(address: str) -> bool:
    return ":" not in address and isinstance(network_of(f"{address}/32"), IPv4Network)


# --- what a filter does ---------------------------------------------------------------------------------------

NOTHING: Located[FilterRule | None] = Located(None, 0)


def denying(known: PacketFilter, probe: Probe) -> Located[FilterRule | None] | None:
    """The rule by which a filter surely denies every packet; without a value where no rule matches; None if some may pass."""
    for entry in known.rules:
        rule = entry.value
        if rule.permits and _meets(rule, probe):
            return None
        if not rule.permits and not rule.narrowed and _covers(rule, probe):
            return Located(rule, entry.line, entry.file)
    return None if known.permits_rest else NOTHING


def _meets(rule: FilterRule, probe: Probe) -> bool:
    """Whether a rule may match some packet."""
    return (
        (not rule.protocol or not probe.protocol or rule.protocol == probe.protocol)
        and _overlap(rule.source, probe.sources)
        and _overlap(rule.target, probe.targets)
        and (not probe.port or _in_range(rule.target_ports, (probe.port, probe.port)))
        and (not probe.port or _in_range(rule.source_ports, EPHEMERAL))
    )


def _covers(rule: FilterRule, probe: Probe) -> bool:
    """Whether a rule matches every packet."""
    return (
        (not rule.protocol or rule.protocol == probe.protocol)
        and _around(rule.source, probe.sources)
        and _around(rule.target, probe.targets)
        and (not rule.target_ports or (bool(probe.port) and _in_range(rule.target_ports, (probe.port, probe.port))))
        and (not rule.source_ports or any(low <= EPHEMERAL[0] and EPHEMERAL[1] <= high for low, high in rule.source_ports))
    )


def _in_range(ranges: Sequence[PortRange], wanted: PortRange) -> bool:
    return not ranges or any(low <= wanted[1] and wanted[0] <= high for low, high in ranges)


def _overlap(prefix: str, nets: Sequence[IPv4Network]) -> bool:
    net = ip_network(prefix) if prefix else None
    return net is None or any(isinstance(net, IPv4Network) and net.overlaps(other) for other in nets)


def _around(prefix: str, nets: Sequence[IPv4Network]) -> bool:
    net = ip_network(prefix) if prefix else None
    return net is None or (isinstance(net, IPv4Network) and all(other.subnet_of(net) for other in nets))


class FabricFilters(FilesCheck):
    """Evaluates the packet filters on links between switches for the traffic of the fabric.

    Filters belong on server ports. One on a link between switches must let sessions pass (BGP, BFD), tunnels (VXLAN), and
    the packets of servers, RoCEv2 among them where ports have PFC. Only what a filter denies as a whole, in both directions,
    is reported: the sessions of the link, or all tunnels, or all packets between the subnets of servers.
    """

    id = "FAB2562"
    title = "Filters on links between switches let the traffic of the fabric pass"
    severity = ERROR
    example = "`deny udp any any eq 4791` in the filter of a leaf's uplink"
    remediation = "permit the traffic before the rule that denies it, or remove the filter from the link"

    def check(self, network: Network) -> Iterator[Finding]:
        links = FabricPorts(network)
        if not any(facts.packet_filters for facts in network.devices):
            return
        found: dict[tuple[int, str, str], tuple[Facts, Located[object], list[str]]] = {}
        whole: set[tuple[int, str, int]] = set()  # rules that deny all packets between servers
        for here, far in links.ends():
            for name in here.interface.filters:
                known = here.facts.packet_filters.get(name.value)
                for probe in links.probes(here, far) if known else ():
                    entry = denying(known, probe) if known else None
                    if known is None or entry is None or denying(known, probe.back) is None:
                        continue
                    if probe.port == ROCE_PORT and (id(here.facts), name.value, entry.line) in whole:
                        continue
                    if not probe.port:
                        whole.add((id(here.facts), name.value, entry.line))
                    what = probe.what.partition(" from ")[0]
                    at: Located[object] = entry if entry.line else name
                    how = "denies" if entry.line else "has no rule that permits"
                    key = id(here.facts), name.value, f"{how} {what}"
                    found.setdefault(key, (here.facts, at, []))[2].append(here.interface.name)
        for (_, filter_name, words), (facts, at, ports) in found.items():
            names = listed(list(dict.fromkeys(ports)), 2)
            yield self.finding_at(facts, at, f"{names}: filter {filter_name} {words}")
