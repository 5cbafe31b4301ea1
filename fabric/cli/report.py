"""`fabric report`: a site as one HTML page that opens offline."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli.common import only, say, show_diagnostics
from fabric.cli.reports import put
from fabric.cli.sizes import size_bytes
from fabric.diagnostics import Place, Report, nearest, show
from fabric.report.wanted import Wanted
from fabric.solver.measured.tables import COLLECTIVES, of_collective


def report(
    file: Path = typer.Argument(..., metavar="FILE", help="intent", show_default=False),
    output: Path = typer.Option(..., "-o", "--output", metavar="FILE.html", help="page to write", show_default=False),
    fabric: str = typer.Option("", "--fabric", metavar="NAME", help="only this fabric", show_default=False),
    collective: str = typer.Option(
        "",
        "--collective",
        metavar="C",
        help="collective of the curve, whose link loads are shown first; all_reduce, and the loads of an alltoall first, "
        "unless given",
        show_default=False,
    ),
    size: str = typer.Option("8G", "--size", metavar="S", help="of the collective whose link loads are shown"),
    fail: list[str] = typer.Option(
        [], "--fail", metavar="NAME", help="SWITCH, A:B or SWITCH:PORT that is down", show_default=False
    ),
    platform: Path | None = typer.Option(
        None, "--platform", metavar="FILE", help="parameters of `fabric calibrate`", show_default=False
    ),
    measured: list[Path] = typer.Option(
        [], "--measured", metavar="TABLE", help="dots of a measured table, or output of nccl-tests", show_default=False
    ),
    no_load: bool = typer.Option(False, "--no-load", help="no link loads: the design alone"),
) -> None:
    """Write a site as one HTML page: the design, what it carries, racks, addresses, every link."""
    found = Report()
    asked = size_bytes("--size", size, found)
    timed = collective or "all_reduce"
    _check(found, timed, output)
    found.raise_errors()
    made = pipeline.plan(pipeline.load(file))
    tables = of_collective(measured, timed)
    wanted = Wanted(timed, asked or 0, tuple(fail), platform, tables, not no_load, bool(collective))
    text = pipeline.report(only(made, fabric), wanted)
    show_diagnostics(made.warnings)
    put(output, text)
    say(f"wrote {output}")


def _check(report: Report, collective: str, output: Path) -> None:
    """What can be said before anything is computed."""
    if collective not in COLLECTIVES:
        hint = nearest(collective, COLLECTIVES)
        report.error("FAB174", Place("--collective"), f"unknown collective {show(collective)}", hint)
    if output.is_dir():
        hint = f"`-o {output / 'report.html'}` writes into it"
        report.error("FAB102", Place("-o"), f"expected a file, got the folder {output}", hint)
    elif not output.parent.is_dir():
        hint = f"`-o {output.name}` writes here"
        report.error("FAB102", Place("-o"), f"expected a folder that is there, got {output.parent}", hint)
