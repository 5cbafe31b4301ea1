"""A diff as a person reads it at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.diff.blocks import Fold, Notes, Table
from fabric.diff.compare import Diff
from fabric.diff.report import sections

MOST_LINES = 40  # of one file's change, unless the switch was asked for
MOST_FOLDS = 12


def text(diff: Diff) -> str:
    """The whole report; long changes are cut unless `--limit` asked for their switches."""
    head = f"site {diff.site}: {diff.old} → {diff.new}"
    found = sections(diff)
    if not found:
        return f"{head}\nnothing differs"
    out, folds = [head], 0
    for section in found:
        out += ["", section.title, "─" * len(section.title)]
        for block in section.blocks:
            if isinstance(block, Fold):
                folds += 1
                if folds <= MOST_FOLDS or diff.limit:
                    out += ["", *_fold(block, bool(diff.limit))]
            elif isinstance(block, Table):
                out += _table(block)
            else:
                out += _notes(block)
    if folds > MOST_FOLDS and not diff.limit:
        out += [
            "",
            f"… {folds - MOST_FOLDS:,} more kinds of change; --limit GLOB shows those of some switches, --format json all",
        ]
    return "\n".join(out)


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"{table.title}:"
    rows = ([table.head] if any(table.head) else []) + list(table.rows)
    widths = [max(len(row[at]) for row in rows) for at in range(len(table.head))]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    if table.rest:
        yield f"  … {table.rest:,} more"


def _notes(notes: Notes) -> Iterator[str]:
    if notes.title:
        yield f"{notes.title}:"
    yield from (f"  {line}" for line in notes.lines)
    if notes.rest:
        yield f"  … {notes.rest:,} more"


def _fold(fold: Fold, whole: bool) -> Iterator[str]:
    yield f"{fold.title}:"
    if len(fold.lines) > MOST_LINES:
        yield f"    ({fold.size})"
    shown = fold.lines if whole else fold.lines[:MOST_LINES]
    yield from (f"    {line}" for line in shown)
    if len(shown) < len(fold.lines):
        yield f"    … {len(fold.lines) - len(shown):,} more lines"
