"""`fabric push`: the plan into a source of truth, and kept in step with it."""

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
push = typer.Typer(help="Push the plan into NetBox or Nautobot.", no_args_is_help=True)

ADDRESS = option("", "--url", "URL", "NetBox base URL", shown="$NETBOX_URL")
NAUTOBOT_ADDRESS = option("", "--url", "URL", "Nautobot base URL", shown="$NAUTOBOT_URL")
DRY = typer.Option(False, "--dry-run", help="print the changes without applying them; exit code 1 if there are any")
PRUNE = typer.Option(False, "--prune", help="delete objects of earlier pushes that are not in the plan")
BATCH = option(200, "--batch", "N", "objects per request", min=1, max=1000)
JSON = typer.Option(False, "--json", help="print one JSON document")


@push.command("netbox")
def push_netbox(
    file: Path = FILE, url: str = ADDRESS, dry_run: bool = DRY, prune: bool = PRUNE, batch: int = BATCH, as_json: bool = JSON
) -> None:
    """Create and update the objects of the plan in NetBox.

    The API token is read from NETBOX_TOKEN.
    """
    _push("netbox", file, url, dry_run, prune, batch, as_json=as_json)


@push.command("nautobot")
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


def _push(name: str, file: Path, url: str, dry: bool, prune: bool, batch: int, *, as_json: bool) -> None:
    system = SYSTEMS[name]
    url, token = access(system, url)
    with progress("plan"):
        plan = pipeline.plan(pipeline.load(file))
    show_diagnostics(plan.warnings)
    done = pipeline.push(plan, name, url, token, PushRequest(prune, dry, batch), progress)
    _print(done, dry, as_json)
    if dry and done.total:
        raise typer.Exit(FINDINGS)


def access(system: System, url: str) -> tuple[str, str]:
    """URL and token of a server. No option has the token: all users of a machine see the arguments of a process."""
    url, token, missing = url or os.environ.get(system.url, ""), os.environ.get(system.token, ""), []
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
    return url, token


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
