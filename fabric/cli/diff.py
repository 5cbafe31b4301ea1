"""`fabric diff`: the changes from one intent to another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from fabric import pipeline
from fabric.audit.diff.compare import SIZES, Diff, DiffRequest
from fabric.audit.diff.formats import DiffDocument, markdown, text
from fabric.base.diagnostics import Report
from fabric.base.formats import json_text
from fabric.base.schemas.models import document
from fabric.cli.common import FINDINGS, progress
from fabric.cli.options import platform_of, size_bytes
from fabric.cli.output import asked, write

FORMATS: dict[str, Callable[[Diff], str]] = {
    "text": lambda found: text(found) + "\n",
    "markdown": markdown,
    "json": lambda found: json_text(document(found, DiffDocument), ensure_ascii=False) + "\n",
}


def diff(
    old: str = typer.Argument(..., metavar="OLD", help="intent, git:REV or git:REV:FILE", show_default=False),
    new: str = typer.Argument(..., metavar="NEW", help="intent, git:REV or git:REV:FILE", show_default=False),
    form: list[str] = typer.Option(
        [],
        "--format",
        metavar="NAME[=FILE]",
        help="text, markdown (for pull requests) or json; repeatable",
        show_default="text",
    ),
    as_json: bool = typer.Option(False, "--json", help="the same as --format json"),
    fabric: str = typer.Option("", "--fabric", metavar="NAME", help="only this fabric", show_default=False),
    limit: str = typer.Option(
        "", "--limit", metavar="GLOB", help="complete file differences of matching devices", show_default=False
    ),
    configs: bool = typer.Option(True, "--configs/--no-configs", help="include file differences"),
    size: list[str] = typer.Option(
        [], "--size", metavar="SIZE", help="message size of all-reduce and alltoall; repeatable", show_default="8M 256M 1G 8G"
    ),
    jobs: int = typer.Option(0, "--jobs", metavar="N", min=0, help="number of processes", show_default="one per core"),
    exit_code: bool = typer.Option(False, "--exit-code", help="exit with code 1 on differences"),
) -> None:
    """Show what changes between two intents.

    Design, re-cabling moves, capacity, collective times and config files.
    """
    reports = asked([*form, *(["json"] if as_json else [])] or ["text"], list(FORMATS), "markdown=diff.md")
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
    write(reports, lambda name: FORMATS[name](site_diff))
    if exit_code and not site_diff.same:
        raise typer.Exit(FINDINGS)
