"""`fabric calibrate`: fits the parameters of collective times to measurements."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli import job
from fabric.cli.common import progress, say, show_diagnostics
from fabric.cli.reports import put, put_lines
from fabric.cli.score import FOR, read_tables
from fabric.diagnostics import Diagnostic, InputError, Place
from fabric.solver.measured.files import need_scored


def calibrate(
    paths: list[Path] = typer.Argument(None, metavar="TABLE…", help="output of nccl-tests, YAML tables, or folders of these"),
    output: Path | None = typer.Option(
        None, "-o", "--output", metavar="PLATFORM", help="platform file to write", show_default=False
    ),
    intent: Path | None = FOR,
    probe: Path | None = typer.Option(
        None,
        "--probe",
        metavar="INTENT",
        help="list the nccl-tests runs worth measuring on this design, and exit",
        show_default=False,
    ),
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
    if probe is not None:
        put_lines(lambda: pipeline.probe(job.chosen(probe, ""), str(probe), str(job.platform_beside(probe))))
        return
    if not paths or output is None:
        missing = "TABLE" if not paths else "-o PLATFORM"
        hint = "run `fabric calibrate all_reduce.log -o dc1.platform.yaml`, or `fabric calibrate --probe INTENT`"
        raise InputError([Diagnostic("FAB102", Place(missing), f"expected {missing}, got none", hint)])
    tables, others = read_tables(paths, intent), read_tables(beside)
    need_scored(tables, paths)
    if not output.parent.is_dir():
        message = "expected a file in an existing folder"
        raise InputError([Diagnostic("FAB160", Place(str(output)), message, f"create it: mkdir -p {output.parent}")])
    with progress("fit of the parameters"):
        calibrated = pipeline.calibrate(tables, others, base)
    put(output, calibrated.text)
    say(f"wrote {output}")
    show_diagnostics(calibrated.warnings())
    put_lines(calibrated.lines)
