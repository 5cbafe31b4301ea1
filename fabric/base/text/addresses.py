"""IP addresses as text, from the numbers that a plan holds: a plan has hundreds of thousands; and MAC addresses."""

from __future__ import annotations

import socket
import struct
from ipaddress import IPv6Address


def ipv4(number: int) -> str:
    """An IPv4 address; twice as fast as the ipaddress module."""
    return socket.inet_ntoa(struct.pack("!I", number))


def address(number: int) -> str:
    """An address of the family whose numbers are that large, as `ip_address` tells them apart."""
    return ipv4(number) if number < 1 << 32 else str(IPv6Address(number))


def is_unicast(mac: str) -> bool:
    """Whether an interface may have a MAC address, such as 00:00:5e:00:01:01: no group's, and not zero (Linux tests both)."""
    return mac != "00:00:00:00:00:00" and not int(mac[:2], 16) % 2
