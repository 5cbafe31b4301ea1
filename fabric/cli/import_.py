"""`fabric import`: an intent from a network that is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fabric import pipeline
from fabric.audit.checks.reports import report
from fabric.base.text import listed
from fabric.cli.common import FINDINGS, MISSING, check_target, option, progress, refuse, say
from fabric.cli.output import AS_JSON, JOBS, asked, formats_option, usage, write

if TYPE_CHECKING:
    from fabric.deliver.brownfield.importing import Imported
    from fabric.deliver.brownfield.sources.combined import ImportRequest

FORMATS = ("text", "markdown", "json")


def import_(
    sources: list[Path] = typer.Argument(
        ..., metavar="SOURCE…", help="folders of configs, or a workbook", show_default=False
    ),
    output: Path = option(..., "-o --output", "FILE.yaml", "intent to write; templates and the lock file go beside it"),
    lldp: list[Path] = option([], "--lldp", "FILE", "LLDP output of switches, files or folders; repeatable"),
    topology: list[Path] = option([], "--topology", "FILE", "file that lists the cables; repeatable"),
    model: list[str] = option([], "--model", "NAME=MODEL", "model of a switch, or of those that a glob matches; repeatable"),
    site: str = option("", "--site", "NAME", "name of the site", shown="that of the file of -o"),
    form: list[str] = formats_option(FORMATS),
    as_json: bool = AS_JSON,
    force: bool = typer.Option(False, "--force", help="replace files of an earlier import"),
    whole: bool = typer.Option(False, "--all", help="print complete lists"),
    jobs: int = JOBS,
) -> None:
    """Write the intent of a network that is there.

    Its plan is compared with what the switches run. All files are written, or none. What the language of intents lacks
    becomes overrides.
    """
    reports = asked(form, FORMATS, "markdown=import.md", as_json)
    request = request_of(
        tuple(sources), output, site, models=models(model), lldp=tuple(lldp), topology=tuple(topology), jobs=jobs
    )
    with progress("survey and proof"):
        made = pipeline.import_site(request, force, progress)
    finish(made, reports, force=force, whole=whole)


def request_of(sources: tuple[Path, ...], output: Path, site: str, **more: Any) -> ImportRequest:
    """What is imported; `more`: further fields. Refuses an output that cannot be written."""
    from fabric.deliver.brownfield.sources.combined import ImportRequest  # heavy: not for help and mistakes

    refuse(lambda found: check_target(found, "-o", output, "dc1.yaml", makes_folder=True))
    return ImportRequest(sources=sources, output=output, site=site or site_of(output), **more)


def site_of(output: Path) -> str:
    """The name of the site of an intent: that of its file, with what a name takes of it."""
    return re.sub(r"[^A-Za-z0-9]+", "-", output.stem).strip("-")[:32].strip("-") or "site"


def finish(made: Imported, reports: list[tuple[str, Path | None]], *, force: bool, whole: bool) -> None:
    """Writes the files and the reports, and ends with the exit code of the proof."""
    from fabric.deliver.brownfield.reports import import_report

    shown = import_report(made, whole)
    made.write(force)
    write(reports, lambda name: report(name, shown))
    paths = sorted(map(str, made.files()))
    say(f"wrote {listed(paths, 4)}")
    say(f"next: fabric plan {made.output}" + (f"; fabric drift {made.output} {made.folder}" if made.folder else ""))
    if made.after is not None and any(device.residuals for device in made.after.devices):
        raise typer.Exit(FINDINGS)
    if not made.in_sync:
        raise typer.Exit(MISSING)


def models(stated: list[str]) -> dict[str, str]:
    """`--model leaf*=sn5600` as pattern → model."""
    found: dict[str, str] = {}
    for text in stated:
        name, _, model = text.partition("=")
        if not name or not model:
            usage(f"--model: expected NAME=MODEL, got '{text}'", "--model 'leaf*=sn5600'")
        found[name] = model
    return found
