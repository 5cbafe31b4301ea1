"""Watches while something breaks: sends a few flows all the time, and notes when kernels change their tables.

A process of its own, so that nothing that the scenario does meanwhile delays it.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from fabric.lab.machine import daemons
from fabric.lab.machine.namespaces import LabError

if TYPE_CHECKING:
    from fabric.lab.live import Live

TICK_S = 0.004  # between two packets of a flow
IN_FLIGHT_S = 0.5  # until a packet that has not arrived is lost
FIRST_PORT = 27000  # below those that kernels choose; filters of switches in a lab let in the hundred from here on
_PR_SET_PDEATHSIG = 1
_SOL_NETLINK, _ADD_MEMBERSHIP, _NO_ENOBUFS = 270, 1, 5
_GROUPS = (1, 7, 11, 32)  # changes of links, of IPv4 routes, of IPv6 routes, of next hops (linux/rtnetlink.h)
_ROUTES, _OTHER_TABLE = (24, 25), 252
ROCE_TOS = 26 << 2  # as hosts mark it; a software tunnel chooses a path for each marked packet, and once for all others


@dataclass(frozen=True, slots=True)
class Stream:
    """Flows from one address to another."""

    node: str
    source: str
    to_node: str
    target: str
    flows: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What was observed of flows."""

    longest_gap_s: float  # of any of them, between two packets that arrived
    lost: int
    sent: int

    @staticmethod
    def of(flows: Iterable[Seen]) -> Seen:
        """Several, as one."""
        every = list(flows)
        gap = max((flow.longest_gap_s for flow in every), default=0.0)
        return Seen(gap, sum(flow.lost for flow in every), sum(flow.sent for flow in every))


@dataclass(frozen=True, slots=True)
class Observation:
    """What was observed; times in seconds of the monotonic clock."""

    flows: tuple[Seen, ...]  # each, in the order of the streams
    changes: dict[str, float] = field(default_factory=dict)  # node → its last change of tables before `until`

    @property
    def total(self) -> Seen:
        return Seen.of(self.flows)


class Observer:
    """Begins at once; `stop` ends it and tells. Use as a context: it never outlives the scenario."""

    def __init__(self, live: Live, streams: Sequence[Stream], watched: Sequence[str], tick_s: float = TICK_S) -> None:
        context = multiprocessing.get_context("fork")
        self.ours, theirs = context.Pipe()
        each = (stream for stream in streams for _ in range(stream.flows))
        flows = [_flow(live, stream, number) for number, stream in enumerate(each)]
        watches = {node: _watch(live, node) for node in watched}
        self.process = context.Process(target=_observe, args=(theirs, self.ours, flows, watches, tick_s), daemon=True)
        self.process.start()
        for channel in (*(end for flow in flows for end in flow[:2]), *watches.values()):
            channel.close()
        theirs.close()
        self._receive()  # it runs

    def __enter__(self) -> Observer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.join()
        self.ours.close()

    def settle(self, patience_s: float = 20.0) -> None:
        """Waits until packets of every flow arrive. Raises LabError when they do not."""
        deadline = time.monotonic() + patience_s
        while True:
            time.sleep(0.2)
            if not (silent := self.silent()):
                return
            if time.monotonic() > deadline:
                raise LabError(f"{silent} flows are lost without a failure")

    def silent(self) -> int:
        """Flows of which nothing has come for a while."""
        self.ours.send("silent")
        found = self._receive()
        assert isinstance(found, int)
        return found

    def mark(self) -> float:
        """Forgets what was before; the moment from which on gaps count."""
        self.ours.send("mark")
        self._receive()
        return time.monotonic()

    def changes(self) -> dict[str, float]:
        """Node → when its tables changed last."""
        self.ours.send("changes")
        found: dict[str, float] = self._receive()  # type: ignore[assignment]
        return found

    def seen(self) -> Observation:
        """What was observed since the mark; sending goes on."""
        self.ours.send("seen")
        found = self._receive()
        assert isinstance(found, Observation)
        return found

    def stop(self) -> Observation:
        """The whole of it."""
        self.ours.send("stop")
        found = self._receive()
        assert isinstance(found, Observation)
        return found

    def _receive(self) -> object:
        try:
            if self.ours.poll(10):
                return self.ours.recv()
        except EOFError:
            pass
        raise LabError("the flow observer has exited")


Flow = tuple[socket.socket, socket.socket, tuple[str, int]]


def _flow(live: Live, stream: Stream, number: int) -> Flow:
    """(sending socket, receiving socket, where to)."""
    family = socket.AF_INET6 if ":" in stream.source else socket.AF_INET
    receiver = live.socket(stream.to_node, "", family, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    receiver.bind((stream.target, FIRST_PORT + number))
    sender = live.socket(stream.node, "", family, socket.SOCK_DGRAM)
    sender.bind((stream.source, 0))
    as_roce(sender)
    return sender, receiver, (stream.target, receiver.getsockname()[1])


def as_roce(flow: socket.socket) -> None:
    """Gives a flow the DSCP of RoCE."""
    if flow.family == socket.AF_INET6:
        flow.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, ROCE_TOS)
    else:
        flow.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ROCE_TOS)


def _watch(live: Live, node: str) -> socket.socket:
    """A socket on which a kernel tells every change of a node's tables."""
    made = live.socket(node, "", socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    made.bind((0, 0))
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    made.setsockopt(_SOL_NETLINK, _NO_ENOBUFS, 1)
    for group in _GROUPS:
        made.setsockopt(_SOL_NETLINK, _ADD_MEMBERSHIP, group)
    return made


def _observe(
    pipe: Connection, other: Connection, flows: Sequence[Flow], watches: dict[str, socket.socket], tick_s: float
) -> None:
    _die_with_parent()
    other.close()
    poll = select.poll()
    by_number: dict[int, tuple[str, int | str, socket.socket]] = {}
    for flow, (_, receiver, _) in enumerate(flows):
        by_number[receiver.fileno()] = ("flow", flow, receiver)
    for node, watch in watches.items():
        by_number[watch.fileno()] = ("watch", node, watch)
    for number in (*by_number, pipe.fileno()):
        poll.register(number, select.POLLIN)
    state = _Tally(len(flows))
    changed: dict[str, float] = {}
    pipe.send("runs")
    due = time.monotonic()
    while True:
        now = time.monotonic()
        if flows and now >= due:
            state.send(flows)
            due = max(due + tick_s, now)
        for number, _ in poll.poll(max(0.0, due - time.monotonic()) * 1000 if flows else 50):
            if number == pipe.fileno():
                word = pipe.recv()
                if word == "mark":
                    state.reset()
                    changed.clear()
                    pipe.send("marked")
                elif word == "silent":
                    pipe.send(state.silent())
                elif word == "changes":
                    pipe.send(dict(changed))
                else:
                    pipe.send(state.seen(flows, changed))
                    if word == "stop":
                        return
                continue
            kind, key, readable = by_number[number]
            if kind == "flow":
                state.take(int(key), readable)
            elif _drain(readable):
                changed[str(key)] = time.monotonic()


def _die_with_parent() -> None:
    """Sockets keep namespaces alive, so nothing may be left of a command that is killed; Ctrl-C is the parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(PermissionError):
        os.nice(daemons.NICE)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _drain(readable: socket.socket) -> bool:
    """Takes what a kernel tells; whether any of it is about other tables than those of VRF devices."""
    found = False
    try:
        while data := readable.recv(1 << 16):
            found = any(_watched(data)) or found
    except OSError:
        pass
    return found


def _watched(data: bytes) -> Iterator[bool]:
    """Of each message: a route of a table with a number over 255 has the number 252 (linux/rtnetlink.h)."""
    at = 0
    while at + 20 < len(data):
        length, kind = struct.unpack_from("=IH", data, at)
        yield kind not in _ROUTES or data[at + 20] != _OTHER_TABLE
        at += max(16, (length + 3) & ~3)


class _Tally:
    """Counts of each flow."""

    def __init__(self, flows: int) -> None:
        self.sequence = 0
        self.flows = flows
        self.reset()

    def reset(self) -> None:
        now = time.monotonic()
        self.began = self.sequence
        self.last = [now if self.sequence else 0.0] * self.flows
        self.gaps = [0.0] * self.flows
        self.arrived = [0] * self.flows
        self.sent = 0

    def send(self, flows: Sequence[Flow]) -> None:
        data = struct.pack("!Q", self.sequence)
        self.sequence += 1
        for sender, _, to in flows:
            with suppress(OSError):  # no route: lost all the same
                sender.sendto(data, to)
        self.sent += 1

    def take(self, at: int, readable: socket.socket) -> None:
        while True:
            try:
                data = readable.recv(64)
            except OSError:
                return
            if struct.unpack("!Q", data)[0] < self.began:
                continue
            now = time.monotonic()
            self.gaps[at] = max(self.gaps[at], now - self.last[at])
            self.last[at] = now
            self.arrived[at] += 1

    def silent(self) -> int:
        """Flows of which nothing has come for a while."""
        since = time.monotonic() - 0.1
        return sum(last < since for last in self.last)

    def seen(self, flows: Sequence[Flow], changed: dict[str, float]) -> Observation:
        """So far. What is in flight is waited for: on a busy machine it can take longer than any gap."""
        end = time.monotonic()
        while time.monotonic() < end + IN_FLIGHT_S and any(arrived < self.sent for arrived in self.arrived):
            time.sleep(0.01)
            for flow, (_, receiver, _) in enumerate(flows):
                self.take(flow, receiver)
        each = zip(self.gaps, self.last, self.arrived, strict=True)
        found = (Seen(max(gap, end - last), self.sent - arrived, self.sent) for gap, last, arrived in each)
        return Observation(tuple(found), dict(changed))
