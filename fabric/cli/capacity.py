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
    fail: list[str] = options.FAIL,
    pairs: int = option(0, "--pairs", "N", "random pairs of failures to measure, in addition to all single failures"),
    seed: int = options.SEED,
    as_json: bool = options.JSON,
) -> None:
    """Compute cuts, throughput and the effect of failures.

    Bisection bandwidth, all-to-all throughput, and the bandwidth left after each single failure.
    """
    report = Report()
    hint = "the throughput is computed again for each pair"
    check_range(report, "--pairs", pairs, 0, 10_000, "0 to 10000 pairs of failures", hint=hint)
    options.check_seed(report, seed)
    report.raise_errors()
    chosen = options.chosen(file, fabric)
    with progress("cuts, throughput and failures"):
        result = pipeline.capacity(chosen, tuple(fail), pairs, seed)
    put_result(as_json, result.as_dict, result.lines)
