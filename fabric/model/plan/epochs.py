"""The history of a wiring, as the lock keeps it: times of equal numbers, and which links were there when they began."""

from __future__ import annotations

from dataclasses import dataclass


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
