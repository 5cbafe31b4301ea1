"""`fabric score`: how far the estimate is from measured tables."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli.common import say, show_diagnostics
from fabric.formats import json_text
from fabric.solver.measured.files import need_scored
from fabric.solver.measured.tables import Table


def score(
    paths: list[Path] = typer.Argument(
        ..., metavar="TABLE...", help="output of nccl-tests, tables in YAML, or folders of them"
    ),
    platform: Path | None = typer.Option(
        None, "--platform", metavar="FILE", help="parameters of `fabric calibrate`", show_default=False
    ),
    cross_validate: bool = typer.Option(
        False, "--cross-validate", help="fit again without each source and score what was left out; minutes"
    ),
    beside: list[Path] = typer.Option(
        [], "--beside", metavar="TABLE", help="with --cross-validate: tables that every fit sees", show_default=False
    ),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """Score the estimate of collective times against measured tables."""
    tables = read_tables(paths)
    need_scored(tables, paths)
    if cross_validate:
        result = pipeline.cross_validate(tables, read_tables(beside), lambda source: say(f"left out {source}"))
    else:
        result = pipeline.score(tables, platform)
    print(json_text(result.as_dict()) if as_json else "\n".join(result.lines()))


def read_tables(paths: list[Path]) -> list[Table]:
    """All tables of files and folders; warnings are shown. Raises InputError."""
    tables = pipeline.tables(paths) if paths else []
    for table in tables:
        show_diagnostics(table.warnings)
    return tables
