"""Lock files of version 1, where fabric and section stand above the lines: read as the lines of version 2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabric.base.diagnostics import Place, Report, show
from fabric.base.source import Path_, Source
from fabric.model.plan import lock_lines
from fabric.model.plan.lock_lines import HINT, Lines, Text

_SHAPE = {"tiers": 2, "networks": 1, "uplink_gbps": 1, "units_per_pod": 0}


def read(text: Source, report: Report) -> dict[str, Lines]:
    """The facts of a file by fabric. Mistakes go to the report."""
    facts: dict[str, Lines] = {}
    fabrics = text.data.get("fabrics") if isinstance(text.data, dict) else None
    if not isinstance(fabrics, dict):
        report.error("FAB150", text.place(("fabrics",)), "lock file: expected a mapping of fabrics", HINT)
        return facts
    for fabric, entry in fabrics.items():
        facts.setdefault(str(fabric), Lines())
        for path, line in _lines(text, str(fabric), entry, report):
            lock_lines.read(Text(line, _at(text.place(path)), report), facts)
    return facts


def _at(place: Place) -> Any:
    """Where a word of a line stands: at the row, as the line was put together of several places."""
    return lambda column: place


def _lines(text: Source, fabric: str, entry: Any, report: Report) -> Iterator[tuple[Path_, str]]:
    """The lines of one fabric, with the path of the row that each comes from."""
    home = ("fabrics", fabric)
    if not isinstance(entry, dict):
        report.error("FAB150", text.place(home), f"lock file: expected a mapping, got {show(entry)}", HINT)
        return
    for section in entry:
        if section not in ("blocks", "wiring", "attachments", "shape", "tenants"):
            place = text.place((*home, section), key=True)
            report.error("FAB155", place, f"lock file: unknown section {show(section)}", HINT)
    shape = {**_SHAPE, **dict(_numbers(text, (*home, "shape"), entry.get("shape", {}), report))}
    for key, number, row in _rows(text, (*home, "blocks"), entry.get("blocks", {}), report):
        yield (*home, "blocks", key, number), f"{fabric} {key} {row}"
    for key, number, row in _rows(text, (*home, "attachments"), entry.get("attachments", {}), report):
        leaf, _, slot = row.partition(":")
        yield (*home, "attachments", key, number), f"{fabric} attachment {key} port={number + 1} leaf={leaf} slot={slot}"
    after = "0"
    for key, number, row in _rows(text, (*home, "wiring"), entry.get("wiring", {}), report):
        after = after if number else "0"
        words = " ".join(f"{name}={value}" for name, value in shape.items())
        yield (*home, "wiring", key, number), f"{fabric} wiring {key} epoch={number + 1} {row} after={after} {words}"
        after = row.rpartition("lowers=")[2]
    numbers = dict(_numbers(text, (*home, "tenants"), entry.get("tenants", {}), report))
    for key, number in numbers.items():
        vlan = numbers.get(f"{key}/vlan")
        if key.count("/") < 2:
            kind = "network" if "/" in key else "tenant"
            words = f"number={number}" + (f" vlan={vlan}" if vlan and kind == "network" else "")
            yield (*home, "tenants", key), f"{fabric} {kind} {key} {words}"


def _rows(text: Source, path: Path_, table: Any, report: Report) -> Iterator[tuple[str, int, str]]:
    """(key, place in its list, row) of a section that is a mapping of lists."""
    if not isinstance(table, dict) or not all(isinstance(rows, list) for rows in table.values()):
        report.error("FAB150", text.place(path), f"lock file: expected lists by name in '{path[-1]}'", HINT)
        return
    for key, rows in table.items():
        yield from ((str(key), at, str(row)) for at, row in enumerate(rows))


def _numbers(text: Source, path: Path_, table: Any, report: Report) -> Iterator[tuple[str, int]]:
    """The numbers of a section that is a mapping of numbers."""
    if not isinstance(table, dict):
        report.error("FAB150", text.place(path), f"lock file: expected numbers by name in '{path[-1]}'", HINT)
        return
    for key, value in table.items():
        if type(value) is int:
            yield str(key), value
        else:
            place = text.place((*path, key))
            report.error("FAB156", place, f"lock file: {show(key)}: expected a whole number, got {show(value)}", HINT)
