"""`fabric export`: a plan in a format that other tools read, or as a picture."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fabric.cli.common import show_diagnostics

if TYPE_CHECKING:
    from fabric.plan.plan import Plan


def export(
    form: str = typer.Argument(..., metavar="FORMAT", help="svg: a picture of the design", show_default=False),
    file: Path = typer.Argument(..., metavar="FILE", help="intent", show_default=False),
    fabric: str = typer.Option("", "--fabric", metavar="NAME", help="only this fabric", show_default=False),
    output: Path | None = typer.Option(None, "-o", "--output", help="file to write", show_default=False),
) -> None:
    """Write the plan of an intent in another format, to stdout unless -o names a file."""
    from fabric import pipeline
    from fabric.diagnostics import Diagnostic, InputError, Place, nearest
    from fabric.export.formats import FORMATS

    if form not in FORMATS:
        raise InputError([Diagnostic("FAB163", Place(str(file)), f"unknown format '{form}'", nearest(form, FORMATS))])
    made = pipeline.plan(pipeline.load(file))
    show_diagnostics(made.warnings)
    _write(FORMATS[form](_only(made, fabric, file) if fabric else made), output)


def _only(made: Plan, name: str, file: Path) -> Plan:
    """The plan with one fabric alone."""
    from fabric.diagnostics import Diagnostic, InputError, Place, nearest

    if name not in made.fabrics:
        message = f"--fabric '{name}' is no fabric of site '{made.site}'"
        raise InputError([Diagnostic("FAB163", Place(str(file)), message, nearest(name, made.fabrics))])
    return replace(made, fabrics={name: made.fabrics[name]})


def _write(text: str, output: Path | None) -> None:
    """UTF-8 everywhere, whatever the terminal's own encoding is."""
    if output is not None:
        output.write_bytes(text.encode())
    else:
        sys.stdout.buffer.write(text.encode())
