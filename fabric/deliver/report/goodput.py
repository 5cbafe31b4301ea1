"""Section of a training job: failures that stop it, its checkpoints, and one year by cause."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from fabric.base.text import duration, percent
from fabric.deliver.compare.money import USEFUL, YearCost
from fabric.deliver.report.assets import Grid, grid
from fabric.deliver.report.charts import bars, intervals
from fabric.deliver.report.summary import Figure
from fabric.solver.goodput.goodput import Goodput, Interruption
from fabric.solver.goodput.sections import DAYS_PER_YEAR

MAX_BARS = 12


@dataclass(frozen=True)
class GoodputSection:
    """The section of one job; `cost` where there are prices."""

    result: Goodput
    cost: YearCost | None

    @property
    def sentence(self) -> str:
        result = self.result
        return f"A training job on {result.gpus:,} GPUs of fabric {result.fabric}, over a year of {DAYS_PER_YEAR:g} days."

    @property
    def figures(self) -> list[Figure]:
        result, saving = self.result, self.result.saving
        tokens = result.tokens_per_day.value * DAYS_PER_YEAR
        shown = [
            Figure(
                "time to interruption", hours(result.mtti_hours.value), _range(result.mtti_hours.p10, result.mtti_hours.p90)
            ),
            Figure(
                "useful time", percent(result.useful.value), f"{percent(result.useful.p10)} to {percent(result.useful.p90)}"
            ),
            Figure(
                "tokens per day", f"{result.tokens_per_day.value / 1e9:,.1f} billion", f"step {duration(result.step.step_ms)}"
            ),
            Figure(
                "checkpoint",
                duration(saving.write_s * 1e3),
                f"{saving.size_GB:,.0f} GB every {duration(saving.interval_s * 1e3)}",
            ),
            Figure("restart", duration(saving.restart_s * 1e3), f"of which loading {duration(saving.load_s * 1e3)}"),
        ]
        if self.cost:
            least = self._least
            shown.append(
                Figure(
                    "cost per year",
                    f"{least}{self.cost.total:,.0f} {self.cost.currency}",
                    f"network {self.cost.network:,.0f}",
                )
            )
            per_token = self.cost.total / tokens * 1e9 if tokens else 0.0
            shown.append(Figure("cost per billion tokens", f"{least}{per_token:,.2f} {self.cost.currency}", "useful tokens"))
        return shown

    @property
    def _least(self) -> str:
        return "≥ " if self.cost and self.cost.unpriced else ""

    @cached_property
    def stops(self) -> Markup:
        """Parts whose failure stops the job, the most frequent first."""
        rows = [row for row in self.result.interruptions if row.part.stops][:MAX_BARS]
        shown = [(_title(row), row.per_year, f"{_few(row.per_year)} per year; {row.part.count:,} parts") for row in rows]
        return Markup(
            bars(shown, "Failures per year that stop the job: " + ", ".join(f"{name} {text}" for name, _, text in shown))
        )

    @property
    def parts_grid(self) -> Grid:
        rows = [
            (
                *(_title(row), f"{row.part.count:,}", _few(row.per_year)),
                *(f"{_few(row.part.count * row.rate.low)} to {_few(row.part.count * row.rate.high)}", effect(row)),
                row.part.example,
            )
            for row in self.result.interruptions
        ]
        titles = ("part", "#count", "#failures per year", "#low to high", "effect of one", "example")
        return grid("Parts of the job", titles, rows, "The plan decides the effect of a failure.")

    @property
    def sources(self) -> list[tuple[str, str]]:
        """(kind of part, source of its rate), each once."""
        return list(dict.fromkeys((row.rate.title, row.rate.source) for row in self.result.interruptions))

    @cached_property
    def interval(self) -> Markup:
        return Markup(intervals([("", self.result)]))

    @property
    def checkpoint_grid(self) -> Grid:
        saving, storage = self.result.saving, self.result.storage
        rows = [
            ("checkpoint size", f"{saving.size_GB:,.0f} GB"),
            ("time to write", duration(saving.write_s * 1e3)),
            ("stall of the job", duration(saving.stall_s * 1e3)),
            ("interval", duration(saving.interval_s * 1e3)),
            ("best interval", duration(saving.best_s * 1e3)),
            ("detection", duration(saving.detection_s * 1e3)),
            ("start", duration(saving.start_s * 1e3)),
            ("loading", duration(saving.load_s * 1e3)),
        ]
        if storage:
            rows += [
                ("written to", f"{storage.targets:,} targets in fabric {storage.fabric}"),
                ("writing", f"{storage.write_GBps:,.1f} GB/s, limited by {storage.write_limit}"),
                ("reading", f"{storage.read_GBps:,.1f} GB/s, limited by {storage.read_limit}"),
            ]
        return grid("Checkpoints and restarts", ("", "value"), rows, by_row=True)

    @cached_property
    def causes(self) -> Markup:
        """What is lost, by cause."""
        if self.cost is None:
            shown = [(cause, hours_, f"{hours_:,.0f} GPU-hours") for cause, hours_ in self.result.lost_gpu_hours]
        else:
            currency = self.cost.currency
            lost = [item for item in self.cost.amounts if item.cause != USEFUL]
            shown = [(item.cause, item.cost, f"{self._least}{item.cost:,.0f} {currency}") for item in lost]
        return Markup(bars(shown, "Losses per year: " + ", ".join(f"{name} {text}" for name, _, text in shown)))

    @property
    def causes_caption(self) -> str:
        return f"Losses per year, in {self.cost.currency}" if self.cost else "Lost GPU-hours per year"

    @property
    def year_grid(self) -> Grid:
        if self.cost is None:
            whole = self.result.gpus * DAYS_PER_YEAR * 24
            rows = [(cause, f"{hours_:,.0f}", percent(hours_ / whole)) for cause, hours_ in self.result.lost_gpu_hours]
            return grid("Lost GPU-hours per year", ("cause", "#GPU-hours", "#of all"), rows, "Costs need a price file.")
        cost, total = self.cost, self.cost.total or 1.0
        shown = [
            (
                *(item.cause, f"{item.gpu_hours:,.0f}", f"{self._least}{item.cost:,.0f}", percent(item.cost / total)),
                "" if item.energy is None else f"{item.energy:,.0f}",
            )
            for item in cost.amounts
        ]
        note = (
            f"A GPU-hour costs {self._least}{cost.gpu_hour:,.2f} {cost.currency}, servers and energy included. The network "
            f"costs {self._least}{cost.network:,.0f} per year; a network without failures that hides all communication "
            f"saves at most {self._least}{cost.saved_at_most:,.0f}."
        )
        titles = ("cause", "#GPU-hours", f"#cost, {cost.currency}", "#of all", "#of which energy")
        return grid("Cost of one year", titles, shown, note)


def _title(row: Interruption) -> str:
    return f"{row.part.place} {row.part.kind}" if row.part.place else row.rate.title


def effect(row: Interruption) -> str:
    """What the failure of one part does."""
    if row.part.stops:
        return "job stops"
    return "no effect" if row.part.slowdown < 1.00005 else f"step +{row.part.slowdown - 1:.2%}"


def hours(value: float) -> str:
    """A time in hours; without interruptions infinite."""
    if value == float("inf"):
        return "none"
    return f"{value:,.0f} h" if value >= 1000 else f"{value:,.1f} h" if value >= 10 else f"{value:.2f} h"


def _range(low: float, high: float) -> str:
    return f"{hours(low)} to {hours(high)}"


def _few(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 or not value else f"{value:.2g}"
