"""`fabric schema`: the JSON Schema of intents, and of the documents that commands print with `--json`."""

from __future__ import annotations

import typer

from fabric import pipeline, schemas
from fabric.cli.reports import put
from fabric.diagnostics import Diagnostic, InputError, Place, nearest, show


def schema(
    name: str = typer.Argument(
        "",
        metavar="NAME",
        help=f"name of a --json document: {', '.join(schemas.names())}",
        show_default=False,
    ),
) -> None:
    """Print the JSON Schema of intents or of JSON output.

    Without NAME: the schema of intents, for editors.
    """
    if name and name not in schemas.names():
        hint = nearest(name, schemas.names())
        raise InputError([Diagnostic("FAB106", Place("schema"), f"unknown document {show(name)}", hint)])
    put(None, pipeline.schema(name))
