"""What is alike in a graph, by colour refinement: the coarsest partition whose classes see each other equally often.

Such an equitable partition is enough for flows: a linear program whose rows and columns are refined has the optimum of
its quotient (Grohe, Kersting, Mladenov, Selman, "Dimension Reduction via Colour Refinement", ESA 2014), so the maximum
flow of a fabric with hundreds of thousands of links is that of a graph with a dozen nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.solver import Ints

Hashes = NDArray[np.uint64]

GOLDEN, FIRST, SECOND = (np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def refine(colour: Ints, tail: Ints, head: Ints, label: Ints) -> Ints:
    """The coarsest refinement of `colour` in which nodes of one class have equally many edges of each label to each class.

    `colour`: [nodes]; `tail`, `head`, `label`: [edges], directed from tail to head. Gives the class of every node, [nodes],
    numbered by their first node. Nodes are distinguished by 64-bit hashes of their outgoing edges.
    """
    order = np.argsort(tail, kind="stable")
    tail, head = tail[order], head[order]
    marks = _mix(_mix(label[order].astype(np.uint64) + SECOND) + FIRST)  # salted, so that no class cancels a label
    first = np.flatnonzero(np.diff(tail, prepend=-1)) if len(tail) else np.empty(0, np.int64)
    seeing = tail[first]
    classes = numbered(colour)
    count = int(classes.max(initial=-1)) + 1
    while True:
        hashes = _mix(classes.astype(np.uint64) + GOLDEN)
        seen = hashes * SECOND
        if len(first):
            seen[seeing] += np.add.reduceat(_mix(hashes[head] ^ marks), first)
        classes = numbered(_mix(seen) ^ hashes)
        more = int(classes.max(initial=-1)) + 1
        if more == count:
            return classes
        count = more


def numbered(*columns: NDArray[Any]) -> Ints:
    """Class of every row, [rows], from 0 in order of first appearance.

    Rows of one class are equal in every column, each [rows].
    """
    code: NDArray[Any] = columns[0]
    for column in columns[1:]:
        (_, before), (_, value) = (np.unique(each, return_inverse=True) for each in (code, column))
        code = before.ravel() * (int(value.max(initial=0)) + 1) + value.ravel()
    _, first, every = np.unique(code, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[every.ravel()]


def representatives(classes: Ints) -> tuple[Ints, Ints]:
    """(first row, size) of every class, both [classes]; `classes`: [rows]."""
    _, first, size = np.unique(classes, return_index=True, return_counts=True)
    return first, size


def _mix(value: Hashes) -> Hashes:
    """Finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    value = (value ^ (value >> np.uint64(30))) * FIRST
    value = (value ^ (value >> np.uint64(27))) * SECOND
    return value ^ (value >> np.uint64(31))
