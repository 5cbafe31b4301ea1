"""`fabric generate`: writes the configs of every switch, and only what changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import typer

from fabric import pipeline
from fabric.base.diagnostics import InputError, tried
from fabric.base.output import recover
from fabric.base.text import diff_line, fit
from fabric.cli.common import FINDINGS, USAGE, check_folder, option, out, page, progress, refuse, say, show_diagnostics
from fabric.cli.output import JOBS
from fabric.design.intent.intent import refuse_same_site

S = TypeVar("S")
T = TypeVar("T")


def generate(
    files: list[Path] = typer.Argument(..., metavar="FILE…", help="intent files", show_default=False),
    output: Path | None = option(None, "-o --output", "FOLDER", "folder of generated files", shown="generated/"),
    limit: str = option("", "--limit", "GLOB", "only switches with matching names"),
    check: bool = typer.Option(False, "--check", help="write nothing; exit code 1 if files are out of date"),
    diff: bool = typer.Option(False, "--diff", help="write nothing; print the differences"),
    renumber: bool = option(
        False, "--renumber", help="ignore the lock file; names and numbers of devices in service may change"
    ),
    jobs: int = JOBS,
) -> None:
    """Write the plan and the configs of every switch of each intent."""
    if output is not None:
        refuse(lambda report: check_folder(report, "-o", output))
    with all_or_nothing(len(files), check or diff):
        intents = each(files, lambda path: pipeline.load(path, output))
        refuse_same_site(intents)
        recovered = [None if check or diff else recover(intent.folder) for intent in intents]
        with progress("plan"):
            sites = each(intents, lambda intent: pipeline.generate(intent, limit, jobs, progress, renumber))
    stale = False
    for site, before in zip(sites, recovered, strict=True):
        result = site.diff() if diff else site.check() if check else site.write(before)
        show_diagnostics(result.warnings)
        for part in result.diff:
            print_diff(part)
        for line in result.lines:
            say(line) if check or diff else out(line)
        stale |= result.stale
    if stale:
        raise typer.Exit(FINDINGS)


def print_diff(part: str) -> None:
    """Lines of a patch, each in the colour of its sign where the terminal has colours."""
    with page():
        print(fit("\n".join(map(diff_line, part.split("\n")))), end="")


@contextmanager
def all_or_nothing(count: int, looking: bool) -> Iterator[None]:
    """All intents are planned before any is written. If one fails, the message states that none was written."""
    try:
        yield
    except InputError as error:
        if count < 2 or looking:
            raise
        show_diagnostics(error.diagnostics)
        say(f"fabric: no files written for any of the {count} intents")
        raise typer.Exit(USAGE) from error


def each(items: Iterable[S], make: Callable[[S], T]) -> list[T]:
    """What is made of every item. Raises InputError with the mistakes of all of them."""
    made, mistakes = tried(items, make)
    if mistakes:
        raise InputError(mistakes)
    return made
