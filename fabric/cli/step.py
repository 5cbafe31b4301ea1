"""`fabric step`: the time of a training step on a fabric, whole or with failures."""

from __future__ import annotations

from pathlib import Path

from fabric import pipeline
from fabric.cli import options
from fabric.cli.common import FILE, option, progress
from fabric.cli.output import put_result


def step(
    file: Path = FILE,
    model: Path = option(..., "--job", "JOB", "YAML file of the model and its parallelism"),
    fabric: str = options.FABRIC,
    gpus: int | None = options.GPUS,
    gpus_per_domain: int | None = options.GPUS_PER_DOMAIN,
    placement: str = options.PLACEMENT,
    routing: str = options.ROUTING,
    queue_pairs: int = options.QUEUE_PAIRS,
    fail: list[str] = options.FAIL,
    platform: Path | None = options.PLATFORM,
    seed: int = options.SEED,
    vary: list[str] = option(
        [],
        "--vary",
        "KEY=V,V",
        "values of a key of JOB, such as parallel.tensor=4,8 or batch.micro_batches=8..64; repeatable: every combination is "
        "a variant",
        panel=options.JOB,
    ),
    reach: str = options.reach_option("step=9.5 (seconds)"),
    as_json: bool = options.JSON,
) -> None:
    """Estimate the time of a training step.

    Traffic on the network, communication that compute does not hide, and tokens per second.
    """
    from fabric.solver.training.lines import lines  # heavy: not for help and mistakes
    from fabric.solver.training.step import StepTime
    from fabric.solver.training.sweep import MEASURES, choices

    varied = choices(vary)
    goal = options.goal_of(reach, MEASURES, varied)
    request = options.request_of(file, platform, routing, queue_pairs, fail, seed, gpus=gpus, gpus_per_domain=gpus_per_domain)
    chosen = options.chosen(file, fabric)
    with progress("training step"):
        placed = pipeline.training_job(chosen, request, model, placement)
        result = placed.reach(goal, varied) if goal else placed.sweep(varied) if varied else placed.step()
    put_result(as_json, result.as_dict, lambda: lines(result) if isinstance(result, StepTime) else result.lines())
