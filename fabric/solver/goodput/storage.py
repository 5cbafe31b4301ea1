"""The rate at which a job writes and reads a checkpoint, from the plan of the site.

Every server of the job writes an equal part, striped evenly over all targets; switches split it equally over their next hops.
So a job is one flow with a share of its rate on every link, and jobs that write at the same time have the max-min fair rates
of these flows. Ports of servers and targets are links as well; the storage system is one more, where its rate is stated.
Reading takes the same paths in the other direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.inputs import LIST, TEXT, Section, Within, means
from fabric.base.schemas.models import Amount, Positive, described
from fabric.model.plan import ATTACHED, SERVER, FabricPlan
from fabric.solver import Floats, Ints, Network, Routes
from fabric.solver.capacity.throughput import HealthyNetwork, ground, loads
from fabric.solver.ecmp.study import max_min
from fabric.solver.network import network, routes

STORAGE = "storage"  # purpose of a fabric, and of the NICs of a storage server
SERVERS, TARGETS, SYSTEM = "server NICs", "storage NICs", "storage system"  # what limits beside links
CODE = "FAB173"
DIGITS = 6  # of a rate in GB/s


@dataclass(frozen=True, kw_only=True)
class StorageRequest(Section):
    """What JOB states about the storage. Rates in GB/s of the whole storage system, 0 for no limit."""

    fabric: Annotated[str, TEXT, means("storage fabric; default: one of purpose storage")] = ""
    targets: Annotated[
        tuple[str, ...],
        LIST,
        means(
            "server groups, attachments or devices that hold the checkpoints; default: storage servers without GPUs, "
            "else attachments of a storage fabric",
            json_schema_extra={"type": ["array", "string"]},
        ),
    ] = ()
    jobs: Annotated[int, Within(1, 10_000, "number of equal jobs that write at the same time")] = 1
    system_write_GBps: Annotated[float, Within(1e-3, 1e6, "maximum write rate of the storage system; default: unlimited")] = 0
    system_read_GBps: Annotated[float, Within(1e-3, 1e6, "maximum read rate of the storage system; default: unlimited")] = 0


@dataclass(frozen=True, kw_only=True)
class StorageRates:
    """Rates of one job, and the link, NICs or system that limits each."""

    fabric: str
    writers: Annotated[Positive, described("servers of the job that write")]
    readers: Positive
    targets: Positive
    jobs: Positive
    write_GBps: Amount
    write_limit: Annotated[str, described("server NICs, storage NICs, storage system, or a link")]
    read_GBps: Amount
    read_limit: str


def storage_rates(
    fabrics: Mapping[str, FabricPlan],
    job_fabric: str,
    servers: Sequence[str],
    writers: Sequence[str],
    request: StorageRequest,
    place: Place,
) -> StorageRates:
    """Rates of a job on `servers`, of which `writers` write; all read. `own`: the fabric of the job.

    Raises:
        InputError: the site has no storage that the servers reach.
    """
    fabric, targets = chosen(fabrics, job_fabric, servers, request, place)
    net = network(fabric)
    base, route_table = ground(net), routes(net)
    reading = _jobs(fabric, servers, servers, request.jobs, place)
    writing = _jobs(fabric, servers, writers, request.jobs, place)
    write, write_limit = _rate(base, route_table, writing, targets, False, request.system_write_GBps, place=place)
    read, read_limit = _rate(base, route_table, reading, targets, True, request.system_read_GBps, place=place)
    return StorageRates(
        fabric=fabric.name,
        writers=len(writers),
        readers=len(servers),
        targets=len(targets),
        jobs=request.jobs,
        write_GBps=write,
        write_limit=write_limit,
        read_GBps=read,
        read_limit=read_limit,
    )


def chosen(
    fabrics: Mapping[str, FabricPlan], job_fabric: str, servers: Sequence[str], request: StorageRequest, place: Place
) -> tuple[FabricPlan, Ints]:
    """(fabric, its targets): the stated one, else the first with targets and the servers of the job: of purpose storage, that
    of the job, any other. Raises InputError."""
    order = sorted(fabrics.values(), key=lambda item: (item.spec.purpose != STORAGE, item.name != job_fabric))
    reasons = []
    for fabric in order:
        if request.fabric and fabric.name != request.fabric:
            continue
        targets = targets_of(fabric, request.targets)
        missing = [name for name in servers if name not in fabric.by_name]
        if len(targets) and not missing:
            return fabric, targets
        if fabric.spec.purpose == STORAGE or request.fabric or len(targets):
            reason = f"does not connect server {missing[0]} of the job" if len(targets) else _no_target(request)
            reasons.append(f"fabric {fabric.name} {reason}")
    why = "; ".join(reasons) or (f"no fabric {request.fabric}" if request.fabric else "the site has no storage fabric")
    hint = (
        "state `write_GBps`, the rate that the whole job sees, or plan a fabric of `purpose: storage` that connects the "
        "servers of the job with storage servers, which have no GPUs, or attachments"
    )
    raise InputError([Diagnostic(CODE, place, f"checkpoint.write_GBps: missing key, as {why}", hint)])


def _no_target(request: StorageRequest) -> str:
    if request.targets:
        return f"has no servers, attachment or device of the name {' or '.join(request.targets)}"
    return "has no storage server and no attachment"


def targets_of(fabric: FabricPlan, names: Sequence[str] = ()) -> Ints:
    """Storage targets: what is named, else servers without GPUs on NICs for storage, and in a fabric of purpose storage
    attachments that are no external connection where there are none of these."""
    spec = fabric.spec
    if names:
        indices = [device.index for device in fabric.devices if {device.name, device.group} & {*names}]
        return np.array([at for at in indices if fabric.devices[at].role in (SERVER, ATTACHED)], dtype=np.int64)
    groups = {group.name for group in spec.groups if not group.server.gpus and group.nics == STORAGE}
    indices = [device.index for device in fabric.devices if device.role == SERVER and device.group in groups]
    if not indices and spec.purpose == STORAGE:
        outside = {attachment.name for attachment in spec.attachments if attachment.external is not None}
        indices = [device.index for device in fabric.devices if device.role == ATTACHED and device.name not in outside]
    return np.array(indices, dtype=np.int64)


def _jobs(fabric: FabricPlan, servers: Sequence[str], active: Sequence[str], jobs: int, place: Place) -> list[Ints]:
    """Active servers of every job: of this one, then of as large ones on the next GPU servers. Raises InputError."""
    mine, index = {*servers}, {name: fabric.by_name[name].index for name in servers}
    with_gpus = {group.name for group in fabric.spec.groups if group.server.gpus}
    others = [
        item.index for item in fabric.devices if item.role == SERVER and item.group in with_gpus and item.name not in mine
    ]
    if len(others) < (jobs - 1) * len(servers):
        most = 1 + len(others) // len(servers)
        message = f"checkpoint.jobs: expected at most {most}, got {jobs}"
        hint = f"fabric {fabric.name} has {len(others)} further servers with GPUs, a job has {len(servers)}"
        raise InputError([Diagnostic(CODE, place, message, hint)])
    at = [servers.index(name) for name in active]
    blocks = [others[step * len(servers) :] for step in range(jobs - 1)]
    return [np.array([index[name] for name in active]), *(np.array([block[row] for row in at]) for block in blocks)]


def _rate(
    base: HealthyNetwork,
    route_table: Routes,
    jobs: Sequence[Ints],
    targets: Ints,
    reading: bool,
    system_GBps: float,
    *,
    place: Place,
) -> tuple[float, str]:
    """(GB/s of the first job, what limits it)."""
    net = base.net
    shares = [_shares(base, route_table, clients, targets, reading, place) for clients in jobs]
    flow = np.repeat(np.arange(len(jobs)), [np.count_nonzero(share) for share in shares])
    link = np.concatenate([np.flatnonzero(share) for share in shares])
    part = np.concatenate([share[share > 0] for share in shares])
    capacity = np.append(net.capacity, system_GBps or np.inf)
    system = len(net.capacity)
    flow = np.append(flow, np.arange(len(jobs)))
    link = np.append(link, np.full(len(jobs), system))
    part = np.append(part, np.ones(len(jobs)))
    rates = max_min(capacity, flow, link, len(jobs), share=part)
    full = np.bincount(link, part * rates[flow], len(capacity)) / capacity
    mine = link[flow == 0]
    limit = int(mine[np.argmax(np.round(full[mine], 9))])
    return round(float(rates[0]), DIGITS), SYSTEM if limit == system else _limit(net, limit, targets)


def _limit(net: Network, link: int, targets: Ints) -> str:
    ends = {int(net.tail[link]), int(net.head[link])}
    lowest = min(ends, key=lambda device: net.level[device])
    if net.level[lowest]:
        return net.name(link)
    return TARGETS if lowest in targets else SERVERS


def _shares(base: HealthyNetwork, route_table: Routes, clients: Ints, targets: Ints, reading: bool, place: Place) -> Floats:
    """Share of a job's rate on every directed link."""
    net, part = base.net, base.part
    up, weight = _ports(net, clients)
    far, far_weight = _ports(net, targets)
    home, far_home = part[net.head[up]], part[net.head[far]]
    reaches = np.isin(home, far_home)
    lost = np.setdiff1d(clients, net.tail[up[reaches]])
    if len(lost):
        name = net.fabric.devices[int(lost[0])].name
        message = f"checkpoint: server {name} of the job has no path to the storage in fabric {net.fabric.name}"
        raise InputError([Diagnostic(CODE, place, message, "connect it to the same planes as the storage")])
    up, home = up[reaches], home[reaches]
    weight = _by_device(net, up, weight[reaches], len(clients))
    networks = int(part.max(initial=0)) + 1
    inflow = np.bincount(home, weight, networks)  # into each isolated network
    far_sum = np.bincount(far_home, far_weight, networks)
    far_part = far_weight * np.divide(inflow, far_sum, out=np.zeros(networks), where=far_sum > 0)[far_home]
    leaves, rows = len(base.leaves), base.row
    demand = np.zeros((leaves, leaves))
    for network_ in np.flatnonzero(inflow):
        source = np.bincount(rows[net.head[up[home == network_]]], weight[home == network_], leaves)
        sink = np.bincount(rows[net.head[far[far_home == network_]]], far_part[far_home == network_], leaves)
        demand += np.outer(source, sink) / inflow[network_]
    np.fill_diagonal(demand, 0.0)
    share, _ = loads(base, route_table, demand.T if reading else demand)
    first, last = (net.reverse(up), far) if reading else (up, net.reverse(far))
    np.add.at(share, first, weight)
    np.add.at(share, last, far_part)
    return share


def _ports(net: Network, devices: Ints) -> tuple[Ints, Floats]:
    """(links upward of servers or attachments that are up, part of all that each carries: devices have equal parts)."""
    links = np.flatnonzero(np.isin(net.tail[: net.links], devices) & net.alive[: net.links])
    return links, _by_device(net, links, net.capacity[links], len(devices))


def _by_device(net: Network, links: Ints, amount: Floats, devices: int) -> Floats:
    """Amounts scaled so that those of each device add up to 1 / devices."""
    total = np.bincount(net.tail[links], amount, len(net.level))
    scaled: Floats = amount / total[net.tail[links]] / devices
    return scaled
