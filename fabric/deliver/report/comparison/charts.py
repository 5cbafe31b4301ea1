"""Curves and failures of all designs in one chart each."""

from __future__ import annotations

import re

from fabric.deliver.report.charts import WIDE, Panel, panels
from fabric.deliver.report.comparison.designs import Group
from fabric.deliver.report.failures import loss_words
from fabric.deliver.report.study import Study, mean_loss, slowest_loss
from fabric.solver import Series, busbw_svg
from fabric.solver.collective import COLLECTIVES
from fabric.solver.estimate.estimate import Estimate

_SHEET = re.compile(r"<style>.*?</style>\n?", re.DOTALL)
_KINDS = ("core", "spine", "leaf", "spine-core link", "leaf-spine link", "server-leaf link")


def curves(group: Group, collective: str) -> str:
    """Bus bandwidth by size, one line per design, and dashed what line rate would allow; "" where no collective runs."""
    timed = group.timed(collective)
    if not timed:
        return ""
    lines = dict[tuple[int, tuple[tuple[float, float], ...]], tuple[int, list[str]]]()
    ideals = dict[tuple[float, ...], list[str]]()
    for at, (design, _) in enumerate(group.members):
        study = next((study for other, study in timed if other is design), None)
        if study is None:
            continue
        now = study.curve[0]
        points = tuple((float(row.bytes), round(row.busbw_GBps, 2)) for row in now.rows)
        lines.setdefault((now.placement.gpus, points), (at, []))[1].append(design.name)
        ideals.setdefault(tuple(round(rate, 1) for _, rate in _ideal(now)), []).append(design.name)
    series = [
        Series(f"{' = '.join(names)} ({gpus:,} GPUs)", points, colour=at) for (gpus, points), (at, names) in lines.items()
    ]
    for rates, names in ideals.items():
        sizes = [float(row.bytes) for row in timed[0][1].curve[0].rows]
        name = "ideal: line rate" if len(ideals) == 1 else f"line rate: {', '.join(names)}"
        series.append(Series(name, tuple(zip(sizes, rates, strict=True)), style="dashed", colour=7))
    for number, table in enumerate(group.there[0][1].request.measured):
        dots = tuple((float(row.bytes), row.busbw_GBps) for row in table.rows)
        series.append(Series(f"measured: {table.id}", dots, style="dots", colour=4 + number))
    return _SHEET.sub("", busbw_svg(f"{collective}, by design", series, width=WIDE), count=1).strip()


def _ideal(now: Estimate) -> list[tuple[float, float]]:
    factor = COLLECTIVES[now.job.collective].busbw(now.placement.gpus)
    return [(float(row.bytes), row.bytes / row.ideal_time_us / 1e3 * factor) for row in now.rows]


def failures(group: Group, slowest: bool) -> str:
    """A panel a design, one scale: what the worst failure of every kind of element costs."""
    kinds = [kind for kind in _KINDS if any(_share(study, kind, slowest) is not None for _, study in group.there)]
    shown = []
    for at, (design, study) in enumerate(group.members):
        if study is None:
            continue
        shares = [_share(study, kind, slowest) for kind in kinds]
        texts = ["–" if share is None else loss_words(share) for share in shares]
        shown.append(Panel(design.name, "", f"fill-{1 + at % 8}", [share or 0.0 for share in shares], texts))
    measure = "Loss of the slowest pair" if slowest else "Mean loss of all traffic"
    label = f"{measure} by failed element: " + "; ".join(f"{panel.title}: {', '.join(panel.texts)}" for panel in shown)
    return panels(kinds, shown, label, most=max((share for panel in shown for share in panel.shares), default=0.0))


def _share(study: Study, kind: str, slowest: bool) -> float | None:
    losses = [loss for loss in study.ranked if loss.what == kind]
    return max((slowest_loss(study, loss) if slowest else mean_loss(loss) for loss in losses), default=None)
