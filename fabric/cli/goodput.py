"""`fabric goodput`: the useful time of a training job over a year, and what stops or slows it."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli import job
from fabric.cli.common import FILE, check_fabric, progress
from fabric.cli.reports import put_lines
from fabric.diagnostics import Report
from fabric.formats import json_text


def goodput(
    file: Path = FILE,
    model: Path = typer.Option(
        ..., "--job", metavar="JOB", help="YAML file of the model, its checkpoints and failures", show_default=False
    ),
    fabric: str = job.FABRIC,
    gpus: int | None = job.GPUS,
    gpus_per_domain: int | None = job.GPUS_PER_DOMAIN,
    placement: str = job.PLACEMENT,
    routing: str = job.ROUTING,
    queue_pairs: int = job.QUEUE_PAIRS,
    fail: list[str] = job.FAIL,
    platform: Path | None = job.PLATFORM,
    seed: int = job.SEED,
    as_json: bool = job.JSON,
) -> None:
    """Estimate the useful time of a training job over a year.

    Failures that stop or slow the job, the best checkpoint interval, tokens per day, and GPU-hours lost by cause.
    """
    from fabric.solver.estimate.request import EstimateRequest  # heavy: not for help and mistakes
    from fabric.solver.goodput.lines import lines

    report = Report()
    job.check_spread(report, routing, queue_pairs)
    job.check_seed(report, seed)
    report.raise_errors()
    request = EstimateRequest(
        gpus=gpus,
        gpus_per_domain=gpus_per_domain,
        routing=routing,
        queue_pairs=queue_pairs,
        fail=tuple(fail),
        seed=seed,
        platform=job.platform_of(file, platform),
    )
    with progress("plan"):
        made = pipeline.plan(pipeline.load(file))
    check_fabric(made, fabric)
    with progress("goodput"):
        result = pipeline.goodput(job.largest(made, fabric), made, request, model, placement)
    if as_json:
        print(json_text(result.as_dict()))
    else:
        put_lines(lambda: lines(result))
