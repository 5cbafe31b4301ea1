"""`fabric schema`: the JSON Schema of intents, of JOB files, and of the documents that commands print with `--json`."""

from __future__ import annotations

import typer

from fabric import pipeline
from fabric.base.diagnostics import Diagnostic, InputError, Place, nearest, show
from fabric.base.schemas import INPUTS
from fabric.cli.output import put


def schema(
    name: str = typer.Argument(
        "",
        metavar="NAME",
        help=f"{', '.join(INPUTS)} (JOB file), or name of a --json document: {', '.join(pipeline.schema_names())}",
        show_default=False,
    ),
) -> None:
    """Print the JSON Schema of intents, JOB files or JSON output.

    Without NAME: the schema of intents, for editors.
    """
    names = [*pipeline.schema_names(), *INPUTS]
    if name and name not in names:
        hint = nearest(name, names)
        raise InputError([Diagnostic("FAB106", Place("schema"), f"unknown document {show(name)}", hint)])
    put(None, pipeline.schema(name))
