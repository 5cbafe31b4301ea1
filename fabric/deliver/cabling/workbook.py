"""The run list as a workbook: all cables, the order to lay them in, what stands in each rack, and what to buy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fabric.base.formats import Sheet, workbook
from fabric.deliver.cabling.colours import TONES
from fabric.deliver.cabling.laying_order import Walk
from fabric.deliver.cabling.rows import COLUMNS, Cell, Ints, rows
from fabric.deliver.cabling.runs import Runs
from fabric.deliver.cabling.tables import PATCH_COLUMNS, RACK_COLUMNS, TOTAL_COLUMNS, patch_rows, rack_rows, totals

WORDS = {"ru": "RU", "gbps": "Gb/s", "a": "A", "b": "B"}


def xlsx(runs: Runs, chosen: Ints, walk: Walk) -> bytes:
    """The workbook. The same bytes every time."""
    sheets = (
        _sheet("Cables", COLUMNS, rows(runs, chosen), frozen=2),
        _sheet("Patch order", PATCH_COLUMNS, patch_rows(runs, walk)),
        _sheet("Racks", RACK_COLUMNS, rack_rows(runs, chosen)),
        _sheet("To buy", TOTAL_COLUMNS, totals(runs, chosen)),
    )
    return workbook(f"Cables of {runs.plan.site}", sheets, TONES)


def _sheet(title: str, columns: Sequence[str], cells: Iterable[Sequence[Cell]], frozen: int = 0) -> Sheet:
    tinted = columns.index("colour") if "colour" in columns else -1
    return Sheet(
        title=title, columns=tuple(map(_heading, columns)), rows=list(cells), frozen=frozen, tinted=tinted, thousands=False
    )


def _heading(column: str) -> str:
    """`a_port_name` → `A port name`, `order_length_m` → `Order length m`."""
    text = " ".join(WORDS.get(word, word) for word in column.split("_"))
    return text[:1].upper() + text[1:]
