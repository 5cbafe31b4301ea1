"""Packets that a lab sends and receives: raw frames on ports, ARP as a server sends it, pings from many nodes at once."""

from __future__ import annotations

import ipaddress
import secrets
import select
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from fabric.lab.devices import VXLAN_PORT

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


# --- ping -----------------------------------------------------------------------------------------------------
# Pings from many nodes at once, from one process that holds a socket in each.

IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, NEVER_FRAGMENT = 10, 23, 2
_MAGIC = b"fabric-lab"
_NUMBERS = struct.Struct("!IHB")  # question, run, try
_REQUESTS, _ECHOES = (b"\x08", b"\x80"), (b"\x08", b"\x80", b"\x00", b"\x81")
_HEADERS = {4: 28, 6: 48}  # IP and ICMP


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """One question."""

    node: str
    source: str
    target: str
    size: int = 84  # of the IP packet in bytes
    vrf: str = ""
    whole: bool = False  # must not be fragmented


def ping(live: Live, pings: Sequence[Ping], tries: int = 4, wait_s: float = 0.4) -> list[int]:
    """Replies to the try that had some, of each; 2 says that one came twice. A packet too large for its own port gets 0.

    Args:
        tries: so often is asked again what has no reply yet; the first packet may wait for a neighbor to be found.
    """
    run = _Run(live, pings)
    try:
        for _ in range(tries):
            pending = [number for number, count in enumerate(run.replies) if not count]
            if not pending:
                break
            run.send(pending)
            run.listen(wait_s)
        return run.replies
    finally:
        run.close()


def arrivals(
    live: Live, asked: Sequence[Ping], listen_at: Sequence[Ping], wait_s: float = 1.0
) -> tuple[list[bool], list[bool]]:
    """(whether each question was answered, whether it came as far as a node that listens).

    Args:
        listen_at: what the sockets of the far ends are opened for.
    """
    run = _Run(live, [*asked, *listen_at])
    try:
        run.send(range(len(asked)))
        run.listen(wait_s)
        return [bool(run.replies[at]) for at in range(len(asked))], [at in run.arrived for at in range(len(asked))]
    finally:
        run.close()


class _Run:
    def __init__(self, live: Live, asked: Sequence[Ping]) -> None:
        self.asked, self.replies = asked, [0] * len(asked)
        self.token, self.tries = secrets.randbits(16), 0  # replies to an earlier run may still be in flight
        self.arrived = set[int]()  # questions that came to a socket of this run
        self.counted: Counter[tuple[int, int]] = Counter()  # (question, try) → replies
        self.sockets: dict[tuple[str, str, str, bool], socket.socket] = {}
        self.poll = select.poll()
        self.by_number: dict[int, socket.socket] = {}
        for ping in asked:
            key = _key(ping)
            if key not in self.sockets:
                opened = _open(live, ping)
                self.sockets[key] = self.by_number[opened.fileno()] = opened
                self.poll.register(opened, select.POLLIN)

    def send(self, pending: Sequence[int]) -> None:
        self.tries += 1
        for at in pending:
            ping = self.asked[at]
            version = ipaddress.ip_address(ping.target).version
            body = _MAGIC + _NUMBERS.pack(at, self.token, self.tries)
            body = body.ljust(ping.size - _HEADERS[version], b".")
            try:
                self.sockets[_key(ping)].sendto(_echo(version, at, body), (ping.target, 0))
            except OSError:
                continue  # no route, or too large: no reply either
            if at % 64 == 63:
                self.listen(0)

    def listen(self, wait_s: float) -> None:
        """Takes what comes; ends early once all have answered, but for a moment in which a second reply would come."""
        deadline = time.monotonic() + wait_s
        while True:
            for number, _ in self.poll.poll(max(0, (deadline - time.monotonic()) * 1000)):
                self._take(self.by_number[number])
            if all(self.replies):
                deadline = min(deadline, time.monotonic() + 0.05)
            if time.monotonic() >= deadline:
                return

    def _take(self, readable: socket.socket) -> None:
        while True:
            try:
                data = readable.recv(65536)
            except OSError:
                return
            if readable.family == socket.AF_INET:
                data = data[(data[0] & 15) * 4 :]
            numbers = data[8 + len(_MAGIC) :][: _NUMBERS.size]
            if data[:1] not in _ECHOES or not data[8:].startswith(_MAGIC) or len(numbers) < _NUMBERS.size:
                continue
            index, token, number = _NUMBERS.unpack(numbers)
            if token != self.token or index >= len(self.asked):
                continue
            if data[:1] in _REQUESTS:
                self.arrived.add(index)
            elif self.sockets[_key(self.asked[index])] is readable:
                self.counted[index, number] += 1  # a late reply to the first try is no second one to the next
                self.replies[index] = max(self.replies[index], self.counted[index, number])

    def close(self) -> None:
        for made in self.sockets.values():
            made.close()


def _key(one: Ping) -> tuple[str, str, str, bool]:
    return one.node, one.vrf, one.source, one.whole


def _open(live: Live, ping: Ping) -> socket.socket:
    if ipaddress.ip_address(ping.source).version == 4:
        opened = live.socket(ping.node, ping.vrf, socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        option = (socket.IPPROTO_IP, IP_MTU_DISCOVER)
    else:
        opened = live.socket(ping.node, ping.vrf, socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        option = (socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER)
    opened.bind((ping.source, 0))
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    if ping.whole:
        opened.setsockopt(*option, NEVER_FRAGMENT)
    return opened


def _echo(version: int, number: int, body: bytes) -> bytes:
    """An echo request; the kernel adds the checksum of ICMPv6 itself."""
    head = struct.pack("!BBHHH", 8 if version == 4 else 128, 0, 0, number & 0xFFFF, number >> 16)
    if version == 6:
        return head + body
    return struct.pack("!BBHHH", 8, 0, _checksum(head + body), number & 0xFFFF, number >> 16) + body


def _checksum(data: bytes) -> int:
    padded = data + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return int(~total & 0xFFFF)
