"""A comparison for a person: a row a figure, a column a design."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabric.compare.designs import Design
from fabric.text import aligned, duration, percent, plural, power, time

Form = Callable[[Design], str]
_PLAN: tuple[tuple[str, Form], ...] = (
    ("kind", lambda item: item.kind),
    ("tiers, planes", lambda item: f"{item.tiers}, {item.planes}"),
    ("oversubscription", lambda item: f"{item.oversubscription:g}:1"),
    ("GPUs of the job", lambda item: f"{item.goodput.gpus:,} of {item.fabric_gpus:,}"),
    ("switches", lambda item: f"{item.switches:,}"),
    ("links", lambda item: f"{item.links:,}"),
    ("network power, typical", lambda item: power(item.network.typical_w)),
    ("  from, to", lambda item: f"{power(item.network.typical_low_w)}, {power(item.network.typical_high_w)}"),
    ("  worst case", lambda item: power(item.network.max_w)),
)
_JOB: tuple[tuple[str, Form], ...] = (
    ("all-reduce of 1 GiB", lambda item: time(item.all_reduce_us)),
    ("  bus bandwidth", lambda item: f"{item.all_reduce_busbw_GBps:,.0f} GB/s"),
    ("step", lambda item: duration(item.goodput.step.step_ms)),
    ("  exposed communication", lambda item: percent(item.goodput.step.exposed_ms / item.goodput.step.step_ms)),
    ("time to interruption", lambda item: f"{item.goodput.mtti_hours.value:,.1f} h"),
    ("  first cause", lambda item: _first(item)),
    ("useful time", lambda item: percent(item.goodput.useful.value)),
    ("tokens per day", lambda item: f"{item.goodput.tokens_per_day.value / 1e9:,.1f} billion"),
)
_COST: tuple[tuple[str, Form], ...] = (
    ("network capex", lambda item: _money(item, item.network_capex)),
    ("total cost", lambda item: _money(item, item.tco)),
    ("cost per billion tokens", lambda item: _money(item, item.cost_per_billion_tokens)),
)


def lines(designs: Sequence[Design]) -> list[str]:
    """Every figure of the designs; cost where there are prices. No line ends."""
    shown = [*_PLAN, *_JOB, *(_COST if designs[0].tco is not None else ())]
    rows = [(title, *(form(item) for item in designs)) for title, form in shown]
    out = aligned(rows, "<" + ">" * len(designs), head=("", *(item.name for item in designs)))
    if any(item.unpriced for item in designs):
        out += ["", "≥: lower bound, as prices of some parts are unknown"]
    if designs[0].tco is not None:
        out += [
            "",
            f"costs are in {designs[0].currency}, over {plural(designs[0].years, 'year')}, of the job's share of the GPUs",
        ]
    return out


def _first(item: Design) -> str:
    part = next((row.part for row in item.goodput.interruptions if row.part.stops), None)
    return "none" if part is None else f"{part.place} {part.kind}".strip().replace("gpu", "GPU").replace("nic", "NIC")


def _money(item: Design, value: float | None) -> str:
    return "-" if value is None else _least(f"{value:,.0f}" if value >= 100 else f"{value:,.2f}", bool(item.unpriced))


def _least(text: str, bound: bool) -> str:
    return f"≥ {text}" if bound else text
