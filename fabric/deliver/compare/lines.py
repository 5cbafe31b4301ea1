"""A comparison for a person: one row per figure, one column per design, and what the figures assume."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fabric.base.text import aligned, counted, duration, listed, percent, plural, power, size, time
from fabric.deliver.compare.designs import Design, against, lost
from fabric.deliver.compare.money import EXPOSED, FAILED, STOPS
from fabric.solver.collective import ALL_REDUCE
from fabric.solver.estimate.calls import ONE_UNIT, PACKED, SPREAD, Call
from fabric.solver.estimate.nic_bandwidth import routing_words
from fabric.solver.goodput.goodput import Goodput

Form = Callable[[Design], str]
OfJob = Callable[[Goodput], str]
Row = tuple[str, ...]
MAX_NAMED_PARTS = 4  # parts without a price
ALIKE = 0.005  # times that differ by less are the same for a reader
_PLAN: tuple[tuple[str, Form], ...] = (
    ("kind", lambda item: item.kind),
    ("tiers, planes", lambda item: f"{item.tiers}, {item.planes}" + _in_service(item)),
    ("oversubscription", lambda item: f"{item.oversubscription:g}:1"),
    ("GPUs of the job", lambda item: f"{item.job_gpus:,} of {item.fabric_gpus:,}"),
    ("switches", lambda item: f"{item.switches:,}"),
    ("links", lambda item: f"{item.links:,}"),
    ("  between switches", lambda item: f"{item.switch_links:,}"),
    ("network power, typical", lambda item: power(item.power.typical_w) if item.power else "-"),
    ("  from, to", lambda item: _power_range(item)),
    ("  worst case", lambda item: power(item.power.max_w) if item.power else "-"),
)
_JOB: tuple[tuple[str, OfJob], ...] = (
    ("step", lambda item: duration(item.step.step_ms)),
    ("  exposed communication", lambda item: percent(item.step.exposed_ms / item.step.step_ms)),
    ("time to interruption", lambda item: f"{item.mtti_hours.value:,.1f} h"),
    ("  first cause", lambda item: _first(item)),
    ("checkpoint", lambda item: duration(item.saving.write_s * 1e3)),
    ("  written at", lambda item: _written(item)),
    ("useful time", lambda item: percent(item.useful.value)),
    ("tokens per day", lambda item: f"{item.tokens_per_day.value / 1e9:,.1f} billion"),
    ("lost to communication", lambda item: percent(lost(item, EXPOSED))),
    ("lost to failures", lambda item: percent(lost(item, FAILED, *STOPS))),
    ("lost to checkpoints", lambda item: percent(lost(item, "checkpoints"))),
)
_COST: tuple[tuple[str, Form], ...] = (
    ("network capex", lambda item: _money(item, item.network_capex)),
    ("total cost with servers", lambda item: _money(item, item.tco)),
)
_COST_OF_JOB: tuple[tuple[str, Form], ...] = (
    ("cost per billion tokens", lambda item: _money(item, item.cost_per_billion_tokens)),
    ("network per year", lambda item: _money(item, item.cost.network if item.cost else None)),
)


def _in_service(item: Design) -> str:
    return f" ({item.planes_active} in service)" if item.planes_active < item.planes else ""


def rows(designs: Sequence[Design]) -> list[Row]:
    """A title and a cell for each design; those of the job where there is one, cost where there are prices."""
    shown = [(title, *(form(item) for item in designs)) for title, form in _PLAN]
    shown += _calls(designs)
    jobs = [item.goodput for item in designs if item.goodput]
    if jobs:
        shown += [(title, *(form(job) for job in jobs)) for title, form in _JOB]
    if designs[0].tco is None:
        return shown
    shown += [(title, *(form(item) for item in designs)) for title, form in [*_COST, *(_COST_OF_JOB if jobs else ())]]
    if len(designs) == 1 or not jobs:
        return shown
    pairs = [against(item, designs[0]) for item in designs]
    return [
        *shown,
        ("  against the first", *("-" if not row else _signed(pair, "network") for row, pair in enumerate(pairs))),
        ("  more tokens, worth", *("-" if not row else _signed(pair, "tokens_worth") for row, pair in enumerate(pairs))),
    ]


def _calls(designs: Sequence[Design]) -> list[Row]:
    """The collectives, healthy and after the failure that costs the most; the failure of a spine where that is another."""
    out: list[Row] = []
    for collective, placement, count in dict.fromkeys(
        (row.collective, row.placement, row.bytes) for item in designs for row in item.calls.rows
    ):
        healthy = [item.calls.of(collective, placement) for item in designs]
        worst = [item.calls.worst(collective, placement) for item in designs]
        out.append((f"{collective} of {size(count)}, {placement}", *(time(row.time_us) if row else "-" for row in healthy)))
        out.append(("  bus bandwidth", *(f"{row.busbw_GBps:,.0f} GB/s" if row else "-" for row in healthy)))
        out.append(("  worst switch failed", *map(_worst, designs, worst)))
        for role in ("spine", "core"):
            failed = [item.calls.worst(collective, placement, role) for item in designs]
            if any(row and (item.calls.stops or row not in worst) for item, row in zip(designs, failed, strict=True)):
                out.append((f"  a {role} failed", *(time(row.time_us) if row else "-" for row in failed)))
    return out


def _worst(design: Design, slowest: Call | None) -> str:
    """The tier whose failure costs the most, and what is left: a job that stops is worse than any slow one."""
    if design.calls.stops:
        return f"{design.calls.stops[0].role}, job stops"
    return f"{slowest.failed_role}, {time(slowest.time_us)}" if slowest else "-"


def notes(designs: Sequence[Design]) -> list[str]:
    """What the times, the signs and the money assume."""
    out = list(_assumptions(designs))
    if any(item.unpriced for item in designs):
        out.append("≥: lower bound, as prices of some parts are unknown")
    out += [f"{item.name}: no price of {listed(item.unpriced, MAX_NAMED_PARTS)}" for item in designs if item.unpriced]
    if designs[0].tco is not None:
        years = plural(designs[0].years, "year")
        out.append(f"costs in {designs[0].currency}; the total is that of the job's GPUs over {years}")
    return out


def _assumptions(designs: Sequence[Design]) -> Iterator[str]:
    """Routing, placement and failures behind the times."""
    calls = [(item, row) for item in designs for row in item.calls.rows]
    if not calls:
        return
    spread = {item.name: routing_words(row.routing, row.queue_pairs) for item, row in calls}
    words = dict.fromkeys(spread.values())
    for how in words:
        which = "" if len(words) == 1 else f" of {listed([name for name, its in spread.items() if its == how])}"
        yield f"routing{which} as planned: {how}"
    yield from _placements(designs, dict.fromkeys(row.placement for _, row in calls))
    if any(row.failed for _, row in calls) or any(item.calls.stops for item in designs):
        yield "worst switch failed: of every kind, the one that costs this call the most"
    for item in designs:
        for stop in item.calls.stops:
            cut = f"{counted(stop.servers_cut_off, 'server')} cut off" if stop.servers_cut_off else "partition"
            yield f"{item.name}: a failed {stop.role} ({stop.failed}) stops the job: {cut}"


def _placements(designs: Sequence[Design], used: Mapping[str, None]) -> Iterator[str]:
    if PACKED in used:
        yield "packed: unit after unit; few bytes of a ring or tree then cross a spine"
    if SPREAD in used:
        yield "spread: one server of each unit in turn, as where jobs come and go"
    for item in designs:
        packed, spread = item.calls.of(ALL_REDUCE), item.calls.of(ALL_REDUCE, SPREAD)
        if packed and spread and packed.units > 1:
            more = _more(spread.time_us / packed.time_us - 1)
            leaves = f"{spread.beyond_leaf:.0%} leaves its leaf, packed {packed.beyond_leaf:.0%}"
            yield f"{item.name}: spread all_reduce {more} ({leaves})"
        elif packed and packed.units == 1:
            yield f"{item.name}: {ONE_UNIT}"
    if any(row.units == 1 for item in designs for row in item.calls.rows):
        yield "one unit: a smaller `unit` in the topology makes several"


def _more(share: float) -> str:
    return f"{share:.0%} longer" if share > ALIKE else "as long"


def lines(designs: Sequence[Design]) -> list[str]:
    """Every figure of the designs. No line ends."""
    out = aligned(rows(designs), "<" + ">" * len(designs), head=("", *(item.name for item in designs)))
    found = notes(designs)
    return [*out, "", *found] if found else out


def _signed(pair: Mapping[str, float] | None, key: str) -> str:
    return "-" if pair is None else f"{pair[key]:+,.0f}"


def _power_range(item: Design) -> str:
    return f"{power(item.power.typical_low_w)}, {power(item.power.typical_high_w)}" if item.power else "-"


def _written(item: Goodput) -> str:
    saving, storage = item.saving, item.storage
    return f"{saving.size_GB / saving.write_s:,.0f} GB/s{', ' + storage.write_limit if storage else ''}"


def _first(item: Goodput) -> str:
    part = next((row.part for row in item.interruptions if row.part.stops), None)
    return "none" if part is None else f"{part.place} {part.kind}".strip().replace("gpu", "GPU").replace("nic", "NIC")


def _money(item: Design, value: float | None) -> str:
    return "-" if value is None else _least(f"{value:,.0f}" if value >= 100 else f"{value:,.2f}", bool(item.unpriced))


def _least(text: str, bound: bool) -> str:
    return f"≥ {text}" if bound else text
