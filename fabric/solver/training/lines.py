"""A training step for a person."""

from __future__ import annotations

from fabric.base.text import aligned, duration, percent, plural, size, time
from fabric.solver.estimate.nic_bandwidth import routing_words
from fabric.solver.training.job import Ratio
from fabric.solver.training.step import DimensionTime, StepTime


def lines(step: StepTime) -> list[str]:
    """Calls by dimension, the sum, the limit, and the assumptions. Lines without a line end."""
    return [*_dimensions(step), "", *_sums(step), *_assumptions(step)]


def _dimensions(step: StepTime) -> list[str]:
    if not step.dimensions:
        return ["no dimension crosses the network"]
    head = ("dimension", "collective", "ranks", "size", "calls", "one call", "total", "exposed")
    rows = [(d.dimension, d.collective, f"{d.ranks:,}", size(d.bytes), f"{d.calls:,}", *_times(d)) for d in step.dimensions]
    return aligned(rows, "<<>>>>>>", head=head)


def _times(dimension: DimensionTime) -> tuple[str, str, str]:
    return time(dimension.call_us), duration(dimension.total_ms), duration(dimension.exposed_ms)


def _sums(step: StepTime) -> list[str]:
    rows = [
        ("compute", f"{duration(step.compute_ms)} on the slowest GPU of the heaviest stage"),
        ("communication", f"{duration(step.communication_ms)}, of which {duration(step.exposed_ms)} exposed"),
        ("bubble", duration(step.bubble_ms)),
    ]
    if step.optimizer_ms:
        rows.append(("optimizer", duration(step.optimizer_ms)))
    if step.overhead_ms:
        rows.append(("overhead", duration(step.overhead_ms)))
    return aligned(
        [
            *rows,
            ("step", f"{duration(step.step_ms)} on {step.gpus:,} GPUs; {duration(step.ideal_ms)} with an ideal network"),
            (
                "p10 to p90",
                f"{duration(step.p10_ms)} to {duration(step.p90_ms)}; by the network alone "
                f"{duration(step.network_p10_ms)} to {duration(step.network_p90_ms)}",
            ),
            *_utilisation(step),
            ("tokens/s", f"{step.tokens_per_second:,.0f}, {percent(step.lost_to_network)} lost to the network"),
            *_limit(step),
            *_experts(step),
            *_placement(step),
            *_memory(step),
        ]
    )


def _placement(step: StepTime) -> list[tuple[str, str]]:
    """What the times of calls assume."""
    if not step.placement:
        return []
    where = f"{step.placement}, in {plural(step.units, 'unit')}; {routing_words(step.routing, step.queue_pairs)}"
    hides = step.placement == "packed" and step.units > 1
    more = [("", "packed jobs hardly cross a spine: --placement spread shows oversubscription")] if hides else []
    return [("placement", where), *more]


def _utilisation(step: StepTime) -> list[tuple[str, str]]:
    """Where the utilisation is from, and what measured kernels reach."""
    computed = step.computed_utilisation
    if step.measured_on:  # published steps on another GPU model differ more
        rates = step.rates
        scaled = f", x {rates.matmul:.2f}, attention x {rates.attention:.2f}" if rates != Ratio() else ""
        return [("utilisation", f"measured on {step.measured_on}{scaled}; p10 to p90 is wider")]
    if computed and step.utilisation == computed:
        return [("utilisation", f"{computed:.2f}, computed from measured kernels of these shapes; p10 to p90 is wider")]
    return (
        [("utilisation", f"{step.utilisation:.2f} as stated; measured kernels of these shapes: {computed:.2f}")]
        if computed
        else []
    )


def _experts(step: StepTime) -> list[tuple[str, str]]:
    """What the time of experts leaves out."""
    if not any(item.dimension == "expert" for item in step.dimensions):
        return []
    return [("experts", "without routing, permutation and host synchronization: docs/training.md, Experts")]


def _memory(step: StepTime) -> list[tuple[str, str]]:
    """What the fullest GPU holds, and whether it has room for it."""
    held = step.memory
    of = f" of {held.available_GB:,.1f} GB" if held.available_GB else " GB"
    where = f" on stage {held.stage + 1} of {held.stages}" if held.stages > 1 else ""
    parts = (
        ("parameters", held.parameters_GB),
        ("gradients", held.gradients_GB),
        ("optimizer", held.optimizer_GB),
        ("activations", held.activations_GB),
    )
    rows = [
        ("memory", f"{held.total_GB:,.1f}{of} per GPU{where}"),
        ("", ", ".join(f"{name} {value:,.1f}" for name, value in parts)),
    ]
    if not held.fits:
        rows.append(("", "more than the GPU has: recompute, shard, or use more tensor or pipeline ranks"))
    return rows


def _limit(step: StepTime) -> list[tuple[str, str]]:
    most = step.deciding
    if most is None or not most.exposed_ms:
        return []
    share = percent(most.exposed_ms / step.step_ms)
    return [("limit", f"{most.dimension} {most.collective}, {share} of the step: {most.limit}")]


def _assumptions(step: StepTime) -> list[str]:
    rows = [(row.key, row.value, row.other, f"{row.change:+.1%}") for row in step.assumptions]
    if not rows:
        return []
    head = ("not stated in JOB", "taken", "with", "step")
    return ["", *aligned(rows, "<<<>", head=head)]
