"""`fabric drift`: the running configs of a site against its plan."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.audit.checks.reports import FORMATS, report
from fabric.audit.drift.devices import DRIFTED, NO_CONFIG, UNKNOWN
from fabric.audit.drift.reports import drift_report
from fabric.base.text import plural
from fabric.cli.common import FILE, FINDINGS, MISSING, progress, say
from fabric.cli.output import AS_JSON, JOBS, asked, formats_option, write


def drift(
    file: Path = FILE,
    configs: Path = typer.Argument(..., metavar="RUNNING", help="folder of running configs", show_default=False),
    form: list[str] = formats_option(FORMATS),
    as_json: bool = AS_JSON,
    commands: bool = typer.Option(False, "--commands", help="print the commands that restore the plan"),
    whole: bool = typer.Option(False, "--all", help="print every finding and complete lists"),
    jobs: int = JOBS,
) -> None:
    """Compare running configs with the plan, line by line.

    Each switch is in sync, drifted, without a config, or unknown (a file that cannot be read, or another network OS).
    """
    reports = asked(form, FORMATS, "sarif=drift.sarif", as_json)
    with progress("plan and running configs"):
        site = pipeline.drift(pipeline.load(file), configs, jobs, progress)
    shown = drift_report(site, whole, commands)
    write(reports, lambda name: report(name, shown))
    if site.count(DRIFTED):
        raise typer.Exit(FINDINGS)
    if missing := site.count(NO_CONFIG) + site.count(UNKNOWN):
        say(f"fabric: {plural(missing, 'switch', 'switches')} could not be compared")
        raise typer.Exit(MISSING)
