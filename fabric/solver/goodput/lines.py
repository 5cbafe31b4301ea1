"""Goodput for a person."""

from __future__ import annotations

from fabric.base.text import aligned, duration, listed, percent, plural
from fabric.solver.estimate.nic_bandwidth import routing_words
from fabric.solver.goodput.failures import Saving
from fabric.solver.goodput.goodput import Goodput, Interruption, Span


def lines(result: Goodput) -> list[str]:
    """What stops and slows the job, its checkpoints, its useful time, and the GPU-hours that it loses. No line ends."""
    others = f", without servers of {listed(result.other_models, 4)}" if result.other_models else ""
    head = f"{result.gpus:,} GPUs of fabric {result.fabric}{others}"
    return [head, *_placement(result), "", *_parts(result), "", *_sums(result), "", *_curve(result), "", *_lost(result)]


def _placement(result: Goodput) -> list[str]:
    """What the time of the step assumes."""
    step = result.step
    if not step.placement:
        return []
    hides = "; --placement spread shows oversubscription" if step.placement == "packed" and step.units > 1 else ""
    return [
        f"  {step.placement}, in {plural(step.units, 'unit')}{hides}",
        f"  {routing_words(step.routing, step.queue_pairs)}",
    ]


def _parts(result: Goodput) -> list[str]:
    head = ("part", "count", "failures per year", "low to high", "effect of one", "example")
    rows = [_row(row) for row in result.interruptions]
    return aligned(rows, "<>>><<", head=head)


def _row(row: Interruption) -> tuple[str, ...]:
    part, rate = row.part, row.rate
    name = f"{part.place} {part.kind}" if part.place else rate.title
    effect = "job stops" if part.stops else "no effect" if part.slowdown < 1.00005 else f"step +{part.slowdown - 1:.2%}"
    span = f"{_few(part.count * rate.low)} to {_few(part.count * rate.high)}" if rate.high > rate.low else "-"
    return name, f"{part.count:,}", _few(row.per_year), span, effect, part.example


def _sums(result: Goodput) -> list[str]:
    saving = result.saving
    stall = f", the job stalls {_seconds(saving.stall_s)}" if saving.stall_s != saving.write_s else ""
    return aligned(
        [
            ("time to interruption", f"{_hours(result.mtti_hours.value)}, {_range(result.mtti_hours, _hours)} by the rates"),
            ("checkpoint", f"{saving.size_GB:,.0f} GB, written in {_seconds(saving.write_s)}{stall}"),
            *_storage(result),
            ("restart", _restart(saving)),
            *_waiting(result),
            ("interval", f"{_seconds(saving.interval_s)}; best {_seconds(saving.best_s)}, {_others(result)}"),
            (
                "useful time",
                f"{percent(result.useful.value)}, {_range(result.useful, percent)} by the rates; {_published(result)}",
            ),
            ("degraded network", f"mean step {result.degraded - 1:+.2%}"),
            (
                "tokens per day",
                f"{_tokens(result.tokens_per_day.value)}, {_range(result.tokens_per_day, _tokens)} by the rates",
            ),
        ]
    )


def _storage(result: Goodput) -> list[tuple[str, str]]:
    its = result.storage
    if its is None:
        return []
    jobs = f", {its.jobs} jobs at the same time" if its.jobs > 1 else ""
    return [
        ("storage", f"{plural(its.targets, 'target')} in fabric {its.fabric}{jobs}"),
        ("  writing", f"{its.write_GBps:,.1f} GB/s by {plural(its.writers, 'server')}, limited by {its.write_limit}"),
        ("  reading", f"{its.read_GBps:,.1f} GB/s by {plural(its.readers, 'server')}, limited by {its.read_limit}"),
    ]


def _waiting(result: Goodput) -> list[tuple[str, str]]:
    """Where the job may wait for a repair."""
    if result.ready == 1:
        return []
    spares = "" if result.spare_servers is None else f", with {plural(result.spare_servers, 'spare server')}"
    return [("waiting for repair", f"{percent(1 - result.ready)} of the time{spares}")]


def _restart(saving: Saving) -> str:
    parts = {"detection": saving.detection_s, "start": saving.start_s, "load": saving.load_s}
    if saving.repeated_s:
        parts["steps that were not saved"] = saving.repeated_s
    return f"{_seconds(saving.restart_s)}: " + ", ".join(f"{name} {_seconds(value)}" for name, value in parts.items())


def _others(result: Goodput) -> str:
    return f"Young {_seconds(result.saving.young_s)}, Daly {_seconds(result.saving.daly_s)}"


def _published(result: Goodput) -> str:
    return f"first order {percent(max(0.0, result.first_order))}"


def _curve(result: Goodput) -> list[str]:
    rows = [(_seconds(interval), percent(share)) for interval, share in result.saving.curve]
    return aligned(rows, ">>", head=("interval", "useful time"))


def _lost(result: Goodput) -> list[str]:
    whole = sum(hours for _, hours in result.lost_gpu_hours)
    rows = [(cause, f"{hours:,.0f}", percent(hours / whole) if whole else "-") for cause, hours in result.lost_gpu_hours]
    return aligned(rows, "<>>", head=("lost to", "GPU-hours per year", "of all lost"))


def _range(span: Span, form: object) -> str:
    assert callable(form)
    low, high = sorted((span.p10, span.p90))
    return f"{form(low)} to {form(high)}"


def _seconds(value: float) -> str:
    return duration(value * 1e3)


def _hours(value: float) -> str:
    if value == float("inf"):
        return "no interruption"
    return f"{value:,.0f} h" if value >= 1000 else f"{value:,.1f} h" if value >= 10 else f"{value:.2f} h"


def _tokens(value: float) -> str:
    return f"{value / 1e9:,.1f} billion"


def _few(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 or not value else f"{value:.2g}"
