"""`fabric utilisation`: how many GPUs and how much bandwidth a mix of jobs can use."""

from __future__ import annotations

from pathlib import Path

from fabric import pipeline
from fabric.base.diagnostics import Report, nearest, show
from fabric.cli import options
from fabric.cli.common import FILE, check_fabric, mistake, option, progress
from fabric.cli.output import put_result

MIX = "Jobs"


def utilisation(
    file: Path = FILE,
    jobs: Path = option(..., "--jobs", "JOBS", "YAML list of sizes, or output of `sacct --json`"),
    placement: list[str] = option([], "--placement", "P", "packed, topology or strict; repeatable", shown="all", panel=MIX),
    partition: str = option("", "--partition", "NAME", "partition of Slurm", shown="all", panel=MIX),
    full: bool = option(False, "--full", help="a queue that never ends, in place of recorded times", panel=MIX),
    fabric: str = options.FABRIC,
    prices: Path | None = options.PRICES,
    seed: int = options.SEED,
    as_json: bool = options.JSON,
) -> None:
    """Estimate how many GPUs a mix of jobs can use.

    GPUs and NIC bandwidth in use, and what is idle because jobs do not fit, by placement.
    """
    from fabric.deliver.bom.prices import read  # heavy: not for help and mistakes
    from fabric.deliver.compare import designs, money
    from fabric.solver.utilisation.simulate import POLICIES
    from fabric.solver.utilisation.utilisation import lines

    report = Report()
    for name in placement:
        if name not in POLICIES:
            mistake(report, "--placement", f"expected {', '.join(POLICIES)}, got {show(name)}", nearest(name, POLICIES))
    options.check_seed(report, seed)
    report.raise_errors()
    with progress("plan"):
        intent = pipeline.load(file)
        plan = pipeline.plan(intent)
    check_fabric(plan, fabric)
    stated = read(prices, intent.catalog, str(prices)) if prices else None
    with progress("utilisation"):
        result = pipeline.utilisation(
            options.largest(plan, fabric), jobs, tuple(dict.fromkeys(placement)), seed, partition=partition, full=full
        )
    gpu_hour = money.gpu_hour(designs.bill_of(plan, stated), designs.site_gpus(plan)) if stated else None
    currency = stated.currency if stated else ""
    put_result(as_json, lambda: result.as_dict(gpu_hour, currency), lambda: lines(result, gpu_hour, currency))
