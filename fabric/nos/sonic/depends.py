"""Which rows of config_db.json refer to others, by the names of names.yaml: what goes along with a row."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from fabric.nos.sonic.updater import Tables
from fabric.nos.statements.names import NamePattern, load_names

Row = tuple[str, str]
Name = tuple[int, str]  # kind and text
FILE = Path(__file__).with_name("names.yaml")


def without(
    tables: Tables, rows: Mapping[Row, None], fields: Iterable[tuple[str, str, str]], keep: Collection[Row]
) -> Tables:
    """The tables without rows and fields and without what refers to those rows; no table is left empty.

    A row of `keep` stays if something else refers to it, which it may do until the change is made.
    """
    gone = {row for row in rows if row not in keep}
    out = _less(tables, rows, fields)
    wanted = {name for row in gone for name in _names(row, tables[row[0]][row[1]], used=False)}
    while True:
        along, elements = _along(out, gone, wanted)
        if not along and not elements:
            break
        gone |= along
        wanted |= {name for row in along for name in _names(row, out[row[0]][row[1]], used=False)}
        out = _less(out, dict.fromkeys(along), ())
        for table, row, name, value in elements:
            out = {**out, table: {**out[table], row: _shorter(out[table][row], name, value)}}
    kept = {row: None for row in rows if row in keep and row not in gone}
    used = {name for _, _, _, line in _lines(tables) for name in _named(line, used=True)} if kept else set()
    back = [row for row in kept if used & _names(row, tables[row[0]][row[1]], used=False)]
    for table, row in back:
        out = {**out, table: {**out.get(table, {}), row: tables[table][row]}}
    return _less(out, {}, fields)


def _along(tables: Tables, gone: set[Row], wanted: set[Name]) -> tuple[set[Row], list[tuple[str, str, str, str]]]:
    """Rows that refer to what is gone, and elements of lists; the VNI of a VRF is a field that goes alone."""
    rows: set[Row] = set()
    elements: list[tuple[str, str, str, str]] = []
    for table, row, name, line in _lines(tables):
        if (table, row.partition("|")[0]) in gone and "|" in row:
            rows.add((table, row))
            continue
        for _, text in _named(line, used=True) & wanted:
            if name and (isinstance(tables[table][row][name], list) or table == "VRF"):
                elements.append((table, row, name, text))
            else:
                rows.add((table, row))
    return rows, [element for element in elements if element[:2] not in rows]


def _shorter(row: Mapping[str, Any], name: str, value: str) -> dict[str, Any]:
    """The row without one element of a list, or without the field."""
    left = [one for one in row[name] if one != value] if isinstance(row.get(name), list) else []
    rest = {key: other for key, other in row.items() if key != name}
    return {key: left if key == name else row[key] for key in row} if left else rest


def _less(tables: Tables, rows: Mapping[Row, None], fields: Iterable[tuple[str, str, str]]) -> Tables:
    out = {table: {row: value for row, value in own.items() if (table, row) not in rows} for table, own in tables.items()}
    for table, row, name in fields:
        if row in out.get(table, {}):
            out[table][row] = {key: value for key, value in out[table][row].items() if key != name}
    return {table: own for table, own in out.items() if own}


def _names(row: Row, fields: Mapping[str, Any], used: bool) -> set[Name]:
    return {name for _, _, _, line in _lines({row[0]: {row[1]: fields}}) for name in _named(line, used)}


def _lines(tables: Tables) -> Iterator[tuple[str, str, str, str]]:
    """Table, row, field and statement of every value, as `statements.py` reads them from a file."""
    for table, rows in tables.items():
        for row, fields in rows.items():
            yield table, row, "", f"{table} / {row}"
            for name, value in fields.items():
                text = ",".join(map(str, value)) if isinstance(value, list) else value
                yield table, row, name, f"{table} / {row} / {name} = {text}"


@cache
def _all_patterns() -> tuple[NamePattern, ...]:
    """With the names that a switch may make by itself: it makes no second one while a row of that name goes."""
    return tuple(replace(pattern, built_in=None) for pattern in load_names(FILE).patterns)


@cache
def _patterns(table: str, used: bool) -> tuple[NamePattern, ...]:
    """The patterns that a statement of a table can match."""
    return tuple(one for one in _all_patterns() if one.used == used and not one.given and _of_table(one.line.pattern, table))


def _of_table(pattern: str, table: str) -> bool:
    head = _head(pattern.partition(" / ")[0])
    return head is None or head.fullmatch(table) is not None


@cache
def _head(pattern: str) -> re.Pattern[str] | None:
    """Of a pattern, what the table is matched against; None where a choice has keys in it."""
    try:
        return re.compile(pattern)
    except re.error:
        return None


@lru_cache(maxsize=1 << 16)
def _named(line: str, used: bool) -> frozenset[Name]:
    """Kind and text of the names in a statement."""
    patterns = _patterns(line.partition(" / ")[0], used)
    return frozenset((name.kind, name.text) for pattern in patterns for name in pattern.read(line))
