"""Jobs on a cluster over time: servers in their domains, units and pods, and a first-come queue with backfill, as Slurm's.

The first job of the queue starts as soon as it fits. Jobs behind it start earlier where they do not delay it, as far as the
remaining times of running jobs are known, and they are (EASY backfill: Lifka, JSSPP 1995). Jobs are never moved or stopped.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.rounding import ceil_div
from fabric.solver import Bools, Ints, Network
from fabric.solver.estimate.placement import Placement, place
from fabric.solver.utilisation.jobs import Job, Mix

# --- cluster --------------------------------------------------------------------------------------------------
# Servers of a fabric in their NVLink domains, units and pods, and the servers that a placement gives a job.

POLICIES = {
    "packed": "the first free servers, unit after unit",
    "topology": "in one NVLink domain, unit or pod where one has room, else in the next larger",
    "strict": "waits for a domain, unit or pod that holds the whole job",
}
DOMAIN, UNIT, POD, FABRIC = "NVLink domain", "unit", "pod", "fabric"


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """The servers that jobs run on, numbered from 0 in the order of the fabric."""

    net: Network
    placement: Placement  # of a job on all servers
    domain: Ints  # NVLink domain of every server
    unit: Ints
    levels: tuple[str, ...]  # from DOMAIN to FABRIC, without levels that equal the one below
    groups: tuple[Ints, ...]  # for each level, the group of every server

    @property
    def servers(self) -> int:
        return len(self.placement.servers)

    @property
    def server_gpus(self) -> int:
        return self.placement.server.gpus

    @property
    def gpus(self) -> int:
        return self.servers * self.server_gpus

    @cached_property
    def capacity(self) -> tuple[int, ...]:
        """Servers of the largest group of each level."""
        return tuple(int(np.bincount(group).max()) for group in self.groups)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Groups of each level."""
        return tuple(int(group.max()) + 1 for group in self.groups)

    def servers_of(self, gpus: int) -> int:
        """Whole servers of a job; 0 for a part of one."""
        return 0 if gpus < self.server_gpus else ceil_div(gpus, self.server_gpus)

    def level(self, servers: int) -> int | None:
        """The smallest level that can hold so many servers; None: more than there are."""
        return next((at for at, held in enumerate(self.capacity) if held >= servers), None)

    def put(self, free_gpus: Ints, gpus: int, policy: str) -> Ints | None:
        """Servers for a job, None where it has to wait. Parts of servers share a server."""
        if gpus < self.server_gpus:
            return self._part(free_gpus, gpus)
        count, free = self.servers_of(gpus), free_gpus == self.server_gpus
        if policy == "packed":
            found = np.flatnonzero(free)
            return found[:count] if len(found) >= count else None
        return self._together(free, count, strict=policy == "strict")

    def fits(self, free_gpus: Ints, gpus: int, policy: str) -> bool:
        """Whether `put` finds servers, without choosing them."""
        if gpus < self.server_gpus:
            return bool((free_gpus >= gpus).any())
        count, free = self.servers_of(gpus), free_gpus == self.server_gpus
        if policy != "strict":
            return int(free.sum()) >= count
        level = self.level(count)
        return level is not None and bool((np.bincount(self.groups[level][free]) >= count).any())

    def _part(self, free_gpus: Ints, gpus: int) -> Ints | None:
        """The server with the least room that holds it."""
        room = np.where(free_gpus >= gpus, free_gpus, self.server_gpus + 1)
        best = int(np.argmin(room))
        return np.array([best]) if room[best] <= self.server_gpus else None

    def _together(self, free: Bools, count: int, strict: bool) -> Ints | None:
        least = self.level(count)
        if least is None or int(free.sum()) < count:
            return None
        for level in range(least, least + 1 if strict else len(self.levels)):
            room = np.bincount(self.groups[level][free], minlength=self.counts[level])
            fits = np.flatnonzero(room >= count)
            if len(fits):
                best = int(fits[np.argmin(room[fits])])
                return self._within(np.flatnonzero(free & (self.groups[level] == best)), level - 1, count)
        return None

    def _within(self, servers: Ints, level: int, count: int) -> Ints:
        """`count` of free servers in as few groups of a level as possible: the emptiest first, the last with the least room
        that is enough."""
        if level < 0 or len(servers) == count:
            return servers[:count]
        chosen: list[Ints] = []
        group = self.groups[level][servers]
        names, room = np.unique(group, return_counts=True)
        while count:
            enough = np.flatnonzero(room >= count)
            at = int(enough[np.argmin(room[enough])]) if len(enough) else int(np.argmax(room))
            part = min(count, int(room[at]))
            chosen.append(self._within(servers[group == names[at]], level - 1, part))
            count, room[at] = count - part, 0
        return np.sort(np.concatenate(chosen))


def cluster(net: Network) -> Cluster:
    """The servers with GPUs of a fabric: those of the model with the most. Raises InputError for a fabric without GPUs."""
    placement = place(net, None)
    devices, servers = net.fabric.devices, placement.servers
    first_port = np.zeros(len(devices), dtype=np.int64)
    first_port[net.ports.server[::-1]] = net.ports.leaf[::-1]
    units = np.array([devices[int(at)].unit for at in servers])
    pods = np.array([devices[int(first_port[at])].pod for at in servers])
    domain, unit = _numbered(np.arange(len(servers)) // placement.domain_servers), _numbered(units)
    named = {DOMAIN: domain, UNIT: unit, POD: _numbered(pods), FABRIC: np.zeros(len(servers), dtype=np.int64)}
    sizes = {name: int(group.max()) + 1 for name, group in named.items()}
    levels = tuple(name for name in named if name in (DOMAIN, FABRIC) or sizes[name] > 1)
    levels = tuple(name for name in levels if name != POD or sizes[POD] < sizes[UNIT])
    return Cluster(
        net=net, placement=placement, domain=domain, unit=unit, levels=levels, groups=tuple(named[name] for name in levels)
    )


def _numbered(group: NDArray[Any]) -> Ints:
    """The same groups, numbered from 0."""
    _, number = np.unique(group, return_inverse=True)
    return number.ravel().astype(np.int64)


# --- the queue ------------------------------------------------------------------------------------------------

BACKLOG = 50  # jobs in a saturated queue, all of which backfill considers
STARTS = 3000  # jobs of a saturated run
WARM_UP = 0.2  # share of the time that is not counted
MAX_STATES = 512
SNAPSHOTS = 24  # states for which bandwidth is computed


@dataclass(frozen=True)
class State:
    """Jobs that run at one time: the servers of each, and its GPUs."""

    jobs: tuple[tuple[int, Ints], ...]


@dataclass(kw_only=True)
class Run:
    """GPU-seconds by their use, after the warm-up."""

    seconds: float = 0.0
    used: float = 0.0
    in_part: float = 0.0  # free GPUs of servers that jobs have in whole or in part
    waiting: float = 0.0  # GPUs of free servers while jobs wait that do not fit
    no_demand: float = 0.0  # GPUs of free servers while no job waits
    waited_s: float = 0.0  # sum over the jobs that were started
    started: int = 0
    states: list[State] = field(default_factory=list)


def saturated(cluster: Cluster, mix: Mix, policy: str, seed: int) -> Run:
    """With a queue that never ends, of jobs drawn from the mix."""
    dice = np.random.default_rng(seed)
    if mix.sizes:
        chance = np.array([size.count for size in mix.sizes], float)
        picks = dice.choice(len(mix.sizes), STARTS, p=chance / chance.sum())
        lengths = dice.exponential(1.0, STARTS)
        drawn = [
            Job(mix.sizes[at].gpus, mix.sizes[at].hours * 3600 * length)
            for at, length in zip(picks.tolist(), lengths.tolist(), strict=True)
        ]
    else:
        drawn = [Job(job.gpus, job.seconds) for at in range(STARTS) for job in [mix.jobs[int(dice.integers(len(mix.jobs)))]]]
    return _Simulation(cluster, policy, drawn, endless=True).run()


def recorded(cluster: Cluster, mix: Mix, policy: str) -> Run:
    """With the jobs as they were submitted."""
    return _Simulation(cluster, policy, mix.jobs, endless=False).run()


class _Simulation:
    """One run. `endless`: only so many jobs are queued that the queue never empties, and it ends when the list does."""

    def __init__(self, cluster: Cluster, policy: str, jobs: Sequence[Job], endless: bool) -> None:
        self.cluster, self.policy, self.endless = cluster, policy, endless
        self.coming = list(jobs)[::-1]
        self.queue: list[tuple[Job, float]] = []  # (job, start of its waiting time)
        self.free: Ints = np.full(cluster.servers, cluster.server_gpus, dtype=np.int64)
        self.running: list[tuple[float, int, int, Ints]] = []  # heap of (end, number, GPUs, servers)
        self.now, self.number, self.used = 0.0, 0, 0
        self.every = 1  # one of so many states is kept
        self.result = Run()
        self.log: list[tuple[float, float, int, int, bool]] = []  # (from, to, GPUs in use, free in used servers, jobs wait)
        self.states: list[tuple[float, State]] = []

    def run(self) -> Run:
        self._arrive()
        while self.running or self.coming or self.queue:
            self._start()
            if self.endless and not self.coming and len(self.queue) < BACKLOG:
                break
            then = self._next()
            self._note(then)
            self.now = then
            self._end()
            self._arrive()
        return self._sum()

    def _arrive(self) -> None:
        while self.coming and (len(self.queue) < BACKLOG if self.endless else self.coming[-1].submit_s <= self.now):
            self.queue.append((self.coming.pop(), self.now))

    def _next(self) -> float:
        ends = self.running[0][0] if self.running else np.inf
        return min(ends, np.inf if self.endless or not self.coming else self.coming[-1].submit_s)

    def _end(self) -> None:
        while self.running and self.running[0][0] <= self.now:
            _, _, gpus, servers = heapq.heappop(self.running)
            self.used -= gpus
            self.free[servers] += self._held(gpus)

    def _held(self, gpus: int) -> int:
        """GPUs that a job takes of each of its servers."""
        return min(gpus, self.cluster.server_gpus)

    def _start(self) -> None:
        while self.queue and (servers := self._place(self.queue[0][0])) is not None:
            self._begin(0, servers)
        if len(self.queue) > 1 and self.free.any():
            self._backfill()

    def _place(self, job: Job) -> Ints | None:
        return self.cluster.put(self.free, job.gpus, self.policy)

    def _begin(self, at: int, servers: Ints) -> None:
        """Starts a job of the queue."""
        job, since = self.queue.pop(at)
        self.free[servers] -= self._held(job.gpus)
        self.number += 1
        heapq.heappush(self.running, (self.now + job.seconds, self.number, job.gpus, servers))
        self.result.waited_s += self.now - since
        self.result.started += 1
        self.used += job.gpus

    def _backfill(self) -> None:
        """Starts jobs that leave the first one its place at the time when it fits."""
        head = self.queue[0][0].gpus
        order = sorted(self.running)
        low, high = 0, len(order)  # `high`: jobs that must end before the first one fits
        while low < high:
            middle = (low + high) // 2
            fits = self.cluster.fits(self._after(order[:middle]), head, self.policy)
            low, high = (low, middle) if fits else (middle + 1, high)
        shadow = order[low - 1][0] if low else self.now
        later = self._after(order[:low])

        def leaves_room(servers: Ints, gpus: int) -> bool:
            left = later.copy()
            left[servers] -= self._held(gpus)
            return bool((left >= 0).all()) and self.cluster.fits(left, head, self.policy)

        at, answers = 1, dict[tuple[int, bool], Ints | None]()  # equal jobs get the same answer until a job starts
        while at < min(len(self.queue), BACKLOG):
            job = self.queue[at][0]
            key = gpus, ends_before = job.gpus, self.now + job.seconds <= shadow
            if key not in answers:
                servers = self._place(job)
                answers[key] = servers if servers is None or ends_before or leaves_room(servers, gpus) else None
            if (servers := answers[key]) is None:
                at += 1
                continue
            self._begin(at, servers)
            if not ends_before:
                later[servers] -= self._held(gpus)
            answers.clear()

    def _after(self, ended: list[tuple[float, int, int, Ints]]) -> Ints:
        free = self.free.copy()
        for _, _, gpus, servers in ended:
            free[servers] += self._held(gpus)
        return free

    def _note(self, then: float) -> None:
        if then <= self.now:
            return
        whole = int((self.free == self.cluster.server_gpus).sum()) * self.cluster.server_gpus
        self.log.append((self.now, then, self.used, self.cluster.gpus - self.used - whole, bool(self.queue)))
        if len(self.log) % self.every == 0:
            self.states.append((self.now, State(tuple((gpus, servers) for _, _, gpus, servers in sorted(self.running)))))
        if len(self.states) > MAX_STATES:
            self.states, self.every = self.states[1::2], 2 * self.every

    def _sum(self) -> Run:
        result = self.result
        if not self.log:
            return result
        begin, end = self.log[0][0], self.log[-1][1]
        since = begin + (WARM_UP * (end - begin) if self.endless else 0.0)
        for low, high, used, in_part, waits in self.log:
            span = max(0.0, high - max(low, since))
            idle = self.cluster.gpus - used - in_part
            result.seconds += span
            result.used += used * span
            result.in_part += in_part * span
            result.waiting += idle * span if waits else 0.0
            result.no_demand += 0.0 if waits else idle * span
        times = np.array([at for at, _ in self.states])
        marks = since + (end - since) * (np.arange(SNAPSHOTS) + 0.5) / SNAPSHOTS
        rows = np.maximum(np.searchsorted(times, marks, "right") - 1, 0)
        result.states = [self.states[int(row)][1] for row in rows]
        return result
