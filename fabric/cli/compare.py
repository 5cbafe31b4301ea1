"""`fabric compare`: designs side by side for one training job."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli import job
from fabric.cli.common import check_fabric, check_target, progress, say
from fabric.cli.reports import put, put_lines
from fabric.diagnostics import Report
from fabric.formats import json_text


def compare(
    files: list[Path] = typer.Argument(..., metavar="FILE…", help="intents of the designs", show_default=False),
    model: Path = typer.Option(
        ..., "--job", metavar="JOB", help="YAML file of the model, its checkpoints and failures", show_default=False
    ),
    fabric: str = job.FABRIC,
    gpus: int | None = job.GPUS,
    placement: str = job.PLACEMENT,
    prices: Path | None = job.PRICES,
    platform: Path | None = job.PLATFORM,
    seed: int = job.SEED,
    html: Path | None = typer.Option(
        None,
        "--html",
        metavar="PAGE.html",
        help="also write an HTML page for offline use",
        show_default=False,
        rich_help_panel=job.OUTPUT,
    ),
    as_json: bool = job.JSON,
) -> None:
    """Compare designs for one training job.

    Switches, power, all-reduce, step, interruptions, useful time, and cost per useful token.
    """
    from fabric.compare.designs import document  # heavy: not for help and mistakes
    from fabric.compare.lines import lines
    from fabric.solver.estimate.request import EstimateRequest

    report = Report()
    job.check_seed(report, seed)
    if html is not None:
        check_target(report, "--html", html, "compare.html")
    report.raise_errors()
    request = EstimateRequest(gpus=gpus, routing="", queue_pairs=0, seed=seed)
    designs = []
    for file in files:
        parameters = job.platform_of(file, platform)
        with progress(str(file)):
            intent = pipeline.load(file)
            made = pipeline.plan(intent)
            check_fabric(made, fabric)
            chosen = job.largest(made, fabric)
            asked = replace(request, platform=parameters)
            designs.append(pipeline.design(str(file), intent, made, chosen, asked, model, placement, prices))
    if html is not None:
        from fabric.compare.page import page

        put(html, page(designs, model.name))
        say(f"wrote {html}")
    if as_json:
        print(json_text(document(designs)))
    else:
        put_lines(lambda: lines(designs))
