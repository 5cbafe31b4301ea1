"""`fabric explore`: which design for so many GPUs."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import typer

from fabric import pipeline
from fabric.bom.prices import read
from fabric.cli.common import FINDINGS, progress, say
from fabric.cli.reports import asked, usage, write
from fabric.cli.sizes import size_bytes
from fabric.diagnostics import Report
from fabric.explore.ask import Request
from fabric.explore.measure import Ask
from fabric.explore.picture import picture
from fabric.explore.report import FORMATS
from fabric.intent.intent import Intent


def explore(
    file: Path = typer.Argument(..., metavar="FILE", help="intent that designs start from", show_default=False),
    fabric: str = typer.Option("", "--fabric", metavar="NAME", help="fabric that is varied; the compute fabric unless given"),
    gpus: int | None = typer.Option(
        None, "--gpus", metavar="N", help="GPUs; those of the intent unless given", show_default=False
    ),
    vary: list[str] = typer.Option(
        [],
        "--vary",
        metavar="NAME=V,V…",
        help="switch, leaf, spine, core, server, kind, tiers, planes, rails, unit, oversubscription, "
        "spine-oversubscription, dual-tor; `switch=sn5*` takes all that match. Unless given: switches that suit the NICs, "
        "kinds, tiers, planes and oversubscription",
        show_default=False,
    ),
    by: str = typer.Option(
        "", "--by", metavar="O,O…", help="what designs are judged by: cost, power, time, alltoall, switches, oversubscription"
    ),
    prices: Path | None = typer.Option(None, "--prices", metavar="PRICES", help="price file, for cost", show_default=False),
    collective: str = typer.Option(
        "",
        "--collective",
        metavar="C",
        help="collective to time over all GPUs; all_reduce, and alltoall with packets sprayed, unless given",
        show_default=False,
    ),
    size: str = typer.Option("1G", "--size", metavar="S", help="its size, as nccl-tests counts it"),
    placement: str = typer.Option("packed", "--placement", metavar="P", help="packed, spread, random:SEED"),
    plot: Path | None = typer.Option(None, "--plot", metavar="FILE.svg", help="the designs as a picture", show_default=False),
    resume: Path | None = typer.Option(
        None, "--resume", metavar="FILE", help="keep what is found here, and go on from it", show_default=False
    ),
    jobs: int = typer.Option(0, "--jobs", metavar="N", help="processes; 0 takes every core"),
    dask: str = typer.Option("", "--dask", metavar="ADDRESS", help="do the work on this Dask cluster: tcp://host:8786"),
    form: list[str] = typer.Option(
        [], "--format", metavar="NAME[=FILE]", help="text, csv, json; several with =FILE", show_default=False
    ),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """Plan and time every combination of choices, and show those that no other design beats."""
    reports = asked([*form, *(["json"] if as_json else [])] or ["text"], list(FORMATS), "csv=designs.csv")
    _look(plot, resume, jobs, gpus)
    if dask and not re.fullmatch(r"((tcp|tls|ucx|ws|wss)://)?[^/]+:[0-9]+", dask):
        usage(f"--dask: expected an address such as tcp://host:8786, got '{dask}'")
    intent = pipeline.load(file)
    ask = _ask(intent, gpus, collective, size, placement, prices)
    request = Request(ask, fabric, tuple(vary), tuple(filter(None, by.split(","))))
    found = pipeline.explore(intent, request, jobs, dask, resume, partial(progress, least=16))
    write(reports, lambda name: FORMATS[name](found))
    if plot is not None:
        write([("plot", plot)], lambda _: picture(found))
        say(f"wrote {plot}")
    if not found.built:
        raise typer.Exit(FINDINGS)


def _ask(intent: Intent, gpus: int | None, collective: str, size: str, placement: str, prices: Path | None) -> Ask:
    report = Report()
    count = size_bytes("--size", size, report)
    report.raise_errors()
    listed = read(prices, intent.site.catalog, str(prices)) if prices else None
    return Ask(gpus, collective, count or 0, placement, listed)


def _look(plot: Path | None, resume: Path | None, jobs: int, gpus: int | None) -> None:
    """Looks at numbers and at where files would go before any work is done."""
    if jobs < 0:
        usage(f"--jobs: expected 0 or more processes, got {jobs}")
    if gpus is not None and not 1 <= gpus <= 10_000_000:
        usage(f"--gpus: expected 1 to 10,000,000 GPUs, got {gpus}")
    for option, path in (("--plot", plot), ("--resume", resume)):
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            usage(f"{option}: expected a file in a folder that is there, got {path}")
    if resume is not None and resume.exists() and not resume.is_file():
        usage(f"--resume: expected a file that can be read again, got {resume}")
