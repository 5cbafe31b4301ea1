"""The designs of `fabric compare` as one HTML page that loads nothing, in the style of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from markupsafe import Markup

from fabric.base.formats import chart, element, fit
from fabric.base.text import percent, size, time
from fabric.deliver.compare.designs import Design
from fabric.deliver.compare.lines import notes, rows
from fabric.deliver.report.assets import Assets, Grid, grid, template
from fabric.deliver.report.charts import bars, intervals
from fabric.deliver.report.summary import Figure
from fabric.solver.collective import ALL_REDUCE, ALLTOALL
from fabric.solver.estimate.calls import SPREAD, Call
from fabric.solver.goodput.goodput import Goodput
from fabric.solver.goodput.sections import HOURS_PER_YEAR

# --- A year of a design as a bar of its causes ----------------------------------------------------------------

WIDTH, NAME, ROW, BAR = 900.0, 200.0, 30.0, 20.0
SERIES = 6


def years(designs: Sequence[tuple[str, Sequence[float]]], causes: Sequence[str]) -> str:
    """Bars of the shares that are lost, on one scale, with a key. The rest of the year computes."""
    scale = max((sum(shares) for _, shares in designs), default=0.0) or 1.0
    room, parts = WIDTH - NAME - 90, list[str]()
    for row, (name, shares) in enumerate(designs):
        y, x = 4 + row * ROW, NAME
        parts.append(_text(NAME - 8, y + 14, fit(name, NAME - 12, 12), "end"))
        for at, share in enumerate(shares):
            width = share / scale * room
            if width >= 0.05:
                hint = f"{name}: {causes[at]} {percent(share)}"
                area = {"x": round(x, 2), "y": y, "width": round(width, 2), "height": BAR}
                parts.append(element("rect", "", hint, class_=f"fill-{at % SERIES + 1}", **area))
            x += width
        parts.append(_text(x + 8, y + 14, f"{percent(sum(shares))} lost", "start"))
    y = 12 + len(designs) * ROW
    for at, cause in enumerate(causes):
        x = NAME + (at % 3) * 230
        line = y + (at // 3) * 20
        parts.append(element("rect", class_=f"fill-{at % SERIES + 1}", x=x, y=line, width=14, height=10))
        parts.append(_text(x + 20, line + 10, cause, "start"))
    height = y + ((len(causes) + 2) // 3) * 20 + 4
    words = "; ".join(f"{name} {percent(sum(shares))}" for name, shares in designs)
    return chart("".join(parts), WIDTH, height, f"Share of the year that is lost: {words}")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return element("text", escape(text), class_="soft", x=round(x, 1), y=round(y, 1), font_size=12, text_anchor=anchor)


# --- page -----------------------------------------------------------------------------------------------------

INDENT = "\N{EM SPACE}"


def page(designs: Sequence[Design], job: str = "") -> str:
    """The designs; `job` is the name of the job's file, "" without one."""
    assets = Assets.read(script=False)
    return template("compared.html.j2").render(page=Comparison(designs, job), assets=assets)


@dataclass(frozen=True)
class Comparison:
    """What the template prints."""

    designs: Sequence[Design]
    job: str

    @property
    def title(self) -> str:
        return f"{len(self.designs)} designs{f' for {self.job}' if self.job else ''}"

    @property
    def sentence(self) -> str:
        gpus = sorted({item.job_gpus for item in self.designs})
        what = "A training job" if self.job else "Collectives"
        return f"{what} on {' or '.join(f'{count:,}' for count in gpus)} GPUs: {', '.join(self.names)}."

    @property
    def jobs(self) -> list[tuple[str, Goodput]]:
        """(name, the job on it) of every design; none without a job."""
        return [(name, item.goodput) for name, item in self._pairs if item.goodput]

    @property
    def _pairs(self) -> list[tuple[str, Design]]:
        return list(zip(self.names, self.designs, strict=True))

    @property
    def _spread(self) -> list[tuple[str, list[tuple[str, Call]]]]:
        """(collective, calls by name of the design) of jobs spread over the units."""
        return [
            (collective, [(name, row) for name, item in self._pairs if (row := item.calls.of(collective, SPREAD))])
            for collective in (ALL_REDUCE, ALLTOALL)
        ]

    @property
    def names(self) -> list[str]:
        """Short, and different from each other."""
        given = [item.name for item in self.designs]
        short = [Path(name).stem for name in given]
        return short if len({*short}) == len(short) else given

    @property
    def figures(self) -> list[Figure]:
        """The best design by each measure."""
        shown = []
        if self.jobs:
            name, best = max(self.jobs, key=lambda pair: pair[1].tokens_per_day.value)
            shown.append(Figure("most tokens per day", name, f"{best.tokens_per_day.value / 1e9:,.1f} billion"))
            name, best = max(self.jobs, key=lambda pair: pair[1].useful.value)
            shown.append(Figure("most useful time", name, percent(best.useful.value)))
        for collective, calls in self._spread:
            if calls:
                name, call = min(calls, key=lambda pair: pair[1].time_us)
                shown.append(Figure(f"fastest {collective}, spread", name, time(call.time_us)))
        name, least = min(self._pairs, key=lambda pair: pair[1].switches)
        shown.append(Figure("fewest switches", name, f"{least.switches:,}"))
        priced = [pair for pair in self._pairs if pair[1].cost_per_billion_tokens is not None and not pair[1].unpriced]
        if priced:
            name, least = min(priced, key=lambda pair: pair[1].cost_per_billion_tokens or 0.0)
            cost = f"{least.cost_per_billion_tokens:,.2f} {least.currency} a billion"
            shown.append(Figure("lowest cost per token", name, cost))
        return shown

    @property
    def bars(self) -> list[tuple[str, Markup]]:
        """(caption, chart) of the measures that decide."""
        charts = []
        for collective, calls in self._spread:
            shown = [(name, row.time_us, time(row.time_us)) for name, row in calls]
            if shown:
                charts.append((f"{collective} of {size(calls[0][1].bytes)}, job spread over the units", _bars(shown)))
        tokens = [(name, job.tokens_per_day) for name, job in self.jobs]
        if tokens:
            shown = [
                (name, span.value, f"{span.value / 1e9:,.1f} ({span.p10 / 1e9:,.1f} to {span.p90 / 1e9:,.1f})")
                for name, span in tokens
            ]
            charts.append(("Tokens per day, billion; range by the failure rates", _bars(shown)))
        costs = [(name, item, item.cost_per_billion_tokens) for name, item in self._pairs]
        if all(cost is not None for *_, cost in costs):
            shown = [(name, cost or 0.0, f"{'≥ ' if item.unpriced else ''}{cost:,.2f}") for name, item, cost in costs]
            charts.append((f"Cost per billion tokens, {self.designs[0].currency}", _bars(shown)))
        return charts

    @property
    def figures_grid(self) -> Grid:
        titles = ("", *(f"#{name}" for name in self.names))
        return grid("Designs side by side", titles, [(row[0].replace("  ", INDENT), *row[1:]) for row in rows(self.designs)])

    @property
    def notes(self) -> list[str]:
        return notes(self.designs)

    @property
    def causes(self) -> list[str]:
        """Of all designs, the most first by the first one."""
        return list(dict.fromkeys(cause for _, job in self.jobs for cause, _ in job.lost_gpu_hours))

    @property
    def year(self) -> Markup:
        return Markup(years([(name, self._shares(job)) for name, job in self.jobs], self.causes))

    @property
    def lost_grid(self) -> Grid:
        lost = [dict(job.lost_gpu_hours) for _, job in self.jobs]
        shown = [(cause, *(f"{its.get(cause, 0.0):,.0f}" for its in lost)) for cause in self.causes]
        shown.append(("total", *(f"{sum(its.values()):,.0f}" for its in lost)))
        return grid("Lost GPU-hours per year", ("cause", *(f"#{name}" for name in self.names)), shown, total=True)

    def _shares(self, job: Goodput) -> list[float]:
        lost = dict(job.lost_gpu_hours)
        return [lost.get(cause, 0.0) / (job.gpus * HOURS_PER_YEAR) for cause in self.causes]

    @property
    def interval(self) -> Markup:
        return Markup(intervals(self.jobs))


def _bars(shown: Sequence[tuple[str, float, str]]) -> Markup:
    return Markup(bars(shown, ", ".join(f"{name} {text}" for name, _, text in shown)))
