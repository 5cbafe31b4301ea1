"""What a fabric carries, in a few figures: bisection, throughput, the times of an all-reduce and of an alltoall."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fabric.model.plan import FabricPlan
from fabric.solver.capacity import measure
from fabric.solver.capacity.failures import NOTHING
from fabric.solver.collective import COLLECTIVES
from fabric.solver.estimate.calls import SPREAD, Call, Calls
from fabric.solver.estimate.nic_bandwidth import routing_words
from fabric.solver.network import network

Figures: TypeAlias = Mapping[tuple[str, str, str], float]  # (what, unit, placement of a time) → figure


@dataclass(frozen=True)
class Measured:
    """The figures of one fabric; `routing` in words, "" where nothing was timed."""

    figures: Figures
    routing: str = ""


def measured(fabric: FabricPlan, calls: Calls, cuts: bool) -> Measured:
    """The figures of one fabric.

    Args:
        calls: collectives, healthy, packed and spread.
        cuts: bisection and throughput too, which take a while.
    """
    how = next((routing_words(row.routing, row.queue_pairs) for row in calls.rows), "")
    return Measured({**(_cuts(fabric) if cuts else {}), **dict(_times(calls))}, how)


def _cuts(fabric: FabricPlan) -> Figures:
    made = measure.measure(network(fabric), NOTHING, n_minus_1=False)
    found: dict[tuple[str, str, str], float] = {("bandwidth of all NICs", "GB/s", ""): made.nic_GBps}
    if made.bisection is not None:
        found["bisection", "% of the NICs", ""] = 100 * made.bisection.share
    for row in made.throughput:
        if row.pattern == "uniform":
            found["throughput, all to all", "% of the NICs", ""] = 100 * row.optimal
            found["throughput, all to all, ECMP", "% of the NICs", ""] = 100 * row.ecmp
    return found


def _times(calls: Calls) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Times in ms."""
    return (((_named(row), "ms", row.placement), row.time_us / 1000) for row in calls.rows)


def _named(call: Call) -> str:
    name = f"{COLLECTIVES[call.collective].prose or call.collective} of {size_name(call.bytes)}"
    return f"{name}, spread" if call.placement == SPREAD else name


def size_name(size: int) -> str:
    """Bytes as an option spells them: 8M, 1G."""
    for letter, power in (("G", 30), ("M", 20), ("K", 10)):
        if size >= 1 << power and size % (1 << power) == 0:
            return f"{size >> power}{letter}"
    return f"{size} bytes"
