"""The top of the page: whether the checks of the design pass, where the intent comes from, and one row per fabric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fabric.audit.checks import ERROR, NOTE, SEVERITIES, WARNING, Finding
from fabric.base.text import counted, percent, size
from fabric.base.version import __version__
from fabric.deliver.report.failures import loss_words
from fabric.deliver.report.grid import Grid, grid
from fabric.deliver.report.scenarios import Scenario
from fabric.deliver.report.study import Study, mean_loss
from fabric.model.plan import LEAF, SWITCH_ROLES
from fabric.model.plan.spec import Origin
from fabric.model.plan.summary import leaf_ratios
from fabric.solver.capacity.failures import Loss
from fabric.solver.estimate.calls import SPREAD
from fabric.solver.estimate.nic_bandwidth import routing_words

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
