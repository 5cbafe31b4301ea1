"""The order of laying cables: bundle by bundle, with a short walking distance.

A bundle is all cables between two racks: they are carried together. The route follows the racks in a serpentine, row after
row, and at each rack takes its bundles, the one with the nearest end first. Rows are walls: the path between two rows leads
around their ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fabric.deliver.cabling.ends import Flags, Floats, Ints
from fabric.deliver.cabling.patched import stands
from fabric.deliver.cabling.runs import Runs
from fabric.design.floor.floor import Floor

TIE = 1e-6  # of bundles that begin equally near the shortest comes first, so that none is left behind in a rack


@dataclass(frozen=True, kw_only=True)
class Walk:
    """Legs in the order to lay them."""

    row: Ints  # of the run list
    step: Ints  # bundle that each is part of, from 1
    turned: Flags  # whether one begins at the upper end b
    walked_m: float
    bundles_as_listed_m: float  # one bundle at a time, in the order of the list
    cables_as_listed_m: float  # one cable at a time, in the order of the list


def walk(runs: Runs, chosen: Ints) -> Walk:
    """The order for the chosen legs."""
    distances = _Distances(runs.floor)
    racks = {end: _of_spot(runs, chosen, end, "rack") for end in "ab"}
    low, high = np.minimum(racks["a"], racks["b"]), np.maximum(racks["a"], racks["b"])
    bundles, first_of, bundle = np.unique(low * (len(runs.floor.racks) + 1) + high, return_index=True, return_inverse=True)
    pairs = np.stack(np.divmod(bundles, len(runs.floor.racks) + 1), axis=1)
    orders = _shortest(distances, pairs, np.argsort(first_of))
    rank = np.empty(len(pairs), dtype=np.int64)
    rank[orders.bundles] = np.arange(len(pairs))
    began = np.empty(len(pairs), dtype=np.int64)
    began[orders.bundles] = orders.begins
    step = rank[bundle.ravel()] if len(chosen) else np.zeros(0, np.int64)
    turned = (racks["a"] != began[bundle.ravel()]) if len(chosen) else np.zeros(0, bool)
    first = np.where(turned, *(_of_spot(runs, chosen, end, "ru") for end in "ba"))
    sequence = np.lexsort((np.arange(len(chosen)), -first, step))
    as_listed = np.sort(first_of)
    by_bundle, by_cable = (
        distances.total(racks["a"][as_listed], racks["b"][as_listed]),
        distances.total(racks["a"], racks["b"]),
    )
    return Walk(
        row=chosen[sequence],
        step=step[sequence] + 1,
        turned=turned[sequence],
        walked_m=orders.metres,
        bundles_as_listed_m=by_bundle,
        cables_as_listed_m=by_cable,
    )


def _of_spot(runs: Runs, chosen: Ints, end: str, field: str) -> Ints:
    """The rack or the rack unit of the device at an end of each leg."""
    found = np.zeros(len(chosen), dtype=np.int64)
    for number, name in enumerate(runs.names):
        mine = runs.fabric[chosen] == number
        spots = (runs.floor.place(device) for device in stands(runs.plan.fabrics[name]))
        table = np.array([getattr(spot, field) for spot in spots], dtype=np.int64)
        found[mine] = table[getattr(runs, end)[chosen][mine]]
    return found


class _Order(NamedTuple):
    """Bundles in the order to lay them, the rack that each begins at, and the metres walked."""

    bundles: Ints
    begins: Ints
    metres: float


class _Distances:
    """Walking distances between racks, in metres."""

    def __init__(self, floor: Floor) -> None:
        its = floor.geometry
        self.row = np.array([rack.row for rack in floor.racks], dtype=float) * its.row_pitch_m
        self.place = np.array([rack.place for rack in floor.racks], dtype=float) * its.rack_pitch_m
        self.length = its.racks_per_row * its.rack_pitch_m

    def between(self, one: Ints | int, other: Ints | int) -> Floats:
        """From rack to rack, by index."""
        near, far = self.place[one], self.place[other]
        round_the_end = np.minimum(near + far, 2 * self.length - near - far)
        same_row = self.row[one] == self.row[other]
        found: Floats = np.where(same_row, np.abs(near - far), round_the_end + np.abs(self.row[one] - self.row[other]))
        return found

    def total(self, begin: Ints, end: Ints) -> float:
        """Along every cable from its begin to its end, and from there to the next."""
        return float(self.between(begin, end).sum() + self.between(end[:-1], begin[1:]).sum())


def _shortest(distances: _Distances, pairs: Ints, listed: Ints) -> _Order:
    """The serpentine, unless the order of the list is shorter, as it may be on a small floor."""
    if not len(pairs):
        return _Order(np.zeros(0, np.int64), np.zeros(0, np.int64), 0.0)
    return min(_serpentine(distances, pairs), _as_listed(distances, pairs, listed), key=lambda order: order.metres)


def _serpentine(distances: _Distances, pairs: Ints) -> _Order:
    """Rack after rack, at each the nearest of its bundles. A bundle is of the rack that has more of them."""
    busy = np.bincount(pairs.ravel())
    home = np.where(busy[pairs[:, 0]] >= busy[pairs[:, 1]], pairs[:, 0], pairs[:, 1])
    rows = np.unique(distances.row, return_inverse=True)[1].ravel()
    along = np.where(rows % 2 == 0, distances.place, -distances.place)
    racks = sorted(set(home.tolist()), key=lambda rack: (rows[rack], along[rack]))
    order, begins, metres, here = [], [], 0.0, racks[0]
    for rack in racks:
        left = np.flatnonzero(home == rack)
        while len(left):
            ends = pairs[left]
            reach = np.stack([distances.between(here, ends[:, 0]), distances.between(here, ends[:, 1])], axis=1)
            length = distances.between(ends[:, 0], ends[:, 1])
            row, side = np.unravel_index(int((reach + length[:, None] * TIE).argmin()), reach.shape)
            begin, end = int(ends[row, side]), int(ends[row, 1 - side])
            metres += float(reach[row, side] + distances.between(begin, end))
            order.append(int(left[row]))
            begins.append(begin)
            here, left = end, np.delete(left, row)
    return _Order(np.array(order), np.array(begins), metres)


def _as_listed(distances: _Distances, pairs: Ints, listed: Ints) -> _Order:
    """The order of the list, each bundle from its nearer end."""
    begins, metres, here = [], 0.0, int(pairs[listed[0], 0])
    for one, other in pairs[listed].tolist():
        near = (float(distances.between(here, one)), float(distances.between(here, other)))
        begin, here = (one, other) if near[0] <= near[1] else (other, one)
        begins.append(begin)
        metres += min(near) + float(distances.between(one, other))
    return _Order(listed, np.array(begins), metres)
