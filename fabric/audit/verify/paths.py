"""How many equal-cost next hops every switch has towards every other one, over the sessions that live.

BGP's choice in a fabric of eBGP: the shortest AS path wins, equal ones are all used (multipath-relax), a path with one's
own AS number is refused, and a leaf passes on nothing but its own. All switches of a fabric at once, level by level, so
1,280 switches take about two seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BITS = 63  # AS numbers shared by several switches that one word of a mask holds


@dataclass(frozen=True)
class Paths:
    """Next hops in a fabric. `count[n, o]` is the number of sessions that switch n may use towards switch o.

    Attributes:
        index: switch → row.
        level: number of hops, [n, o]; -1 where there is no path.
        count: equal-cost next hops, [n, o]; parallel sessions count each.
    """

    index: Mapping[str, int]
    level: NDArray[np.int8]
    count: NDArray[np.int32]
    passes: NDArray[np.bool_]

    def lead(self, node: int, via: int, origins: NDArray[np.int64]) -> NDArray[np.bool_]:
        """As `leads`, for several origins at once."""
        level = self.level[via, origins]
        on: NDArray[np.bool_] = (level >= 0) & (level + 1 == self.level[node, origins])
        return on if self.passes[via] else on & (origins == via)

    def leads(self, node: int, via: int, origin: int) -> bool:
        """Whether a neighbor is a next hop of a switch towards an origin."""
        level = self.level[via, origin]
        return bool(level >= 0 and level + 1 == self.level[node, origin] and (via == origin or self.passes[via]))


def paths(asns: Mapping[str, int], transit: Iterable[str], sessions: Iterable[tuple[str, str]]) -> Paths:
    """The next hops of every switch towards every other one.

    Args:
        asns: switch → AS number.
        transit: switches that pass routes on.
        sessions: (switch, neighbor) of each session end that lives; parallel ones repeat.
    """
    names = list(asns)
    index = {name: row for row, name in enumerate(names)}
    size = len(names)
    neighbors: list[Counter[int]] = [Counter() for _ in names]
    for near, far in sessions:
        if near in index and far in index:
            neighbors[index[near]][index[far]] += 1
    passes = np.zeros(size, bool)
    passes[[index[name] for name in transit if name in index]] = True
    bit_of = _shared(list(asns.values()))
    level = np.full((size, size), -1, np.int8)
    count = np.zeros((size, size), np.int32)
    np.fill_diagonal(level, 0)
    words = 1 + max((bit // BITS for bit in bit_of if bit >= 0), default=0)
    taken = np.zeros((words, size, size), np.int64)  # AS numbers of the path from an origin to a switch, itself included
    for row, bit in enumerate(bit_of):
        if bit >= 0:
            taken[bit // BITS, row, row] = 1 << bit % BITS
    front = np.eye(size, dtype=bool)
    for hops in range(1, size + 1):
        new = np.zeros((size, size), bool)
        for node in range(size):
            if neighbors[node]:
                _step(node, neighbors[node], bit_of[node], front, level, count, taken=taken, new=new)
        if not new.any():
            break
        level[new] = hops
        front = new & passes[:, None]
    return Paths(index, level, count, passes)


def _shared(asns: Sequence[int]) -> list[int]:
    """The bit of each switch's AS number, -1 where no other switch has it: a path never returns to a switch anyway."""
    uses = Counter(asns)
    bits = {asn: bit for bit, asn in enumerate(asn for asn, number in uses.items() if number > 1)}
    return [bits.get(asn, -1) for asn in asns]


def _step(
    node: int,
    nexts: Mapping[int, int],
    bit: int,
    front: NDArray[np.bool_],
    level: NDArray[np.int8],
    count: NDArray[np.int32],
    *,
    taken: NDArray[np.int64],
    new: NDArray[np.bool_],
) -> None:
    """The origins that a switch learns at this level."""
    rows = np.fromiter(nexts, np.int64, len(nexts))
    columns = np.flatnonzero((level[node] < 0) & front[rows].any(axis=0))
    if not len(columns):
        return
    usable = front[np.ix_(rows, columns)]
    if bit >= 0:
        usable &= (taken[bit // BITS][np.ix_(rows, columns)] >> (bit % BITS) & 1) == 0
    width = np.fromiter(nexts.values(), np.int32, len(nexts)) @ usable.astype(np.int32)
    reached = width > 0
    columns, usable = columns[reached], usable[:, reached]
    if not len(columns):
        return
    count[node, columns] = width[reached]
    new[node, columns] = True
    best = rows[usable.argmax(axis=0)]
    taken[:, node, columns] = taken[:, best, columns]
    if bit >= 0:
        taken[bit // BITS, node, columns] |= 1 << bit % BITS
