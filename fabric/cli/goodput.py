"""`fabric goodput`: the useful time of a training job over a year, and what stops or slows it."""

from __future__ import annotations

from functools import partial
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
    vary: list[str] = option(
        [],
        "--vary",
        "KEY=V,V",
        "values of a key of JOB, such as failures.spare_servers=0,2,4 or checkpoint.write_GBps=10..400; repeatable",
        panel=options.JOB,
    ),
    reach: str = options.reach_option("useful=0.92"),
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
    from fabric.solver.goodput import sweep
    from fabric.solver.goodput.lines import lines
    from fabric.solver.training.sweep import choices

    varied = choices(vary, sweep.keys())
    goal = options.goal_of(reach, sweep.MEASURES, varied)
    request = options.request_of(file, platform, routing, queue_pairs, fail, seed, gpus=gpus, gpus_per_domain=gpus_per_domain)
    with progress("plan"):
        intent = pipeline.load(file)
        plan = pipeline.plan(intent)
    check_fabric(plan, fabric)
    stated = read(prices, intent.catalog, str(prices)) if prices else None
    chosen = options.largest(plan, fabric)
    if varied:
        with progress("goodput"):
            answer = partial(pipeline.goodput, chosen, plan, request, placement=placement)
            found = sweep.least(model, varied, goal, answer) if goal else sweep.sweep(model, varied, answer)
        put_result(as_json, found.as_dict, found.lines)
        return
    with progress("goodput"):
        result = pipeline.goodput(chosen, plan, request, model, placement)
        cost = pipeline.year_cost(plan, result, stated) if stated else None
    put_result(
        as_json,
        lambda: document({**result.as_dict(), "cost": cost}, money.GoodputCostDocument),
        lambda: [*lines(result), *(["", *money.lines(cost)] if cost else [])],
    )
