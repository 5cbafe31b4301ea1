"""`fabric netbox push` and `fabric nautobot push`: the plan into a source of truth, and kept in step with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.formats import json_line
from fabric.base.schemas.models import document
from fabric.base.text import and_more, diff_line
from fabric.cli.common import FILE, FINDINGS, option, progress, say, show_diagnostics
from fabric.cli.output import put, put_text
from fabric.deliver.inventory.engine import Change, PushDocument, Pushed
from fabric.deliver.inventory.push import SYSTEMS, PushRequest, System, lines

MAX_SHOWN_OBJECTS = 200
netbox = typer.Typer(help="Push the plan into NetBox; import a site from it.", no_args_is_help=True)
nautobot = typer.Typer(help="Push the plan into Nautobot; import a site from it.", no_args_is_help=True)

ADDRESS = option("", "--url", "URL", "NetBox base URL", shown="$NETBOX_URL")
NAUTOBOT_ADDRESS = option("", "--url", "URL", "Nautobot base URL", shown="$NAUTOBOT_URL")
DRY = typer.Option(False, "--dry-run", help="print the changes without applying them; exit code 1 if there are any")
PRUNE = typer.Option(False, "--prune", help="delete objects of earlier pushes that are not in the plan")
BATCH = option(200, "--batch", "N", "objects per request", min=1, max=1000)
JSON = typer.Option(False, "--json", help="print one JSON document")


@netbox.callback()
@nautobot.callback()
def group() -> None:
    """A group of commands, also while there is one."""


@netbox.command("push")
def push(
    file: Path = FILE, url: str = ADDRESS, dry_run: bool = DRY, prune: bool = PRUNE, batch: int = BATCH, as_json: bool = JSON
) -> None:
    """Create and update the objects of the plan in NetBox.

    The API token is read from NETBOX_TOKEN.
    """
    _push("netbox", file, url, dry_run, prune, batch, as_json=as_json)


@nautobot.command("push")
def push_nautobot(
    file: Path = FILE,
    url: str = NAUTOBOT_ADDRESS,
    dry_run: bool = DRY,
    prune: bool = PRUNE,
    batch: int = BATCH,
    as_json: bool = JSON,
) -> None:
    """Create and update the objects of the plan in Nautobot.

    The API token is read from NAUTOBOT_TOKEN.
    """
    _push("nautobot", file, url, dry_run, prune, batch, as_json=as_json)


IMPORT_SITE = option(..., "--site", "NAME", "site in the inventory, and name for the intent")
IMPORT_OUTPUT = option(..., "-o --output", "FILE.yaml", "intent to write; the lock file goes beside it")
IMPORT_MODEL = option([], "--model", "NAME=MODEL", "model of a switch, or of those that a glob matches; repeatable")
IMPORT_FORCE = typer.Option(False, "--force", help="replace files of an earlier import")
IMPORT_ALL = typer.Option(False, "--all", help="print complete lists")


@netbox.command("import")
def import_netbox(
    output: Path = IMPORT_OUTPUT,
    site: str = IMPORT_SITE,
    url: str = ADDRESS,
    model: list[str] = IMPORT_MODEL,
    as_json: bool = JSON,
    force: bool = IMPORT_FORCE,
    whole: bool = IMPORT_ALL,
) -> None:
    """Write the intent of a site that NetBox has.

    The API token is read from NETBOX_TOKEN.
    """
    _import("netbox", output, site, url, model, as_json=as_json, force=force, whole=whole)


@nautobot.command("import")
def import_nautobot(
    output: Path = IMPORT_OUTPUT,
    site: str = IMPORT_SITE,
    url: str = NAUTOBOT_ADDRESS,
    model: list[str] = IMPORT_MODEL,
    as_json: bool = JSON,
    force: bool = IMPORT_FORCE,
    whole: bool = IMPORT_ALL,
) -> None:
    """Write the intent of a site that Nautobot has.

    The API token is read from NAUTOBOT_TOKEN.
    """
    _import("nautobot", output, site, url, model, as_json=as_json, force=force, whole=whole)


def _import(
    name: str, output: Path, site: str, url: str, model: list[str], *, as_json: bool, force: bool, whole: bool
) -> None:
    from fabric.cli.import_ import finish, models, request_of

    system = SYSTEMS[name]
    url = url or os.environ.get(system.url, "")
    token = _access(system, url)
    request = request_of((), output, site, models=models(model), inventory=(name, url, token))
    with progress("survey"):
        made = pipeline.import_site(request, force)
    finish(made, [("json" if as_json else "text", None)], force=force, whole=whole)


def _push(name: str, file: Path, url: str, dry: bool, prune: bool, batch: int, *, as_json: bool) -> None:
    system = SYSTEMS[name]
    url = url or os.environ.get(system.url, "")
    token = _access(system, url)
    with progress("plan"):
        plan = pipeline.plan(pipeline.load(file))
    show_diagnostics(plan.warnings)
    done = pipeline.push(plan, name, url, token, PushRequest(prune, dry, batch), progress)
    _print(done, dry, as_json)
    if dry and done.total:
        raise typer.Exit(FINDINGS)


def _access(system: System, url: str) -> str:
    """The token; not an argument, as all users of a machine see the arguments of a process."""
    token, missing = os.environ.get(system.token, ""), []
    if not url.startswith(("http://", "https://")):
        got = f"got '{url}'" if url else "got none"
        message = f"expected the http:// or https:// URL of {system.title}, {got}"
        missing.append(Diagnostic("FAB178", Place("--url"), message, f"use `--url URL`, or `export {system.url}=URL`"))
    if not token:
        message = f"{system.token} is not set"
        missing.append(
            Diagnostic(
                "FAB178", Place(system.token), message, f"create one in {system.title}, then `export {system.token}=…`"
            )
        )
    if missing:
        raise InputError(missing)
    return token


def _print(done: Pushed, dry: bool, as_json: bool) -> None:
    if as_json:
        whole = {"dry_run": dry, "tables": done.tallies, "changes": done.changes}
        put(None, json_line(document(whole, PushDocument), ensure_ascii=False) + "\n")
        return
    put_text(None, lambda: "\n".join(_page(done, dry)) + "\n")


def _page(done: Pushed, dry: bool) -> Iterator[str]:
    if dry:
        for change in done.changes[:MAX_SHOWN_OBJECTS]:
            yield from map(diff_line, _shown(change))
        if len(done.changes) > MAX_SHOWN_OBJECTS:
            say(f"{and_more(len(done.changes) - MAX_SHOWN_OBJECTS, see='`--json`')}")
    yield from lines(done)


def _shown(change: Change) -> list[str]:
    """One object as a diff."""
    sign = {"create": "+", "update": "~", "delete": "-"}[change.what]
    rows = [f"    {name}: {was!r} -> {to!r}" for name, (was, to) in change.fields.items()]
    return [f"{sign} {change.table} {' '.join(change.key)}", *rows]
