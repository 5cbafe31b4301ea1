"""`fabric diff`: the changes from one intent to another."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.audit.checks.reports import report as report_of
from fabric.audit.diff.compare import SIZES, DiffRequest
from fabric.audit.diff.formats import FORMATS, diff_report
from fabric.base.diagnostics import Report
from fabric.cli.common import FINDINGS, option, progress
from fabric.cli.options import platform_of, size_bytes
from fabric.cli.output import AS_JSON, JOBS, asked, formats_option, write


def diff(
    old: str = typer.Argument(..., metavar="OLD", help="intent, git:REV or git:REV:FILE", show_default=False),
    new: str = typer.Argument(..., metavar="NEW", help="intent, git:REV or git:REV:FILE", show_default=False),
    form: list[str] = formats_option(FORMATS),
    as_json: bool = AS_JSON,
    fabric: str = option("", "--fabric", "NAME", "only this fabric"),
    limit: str = option("", "--limit", "GLOB", "complete file differences of matching devices"),
    configs: bool = typer.Option(True, "--configs/--no-configs", help="include file differences"),
    size: list[str] = option(
        [], "--size", "SIZE", "message size of all-reduce and alltoall; repeatable", shown="8M 256M 1G 8G"
    ),
    jobs: int = JOBS,
    exit_code: bool = typer.Option(False, "--exit-code", help="exit with code 1 on differences"),
) -> None:
    """Compare two intents: parts, cables, capacity and config lines.

    With re-cabling moves and collective times.
    """
    reports = asked(form, FORMATS, "markdown=diff.md", as_json)
    report = Report()
    sizes = sorted({value for text in size if (value := size_bytes("--size", text, report)) is not None})
    report.raise_errors()
    platform = next((parameters for side in (new, old) if (parameters := platform_of(Path(side), None))), None)
    request = DiffRequest(
        fabric=fabric,
        configs=configs,
        limit=limit,
        sizes=tuple(sizes) or SIZES,
        jobs=jobs,
        progress=progress,
        platform=platform,
    )
    with progress("plans, capacity and collective times"):
        site_diff = pipeline.diff(old, new, request)
    shown = diff_report(site_diff)
    write(reports, lambda name: report_of(name, shown))
    if exit_code and not site_diff.same:
        raise typer.Exit(FINDINGS)
