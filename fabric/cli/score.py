"""`fabric score`: error of the estimate against measured tables."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli.common import progress, say, show_diagnostics
from fabric.cli.reports import put_lines
from fabric.formats import json_text
from fabric.solver.measured.files import need_scored
from fabric.solver.measured.tables import Table


def score(
    paths: list[Path] = typer.Argument(..., metavar="TABLE…", help="output of nccl-tests, YAML tables, or folders of these"),
    platform: Path | None = typer.Option(
        None, "--platform", metavar="FILE", help="platform file of `fabric calibrate`", show_default="shipped parameters"
    ),
    cross_validate: bool = typer.Option(
        False, "--cross-validate", help="leave-one-source-out cross-validation (takes minutes)"
    ),
    beside: list[Path] = typer.Option(
        [],
        "--beside",
        metavar="TABLE",
        help="with --cross-validate: tables in every training set; repeatable",
        show_default=False,
    ),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """Compare estimated collective times with measured ones."""
    tables = read_tables(paths)
    need_scored(tables, paths)
    if cross_validate:
        others = read_tables(beside)
        with progress("cross-validation"):
            result = pipeline.cross_validate(tables, others, lambda source: say(f"left out {source}"))
    else:
        with progress("collective times"):
            result = pipeline.score(tables, platform)
    if as_json:
        print(json_text(result.as_dict()))
    else:
        put_lines(result.lines)


def read_tables(paths: list[Path]) -> list[Table]:
    """All tables of files and folders; warnings are shown. Raises InputError."""
    tables = pipeline.tables(paths) if paths else []
    for table in tables:
        show_diagnostics(table.warnings)
    return tables
