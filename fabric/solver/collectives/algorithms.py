"""Which algorithm and protocol run, and how long they take.

NCCL chooses by its own estimate of a network that never limits it; what runs then takes as long as the fabric makes it.
The choice here is that with the shortest of our own times on the healthy network. NCCL's estimate stands beside it, as what
NCCL expects.

NCCL's own estimate is re-implemented from the facts of its tables, NVIDIA/nccl@5067397c2676 (2.30.7): src/graph/tuning.cc,
and the channels and speeds that src/graph/search.cc finds for the usual boards. Its times are 25 % off what is measured in
the median, so they are no forecast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabric.solver import Floats, Ints
from fabric.solver.collective import ROOTED
from fabric.solver.collectives.costs import PROTOCOLS, RING_HOP_US, RING_NET_US, TREE_HOP_US, TREE_NET_US, Key, costs, others
from fabric.solver.collectives.job import Job, kind_of, nvlink_ranks, permitted
from fabric.solver.collectives.physics import Physics

# --- NCCL's own estimate --------------------------------------------------------------------------------------

# one row per generation of physics.yaml: Volta, Ampere, Hopper, Blackwell; AMD's use the row of the most similar one
LIKE = np.array([0, 1, 2, 3, 1, 2, 2, 1])
NVLINK = np.array([120.0, 240.0, 370.8, 721.8])  # GB/s of a GPU as NCCL's model has it
CHANNELS, CHANNEL = np.array([12, 12, 12, 16]), np.array([10.0, 20.0, 30.0, 45.0])  # of a ring in one server
LL_MAX = np.array([39.0, 87.7, 141.0, 282.0])  # of LL in one server
LL_NET = (30.0, 19.7)  # of LL between servers: mean of Intel's and AMD's hosts
RING_LL128 = np.array([20.0, 20.0, 36.7, 40.0])
TREE_LL128 = np.array([[20, 20, 20], [20, 20, 20], [36.7, 36.7, 29], [55.6, 31.67, 20]])
TREE = np.array([[26.5, 18.5, 10], [24, 23.6, 17.8], [38.7, 41.4, 36], [70, 42.8, 24]])
NVLS_TREE = np.array([[0, 0, 0], [0, 0, 0], [0, 57.7, 45.5], [0, 96, 80]])
NVLS = np.array([0.0, 0.0, 0.85, 0.74])
NVLS_CHANNELS, NVLS_US, NVLS_NET_US = 16, 25.0, 20.9
BASE_RING, BASE_TREE = (6.6, 14.0, 8.4), (6.8, 14.0, 8.4)
POST_US = (1.0, 1.0, 3.0)  # host time of a network operation
LADDER = np.array([3, 6, 10, 12, 15, 18, 20, 22, 24, 30, 40, 42, 45.1, 48, 80, 86, 96])  # GB/s per channel that NCCL tries
PLATEAU = 1.4  # factor on ring Simple's latency above 64 bytes a rank and channel
# a tree's bandwidth by floor(log2(size / 64))
CORRECTION = np.array(
    [
        [1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1, 1, 1],
        [*[0.9] * 7, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9],
    ]
)


def estimates(job: Job) -> dict[Key, Floats]:
    """µs that NCCL expects of each (algorithm, protocol) of `costs`, [rows]."""
    like = LIKE[np.asarray(job.generation)]
    size = np.where(job.domains == 1, 0, np.where(np.asarray(job.domains) == 2, 1, 2))
    graph = _graph(job, like)
    times_us: dict[Key, Floats] = {}
    for at, protocol in enumerate(PROTOCOLS):
        times_us["ring", protocol] = _ring(job, like, graph, at)
        if "tree" in job.spec.algorithms:
            times_us["tree", protocol] = _tree(job, like, size, graph, at)
    times_us["nvls", "simple"], times_us["nvls_tree", "simple"] = _nvls(job, like, size)
    times_us["p2p", "simple"] = np.ones(len(job.bytes))
    return times_us


def _graph(job: Job, like: Any) -> tuple[Any, Any]:
    """(channels, bandwidth of all of them) of the rings that its search finds."""
    step = np.searchsorted(LADDER, np.minimum(job.nic_GBps, LADDER[-1]), side="right") - 1
    nics = np.clip(job.net_GBps / job.nic_GBps, 1, 32)
    channels = np.where(job.crosses, nics, CHANNELS[like])
    speed = np.where(job.crosses, LADDER[np.maximum(step, 0)], CHANNEL[like])
    return channels, np.minimum(channels * speed, np.where(job.pcie, job.nvlink_GBps * job.slots, NVLINK[like]))


def _ll_most(job: Job, like: Any) -> Any:
    return np.where(job.crosses, np.where(np.asarray(job.domains) == 2, *LL_NET), LL_MAX[like])


def _ring(job: Job, like: Any, graph: tuple[Any, Any], at: int) -> Floats:
    channels, bus = graph
    passes, is_chain = job.spec.passes, job.spec.family == ROOTED
    steps = job.ranks if is_chain else passes * (job.ranks - 1)
    outside = np.where(job.crosses, passes * (job.domains - 1), 0)
    hop = np.maximum(RING_HOP_US[at], np.where(job.crosses, POST_US[at], 0.0))
    latency = BASE_RING[at] + (steps - outside) * hop + outside * RING_NET_US[at]
    if at == 2 and passes == 2:
        flat = job.crosses & (job.bytes / (2 * channels * job.ranks) >= 64)
        latency = np.where(flat, latency * PLATEAU, latency)
    speed = (np.minimum(_ll_most(job, like), 0.5 * bus), np.minimum(0.92 * bus, 2 * channels * RING_LL128[like]), bus)[at]
    share = 1.0 if is_chain else job.ranks / np.maximum(steps, 1)
    return np.asarray(latency + job.bytes / (speed * share) / 1e3)


def _tree(job: Job, like: Any, size: Any, graph: tuple[Any, Any], at: int) -> Floats:
    channels, bus = graph
    depth = np.floor(np.log2(job.domains))
    latency = BASE_TREE[at] + 2 * ((job.domain - 1) * TREE_HOP_US[at] + depth * TREE_NET_US[at])
    speed = np.minimum(0.92 * bus, 2 * channels * TREE[like, size])
    share = np.where(job.crosses, 120 / 128, 7 / 9)
    most = 2 * channels * TREE_LL128[like, size]
    speed = (np.minimum(speed / 3.8, _ll_most(job, like)), np.minimum(speed * share, most), speed)[at]
    return np.asarray(latency + job.bytes / (0.5 * speed * _corrected(job, at)) / 1e3)


def _corrected(job: Job, at: int) -> Any:
    step = np.floor(np.log2(np.maximum(job.bytes, 1) / 64)).astype(np.int64)
    return np.where(step < 0, 1.0, CORRECTION[at][np.clip(step, 0, 23)])


def _nvls(job: Job, like: Any, size: Any) -> tuple[Floats, Floats]:
    """(in one domain, with a tree between several)"""
    inside = NVLINK[like] * 0.87 * NVLS[like] * (NVLS_CHANNELS - 1) / NVLS_CHANNELS
    domain_GBps = inside * job.ranks / np.maximum(job.ranks - 1, 1)
    depth = np.floor(np.log2(job.domains))
    net = np.where(job.crosses, job.net_GBps * 0.96 * np.where(np.asarray(job.domains) <= 2, 2, 1), np.inf)
    tree_GBps = np.minimum(np.minimum(2 * inside, net), NVLS_CHANNELS * NVLS_TREE[like, size]) * 0.5
    tree_GBps = tree_GBps * np.where(like == 3, _corrected(job, 2), 1.0)
    with np.errstate(divide="ignore"):
        within = NVLS_US + job.bytes / domain_GBps / 1e3
        across = NVLS_US + 2 * depth * NVLS_NET_US + job.bytes / tree_GBps / 1e3
    return np.asarray(within), np.asarray(across)


# --- the choice -----------------------------------------------------------------------------------------------

NEVER = 1e15  # µs; stands for a combination that cannot run
MIN_BYTES = 8  # smallest size of the grid
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
    nccl_us: Mapping[Key, Floats] | None = None,
    chosen_for: Job | None = None,
) -> Runs:
    """The choice for every row, and its time. A forced algorithm or protocol that cannot run leaves times of NEVER.

    Args:
        nccl_us: `estimates` of the job, for callers that run it with many parameters; they depend on the job only.
        chosen_for: the job that the algorithm is chosen for; None for the same on a network without bottlenecks.
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
    is_open = algorithm == "auto" and _is_open(job, physics)
    times = _times(keys, table, able, is_open)
    healthy_us = times
    if chosen_for is not None or job.limited:
        healthy_us = _times(keys, costs(chosen_for or job.healthy(), terms), able, is_open)
    nccl_us = estimates(job) if nccl_us is None else nccl_us
    expected = np.where(
        healthy_us < NEVER, capped(np.stack([np.broadcast_to(nccl_us[key], job.bytes.shape) for key in keys])), NEVER
    )
    chosen = np.argmin(healthy_us, axis=0)
    return Runs(keys, times, expected, chosen)


def _times(keys: tuple[Key, ...], table: Mapping[Key, Floats], able: Any, is_open: bool) -> Floats:
    """µs of each key, [keys, rows]; NEVER where it may not run.

    Where it is open whether NVLSTree is as fast as in domains of other sizes, or NCCL runs a ring, its time is the
    geometric mean of both: `band_of` takes both ends.
    """
    times = np.where(able, capped(np.stack([table[key] for key in keys])), NEVER)
    rings = [at for at, key in enumerate(keys) if key[0] == "ring"]
    if is_open and rings:
        ring_us = times[rings].min(axis=0)
        for at, key in enumerate(keys):
            if key[0] == "nvls_tree":
                times[at] = np.where(times[at] < ring_us, np.sqrt(times[at] * ring_us), times[at])
    return times


def _is_open(job: Job, physics: Physics) -> bool:
    """Whether switches of NVLink domains reduce for a job over the network, and no table of its kind has a domain of about
    their size."""
    return bool(np.all(job.nvls & job.crosses)) and not physics.coverage.has_domain(kind_of(job), nvlink_ranks(job))


def allowed(key: Key, algorithm: str, protocol: str) -> bool:
    """Whether the options `algorithm` and `protocol`, each a name or `auto`, permit an (algorithm, protocol)."""
    if key[0] == "p2p":
        return algorithm in ("auto", "p2p") and protocol in ("auto", "simple")
    wanted = algorithm.split(",")  # NCCL_ALGO=Ring,Tree allows several
    wanted += ["nvls_tree"] if "nvls" in wanted else []  # NCCL_ALGO=NVLS between domains needs the tree
    return (algorithm == "auto" or key[0] in wanted) and (protocol == "auto" or key[1] in protocol.split(","))


def capped(times: Floats) -> Floats:
    """Times in µs with NEVER for everything that cannot run: not a number, infinite or larger; any shape."""
    return np.minimum(np.nan_to_num(times, nan=NEVER, posinf=NEVER), NEVER)


def monotone(
    job: Job, physics: Physics, algorithm: str = "auto", protocol: str = "auto", chosen_for: Job | None = None
) -> tuple[Runs, Floats]:
    """(choice, µs of every size of the job, [sizes]) where a larger message never takes less time than a smaller one.

    At a late change of the algorithm the estimate would fall with the size; measured tables have a plateau there. So the
    powers of two from 8 bytes are evaluated as well. The sizes of the job are in any order; its other fields have one value.
    """
    sizes = np.asarray(job.bytes, dtype=np.float64)
    top = max(float(sizes.max(initial=MIN_BYTES)), MIN_BYTES)
    grid = np.unique(np.concatenate([np.exp2(np.arange(3, np.floor(np.log2(top)) + 1)), sizes]))
    whole = run(job.of(grid), physics, algorithm, protocol, chosen_for=chosen_for and chosen_for.of(grid))
    time = np.maximum.accumulate(whole.time_us) if whole.keys else np.full(len(grid), NEVER)
    position = np.searchsorted(grid, sizes)
    picked = Runs(whole.keys, whole.times[:, position], whole.expected[:, position], whole.chosen[position])
    return picked, time[position]
