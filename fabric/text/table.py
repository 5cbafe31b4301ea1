"""Tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Aligned columns below a line of titles; columns that are empty throughout are left out.

    Args:
        align: `<` or `>` for every column.
    """
    kept = [at for at in range(len(head)) if head[at] or any(row[at] for row in rows)]
    wide = {at: max(len(row[at]) for row in (head, *rows)) for at in kept}
    return [("  " + "  ".join(f"{row[at]:{align[at]}{wide[at]}}" for at in kept)).rstrip() for row in (head, *rows)]
