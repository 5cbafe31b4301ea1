"""What the lock file of a site holds, as it was read or as it will be written.

A lock that was read is a set of facts. After a merge a name or a cell may have several numbers: `merged.py`, `settle.py`
and `epochs.py` say which of them hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fabric.model.plan.blocks import Block
from fabric.model.plan.epochs import Record


class PortSpot(NamedTuple):
    """A leaf port that a port of an attachment has."""

    port: int  # of the attachment, from 1
    leaf: int  # number, from 1
    slot: int  # column of the leaf's server block
    switch: str = ""  # whose management port it is


class TenantNumber(NamedTuple):
    """The number of a tenant or of a network."""

    number: int
    vlan: int = 0  # of a network, where it does not follow from the number


@dataclass(frozen=True)
class FabricLock:
    """What is kept of one fabric."""

    blocks: Mapping[str, tuple[Block, ...]] = field(default_factory=dict)
    wiring: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    attachments: Mapping[str, tuple[PortSpot, ...]] = field(default_factory=dict)
    tenants: Mapping[str, tuple[TenantNumber, ...]] = field(default_factory=dict)  # by tenant, or tenant/network
    lengths: Mapping[str, int] = field(default_factory=dict)  # metres by kind of link; of several lines the longest

    @property
    def units_per_pod(self) -> int:
        """Units of a pod of the last wiring; 0 where there were no pods."""
        shapes = [(record.place, record.shape.units_per_pod) for records in self.wiring.values() for record in records]
        return max(shapes, default=(0, 0))[1]


@dataclass(frozen=True)
class Lock:
    """What is kept of a site."""

    fabrics: Mapping[str, FabricLock] = field(default_factory=dict)
