"""What a fabric carries before and after: bisection, throughput, and the times of an all-reduce and an alltoall.

A packed all-reduce hardly crosses a spine, so it does not see oversubscription. Both collectives are therefore timed with
the job spread over the units as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fabric.model.plan import FabricPlan, Plan
from fabric.solver.estimate.calls import PACKED, SPREAD, Measured

SIZES = (8 << 20, 256 << 20, 1 << 30, 8 << 30)  # bytes, as nccl-tests counts them
MIN_SHOWN_PERCENT = 0.05  # what is less reads +0.0 %
MAX_MEASURED_LINKS = 150_000  # of a fabric whose bisection and throughput are computed interactively
Measure = Callable[[FabricPlan, bool], Measured]  # a fabric's figures, those that take a while as well


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measure of one fabric; None on the side that has no such fabric, or no such figure."""

    fabric: str
    what: str
    unit: str  # "%", "GB/s", "ms"
    old: float | None
    new: float | None
    placement: str = ""  # of the job whose time it is

    @property
    def percent(self) -> float | None:
        """By how much the new one differs from the old."""
        if not self.old or self.new is None:
            return None
        return 100 * (self.new - self.old) / self.old

    @property
    def differs(self) -> bool:
        """Whether it is worth a line: by a twentieth of a percent at least."""
        return self.old != self.new and (self.percent is None or abs(self.percent) >= MIN_SHOWN_PERCENT)


@dataclass(frozen=True)
class Capacity:
    """Figures of the fabrics that change, and the fabrics that are too large to be measured at once."""

    figures: tuple[Figure, ...]
    left_out: tuple[str, ...] = ()
    routing: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # fabric → in words, before and after; "": not timed


def compare(old: Plan, new: Plan, fabrics: Sequence[str], measure: Measure) -> Capacity:
    """The figures of some fabrics."""
    figures: list[Figure] = []
    left_out: list[str] = []
    routing: dict[str, tuple[str, str]] = {}
    for name in fabrics:
        sides = [plan.fabrics.get(name) for plan in (old, new)]
        if any(side is not None and len(side.links) > MAX_MEASURED_LINKS for side in sides):
            left_out.append(name)
        before, after = (measure(side, name not in left_out) if side is not None else Measured({}) for side in sides)
        routing[name] = before.routing, after.routing
        pairs = {key: (before.figures.get(key), after.figures.get(key)) for key in {**before.figures, **after.figures}}
        for (what, unit, placement), pair in pairs.items():
            if placement != SPREAD or pair != pairs.get((what.removesuffix(f", {SPREAD}"), unit, PACKED)):
                ends = dict(zip(("old", "new"), pair, strict=True))
                figures.append(
                    Figure(fabric=name, what=what, unit=unit, **ends, placement=placement)
                )  # a job in one unit stands as it does packed
    return Capacity(tuple(figures), tuple(left_out), routing)
