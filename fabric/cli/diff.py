"""`fabric diff`: the changes from one intent to another."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli.common import FINDINGS, mistake, progress
from fabric.cli.job import platform_of
from fabric.cli.reports import put, put_text
from fabric.cli.sizes import size_bytes
from fabric.diagnostics import Report, nearest, show
from fabric.diff.capacity import SIZES
from fabric.diff.compare import DiffRequest
from fabric.diff.document import document
from fabric.diff.markdown import markdown
from fabric.diff.text import text
from fabric.formats import json_text

FORMATS = ("text", "markdown", "json")


def diff(
    old: str = typer.Argument(..., metavar="OLD", help="intent, git:REV or git:REV:FILE", show_default=False),
    new: str = typer.Argument(..., metavar="NEW", help="intent, git:REV or git:REV:FILE", show_default=False),
    form: str = typer.Option("text", "--format", metavar="NAME", help="text, markdown (for pull requests) or json"),
    fabric: str = typer.Option("", "--fabric", metavar="NAME", help="only this fabric", show_default=False),
    limit: str = typer.Option(
        "", "--limit", metavar="GLOB", help="complete file differences of matching devices", show_default=False
    ),
    configs: bool = typer.Option(True, "--configs/--no-configs", help="include file differences"),
    size: list[str] = typer.Option(
        [], "--size", metavar="SIZE", help="message size of all-reduce and alltoall; repeatable", show_default="8M 256M 1G 8G"
    ),
    jobs: int = typer.Option(0, "--jobs", metavar="N", min=0, help="number of processes", show_default="one per core"),
    output: Path | None = typer.Option(None, "-o", "--output", metavar="FILE", help="file to write", show_default="stdout"),
    exit_code: bool = typer.Option(False, "--exit-code", help="exit with code 1 on differences"),
) -> None:
    """Show what changes between two intents.

    Design, re-cabling moves, capacity, collective times and config files.
    """
    report = Report()
    if form not in FORMATS:
        mistake(report, "--format", f"expected a format, got {show(form)}", nearest(form, FORMATS))
    if output is not None and not output.parent.is_dir():
        mistake(report, "--output", f"expected an existing folder, got {output.parent}")
    sizes = sorted({value for text in size if (value := size_bytes("--size", text, report)) is not None})
    report.raise_errors()
    platform = next((found for side in (new, old) if (found := platform_of(Path(side), None))), None)
    request = DiffRequest(fabric, configs, limit, tuple(sizes) or SIZES, jobs, progress, platform)
    with progress("plans, capacity and collective times"):
        site_diff = pipeline.diff(old, new, request)
    if form == "text":
        put_text(output, lambda: text(site_diff) + "\n")
    else:
        put(output, json_text(document(site_diff), ensure_ascii=False) + "\n" if form == "json" else markdown(site_diff))
    if exit_code and not site_diff.same:
        raise typer.Exit(FINDINGS)
