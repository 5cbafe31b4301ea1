"""The subnets of all devices: which addresses are of their network, and which ports are links between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from ipaddress import IPv4Interface, IPv6Interface, ip_address, ip_interface
from typing import NamedTuple, TypeAlias

from fabric.model.facts import Facts, Interface

Address: TypeAlias = IPv4Interface | IPv6Interface


class Subnet(NamedTuple):
    """A prefix as numbers, which are faster to look up than networks."""

    version: int
    host_bits: int
    network: int  # the network bits


class Subnets:
    """The subnets of devices."""

    def __init__(self, devices: Sequence[Facts]) -> None:
        self.devices = devices

    @cached_property
    def users(self) -> Counter[Subnet]:
        """Devices with an address in each subnet."""
        return Counter(net for facts in self.devices for net in {_subnet(own) for own in addresses(facts)})

    @cached_property
    def lengths(self) -> set[tuple[int, int]]:
        """(version, host bits) of the subnets."""
        return {net[:2] for net in self.users}

    def has(self, address: str) -> bool:
        """Whether an address is in a subnet of a device; also what is no address."""
        try:
            ip = ip_address(address)
        except ValueError:
            return True
        return any(
            version == ip.version and Subnet(version, bits, int(ip) >> bits) in self.users for version, bits in self.lengths
        )

    def is_link(self, port: Interface) -> bool:
        """Whether a port has a subnet with another device in the files: it is unlike ports to servers."""
        return any(self.users[_subnet(own)] > 1 for own in _of_port(port))


def addresses(facts: Facts) -> Iterator[Address]:
    """Those of all ports of a device; what is no address is left out."""
    for port in facts.interfaces.values():
        yield from _of_port(port)


def _of_port(port: Interface) -> Iterator[Address]:
    for address in port.addresses:
        try:
            yield ip_interface(address.value)
        except ValueError:
            continue


def _subnet(own: Address) -> Subnet:
    bits = own.network.max_prefixlen - own.network.prefixlen
    return Subnet(own.version, bits, int(own.network[0]) >> bits)
