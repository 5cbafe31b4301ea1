"""`fabric goodput`: the useful time of a training job over a year, and what stops or slows it."""

from __future__ import annotations

from pathlib import Path

from fabric import pipeline
from fabric.base.schemas.models import document
from fabric.cli import options
from fabric.cli.common import FILE, check_fabric, option, progress
from fabric.cli.output import put_result


def goodput(
    file: Path = FILE,
    model: Path = option(..., "--job", "JOB", "YAML file of the model, its checkpoints and failures"),
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
    from fabric.solver.goodput.lines import lines

    request = options.request_of(file, platform, routing, queue_pairs, fail, seed, gpus=gpus, gpus_per_domain=gpus_per_domain)
    with progress("plan"):
        intent = pipeline.load(file)
        plan = pipeline.plan(intent)
    check_fabric(plan, fabric)
    stated = read(prices, intent.catalog, str(prices)) if prices else None
    with progress("goodput"):
        result = pipeline.goodput(options.largest(plan, fabric), plan, request, model, placement)
        cost = pipeline.year_cost(plan, result, stated) if stated else None
    put_result(
        as_json,
        lambda: document({**result.as_dict(), "cost": cost}, money.GoodputCostDocument),
        lambda: [*lines(result), *(["", *money.lines(cost)] if cost else [])],
    )
