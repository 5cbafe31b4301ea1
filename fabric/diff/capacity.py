"""What a fabric carries before and after: bisection, throughput, and the times of an all-reduce and an alltoall.

A packed all-reduce hardly crosses a spine, so it does not see oversubscription. The alltoall does; its packets are sprayed
over all equal paths, so that the figure is what the links allow and does not change with the luck of a hash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabric import pipeline
from fabric.plan.plan import FabricPlan, Plan

SIZES = (8 << 20, 256 << 20, 1 << 30, 8 << 30)  # bytes, as nccl-tests counts them
LEAST_PERCENT = 0.05  # what is less reads +0.0 %
MOST_LINKS = 150_000  # of a fabric whose bisection and throughput are computed while somebody waits


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure of one fabric; None on the side that has no such fabric, or no such figure."""

    fabric: str
    what: str
    unit: str  # "%", "GB/s", "ms"
    old: float | None
    new: float | None

    @property
    def percent(self) -> float | None:
        """By how much the new one differs from the old."""
        if not self.old or self.new is None:
            return None
        return 100 * (self.new - self.old) / self.old

    @property
    def differs(self) -> bool:
        """Whether it is worth a line: by a twentieth of a percent at least."""
        return self.old != self.new and (self.percent is None or abs(self.percent) >= LEAST_PERCENT)


@dataclass(frozen=True)
class Capacity:
    """Figures of the fabrics that change, and the fabrics that are too large to be measured at once."""

    figures: tuple[Figure, ...]
    left_out: tuple[str, ...] = ()


def compare(old: Plan, new: Plan, fabrics: Sequence[str], sizes: Sequence[int]) -> Capacity:
    """The figures of some fabrics."""
    found: list[Figure] = []
    left_out: list[str] = []
    for name in fabrics:
        sides = [plan.fabrics.get(name) for plan in (old, new)]
        if any(side is not None and len(side.links) > MOST_LINKS for side in sides):
            left_out.append(name)
        before, after = (_figures(side, sizes, name not in left_out) if side is not None else {} for side in sides)
        for what, unit in {**before, **after}:
            found.append(Figure(name, what, unit, before.get((what, unit)), after.get((what, unit))))
    return Capacity(tuple(found), tuple(left_out))


def _figures(fabric: FabricPlan, sizes: Sequence[int], cuts: bool) -> Mapping[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    if cuts:
        found |= _cuts(fabric)
    if fabric.spec.intent.purpose == "compute" and fabric.sizing.gpus > 1:
        found |= _times(fabric, sizes)
    return found


def _cuts(fabric: FabricPlan) -> Mapping[tuple[str, str], float]:
    from fabric.solver.capacity import measure
    from fabric.solver.capacity.failures import NOTHING
    from fabric.solver.network import network

    made = measure.measure(network(fabric), NOTHING, n_minus_1=False)
    found: dict[tuple[str, str], float] = {("bandwidth of all NICs", "GB/s"): made.nic_GBps}
    if made.bisection is not None:
        found["bisection", "% of the NICs"] = 100 * made.bisection.share
    for row in made.throughput:
        if row.pattern == "uniform":
            found["throughput, all to all", "% of the NICs"] = 100 * row.optimal
            found["throughput, all to all, ECMP", "% of the NICs"] = 100 * row.ecmp
    return found


def _times(fabric: FabricPlan, sizes: Sequence[int]) -> Mapping[tuple[str, str], float]:
    from fabric.hosts.spreading import spreading
    from fabric.solver.estimate.ask import Asked

    routing, queue_pairs = spreading(fabric)
    asked = (
        ("all-reduce", Asked("all_reduce", tuple(sizes), routing=routing, queue_pairs=queue_pairs)),
        ("alltoall", Asked("alltoall", tuple(sizes), routing="spray")),
    )
    return {
        (f"{name} of {size_name(row.bytes)}", "ms"): row.time_us / 1000
        for name, one in asked
        for row in pipeline.estimate(fabric, one)[0].rows
    }


def size_name(size: int) -> str:
    """Bytes as an option spells them: 8M, 1G."""
    for letter, power in (("G", 30), ("M", 20), ("K", 10)):
        if size >= 1 << power and size % (1 << power) == 0:
            return f"{size >> power}{letter}"
    return f"{size} bytes"
