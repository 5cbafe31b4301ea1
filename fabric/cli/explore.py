"""`fabric explore`: the best designs for a number of GPUs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report
from fabric.cli import options
from fabric.cli.common import FINDINGS, option, progress, say
from fabric.cli.options import size_bytes
from fabric.cli.output import asked, usage, write
from fabric.deliver.bom.prices import read
from fabric.deliver.explore.measure import DesignRequest
from fabric.deliver.explore.picture import picture
from fabric.deliver.explore.report import FORMATS
from fabric.deliver.explore.request import ExploreRequest
from fabric.design.intent.intent import Intent
from fabric.solver.training.file import JobText

DESIGNS, RUN = "Designs", "Execution"  # groups of options


def explore(
    file: Path = typer.Argument(..., metavar="FILE", help="intent of the base design", show_default=False),
    fabric: str = option("", "--fabric", "NAME", "fabric to vary", shown="compute fabric", panel=DESIGNS),
    gpus: int | None = option(None, "--gpus", "N", "number of GPUs", shown="as in the intent", panel=DESIGNS),
    vary: list[str] = option(
        [],
        "--vary",
        "NAME=V,V…",
        "choices of switch, leaf, spine, core, server, kind, tiers, planes, rails, unit, oversubscription, "
        "spine-oversubscription or dual-tor; `switch=sn5*` matches models; repeatable",
        shown="suitable switches, kinds, tiers, planes and oversubscription",
        panel=DESIGNS,
    ),
    by: str = option(
        "",
        "--by",
        "O,O…",
        "objectives: cost, power, time, alltoall, switches, oversubscription; with --job goodput, token-cost",
        panel=DESIGNS,
    ),
    reach: list[str] = option(
        [],
        "--reach",
        "GOAL",
        "only designs that reach a goal, such as busbw=350 (GB/s), time=3.2 (ms), useful=0.92 or power=90 (kW); repeatable",
        panel=DESIGNS,
    ),
    prices: Path | None = option(None, "--prices", "PRICES", "price file, for cost", panel=DESIGNS),
    model: Path | None = option(
        None, "--job", "JOB", "training job over all GPUs, for goodput and cost per useful token", panel=options.JOB
    ),
    collective: str = option(
        "", "--collective", "NAME", "collective to time over all GPUs", shown="all_reduce and alltoall", panel=options.JOB
    ),
    size: str = option("1G", "--size", "SIZE", "message size as nccl-tests counts it", panel=options.JOB),
    placement: str = option("packed", "--placement", "P", "packed, spread or random:SEED", panel=options.JOB),
    platform: Path | None = options.PLATFORM,
    jobs: int = option(0, "--jobs", "N", "number of processes", shown="one per core", panel=RUN),
    dask: str = option("", "--dask", "ADDRESS", "Dask cluster to run on, such as tcp://host:8786", panel=RUN),
    resume: Path | None = option(None, "--resume", "FILE", "journal file to continue from and append to", panel=RUN),
    plot: Path | None = option(None, "--plot", "FILE.svg", "SVG plot of the designs", panel=options.OUTPUT),
    form: list[str] = option(
        [], "--format", "NAME[=FILE]", "text, csv or json; repeatable with =FILE", shown="text", panel=options.OUTPUT
    ),
    whole: bool = typer.Option(
        False, "--all", help="show every design that can be built, not the best alone", rich_help_panel=options.OUTPUT
    ),
    as_json: bool = options.JSON,
) -> None:
    """Compare many variants of one intent by cost, power and time.

    Every combination of choices is planned and timed; the Pareto-optimal designs are shown.
    """
    reports = asked(form, list(FORMATS), "csv=designs.csv", as_json)
    _look(plot, resume, jobs, gpus)
    if dask and not re.fullmatch(r"((tcp|tls|ucx|ws|wss)://)?[^/]+:[0-9]+", dask):
        usage(f"--dask: expected an address such as tcp://host:8786, got '{dask}'")
    intent = pipeline.load(file)
    design = replace(
        _ask(intent, gpus, collective, size, placement, prices),
        job=JobText.of(model) if model is not None else None,
        platform=options.platform_of(file, platform),
    )
    request = ExploreRequest(design, fabric, tuple(vary), tuple(filter(None, by.split(","))), tuple(reach))
    result = replace(pipeline.explore(intent, request, jobs, dask, resume, progress), whole=whole)
    write(reports, lambda name: FORMATS[name](result))
    if plot is not None:
        write([("plot", plot)], lambda _: picture(result))
        say(f"wrote {plot}")
    if not result.built:
        raise typer.Exit(FINDINGS)


def _ask(intent: Intent, gpus: int | None, collective: str, size: str, placement: str, prices: Path | None) -> DesignRequest:
    report = Report()
    count = size_bytes("--size", size, report)
    report.raise_errors()
    listed = read(prices, intent.catalog, str(prices)) if prices else None
    return DesignRequest(gpus=gpus, collective=collective, size=count or 0, placement=placement, prices=listed)


def _look(plot: Path | None, resume: Path | None, jobs: int, gpus: int | None) -> None:
    """Validates numbers and output files before any work is done."""
    if jobs < 0:
        usage(f"--jobs: expected 0 or more processes, got {jobs}")
    if gpus is not None and not 1 <= gpus <= 10_000_000:
        usage(f"--gpus: expected 1 to 10,000,000 GPUs, got {gpus}")
    for flag, path in (("--plot", plot), ("--resume", resume)):
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            usage(f"{flag}: expected a file in an existing folder, got {path}")
    if resume is not None and resume.exists() and not resume.is_file():
        usage(f"--resume: expected a regular file, got {resume}")
