"""A comparison for a person: one row per figure, one column per design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fabric.compare.designs import Design, against
from fabric.compare.money import EXPOSED, FAILED, STOPS
from fabric.text import aligned, duration, listed, percent, plural, power, time

Form = Callable[[Design], str]
MOST_NAMED = 4  # parts without a price
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
    ("checkpoint", lambda item: duration(item.goodput.saving.write_s * 1e3)),
    ("  written at", lambda item: _written(item)),
    ("useful time", lambda item: percent(item.goodput.useful.value)),
    ("tokens per day", lambda item: f"{item.goodput.tokens_per_day.value / 1e9:,.1f} billion"),
)
_LOST: tuple[tuple[str, Form], ...] = (
    ("lost to communication", lambda item: percent(item.lost(EXPOSED))),
    ("lost to failures", lambda item: percent(item.lost(FAILED, *STOPS))),
    ("lost to checkpoints", lambda item: percent(item.lost("checkpoints"))),
)
_COST: tuple[tuple[str, Form], ...] = (
    ("network capex", lambda item: _money(item, item.network_capex)),
    ("total cost", lambda item: _money(item, item.tco)),
    ("cost per billion tokens", lambda item: _money(item, item.cost_per_billion_tokens)),
    ("network per year", lambda item: _money(item, item.cost.network if item.cost else None)),
)


def rows(designs: Sequence[Design]) -> list[tuple[str, ...]]:
    """A title and a cell for each design; cost where there are prices."""
    priced = designs[0].tco is not None
    shown = [
        (title, *(form(item) for item in designs)) for title, form in [*_PLAN, *_JOB, *_LOST, *(_COST if priced else ())]
    ]
    if len(designs) == 1 or not priced:
        return shown
    pairs = [against(item, designs[0]) for item in designs]
    return [
        *shown,
        ("  against the first", *("-" if not row else _signed(pair, "network") for row, pair in enumerate(pairs))),
        ("  more tokens, worth", *("-" if not row else _signed(pair, "tokens_worth") for row, pair in enumerate(pairs))),
    ]


def notes(designs: Sequence[Design]) -> list[str]:
    """What the signs and the money mean."""
    out = []
    if any(item.unpriced for item in designs):
        out.append("≥: lower bound, as prices of some parts are unknown")
    out += [f"{item.name}: no price of {listed(item.unpriced, MOST_NAMED)}" for item in designs if item.unpriced]
    if designs[0].tco is not None:
        years = plural(designs[0].years, "year")
        out.append(f"costs are in {designs[0].currency}, over {years} or of one, of the job's share of the GPUs")
    return out


def lines(designs: Sequence[Design]) -> list[str]:
    """Every figure of the designs. No line ends."""
    out = aligned(rows(designs), "<" + ">" * len(designs), head=("", *(item.name for item in designs)))
    for note in notes(designs):
        out += ["", note]
    return out


def _signed(pair: Mapping[str, float] | None, key: str) -> str:
    return "-" if pair is None else f"{pair[key]:+,.0f}"


def _written(item: Design) -> str:
    saving, storage = item.goodput.saving, item.goodput.storage
    return f"{saving.size_GB / saving.write_s:,.0f} GB/s{', ' + storage.write_limit if storage else ''}"


def _first(item: Design) -> str:
    part = next((row.part for row in item.goodput.interruptions if row.part.stops), None)
    return "none" if part is None else f"{part.place} {part.kind}".strip().replace("gpu", "GPU").replace("nic", "NIC")


def _money(item: Design, value: float | None) -> str:
    return "-" if value is None else _least(f"{value:,.0f}" if value >= 100 else f"{value:,.2f}", bool(item.unpriced))


def _least(text: str, bound: bool) -> str:
    return f"≥ {text}" if bound else text
