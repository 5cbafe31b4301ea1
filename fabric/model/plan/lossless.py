"""Lossless classes of a fabric: one with PFC, the buffers of its switches, and the settings of each port for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabric.model.plan.topology import LEAF

if TYPE_CHECKING:
    from fabric.hardware.headroom import Headroom


@dataclass(frozen=True, slots=True)
class Marking:
    """ECN thresholds of the lossless queue of a port: WRED on instantaneous queue length, marking, never dropping."""

    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int
    rule: str  # "linear" | "nvidia" | "azure" | "cisco" | "stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lossless:
    """What a port needs so that its lossless class never drops: PFC headroom and ECN thresholds."""

    xoff_bytes: int  # headroom: what may still arrive after PAUSE was sent
    xon_bytes: int  # how far a priority group drains before it lets the sender go on
    size_bytes: int  # what the port reserves of the buffer for the class
    method: str  # "computed" | "table" | "conservative"
    marking: Marking
    priorities: tuple[int, ...] = ()  # that pause, where the fabric has several; () is that of RoCE


@dataclass(frozen=True, slots=True)
class Watchdog:
    """A queue paused for longer than `detect_ms` is drained until it was free for `restore_ms`."""

    detect_ms: int
    restore_ms: int
    poll_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """Use of a switch's buffer by the lossless class; `None` where its buffer size is unknown."""

    total_bytes: int | None  # what the chip lets a pool use
    reserved_bytes: int  # sum of the ports' `size_bytes`, or the shared headroom pool where the chip has one
    headroom_pool_bytes: int  # size of the shared headroom pool; 0: every port has its own
    shared_bytes: int | None  # what is left to all queues
    alpha_exponent: int  # a priority group may take 2^n times the free shared buffer before it sends PAUSE
    trigger_bytes: int | None  # fill of a priority group at which it sends PAUSE while all ports are congested


@dataclass(frozen=True, slots=True)
class ServiceClass:
    """A weighted class beside that of RoCE."""

    priority: int
    dscp: int
    percent: int  # ETS weight
    lossless: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Qos:
    """The classes of a fabric. Traffic class, queue, priority group and PFC priority have one number throughout."""

    priority: int  # of RoCE data: lossless
    dscp: int
    cnp_priority: int  # of congestion notifications: strict, never paused
    cnp_dscp: int
    lossless_percent: int  # ETS weight of the lossless class …
    lossy_percent: int  # … and of best effort (priority 0); together 100
    watchdog: Watchdog | None
    traffic: str  # "static": headroom for small packets only; "dynamic": for half of them
    buffer_model: str  # "auto" | "static" | "dynamic": which of SONiC's models
    buffer: Buffer
    lossless_mtu: int = 4200  # largest frame of the lossless class: the RDMA MTU and its headers
    storage: ServiceClass | None = None  # of storage NICs; None: they have that of RoCE

    @property
    def paused(self) -> tuple[int, ...]:
        """Every lossless priority."""
        storage = self.storage
        return (self.priority, storage.priority) if storage and storage.lossless else (self.priority,)

    def of(self, port: Lossless) -> tuple[int, ...]:
        """Priorities that pause on a port."""
        return port.priorities or (self.priority,)

    memory_percent: int = 0  # share of the shared buffer for the lossless class, 0: that of the network OS


SpeedAndLength = tuple[int, int]  # speed in Gb/s and cable length in metres: all that two ports of a switch can differ in


# Server group → lossless ports of attachments, and of NICs on free ports, of its fullest leaf.
FreePortCounts = Mapping[str, Mapping[SpeedAndLength, int]]


@dataclass(frozen=True)
class RoleLossless:
    """The switches of one role, and one group of leaves: their common values, and each kind of port."""

    qos: Qos
    counts: Mapping[SpeedAndLength, int]  # lossless ports of the finished fabric
    headroom: Mapping[SpeedAndLength, Headroom]
    ports: Mapping[SpeedAndLength, Lossless]


@dataclass(frozen=True)
class FabricLossless:
    """By role and, for leaves, server group; "" for the others."""

    roles: Mapping[tuple[str, str], RoleLossless]

    def of(self, role: str, group: str) -> RoleLossless:
        return self.roles[role, group if role == LEAF else ""]
