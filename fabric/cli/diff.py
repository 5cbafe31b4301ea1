"""`fabric diff`: what changes from one intent to another."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli.common import FINDINGS, mistake, progress
from fabric.cli.reports import put
from fabric.cli.sizes import size_bytes
from fabric.diagnostics import Report, nearest, show
from fabric.diff.capacity import SIZES
from fabric.diff.compare import Diff, Wanted
from fabric.diff.document import document
from fabric.diff.markdown import markdown
from fabric.diff.text import text
from fabric.formats import json_text

FORMATS = ("text", "markdown", "json")


def diff(
    old: str = typer.Argument(..., metavar="OLD", help="intent, git:REV or git:REV:FILE", show_default=False),
    new: str = typer.Argument(..., metavar="NEW", help="intent, git:REV or git:REV:FILE", show_default=False),
    form: str = typer.Option("text", "--format", metavar="F", help="text, markdown (a pull request's comment), json"),
    fabric: str = typer.Option("", "--fabric", metavar="NAME", help="this fabric only", show_default=False),
    limit: str = typer.Option(
        "", "--limit", metavar="GLOB", help="files of these switches and servers, whole", show_default=False
    ),
    configs: bool = typer.Option(True, "--configs/--no-configs", help="what changes in the files of switches and servers"),
    size: list[str] = typer.Option(
        [], "--size", metavar="S", help="of the all-reduce and the alltoall; 8M 256M 1G 8G unless given"
    ),
    jobs: int = typer.Option(0, "--jobs", min=0, help="processes; 0 takes every core", show_default=False),
    output: Path | None = typer.Option(None, "-o", "--output", metavar="FILE", help="write there", show_default=False),
    exit_code: bool = typer.Option(False, "--exit-code", help="exit 1 when something differs"),
) -> None:
    """Show what changes between two intents: design, capacity and time, configs."""
    report = Report()
    if form not in FORMATS:
        mistake(report, "--format", f"expected a format, got {show(form)}", nearest(form, FORMATS))
    if output is not None and not output.parent.is_dir():
        mistake(report, "--output", f"expected a folder that is there, got {output.parent}")
    sizes = sorted({value for text in size if (value := size_bytes("--size", text, report)) is not None})
    report.raise_errors()
    made = pipeline.diff(old, new, Wanted(fabric, configs, limit, tuple(sizes) or SIZES, jobs, progress))
    text = _printed(made, form)
    put(output, text)
    if exit_code and not made.same:
        raise typer.Exit(FINDINGS)


def _printed(made: Diff, form: str) -> str:
    if form == "json":
        return json_text(document(made), ensure_ascii=False) + "\n"
    if form == "markdown":
        return markdown(made)
    return text(made) + "\n"
