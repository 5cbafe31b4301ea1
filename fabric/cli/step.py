"""`fabric step`: the time of a training step on a fabric, whole or with failures."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report
from fabric.base.formats import json_text
from fabric.cli import job
from fabric.cli.common import FILE, progress
from fabric.cli.reports import put_lines


def step(
    file: Path = FILE,
    model: Path = typer.Option(
        ..., "--job", metavar="JOB", help="YAML file of the model and its parallelism", show_default=False
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
    vary: list[str] = typer.Option(
        [],
        "--vary",
        metavar="KEY=V,V",
        help="values of a key of JOB, such as parallel.tensor=4,8; repeatable: every combination is a variant",
        show_default=False,
        rich_help_panel=job.JOB,
    ),
    as_json: bool = job.JSON,
) -> None:
    """Estimate the time of a training step.

    Traffic on the network, communication that compute does not hide, and tokens per second.
    """
    from fabric.solver.estimate.request import EstimateRequest  # heavy: not for help and mistakes
    from fabric.solver.training.lines import lines
    from fabric.solver.training.step import StepTime
    from fabric.solver.training.sweep import choices

    varied = choices(vary)
    report = Report()
    job.check_spread(report, routing, queue_pairs)
    job.check_seed(report, seed)
    report.raise_errors()
    parameters = job.platform_of(file, platform)
    request = EstimateRequest(
        gpus=gpus,
        gpus_per_domain=gpus_per_domain,
        routing=routing,
        queue_pairs=queue_pairs,
        fail=tuple(fail),
        seed=seed,
        platform=parameters,
    )
    chosen = job.chosen(file, fabric)
    with progress("training step"):
        placed = pipeline.training_job(chosen, request, model, placement)
        result = placed.sweep(varied) if varied else placed.step()
    if as_json:
        print(json_text(result.as_dict()))
    else:
        put_lines(lambda: lines(result) if isinstance(result, StepTime) else result.lines())
