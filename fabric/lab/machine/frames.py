"""Raw frames: listens on ports of a node, and sends ARP as a server would."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from fabric.lab.switch import VXLAN_PORT

if TYPE_CHECKING:
    from fabric.lab.live import Live

_ALL, _ARP, _IPV4 = 0x0003, 0x0806, 0x0800
_REQUEST, _REPLY = 1, 2


class Capture:
    """What leaves and enters some ports of one node while it is open."""

    def __init__(self, live: Live, node: str, ports: Iterable[str]) -> None:
        self.sockets = []
        for port in ports:
            made = live.socket(node, "", socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            made.bind((port, 0))
            self.sockets.append(made)

    def frames(self) -> Iterator[bytes]:
        """What came since the last time."""
        for one in self.sockets:
            while True:
                try:
                    yield one.recv(65536)
                except BlockingIOError:
                    break

    def close(self) -> None:
        for one in self.sockets:
            one.close()


@contextmanager
def capture(live: Live, node: str, ports: Iterable[str]) -> Iterator[Capture]:
    opened = Capture(live, node, ports)
    try:
        yield opened
    finally:
        opened.close()


def tunnelled(frame: bytes) -> bytes | None:
    """The frame inside a VXLAN packet over IPv4, None where this is none."""
    if len(frame) < 50 or struct.unpack_from("!H", frame, 12)[0] != _IPV4 or frame[23] != socket.IPPROTO_UDP:
        return None
    header = 14 + (frame[14] & 15) * 4
    if struct.unpack_from("!H", frame, header + 2)[0] != VXLAN_PORT:
        return None
    return frame[header + 16 :]


def arp_request_for(frame: bytes | None, address: str) -> bool:
    """Whether a frame asks who has an address."""
    if frame is None or len(frame) < 42 or struct.unpack_from("!H", frame, 12)[0] != _ARP:
        return False
    return struct.unpack_from("!H", frame, 20)[0] == _REQUEST and frame[38:42] == IPv4Address(address).packed


def who_has(live: Live, node: str, interface: str, source: str, target: str, wait_s: float = 0.3) -> list[str]:
    """Asks by ARP from a port of a node; the MAC addresses that answer, one for each answer."""
    with live_socket(live, node, interface) as wire:
        local_mac = wire.getsockname()[4]
        packet = struct.pack("!HHBBH", 1, _IPV4, 6, 4, _REQUEST)
        packet += local_mac + IPv4Address(source).packed + bytes(6) + IPv4Address(target).packed
        wire.send(b"\xff" * 6 + local_mac + struct.pack("!H", _ARP) + packet)
        replies, deadline = [], time.monotonic() + wait_s
        while (left := deadline - time.monotonic()) > 0:
            wire.settimeout(left)
            try:
                frame = wire.recv(2048)
            except TimeoutError:
                break
            answers = len(frame) >= 42 and struct.unpack_from("!H", frame, 20)[0] == _REPLY
            if answers and frame[28:32] == IPv4Address(target).packed and frame[:6] == local_mac:
                replies.append(frame[22:28].hex(":"))
        return replies


@contextmanager
def live_socket(live: Live, node: str, interface: str) -> Iterator[socket.socket]:
    """A socket for ARP on one port."""
    made = live.socket(node, "", socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ARP))
    try:
        made.bind((interface, _ARP))
        yield made
    finally:
        made.close()
