"""Measured tables of many files and folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.solver.measured.platform import NOT_STATED, MeasuredPlatform
from fabric.solver.measured.tables import Table, read


def read_all(paths: Sequence[Path], platform: MeasuredPlatform | None = None) -> list[Table]:
    """All tables of files and folders, in the order of the names.

    A file of a folder that cannot be read is a table that is not scored, with its first mistake as the reason. Raises
    InputError with the mistakes of files that were named, and where no file can be read.

    Args:
        platform: of output of nccl-tests that does not state it.
    """
    files: list[Path] = []
    for path in paths:
        files += sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
    if not files:
        message = "expected measured tables, the folder is empty"
        raise InputError([Diagnostic("FAB172", Place(str(paths[0])), message, "use output of nccl-tests, or tables in YAML")])
    named, tables = set(paths), list[Table]()
    mistakes: list[Diagnostic] = []
    for file in files:
        try:
            tables += read(file, str(file), platform)
        except InputError as error:
            mistakes += error.diagnostics
            if file not in named:
                tables.append(_unreadable(file, error.diagnostics))
    of_named = any(item.place.file in {str(path) for path in named} for item in mistakes)
    if of_named or (mistakes and not any(item.rows for item in tables)):
        raise InputError(mistakes)
    return _named_apart(tables)


def _unreadable(file: Path, mistakes: Sequence[Diagnostic]) -> Table:
    """A table without rows in place of a file."""
    first = mistakes[0]
    reason = f"cannot be read: {first.place}: {first.message}"
    return Table(id=file.stem, collective="", platform=NOT_STATED, source=str(file), rows=(), scored=False, why_not=reason)


def need_scored(tables: Sequence[Table], paths: Sequence[Path]) -> None:
    """Raises InputError where no table can be scored."""
    if any(table.scored_rows for table in tables):
        return
    reasons = "; ".join(f"{table.id}: {table.why_not}" for table in tables[:3])
    message = f"expected a table that can be scored, got {reasons}"
    hint = "a table needs its platform, a collective that is modeled, and rows of 8 bytes or more"
    raise InputError([Diagnostic("FAB172", Place(str(paths[0])), message, hint)])


def _named_apart(tables: Sequence[Table]) -> list[Table]:
    """The tables, a second one of a name as `name (2)`: results are listed by name."""
    seen: dict[str, int] = {}
    out = []
    for table in tables:
        seen[table.id] = seen.get(table.id, 0) + 1
        out.append(table if seen[table.id] == 1 else replace(table, id=f"{table.id} ({seen[table.id]})"))
    return out
