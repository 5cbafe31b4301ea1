"""`fabric doctor`: why a measured collective is slower than estimated."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli import job
from fabric.cli.common import FILE, progress, show_diagnostics
from fabric.cli.reports import put_lines
from fabric.diagnostics import Report
from fabric.formats import json_text


def doctor(
    file: Path = FILE,
    logs: list[Path] = typer.Argument(
        ..., metavar="LOG…", help="output of nccl-tests, and logs of NCCL_DEBUG=INFO", show_default=False
    ),
    fabric: str = job.FABRIC,
    routing: str = job.ROUTING,
    queue_pairs: int = job.QUEUE_PAIRS,
    fail: list[str] = job.FAIL,
    platform: Path | None = job.PLATFORM,
    as_json: bool = job.JSON,
) -> None:
    """Explain why a measured collective is slower than estimated.

    Sizes outside the band of the estimate, and the likely causes in order with a command that confirms each.
    """
    from fabric.solver.doctor.diagnosis import document  # heavy: not for help and mistakes
    from fabric.solver.doctor.lines import lines
    from fabric.solver.estimate.request import EstimateRequest

    report = Report()
    job.check_spread(report, routing, queue_pairs)
    report.raise_errors()
    parameters = job.platform_of(file, platform)
    request = EstimateRequest(routing=routing, queue_pairs=queue_pairs, fail=tuple(fail), platform=parameters)
    chosen = job.chosen(file, fabric)
    with progress("causes"):
        result = pipeline.doctor(chosen, logs, request)
    show_diagnostics(result.warnings)
    if as_json:
        print(json_text(document(result)))
    else:
        put_lines(lambda: lines(result))
