"""The four questions at the top of the page: what a site is, whether it fits, what limits it, what it costs.

Their figures are those of the sections below: nothing is computed for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabric.base.text import counted, duration, percent, size, time
from fabric.deliver.bom.bill import Bill
from fabric.deliver.bom.parts import CABLE, OPTIC, PLURALS, SERVER, SWITCH
from fabric.deliver.bom.text import kilowatts
from fabric.deliver.report.bandwidth import limit, loss_words
from fabric.deliver.report.loads import Scenario
from fabric.deliver.report.study import ReportRequest, Study, mean_loss
from fabric.deliver.report.summary import Figure, Overview, ratios, sentence
from fabric.model.plan import LEAF, SWITCH_ROLES
from fabric.model.plan.summary import kinds_of_switch, limit_words
from fabric.solver.capacity.failures import Loss
from fabric.solver.estimate.calls import SPREAD, Call
from fabric.solver.estimate.estimate import Row


@dataclass(frozen=True)
class Answer:
    """One question with its answer in a sentence, and the figures that it rests on."""

    question: str
    words: str
    figures: tuple[Figure, ...]
    badge: str = ""  # class of a colour, where the answer is good or bad


@dataclass(frozen=True)
class Part:
    """One fabric with its link loads."""

    study: Study
    scenarios: Sequence[Scenario]


def answers(parts: Sequence[Part], bill: Bill, top: Overview, request: ReportRequest) -> tuple[Answer, ...]:
    """In the order in which they are asked."""
    studies = [part.study for part in parts]
    main = max(parts, key=lambda part: (part.study.trains, part.study.row["gpus"]))
    fits = {"bad": "No", "warn": "With warnings", "good": "Yes"}[top.badge]
    return (
        Answer("What is it?", _what(studies, bill), tuple(_sizes(studies))),
        Answer("Does it fit?", f"{fits}. Design checks: {top.counts}", tuple(_room(studies, bill)), top.badge),
        Answer("What limits it?", _bottleneck(main.study, len(parts) > 1), tuple(_limits(parts, main, request))),
        Answer("What does it cost?", _order(bill), tuple(_costs(bill))),
    )


def _named(study: Study, of: Sequence[Study]) -> str:
    """The fabric, where there are several."""
    return study.fabric.name if len(of) > 1 else ""


# --- what is it -----------------------------------------------------------------------------------------------


def _what(studies: Sequence[Study], bill: Bill) -> str:
    servers = sum(line.in_use for line in bill.lines if line.part.kind == SERVER)
    gpus = max(study.row["gpus"] for study in studies)
    whom = counted(servers, "server") + (f" with {counted(gpus, 'GPU')}" if gpus else "")
    if len(studies) > 1:
        return f"{whom} on {len(studies)} fabrics: {', '.join(study.fabric.name for study in studies)}"
    return f"{whom} on one fabric: {sentence(studies[0])}"


def _sizes(studies: Sequence[Study]) -> Iterator[Figure]:
    switches = [study.row["switches"] for study in studies]
    tiers = {tier: sum(counts[tier] for counts in switches) for tier in switches[0]}
    by_tier = ", ".join(f"{count:,} {tier}" for tier, count in tiers.items() if count)
    yield Figure("switches", f"{sum(tiers.values()):,}", by_tier)
    links, cables = (sum(sum(study.row[key].values()) for study in studies) for key in ("links", "cables"))
    yield Figure("links", f"{links:,}", f"{cables:,} cables")


# --- does it fit ----------------------------------------------------------------------------------------------


def _room(studies: Sequence[Study], bill: Bill) -> Iterator[Figure]:
    free: dict[str, int] = {}
    for study in studies:
        for tier, _, _, ports in kinds_of_switch(study.row):
            free[tier] = min(free.get(tier, ports["spare"]), ports["spare"])
    if free:
        yield Figure("free ports", ", ".join(f"{tier} {count:,}" for tier, count in free.items()))
    racks = [rack for rack in bill.racks if rack.limited]
    if racks and bill.rack_limit_w:
        fullest = max(racks, key=lambda rack: rack.power.max_w)
        shown = f"{fullest.power.max_w / 1000:,.1f} of {bill.rack_limit_w / 1000:,.1f} kW"
        yield Figure(
            "power per rack", shown, f"rack {fullest.name}" + (f"; {counted(len(bill.hot), 'rack')} over" if bill.hot else "")
        )
    yield from _headroom(studies)
    least = min(studies, key=lambda study: study.row["limits"]["max_servers"])
    words = limit_words(least.row)
    yield Figure(
        "maximum size", counted(least.row["limits"]["max_servers"], "server"), f"{_named(least, studies)} {words}".strip()
    )


def _headroom(studies: Sequence[Study]) -> Iterator[Figure]:
    """Of the switch whose buffer it takes the largest part of."""
    entries = [
        (entry.qos.buffer, tier, study)
        for study in studies
        for (tier, _), entry in (study.fabric.lossless.roles if study.fabric.lossless else {}).items()
    ]
    known = [
        (buffer.reserved_bytes / buffer.total_bytes, tier, study) for buffer, tier, study in entries if buffer.total_bytes
    ]
    if known:
        share, tier, study = max(known, key=lambda item: item[0])
        yield Figure("headroom", percent(share), f"of the buffer of a {_named(study, studies)} {tier}".replace("  ", " "))
    elif entries:
        yield Figure("headroom", "not known", "no buffer size for these chips")


# --- what limits it -------------------------------------------------------------------------------------------


def _rows(study: Study) -> tuple[Row, Call | None]:
    """The collective of the asked size, packed, and spread over the units where that is another placement."""
    request = study.request
    packed = next(row for row in study.curve[0].rows if row.bytes == request.size_bytes)
    spread = None if study.fail else study.figures.calls.of(request.collective, SPREAD)
    return packed, spread if spread and spread.units > 1 else None


def _bottleneck(study: Study, several: bool) -> str:
    name = f" of {study.fabric.name}" if several else ""
    if not study.trains:
        bottleneck = _limit(study, study.capacity.throughput[0].bottleneck)
        return f"Traffic of all servers to all others{name} is limited by {bottleneck}"
    packed, spread = _rows(study)
    where = f"; a job spread over the units by {_limit(study, spread.bottleneck)}" if spread else ""
    job = f"{packed.collective} of {size(packed.bytes)} on {study.curve[0].placement.gpus:,} GPUs{name}"
    return f"{job} is limited by {_limit(study, packed.bottleneck)}{where}"


def _limit(study: Study, bottleneck: str) -> str:
    """A bottleneck without its example; a single link by the tiers that it joins."""
    ends = [study.fabric.by_name.get(end.split(" ")[0]) for end in bottleneck.split(" -> ")]
    if len(ends) == 2 and ends[0] and ends[1]:
        return f"a {ends[0].role}-{ends[1].role} link"
    return limit(bottleneck)


def limits(part: Part) -> Iterator[Figure]:
    """Of one fabric."""
    study = part.study
    if study.trains:
        packed, spread = _rows(study)
        yield Figure("collective time", time(packed.time_us), f"{time(spread.time_us)} spread" if spread else "")
        yield Figure("busbw", f"{packed.busbw_GBps:,.0f} GB/s", f"{spread.busbw_GBps:,.0f} spread" if spread else "")
    else:
        yield Figure("throughput", percent(study.capacity.throughput[0].ecmp), "of NIC speed, all to all")
    if part.scenarios:
        yield Figure("highest link load", f"{100 * part.scenarios[0].loads.peak:.0f} %", part.scenarios[0].name)
    yield Figure("worst failure", *worst(study))


def _limits(parts: Sequence[Part], main: Part, request: ReportRequest) -> Iterator[Figure]:
    studies = [part.study for part in parts]
    for figure in limits(main):
        if figure.term == "worst failure":
            study = max(studies, key=lambda study: max(map(mean_loss, _switches(study)), default=0.0))
            figure = Figure(figure.term, worst(study)[0], ": ".join(filter(None, (_named(study, studies), worst(study)[1]))))
        yield figure
    built = ", ".join(f"{_named(study, studies)} {ratios(study.row)}".strip() for study in studies)
    yield Figure("oversubscription", built)
    if request.goodput:
        yield Figure(
            "training step", duration(request.goodput.step.step_ms), f"{percent(request.goodput.useful.value)} useful"
        )


def _switches(study: Study) -> list[Loss]:
    return [loss for loss in study.ranked if loss.what in SWITCH_ROLES]


def worst(study: Study) -> tuple[str, str]:
    """The switch failure that costs the most, in the words of a figure; one above the leaves beside it, as a leaf takes the
    traffic of its own servers with it."""
    switches = _switches(study)
    above = next((loss for loss in switches if loss.what != LEAF), None)
    shown = [loss for loss in dict.fromkeys((*switches[:1], above)) if loss is not None]
    words = [f"{loss.what}{_cut_off(loss)}" for loss in shown]
    if not shown:
        return "none", "no switch"
    lost = loss_words(mean_loss(shown[0])) + (" of traffic" if mean_loss(shown[0]) > 0 else "")
    return lost, "; ".join(
        [words[0], *(f"{word} {loss_words(mean_loss(loss))}" for word, loss in zip(words[1:], shown[1:], strict=True))]
    )


def _cut_off(loss: Loss) -> str:
    return f", {counted(loss.left.servers_cut_off, 'server')} cut off" if loss.left.servers_cut_off else ""


# --- what does it cost ----------------------------------------------------------------------------------------


def _ordered(bill: Bill, kind: str) -> int:
    return sum(line.order for line in bill.lines if line.part.kind == kind)


def _order(bill: Bill) -> str:
    kinds = [f"{count:,} {PLURALS[kind]}" for kind in (SWITCH, OPTIC, CABLE) if (count := _ordered(bill, kind))]
    return f"{', '.join(kinds)}, spares included" if kinds else "no parts"


def _costs(bill: Bill) -> Iterator[Figure]:
    for term, power in (("network power", bill.network), ("site power", bill.meter)):
        typical, most = kilowatts(power)
        yield Figure(term, f"{typical} kW", f"worst case {most} kW")
    cost = bill.cost
    if cost is None:
        yield Figure("price", "not given", "option --prices")
        return
    least = "≥ " if cost.unpriced else ""
    yield Figure("price", f"{least}{cost.capex:,.0f} {cost.currency}", "servers included")
    yield Figure("total cost", f"{least}{cost.tco:,.0f} {cost.currency}", f"over {counted(cost.years, 'year')}")
