"""Connected components of cages: a cable joins two cages, a breakout cable one with several, and some designs mesh cages.

Computed twice: for cages, which a cable with attached ends may join, and for the connectors of optics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

STRAIGHT, STAR, MESH = range(3)  # one to one; one to several (or to one of several); several to several


@dataclass(frozen=True)
class CageGroups:
    """Links by the connected component that they are part of."""

    component: Ints  # of each link
    shape: Ints  # of each component
    hub: Ints  # per link: 0 or 1, the end (a or b) that is split; -1 where both run at one speed

    @property
    def count(self) -> int:
        return len(self.shape)


def join(a: Ints, b: Ints, a_gbps: Ints, b_gbps: Ints) -> CageGroups:
    """Components of links between nodes a and b. `a_gbps`, `b_gbps`: speeds of the nodes; the faster one is split."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if not len(a):
        return CageGroups(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
    nodes, index = np.unique(np.concatenate([a, b]), return_inverse=True)
    a, b = index.ravel()[: len(a)], index.ravel()[len(a) :]
    graph = coo_matrix((np.ones(len(a), dtype=np.int8), (a, b)), shape=(len(nodes), len(nodes)))
    count, label = connected_components(graph, directed=False)
    component = label[a].astype(np.int64)
    hub = np.where(a_gbps > b_gbps, 0, np.where(b_gbps > a_gbps, 1, -1)).astype(np.int64)
    pairs = np.unique(a.astype(np.int64) * len(nodes) + b)
    neighbors = np.bincount(np.concatenate(np.divmod(pairs, len(nodes))), minlength=len(nodes))
    size = np.bincount(label, minlength=count)
    straight = _all(component, hub == -1, count) & (size == 2)
    alone = np.where(hub == 0, neighbors[b] == 1, neighbors[a] == 1)
    star = _all(component, (hub >= 0) & alone, count)
    return CageGroups(component, np.where(straight, STRAIGHT, np.where(star, STAR, MESH)), hub)


def _all(component: Ints, flag: Flags, count: int) -> Flags:
    """Per component, whether the flag is set on each of its links."""
    found: Flags = np.bincount(component[~flag], minlength=count) == 0
    return found


def most(component: Ints, value: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The largest value in each component."""
    found = np.zeros(count)
    np.maximum.at(found, component, value)
    return found
