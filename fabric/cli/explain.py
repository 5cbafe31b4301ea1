"""`fabric explain`: the arithmetic behind one number."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline


def explain(
    file: Path = typer.Argument(..., metavar="FILE", help="intent file", show_default=False),
    subject: str = typer.Argument("", metavar="SUBJECT", help="backend.spines, a device, an address", show_default=False),
    output: Path | None = typer.Option(
        None, "-o", "--output", metavar="FOLDER", help="folder of generated files", show_default="generated/"
    ),
) -> None:
    """Show the arithmetic behind one number, recomputed by the stages that made it."""
    print("\n".join(pipeline.explain(pipeline.load(file, output), subject)))
