"""What the lock file of a site holds: numbers as a few rectangles, the history of each wiring, tenants and places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# --- Blocks: one number per cell of a table -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A rectangle of cells: rows and columns [first, end), numbered row by row from `base`, `stride` apart."""

    row: int
    row_end: int
    column: int
    column_end: int
    base: int
    stride: int  # from one row to the next
    step: int  # from one column to the next

    @property
    def end(self) -> int:
        """First number behind the block."""
        return self.base + (self.row_end - self.row) * self.stride

    def number(self, row: int, column: int) -> int:
        return self.base + (row - self.row) * self.stride + (column - self.column) * self.step


Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Area:
    """The blocks of one table."""

    blocks: tuple[Block, ...]

    def number(self, row: int, column: int = 0) -> int:
        """The number of a cell. Raises KeyError for a cell outside."""
        for block in self.blocks:
            if block.row <= row < block.row_end and block.column <= column < block.column_end:
                return block.number(row, column)
        raise KeyError((row, column))

    def numbers(self, rows: Ints, columns: Ints | int = 0) -> NDArray[Any]:
        """The numbers of many cells: an int64 array, or one of Python integers where they need more bits (IPv6).

        Raises KeyError for a cell outside.
        """
        wide = any(block.end >= 2**63 for block in self.blocks)
        rows, columns = np.broadcast_arrays(rows, np.asarray(columns))
        result = np.full(rows.shape, -1, dtype=object if wide else np.int64)
        for block in self.blocks:
            inside = (rows >= block.row) & (rows < block.row_end)
            inside &= (columns >= block.column) & (columns < block.column_end)
            offset = (rows[inside] - block.row) * block.stride + (columns[inside] - block.column) * block.step
            result[inside] = offset.astype(object if wide else np.int64) + block.base
        if (result < 0).any():
            raise KeyError("a cell outside the area")
        return result


# --- History of a wiring: times of equal numbers, and the links that were there when they began ---------------


@dataclass(frozen=True, slots=True)
class Epoch:
    """A time of equal numbers: upper switches, links to each of them by group, and how many lowers there were."""

    uppers: int
    links: tuple[tuple[str, int], ...]  # (group, links), sorted
    lowers: int

    def of(self, group: str) -> int:
        """Links from a lower switch of the group to each upper; 0 before the group was there."""
        return dict(self.links).get(group, 0)


@dataclass(frozen=True, slots=True)
class Shape:
    """Numbers of a fabric without which no port can be kept: another shape is wired from scratch."""

    tiers: int
    networks: int
    uplink_gbps: int
    units_per_pod: int
    spines_per_core: int = 1  # spines of a pod that share their cores; of links between leaves and spines 1


@dataclass(frozen=True, slots=True)
class Record:
    """An epoch of the lock file."""

    place: int  # in the history, from 1
    shape: Shape
    after: int  # lower switches that were wired before this epoch
    epoch: Epoch  # its `lowers`: how many there are by now


def rank(record: Record) -> tuple[int, int, tuple[tuple[str, int], ...], int, int]:
    """Order of the records, which follows from them alone."""
    return record.place, record.epoch.uppers, record.epoch.links, record.after, record.epoch.lowers


# --- The lock -------------------------------------------------------------------------------------------------


class WiredPods(NamedTuple):
    """How the pods of a fabric in service are cabled; growth keeps it. 0: it has none, or is new."""

    units: int = 0  # of a pod
    spines_per_core: int = 0  # spines of a pod that share their cores


NOT_WIRED = WiredPods()


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


class CageSplits(NamedTuple):
    """How cages [first, end) of a switch model are split: for each speed that they have, `4x100` or `1x400`."""

    first: int  # from 1
    end: int
    splits: tuple[str, ...]  # the fastest first


def split_gbps(split: str) -> int:
    """Speed of the ports of a split in Gb/s: 100 of `4x100`."""
    return int(split.partition("x")[2])


@dataclass(frozen=True, kw_only=True)
class FabricLock:
    """What is kept of one fabric."""

    blocks: Mapping[str, tuple[Block, ...]] = field(default_factory=dict)
    wiring: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    attachments: Mapping[str, tuple[PortSpot, ...]] = field(default_factory=dict)
    tenants: Mapping[str, tuple[TenantNumber, ...]] = field(default_factory=dict)  # by tenant, or tenant/network
    lengths: Mapping[str, int] = field(default_factory=dict)  # metres by kind of link; of several lines the longest
    switches: Mapping[str, tuple[CageSplits, ...]] = field(default_factory=dict)  # by model, as the catalog had it once

    @property
    def pods(self) -> WiredPods:
        """How the pods of the last wiring are cabled."""
        shapes = [(record.place, record.shape.units_per_pod) for records in self.wiring.values() for record in records]
        cores = [(record.place, record.shape.spines_per_core) for record in self.wiring.get("spine-core", ())]
        return WiredPods(max(shapes, default=(0, 0))[1], max(cores, default=(0, 0))[1])


@dataclass(frozen=True)
class Lock:
    """What is kept of a site."""

    fabrics: Mapping[str, FabricLock] = field(default_factory=dict)
