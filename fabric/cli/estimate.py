"""`fabric estimate`: the time of collectives on a fabric, whole or with failures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabric import pipeline
from fabric.base.diagnostics import Report
from fabric.base.text import either
from fabric.cli import options
from fabric.cli.common import FILE, check_range, check_target, mistake, option, progress, say
from fabric.cli.options import sizes_bytes
from fabric.cli.output import put, put_result
from fabric.solver.collective import ALL_REDUCE, collective_names

if TYPE_CHECKING:
    from fabric.solver.estimate.estimate import Estimate


def estimate(
    file: Path = FILE,
    fabric: str = options.FABRIC,
    collective: str = option(ALL_REDUCE, "--collective", "NAME", either(collective_names()), panel=options.JOB),
    size: list[str] = option(
        [], "--size", "SIZE", "message size as nccl-tests counts it: 64M, 1G, 4096; repeatable", panel=options.JOB
    ),
    sweep: str = option("", "--sweep", "MIN:MAX[:FACTOR]", "range of message sizes", shown="8:8G:2", panel=options.JOB),
    gpus: int | None = options.GPUS,
    gpus_per_domain: int | None = options.GPUS_PER_DOMAIN,
    gpus_per_server: int | None = options.GPUS_PER_SERVER,
    gpu_ids: str = options.GPU_IDS,
    communicators: str = options.COMMUNICATORS,
    placement: list[str] = option(
        ["packed"], "--placement", "P", f"{options.PLACEMENTS}; repeat to compare several", shown="packed", panel=options.JOB
    ),
    jobs: int = option(1, "--jobs", "N", "number of concurrent jobs of --gpus GPUs each", panel=options.JOB),
    routing: str = options.ROUTING,
    queue_pairs: int = options.QUEUE_PAIRS,
    fail: list[str] = options.FAIL,
    algorithm: str = option(
        "auto",
        "--algorithm",
        "NAME",
        "auto (fastest on a healthy network), ring, tree, nvls, nvls_tree, hierarchical, halving_doubling or in_network",
        panel=options.PARAMETERS,
    ),
    protocol: str = option("auto", "--protocol", "NAME", "auto, ll, ll128 or simple", panel=options.PARAMETERS),
    ctas: int | None = option(
        None, "--min-ctas", "N", "CTAs per ring (NCCL_MIN_CTAS)", shown="by the NICs, 16 for 8x400G", panel=options.PARAMETERS
    ),
    platform: Path | None = options.PLATFORM,
    seed: int = options.SEED,
    plot: Path | None = option(None, "--plot", "FILE.svg", "SVG plot of busbw by message size", panel=options.OUTPUT),
    measured: list[Path] = option(
        [], "--measured", "TABLE", "measured table, drawn as dots in --plot; repeatable", panel=options.OUTPUT
    ),
    as_json: bool = options.JSON,
) -> None:
    """Estimate the time of a collective, and its bottleneck.

    One row per message size, with algorithm, protocol, algbw and busbw as nccl-tests defines them.
    """
    from fabric.solver.estimate import lines  # heavy: not for help and mistakes
    from fabric.solver.estimate.request import EstimateRequest

    report = Report()
    sizes = tuple(sizes_bytes(size, sweep, report))
    options.check_spread(report, routing, queue_pairs)
    options.check_seed(report, seed)
    check_range(report, "--jobs", jobs, 1, 100_000, "1 to 100000 jobs", hint="each job takes --gpus GPUs")
    check_range(
        report, "--min-ctas", 1 if ctas is None else ctas, 1, 64, "1 to 64 CTAs", hint="remove it for the default of NCCL"
    )
    part = options.server_part(report, gpus_per_server, gpu_ids, communicators)
    if plot is not None:
        check_target(report, "--plot", plot, "estimate.svg")
    elif measured:
        mistake(report, "--measured", "--measured needs --plot", "add --plot FILE.svg to plot the measured rows")
    report.raise_errors()
    on = options.chosen(file, fabric)
    parameters = options.platform_of(file, platform)
    estimate_request = EstimateRequest(
        collective=collective,
        sizes=sizes,
        gpus=gpus,
        algorithm=algorithm,
        protocol=protocol,
        routing=routing,
        queue_pairs=queue_pairs,
        fail=tuple(fail),
        seed=seed,
        platform=parameters,
        jobs=jobs,
        ctas=ctas or 0,
        gpus_per_domain=gpus_per_domain,
        part=part,
    )
    with progress("collective times"):
        estimates = [pipeline.estimate(on, estimate_request, place) for place in placement]
        spread = pipeline.spread_beside(estimates[0][0], estimate_request) if len(placement) == 1 else None
    if plot is not None:
        _plot(plot, estimates, measured)
    put_result(as_json, lambda: lines.document(estimates, fail, spread), lambda: lines.text(estimates, fail, spread))


def _plot(path: Path, found: list[tuple[Estimate, Estimate | None]], measured: list[Path]) -> None:
    from fabric.solver.estimate.plot import picture
    from fabric.solver.measured.tables import of_collective

    tables = of_collective(measured, found[0][0].job.collective)
    put(path, picture(found, tables))
    say(f"wrote {path}")
