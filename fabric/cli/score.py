"""`fabric score`: how far the estimate is from measured tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fabric.cli.common import say, show_diagnostics
from fabric.formats.json import json_text

if TYPE_CHECKING:
    from fabric.solver.measured.tables import Table


def score(
    paths: list[Path] = typer.Argument(
        ..., metavar="TABLE...", help="output of nccl-tests, tables in YAML, or folders of them"
    ),
    platform: Path | None = typer.Option(
        None, "--platform", metavar="FILE", help="parameters of `fabric calibrate`", show_default=False
    ),
    cross_validate: bool = typer.Option(
        False, "--cross-validate", help="fit anew without each source and score what was left out; minutes"
    ),
    beside: list[Path] = typer.Option(
        [], "--beside", metavar="TABLE", help="with --cross-validate: tables that every fit sees", show_default=False
    ),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """Score the estimate of collective times against measured tables."""
    from fabric.solver.collectives.score import Score
    from fabric.solver.collectives.score import score as measure
    from fabric.solver.estimate.ask import platform as parameters

    tables = read_tables(paths)
    need_scored(tables, paths)
    if cross_validate:
        from fabric.solver.collectives.calibrate import left_out

        others = read_tables(beside) if beside else []
        found = []
        for source, scores in left_out(tables, others, beside_weights(others)):
            say(f"left out {source}")
            found += scores
        order = {table.id: at for at, table in enumerate(tables)}
        found.sort(key=lambda item: order[item.id])
        result = Score(tuple(found), {table.id: table.why_not for table in tables if not table.scored_rows})
    else:
        result = measure(tables, parameters(platform))
    print(json_text(result.as_dict()) if as_json else "\n".join(result.lines()))


def read_tables(paths: list[Path]) -> list[Table]:
    """All tables of files and folders, in the order of the names; warnings are shown. Raises InputError."""
    from fabric.diagnostics import Diagnostic, InputError, Place
    from fabric.solver.measured.tables import read

    files = []
    for path in paths:
        files += sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
    if not files:
        message = "expected measured tables, the folder is empty"
        raise InputError([Diagnostic("FAB172", Place(str(paths[0])), message, "output of nccl-tests, or tables in YAML")])
    problems: list[Diagnostic] = []
    tables: list[Table] = []
    for file in files:
        try:
            tables += read(file, str(file))
        except InputError as error:
            problems += error.diagnostics
    if problems:
        raise InputError(problems)
    for table in tables:
        show_diagnostics(table.warnings)
    return _named_apart(tables)


def need_scored(tables: list[Table], paths: list[Path]) -> None:
    """Raises InputError where no table can be scored."""
    from fabric.diagnostics import Diagnostic, InputError, Place

    if any(table.scored_rows for table in tables):
        return
    reasons = "; ".join(f"{table.id}: {table.why_not}" for table in tables[:3])
    message = f"expected a table that can be scored, got {reasons}"
    hint = "a table needs its platform, a collective that is modelled, and rows of 8 bytes or more"
    raise InputError([Diagnostic("FAB172", Place(str(paths[0])), message, hint)])


def _named_apart(tables: list[Table]) -> list[Table]:
    """The tables, a second one of a name as `name (2)`: results are listed by name."""
    from dataclasses import replace

    seen: dict[str, int] = {}
    out = []
    for table in tables:
        seen[table.id] = seen.get(table.id, 0) + 1
        out.append(table if seen[table.id] == 1 else replace(table, id=f"{table.id} ({seen[table.id]})"))
    return out


def beside_weights(tables: list[Table]) -> dict[str, float]:
    """Weights of tables that stand beside the references: less, as much of what they ran on is assumed."""
    from fabric.solver.collectives.fitting import beside_weight

    return {table.id: beside_weight(table) for table in tables}
