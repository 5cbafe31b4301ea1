"""A diff as a person reads it at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.diff.compare import Diff
from fabric.audit.diff.report import sections
from fabric.audit.diff.report_blocks import Fold, Notes, Table
from fabric.base.text import aligned, and_more

MAX_FILE_LINES = 40  # of one file's change, unless --limit names the switch
MAX_FOLDS = 12


def text(diff: Diff) -> str:
    """The whole report; long changes are cut unless `--limit` names their switches."""
    head = f"site {diff.site}: {diff.old} → {diff.new}"
    parts = sections(diff)
    if not parts:
        return f"{head}\nnothing differs"
    out, folds = [head], 0
    for section in parts:
        out += ["", section.title, "─" * len(section.title)]
        for block in section.blocks:
            if isinstance(block, Fold):
                folds += 1
                if folds <= MAX_FOLDS or diff.limit:
                    out += ["", *_fold(block, bool(diff.limit))]
            elif isinstance(block, Table):
                out += _table(block)
            else:
                out += _notes(block)
    if folds > MAX_FOLDS and not diff.limit:
        more = and_more(folds - MAX_FOLDS, "kind")
        out += ["", f"{more} of change; --limit GLOB shows changes of matching switches, --format json all"]
    return "\n".join(out)


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"{table.title}:"
    yield from aligned(table.rows, indent="  ", head=table.head if any(table.head) else ())
    if table.rest:
        yield f"  {and_more(table.rest)}"


def _notes(notes: Notes) -> Iterator[str]:
    if notes.title:
        yield f"{notes.title}:"
    yield from (f"  {line}" for line in notes.lines)
    if notes.rest:
        yield f"  {and_more(notes.rest)}"


def _fold(fold: Fold, whole: bool) -> Iterator[str]:
    yield f"{fold.title}:"
    if len(fold.lines) > MAX_FILE_LINES:
        yield f"    ({fold.size})"
    shown = fold.lines if whole else fold.lines[:MAX_FILE_LINES]
    yield from (f"    {line}" for line in shown)
    if len(shown) < len(fold.lines):
        yield f"    {and_more(len(fold.lines) - len(shown), 'line')}"
