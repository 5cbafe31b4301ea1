"""Collectives as data: a name, how its bytes are counted, and which algorithms run it.

A new collective is an entry of `COLLECTIVES`, and its row in docs/collectives.md. Of a new family are, besides, the terms of
its time (`collectives/costs.py`), its bytes on the wire (`estimate/estimate.py`) and its columns of measured errors
(`collectives/data/band.yaml`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER = "all_reduce", "all_gather", "reduce_scatter"
ALLTOALL, BROADCAST, REDUCE, SENDRECV = "alltoall", "broadcast", "reduce", "sendrecv"
GATHER, ROOTED = "gather", "rooted"  # families of several collectives; others have their name
FAMILIES = (ALL_REDUCE, GATHER, ROOTED, ALLTOALL, SENDRECV)
RINGS = ("ring", "nvls")
TREES = (*RINGS, "tree", "nvls_tree", "hierarchical", "halving_doubling", "in_network")


@dataclass(frozen=True, kw_only=True)
class Collective:
    """One collective of nccl-tests."""

    name: str
    family: str  # those of one family have one form of the time, and are measured and corrected together
    share: str  # of the buffer that a rank sends in a ring: `others`, all but its own part; `whole`; "": not defined
    algorithms: tuple[str, ...] = ()  # that can run it; none: the model does not know it, tables of it are read, not scored
    size: str = ""  # whose bytes its size counts
    pattern: str = ""  # of `PATTERNS`: who sends to whom between NVLink domains; "": as the algorithm has it
    groups_pattern: str = ""  # the same where every group of a training job calls it at the same time
    passes: int = 1  # of the buffer over a ring: 2 reduce it and hand it out again
    prose: str = ""  # name in a sentence; "": as it is

    def busbw(self, ranks: Any) -> Any:
        """busbw / algbw (nccl-tests doc/PERFORMANCE.md); 0.0 where it defines none. `ranks`: a number or an array."""
        if self.share == "others":
            return self.passes * (ranks - 1) / ranks
        return 1.0 if self.share == "whole" else 0.0


def _made(name: str, share: str, family: str = "", **more: Any) -> Collective:
    return Collective(name=name, share=share, family=family or name, **more)


BUFFER, TOTAL = "buffer of a rank", "total over the ranks"
_ALL = (
    _made(ALL_REDUCE, "others", size=BUFFER, algorithms=TREES, passes=2, prose="all-reduce"),
    _made(ALL_GATHER, "others", GATHER, size=TOTAL, algorithms=RINGS),
    _made(REDUCE_SCATTER, "others", GATHER, size=TOTAL, algorithms=RINGS),
    _made(ALLTOALL, "others", size=BUFFER, algorithms=("p2p",), pattern="peers", groups_pattern="peers"),
    _made(BROADCAST, "whole", ROOTED, size=BUFFER, algorithms=("ring",)),
    _made(REDUCE, "whole", ROOTED, size=BUFFER, algorithms=("ring",)),
    _made(SENDRECV, "whole", size=BUFFER, algorithms=("p2p",), pattern="neighbors", groups_pattern="stages"),
    *(_made("gather", "others"), _made("scatter", "others")),  # nccl-tests has programs for these as well
    *(_made("alltoallv", ""), _made("hypercube", "")),
)
COLLECTIVES = {item.name: item for item in _ALL}


def collective_names() -> tuple[str, ...]:
    """Collectives that the model has a time of."""
    return tuple(name for name, item in COLLECTIVES.items() if item.algorithms)


def of_family(family: str) -> tuple[str, ...]:
    """The collectives of a family."""
    return tuple(name for name in collective_names() if COLLECTIVES[name].family == family)
