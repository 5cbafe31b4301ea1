"""Ends: of a cable, of a subnet, of a session; and how addresses are compared."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_interface, ip_network
from socket import inet_aton
from typing import NamedTuple

from fabric.base.grouping import grouped
from fabric.model.facts import Bgp, Facts, Interface, Located, Neighbor
from fabric.nos.reading.values import is_ipv4

VLAN_PORT = re.compile(r"(?:vlan|irb|bvi|br|ve)\D*(\d+)", re.I)


class Owner(NamedTuple):
    """An address on an interface of a device."""

    facts: Facts
    interface: Interface
    fact: Located[str]  # with its length

    @property
    def vrf(self) -> str:
        return vrf_of(self.interface)


class End(NamedTuple):
    """One end of a cable."""

    facts: Facts
    interface: Interface

    def __str__(self) -> str:
        return f"{self.facts.name} {self.interface.name}"


class RemoteEnd(NamedTuple):
    """The device at the other end of a session: what has the address or the cable there, and its half of the session."""

    facts: Facts
    interface: Interface
    reverse: Neighbor | None

    @property
    def process(self) -> Bgp | None:
        """That the session belongs to."""
        return self.facts.bgp.get(vrf_of(self.interface)) or self.facts.bgp.get("")


class Ends(NamedTuple):
    """A session with its neighbor statements at both ends."""

    facts: Facts
    peer: Neighbor
    remote: Facts
    reverse: Neighbor


class Subnet(NamedTuple):
    """A prefix as numbers, which are faster to look up than networks."""

    version: int
    host_bits: int
    network: int  # the network bits

    def __str__(self) -> str:
        number, length = self.network << self.host_bits, (32 if self.version == 4 else 128) - self.host_bits
        if self.version == 4:
            return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}/{length}"
        return str(IPv6Network((number, length)))


class Subnets:
    """The subnets of one device, to be asked which of its own addresses a neighbor is next to."""

    def __init__(self, facts: Facts) -> None:
        self.found: dict[tuple[str, Subnet], list[Located[str]]] = {}
        for interface in facts.interfaces.values():
            vrf = vrf_of(interface)
            for fact in (*interface.addresses, *interface.gateways):
                if "/" in fact.value:
                    self.found.setdefault((vrf, subnet_of(fact.value)), []).append(fact)
        lengths = sorted({(vrf, net.version, net.host_bits) for vrf, net in self.found})
        self.lengths = grouped(((vrf, version), host_bits) for vrf, version, host_bits in lengths)

    def own_addresses_in_subnet(self, vrf: str, address: str) -> list[Located[str]]:
        """Own addresses in whose subnet an address lies, those of the longest prefix."""
        version, number = number_of(address.partition("%")[0])
        for bits in self.lengths.get((vrf, version), ()):
            if found := self.found.get((vrf, Subnet(version, bits, number >> bits))):
                return found
        return []


def is_management(name: str) -> bool:
    """Whether an interface name is that of a management port."""
    return name.lower().startswith(("management", "mgmt", "eth0", "re0:mgmt", "fxp0", "em0", "me0"))


def is_up(interface: Interface) -> bool:
    """Whether a port is enabled; it is unless stated otherwise."""
    return interface.enabled is None or interface.enabled.value


def is_enabled(neighbor: Neighbor) -> bool:
    """Whether a session is enabled; it is unless stated otherwise."""
    return neighbor.enabled is None or neighbor.enabled.value


def within(address: str, prefix: str) -> bool:
    """Whether an address lies in a prefix; false for invalid text."""
    try:
        return ip_address(address) in ip_network(prefix, strict=False)
    except ValueError:
        return False


def tunnel_addresses(facts: Facts) -> set[str]:
    """Addresses that the tunnels of a device start at; of IPv4, where the interface has one."""
    if facts.vtep is None:
        return set()
    source = facts.interfaces.get(facts.vtep.value.removesuffix(".0"))
    found = {without_prefix_length(fact.value) for fact in source.addresses} if source else {facts.vtep.value}
    return {address for address in found if ":" not in address} or found


def is_link(address: str) -> bool:
    """Whether an address with a length is in a subnet for two ends: /30, /31, /126 or /127."""
    return subnet_of(address).host_bits in (1, 2)


def vlan_of(port: str) -> int | None:
    """`Vlan100`, `irb.100` → 100; None for a port that is no VLAN interface."""
    match = VLAN_PORT.fullmatch(port)
    return int(match[1]) if match else None


def vrf_of(interface: Interface) -> str:
    """The routing table that an interface is in."""
    return interface.vrf.value if interface.vrf else ""


@lru_cache(maxsize=1 << 18)  # the addresses of a large folder, each of which many checks ask for
def number_of(address: str) -> tuple[int, int]:
    """(version, the address as a number); (0, 0) for what is no address."""
    if is_ipv4(address):  # `ipaddress` takes ten times as long
        return 4, int.from_bytes(inet_aton(address), "big")
    try:
        ip = ip_address(address)
    except ValueError:
        return 0, 0
    return ip.version, int(ip)


@lru_cache(maxsize=1 << 18)
def subnet_of(address: str) -> Subnet:
    """The subnet of an address with a length, as numbers. Raises ValueError."""
    own, _, length = address.partition("/")
    if length.isdecimal() and length.isascii() and is_ipv4(own) and (bits := 32 - int(length)) >= 0:
        return Subnet(4, bits, number_of(own)[1] >> bits)
    net = network_of(address)
    bits = net.max_prefixlen - net.prefixlen
    return Subnet(net.version, bits, int(net.network_address) >> bits)


@lru_cache(maxsize=200_000)
def network_of(address: str) -> IPv4Network | IPv6Network:
    """The subnet of an address with a length."""
    return ip_network(address, strict=False) if "%" not in address else ip_interface(address).network


def without_prefix_length(address: str) -> str:
    """`10.0.0.1/31` → `10.0.0.1`, IPv6 in its usual form."""
    text, _, _ = address.partition("/")
    return text if ":" not in text else _usual(text)


@lru_cache(maxsize=100_000)
def _usual(text: str) -> str:
    try:
        return str(ip_interface(text.partition("%")[0]).ip)
    except ValueError:
        return text
