"""`fabric calibrate`: fits the parameters of collective times to measurements."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli.common import progress, say
from fabric.cli.reports import put, put_lines
from fabric.cli.score import read_tables
from fabric.diagnostics import Diagnostic, InputError, Place
from fabric.solver.measured.files import need_scored


def calibrate(
    paths: list[Path] = typer.Argument(..., metavar="TABLE…", help="output of nccl-tests, YAML tables, or folders of these"),
    output: Path = typer.Option(..., "-o", "--output", metavar="PLATFORM", help="platform file to write", show_default=False),
    base: str = typer.Option(
        "shipped", "--base", metavar="BASE", help="start values: shipped, physics (all parameters free), or a platform file"
    ),
    beside: list[Path] = typer.Option(
        [], "--beside", metavar="TABLE", help="additional tables with lower weight; repeatable", show_default=False
    ),
) -> None:
    """Fit the model of collective times to measurements.

    The fitted parameters go to a platform file, for --platform of other commands.
    """
    tables, others = read_tables(paths), read_tables(beside)
    need_scored(tables, paths)
    if not output.parent.is_dir():
        message = "expected a file in an existing folder"
        raise InputError([Diagnostic("FAB160", Place(str(output)), message, f"create it: mkdir -p {output.parent}")])
    with progress("fit of the parameters"):
        found = pipeline.calibrate(tables, others, base)
    put(output, found.text)
    say(f"wrote {output}")
    put_lines(found.lines)
