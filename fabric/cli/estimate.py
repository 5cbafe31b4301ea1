"""`fabric estimate`: the time of collectives on a fabric, whole or with failures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fabric import pipeline
from fabric.cli import job
from fabric.cli.common import FILE, check_range, check_target, mistake, say
from fabric.cli.reports import put
from fabric.cli.sizes import sizes_bytes
from fabric.diagnostics import Report
from fabric.formats import json_text

if TYPE_CHECKING:
    from fabric.solver.estimate.estimate import Estimate


def estimate(
    file: Path = FILE,
    fabric: str = job.FABRIC,
    collective: str = typer.Option(
        "all_reduce",
        "--collective",
        metavar="C",
        help="all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce, sendrecv",
    ),
    size: list[str] = typer.Option(
        [], "--size", metavar="S", help="64M, 1G, bytes, as nccl-tests counts them", show_default=False
    ),
    sweep: str = typer.Option("", "--sweep", metavar="MIN:MAX[:FACTOR]", help="8:8G unless given", show_default=False),
    gpus: int | None = job.GPUS,
    placement: list[str] = typer.Option(
        ["packed"],
        "--placement",
        metavar="P",
        help="packed, spread, random:SEED, or servers with commas between; several are compared",
    ),
    algorithm: str = typer.Option(
        "auto",
        "--algorithm",
        metavar="A",
        help="as NCCL would choose, or ring, tree, nvls, nvls_tree, hierarchical, halving_doubling, in_network",
    ),
    protocol: str = typer.Option("auto", "--protocol", metavar="P", help="auto, ll, ll128, simple"),
    routing: str = job.ROUTING,
    queue_pairs: int = job.QUEUE_PAIRS,
    ctas: int = typer.Option(16, "--min-ctas", metavar="N", help="CTAs of a ring, as NCCL_MIN_CTAS sets them"),
    jobs: int = typer.Option(1, "--jobs", metavar="N", help="so many jobs of --gpus each at the same time"),
    fail: list[str] = job.FAIL,
    platform: Path | None = job.PLATFORM,
    measured: list[Path] = typer.Option(
        [], "--measured", metavar="TABLE", help="with --plot: dots of a measured table", show_default=False
    ),
    plot: Path | None = typer.Option(
        None, "--plot", metavar="FILE.svg", help="busbw by size as a picture", show_default=False
    ),
    seed: int = job.SEED,
    as_json: bool = job.JSON,
) -> None:
    """Estimate the time of a collective on a fabric, size by size, and what limits it."""
    from fabric.solver.estimate import lines  # heavy: not for help and mistakes
    from fabric.solver.estimate.ask import Asked

    report = Report()
    sizes = tuple(sizes_bytes(size, sweep, report))
    job.check_spread(report, routing, queue_pairs)
    job.check_seed(report, seed)
    check_range(report, "--jobs", jobs, 1, 100_000, "1 to 100000 jobs", "each takes --gpus of its own")
    check_range(report, "--min-ctas", ctas, 1, 64, "1 to 64 CTAs", "NCCL runs 16 unless told otherwise")
    if plot is not None:
        check_target(report, "--plot", plot, "estimate.svg")
    elif measured:
        mistake(report, "--measured", "expected --plot with it, got none", "its rows are dots of the picture")
    report.raise_errors()
    on = job.chosen(file, fabric)
    asked = Asked(collective, sizes, gpus, algorithm, protocol, routing, queue_pairs, tuple(fail), seed, platform, jobs, ctas)
    found = [pipeline.estimate(on, asked, request) for request in placement]
    if plot is not None:
        _plot(plot, found, measured)
    print(json_text(lines.document(found, fail)) if as_json else "\n".join(lines.text(found, fail)))


def _plot(path: Path, found: list[tuple[Estimate, Estimate | None]], measured: list[Path]) -> None:
    from fabric.solver.estimate.picture import picture
    from fabric.solver.measured.tables import of_collective

    tables = of_collective(measured, found[0][0].job.collective)
    put(path, picture(found, tables))
    say(f"wrote {path}")
