"""What a fabric carries, in a few figures: bisection, throughput, the times of an all-reduce and of an alltoall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from fabric.plan import FabricPlan
from fabric.solver.capacity import measure
from fabric.solver.capacity.failures import NOTHING
from fabric.solver.estimate.request import EstimateRequest, estimate
from fabric.solver.network import network

Figures: TypeAlias = Mapping[tuple[str, str], float]  # (what, unit) → figure


def figures(fabric: FabricPlan, spread: tuple[str, int], sizes: Sequence[int], cuts: bool) -> Figures:
    """The figures of one fabric.

    Args:
        spread: routing and queue pairs, as the plan configures them.
        sizes: bytes of the collectives.
        cuts: bisection and throughput too, which take a while.
    """
    found: dict[tuple[str, str], float] = {}
    if cuts:
        found |= _cuts(fabric)
    if fabric.spec.purpose == "compute" and fabric.sizing.gpus > 1:
        found |= _times(fabric, spread, sizes)
    return found


def _cuts(fabric: FabricPlan) -> Figures:
    made = measure.measure(network(fabric), NOTHING, n_minus_1=False)
    found: dict[tuple[str, str], float] = {("bandwidth of all NICs", "GB/s"): made.nic_GBps}
    if made.bisection is not None:
        found["bisection", "% of the NICs"] = 100 * made.bisection.share
    for row in made.throughput:
        if row.pattern == "uniform":
            found["throughput, all to all", "% of the NICs"] = 100 * row.optimal
            found["throughput, all to all, ECMP", "% of the NICs"] = 100 * row.ecmp
    return found


def _times(fabric: FabricPlan, spread: tuple[str, int], sizes: Sequence[int]) -> Figures:
    routing, queue_pairs = spread
    asked = (
        ("all-reduce", EstimateRequest("all_reduce", tuple(sizes), routing=routing, queue_pairs=queue_pairs)),
        ("alltoall", EstimateRequest("alltoall", tuple(sizes), routing="spray")),
    )
    return {
        (f"{name} of {size_name(row.bytes)}", "ms"): row.time_us / 1000
        for name, one in asked
        for row in estimate(fabric, one, "packed")[0].rows
    }


def size_name(size: int) -> str:
    """Bytes as an option spells them: 8M, 1G."""
    for letter, power in (("G", 30), ("M", 20), ("K", 10)):
        if size >= 1 << power and size % (1 << power) == 0:
            return f"{size >> power}{letter}"
    return f"{size} bytes"
