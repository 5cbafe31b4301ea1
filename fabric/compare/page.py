"""A comparison as one HTML page that loads nothing, in the style of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from fabric.compare.charts import years
from fabric.compare.designs import Design
from fabric.compare.lines import notes, rows
from fabric.report.assets import Assets, template
from fabric.report.charts import bars
from fabric.report.glance import Figure
from fabric.report.grid import Grid, grid
from fabric.report.intervals import intervals
from fabric.solver.goodput.rates import HOURS_PER_YEAR
from fabric.text import percent

HERE = Path(__file__).parent
INDENT = "\N{EM SPACE}"


def page(designs: Sequence[Design], job: str) -> str:
    """The designs for one job, by the name of its file."""
    assets = Assets.read(script=False)
    return template("page.html.j2", HERE).render(page=Comparison(designs, job), assets=assets, style=Markup(assets.style))


@dataclass(frozen=True)
class Comparison:
    """What the template prints."""

    designs: Sequence[Design]
    job: str

    @property
    def title(self) -> str:
        return f"{len(self.designs)} designs for {self.job}"

    @property
    def sentence(self) -> str:
        gpus = sorted({item.goodput.gpus for item in self.designs})
        return f"A training job on {' or '.join(f'{count:,}' for count in gpus)} GPUs: {', '.join(self.names)}."

    @property
    def names(self) -> list[str]:
        """Short, and different from each other."""
        given = [item.name for item in self.designs]
        short = [Path(name).stem for name in given]
        return short if len({*short}) == len(short) else given

    @property
    def figures(self) -> list[Figure]:
        """The best design by each measure."""
        pairs = list(zip(self.names, self.designs, strict=True))
        name, best = max(pairs, key=lambda pair: pair[1].goodput.tokens_per_day.value)
        found = [Figure("most tokens per day", name, f"{best.goodput.tokens_per_day.value / 1e9:,.1f} billion")]
        name, best = max(pairs, key=lambda pair: pair[1].goodput.useful.value)
        found.append(Figure("most useful time", name, percent(best.goodput.useful.value)))
        name, best = min(pairs, key=lambda pair: pair[1].switches)
        found.append(Figure("fewest switches", name, f"{best.switches:,}"))
        priced = [pair for pair in pairs if pair[1].cost_per_billion_tokens is not None and not pair[1].unpriced]
        if priced:
            name, best = min(priced, key=lambda pair: pair[1].cost_per_billion_tokens or 0.0)
            cost = f"{best.cost_per_billion_tokens:,.2f} {best.currency} a billion"
            found.append(Figure("lowest cost per token", name, cost))
        return found

    @property
    def bars(self) -> list[tuple[str, Markup]]:
        """(caption, chart) of the two measures that decide."""
        tokens = [(item.goodput.tokens_per_day.value, item.goodput.tokens_per_day) for item in self.designs]
        shown = [
            (name, value, f"{value / 1e9:,.1f} ({span.p10 / 1e9:,.1f} to {span.p90 / 1e9:,.1f})")
            for name, (value, span) in zip(self.names, tokens, strict=True)
        ]
        found = [("Tokens per day, billion; range by the failure rates", _bars(shown))]
        if all(item.cost_per_billion_tokens is not None for item in self.designs):
            costs = [
                (
                    name,
                    item.cost_per_billion_tokens or 0.0,
                    f"{'≥ ' if item.unpriced else ''}{item.cost_per_billion_tokens:,.2f}",
                )
                for name, item in zip(self.names, self.designs, strict=True)
            ]
            found.append((f"Cost per billion tokens, {self.designs[0].currency}", _bars(costs)))
        return found

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
        return list(dict.fromkeys(cause for item in self.designs for cause, _ in item.goodput.lost_gpu_hours))

    @property
    def year(self) -> Markup:
        return Markup(
            years([(name, self._shares(item)) for name, item in zip(self.names, self.designs, strict=True)], self.causes)
        )

    @property
    def lost_grid(self) -> Grid:
        lost = [dict(item.goodput.lost_gpu_hours) for item in self.designs]
        shown = [(cause, *(f"{its.get(cause, 0.0):,.0f}" for its in lost)) for cause in self.causes]
        shown.append(("total", *(f"{sum(its.values()):,.0f}" for its in lost)))
        return grid("Lost GPU-hours per year", ("cause", *(f"#{name}" for name in self.names)), shown, total=True)

    def _shares(self, item: Design) -> list[float]:
        lost = dict(item.goodput.lost_gpu_hours)
        return [lost.get(cause, 0.0) / (item.goodput.gpus * HOURS_PER_YEAR) for cause in self.causes]

    @property
    def interval(self) -> Markup:
        return Markup(intervals([(name, item.goodput) for name, item in zip(self.names, self.designs, strict=True)]))


def _bars(shown: Sequence[tuple[str, float, str]]) -> Markup:
    return Markup(bars(shown, ", ".join(f"{name} {text}" for name, _, text in shown)))
