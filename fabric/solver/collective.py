"""Collectives as data: a name, how its bytes are counted, and which algorithms run it.

A new collective is an entry of `COLLECTIVES`, and its row in docs/collectives.md. Of a new family are, besides, the terms of
its time (`collectives/costs.py`) and its columns of measured errors (`collectives/data/band.yaml`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER = "all_reduce", "all_gather", "reduce_scatter"
ALLTOALL, BROADCAST, REDUCE, SENDRECV = "alltoall", "broadcast", "reduce", "sendrecv"
GATHER, ROOTED = "gather", "rooted"  # families of several collectives; others have their name
FAMILIES = (ALL_REDUCE, GATHER, ROOTED, ALLTOALL, SENDRECV)
RINGS = ("ring", "nvls")
TREES = (*RINGS, "tree", "nvls_tree", "hierarchical", "halving_doubling", "in_network")


def _twice(ranks: Any) -> Any:
    return 2 * (ranks - 1) / ranks


def _once(ranks: Any) -> Any:
    return (ranks - 1) / ranks


def _whole(ranks: Any) -> Any:
    return 1.0


def _undefined(ranks: Any) -> Any:
    return 0.0


@dataclass(frozen=True, kw_only=True)
class Collective:
    """One collective of nccl-tests."""

    name: str
    family: str  # those of one family have one form of the time, and are measured and corrected together
    busbw: Callable[[Any], Any]  # of ranks → busbw / algbw (nccl-tests doc/PERFORMANCE.md); 0.0 where it defines none
    algorithms: tuple[str, ...] = ()  # that can run it; none: the model does not know it, tables of it are read, not scored
    size: str = ""  # whose bytes its size counts
    pattern: str = ""  # of `PATTERNS`: who sends to whom between NVLink domains; "": as the algorithm has it
    groups_pattern: str = ""  # the same where every group of a training job calls it at the same time
    passes: int = 1  # of the buffer over a ring: 2 reduce it and hand it out again
    prose: str = ""  # name in a sentence; "": as it is

    @property
    def is_modeled(self) -> bool:
        """Whether the model has a time of it."""
        return bool(self.algorithms)


COLLECTIVES = {
    item.name: item
    for item in (
        Collective(
            name=ALL_REDUCE,
            family=ALL_REDUCE,
            busbw=_twice,
            size="buffer of a rank",
            algorithms=TREES,
            passes=2,
            prose="all-reduce",
        ),
        Collective(name=ALL_GATHER, family=GATHER, busbw=_once, size="total over the ranks", algorithms=RINGS),
        Collective(name=REDUCE_SCATTER, family=GATHER, busbw=_once, size="total over the ranks", algorithms=RINGS),
        Collective(
            name=ALLTOALL,
            family=ALLTOALL,
            busbw=_once,
            size="buffer of a rank",
            algorithms=("p2p",),
            pattern="peers",
            groups_pattern="peers",
        ),
        Collective(name=BROADCAST, family=ROOTED, busbw=_whole, size="buffer of a rank", algorithms=("ring",)),
        Collective(name=REDUCE, family=ROOTED, busbw=_whole, size="buffer of a rank", algorithms=("ring",)),
        Collective(
            name=SENDRECV,
            family=SENDRECV,
            busbw=_whole,
            size="buffer of a rank",
            algorithms=("p2p",),
            pattern="neighbors",
            groups_pattern="stages",
        ),
        # nccl-tests has programs for these as well
        Collective(name="gather", family="", busbw=_once),
        Collective(name="scatter", family="", busbw=_once),
        Collective(name="alltoallv", family="", busbw=_undefined),
        Collective(name="hypercube", family="", busbw=_undefined),
    )
}


def collective_names() -> tuple[str, ...]:
    """Collectives that the model has a time of."""
    return tuple(name for name, item in COLLECTIVES.items() if item.is_modeled)


def of_family(family: str) -> tuple[str, ...]:
    """The collectives of a family."""
    return tuple(name for name in collective_names() if COLLECTIVES[name].family == family)
