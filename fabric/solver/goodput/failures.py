"""What failures take from a job: the parts that fail and what that does, checkpoints, restarts, spares, useful time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.special import lambertw

from fabric.base.diagnostics import InputError
from fabric.base.schemas.models import Amount, Number, described
from fabric.model.plan import KINDS, LEAF_LEAF, SERVER_SERVER, PortLabels
from fabric.solver import Bools, Floats, Ints, Network
from fabric.solver.goodput.sections import WRITERS, Checkpoint
from fabric.solver.training.job import TrainingJob
from fabric.solver.training.memory import STATE_BYTES

StepOf = Callable[[tuple[str, ...]], float]
"""ms of a step with failed links and devices by name. Raises InputError where groups cannot reach each other."""
STOPS = float("inf")


@dataclass(frozen=True)
class Part:
    """Parts of one kind at one place of the design."""

    kind: str  # of a rate
    place: str  # role of a switch, kind of a link, "" for parts of servers
    count: int
    slowdown: float  # step time with one of them failed over the step time before; infinite: the job stops
    example: str  # the one that failed, "" for parts of servers

    @property
    def stops(self) -> bool:
        return self.slowdown == STOPS


def parts(net: Network, servers: Ints, gpus: int, optical: Bools, step_of: StepOf | None) -> tuple[Part, ...]:
    """Every part that a job on `servers` (devices) with `gpus` GPUs uses.

    Args:
        optical: of every link of the plan.
        step_of: None for a job in one NVLink domain, which does not use the network.
    """
    of_servers = [("gpu", gpus), ("server", len(servers))]
    if step_of is None:
        return tuple(Part(kind, "", count, STOPS, "") for kind, count in of_servers)
    mine = np.flatnonzero(np.isin(net.ports.server, servers) & net.alive[net.ports.link])
    nics = np.unique(_nic(net, mine))
    result = [Part(kind, "", count, STOPS, "") for kind, count in (*of_servers, ("nic", len(nics)))]
    healthy = step_of(())
    for kind, place, rows, name in _network(net, mine, optical):
        stops = np.isin(rows, _stopping(net, mine, net.ports.leaf if kind == "switch" else net.ports.link))
        if stops.any():
            result.append(Part(kind, place, int(stops.sum()), STOPS, name(int(rows[stops][0]))))
        if not stops.all():
            example = name(int(rows[~stops][0]))
            result.append(Part(kind, place, int((~stops).sum()), _slowdown(step_of, example, healthy), example))
    return tuple(result)


def _network(net: Network, mine: Ints, optical: Bools) -> Iterator[tuple[str, str, Ints, Callable[[int], str]]]:
    """(kind, place, links or devices, name of one) of all cables and switches that are up, from the job's ports upward."""
    labels, size, devices = PortLabels(net.fabric), net.links, net.fabric.devices
    kinds, up = net.fabric.links.kind, net.alive[: net.links]
    between = up & ((net.level[net.head[:size]] > net.level[net.tail[:size]]) | (kinds == LEAF_LEAF))
    links, seen = np.unique(net.ports.link[mine]), np.zeros(len(devices), dtype=bool)
    direct = net.fabric.spec.switchless
    if direct:  # a cable is the port at its lower end: `with_relays` has these first, in the order of the plan
        links = np.unique(links % len(optical))
    while len(links):
        for kind, lit in (("copper", False), ("optical", True)):
            rows = links[optical[links] == lit]
            if len(rows):
                place = KINDS[SERVER_SERVER if direct else int(kinds[rows[0]])]
                yield kind, place, rows, lambda at: f"{devices[net.tail[at]].name}:{labels.at(at, 'a')}"
        if direct:
            return
        above = np.unique(net.head[links])
        above = above[~seen[above]]
        seen[above] = True
        if len(above):
            yield "switch", devices[int(above[0])].role, above, lambda at: devices[at].name
        links = np.flatnonzero(between & np.isin(net.tail[:size], above))


def _nic(net: Network, mine: Ints) -> Ints:
    """A number for the NIC of each port."""
    return net.ports.server[mine] * (int(net.ports.nic.max()) + 1) + net.ports.nic[mine]


def _stopping(net: Network, mine: Ints, through: Ints) -> Ints:
    """Links or leaves, as `through` has them for each port, that all ports of some NIC depend on."""
    pairs = np.unique(np.stack([_nic(net, mine), through[mine]]), axis=1)
    _, first, count = np.unique(pairs[0], return_index=True, return_counts=True)
    return np.unique(pairs[1][first[count == 1]])


def _slowdown(step_of: StepOf, name: str, healthy: float) -> float:
    """With one link or switch failed."""
    try:
        return max(1.0, step_of((name,)) / healthy)
    except InputError:
        return STOPS


# --- checkpoints: their size, the time to write and read them, the interval between two -----------------------


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Bytes and times of a checkpoint, in GB and seconds."""

    size_GB: float
    read_GB: float
    write_s: float
    stall_s: float  # of the job
    read_s: float
    local_read_s: float  # from the disks of the servers; 0 without local disks

    @property
    def least_interval_s(self) -> float:
        """One is written before the next begins."""
        return max(self.write_s - self.stall_s, 0.0)


@dataclass(frozen=True, kw_only=True)
class Saving:
    """A checkpoint, in seconds and GB."""

    size_GB: Amount
    write_s: Amount
    stall_s: Annotated[Amount, described("of the job")]
    restart_s: Annotated[
        Amount, described("from a failure to the first new step, in the mean over the failures: the sum of the next four")
    ]
    detection_s: Amount
    start_s: Annotated[Amount, described("scheduling, start and warm-up")]
    load_s: Annotated[Amount, described("of the checkpoint")]
    repeated_s: Annotated[Amount, described("steps since the checkpoint before the last one, where the last was not whole")]
    interval_s: Annotated[Amount, described("of useful time between two checkpoints")]
    best_s: Amount
    young_s: Amount
    daly_s: Number
    curve: tuple[tuple[float, float], ...]  # (interval, useful share)


def sizes(job: TrainingJob, checkpoint: Checkpoint, server_gpus: int) -> Sizes:
    """Of one checkpoint of a job on servers of `server_gpus` GPUs; the rates are known."""
    parameter = job.bytes.parameter
    per_parameter = checkpoint.bytes_per_parameter or parameter + STATE_BYTES
    count = job.model.parameters / 1e9
    size_GB = count * per_parameter
    read_GB = size_GB + (_further_copies(job) * min(parameter, per_parameter) if checkpoint.read_replicas else 0.0)
    write_s = size_GB / checkpoint.write_GBps
    servers = len(writers(job, checkpoint.writers, server_gpus))
    local_s = size_GB / (checkpoint.local_GBps_per_server * servers) if checkpoint.local_GBps_per_server else 0.0
    stall_s = local_s or write_s
    if checkpoint.asynchronous:
        stall_s = size_GB / (checkpoint.copy_GBps_per_gpu * job.gpus)
    read_s = read_GB / checkpoint.read_GBps
    return Sizes(size_GB=size_GB, read_GB=read_GB, write_s=write_s, stall_s=stall_s, read_s=read_s, local_read_s=local_s)


def _further_copies(job: TrainingJob) -> float:
    """10⁹ parameters that replicas read beside the first one: none where they are sharded. Experts have fewer replicas."""
    if job.parallel.sharding == "full":
        return 0.0
    model, parallel = job.model, job.parallel
    dense = model.parameters - model.expert_parameters
    return (dense * (parallel.data - 1) + model.expert_parameters * (parallel.data / parallel.expert - 1)) / 1e9


def writers(job: TrainingJob, who: str, server_gpus: int) -> list[int]:
    """Servers that write, by number within the job: all, or those of the first replica of the model.

    Ranks are laid out tensor, context, data, pipeline from the innermost, so a replica has the first tensor x context GPUs of
    each pipeline stage.
    """
    each = max(1, server_gpus)
    if who == WRITERS[0]:
        return list(range(-(-job.gpus // each)))
    held = job.parallel.tensor * job.parallel.context
    stages = range(0, job.gpus, held * job.parallel.data)
    return sorted({(start + gpu) // each for start in stages for gpu in range(held)})


# --- restart --------------------------------------------------------------------------------------------------
# From a failure to the first new step: detection, start, load, and the steps that no checkpoint has.
#
# A failed server is replaced by one that is running (hot standby) or by one that has to start; for a switch the job waits,
# and its servers keep what is on their disks. Every failure draws one of these restarts.


@dataclass(frozen=True)
class Restart:
    """One kind of restart, in seconds."""

    share: Floats  # of the failures that stop the job: typical, then for each draw of the rates
    detection_s: float
    start_s: float
    load_s: float
    repeated_s: float  # the checkpoint before the last one is read, as the last one was not whole

    @property
    def waiting_s(self) -> float:
        """Without the steps that are repeated."""
        return self.detection_s + self.start_s + self.load_s

    @property
    def seconds(self) -> float:
        return self.waiting_s + self.repeated_s


def effective_s(per_s: Floats, restarts: Sequence[Restart]) -> Floats:
    """The one restart time u with the same mean wall time as the mix: -ln(E[e^(-λu)]) / λ.

    A restart of u seconds ends without a failure with probability e^(-λu), and each attempt draws again; so e^(λu) of the
    renewal form becomes 1 / E[e^(-λu)].
    """
    least = min(restart.seconds for restart in restarts)
    gone = sum((item.share * np.expm1(-per_s * (item.seconds - least)) for item in restarts), np.zeros_like(per_s))
    mean = sum((item.share * item.seconds for item in restarts), np.zeros_like(per_s))
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = least - np.log1p(np.maximum(gone, -1.0)) / per_s
    restart_s: Floats = np.where(per_s > 0, exact, mean)
    return restart_s


def restarting(per_s: float, restarts: Sequence[Restart]) -> float:
    """Share of the time that a job with typical rates spends from failures to the end of loading."""
    return sum(float(item.share[0] * -np.expm1(-per_s * item.waiting_s)) for item in restarts)


# --- spares ---------------------------------------------------------------------------------------------------
# Time that a job waits for a server because no spare one is left.
#
# Failed servers are repaired independently of each other. The job runs while no more servers are down than it has spares, and
# only a running job has failures: with s spares the job waits while s + 1 servers are in repair. That is Erlang's loss
# system; its blocking depends on the repair only by its mean.


def waiting_odds(load: float | Floats, spares: int) -> Floats:
    """Time in waiting over time in running.

    B / (1 - B), with B of Erlang's formula by its recursion B(0) = 1, B(n) = a B(n-1) / (n + a B(n-1)) at n = spares + 1.

    Args:
        load: a, failures that need a server per unit of time in running, times the mean repair.
    """
    blocked = np.ones_like(np.asarray(load, float))
    odds = np.full_like(blocked, np.inf)
    for servers in range(1, spares + 2):
        odds = np.asarray(load * blocked / servers)
        blocked = odds / (1 + odds)
    return odds


def standby_share(load: float | Floats, spares: int) -> Floats:
    """Share of the failures that find a spare server: those while fewer than all spares are in repair.

    Failures find a running job in a state as time does, so this is 1 - B of Erlang's formula for `spares` places.
    """
    return 1 / (1 + waiting_odds(load, spares - 1)) if spares else np.zeros_like(np.asarray(load, float))


# --- renewal --------------------------------------------------------------------------------------------------
# Useful time of a job that fails at random, writes checkpoints and restarts from the last one.
#
# Failures arrive at a constant rate, also during restarts and checkpoints. Times are seconds, rates are per second. All
# functions take arrays as well.

Real = float | Floats


def wall_s(failures_per_s: Real, restart_s: Real, interval_s: Real, stall_s: Real) -> Any:
    """Mean wall time of one interval of useful time and the stall of its checkpoint.

    e^(λu) (e^(λ(d+w)) - 1) / λ: the exponential model of Daly, Future Generation Computer Systems 22 (2006) 303-312. d + w
    without failures.
    """
    rate, span = np.asarray(failures_per_s, float), np.asarray(interval_s, float) + stall_s
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        wall = np.exp(rate * restart_s) * np.expm1(rate * span) / rate
    return np.where(rate > 0, wall, span)[()]


def useful_share(failures_per_s: Real, restart_s: Real, interval_s: Real, stall_s: Real) -> Any:
    """Share of the wall time that is useful: the effective training time ratio."""
    return interval_s / wall_s(failures_per_s, restart_s, interval_s, stall_s)


def best_interval_s(failures_per_s: Real, stall_s: Real) -> Any:
    """The interval with the most useful time, exact for `wall_s`; infinite without failures, 0 without a stall.

    d/dd of d / (e^(λ(d+w)) - 1) is 0 where (1 - λd) e^(λ(d+w)) = 1: λd = 1 + W(-e^(-1-λw)), W the principal branch of
    Lambert's function. It does not depend on the restart.
    """
    rate, stall = np.asarray(failures_per_s, float), np.asarray(stall_s, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = (1 + lambertw(-np.exp(-1 - rate * stall)).real) / rate
    # W is a square root at its branch point: below 1e-9 rounding decides, and Young's term is the limit.
    exact = np.where(rate * stall > 1e-9, exact, young_s(rate, stall))
    return np.where(rate > 0, exact, np.inf)[()]


def young_s(failures_per_s: Real, stall_s: Real) -> Any:
    """sqrt(2 w / λ): Young, Communications of the ACM 17 (1974) 530-531."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(2 * np.asarray(stall_s, float) / failures_per_s)[()]


def daly_s(failures_per_s: Real, stall_s: Real) -> Any:
    """Daly's higher order: sqrt(2wM) (1 + sqrt(w/2M)/3 + w/18M) - w for w < 2M, else M; M is the mean time to failure."""
    mean_s, stall = 1 / np.asarray(failures_per_s, float), np.asarray(stall_s, float)
    ratio = stall / (2 * mean_s)
    value = np.sqrt(2 * stall * mean_s) * (1 + np.sqrt(ratio) / 3 + ratio / 9) - stall
    return np.where(ratio < 1, value, mean_s)[()]


def first_order_share(failures_per_s: Real, restart_s: Real, interval_s: Real, stall_s: Real) -> Any:
    """(1 - λ(u + d/2)) / (1 + w/d): Kokolis et al., arXiv:2410.21680. Below 0 where failures are frequent."""
    return ((1 - failures_per_s * (restart_s + np.asarray(interval_s, float) / 2)) / (1 + stall_s / interval_s))[()]
