"""`fabric goodput`: the useful time of a training job over a year, and what stops or slows it."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report
from fabric.base.formats import json_text
from fabric.base.schemas.models import document
from fabric.cli import options
from fabric.cli.common import FILE, check_fabric, progress
from fabric.cli.output import put_lines


def goodput(
    file: Path = FILE,
    model: Path = typer.Option(
        ..., "--job", metavar="JOB", help="YAML file of the model, its checkpoints and failures", show_default=False
    ),
    fabric: str = options.FABRIC,
    gpus: int | None = options.GPUS,
    gpus_per_domain: int | None = options.GPUS_PER_DOMAIN,
    placement: str = options.PLACEMENT,
    routing: str = options.ROUTING,
    queue_pairs: int = options.QUEUE_PAIRS,
    fail: list[str] = options.FAIL,
    prices: Path | None = options.PRICES,
    platform: Path | None = options.PLATFORM,
    seed: int = options.SEED,
    as_json: bool = options.JSON,
) -> None:
    """Estimate the useful time of a training job over a year.

    Failures that stop or slow the job, the best checkpoint interval, tokens per day, and what is lost by cause.
    """
    from fabric.deliver.bom.prices import read  # heavy: not for help and mistakes
    from fabric.deliver.compare import money
    from fabric.solver.estimate.request import EstimateRequest
    from fabric.solver.goodput.lines import lines

    report = Report()
    options.check_spread(report, routing, queue_pairs)
    options.check_seed(report, seed)
    report.raise_errors()
    request = EstimateRequest(
        gpus=gpus,
        gpus_per_domain=gpus_per_domain,
        routing=routing,
        queue_pairs=queue_pairs,
        fail=tuple(fail),
        seed=seed,
        platform=options.platform_of(file, platform),
    )
    with progress("plan"):
        intent = pipeline.load(file)
        plan = pipeline.plan(intent)
    check_fabric(plan, fabric)
    stated = read(prices, intent.catalog, str(prices)) if prices else None
    with progress("goodput"):
        result = pipeline.goodput(options.largest(plan, fabric), plan, request, model, placement)
        cost = pipeline.year_cost(plan, result, stated) if stated else None
    if as_json:
        print(json_text(document({**result.as_dict(), "cost": cost}, money.GoodputCostDocument)))
    else:
        put_lines(lambda: [*lines(result), *(["", *money.lines(cost)] if cost else [])])
