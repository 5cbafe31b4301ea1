"""`fabric model calibrate`: fits the parameters of collective times to measurements."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Diagnostic, InputError, Place, Report
from fabric.cli import options
from fabric.cli.common import check_range, check_target, mistake, option, progress, refuse, say, show_diagnostics
from fabric.cli.output import put, put_lines
from fabric.cli.score import FOR, read_tables
from fabric.solver.measured.tables import need_scored


def calibrate(
    paths: list[Path] = typer.Argument(None, metavar="TABLE…", help="output of nccl-tests, YAML tables, or folders of these"),
    output: Path | None = option(None, "-o --output", "PLATFORM", "platform file to write"),
    intent: Path | None = FOR,
    probe: Path | None = option(
        None, "--probe", "INTENT", "list the nccl-tests runs worth measuring on this design, and exit"
    ),
    step: float | None = option(
        None, "--step", "SECONDS", "a measured training step: print the utilisation that gives it; needs --job and --for"
    ),
    model: Path | None = option(None, "--job", "JOB", "with --step: YAML file of the training job"),
    gpus: int | None = option(None, "--gpus", "N", "with --step: GPUs of the job", shown="all"),
    base: str = option(
        "shipped", "--base", "BASE", "start values: shipped, physics (all parameters free), or a platform file"
    ),
    beside: list[Path] = option([], "--beside", "TABLE", "additional tables with lower weight; repeatable"),
) -> None:
    """Fit the model of collective times to measurements.

    The fitted parameters go to a platform file, for --platform of other commands.
    """
    if probe is not None:
        put_lines(lambda: pipeline.probe(options.chosen(probe, ""), str(probe), str(options.platform_beside(probe))))
        return
    if step is not None:
        _utilisation(step, model, intent, gpus)
        return
    if not paths or output is None:
        missing = "TABLE" if not paths else "-o PLATFORM"
        hint = "run `fabric model calibrate all_reduce.log -o dc1.platform.yaml`, or `fabric model calibrate --probe INTENT`"
        raise InputError([Diagnostic("FAB102", Place(missing), f"expected {missing}, got none", hint)])
    tables, others = read_tables(paths, intent), read_tables(beside)
    from fabric.solver.collectives.score import relatives  # heavy: not for help and mistakes

    need_scored(tables, paths)
    for table in tables:
        for text in relatives(table):
            say(f"note: {table.id}: {text}")
    refuse(lambda report: check_target(report, "-o", output, "dc1.platform.yaml"))
    with progress("fit of the parameters"):
        calibrated = pipeline.calibrate(tables, others, base)
    put(output, calibrated.text)
    say(f"wrote {output}")
    show_diagnostics(calibrated.warnings())
    put_lines(calibrated.lines)


def _utilisation(seconds: float, model: Path | None, intent: Path | None, gpus: int | None) -> None:
    """Prints the utilisation behind a measured step."""
    from fabric.solver.estimate.request import EstimateRequest  # heavy: not for help and mistakes

    report = Report()
    check_range(
        report, "--step", seconds, 1e-3, 1e6, "a time from 0.001 to 1000000 s", hint="the time of one step in seconds"
    )
    for flag, value in (("--job", model), ("--for", intent)):
        if value is None:
            mistake(report, flag, f"expected {flag} with --step, got none", "run `fabric model calibrate --help`")
    report.raise_errors()
    assert model is not None
    assert intent is not None
    request = EstimateRequest(gpus=gpus, platform=options.platform_of(intent, None), routing="", queue_pairs=0)
    placed = pipeline.training_job(options.chosen(intent, ""), request, model)
    put_lines(placed.utilisation(seconds).lines)
