"""`fabric model score`: error of the estimate against measured tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fabric import pipeline
from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, nearest
from fabric.cli import options
from fabric.cli.common import mistake, option, progress, say, show_diagnostics
from fabric.cli.output import put_result
from fabric.solver.measured.tables import Table, need_scored

if TYPE_CHECKING:
    from fabric.solver.collectives.score import Score
    from fabric.solver.collectives.validation_report import Validation
    from fabric.solver.training.ladder import StepScore

SPLITS = ("source", "kind", "scale", "points")


FOR = option(
    None, "--for", "INTENT", "intent of the cluster, for nccl-tests output that does not state GPU, NICs and transport"
)


def score(
    paths: list[Path] = typer.Argument(None, metavar="TABLE…", help="output of nccl-tests, YAML tables, or folders of these"),
    platform: Path | None = option(
        None, "--platform", "FILE", "platform file of `fabric model calibrate`", shown="shipped parameters"
    ),
    cross_validate: bool = option(
        False, "--cross-validate", help="predict each table with parameters fitted without it (takes minutes)"
    ),
    leave_out: str = option(
        "source",
        "--leave-out",
        "WHAT",
        "with --cross-validate: source, kind, scale (above 128 GPUs), or points (source, three rows calibrated)",
    ),
    beside: list[Path] = option([], "--beside", "TABLE", "with --cross-validate: tables in every training set; repeatable"),
    steps: Path | None = option(
        None,
        "--step",
        "LADDER",
        "compare training steps: YAML file of measured steps; the utilisation is fitted at the first row of each ladder",
    ),
    contrast: bool = option(False, "--contrast", help="with --step: compare ratios to the first row, with nothing fitted"),
    intent: Path | None = FOR,
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """Compare estimated times with measured ones.

    Times of collectives, or of training steps with --step.
    """
    if steps is not None:
        with progress("training steps"):
            compared = pipeline.score_steps(steps, lambda path: options.chosen(path, ""), contrast, intent)
        _show(compared, as_json)
        return
    _check_split(leave_out, cross_validate, contrast)
    if not paths:
        hint = "run `fabric model score all_reduce.log --for INTENT`, or `fabric model score --step LADDER`"
        raise InputError([Diagnostic("FAB102", Place("TABLE"), "expected TABLE, got none", hint)])
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
    _show(result, as_json)


def _show(result: Score | Validation | StepScore, as_json: bool) -> None:
    put_result(as_json, result.as_dict, result.lines)


def _check_split(split: str, cross_validate: bool, contrast: bool) -> None:
    """Raises InputError for an unknown split, or a split without --cross-validate."""
    report = Report()
    if split not in SPLITS:
        mistake(report, "--leave-out", f"expected {', '.join(SPLITS)}, got {split!r}", nearest(split, SPLITS))
    elif split != "source" and not cross_validate:
        mistake(report, "--leave-out", "valid only with --cross-validate", "add --cross-validate")
    if contrast:
        mistake(report, "--contrast", "valid only with --step", "add --step LADDER")
    report.raise_errors()


def read_tables(paths: list[Path], intent: Path | None = None) -> list[Table]:
    """All tables of files and folders, measured on the largest compute fabric of an intent if given; warnings are shown.
    Raises InputError."""
    fabric = options.chosen(intent, "") if intent is not None else None
    tables = pipeline.tables(paths, fabric) if paths else []
    for table in tables:
        show_diagnostics(table.warnings)
    return tables
