"""`fabric drift`: the running configs of a site against its plan."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.audit.drift.devices import DRIFTED, NO_CONFIG, UNKNOWN
from fabric.audit.drift.reports import FORMATS, DriftReport
from fabric.base.text import plural
from fabric.cli.common import FILE, FINDINGS, MISSING, progress, say
from fabric.cli.output import asked, write


def drift(
    file: Path = FILE,
    configs: Path = typer.Argument(..., metavar="RUNNING", help="folder of running configs", show_default=False),
    form: list[str] = typer.Option(
        [], "--format", metavar="NAME[=FILE]", help="text, markdown, json, sarif or junit; repeatable", show_default="text"
    ),
    as_json: bool = typer.Option(False, "--json", help="the same as --format json"),
    commands: bool = typer.Option(False, "--commands", help="print the commands that restore the plan"),
    whole: bool = typer.Option(False, "--all", help="print every finding and complete lists"),
    jobs: int = typer.Option(0, "--jobs", metavar="N", min=0, help="number of processes", show_default="one per core"),
) -> None:
    """Compare running configs with the plan, device by device.

    Each switch is in sync, drifted, without a config, or unknown (a file that cannot be read, or another network OS).
    """
    reports = asked([*form, *(["json"] if as_json else [])] or ["text"], list(FORMATS), "sarif=drift.sarif")
    with progress("plan and running configs"):
        site = pipeline.drift(pipeline.load(file), configs, jobs, progress)
    report = DriftReport(site, whole, commands)
    write(reports, lambda name: FORMATS[name](report))
    if site.count(DRIFTED):
        raise typer.Exit(FINDINGS)
    if missing := site.count(NO_CONFIG) + site.count(UNKNOWN):
        say(f"fabric: {plural(missing, 'switch', 'switches')} could not be compared")
        raise typer.Exit(MISSING)
