"""Which algorithm and protocol run, and how long they take.

NCCL chooses by its own estimate of a network that never limits it; what runs then takes as long as the fabric makes it.
The choice here weighs NCCL's estimate with our own, both of the healthy network, which meets the measured switching points
better than either alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fabric.solver import Floats, Ints
from fabric.solver.collectives.costs import Key, costs, others
from fabric.solver.collectives.environment import permitted
from fabric.solver.collectives.job import Job
from fabric.solver.collectives.physics import Physics
from fabric.solver.collectives.tuner import estimates

NEVER = 1e15  # µs of what cannot run
MIN_BYTES = 8  # bytes; sizes in between are looked at from here on
ALIASES = {"collnet_direct": "in_network", "collnet_chain": "in_network", "pat": "ring"}


@dataclass(frozen=True)
class Runs:
    """What runs in every row, and what the others would take."""

    keys: tuple[Key, ...]
    times: Floats  # µs, [keys, rows]
    expected: Floats  # NCCL's own estimate, µs, [keys, rows]
    chosen: Ints  # row of `keys`, [rows]

    @property
    def time_us(self) -> Floats:
        found: Floats = self.times[self.chosen, np.arange(len(self.chosen))]
        return found

    def key(self, row: int) -> Key:
        return self.keys[int(self.chosen[row])]

    def fastest(self, row: int) -> Key:
        """What would be the fastest on this very fabric."""
        return self.keys[int(np.argmin(self.times[:, row]))]


def run(
    job: Job,
    physics: Physics,
    algorithm: str = "auto",
    protocol: str = "auto",
    theirs: Mapping[Key, Floats] | None = None,
    seen: Job | None = None,
) -> Runs:
    """The choice for every row, and its time. A forced algorithm or protocol that cannot run leaves times of NEVER.

    Args:
        theirs: `tuner.estimates` of the job, for callers that run it with many parameters; they depend on the job only.
        seen: the job that the algorithm is chosen for; None for the same on a network without bottlenecks.
    """
    terms = physics.columns(np.asarray(job.generation), np.asarray(job.transport))
    algorithm = ALIASES.get(algorithm, algorithm)
    special = {key: form for key, form in others(job).items() if key[0] == algorithm and protocol in ("auto", key[1])}
    if special:
        keys = tuple(special)
        times = np.stack([np.broadcast_to(form(terms), job.bytes.shape) for form in special.values()])
        return Runs(keys, capped(times), capped(times), np.zeros(len(job.bytes), dtype=np.int64))
    table = costs(job, terms)
    keys = tuple(key for key in table if allowed(key, algorithm, protocol))
    if not keys:
        return Runs((), np.empty((0, len(job.bytes))), np.empty((0, len(job.bytes))), np.zeros(len(job.bytes), np.int64))
    able = np.stack([np.broadcast_to(permitted(job.environment, key, algorithm, protocol), job.bytes.shape) for key in keys])
    times = np.where(able, capped(np.stack([table[key] for key in keys])), NEVER)
    healthy_us = times
    if seen is not None or job.limited:
        ideal = costs(seen or job.healthy(), terms)
        healthy_us = np.where(able, capped(np.stack([ideal[key] for key in keys])), NEVER)
    theirs = estimates(job) if theirs is None else theirs
    expected = np.where(
        healthy_us < NEVER, capped(np.stack([np.broadcast_to(theirs[key], job.bytes.shape) for key in keys])), NEVER
    )
    chosen = np.argmin(healthy_us, axis=0)
    return Runs(keys, times, expected, chosen)


def allowed(key: Key, algorithm: str, protocol: str) -> bool:
    """Whether the options `algorithm` and `protocol`, each a name or `auto`, permit an (algorithm, protocol)."""
    if key[0] == "p2p":
        return algorithm in ("auto", "p2p") and protocol in ("auto", "simple")
    wanted = algorithm.split(",")  # several are left by NCCL_ALGO=Ring,Tree
    wanted += ["nvls_tree"] if "nvls" in wanted else []  # NCCL_ALGO=NVLS between domains needs the tree
    return (algorithm == "auto" or key[0] in wanted) and (protocol == "auto" or key[1] in protocol.split(","))


def capped(times: Floats) -> Floats:
    """Times in µs with NEVER for everything that cannot run: not a number, infinite or larger; any shape."""
    return np.minimum(np.nan_to_num(times, nan=NEVER, posinf=NEVER), NEVER)


def monotone(
    job: Job, physics: Physics, algorithm: str = "auto", protocol: str = "auto", seen: Job | None = None
) -> tuple[Runs, Floats]:
    """(choice, µs of every size of the job, [sizes]) where a larger message never takes less time than a smaller one.

    At a late change of the algorithm the estimate would fall with the size; measured tables have a plateau there. So the
    powers of two from 8 bytes are evaluated as well. The sizes of the job are in any order; its other fields have one value.
    """
    sizes = np.asarray(job.bytes, dtype=np.float64)
    top = max(float(sizes.max(initial=MIN_BYTES)), MIN_BYTES)
    grid = np.unique(np.concatenate([np.exp2(np.arange(3, np.floor(np.log2(top)) + 1)), sizes]))
    whole = run(job.of(grid), physics, algorithm, protocol, seen=seen and seen.of(grid))
    time = np.maximum.accumulate(whole.time_us) if whole.keys else np.full(len(grid), NEVER)
    position = np.searchsorted(grid, sizes)
    picked = Runs(whole.keys, whole.times[:, position], whole.expected[:, position], whole.chosen[position])
    return picked, time[position]
