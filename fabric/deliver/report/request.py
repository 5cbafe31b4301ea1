"""What a reader asked the report to show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fabric.deliver.compare.money import YearCost
from fabric.model.plan.spec import Origin
from fabric.solver.collective import ALL_REDUCE
from fabric.solver.goodput.goodput import Goodput
from fabric.solver.measured.tables import Table

GIB = 1 << 30


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """Options of `fabric report`."""

    collective: str = ALL_REDUCE
    size_bytes: int = 8 * GIB  # whose link loads are shown, and that the curve has a row for
    fail: tuple[str, ...] = ()  # as `fabric estimate --fail` takes them
    platform: Path | None = None
    measured: tuple[Table, ...] = ()
    load: bool = True  # link loads, and the spread of ECMP
    goodput: Goodput | None = None  # of a training job
    cost: YearCost | None = None  # of its year, with prices
    origin: Origin | None = None  # of the intent
    collective_first: bool = False  # its link loads are what a reader sees first; else those of an alltoall, which loads all
