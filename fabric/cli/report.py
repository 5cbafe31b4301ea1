"""`fabric report`: a site as one HTML page that opens offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report, nearest, show
from fabric.cli.common import check_target, mistake, only, option, progress, say, show_diagnostics
from fabric.cli.options import size_bytes
from fabric.cli.output import put
from fabric.deliver.bom.prices import Prices, read
from fabric.deliver.report.comparison import GivenDesign
from fabric.deliver.report.study import ReportRequest
from fabric.design.intent.intent import origin
from fabric.solver.collective import ALL_REDUCE, collective_names
from fabric.solver.measured.tables import of_collective

if TYPE_CHECKING:
    from fabric.deliver.change.records import Change
    from fabric.deliver.compare.money import YearCost
    from fabric.model.plan import Plan
    from fabric.solver.goodput.goodput import Goodput


def report(
    files: list[Path] = typer.Argument(
        ..., metavar="FILE…", help="intent file; several are compared on one page", show_default=False
    ),
    output: Path = option(..., "-o --output", "FILE.html", "page to write"),
    fabric: str = option("", "--fabric", "NAME", "only this fabric"),
    collective: str = option(
        "",
        "--collective",
        "NAME",
        "collective of the chart and of the link loads",
        shown="all_reduce; alltoall for link loads",
    ),
    size: str = option("8G", "--size", "SIZE", "message size for the link loads"),
    fail: list[str] = option([], "--fail", "NAME", "failed device or link: SWITCH, A:B or SWITCH:PORT; repeatable"),
    platform: Path | None = option(
        None, "--platform", "FILE", "platform file of `fabric model calibrate`", shown="shipped parameters"
    ),
    measured: list[Path] = option([], "--measured", "TABLE", "measured table, drawn as dots; repeatable"),
    since: str = option("", "--since", "OLD", "earlier intent, or git:REV: the change from it in waves"),
    model: Path | None = option(None, "--job", "JOB", "training job, for what the design is worth to it"),
    gpus: int | None = option(None, "--gpus", "N", "GPUs of the job", shown="all"),
    prices: Path | None = option(None, "--prices", "PRICES", "price file, for the cost of the parts and of the job"),
    no_load: bool = typer.Option(False, "--no-load", help="omit link loads"),
) -> None:
    """Write a report of a site as one HTML page for offline use.

    Design, link loads, failures, worth to a job, racks, addresses, parts and every link; of several intents their
    differences.
    """
    mistakes = Report()
    size_or_none = size_bytes("--size", size, mistakes)
    timed = collective or ALL_REDUCE
    if timed not in collective_names():
        mistake(mistakes, "--collective", f"unknown collective {show(timed)}", nearest(timed, collective_names()), "FAB174")
    check_target(mistakes, "-o", output, "report.html")
    if gpus is not None and model is None:
        mistake(mistakes, "--gpus", "expected --job, as it is of a training job", "add `--job JOB`")
    if since and len(files) > 1:
        mistake(mistakes, "--since", f"expected one intent, got {len(files)}", "a change is from one intent to another")
    mistakes.raise_errors()
    with progress("plan"):
        intents = [pipeline.load(file) for file in files]
        plans = [only(pipeline.plan(intent), fabric) for intent in intents]
    stated = read(prices, intents[0].catalog, str(prices)) if prices else None
    worth, cost = _worth(plans[0], fabric, model, gpus, stated, platform=platform) if model else (None, None)
    origins = [origin(file) for file in files]
    request = ReportRequest(
        collective=timed,
        size_bytes=size_or_none or 0,
        fail=tuple(fail),
        platform=platform,
        measured=of_collective(measured, timed),
        load=not no_load,
        change=_change(since, files[0], fabric, platform) if since else None,
        goodput=worth,
        cost=cost,
        prices=stated,
        origin=origins[0],
        collective_first=bool(collective),
    )
    with progress("link loads, failures and page"):
        if len(files) == 1:
            text = pipeline.report(plans[0], request)
        else:
            sides = zip(files, plans, intents, origins, strict=True)
            text = pipeline.report_designs([GivenDesign(str(f), plan, i.keys(), at) for f, plan, i, at in sides], request)
    for plan in plans:
        show_diagnostics(plan.warnings)
    put(output, text)
    say(f"wrote {output}")


def _change(since: str, file: Path, fabric: str, platform: Path | None) -> Change:
    """The waves from an earlier intent, with the floor of `fabric change`."""
    from fabric.deliver.change.records import ChangeRequest
    from fabric.solver.estimate.request import EstimateRequest

    call = EstimateRequest(sizes=(1 << 30,), routing="", queue_pairs=0, platform=platform)
    with progress("waves"):
        return pipeline.redesign(since, str(file), ChangeRequest(fabric=fabric), call)[0]


def _worth(
    plan: Plan, fabric: str, model: Path, gpus: int | None, stated: Prices | None, *, platform: Path | None
) -> tuple[Goodput, YearCost | None]:
    """Goodput of the job, and its cost with prices."""
    from fabric.cli.options import largest
    from fabric.solver.estimate.request import EstimateRequest

    request = EstimateRequest(gpus=gpus, routing="", queue_pairs=0, platform=platform)
    with progress("goodput"):
        result = pipeline.goodput(largest(plan, fabric), plan, request, model)
    return result, pipeline.year_cost(plan, result, stated) if stated else None
