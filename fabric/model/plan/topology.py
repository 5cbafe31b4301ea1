"""Topology of a plan: devices as records, links as columns with the lower end first, and planned cable lengths."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

# --- Devices --------------------------------------------------------------------------------------------------

SERVER, LEAF, SPINE, CORE, ATTACHED = "server", "leaf", "spine", "core", "attached"
SWITCH_ROLES = (CORE, SPINE, LEAF)
RELAY = "relay"  # of a plan that the solver makes: the forwarding of a server without switches
PRIVATE_2_BYTE = (64_512, 65_534)  # AS numbers, RFC 6996
PRIVATE_4_BYTE = (4_200_000_000, 4_294_967_294)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device. Coordinates count from 0 and are -1 where the device has none (a core has no unit)."""

    index: int  # row in the fabric's device table; links refer to it
    name: str
    role: str  # "server" | "leaf" | "spine" | "core" | "attached"
    number: int  # from 1 within its role (servers: within their group); the row of its tables
    model: str  # catalog name
    nos: str  # network OS, "" for what is no switch or has none (InfiniBand)
    group: str = ""  # the entry of `servers` it belongs to
    unit: int = -1
    rack: int = -1
    pod: int = -1
    plane: int = -1
    rail: int = -1
    asn: int = 0  # 0: speaks no BGP


@dataclass(frozen=True, slots=True)
class PortRef:
    """One logical Ethernet port of a switch: a cage, or one of the `split` ports a cage is broken out into."""

    cage: int  # front-panel number, from 1
    sub: int  # which of the cage's ports, from 0
    split: int  # ports this cage carries; 1 = not broken out
    speed_gbps: int


def asn_rows(scheme: str, switches: Iterable[Device]) -> dict[int, int]:
    """Row of every switch, by index, in the table of AS numbers of its role; a pair has that of its first leaf."""
    its = list(switches)
    first: dict[tuple[object, ...], int] = {}
    for device in its:
        if device.role == LEAF:
            pair = (device.group, device.unit, device.rack, device.rail, device.plane)
            first[pair] = min(first.get(pair, device.number), device.number)

    def row(device: Device) -> int:
        if device.role == LEAF and scheme == "per-pair":
            return first[device.group, device.unit, device.rack, device.rail, device.plane] - 1
        if device.role == LEAF or scheme == "per-device":
            return device.number - 1
        return max(device.pod, 0) if device.role == SPINE else 0

    return {device.index: row(device) for device in its}


# --- Links: one row per logical Ethernet link -----------------------------------------------------------------

KINDS = ("server-leaf", "leaf-leaf", "leaf-spine", "spine-core", "attachments", "server-server", "peer-links")
SERVER_LEAF, LEAF_LEAF, LEAF_SPINE, SPINE_CORE, ATTACHMENT, SERVER_SERVER, PEER_LINK = range(len(KINDS))
WITH_SWITCHES = KINDS[:SERVER_SERVER]  # kinds of link that a fabric of switches may have
BETWEEN_SWITCHES = (LEAF_LEAF, LEAF_SPINE, SPINE_CORE)

Ints = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Links:
    """Columns of equal length. `a` is the lower end (server, leaf or spine), `b` the upper; of two servers the first is `a`.

    A port is (cage, sub, split): front-panel number from 1, which of the cage's ports from 0, how many the cage
    carries. On a server `cage` is the NIC from 1 and `sub` the NIC's port.
    """

    kind: Ints
    speed_gbps: Ints
    a: Ints  # device index
    a_cage: Ints
    a_sub: Ints
    a_split: Ints
    b: Ints
    b_cage: Ints
    b_sub: Ints
    b_split: Ints
    row: Ints  # coordinates of the link's subnet in its address area: the lower switch (or the leaf, for servers) …
    column: Ints  # … and its port slot; they do not change when the other end does

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def by_device(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Ends sorted by device, cage and sub: (start of each device's ends, link of each end, end 0 = a or 1 = b)."""
        count = len(self)
        device = np.concatenate([self.a, self.b])
        cage = np.concatenate([self.a_cage, self.b_cage])
        sub = np.concatenate([self.a_sub, self.b_sub])
        order = np.lexsort((sub, cage, device))
        devices = int(device.max()) + 1 if count else 0
        starts = np.searchsorted(device[order], np.arange(devices + 1))
        return starts, order % max(count, 1), order // max(count, 1)

    def of(self, device: int) -> Iterator[tuple[int, int]]:
        """(link, end) of every end at a device, in port order."""
        starts, link, end = self.by_device
        if device + 1 < len(starts):
            here = slice(starts[device], starts[device + 1])
            yield from zip(link[here].tolist(), end[here].tolist(), strict=True)

    def lists(self) -> dict[str, list[Any]]:
        """The columns as Python lists: faster than arrays when a loop reads single values."""
        return self._lists

    @cached_property
    def _lists(self) -> dict[str, list[Any]]:
        return {item.name: getattr(self, item.name).tolist() for item in fields(self)}


def concatenate(parts: list[Links]) -> Links:
    """One table of several."""
    return Links(
        **{
            item.name: np.concatenate([getattr(part, item.name) for part in parts]).astype(np.int32)
            if parts
            else np.empty(0, np.int32)
            for item in fields(Links)
        }
    )


# --- Lengths: one per kind of link, from the intent, the floor plan or the lock file --------------------------

STATED = "stated"  # `cable_length_m` of the intent
FLOOR = "floor"  # the class that covers the floor plan of the finished fabric
LOCK = "lock"  # a longer class that is in service


@dataclass(frozen=True)
class Length:
    """The cable length that headroom, reach and propagation delay are computed for."""

    metres: int
    source: str = ""  # "" for a kind of link that the fabric has not
    longest_m: float = 0.0  # the longest cable of the floor plan, for a class


Lengths = tuple[Length, ...]  # by kind, as KINDS

NONE: Lengths = (Length(0),) * len(KINDS)

WORDS = {STATED: "stated", FLOOR: "floor plan", LOCK: "lock file", "": ""}


@dataclass(frozen=True)
class Longer:
    """Cables of one kind that are longer than the length that is stated for it."""

    kind: int
    stated_m: int
    count: int
    longest_m: float


CLASSES_M = (5, 10, 20, 50, 100, 300)


BEYOND_M = (500, 1000, 2000)  # then every 1000 m; a fabric that needs one is warned of it


TOLERANCE_M = 1e-6


LONGER_WARNING = "FAB192"


ENDS = {
    SERVER_LEAF: "between a server and its leaf",
    LEAF_LEAF: "between the two leaves",
    LEAF_SPINE: "between a leaf and a spine",
    SPINE_CORE: "between a spine and a core",
    ATTACHMENT: "between a leaf and an attachment",
    SERVER_SERVER: "between two servers",
    PEER_LINK: "between the two leaves of a pair",
}


def class_of(metres: float) -> int:
    """The smallest class that covers a length."""
    fits = (size for size in (*CLASSES_M, *BEYOND_M) if metres <= size + TOLERANCE_M)
    return next(fits, math.ceil((metres - TOLERANCE_M) / 1000) * 1000)


def words(lengths: Lengths) -> str:
    """`server-leaf 10 m (floor plan: longest 7.3 m), leaf-spine 30 m (stated)`."""
    return ", ".join(f"{kind} {its.metres} m ({source(its)})" for kind, its in zip(KINDS, lengths, strict=True) if its.source)


def source(length: Length) -> str:
    """Where a length comes from: `stated`, `floor plan: longest 7.3 m`."""
    if length.source == STATED:
        return "stated"
    return f"{'lock file' if length.source == LOCK else 'floor plan'}: longest {length.longest_m:g} m"


def longer_text(its: Longer) -> tuple[str, str]:
    """Message and hint."""
    kind = KINDS[its.kind]
    return (
        f"expected cables of at most {its.stated_m} m {ENDS[its.kind]}, as PFC headroom assumes, got {its.count:,} longer on "
        f"the floor plan, the longest {its.longest_m:g} m",
        f"set `cable_length_m: {{{kind}: {class_of(its.longest_m)}}}`, or leave it out to follow the floor plan: "
        "too little headroom drops packets",
    )
