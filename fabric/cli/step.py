"""`fabric step`: the time of a training step on a fabric, whole or with failures."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli import job
from fabric.cli.common import FILE
from fabric.diagnostics import Report
from fabric.formats import json_text


def step(
    file: Path = FILE,
    model: Path = typer.Option(
        ..., "--job", metavar="JOB", help="file of the model and how it is cut over the GPUs", show_default=False
    ),
    fabric: str = job.FABRIC,
    gpus: int | None = job.GPUS,
    placement: str = typer.Option(
        "packed", "--placement", metavar="P", help="packed, spread, random:SEED, or servers with commas between"
    ),
    routing: str = job.ROUTING,
    queue_pairs: int = job.QUEUE_PAIRS,
    fail: list[str] = job.FAIL,
    platform: Path | None = job.PLATFORM,
    seed: int = job.SEED,
    as_json: bool = job.JSON,
) -> None:
    """Time a training step: what crosses the network, what the computing hides of it, and the tokens per second left."""
    from fabric.solver.estimate.ask import Asked  # heavy: not for help and mistakes

    report = Report()
    job.check_spread(report, routing, queue_pairs)
    job.check_seed(report, seed)
    report.raise_errors()
    asked = Asked(gpus=gpus, routing=routing, queue_pairs=queue_pairs, fail=tuple(fail), seed=seed, platform=platform)
    found = pipeline.step(job.chosen(file, fabric), asked, model, placement)
    print(json_text(found.as_dict()) if as_json else "\n".join(found.lines()))
