"""The design at a glance: counts of every fabric, its tiers and links; the findings of the checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabric.audit.checks import ERROR, NOTE, SEVERITIES, WARNING, Design, Finding, Silences, finding_of, ids, warnings_of
from fabric.audit.checks.base import run
from fabric.audit.checks.design.base import FabricCheck
from fabric.base.diagnostics import Diagnostic
from fabric.base.text import counted, percent
from fabric.base.version import __version__
from fabric.deliver.export.legend import TIERS
from fabric.deliver.report.assets import Grid, grid
from fabric.deliver.report.study import Study
from fabric.model.plan import Plan
from fabric.model.plan.spec import Origin
from fabric.model.plan.summary import kinds_of_switch, leaf_ratios, limit_words
from fabric.solver.capacity.measure import Cut


@dataclass(frozen=True)
class Figure:
    """One figure of the page's top: what it is, its value, what to know of it."""

    term: str
    value: str
    note: str = ""


def sentence(study: Study) -> str:
    """The fabric in one line."""
    row, technology = study.row, "Ethernet" if study.fabric.spec.ethernet else "InfiniBand"
    return ", ".join((row["purpose"], technology, row["kind"], TIERS[row["tiers"]]))


def figures_grid(fabrics: Mapping[str, Iterable[Figure]]) -> Grid:
    """A row per figure, a column per fabric."""
    columns = [
        {figure.term: figure.value + (f" ({figure.note})" if figure.note else "") for figure in shown}
        for shown in fabrics.values()
    ]
    terms = dict.fromkeys(term for column in columns for term in column)
    titles = ("figure", *fabrics)
    rows = [(term, *(column.get(term, "") for column in columns)) for term in terms]
    return grid("Figures of the design", titles, rows, by_row=True)


def figures(study: Study) -> Iterator[Figure]:
    """What an architect looks for first."""
    row, capacity = study.row, study.capacity
    yield Figure("kind", sentence(study))
    yield Figure("servers", f"{row['servers']:,}", f"{row['gpus']:,} GPUs" if row["gpus"] else "no GPUs")
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
    yield Figure(
        "maximum size",
        f"{row['limits']['max_servers']:,}",
        ", ".join(filter(None, ("servers with these tiers", limit_words(row)))),
    )


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


def ratios(row: dict[str, Any]) -> str:
    """Every oversubscription of a fabric, each once."""
    found = [ratio for ratio in (*leaf_ratios(row), row["oversubscription"]["spine"]) if ratio is not None]
    return ", ".join(f"{ratio:g}:1" for ratio in dict.fromkeys(found)) or "none"


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


# --- findings of a page ---------------------------------------------------------------------------------------

VERDICTS = {
    ERROR: ("bad", "The checks of the design fail"),
    WARNING: ("warn", "The checks of the design pass, with warnings"),
    NOTE: ("good", "The checks of the design pass"),
}


@dataclass(frozen=True, kw_only=True)
class Overview:
    """What the checks found, and where the intent is from."""

    badge: str  # class of the verdict's colour
    verdict: str
    counts: str  # "1 warning, 2 notes, 1 suppressed"
    origin: Origin | None
    version: str
    first: Sequence[Finding]  # errors and warnings, shown at once
    rest: Sequence[Finding]  # notes, and what the intent suppresses


def overview(findings: Sequence[Finding], origin: Origin | None) -> Overview:
    """Findings come in the order in which they are shown."""
    live = [finding for finding in findings if not finding.silenced]
    badge, verdict = VERDICTS[min((finding.severity for finding in live), key=SEVERITIES.index, default=NOTE)]
    first = [finding for finding in live if finding.severity != NOTE]
    rest = [finding for finding in findings if finding not in first]
    return Overview(
        badge=badge, verdict=verdict, counts=_counts(findings), origin=origin, version=__version__, first=first, rest=rest
    )


def _counts(findings: Iterable[Finding]) -> str:
    found = Counter("suppressed" if finding.silenced else finding.severity for finding in findings)
    words = [counted(found[severity], severity) for severity in SEVERITIES if found[severity]]
    words += [f"{found['suppressed']:,} suppressed"] if found["suppressed"] else []
    return ", ".join(words) or "no findings"
