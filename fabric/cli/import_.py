"""`fabric import`: an intent from a network that is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fabric import pipeline
from fabric.audit.checks.reports import report
from fabric.base.diagnostics import nearest
from fabric.base.text import listed
from fabric.cli.common import FINDINGS, MISSING, check_target, option, progress, refuse, say
from fabric.cli.output import AS_JSON, JOBS, asked, formats_option, usage, write
from fabric.cli.push import access
from fabric.deliver.inventory.push import SYSTEMS

if TYPE_CHECKING:
    from fabric.deliver.brownfield.importing import Imported

FORMATS = ("text", "markdown", "json")


def import_(
    sources: list[Path] = typer.Argument(
        None, metavar="SOURCE…", help="folders of configs, or a workbook", show_default=False
    ),
    output: Path = option(..., "-o --output", "FILE.yaml", "intent to write; templates and the lock file go beside it"),
    lldp: list[Path] = option([], "--lldp", "FILE", "LLDP output of switches, files or folders; repeatable"),
    topology: list[Path] = option([], "--topology", "FILE", "file that lists the cables; repeatable"),
    model: list[str] = option([], "--model", "NAME=MODEL", "model of a switch, or of those that a glob matches; repeatable"),
    site: str = option("", "--site", "NAME", "name of the site", shown="that of the file of -o"),
    system: str = option("", "--from", "SYSTEM", "netbox or nautobot, in place of SOURCE", shown="none"),
    url: str = option("", "--url", "URL", "with --from: base URL", shown="$NETBOX_URL or $NAUTOBOT_URL"),
    form: list[str] = formats_option(FORMATS),
    as_json: bool = AS_JSON,
    force: bool = typer.Option(False, "--force", help="replace files of an earlier import"),
    whole: bool = typer.Option(False, "--all", help="print complete lists"),
    jobs: int = JOBS,
) -> None:
    """Write the intent of a network that is there.

    Its plan is compared with what the switches run. All files are written, or none. What the language of intents lacks
    becomes overrides. With --from the API token is read from NETBOX_TOKEN or NAUTOBOT_TOKEN.
    """
    if (server := inventory_of(system, url)) is None and not sources:
        hint = "`fabric import configs/ -o intent/dc1.yaml`"
        usage("SOURCE: expected folders of configs, a workbook, or --from, got none", hint)
    if server is not None and (sources or lldp or topology):
        usage("--from: expected no SOURCE, --lldp or --topology beside it", f"`fabric import --from {system} -o {output}`")
    reports = asked(form, FORMATS, "markdown=import.md", as_json)
    refuse(lambda found: check_target(found, "-o", output, "dc1.yaml", makes_folder=True))
    from fabric.deliver.brownfield.sources.combined import ImportRequest  # heavy: not for help and mistakes

    request = ImportRequest(
        sources=tuple(sources or ()),
        output=output,
        lldp=tuple(lldp),
        topology=tuple(topology),
        models=models(model),
        site=site or site_of(output),
        jobs=jobs,
        inventory=server,
    )
    with progress("survey and proof"):
        made = pipeline.import_site(request, force, progress)
    _finish(made, reports, force=force, whole=whole)


def inventory_of(system: str, url: str) -> tuple[str, str, str] | None:
    """System, URL and token of the server that has the site."""
    if not system:
        return usage("--url: valid only with --from", "--from netbox") if url else None
    if system not in SYSTEMS:
        usage(f"--from: expected {', '.join(SYSTEMS)}, got '{system}'", nearest(system, SYSTEMS))
    return (system, *access(SYSTEMS[system], url))


def site_of(output: Path) -> str:
    """The name of the site of an intent: that of its file, with what a name takes of it."""
    return re.sub(r"[^A-Za-z0-9]+", "-", output.stem).strip("-")[:32].strip("-") or "site"


def _finish(made: Imported, reports: list[tuple[str, Path | None]], *, force: bool, whole: bool) -> None:
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
