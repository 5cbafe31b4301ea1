"""Measured tables of many files and folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabric.diagnostics import Diagnostic, InputError, Place, tried
from fabric.solver.measured.tables import Table, read


def read_all(paths: Sequence[Path]) -> list[Table]:
    """All tables of files and folders, in the order of the names. Raises InputError with the mistakes of all."""
    files: list[Path] = []
    for path in paths:
        files += sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
    if not files:
        message = "expected measured tables, the folder is empty"
        raise InputError([Diagnostic("FAB172", Place(str(paths[0])), message, "output of nccl-tests, or tables in YAML")])
    found, mistakes = tried(files, lambda file: read(file, str(file)))
    if mistakes:
        raise InputError(mistakes)
    return _named_apart([table for tables in found for table in tables])


def need_scored(tables: Sequence[Table], paths: Sequence[Path]) -> None:
    """Raises InputError where no table can be scored."""
    if any(table.scored_rows for table in tables):
        return
    reasons = "; ".join(f"{table.id}: {table.why_not}" for table in tables[:3])
    message = f"expected a table that can be scored, got {reasons}"
    hint = "a table needs its platform, a collective that is modelled, and rows of 8 bytes or more"
    raise InputError([Diagnostic("FAB172", Place(str(paths[0])), message, hint)])


def _named_apart(tables: Sequence[Table]) -> list[Table]:
    """The tables, a second one of a name as `name (2)`: results are listed by name."""
    seen: dict[str, int] = {}
    out = []
    for table in tables:
        seen[table.id] = seen.get(table.id, 0) + 1
        out.append(table if seen[table.id] == 1 else replace(table, id=f"{table.id} ({seen[table.id]})"))
    return out
