"""What a lab expects, and how it listens: forwarding by hand-made tables, LLDP, releases, frames, sockets, limits."""

from __future__ import annotations

import json
import random
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fabric import pipeline
from fabric.lab.blueprint import Blueprint, End, Wire
from fabric.lab.expected import NOTHING, Down, Estimate, endpoints, forwarding, meant, originated, together
from fabric.lab.machine import daemons, host, packets
from fabric.lab.machine.daemons import FORGETS_ROUTER_MACS, FrrDefect, Silent, Vty
from fabric.lab.machine.namespaces import CommandError, LabError, at_once, run
from fabric.lab.machine.packets import Ping, arp_request_for, tunnelled, who_has
from fabric.model.plan.lock_file import Lock
from tests import ROOT
from tests.lab.sites import COLLAPSED, EVPN, PLANES, THREE_TIERS, TWO_TIERS, drawn, planned_and_drawn

DESIGNS = {"two": TWO_TIERS, "three": THREE_TIERS, "pair": COLLAPSED, "planes": PLANES}

# --- forwarding, computed by hand ---------------------------------------------------------------------------

# Switches are called l1, s1, c1 here: the first leaf, spine, core. Their ports by number; "-" where nothing is reached.
TABLES: Mapping[tuple[str, str], Mapping[str, str]] = {  # (design, what is down) → switch → other switches and the ports
    ("two", ""): {
        "l1": "l2=31,32 s1=31 s2=32",
        "l2": "l1=31,32 s1=31 s2=32",
        "s1": "l1=1 l2=2 s2=-",
        "s2": "l1=1 l2=2 s1=-",
    },
    # A leaf passes nothing on, so the first spine is lost to the first leaf, and the second leaf has one way to it.
    ("two", "l1:31"): {
        "l1": "l2=32 s1=- s2=32",
        "l2": "l1=32 s1=31 s2=32",
        "s1": "l1=- l2=2 s2=-",
        "s2": "l1=1 l2=2 s1=-",
    },
    ("two", "l1:31 l1:32"): {
        "l1": "l2=- s1=- s2=-",
        "l2": "l1=- s1=31 s2=32",
        "s1": "l1=- l2=2 s2=-",
        "s2": "l1=- l2=2 s1=-",
    },
    ("two", "s1"): {
        "l1": "l2=32 s1=- s2=32",
        "l2": "l1=32 s1=- s2=32",
        "s2": "l1=1 l2=2 s1=-",
    },
    ("two", "l2"): {
        "l1": "l2=- s1=31 s2=32",
        "s1": "l1=1 l2=- s2=-",
        "s2": "l1=1 l2=- s1=-",
    },
    # Two pods of two spines and two leaves; each core has two cables to one spine of each pod.
    ("three", ""): {
        "l1": "l2=31,32 l3=31,32 l4=31,32 s1=31 s2=32 s3=31 s4=32 c1=31 c2=32",
        "s1": "l1=1 l2=2 l3=31,32 l4=31,32 s2=- s3=31,32 s4=- c1=31,32 c2=-",
        "s4": "l1=31,32 l2=31,32 l3=1 l4=2 s1=- s2=31,32 s3=- c1=- c2=31,32",
        "c1": "l1=1,2 l2=1,2 l3=3,4 l4=3,4 s1=1,2 s2=- s3=3,4 s4=- c2=-",
    },
    ("three", "c1:1"): {
        "l1": "l2=31,32 l3=31,32 l4=31,32 s1=31 s2=32 s3=31 s4=32 c1=31 c2=32",
        "s1": "l1=1 l2=2 l3=32 l4=32 s2=- s3=32 s4=- c1=32 c2=-",
        "c1": "l1=2 l2=2 l3=3,4 l4=3,4 s1=2 s2=- s3=3,4 s4=- c2=-",
    },
    ("three", "c1"): {
        "l1": "l2=31,32 l3=32 l4=32 s1=31 s2=32 s3=- s4=32 c1=- c2=32",
        "s1": "l1=1 l2=2 l3=- l4=- s2=- s3=- s4=- c1=- c2=-",
        "c2": "l1=1,2 l2=1,2 l3=3,4 l4=3,4 s1=- s2=1,2 s3=- s4=3,4 c1=-",
    },
    # What a spine cannot reach its cores and the other pod's spine below them cannot reach over it either.
    ("three", "l1:31"): {
        "l1": "l2=32 l3=32 l4=32 s1=- s2=32 s3=- s4=32 c1=- c2=32",
        "l2": "l1=32 l3=31,32 l4=31,32 s1=31 s2=32 s3=31 s4=32 c1=31 c2=32",
        "l3": "l1=32 l2=31,32 l4=31,32 s1=31 s2=32 s3=31 s4=32 c1=31 c2=32",
        "s3": "l1=- l2=31,32 l3=1 l4=2 s1=31,32 s2=- s4=- c1=31,32 c2=-",
        "c1": "l1=- l2=1,2 l3=3,4 l4=3,4 s1=1,2 s2=- s3=3,4 s4=- c2=-",
    },
    ("pair", ""): {"l1": "l2=15,16", "l2": "l1=15,16"},
    ("pair", "l1:15"): {"l1": "l2=16", "l2": "l1=16"},
    ("pair", "l1:15 l1:16"): {"l1": "l2=-", "l2": "l1=-"},
    ("pair", "l2"): {"l1": "l2=-"},
    # Leaves one and three are in the first plane with the first two spines.
    ("planes", ""): {
        "l1": "l2=- l3=31,32 l4=- s1=31 s2=32 s3=- s4=-",
        "l2": "l1=- l3=- l4=31,32 s1=- s2=- s3=31 s4=32",
        "s1": "l1=1 l2=- l3=2 l4=- s2=- s3=- s4=-",
    },
    ("planes", "s1"): {
        "l1": "l2=- l3=32 l4=- s1=- s2=32 s3=- s4=-",
        "l4": "l1=- l2=31,32 l3=- s1=- s2=- s3=31 s4=32",
    },
}


def long(lab: Blueprint, short: str) -> str:
    """`s2` → backend-spine002."""
    role = {"l": "-leaf", "s": "-spine", "c": "-core"}[short[0]]
    return next(name for name in lab.views if name.endswith(f"{role}{int(short[1:]):03}"))


def short(name: str) -> str:
    role = name.rpartition("-")[2]
    return f"{role[0]}{int(role[-3:])}"


def down(lab: Blueprint, words: str) -> Down:
    """`s1 l1:31`: the first spine, and the cable in port 31 of the first leaf."""
    nodes, cables = set(), set()
    for word in words.split():
        node, _, port = word.partition(":")
        if port:
            end = End(long(lab, node), f"swp{port}")
            cables.add(next(wire for wire in lab.wires if end in (wire.a, wire.b)))
        else:
            nodes.add(long(lab, node))
    return Down(frozenset(nodes), frozenset(cables))


def table(lab: Blueprint, node: str, what: Down) -> str:
    """Other switches and the ports to them; everything that one switch makes known must take the same way."""
    expected = forwarding(lab, what)[long(lab, node)]
    found: dict[str, set[str]] = {}
    for name, view in lab.views.items():
        ways = {expected[prefix] for prefix in originated(view) if prefix in expected}
        found |= {short(name): {",".join(sorted(port[3:] for port in way)) or "-" for way in ways}} if ways else {}
    assert all(len(ways) == 1 for ways in found.values())
    order = sorted(found, key=lambda name: ("lsc".index(name[0]), name))
    return " ".join(f"{name}={found[name].pop()}" for name in order)


@pytest.mark.parametrize(("design", "what"), TABLES, ids=[f"{design} {what or 'whole'}" for design, what in TABLES])
def test_forwarding(design: str, what: str) -> None:
    lab = drawn(DESIGNS[design])
    for node, wanted in TABLES[design, what].items():
        assert table(lab, node, down(lab, what)) == wanted, node


def test_what_is_announced() -> None:
    """Loopback and servers' prefix of a routed leaf; loopback and tunnel address of one with tenants."""
    two, evpn = drawn(TWO_TIERS), drawn(EVPN.replace("SITE", "evpn"))
    assert originated(two.views["backend-leaf001"]) == ("10.0.0.3/32", "10.128.0.0/26")
    assert originated(evpn.views["backend-leaf001"]) == ("10.0.0.3/32", "10.2.0.1/32")
    assert originated(evpn.views["backend-spine001"]) == ("10.0.0.1/32",)


@cache
def whole(name: str) -> Blueprint:
    if name in DESIGNS:
        return drawn(DESIGNS[name])
    return planned_and_drawn(pipeline.load(ROOT / "intent" / f"{name}.yaml"))


@pytest.mark.parametrize("name", [*DESIGNS, "ai-frr", "ai-sonic", "lab"])
@pytest.mark.parametrize("seed", range(5))
def test_forwarding_is_what_the_estimate_uses(name: str, seed: int) -> None:
    """Two ways to the same next hops: AS paths here, distances in the estimate."""
    lab, chance = whole(name), random.Random(seed)
    cables = [wire for wire in lab.cables if wire.a.node in lab.views and wire.b.node in lab.views]
    broken = [NOTHING]
    for _ in range(4):
        nodes = chance.sample(list(lab.views), chance.choice((0, 0, 1, 2)))
        alive = [wire for wire in cables if not {wire.a.node, wire.b.node} & set(nodes)]
        broken.append(Down(frozenset(nodes), frozenset(chance.sample(alive, min(len(alive), chance.randint(0, 4))))))
    for fabric in {view.fabric for view in lab.views.values()}:
        estimate = Estimate(lab, fabric)
        for what in broken:
            tables = forwarding(lab, what)
            for (node, leaf), interfaces in estimate.left(what).hops.items():
                assert tables[node][originated(lab.views[leaf])[0]] == interfaces, (fabric, node, leaf, what)


@pytest.mark.parametrize(
    ("design", "what", "paths", "share"),
    [
        ("two", "", (2, 2), 1.0),
        ("two", "l1:31", (1, 1), 0.75),
        ("two", "s1", (1, 1), 0.75),
        ("pair", "l1:15", (1, 1), None),
        ("planes", "s1", (1, 2), 0.75),
    ],
)
def test_what_is_left(design: str, what: str, paths: tuple[int, int], share: float | None) -> None:
    lab = drawn(DESIGNS[design])
    left = Estimate(lab, next(iter(lab.views.values())).fabric).left(down(lab, what))
    assert left.paths == paths
    assert share is None or left.share == pytest.approx(share, abs=0.02)


def test_parts_that_nothing_joins() -> None:
    parts = together(drawn(PLANES))
    assert [short(name) for name, part in parts.items() if part == parts["backend-leaf001"]] == ["s1", "s2", "l1", "l3"]
    assert len(set(together(drawn(THREE_TIERS)).values())) == 1


def test_who_is_meant_to_reach_whom() -> None:
    lab = drawn(EVPN.replace("SITE", "evpn"))
    ends, part = {end.server: end for end in endpoints(lab)}, together(lab)
    assert {end.tenant for end in ends.values()} == {"red", "blue"}
    wanted = {(1, 1): None, (1, 3): True, (1, 2): False, (2, 4): True, (4, 1): False}
    found = {pair: meant(ends[f"gpu-{pair[0]:04}"], ends[f"gpu-{pair[1]:04}"], lambda a, b: False, part) for pair in wanted}
    assert found == wanted  # where no one lets another tenant in


# --- releases with faults of their own ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "has"),
    [
        ("7.5.1", False), ("8.3", False), ("8.4", True), ("8.4.0", True), ("8.4.4", True), ("8.4.4-1~deb12u1", True),
        ("8.4.5", False), ("8.4.10", False), ("8.5", True), ("8.5.2", True), ("8.5.3", False), ("8.5.4", False),
        ("9.0", True), ("9.0.1", False), ("9.1", False), ("10.3", False), ("10.5.0-dev", False), ("unknown", False),
        ("", False),
    ],
)  # fmt: skip
def test_a_release_with_a_fault(version: str, has: bool) -> None:
    assert FORGETS_ROUTER_MACS.in_(version) is has


@pytest.mark.parametrize(
    ("version", "has"), [("1.9", False), ("2.0", True), ("2.1.9", True), ("3.0", True), ("3.0.2", False)]
)
def test_a_fault_that_one_branch_fixes(version: str, has: bool) -> None:
    assert FrrDefect((2, 0, 0), ((3, 0, 1),), "", "").in_(version) is has


# --- frames -------------------------------------------------------------------------------------------------

ME, GATEWAY = bytes.fromhex("020000000001"), bytes.fromhex("00005e000101")


def arp(operation: int, source: str, target: str, mac: bytes = ME, to: bytes = b"\xff" * 6) -> bytes:
    packet = struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation)
    packet += mac + ip_address(source).packed + bytes(6) + ip_address(target).packed
    return to + mac + struct.pack("!H", 0x0806) + packet


def vxlan(inner: bytes, port: int = 4789, protocol: int = 17, options: bytes = b"") -> bytes:
    """A frame in a packet in a frame."""
    length = 5 + len(options) // 4
    ip = struct.pack("!BBHHHBBH4s4s", 0x40 | length, 0, 0, 0, 0, 64, protocol, 0, bytes(4), bytes(4)) + options
    udp = struct.pack("!HHHH", 50000, port, 0, 0)
    return bytes(12) + struct.pack("!H", 0x0800) + ip + udp + struct.pack("!II", 0x08000000, 10001 << 8) + inner


QUESTION = arp(1, "10.20.0.2", "10.20.0.1")


@pytest.mark.parametrize(
    ("frame", "inner"),
    [
        (vxlan(QUESTION), QUESTION),
        (vxlan(QUESTION, options=bytes(8)), QUESTION),  # a longer IP header
        (vxlan(b""), b""),
        (vxlan(QUESTION, port=4790), None),
        (vxlan(QUESTION, protocol=6), None),
        (QUESTION, None),
        (b"", None),
        (vxlan(QUESTION)[:40], None),
        (bytes(12) + b"\x86\xdd" + bytes(60), None),
    ],
)
def test_what_a_tunnel_carries(frame: bytes, inner: bytes | None) -> None:
    assert tunnelled(frame) == inner


@pytest.mark.parametrize(
    ("frame", "asks"),
    [
        (QUESTION, True),
        (tunnelled(vxlan(QUESTION)), True),
        (arp(2, "10.20.0.2", "10.20.0.1"), False),  # an answer
        (arp(1, "10.20.0.1", "10.20.0.2"), False),  # for another one
        (QUESTION[:41], False),
        (vxlan(QUESTION), False),
        (b"", False),
        (None, False),
    ],
)
def test_questions_for_an_address(frame: bytes | None, asks: bool) -> None:
    assert arp_request_for(frame, "10.20.0.1") is asks


class Packets:
    """A packet socket whose far end gives some frames."""

    family, own = socket.AF_PACKET, ("eth0", 0x0806, 0, 1, ME)

    def __init__(self, *args: Any) -> None:
        self.sent: list[bytes] = []
        self.frames: list[bytes] = []

    def getsockname(self) -> tuple[Any, ...]:
        return self.own

    def send(self, frame: bytes) -> None:
        self.sent.append(frame)

    def recv(self, size: int) -> bytes:
        if not self.frames:
            raise TimeoutError
        return self.frames.pop(0)

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args: None  # bind, settimeout, close


@pytest.mark.parametrize(
    ("frames", "answers"),
    [
        ([], []),
        ([arp(2, "10.20.0.1", "10.20.0.2", GATEWAY, ME)], ["00:00:5e:00:01:01"]),
        ([arp(2, "10.20.0.1", "10.20.0.2", GATEWAY, ME)] * 2, ["00:00:5e:00:01:01"] * 2),
        ([arp(2, "10.20.0.9", "10.20.0.2", GATEWAY, ME)], []),  # of another one
        ([arp(2, "10.20.0.1", "10.20.0.2", GATEWAY, GATEWAY)], []),  # to another one
        ([arp(1, "10.20.0.1", "10.20.0.2", GATEWAY, ME)], []),  # a question
        ([b"", bytes(20)], []),
    ],
)
def test_who_has(frames: list[bytes], answers: list[str]) -> None:
    wire = Packets()
    wire.frames = list(frames)
    live: Any = SimpleNamespace(socket=lambda *kind: wire)
    assert who_has(live, "gpu-0001", "eth0", "10.20.0.2", "10.20.0.1") == answers
    assert wire.sent == [QUESTION]


# --- pings --------------------------------------------------------------------------------------------------


class Raw:
    """A raw socket of one address, joined to a network that answers as reported."""

    def __init__(self, family: int, answer: Callable[[bytes], list[bytes]]) -> None:
        self.family, self.answer = family, answer
        self.near, self.far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.near.setblocking(False)

    def sendto(self, data: bytes, to: tuple[str, int]) -> None:
        for reply in self.answer(data):
            self.far.send(reply)

    def recv(self, size: int) -> bytes:
        return self.near.recv(size)

    def fileno(self) -> int:
        return self.near.fileno()

    def bind(self, *args: Any) -> None: ...

    def setsockopt(self, *args: Any) -> None: ...

    def close(self) -> None:
        self.near.close()
        self.far.close()


def over_ip(data: bytes, options: int = 0) -> bytes:
    """As a raw socket of IPv4 gives it: with the IP header."""
    return bytes([0x45 + options]) + bytes(19 + 4 * options) + data


def reply(data: bytes, kind: int = 0) -> bytes:
    return bytes([kind]) + data[1:]


def asked(source: str, target: str, size: int = 84) -> Ping:
    return Ping(node="gpu", source=source, target=target, size=size)


V4, V6 = ("10.0.0.1", "10.0.0.2"), ("2001:db8::1", "2001:db8::2")
ANSWERS: Mapping[str, tuple[tuple[str, str], Callable[[bytes], list[bytes]], int]] = {
    "silence": (V4, lambda data: [], 0),
    "one reply": (V4, lambda data: [over_ip(reply(data))], 1),
    "two replies": (V4, lambda data: [over_ip(reply(data))] * 2, 2),
    "IP options": (V4, lambda data: [over_ip(reply(data), options=2)], 1),
    "the question itself": (V4, lambda data: [over_ip(data)], 0),
    "unreachable": (V4, lambda data: [over_ip(reply(data, 3))], 0),
    "a reply of another server": (V4, lambda data: [over_ip(reply(b"\x00" * 8 + b"hello"))], 0),
    "a reply to no question": (V4, lambda data: [over_ip(bytes(8) + b"fabric-lab" + b"\xff" * 60)], 0),
    "cut off": (V4, lambda data: [over_ip(b"\x00"), over_ip(bytes(8) + b"fabric-lab")], 0),
    "one reply, IPv6": (V6, lambda data: [reply(data, 129)], 1),
    "the question itself, IPv6": (V6, lambda data: [data], 0),
}


@pytest.mark.parametrize(("ends", "answer", "count"), ANSWERS.values(), ids=ANSWERS)
def test_replies(ends: tuple[str, str], answer: Callable[[bytes], list[bytes]], count: int) -> None:
    live: Any = SimpleNamespace(socket=lambda node, vrf, family, *kind: Raw(family, answer))
    assert packets.ping(live, [asked(*ends)], tries=2, wait_s=0.02) == [count]


@pytest.mark.parametrize("size", [84, 1500, 9000])
@pytest.mark.parametrize("ends", [V4, V6])
def test_packets_have_their_size(ends: tuple[str, str], size: int) -> None:
    """With its headers, and for IPv4 with a checksum that is right."""
    sent: list[bytes] = []

    def answer(data: bytes) -> list[bytes]:
        sent.append(data)
        return [over_ip(reply(data)) if ends == V4 else reply(data, 129)]

    live: Any = SimpleNamespace(socket=lambda node, vrf, family, *kind: Raw(family, answer))
    assert packets.ping(live, [asked(*ends, size=size)]) == [1]
    assert [len(data) + (20 if ends == V4 else 40) for data in sent] == [size]
    if ends == V4:
        total = sum(struct.unpack(f"!{len(sent[0]) // 2}H", sent[0]))
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        assert total == 0xFFFF


def test_a_lost_packet_is_asked_for_again() -> None:
    tries: list[bytes] = []

    def answer(data: bytes) -> list[bytes]:
        tries.append(data)
        return [over_ip(reply(data))] if len(tries) == 3 else []

    live: Any = SimpleNamespace(socket=lambda node, vrf, family, *kind: Raw(family, answer))
    assert packets.ping(live, [asked(*V4)], tries=4, wait_s=0.02) == [1]
    assert len(tries) == 3


def test_a_late_reply_is_not_a_second_one() -> None:
    """On a busy machine the first try may be answered while the second one waits."""
    tries: list[bytes] = []

    def answer(data: bytes) -> list[bytes]:
        tries.append(data)
        return [over_ip(reply(one)) for one in tries] if len(tries) == 2 else []

    live: Any = SimpleNamespace(socket=lambda node, vrf, family, *kind: Raw(family, answer))
    assert packets.ping(live, [asked(*V4)], tries=3, wait_s=0.02) == [1]


def test_replies_go_to_who_asked() -> None:
    """Sockets of one node receive each other's replies; a reply that comes to another address is none."""
    made: list[Raw] = []

    def astray(data: bytes) -> list[bytes]:
        made[1].far.send(over_ip(reply(data)))
        return []

    def opened(node: str, vrf: str, family: int, *kind: int) -> Raw:
        made.append(Raw(family, astray))
        return made[-1]

    live: Any = SimpleNamespace(socket=opened)
    assert packets.ping(live, [asked(*V4), asked("10.0.0.9", "10.0.0.2")], tries=1, wait_s=0.02) == [0, 1]


# --- daemons ------------------------------------------------------------------------------------------------

Server = Callable[[str], list[bytes] | None]  # question → what is sent of the answer, piece by piece; None: hangs up


@contextmanager
def daemon(home: Path, answer: Server) -> Iterator[list[str]]:
    """A socket like that of bgpd, and the questions that it has reported."""
    neighbors: list[str] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(home / "bgpd.vty"))
        listening.listen()

        def serve() -> None:
            talk, _ = listening.accept()
            with talk:
                pending = b""
                while part := talk.recv(4096):
                    pending += part
                    while b"\0" in pending:
                        question, _, pending = pending.partition(b"\0")
                        neighbors.append(question.decode())
                        pieces = answer(neighbors[-1])
                        if pieces is None:
                            return
                        for piece in pieces:
                            talk.sendall(piece)
                            select.select([], [], [], 0.01)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield neighbors


END = b"\0\0\0\0"


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([b"hello" + END], "hello"),
        ([b"hel", b"lo" + END], "hello"),
        ([b"hello\0", b"\0", b"\0", b"\0"], "hello"),
        ([b"hello\0\0\0\x01"], "hello"),  # a code that is not 0: the command failed, and reported why
        ([END], ""),
        ([b"x" * 1_000_000, END], "x" * 1_000_000),
        (["Zürich".encode() + END], "Zürich"),
        ([b"\xff" + END], "\ufffd"),
    ],
)
def test_an_answer_in_pieces(pieces: list[bytes], text: str, tmp_path: Path) -> None:
    with daemon(tmp_path, lambda question: pieces) as neighbors, Vty(tmp_path, "bgpd") as talk:
        assert talk.ask("show version") == text
        assert talk.ask("show version") == text  # and nothing is left over for the next question
    assert neighbors == ["show version", "show version"]


@pytest.mark.parametrize(("answer", "value"), [('{"a": [1]}', {"a": [1]}), ("[]", []), ("", {}), (" \n", {}), ("{}\n", {})])
def test_json(answer: str, value: object, tmp_path: Path) -> None:
    with daemon(tmp_path, lambda question: [answer.encode() + END]), Vty(tmp_path, "bgpd") as talk:
        assert talk.json("show bgp json") == value


def test_no_json(tmp_path: Path) -> None:
    answer = b"% Unknown command\n" + END
    messages = f"{tmp_path.name}: bgpd: 'show bgp json' returned no JSON: % Unknown command"
    with daemon(tmp_path, lambda question: [answer]), Vty(tmp_path, "bgpd") as talk, pytest.raises(Silent, match=messages):
        talk.json("show bgp json")


def test_a_daemon_that_hangs_up(tmp_path: Path) -> None:
    with daemon(tmp_path, lambda question: None), Vty(tmp_path, "bgpd") as talk:
        with pytest.raises(Silent, match="bgpd closed the connection at 'show version'"):
            talk.ask("show version")
        with pytest.raises(Silent):
            talk.ask("show version")


def test_a_daemon_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemons, "TIMEOUT_S", 0.05)
    with (
        daemon(tmp_path, lambda question: [b"half an ans"]),
        Vty(tmp_path, "bgpd") as talk,
        pytest.raises(Silent, match="bgpd does not answer 'show version': timed out"),
    ):
        talk.ask("show version")


def test_no_daemon(tmp_path: Path) -> None:
    with pytest.raises(Silent, match=f"{tmp_path.name}: zebra does not answer: No such file"):
        Vty(tmp_path, "zebra")
    (tmp_path / "bgpd.vty").touch()
    with pytest.raises(Silent, match="bgpd does not answer: Connection refused"):
        Vty(tmp_path, "bgpd")


def test_lines_of_config(tmp_path: Path) -> None:
    def answer(question: str) -> list[bytes]:
        return [b"% Unknown command: router bpg 1\n" + END] if question == "router bpg 1" else [END]

    with daemon(tmp_path, answer) as neighbors, Vty(tmp_path, "bgpd") as talk:
        talk.configure("router bgp 1", "no bgp default ipv4-unicast")
        with pytest.raises(LabError, match="rejects 'router bpg 1': % Unknown command"):
            talk.configure("router bpg 1", "never sent")
    assert neighbors[:5] == ["enable", "configure terminal", "router bgp 1", "no bgp default ipv4-unicast", "end"]
    assert "never sent" not in neighbors


# --- limits of the host -------------------------------------------------------------------------------------

DEFAULTS = {1: 128, 2: 512, 3: 1024}
RAISED = {1: 32_768, 2: 65_536, 3: 131_072}


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A /proc/sys as kernels have it, and a run folder that is not there yet."""
    folder = tmp_path / "sys"
    for family in ("ipv4", "ipv6"):
        (folder / f"net/{family}/neigh/default").mkdir(parents=True)
        put(folder, family, DEFAULTS)
    monkeypatch.setattr(host, "SYSCTL", folder)
    monkeypatch.setattr(host, "RUN", tmp_path / "run")
    monkeypatch.setattr(host, "JOURNAL", tmp_path / "run/limits.json")
    return folder


def put(folder: Path, family: str, values: Mapping[int, int]) -> None:
    for number, value in values.items():
        (folder / f"net/{family}/neigh/default/gc_thresh{number}").write_text(f"{value}\n", encoding="ascii")


def got(folder: Path, family: str = "ipv4") -> dict[int, int]:
    return {
        number: int((folder / f"net/{family}/neigh/default/gc_thresh{number}").read_text(encoding="ascii"))
        for number in (1, 2, 3)
        if (folder / f"net/{family}/neigh/default/gc_thresh{number}").exists()
    }


def test_limits_are_raised_and_put_back(proc: Path) -> None:
    host.raise_limits()
    assert (got(proc), got(proc, "ipv6")) == (RAISED, RAISED)
    written = json.loads(host.JOURNAL.read_text(encoding="utf-8"))
    assert (len(written), written["net/ipv6/neigh/default/gc_thresh3"]) == (6, 1024)
    host.raise_limits()  # of a second lab, which finds them raised
    assert json.loads(host.JOURNAL.read_text(encoding="utf-8")) == written
    host.restore_limits()
    assert (got(proc), got(proc, "ipv6"), host.JOURNAL.exists()) == (DEFAULTS, DEFAULTS, False)
    host.restore_limits()
    assert got(proc) == DEFAULTS


def test_higher_limits_stay(proc: Path) -> None:
    higher = {1: 200_000, 2: 300_000, 3: 400_000}
    put(proc, "ipv4", higher)
    host.raise_limits()
    assert (got(proc), got(proc, "ipv6")) == (higher, RAISED)
    host.restore_limits()
    assert (got(proc), got(proc, "ipv6")) == (higher, DEFAULTS)


def test_a_value_changed_meanwhile_stays(proc: Path) -> None:
    host.raise_limits()
    put(proc, "ipv4", {3: 500_000})
    host.restore_limits()
    assert got(proc) == {1: 128, 2: 512, 3: 500_000}


def test_limits_that_a_kernel_does_not_have(proc: Path) -> None:
    for number in DEFAULTS:
        (proc / f"net/ipv6/neigh/default/gc_thresh{number}").unlink()
    host.raise_limits()
    assert (got(proc), got(proc, "ipv6")) == (RAISED, {})
    host.restore_limits()
    assert (got(proc), got(proc, "ipv6")) == (DEFAULTS, {})


def test_an_accident_while_limits_are_raised(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was there is written down before it is changed; another start does not take the raised for the old."""
    path, writes = type(proc), []
    whole = path.write_text

    def some(self: Path, text: str, **kind: Any) -> int:
        if "gc_thresh" in self.name:
            writes.append(self.name)
            if len(writes) == 3:
                raise OSError("power")
        return whole(self, text, **kind)

    with monkeypatch.context() as patch:
        patch.setattr(path, "write_text", some)
        with pytest.raises(OSError, match="power"):
            host.raise_limits()
    host.raise_limits()
    host.restore_limits()
    assert (got(proc), got(proc, "ipv6")) == (DEFAULTS, DEFAULTS)


def test_labs_of_several_sites_come_at_once(proc: Path) -> None:
    for _ in range(20):
        at_once(lambda number: host.raise_limits(), range(8))
        assert (got(proc), got(proc, "ipv6")) == (RAISED, RAISED)
        host.restore_limits()
        assert (got(proc), got(proc, "ipv6")) == (DEFAULTS, DEFAULTS)


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"net/ipv4/neigh/default/gc_thresh3": "a lot"}'])
def test_a_journal_that_is_broken(text: str, proc: Path) -> None:
    host.JOURNAL.parent.mkdir()
    host.JOURNAL.write_text(text, encoding="utf-8")
    host.raise_limits()
    host.restore_limits()
    assert not host.JOURNAL.exists()


# --- programs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "messages"),
    [
        (("no-such-program", "-x"), "no-such-program -x: not installed"),
        (("sh", "-c", "echo why >&2; exit 3"), "sh -c echo why >&2; exit 3: why"),
        (("sh", "-c", "echo why; exit 3"), "sh -c echo why; exit 3: why"),
        (("false",), "false: no output"),
        (("sleep", "5"), "sleep 5: not finished after 0 s"),
    ],
)
def test_a_program_that_fails(command: tuple[str, ...], messages: str) -> None:
    with pytest.raises(CommandError) as caught:
        run(*command, timeout_s=0.2)
    assert str(caught.value) == messages


def test_a_program_that_may_fail() -> None:
    assert run("sh", "-c", "cat; exit 1", text="input", check=False).stdout == "input"


def test_several_jobs() -> None:
    assert at_once(lambda number: number * number, range(50)) == [number * number for number in range(50)]
    with pytest.raises(ZeroDivisionError):
        at_once(lambda number: 1 // number, [1, 0, 2])


def test_the_other_end_of_a_wire() -> None:
    wire = Wire(End("leaf1", "swp1"), End("spine1", "swp2"))
    assert (wire.other("leaf1"), wire.other("spine1")) == (End("spine1", "swp2"), End("leaf1", "swp1"))


def test_a_new_plan_is_drawn_without_a_lock() -> None:
    """Numbers that a site has handed out are its lab's as well; a scaled or translated one gets its own."""
    intent = pipeline.load(ROOT / "intent/ai-frr.yaml")
    assert planned_and_drawn(intent).plan.lock == pipeline.plan(intent).lock
    assert planned_and_drawn(intent, fresh=True).plan.lock == pipeline.plan(intent, Lock()).lock
