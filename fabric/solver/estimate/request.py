"""Questions to a fabric, as the command line and other programs put them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.model.plan import FabricPlan
from fabric.solver import Network, PortNamer, unnamed
from fabric.solver.capacity import failures
from fabric.solver.collective import ALL_REDUCE
from fabric.solver.collectives import physics
from fabric.solver.estimate import estimate as one
from fabric.solver.estimate.estimate import Estimate
from fabric.solver.estimate.nic_bandwidth import AvailableBandwidth, supply
from fabric.solver.estimate.placement import ALL, Placement, ServerPart, place
from fabric.solver.estimate.platform import platform
from fabric.solver.network import network

if TYPE_CHECKING:
    from fabric.solver.capacity.measure import Capacity

HARDLY_MORE = 0.1  # of the traffic: where so little more leaves its leaf, a spread job takes as long


@dataclass(frozen=True, kw_only=True)
class EstimateRequest:
    """Parameters of an estimate: a collective, the job that runs it, and failures.

    Attributes:
        collective: name as in nccl-tests, such as `all_reduce`.
        sizes: sizes in bytes, as nccl-tests counts them.
        gpus: GPUs of a job; None for all of the fabric.
        algorithm: `auto`, or an algorithm of NCCL.
        protocol: `auto`, or a protocol of NCCL.
        routing: `ecmp`, `adaptive` or `spray`; "" for that of the plan.
        queue_pairs: queue pairs of a connection; 0 for those of the plan.
        fail: failed devices, links and ports by name.
        seed: seed of the hash draws.
        platform: platform file; None for the shipped parameters.
        jobs: number of concurrent jobs of `gpus` GPUs each.
        ctas: thread blocks of a ring (`NCCL_MIN_CTAS`); 0 for NCCL's default with the NICs of a server.
        gpus_per_domain: GPUs of each NVLink domain that the job uses; None for all.
        part: GPUs of each server that the job uses, and communicators at the same time, each with `gpus` GPUs.
    """

    collective: str = ALL_REDUCE
    sizes: tuple[int, ...] = ()
    gpus: int | None = None
    algorithm: str = "auto"
    protocol: str = "auto"
    routing: str = "ecmp"
    queue_pairs: int = 1
    fail: tuple[str, ...] = ()
    seed: int = 0
    platform: Path | None = None
    jobs: int = 1
    ctas: int = 0
    gpus_per_domain: int | None = None
    part: ServerPart = ALL


def estimate(
    fabric: FabricPlan, request: EstimateRequest, placement: str, port_name: PortNamer = unnamed
) -> tuple[Estimate, Estimate | None]:
    """(the answer, the same before its failures where there are any). Raises InputError."""
    whole = network(fabric, port_name)
    broken = _broken(whole, request)
    parameters = platform(request.platform)
    before = supply_on(whole, request, placement)
    healthy = answer(request, before, parameters)
    if broken is whole:
        return healthy, None
    return answer(request, supply_on(broken, request, placement, before), parameters), healthy


def spread_beside(packed: Estimate, request: EstimateRequest) -> float | None:
    """Time in µs of the largest size of a packed job's estimate with the job spread over the units.

    None where the job is placed otherwise, or where the two hardly differ: a fabric of one unit, traffic that leaves its
    leaves as much when it is packed.
    """
    now, row = packed.supply, packed.rows[-1]
    if packed.placement.name != "packed" or packed.placement.domains == 1 or now.net.fabric.sizing.units == 1:
        return None
    spread = _spread(now, request)
    pattern = one.pattern_of(row.collective, row.algorithm)
    if spread.beyond_leaf(pattern) <= now.beyond_leaf(pattern) + HARDLY_MORE:
        return None
    parameters = platform(request.platform)
    choice = request.algorithm, request.protocol
    return float(one.timed(request.collective, (row.bytes,), spread, parameters, *choice, ctas=request.ctas)[2][0])


def _spread(packed: AvailableBandwidth, request: EstimateRequest) -> AvailableBandwidth:
    """The same network for the same job, spread."""
    placed = _placed(packed.net, request, "spread")
    before = _spread(packed.before, request) if packed.before else None
    return replace(packed, placement=placed, before=before)


def answer(request: EstimateRequest, found: AvailableBandwidth, parameters: physics.Physics) -> Estimate:
    """The collective of a request where the network leaves so much. Raises InputError."""
    asked = request.algorithm, request.protocol
    return one.estimate(request.collective, request.sizes, found, parameters, *asked, ctas=request.ctas)


def capacity(
    fabric: FabricPlan,
    fail: tuple[str, ...],
    pairs: int,
    seed: int,
    port_name: PortNamer = unnamed,
    *,
    job: EstimateRequest | None = None,
    placement: str = "packed",
) -> Capacity:
    """Cuts, bisection, throughput, and what failures leave; of all server ports, or of those of a job. Raises InputError."""
    from fabric.solver.capacity import measure

    whole = network(fabric, port_name)
    failed = failures.parse(whole, fail)
    if job is None:
        return measure.measure(whole, failed, pairs=pairs, seed=seed)
    placed = _placed(whole, job, placement)
    part = whole.only(np.unique(placed.ports))
    return measure.measure(part, failed, pairs=pairs, seed=seed, server_gpus=placed.gpu_ids.size)


def links_down(fabric: FabricPlan, fail: tuple[str, ...], port_name: PortNamer = unnamed) -> list[int]:
    """The links that failures take down, and those of planes that are not in service. Raises InputError."""
    whole, today = network(fabric, port_name, every_plane=True), network(fabric, port_name)
    broken = failures.check(today, failures.parse(today, fail)) if fail else today
    count = len(fabric.links)
    return [int(link) for link in np.flatnonzero((broken.capacity[:count] == 0) & (whole.capacity[:count] > 0))]


def supply_of(
    fabric: FabricPlan, request: EstimateRequest, placement: str, port_name: PortNamer = unnamed
) -> AvailableBandwidth:
    """What the fabric leaves of the NICs of a job, with its failures. Raises InputError."""
    whole = network(fabric, port_name)
    return supply_on(_broken(whole, request), request, placement)


def _broken(whole: Network, request: EstimateRequest) -> Network:
    return failures.check(whole, failures.parse(whole, request.fail)) if request.fail else whole


def supply_on(
    net: Network, request: EstimateRequest, placement: str, before: AvailableBandwidth | None = None
) -> AvailableBandwidth:
    """What a network leaves of the NICs of a job; `before` is the same without its failures. Raises InputError."""
    placed = _placed(net, request, placement)
    if placed.domains > 1 and not placed.ports.size:
        _no_port(net, placed)
    return supply(net, placed, request.routing, request.queue_pairs, request.seed, before)


def _placed(net: Network, request: EstimateRequest, placement: str) -> Placement:
    """Where the job of a request stands. Raises InputError."""
    return place(net, request.gpus, placement, request.jobs, request.gpus_per_domain, request.part)


def _no_port(net: Network, placed: Placement) -> None:
    """Raises InputError: a collective needs one rail at least on which every server of the job has a port that is up."""
    rows = np.isin(net.ports.server, placed.servers)
    up = net.alive[net.ports.link]
    cut = np.setdiff1d(placed.servers, net.ports.server[rows & up])
    message, hint = (
        "no rail is left that is up in every server of the job",
        "remove a --fail, or use other servers with --placement",
    )
    if len(cut):
        message = f"server {net.fabric.devices[int(cut[0])].name} of the job has no working NIC port"
    raise InputError([Diagnostic("FAB171", Place("--fail"), message, hint)])
