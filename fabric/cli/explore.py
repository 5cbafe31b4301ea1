"""`fabric explore`: the best designs for a number of GPUs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report
from fabric.cli import options
from fabric.cli.common import FINDINGS, progress, say
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
    fabric: str = typer.Option(
        "", "--fabric", metavar="NAME", help="fabric to vary", show_default="compute fabric", rich_help_panel=DESIGNS
    ),
    gpus: int | None = typer.Option(
        None, "--gpus", metavar="N", help="number of GPUs", show_default="as in the intent", rich_help_panel=DESIGNS
    ),
    vary: list[str] = typer.Option(
        [],
        "--vary",
        metavar="NAME=V,V…",
        help="choices of switch, leaf, spine, core, server, kind, tiers, planes, rails, unit, oversubscription, "
        "spine-oversubscription or dual-tor; `switch=sn5*` matches models; repeatable",
        show_default="suitable switches, kinds, tiers, planes and oversubscription",
        rich_help_panel=DESIGNS,
    ),
    by: str = typer.Option(
        "",
        "--by",
        metavar="O,O…",
        help="objectives: cost, power, time, alltoall, switches, oversubscription; with --job goodput, token-cost",
        show_default=False,
        rich_help_panel=DESIGNS,
    ),
    prices: Path | None = typer.Option(
        None, "--prices", metavar="PRICES", help="price file, for cost", show_default=False, rich_help_panel=DESIGNS
    ),
    model: Path | None = typer.Option(
        None,
        "--job",
        metavar="JOB",
        help="training job over all GPUs, for goodput and cost per useful token",
        show_default=False,
        rich_help_panel=options.JOB,
    ),
    collective: str = typer.Option(
        "",
        "--collective",
        metavar="NAME",
        help="collective to time over all GPUs",
        show_default="all_reduce and alltoall",
        rich_help_panel=options.JOB,
    ),
    size: str = typer.Option(
        "1G", "--size", metavar="SIZE", help="message size as nccl-tests counts it", rich_help_panel=options.JOB
    ),
    placement: str = typer.Option(
        "packed", "--placement", metavar="P", help="packed, spread or random:SEED", rich_help_panel=options.JOB
    ),
    platform: Path | None = options.PLATFORM,
    jobs: int = typer.Option(
        0, "--jobs", metavar="N", help="number of processes", show_default="one per core", rich_help_panel=RUN
    ),
    dask: str = typer.Option(
        "",
        "--dask",
        metavar="ADDRESS",
        help="Dask cluster to run on, such as tcp://host:8786",
        show_default=False,
        rich_help_panel=RUN,
    ),
    resume: Path | None = typer.Option(
        None,
        "--resume",
        metavar="FILE",
        help="journal file to continue from and append to",
        show_default=False,
        rich_help_panel=RUN,
    ),
    plot: Path | None = typer.Option(
        None, "--plot", metavar="FILE.svg", help="SVG plot of the designs", show_default=False, rich_help_panel=options.OUTPUT
    ),
    form: list[str] = typer.Option(
        [],
        "--format",
        metavar="NAME[=FILE]",
        help="text, csv or json; repeatable with =FILE",
        show_default="text",
        rich_help_panel=options.OUTPUT,
    ),
    as_json: bool = options.JSON,
) -> None:
    """Compare many designs by cost, power and time.

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
    request = ExploreRequest(design, fabric, tuple(vary), tuple(filter(None, by.split(","))))
    result = pipeline.explore(intent, request, jobs, dask, resume, progress)
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
    for option, path in (("--plot", plot), ("--resume", resume)):
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            usage(f"{option}: expected a file in an existing folder, got {path}")
    if resume is not None and resume.exists() and not resume.is_file():
        usage(f"--resume: expected a regular file, got {resume}")
