"""`fabric capacity`: the bandwidth of a fabric, whole or with failures."""

from __future__ import annotations

from pathlib import Path

from fabric import pipeline
from fabric.base.diagnostics import Report
from fabric.cli import options
from fabric.cli.common import FILE, check_range, option, progress
from fabric.cli.output import put_result


def capacity(
    file: Path = FILE,
    fabric: str = options.FABRIC,
    gpus: int | None = options.GPUS,
    gpus_per_server: int | None = options.GPUS_PER_SERVER,
    gpu_ids: str = options.GPU_IDS,
    communicators: str = options.COMMUNICATORS,
    placement: str = options.PLACEMENT,
    fail: list[str] = options.FAIL,
    pairs: int = option(0, "--pairs", "N", "random pairs of failures to measure, in addition to all single failures"),
    seed: int = options.SEED,
    as_json: bool = options.JSON,
) -> None:
    """Compute cuts, throughput and the effect of failures.

    Bisection bandwidth, all-to-all throughput, and the bandwidth left after each single failure; of all servers, or of the
    NICs beside the GPUs of a job.
    """
    from fabric.solver.estimate.placement import ALL  # heavy: not for help and mistakes
    from fabric.solver.estimate.request import EstimateRequest

    report = Report()
    hint = "the throughput is computed again for each pair"
    check_range(report, "--pairs", pairs, 0, 10_000, "0 to 10000 pairs of failures", hint=hint)
    options.check_seed(report, seed)
    part = options.server_part(report, gpus_per_server, gpu_ids, communicators)
    report.raise_errors()
    whole = gpus is None and part == ALL and placement == "packed"
    job = None if whole else EstimateRequest(gpus=gpus, part=part)
    chosen = options.chosen(file, fabric)
    with progress("cuts, throughput and failures"):
        result = pipeline.capacity(chosen, tuple(fail), pairs, seed, job=job, placement=placement)
    put_result(as_json, result.as_dict, result.lines)
