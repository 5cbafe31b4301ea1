"""`fabric report`: a site as one HTML page that opens offline."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli.common import check_target, mistake, only, progress, say, show_diagnostics
from fabric.cli.reports import put
from fabric.cli.sizes import size_bytes
from fabric.diagnostics import Report, nearest, show
from fabric.intent.revision import origin
from fabric.report.beside.designs import Side
from fabric.report.request import ReportRequest
from fabric.solver.measured.tables import COLLECTIVES, of_collective


def report(
    files: list[Path] = typer.Argument(
        ..., metavar="FILE…", help="intent file; several are compared on one page", show_default=False
    ),
    output: Path = typer.Option(..., "-o", "--output", metavar="FILE.html", help="page to write", show_default=False),
    fabric: str = typer.Option("", "--fabric", metavar="NAME", help="only this fabric", show_default=False),
    collective: str = typer.Option(
        "",
        "--collective",
        metavar="NAME",
        help="collective of the chart and of the link loads",
        show_default="all_reduce; alltoall for link loads",
    ),
    size: str = typer.Option("8G", "--size", metavar="SIZE", help="message size for the link loads"),
    fail: list[str] = typer.Option(
        [],
        "--fail",
        metavar="NAME",
        help="failed device or link: SWITCH, A:B or SWITCH:PORT; repeatable",
        show_default=False,
    ),
    platform: Path | None = typer.Option(
        None, "--platform", metavar="FILE", help="platform file of `fabric calibrate`", show_default="shipped parameters"
    ),
    measured: list[Path] = typer.Option(
        [], "--measured", metavar="TABLE", help="measured table, drawn as dots; repeatable", show_default=False
    ),
    no_load: bool = typer.Option(False, "--no-load", help="omit link loads"),
) -> None:
    """Write a report of a site as one HTML page for offline use.

    Design, link loads, failures, racks, addresses, parts and every link; of several intents their differences.
    """
    mistakes = Report()
    size_or_none = size_bytes("--size", size, mistakes)
    timed = collective or "all_reduce"
    if timed not in COLLECTIVES:
        mistake(mistakes, "--collective", f"unknown collective {show(timed)}", nearest(timed, COLLECTIVES), "FAB174")
    check_target(mistakes, "-o", output, "report.html")
    mistakes.raise_errors()
    with progress("plan"):
        intents = [pipeline.load(file) for file in files]
        plans = [only(pipeline.plan(intent), fabric) for intent in intents]
    tables = of_collective(measured, timed)
    origins = [origin(file) for file in files]
    request = ReportRequest(
        timed, size_or_none or 0, tuple(fail), platform, tables, not no_load, origins[0], bool(collective)
    )
    with progress("link loads, failures and page"):
        if len(files) == 1:
            text = pipeline.report(plans[0], request)
        else:
            sides = zip(files, plans, intents, origins, strict=True)
            text = pipeline.report_designs([Side(str(f), plan, i.keys(), at) for f, plan, i, at in sides], request)
    for plan in plans:
        show_diagnostics(plan.warnings)
    put(output, text)
    say(f"wrote {output}")
