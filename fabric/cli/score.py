"""`fabric score`: error of the estimate against measured tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fabric import pipeline
from fabric.cli import job
from fabric.cli.common import mistake, progress, say, show_diagnostics
from fabric.cli.reports import put_lines
from fabric.diagnostics import Report, nearest
from fabric.formats import json_text
from fabric.solver.measured.files import need_scored
from fabric.solver.measured.tables import Table

if TYPE_CHECKING:
    from fabric.solver.collectives.score import Score
    from fabric.solver.collectives.validation_report import Validation

SPLITS = ("source", "kind", "scale", "points")


FOR = typer.Option(
    None,
    "--for",
    metavar="INTENT",
    help="intent of the cluster, for nccl-tests output that does not state GPU, NICs and transport",
    show_default=False,
)


def score(
    paths: list[Path] = typer.Argument(..., metavar="TABLE…", help="output of nccl-tests, YAML tables, or folders of these"),
    platform: Path | None = typer.Option(
        None, "--platform", metavar="FILE", help="platform file of `fabric calibrate`", show_default="shipped parameters"
    ),
    cross_validate: bool = typer.Option(
        False, "--cross-validate", help="predict each table with parameters fitted without it (takes minutes)"
    ),
    leave_out: str = typer.Option(
        "source",
        "--leave-out",
        metavar="WHAT",
        help="with --cross-validate: source, kind, scale (above 128 GPUs), or points (source, three rows calibrated)",
    ),
    beside: list[Path] = typer.Option(
        [],
        "--beside",
        metavar="TABLE",
        help="with --cross-validate: tables in every training set; repeatable",
        show_default=False,
    ),
    intent: Path | None = FOR,
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """Compare estimated collective times with measured ones."""
    _check_split(leave_out, cross_validate)
    tables = read_tables(paths, intent)
    need_scored(tables, paths)
    result: Score | Validation
    if cross_validate:
        others = read_tables(beside)
        with progress("cross-validation"):
            result = pipeline.cross_validate(tables, others, leave_out, lambda name: say(f"left out {name}"))
    else:
        with progress("collective times"):
            result = pipeline.score(tables, platform)
    if as_json:
        print(json_text(result.as_dict()))
    else:
        put_lines(result.lines)


def _check_split(split: str, cross_validate: bool) -> None:
    """Raises InputError for an unknown split, or a split without --cross-validate."""
    report = Report()
    if split not in SPLITS:
        mistake(report, "--leave-out", f"expected {', '.join(SPLITS)}, got {split!r}", nearest(split, SPLITS))
    elif split != "source" and not cross_validate:
        mistake(report, "--leave-out", "valid only with --cross-validate", "add --cross-validate")
    report.raise_errors()


def read_tables(paths: list[Path], intent: Path | None = None) -> list[Table]:
    """All tables of files and folders, measured on the largest compute fabric of an intent if given; warnings are shown.
    Raises InputError."""
    fabric = job.chosen(intent, "") if intent is not None else None
    tables = pipeline.tables(paths, fabric) if paths else []
    for table in tables:
        show_diagnostics(table.warnings)
    return tables
