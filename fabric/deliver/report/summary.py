"""The design at a glance, and the top of the page: findings, source of the intent, one row per fabric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabric.audit.checks import ERROR, NOTE, SEVERITIES, WARNING, Design, Finding, Silences, finding_of, ids, warnings_of
from fabric.audit.checks.base import run
from fabric.audit.checks.design.base import FabricCheck
from fabric.base.diagnostics import Diagnostic
from fabric.base.text import counted, percent, size
from fabric.base.version import __version__
from fabric.deliver.export.legend import TIERS
from fabric.deliver.report.assets import Grid, grid
from fabric.deliver.report.bandwidth import loss_words
from fabric.deliver.report.loads import Scenario
from fabric.deliver.report.study import Study, mean_loss
from fabric.model.plan import LEAF, SWITCH_ROLES, Plan
from fabric.model.plan.spec import Origin
from fabric.model.plan.summary import kinds_of_switch, leaf_ratios
from fabric.solver.capacity.failures import Loss
from fabric.solver.capacity.measure import Cut
from fabric.solver.estimate.calls import SPREAD
from fabric.solver.estimate.nic_bandwidth import routing_words


@dataclass(frozen=True)
class Figure:
    """One figure of the page's top: what it is, its value, what to know of it."""

    term: str
    value: str
    note: str = ""


def sentence(study: Study) -> str:
    """The fabric in one line."""
    row = study.row
    parts = [row["purpose"], study.fabric.spec.leaf.model.technology, row["kind"], TIERS[row["tiers"]]]
    return ", ".join(parts)


def figures(study: Study) -> list[Figure]:
    """What an architect looks for first."""
    return list(_figures(study))


def _figures(study: Study) -> Iterator[Figure]:
    row, capacity = study.row, study.capacity
    gpus = f"{row['gpus']:,} GPUs" if row["gpus"] else "no GPUs"
    yield Figure("servers", f"{row['servers']:,}", gpus)
    tiers = ", ".join(f"{count:,} {tier}" for tier, count in row["switches"].items() if count)
    counts = study.figures
    yield Figure("switches", f"{counts.switches:,}", tiers)
    yield Figure("links", f"{counts.links:,}", f"{counts.cables:,} cables")
    yield Figure("units", f"{row['units']:,}", f"of {unit_servers(row)}")
    if row["tiers"] == 3:
        pods = row["pods"]
        yield Figure("pods", f"{pods['count']:,}", f"of {pods['leaves']} leaves and {pods['spines']} spines")
    if row["planes"] > 1:
        yield Figure("planes", f"{row['planes']}", "isolated from each other")
    if row["tiers"]:
        yield Figure("oversubscription", _ratio(*leaf_ratios(row)), _ratio_note(row["oversubscription"]["spine"]))
    yield Figure("bisection", *_cut(capacity.bisection))
    least, highest = capacity.paths_least, capacity.paths_most
    if highest:
        yield Figure(
            "equal-cost paths", f"{least:,}" if least == highest else f"{least:,} to {highest:,}", "between two leaves"
        )
    if row["bgp"]["asns"]:
        yield Figure("BGP sessions", f"{row['bgp']['sessions']:,}", f"{row['bgp']['asns']:,} AS numbers")
    yield Figure("maximum size", f"{row['limits']['max_servers']:,}", "servers with these tiers")


def unit_servers(row: dict[str, Any]) -> str:
    """`32 servers`; `64 or 32 servers` where groups have units of their own sizes."""
    *others, last = dict.fromkeys(own["unit"]["servers"] for own in row.get("groups", {"": row}).values())
    return " or ".join([*(f"{count:,}" for count in others), counted(last, "server")])


def _ratio(*values: float) -> str:
    return f"{' and '.join(f'{value:g}' for value in values)} : 1" if values else "none"


def _ratio_note(spine: float | None) -> str:
    return "of leaves" if spine is None else f"of leaves; of spines {_ratio(spine)}"


def _cut(cut: Cut | None) -> tuple[str, str]:
    if cut is None:
        return "none", "no two parts communicate over the network"
    per = f"{cut.rate_GBps / cut.gpus:,.1f} GB/s per GPU, " if cut.gpus else ""
    return percent(cut.share), f"of NIC speed, {per}{cut.where}"


def tiers_grid(study: Study) -> Grid:
    """One row per tier, of leaves one per group of servers: switches, ports and speeds."""
    row = study.row
    rows = [
        (
            *(f"{tier} of {group}" if group else tier, row["models"][tier], f"{number:,}"),
            f"{ports['down']} × {ports['down_speed_gbps']}G",
            f"{ports['up']} × {ports['up_speed_gbps']}G" if ports["up"] else "",
            f"{ports['spare']}",
        )
        for tier, group, number, ports in kinds_of_switch(row)
    ]
    titles = ("tier", "switch", "#switches", "#down", "#up", "#free")
    return grid("Tiers, and the ports of one switch of each", titles, rows)


def links_grid(study: Study, laid: Mapping[str, tuple[float, float]]) -> Grid:
    """One row per kind of link; `laid` is the shortest and longest cable of each."""
    row = study.row
    lengths = study.fabric.spec.length_m
    rows = [
        (kind, f"{count:,}", f"{row['cables'][kind]:,}", f"{lengths[kind]}", _span(*laid[kind]))
        for kind, count in row["links"].items()
        if count
    ]
    sums = [sum(row[key].values()) for key in ("links", "cables")]
    if len(rows) > 1:
        rows.append(("total", f"{sums[0]:,}", f"{sums[1]:,}", "", ""))
    return grid("Links by kind", ("kind", "#links", "#cables", "#planned, m", "#floor plan, m"), rows, total=len(rows) > 2)


def _span(low: float, high: float) -> str:
    return f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f}"


def findings(plan: Plan, more: Iterable[Diagnostic]) -> list[Finding]:
    """Warnings of the plan, what the checks of the design find, and `more`; errors first, silenced ones last."""
    found = [*warnings_of(plan), *(finding_of(diagnostic) for diagnostic in more)]
    for fabric in plan.fabrics.values():
        found += run(FabricCheck, Design(plan, fabric))
    kept = dict.fromkeys(Silences(plan).apply(found, ids("design")))
    return sorted(kept, key=lambda item: (bool(item.silenced), SEVERITIES.index(item.severity), item.order))


# --- top of the page ------------------------------------------------------------------------------------------

VERDICTS = {
    ERROR: ("bad", "The checks of the design fail"),
    WARNING: ("warn", "The checks of the design pass, with warnings"),
    NOTE: ("good", "The checks of the design pass"),
}


@dataclass(frozen=True, kw_only=True)
class Overview:
    """What stands at the top."""

    badge: str  # class of the verdict's colour
    verdict: str
    counts: str  # "1 warning, 2 notes, 1 suppressed"
    origin: Origin | None
    version: str
    fabrics: Grid
    first: Sequence[Finding]  # errors and warnings, shown at once
    rest: Sequence[Finding]  # notes, and what the intent suppresses


def overview(
    studies: Sequence[tuple[Study, Sequence[Scenario]]], findings: Sequence[Finding], origin: Origin | None
) -> Overview:
    """The top of a page; findings in the order in which they are shown."""
    live = [finding for finding in findings if not finding.silenced]
    worst = min((finding.severity for finding in live), key=SEVERITIES.index, default=NOTE)
    badge, verdict = VERDICTS[worst]
    first = [finding for finding in live if finding.severity != NOTE]
    rest = [finding for finding in findings if finding not in first]
    return Overview(
        badge=badge,
        verdict=verdict,
        counts=_counts(findings),
        origin=origin,
        version=__version__,
        fabrics=_fabrics(studies),
        first=first,
        rest=rest,
    )


def _counts(findings: Iterable[Finding]) -> str:
    found = Counter("suppressed" if finding.silenced else finding.severity for finding in findings)
    words = [counted(found[severity], severity) for severity in SEVERITIES if found[severity]]
    words += [f"{found['suppressed']:,} suppressed"] if found["suppressed"] else []
    return ", ".join(words) or "no findings"


def _fabrics(studies: Sequence[tuple[Study, Sequence[Scenario]]]) -> Grid:
    """What decides between designs, one row per fabric."""
    rows = []
    for study, scenarios in studies:
        row, bisection = study.row, study.capacity.bisection
        rows.append(
            (
                *(study.fabric.name, f"{row['purpose']}, {row['kind']}"),
                *(f"{row['servers']:,}", f"{row['gpus']:,}", f"{sum(row['switches'].values()):,}"),
                _ratios(row),
                percent(bisection.share) if bisection else "",
                _busbw(study),
                f"{100 * scenarios[0].loads.peak:.0f} % ({scenarios[0].name})" if scenarios else "",
                _worst(study),
            )
        )
    titles = (
        *("fabric", "design", "#servers", "#GPUs", "#switches", "#oversubscription", "#bisection"),
        *("#busbw, GB/s", "highest link load", "worst switch failure"),
    )
    return grid("Fabrics", titles, rows, _note(studies))


def _note(studies: Sequence[tuple[Study, Sequence[Scenario]]]) -> str:
    """What the columns are of."""
    notes = []
    for study in [study for study, _ in studies if study.trains][:1]:
        how = routing_words(*study.spreading)
        notes.append(
            f"Busbw: {study.request.collective} of {size(study.request.size_bytes)}, packed and spread over units; {how}."
        )
    notes += ["Highest link load: all NICs send at line rate."] if any(scenarios for _, scenarios in studies) else []
    return " ".join([*notes, "Worst switch failure: share of all traffic that no longer fits, and servers without a port."])


def _ratios(row: dict[str, Any]) -> str:
    ratios = [ratio for ratio in (*leaf_ratios(row), row["oversubscription"]["spine"]) if ratio is not None]
    return ", ".join(f"{ratio:g}:1" for ratio in dict.fromkeys(ratios)) or "none"


def _busbw(study: Study) -> str:
    if not study.trains:
        return ""
    request = study.request
    row = next(row for row in study.curve[0].rows if row.bytes == request.size_bytes)
    spread = None if study.fail else study.figures.calls.of(request.collective, SPREAD)
    return f"{row.busbw_GBps:,.0f}" + (f", {spread.busbw_GBps:,.0f} spread" if spread and spread.units > 1 else "")


def _worst(study: Study) -> str:
    """The failure that costs the most; one above the leaves beside it, as a leaf takes the traffic of its own servers with
    it."""
    switches = [loss for loss in study.ranked if loss.what in SWITCH_ROLES]
    above = next((loss for loss in switches if loss.what != LEAF), None)
    shown = [loss for loss in dict.fromkeys((*switches[:1], above)) if loss is not None]
    return "; ".join(f"{loss.what}, {loss_words(mean_loss(loss))}{_cut_off(loss)}" for loss in shown)


def _cut_off(loss: Loss) -> str:
    return f", {counted(loss.left.servers_cut_off, 'server')} cut off" if loss.left.servers_cut_off else ""
