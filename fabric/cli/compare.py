"""`fabric compare`: designs side by side, for collectives and for one training job."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report
from fabric.cli import options
from fabric.cli.common import check_fabric, check_target, option, progress, say
from fabric.cli.options import size_bytes
from fabric.cli.output import put, put_result


def compare(
    files: list[Path] = typer.Argument(..., metavar="FILE…", help="intents of the designs", show_default=False),
    model: Path | None = option(
        None, "--job", "JOB", "YAML file of the model, its checkpoints and failures", panel=options.JOB
    ),
    fabric: str = options.FABRIC,
    gpus: int | None = options.GPUS,
    placement: str = option(
        "packed", "--placement", "P", f"{options.PLACEMENTS}; packed and spread are always compared", panel=options.JOB
    ),
    size: str = option("1G", "--size", "SIZE", "size of the collectives as nccl-tests counts it", panel=options.JOB),
    prices: Path | None = options.PRICES,
    platform: Path | None = options.PLATFORM,
    seed: int = options.SEED,
    html: Path | None = option(None, "--html", "PAGE.html", "also write an HTML page for offline use", panel=options.OUTPUT),
    as_json: bool = options.JSON,
) -> None:
    """Compare intents: parts, power, and the times of collectives.

    All-reduce and alltoall, packed and spread, healthy and after the worst failure of a switch. With --job also step,
    interruptions, useful time, and cost per useful token.
    """
    from fabric.deliver.compare.designs import document  # heavy: not for help and mistakes
    from fabric.deliver.compare.lines import lines
    from fabric.solver.estimate.request import EstimateRequest

    report = Report()
    options.check_seed(report, seed)
    if html is not None:
        check_target(report, "--html", html, "compare.html")
    count = size_bytes("--size", size, report) or 0
    report.raise_errors()
    request = EstimateRequest(sizes=(count,), gpus=gpus, routing="", queue_pairs=0, seed=seed)
    designs = []
    for file in files:
        parameters = options.platform_of(file, platform)
        with progress(str(file)):
            intent = pipeline.load(file)
            plan = pipeline.plan(intent)
            check_fabric(plan, fabric)
            chosen = options.largest(plan, fabric)
            asked = replace(request, platform=parameters)
            designs.append(pipeline.design(str(file), intent, plan, chosen, asked, model, placement=placement, prices=prices))
    if html is not None:
        from fabric.deliver.report.compared import page

        put(html, page(designs, model.name if model else ""))
        say(f"wrote {html}")
    put_result(as_json, lambda: document(designs, count), lambda: lines(designs))
