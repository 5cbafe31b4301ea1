"""`fabric generate`: writes the configs of every switch, and only what changes."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric.cli.common import FINDINGS, progress, say, show_diagnostics


def generate(
    files: list[Path] = typer.Argument(..., metavar="FILE…", help="intents", show_default=False),
    output: Path | None = typer.Option(None, "-o", "--output", help="folder of generated files", show_default=False),
    limit: str = typer.Option("", "--limit", metavar="GLOB", help="only switches of these names", show_default=False),
    check: bool = typer.Option(False, "--check", help="write nothing; exit 1 when the files are not up to date"),
    diff: bool = typer.Option(False, "--diff", help="write nothing; print what would change"),
    renumber: bool = typer.Option(
        False, "--renumber", help="ignore the lock file: numbers and names of devices in service may change"
    ),
    jobs: int = typer.Option(0, "--jobs", min=0, help="processes; 0 takes every core", show_default=False),
) -> None:
    """Write the plan and the configs of every switch of each intent."""
    from fabric import pipeline
    from fabric.generate import refuse_same_site
    from fabric.output import recover

    intents = [pipeline.load(path, output) for path in files]
    refuse_same_site(intents)
    recovered = [None if check or diff else recover(intent.folder) for intent in intents]
    sites = [
        pipeline.generate(intent, limit, jobs, progress, renumber) for intent in intents
    ]  # all are planned before one is written
    stale = False
    for site, before in zip(sites, recovered, strict=True):
        result = site.diff() if diff else site.check() if check else site.write(before)
        show_diagnostics(result.warnings)
        for part in result.diff:
            print(part, end="")
        for line in result.lines:
            say(line) if check or diff else print(line)
        stale |= result.stale
    if stale:
        raise typer.Exit(FINDINGS)
