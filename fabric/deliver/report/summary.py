"""The design at a glance: counts, shape, ratios, bandwidth, and what the checks of the design have to say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fabric.audit.checks import SEVERITIES, Design, Finding, Silences, finding_of, ids, warnings_of
from fabric.audit.checks.design.family import FabricCheck
from fabric.audit.checks.registry import run
from fabric.base.diagnostics import Diagnostic
from fabric.base.text import counted, percent
from fabric.deliver.report.grid import Grid, grid
from fabric.deliver.report.study import Study
from fabric.model.plan import Plan
from fabric.model.plan.summary import kinds_of_switch, leaf_ratios
from fabric.solver.capacity.measure import Cut

TIER_WORDS = {1: "one tier", 2: "two tiers", 3: "three tiers"}


@dataclass(frozen=True)
class Figure:
    """One figure of the page's top: what it is, its value, what to know of it."""

    term: str
    value: str
    note: str = ""


def sentence(study: Study) -> str:
    """The fabric in one line."""
    row = study.row
    parts = [row["purpose"], study.fabric.spec.leaf.model.technology, row["kind"], TIER_WORDS[row["tiers"]]]
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
